/** Pieces as SVG, each about the origin of a cell of 100 by 100. Colours are those of the side's class in board.css. */

import { FIGURES } from "./figures.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export const path = (d, className = "body") => svg("path", { d, class: className });
export const circle = (x, y, r, className = "body") => svg("circle", { cx: x, cy: y, r, class: className });
export const rect = (x, y, width, height, className, rx = 0) => svg("rect", { x, y, width, height, rx, class: className });
export const words = (x, y, text, className, size) => {
  const element = svg("text", { x, y, class: className, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" });
  element.textContent = text;
  return element;
};

/** The piece of a mark: `men` of the drawing say what it is and whose, else capitals are the first player's discs. */
export function kindOfMan(mark, men = {}) {
  if (mark === "." || mark === " ") return undefined;
  if (men[mark] && !men[mark][0]) return { shape: "", side: 2 };
  if (men[mark]) return { shape: men[mark][0], side: men[mark][1] };
  const isLetter = mark.toLowerCase() !== mark.toUpperCase();
  return { shape: isLetter ? "disc" : mark, side: !isLetter ? 2 : mark === mark.toUpperCase() ? 0 : 1 };
}

/** Whether the sides face each other: a board of pieces that, turned round, is the same with the sides exchanged. */
export function areOpposite(rows, { board = "squares", men }) {
  if (typeof rows === "string" || !["squares", "checks", "points", "tray", "walls"].includes(board)) return false;
  const kinds = rows.flatMap((row) => [...row]).map((mark) => kindOfMan(mark, men));
  const sides = kinds.map((kind) => (kind?.shape && kind.side < 2 ? kind.side : undefined));
  const isOther = (side, at) => sides.at(-1 - at) === (side === undefined ? side : 1 - side);
  return sides.some((side) => side !== undefined) && sides.every(isOther);
}

/** Whose pieces a mark of a backgammon board counts: the second player's as many places behind "@". */
export const sideOfStack = (mark) => mark.codePointAt(0) >= 64;

/** What a mark is called: the rules' word for the piece, with its side where both have such pieces. */
export function nameOfMan(mark, drawing) {
  const kind = kindOfMan(mark, drawing.men);
  if (drawing.board === "walls" && " -|".includes(mark)) return mark === " " ? "no wall" : "wall";
  if (mark === "." || !kind?.shape) return mark === " " ? "no cell" : "empty";
  if (["pits", "bearoff"].includes(drawing.board)) return String(mark.codePointAt(0) - 48);
  if (drawing.board === "backgammon") return mark === "0" ? "empty" : `${mark.codePointAt(0) & 15} ${drawing.sides[sideOfStack(mark) ? 1 : 0]}`;
  const whose = kind.side < 2 && drawing.sides ? `${drawing.sides[kind.side]} ` : "";
  if (drawing.men?.[mark]) return kind.shape === drawing.sides?.[kind.side] ? kind.shape : `${whose}${kind.shape}`;
  return drawing.sides ? drawing.sides[kind.side] : mark.toUpperCase();
}

/** The piece as SVG; `letter`: written on discs that are of several kinds; `turned`: on a board that is turned round. */
export function drawn({ shape, side }, letter = "", turned = false) {
  const [name, count] = shape.split(" ");
  const ahead = (side === 1) === turned ? 1 : -1;
  const make = {
    path,
    rect,
    circle: (x, y, r, className) => circle(x, className.endsWith("step") ? y * ahead : y, r, className),
    words: (x, y, text, size, className) => words(x, y, text || name, className, size),
  };
  const parts = (FIGURES[name] ?? FIGURES.tile).map(([kind, ...numbers]) => make[kind](...numbers));
  const group = svg("g", { class: `man side${side} ${name}` }, ...parts);
  if (letter && name === "disc") group.append(words(0, 2, letter, "emblem letter", 34));
  if (count) group.append(circle(32, -32, 17, "badge"), words(32, -31, count, "badge-text", 26));
  return group;
}
