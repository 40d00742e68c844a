/** What a finished board shows: the pieces in a row, or the chain, that decided the game. */

import { kindOfMan } from "./men.js";

const LEAST = 3; // pieces in a row that may win
const ROWS = [[0, 1], [1, 0], [1, 1], [1, -1]];
const NEAR = [[0, 1], [0, -1], [1, 0], [-1, 0], [-1, 1], [1, -1]]; // the six neighbours of a hexagon

/** The cells that decided a game of a group, "alignment" or "connection", after a move to the cells `last`; none of others. */
export function decisive(group, rows, drawing, last) {
  if (typeof rows === "string" || !last?.length) return [];
  if (group === "alignment") return inARow(rows, drawing, last);
  return group === "connection" ? chain(rows, drawing, last) : [];
}

/** The side of the pieces that are marked: 0 or 1, else undefined. */
export function sideOf(cells, rows, drawing) {
  if (!cells.length) return undefined;
  const marks = rows.flatMap((row) => [...row]);
  const sides = new Set(cells.map((cell) => kindOfMan(marks[cell], drawing.men)?.side));
  const [side] = sides;
  return sides.size === 1 && side < 2 ? side : undefined;
}

const at = (rows, x, y) => rows[y]?.[x];
const isMan = (mark) => mark !== undefined && mark !== "." && mark !== " ";

/** The longest rows of equal pieces; those through the last move before others. */
function inARow(rows, drawing, last) {
  const width = rows[0].length;
  const found = [];
  for (const [y, row] of rows.entries()) {
    for (const [x, mark] of [...row].entries()) {
      for (const [dx, dy] of isMan(mark) ? ROWS : []) {
        if (at(rows, x - dx, y - dy) === mark) continue; // it begins before
        const cells = [];
        for (let step = 0; at(rows, x + step * dx, y + step * dy) === mark; step++) cells.push((y + step * dy) * width + x + step * dx);
        if (cells.length >= LEAST) found.push(cells);
      }
    }
  }
  const through = found.filter((cells) => cells.some((cell) => last.includes(cell)));
  const rest = through.length ? through : found;
  const most = Math.max(...rest.map((cells) => cells.length));
  return [...new Set(rest.filter((cells) => cells.length === most).flat())];
}

/** The pieces that hang together with the last one. */
function chain(rows, drawing, last) {
  const width = rows[0].length;
  const start = last.at(-1);
  const mark = at(rows, start % width, Math.floor(start / width));
  const found = new Set(isMan(mark) ? [start] : []);
  for (const cell of found) {
    const [x, y] = [cell % width, Math.floor(cell / width)];
    for (const [dx, dy] of NEAR) if (at(rows, x + dx, y + dy) === mark) found.add((y + dy) * width + x + dx);
  }
  return [...found];
}
