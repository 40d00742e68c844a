/** Positions that are set up: typed as moves, as a number or as rows, or put on the board piece by piece. */

import { $, element, wrapped } from "./elements.js";
import { drawn, kindOfMan, nameOfMan, svg } from "./men.js";
import { isFrom } from "./rules.js";
import { sidesOf } from "./scene.js";
import { phrase } from "./words.js";

/** Who is to move in a state of which nothing else is known, as far as the rules or the pieces tell. */
export function moverOf(game, state) {
  const told = [0, 1].find((mover) => game.from && isFrom(game, state, mover));
  try {
    return told ?? game.mover(state);
  } catch {
    return 0; // rules need not bear numbers that are not states
  }
}

/** What a text asks for: { moves }, their names, or { state, mover }. Throws, saying what is wrong with it. */
export function asked(game, names, text, drawing) {
  const number = /^#\s*(\d+)$/.exec(text);
  if (number) return { state: BigInt(number[1]), mover: moverOf(game, BigInt(number[1])) };
  const moves = game.moves(game.initial, game.mover(game.initial));
  const [, placement = text, side = ""] = /^(.*)\s([^\s\d-]+)[-\d\s]*$/.exec(text) ?? []; // FEN goes on: w - - 0 1
  const mover = names.map(letterOf).indexOf(side.toLowerCase());
  const areMoves = mover < 0 && moves.some(({ name }) => name.includes("/")); // d1/d3/b1
  if (game.from && text.includes("/") && !areMoves) return stateOf(game, rowsOf(game, names, placement, mover, drawing), mover);
  const isSingle = moves.every(({ name }) => name.length === 1); // they may stand without anything between them
  return { moves: (text === "start" ? "" : text).split(isSingle ? /[ ,]*/ : /[ ,]+/).filter(Boolean) };
}

/** Rows of a board, from the top, as FEN has those of chess: numbers are so many empty cells, but where the board has digits. */
function rowsOf(game, names, placement, mover, drawing) {
  const board = game.board(game.initial, game.mover(game.initial));
  const empty = (row) => row.replace(/\d+/g, (count) => ".".repeat(Math.min(Number(count), 99)));
  const rows = placement.split("/").map(isCounted(board, drawing) ? (row) => row : empty);
  if (rows.length !== board.length || rows.some((row) => row.length !== board[0].length)) {
    throw new Error(phrase("rowsAre", { rows: board.length, cells: board[0].length, example: shortened(board, drawing) }));
  }
  if (mover < 0) throw new Error(phrase("afterRows", { letters: names.map(letterOf).join(phrase("or")) }));
  return rows;
}

const letterOf = (name) => name[0].toLowerCase();
const isCounted = (board, drawing) => drawing.board === "pits" || /\d/.test(board.join(""));

function shortened(board, drawing) {
  const rows = board.map((row) => [...row].map((mark) => (kindOfMan(mark, drawing.men)?.shape ? mark : ".")).join(""));
  return isCounted(board, drawing) ? board.join("/") : rows.join("/").replace(/\.+/g, (run) => run.length);
}

/** The state of rows with a player to move. Throws, saying why, where there is none. */
export function stateOf(game, rows, mover) {
  const state = game.from(rows, mover);
  if (!isFrom(game, state, mover)) throw new Error(phrase("noSuchPosition"));
  return { state, mover };
}

/**
 * Have pieces put on the board: a click on a cell puts the one that is chosen, or takes it away. `opened` is called before,
 * `closed` when nothing came of it; `take` is given { state, mover } and says what is wrong with it, or "".
 */
export function createEditor({ game, drawing, records, board, names, opened, closed, take, say }) {
  const marks = marksOf(drawing, records);
  let rows = [];
  let chosen = marks[0];
  let isOpen = false;

  for (const mark of [...marks, "."]) {
    const button = element("button", { type: "button", title: nameOfMan(mark, drawing), ariaLabel: nameOfMan(mark, drawing) });
    if (mark !== ".") button.append(pictureOfMan(mark, drawing));
    button.addEventListener("click", () => choose(mark));
    button.dataset.mark = mark;
    $("palette").append(button);
  }
  $("turn").append(...names.map((name, side) => {
    const label = wrapped("label", element("input", { type: "radio", name: "turn", value: side }));
    label.append(` ${name}`);
    return label;
  }));
  const start = game.mover(game.initial);
  const example = `${shortened(game.board(game.initial, start), drawing)} ${letterOf(names[start])}`;
  $("text-name").textContent = phrase("movesOrRows", { example });
  $("edit").hidden = false;
  $("edit").addEventListener("click", open);
  $("clear").addEventListener("click", () => ((rows = rows.map((row) => row.replace(/[^ ]/g, "."))), draw()));
  $("placed").addEventListener("click", finish);
  $("unplaced").addEventListener("click", closed);

  function open() {
    const { state, mover } = opened();
    rows = game.board(state, mover);
    $("turn").querySelectorAll("input")[mover].checked = true;
    document.body.classList.add("editing");
    $("editor").hidden = !(isOpen = true);
    choose(chosen);
    $("palette").querySelector("button").focus();
  }

  function close() {
    document.body.classList.remove("editing");
    $("editor").hidden = !(isOpen = false);
    board.edit(undefined);
  }

  function choose(mark) {
    chosen = mark;
    for (const button of $("palette").children) button.setAttribute("aria-pressed", String(button.dataset.mark === mark));
    draw();
  }

  function draw() {
    board.edit(put, chosen);
    board.draw(rows, []);
  }

  function put(cell) {
    const [row, column] = [Math.floor(cell / rows[0].length), cell % rows[0].length];
    const mark = rows[row][column] === chosen ? "." : chosen;
    rows = rows.map((one, at) => (at === row ? one.slice(0, column) + mark + one.slice(column + 1) : one));
    draw();
  }

  /** Look at what was put, with the player to move that was chosen, or with the other where only that can be. */
  async function finish() {
    const wanted = Number($("turn").querySelector("input:checked").value);
    /** @type {any} */
    let found;
    let trouble;
    for (const mover of [wanted, 1 - wanted]) {
      try {
        found ??= stateOf(game, rows, mover);
      } catch (error) {
        trouble ??= error.message;
      }
    }
    const refused = found ? await take(found) : trouble;
    if (refused) say(sentence(refused));
    else if (found.mover !== wanted) say(sentence(`${phrase("toMoveNow", { who: names[found.mover] })}: ${trouble}`));
  }

  return { close, isOpen: () => isOpen };
}

export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;

/** The pieces that a board may have: those that the rules draw, else those of the positions that come with the page. */
function marksOf(drawing, records) {
  const seen = new Set(Object.keys(drawing.men ?? {}));
  if (!seen.size) for (const { board } of records) for (const mark of board.join("")) seen.add(mark);
  return [...seen].filter((mark) => kindOfMan(mark, drawing.men)?.shape).sort((a, b) => sideOf(a, drawing) - sideOf(b, drawing));
}

const sideOf = (mark, drawing) => kindOfMan(mark, drawing.men)?.side ?? 2;

function pictureOfMan(mark, drawing) {
  return svg("svg", { viewBox: "-50 -50 100 100", class: `on-${drawing.board ?? "squares"} ${sidesOf(drawing).join(" ")}`, "aria-hidden": "true" }, drawn(/** @type {any} */ (kindOfMan(mark, drawing.men))));
}
