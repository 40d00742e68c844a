/** As much of a document as the board of a page needs in Node: elements with attributes, classes and children. */

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], className: "", dataset: {}, hidden: false });
    this.style = { setProperty: () => {} };
    this.classList = { add: (name) => this.#flag(name, true), toggle: (name, isOn) => this.#flag(name, isOn) };
  }

  #flag(name, isOn) {
    const others = this.className.split(" ").filter((one) => one && one !== name);
    this.className = [...others, ...(isOn ? [name] : [])].join(" ");
  }

  get firstChild() {
    return this.children[0];
  }

  /** The text of the element and of all below it, a space between those of several. */
  get text() {
    return this.textContent || this.children.map((child) => child.text.trim()).filter(Boolean).join(" ");
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  append(...children) {
    this.replaceChildren(...this.children, ...children);
  }

  prepend(...children) {
    this.replaceChildren(...children, ...this.children);
  }

  replaceChildren(...children) {
    for (const child of children) child.parent = this;
    this.children = children;
  }

  /** All elements below this one that have a class. */
  withClass(name) {
    const found = (this.attributes.class ?? this.className).split(" ").includes(name) ? [this] : [];
    return [...found, ...this.children.flatMap((child) => child.withClass(name))];
  }

  /** The first child of a tag; no other selectors are understood. */
  querySelector(tag) {
    return this.children.find((child) => child.tag === tag);
  }

  /** All elements below this one of a tag. */
  querySelectorAll(tag) {
    return this.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.querySelectorAll(tag)]);
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  addEventListener(name, listener) {
    this[`on${name}`] = listener;
  }

  remove() {
    this.parent.children = this.parent.children.filter((child) => child !== this);
  }
}

export const element = (tag) => new Element(tag);

globalThis.document = { createElement: element, createElementNS: (_, tag) => element(tag), querySelector: () => undefined };
