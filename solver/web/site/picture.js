/** A board as a file: SVG that needs no style sheet, or PNG. */

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "opacity", "font-family", "font-weight", "display"];
const SIZE = 1200; // pixels of the longer side of a PNG

/** The text of an SVG file of a board's picture, with the styles that the page gives it. */
export function svgOf(picture, title) {
  const copy = picture.cloneNode(true);
  const { width, height } = picture.viewBox.baseVal;
  for (const [place, one] of [...picture.querySelectorAll("*")].entries()) {
    const styles = getComputedStyle(one);
    const written = copy.querySelectorAll("*")[place];
    for (const name of STYLES) written.setAttribute(name, styles.getPropertyValue(name));
    for (const name of ["class", "style", "data-cell"]) written.removeAttribute(name);
  }
  for (const name of ["class", "aria-hidden"]) copy.removeAttribute(name);
  const attributes = { xmlns: "http://www.w3.org/2000/svg", width, height, role: "img" };
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, value);
  const named = document.createElementNS(attributes.xmlns, "title");
  named.textContent = title;
  copy.prepend(named);
  return new XMLSerializer().serializeToString(copy);
}

/** The same as a PNG: a promise of its bytes, a Blob. */
export async function pngOf(picture, title) {
  const { width, height } = picture.viewBox.baseVal;
  const scale = SIZE / Math.max(width, height);
  const address = URL.createObjectURL(new Blob([svgOf(picture, title)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(scale * width), height: Math.round(scale * height) });
    /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Have the browser save a file. */
export function save(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
