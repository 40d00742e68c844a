/** Men as SVG, each about the origin of a cell of 100 by 100. Colours are those of the side's class in board.css. */

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

const BASE = "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z";
const PIECES = {
  pawn: ["M0-31a12 12 0 0 1 7.5 21.5q10 4 11 9.5h-9.5q1 13 9 24h-36q8-11 9-24h-9.5q1-5.5 11-9.5a12 12 0 0 1 7.5-21.5z", BASE],
  rook: ["M-25-33h11v7h8v-7h12v7h8v-7h11v16l-8 7 3 34h-40l3-34-8-7z", BASE],
  bishop: ["M0-41a5 5 0 0 1 3 9q17 12 16 27-1 9-8 13l4 16h-30l4-16q-7-4-8-13-1-15 16-27a5 5 0 0 1 3-9z", BASE, "M0-20v14M-7-13h14"],
  queen: ["M-34-22q7-2 8 3l8 12 3-23q-3-8 3-8t4 6l8 20 8-20q-2-6 4-6t3 8l3 23 8-12q1-5 8-3l-11 46h-46z", BASE, "M-20 12q20-6 40 0"],
  king: ["M-3-45h6v7h7v6h-7v8q27-9 27 8 0 13-12 22l2 18h-40l2-18q-12-9-12-22 0-17 27-8v-8h-7v-6h7z", BASE, "M-18 8q18-6 36 0M0-22v22"],
  knight: ["M-19 24q-1-15 10-24-9 0-15 8-6 2-10-5 1-16 15-25l3-13 9 7q22 1 28 22 5 16 1 30z", BASE, "M-9-16l1 1"],
};

const ANIMALS = { chick: [[0, -1]], hen: [[0, -1], [-1, -1], [1, -1], [-1, 0], [1, 0], [0, 1]], giraffe: [[0, -1], [-1, 0], [1, 0], [0, 1]], elephant: [[-1, -1], [1, -1], [-1, 1], [1, 1]], lion: [[0, -1], [-1, -1], [1, -1], [-1, 0], [1, 0], [0, 1], [-1, 1], [1, 1]] };

const SHAPES = {
  disc: () => [circle(0, 3, 38, "shade"), circle(0, 0, 38), circle(0, 0, 27, "groove")],
  crowned: () => [...SHAPES.disc(), path("M-16 12l-4-24 11 9 9-15 9 15 11-9-4 24z", "emblem")],
  cross: () => [path("M-27-27L27 27M27-27L-27 27", "stroke")],
  ring: () => [circle(0, 0, 28, "stroke")],
  coin: () => [circle(0, 3, 36, "shade"), circle(0, 0, 36), circle(0, 0, 27, "groove"), words(0, 1, "\u2605", "emblem", 30)],
  block: () => [rect(-47, -47, 94, 94, "body", 10)],
  fox: () => [
    path("M-36-34q14 2 20 12 16-5 32 0 6-10 20-12 3 22-3 34-8 22-33 36-25-14-33-36-6-12-3-34z"),
    path("M-33 0q16-2 22 12 5 12 11 24-25-14-33-36zM33 0q-16-2-22 12-5 12-11 24 25-14 33-36z", "cheek"),
    ...eyes(14, -4), circle(0, 29, 5.5, "eye"),
  ],
  hound: () => [
    path("M-20-28q20-10 40 0 12 10 10 30-2 26-30 34-28-8-30-34-2-20 10-30z"),
    path("M-22-28q-18 2-17 24 1 15 10 17 5-8 5-20 0-12 2-21zM22-28q18 2 17 24-1 15-10 17-5-8-5-20 0-12-2-21z", "ear"),
    ...eyes(12, -6), path("M-9 12q9-6 18 0-2 10-9 10t-9-10z", "eye"), path("M0 21v6", "line"),
  ],
  hare: () => [
    path("M-18-4q-12-36 0-40 12 2 14 34h8q2-32 14-34 12 4 0 40 12 8 10 22-4 20-28 20t-28-20q-2-14 10-22z"),
    path("M-13-14q-4-20 0-24 5 4 6 24zM13-14q4-20 0-24-5 4-6 24z", "cheek"),
    ...eyes(11, 8), path("M-5 19h10l-5 6z", "eye"),
  ],
};

const eyes = (x, y) => [circle(-x, y, 4.5, "eye"), circle(x, y, 4.5, "eye")];

/** A tile of animal shogi: its letter, and dots where it may go, ahead being up for the first player. */
function tile(name, side) {
  const ahead = side ? -1 : 1;
  return [
    rect(-42, -39, 84, 84, "shade", 14), rect(-42, -42, 84, 84, "body", 14),
    ...ANIMALS[name].map(([x, y]) => circle(32 * x, 32 * y * ahead, 5, "emblem")),
    words(0, 2, name === "hen" ? "H" : name[0].toUpperCase(), "emblem letter", 42),
  ];
}

/** The man of a mark: `men` of the drawing say what it is and whose, else capitals are the first player's discs. */
export function kindOfMan(mark, men = {}) {
  if (mark === "." || mark === " ") return undefined;
  if (men[mark]) return { shape: men[mark][0], side: men[mark][1] };
  const isLetter = mark.toLowerCase() !== mark.toUpperCase();
  return { shape: isLetter ? "disc" : mark, side: !isLetter ? 2 : mark === mark.toUpperCase() ? 0 : 1 };
}

/** Whose men a mark of a backgammon board counts: the second player's as many places behind "@". */
export const sideOfStack = (mark) => mark.codePointAt(0) >= 64;

/** What a mark is called: the rules' word for the man, with its side where both have such men. */
export function nameOfMan(mark, drawing) {
  const kind = kindOfMan(mark, drawing.men);
  if (mark === "." || !kind?.shape) return mark === " " ? "no cell" : "empty";
  if (["pits", "bearoff"].includes(drawing.board)) return String(mark.codePointAt(0) - 48);
  if (drawing.board === "backgammon") return mark === "0" ? "empty" : `${mark.codePointAt(0) & 15} ${drawing.sides[sideOfStack(mark) ? 1 : 0]}`;
  const whose = kind.side < 2 && drawing.sides ? `${drawing.sides[kind.side]} ` : "";
  if (drawing.men?.[mark]) return kind.shape === drawing.sides?.[kind.side] ? kind.shape : `${whose}${kind.shape}`;
  return drawing.sides ? drawing.sides[kind.side] : mark.toUpperCase();
}

/** The man as SVG; `letter`: written on discs that are of several kinds. */
export function drawn({ shape, side }, letter = "") {
  const [name, count] = shape.split(" ");
  const parts = PIECES[name] ? PIECES[name].map((d, at) => path(d, at > 1 ? "line" : "body")) : ANIMALS[name] ? tile(name, side) : SHAPES[name]?.();
  const group = svg("g", { class: `man side${side} ${name}` }, ...(parts ?? [rect(-38, -35, 76, 76, "shade", 16), rect(-38, -38, 76, 76, "body", 16), words(0, 2, name, "emblem letter", 46)]));
  if (letter && name === "disc") group.append(words(0, 2, letter, "emblem letter", 34));
  if (count) group.append(circle(32, -32, 15, "badge"), words(32, -31, count, "badge-text", 22));
  return group;
}
