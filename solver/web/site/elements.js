/** Small things of which pages are made. */

/** @type {(id: string) => any} the element of the page with that id */
export const $ = (id) => document.getElementById(id);

/** @type {(name: string, properties?: object) => any} */
export const element = (name, properties) => Object.assign(document.createElement(name), properties);

export function wrapped(name, child) {
  const parent = document.createElement(name);
  parent.append(child);
  return parent;
}

export const marked = (kind, text) => element("span", { className: `value ${kind}`, textContent: text });

/** @type {(milliseconds: number) => Promise<void>} */
export const passed = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
