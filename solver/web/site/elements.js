/** Small things of which pages are made. */

export const $ = (id) => document.getElementById(id);

export const element = (name, properties) => Object.assign(document.createElement(name), properties);

export function wrapped(name, child) {
  const parent = document.createElement(name);
  parent.append(child);
  return parent;
}

export const marked = (kind, text) => element("span", { className: `value ${kind}`, textContent: text });

export const passed = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
