/** A board as one picture: what it is made of, pieces, what was played last, arrows of moves, names of rows and columns. */

import { layoutOf, wordSize } from "./layout.js";
import { circle, drawn, kindOfMan, path, svg, words } from "./men.js";
import { OWN_MEN, SURFACES, front } from "./surfaces.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const SIDES = ["blue", "amber"]; // where the rules name none
const ARROWS = 12; // that are shown at a time

/** The classes by which the sides have their colours. */
export const sidesOf = (drawing) => (drawing.sides ?? SIDES).map((name, side) => `${side ? "second" : "first"}-${name}`);

/**
 * The picture of rows of characters. What there may be besides: `last`, the cells of the last move; `arrows`, moves
 * { from, to, kind, best }; `decided`, the cells of the pieces that won; `numbers`, { cell, number } of a line's moves; `valued`, the
 * cells whose pieces make room for a value; `labels`, "names", "columns", "heaps" or "cells"; whether it is `turned`; and what surfaces ask: `gained` and `mover`, `owners` of boxes, `players`.
 */
export function pictureOf(drawing, rows, told = /** @type {any} */ ({})) {
  const layout = layoutOf(drawing, rows, told);
  const surface = drawing.board in SURFACES ? drawing.board : "squares";
  const marks = rows.flatMap((row) => [...row]);
  const men = OWN_MEN.has(surface) ? [] : marks.map((mark, cell) => manAt(layout, mark, cell, drawing, marks, told)).filter(Boolean);
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${layout.width} ${layout.height}`, class: `picture on-${surface} ${sidesOf(drawing).join(" ")}`, "aria-hidden": "true" },
    svg("g", {}, ...SURFACES[surface](layout, rows, drawing, told)),
    svg("g", { class: "lasts" }, ...lasts(layout, told.last ?? [], surface)),
    svg("g", { class: "men" }, ...men),
    svg("g", {}, ...(surface === "plate" ? front(layout) : [])),
    svg("g", { class: "decided" }, ...(told.decided ?? []).map((cell) => circle(layout.cells[cell].x, layout.cells[cell].y, 47, "decided"))),
    svg("g", { class: "edges" }, ...labels(layout, told.labels, surface, drawing)),
    svg("g", { class: "numbers" }, ...(told.numbers ?? []).filter(({ cell }) => layout.cells[cell]?.w).flatMap(({ cell, number }) => numbered(layout.cells[cell], number))),
    svg("g", { class: "arrows" }, ...(told.arrows ?? []).slice(0, ARROWS).map((arrow) => arrowOf(layout, arrow))),
  );
  return { picture, layout };
}

function manAt(layout, mark, cell, drawing, marks, { valued }) {
  const kind = kindOfMan(mark, drawing.men);
  if (!kind || !kind.shape || kind.shape === "dot") return undefined;
  const several = new Set(marks.filter((one) => kindOfMan(one, drawing.men)?.side === kind.side && one !== ".")).size > 1;
  const man = drawn(kind, several && !drawing.men ? mark.toUpperCase() : "", layout.turned);
  const { x, y } = layout.cells[cell];
  const away = valued?.has(cell) ? [-12, 0.8] : [0, 1];
  const holder = svg("g", { transform: `translate(${x} ${y + away[0]}) scale(${away[1]})`, "data-cell": cell }, svg("g", { class: "moves" }, man));
  return holder;
}

/** Where the last move went, and whence. */
function lasts({ cells }, last, surface) {
  const isRound = ["plate", "points", "pits", "track", "hexagons"].includes(surface);
  return last.map((cell) => {
    const { x, y, w, h } = cells[cell];
    if (isRound) return circle(x, y, 45, "last");
    return svg("rect", { x: x - w / 2 + 3, y: y - h / 2 + 3, width: w - 6, height: h - 6, rx: 12, class: "last" });
  });
}

const numbered = ({ x, y }, number) => [circle(x + 30, y - 30, 17, "badge"), words(x + 30, y - 29, number, "badge-text", 24)];

function labels({ across, down, cells, width, height, left, turned }, kind, surface, { names }) {
  const size = wordSize(width, 14);
  if (kind === "cells") return cells.map(({ x, y }, cell) => words(x + 44, y - 40, names[cell], "edge", size));
  if (!kind) return [];
  const step = surface === "walls" ? 2 : 1; // between cells there are gaps, which have no names
  const isNamed = (_, at) => at % step === 0;
  if (kind === "heaps") return Array.from({ length: down }, (_, row) => words(left / 2, cells[row * across].y, LETTERS[row], "edge", size));
  const lowest = turned ? 0 : (down - 1) * across;
  const under = height - 16 - cells[lowest].y;
  const below = cells.slice(lowest, lowest + across).filter(isNamed).map(({ x, y }, at) => words(x, y + under, kind === "names" ? LETTERS[at] : at + 1, "edge", size));
  if (kind !== "names") return below;
  const rows = Array.from({ length: down }, (_, row) => cells[row * across]).filter(isNamed);
  if (surface === "hexagons") return [...rows.map(({ x, y, w }, row) => words(x - w / 2 - 30, y, row + 1, "edge", size)), ...below]; // from the top
  return [...rows.map(({ y }, row) => words(left / 2, y, rows.length - row, "edge", size)), ...below];
}

/** An arrow from the middle of a cell to that of another. */
function arrowOf({ cells }, { from, to, kind, best }) {
  const [a, b] = [cells[from], cells[to]];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const [begin, end] = [Math.min(26, length / 4), Math.min(20, length / 5)];
  const at = (along, aside) => `${(a.x + ux * along - uy * aside).toFixed(1)} ${(a.y + uy * along + ux * aside).toFixed(1)}`;
  const [tip, neck] = [length - end, length - end - 26];
  const d = `M${at(begin, -5)}L${at(neck, -5)}L${at(neck, -16)}L${at(tip, 0)}L${at(neck, 16)}L${at(neck, 5)}L${at(begin, 5)}z`;
  return path(d, `arrow ${kind}${best ? " best" : ""}`);
}

/** Let the piece of a move come from where it was: along its way, down a column, or out of nothing. */
export function animate(picture, layout, { from, to, falls }) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const man = picture.querySelector(`[data-cell="${to}"] > .moves`);
  if (still || !man) return;
  const [a, b] = [layout.cells[from ?? to], layout.cells[to]];
  const away = falls ? [0, -b.y - 50] : [a.x - b.x, a.y - b.y];
  const begin = from === undefined && !falls ? { transform: "scale(0.4)", opacity: 0 } : { transform: `translate(${away[0]}px, ${away[1]}px)` };
  man.parentNode.parentNode.append(man.parentNode); // above the others
  const easing = falls ? "cubic-bezier(0.5, 0, 0.9, 0.6)" : "ease-out";
  man.animate([begin, { transform: "none", opacity: 1 }], { duration: falls ? 120 + 45 * Math.floor(to / layout.across) : 220, easing });
}
