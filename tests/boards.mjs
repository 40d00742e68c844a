/** What the cells and arrows of a page's board show: for its unit tests and for pytest. */

import { element } from "./dom.mjs";
import { createBoard } from "../solver/web/site/board.js";
import { inParts, inWords, kindOf } from "../solver/web/site/values.js";

/**
 * Of { about, rows, moves }, moves with their values: what the cells of the board show and say, at first and, by its number,
 * after a click on the first cell of a move that has several; and the arrows, their classes and outlines.
 */
export function viewsOf({ about, rows, moves }) {
  const place = element("div");
  const board = createBoard(place, () => {}, about.drawing);
  board.draw(rows, moves.map((move) => ({ ...move, kind: kindOf(move.value, about), words: inWords(move.value, about), parts: inParts(move.value, about) })));
  const seen = () => ({
    cells: place.children.slice(1).map((cell) => [cell.text, cell.attributes["aria-label"]]),
    arrows: place.children[0].withClass("arrow").map((arrow) => arrow.attributes.class),
    outlines: place.children[0].withClass("arrow").map((arrow) => arrow.attributes.d),
  });
  const views = { start: seen() };
  for (const cell of new Set(moves.filter((move) => move.place.length > 1).map((move) => move.place[0]))) {
    board.letGo();
    place.children[1 + cell].onclick();
    views[cell] = seen();
  }
  return views;
}

/** Whether a move begins with these cells; the first `free` of them come in any order. */
const begins = (move, cells, free) =>
  move.place.length >= cells.length &&
  cells.every((cell, step) => (step < free ? move.place.slice(0, free).includes(cell) : cell === move.place[step]));

/**
 * Hold every cell of every view against the moves that begin there, of which `merit` says the order and `said` the value.
 * How many cells have moves of different values, and the cells that say something else.
 */
export function check({ about, moves }, views) {
  const found = { choices: 0, wrong: [] };
  for (const [first, { cells }] of Object.entries(views)) {
    const clicked = first === "start" ? [] : [Number(first)];
    for (const [cell, [text, label]] of cells.entries()) {
      const from = clicked.includes(cell) ? [] : moves.filter((move) => begins(move, [...clicked, cell], about.drawing.free ?? 0));
      if (!from.length) continue;
      const best = from.reduce((one, other) => (other.merit > one.merit ? other : one)).said;
      if (text !== best || !label.includes(best)) found.wrong.push([first, cell, text, label, best]);
      found.choices += new Set(from.map(({ said }) => said)).size > 1 ? 1 : 0;
    }
  }
  return found;
}
