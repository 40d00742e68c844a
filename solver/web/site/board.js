/**
 * The board: a picture, and over it a button for each cell, or text where the rules do not say how cells are drawn.
 *
 * Only one cell is in the order of Tab; arrows go from cell to cell. A move is chosen by its cells, one after the other;
 * what has no cells, or the same ones as another move, is chosen in the list. Pieces may be dragged, too.
 */

import { kindOfMan, nameOfMan } from "./men.js";
import { animate, pictureOf } from "./scene.js";
import { chosen as bestOf } from "./values.js";
import { phrase } from "./words.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const AT_EDGES = ["walls", "hexagons"]; // boards with names of their own whose rows and columns are named, too
const MANY = 6; // best moves of which there are arrows
const NARROW = 520; // pixels: in less a board of backgammon is halved

const [TOUCHED, READ] = [24, 9]; // pixels: the least of a cell that fingers find (WCAG 2.5.8), and of letters that are read

/** The width at which all cells of a picture can be touched, and all its words read. */
function leastWidth(picture, { width, cells }) {
  const narrow = cells.map(({ w, h }) => Math.min(w, h)).filter(Boolean);
  const small = [...picture.querySelectorAll("text")].map((text) => Number(text.getAttribute("font-size")));
  return Math.ceil(width * Math.max(TOUCHED / Math.min(100, ...narrow), READ / Math.min(100, ...small)));
}

export function createBoard(place, play, drawing = {}, players = []) {
  let rows = [];
  let cells = [];
  let moves = [];
  let chosen = []; // the cells of a move that is being made
  let current = 0; // the cell that Tab comes to
  let told = {}; // what else the picture shows
  let falls; // whether a move is known by its column alone
  let named; // whether moves are named by the cells that they go to: a1 bottom left
  let dragged = false; // whether the click that comes is the end of a drag
  let put; // what a click does in place of choosing a move, and the mark that it puts
  let untold = true; // whether that is not known yet: chance has had to decide first

  globalThis.addEventListener?.("resize", () => cells.length && update());

  /**
   * Show rows of characters, or text, with the moves: { name, place, value, kind, words, best }. `others`: `last`, the cells of
   * the last move; whether it `arrives` just now; and what surfaces ask.
   */
  function draw(board, labelled, others = {}) {
    if (String(board) !== String(rows)) chosen = []; // values that come late find a move begun
    const isNew = String(others.last) !== String(told.last);
    [moves, told] = [labelled, others];
    if (typeof board === "string") {
      place.classList.add("text");
      place.replaceChildren(Object.assign(document.createElement("pre"), { textContent: board, tabIndex: 0, className: board.includes("\n") ? "" : "line" }));
      return;
    }
    rows = board;
    if (!cells.length || untold) build();
    update(others.arrives);
    if (isNew && others.last?.length) bringIntoSight(cells[others.last.at(-1)]);
  }

  /** Scroll a board that is wider than its frame, but never the page. */
  function bringIntoSight(button) {
    const [cell, frame] = [button, place.parentElement].map((one) => one?.getBoundingClientRect?.());
    if (frame) place.parentElement.scrollBy(cell.left + cell.width / 2 - frame.left - frame.width / 2, 0);
  }

  function build() {
    untold = !moves.length || moves.every((move) => move.weight !== undefined);
    falls = isByColumn();
    named = moves.some((move) => move.place.length && move.name.includes(nameOf(move.place.at(-1)))) && (!drawing.names || AT_EDGES.includes(drawing.board)) && drawing.board !== "piles";
    if (cells.length) return;
    cells = Array.from({ length: rows.length * rows[0].length }, (_, cell) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "cell" });
      button.addEventListener("click", () => (dragged ? (dragged = false) : choose(cell)));
      button.addEventListener("focus", () => rove(cell));
      button.addEventListener("pointerdown", (event) => grasp(event, cell));
      return button;
    });
    place.replaceChildren(...cells);
  }

  /** Lay the buttons over the cells of the picture. */
  function lay(picture, layout) {
    place.querySelector("svg")?.remove();
    place.prepend(picture);
    place.style.setProperty("--ratio", layout.width / layout.height);
    place.style.setProperty("--cells", layout.width / 100);
    place.style.setProperty("--least", `${leastWidth(picture, layout)}px`);
    for (const [cell, button] of cells.entries()) {
      const { x, y, w, h } = layout.cells[cell];
      const shares = { left: (x - w / 2) / layout.width, top: (y - h / 2) / layout.height, width: w / layout.width, height: h / layout.height };
      for (const [side, share] of Object.entries(shares)) button.style[side] = `${(100 * share).toFixed(3)}%`;
    }
  }

  /** A cell as most games write it, or as this one does. */
  function nameOf(cell) {
    if (drawing.names) return drawing.names[cell];
    const width = rows[0].length;
    return `${LETTERS[cell % width]}${rows.length - Math.floor(cell / width)}`;
  }

  /** Whether pieces fall: at the start, each column has one move at most, of one cell, and there are several rows. */
  function isByColumn() {
    const columns = moves.map((move) => move.place.length === 1 && move.place[0] % rows[0].length);
    return !["pits", "piles"].includes(drawing.board) && rows.length > 1 && moves.length > 1 && !columns.includes(false) && new Set(columns).size === columns.length;
  }

  /** Whether a move may be meant by cells that are chosen one after the other; some boards bear any order. */
  function begins(move, before) {
    const free = drawing.free ?? 0;
    const part = move.place.slice(0, free);
    return before.every((one, step) => (step < free ? part.includes(one) : move.place[step] === one));
  }

  /** The moves that may still be meant if this cell is chosen next, and the cell of theirs that is. */
  function meant(cell, before = chosen) {
    const starts = moves.filter((move) => move.place.length > before.length && begins(move, before));
    const exact = starts.filter((move) => begins(move, [...before, cell]) && !before.includes(cell));
    if (exact.length || !falls) return { moves: exact, cell };
    const below = starts.filter((move) => move.place[0] % rows[0].length === cell % rows[0].length);
    return { moves: below, cell: below[0]?.place[0] };
  }

  /** Have clicks put a mark from now on, or, without one, choose moves again. */
  function edit(click, mark) {
    put = click && { click, mark };
  }

  function choose(cell) {
    current = cell;
    if (put) return put.click(cell);
    const complete = moves.filter((move) => chosen.length && move.place.length === chosen.length && begins(move, chosen));
    if (cell === chosen.at(-1) && complete.length === 1) return play(complete[0]); // once more: that is all of it
    /** @type {{ moves: any[], cell?: number }} */
    let found = meant(cell);
    let before = chosen;
    if (!found.moves.length && chosen.length) [found, before] = [meant(cell, []), []];
    if (chosen.includes(cell)) [found, before] = [{ moves: [] }, []];
    chosen = found.moves.length ? [...before, found.cell] : [];
    const whole = found.moves.filter((move) => move.place.length === chosen.length);
    if (whole.length === 1 && found.moves.length === 1) play(whole[0]);
    else {
      update();
      if (whole.length > 1) /** @type {HTMLElement | null} */ (document.querySelector("#moves .move"))?.focus();
    }
    return undefined;
  }

  /** Drag a piece: where it is let go is the next cell. */
  function grasp(event, cell) {
    const isPart = chosen.includes(cell) || meant(cell).moves.some((move) => move.place.length > 1);
    if (!event.isPrimary || event.button || !isPart || drawing.free) return;
    const from = [event.clientX, event.clientY];
    let man;
    dragged = false;
    const move = ({ clientX, clientY }) => {
      if (!man && Math.hypot(clientX - from[0], clientY - from[1]) < 8) return;
      if (!man && chosen.at(-1) !== cell) choose(cell);
      man = place.querySelector(`[data-cell="${cell}"] > .moves`);
      const scale = man?.getScreenCTM()?.a;
      if (scale) man.style.transform = `translate(${(clientX - from[0]) / scale}px, ${(clientY - from[1]) / scale}px)`;
    };
    const end = (/** @type {any} */ { clientX, clientY, type }) => {
      removeEventListener("pointermove", move);
      if (!man) return;
      man.style.transform = "";
      dragged = true;
      const target = cells.indexOf(document.elementFromPoint(clientX, clientY)?.closest(".cell"));
      if (type === "pointerup" && target >= 0 && target !== cell && meant(target).moves.length) choose(target);
    };
    addEventListener("pointermove", move);
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end, { once: true });
  }

  function letGo() {
    chosen = [];
    if (cells.length) update();
  }

  function update(arrives) {
    const width = rows[0].length;
    const marks = rows.map((row) => [...row]).flat();
    const valued = new Set();
    cells.forEach((button, cell) => {
      const { moves: some, cell: target } = meant(cell);
      const best = bestOf(some) ?? some[0];
      const man = marks[cell];
      const kind = kindOfMan(man, drawing.men);
      if (kind && target === cell && best?.words) valued.add(cell);
      button.className = ["cell", kind?.shape && "man", told.last?.includes(cell) && "last"].filter(Boolean).join(" ");
      button.classList.toggle("chosen", chosen.includes(cell));
      button.classList.toggle("open", some.length > 0 || Boolean(put));
      button.setAttribute("aria-disabled", String(!put && !some.length && !chosen.includes(cell)));
      if (chosen.length || some.some((move) => move.place.length > 1)) button.setAttribute("aria-pressed", String(chosen.includes(cell)));
      else button.removeAttribute("aria-pressed");
      button.hidden = drawing.board === "race" || (man === " " && !some.length) || (!some.length && !put && kind?.shape === "dot");
      button.setAttribute("aria-label", label(cell, man, some, width));
      button.replaceChildren(...faces(target === cell ? best : undefined));
      button.tabIndex = cell === current ? 0 : -1;
    });
    const labels = drawing.heaps ? "heaps" : named ? "names" : falls ? "columns" : drawing.board === "points" && drawing.names ? "cells" : "";
    const { picture, layout } = pictureOf(drawing, rows, { ...told, valued, players, labels, narrow: place.parentElement?.clientWidth < NARROW, arrows: arrows() });
    lay(picture, layout);
    if (arrives && told.last?.length) {
      const from = told.last.length > 1 ? told.last[0] : undefined;
      animate(picture, layout, { from, to: told.last.at(-1), falls });
    }
  }

  /** Moves that slide: those of the piece that is chosen, else the best ones. */
  function arrows() {
    const slides = moves.filter((move) => move.place.length > 1 && move.words && !drawing.free);
    const shown = chosen.length ? slides.filter((move) => begins(move, chosen)) : slides.filter((move) => move.best || move.likely);
    if (!chosen.length && shown.length > MANY) return [];
    const steps = new Map(); // moves by the cells they go from and to: an arrow has the colour of the best of them
    for (const move of shown) {
      const stride = drawing.board === "backgammon" ? 2 : 1; // there the dice move checkers of their own
      for (const [at, to] of move.place.slice(1).entries()) {
        if (at % stride || to === move.place[at]) continue;
        const step = `${move.place[at]} ${to}`;
        steps.set(step, { from: move.place[at], to, moves: [...(steps.get(step)?.moves ?? []), move] });
      }
    }
    return [...steps.values()].map(({ from, to, moves }) => {
      const { kind, best } = bestOf(moves) ?? moves[0];
      return { from, to, kind, best };
    });
  }

  /** What going to a cell is worth. */
  function faces(move) {
    if (!move) return [];
    const [word, between, count] = move.parts;
    const chip = span(`chip ${move.kind}${markOf(move)}`, "");
    if (word) chip.append(span("word", word.text));
    if (word?.short) /** @type {any} */ (chip.firstChild).dataset.short = word.short; // where a cell is too small for the word
    if (count) chip.append(span("between", between.text), span("count", count.text)); // so that it reads as its button is called
    return [chip];
  }

  function label(cell, mark, some, width) {
    const row = rows.length - Math.floor(cell / width);
    const where = named || drawing.names ? nameOf(cell) : phrase("columnRow", { column: (cell % width) + 1, row });
    const [ends, longer] = [true, false].map((isEnd) => some.filter((move) => (move.place.length === chosen.length + 1) === isEnd));
    const say = (move) => `${move.name}${move.words && `: ${move.words}`}${move.best ? `, ${phrase("best")}` : move.likely ? `, ${phrase("likelyBest")}` : ""}`;
    const words = bestOf(longer)?.words;
    const key = `${ends.length ? "longer" : "further"}${longer.length === 1 ? "One" : ""}`;
    const further = `${phrase(key, { count: longer.length })}${words ? phrase("atBest", { words }) : ""}`;
    const leads = `${ends.length ? phrase("doPlay", { moves: ends.map(say).join("; ") }) : ""}${longer.length ? further : ""}`;
    return `${where}: ${nameOfMan(mark, drawing)}${put ? phrase("doPut", { man: nameOfMan(put.mark, drawing) }) : leads}`;
  }

  function rove(cell) {
    cells[current].tabIndex = -1;
    current = cell;
    cells[current].tabIndex = 0;
  }

  /** Go from cell to cell by an arrow key; false where there are no cells, or the focus is elsewhere. */
  function walk(key) {
    const inside = place.contains(document.activeElement);
    if (!cells.length || !(inside || document.activeElement === document.body)) return false;
    const next = inside ? neighbour(key) : cells[current].hidden ? cells.findIndex((one) => !one.hidden) : current;
    cells[next]?.focus();
    return next !== undefined && next >= 0;
  }

  /** The cell that lies next in the direction of a key: what is ahead, and least aside. */
  function neighbour(key) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const centre = (one) => [parseFloat(one.style.left) * ratio() + parseFloat(one.style.width) * ratio() / 2, parseFloat(one.style.top) + parseFloat(one.style.height) / 2];
    const ratio = () => Number(place.style.getPropertyValue("--ratio"));
    const here = centre(cells[current]);
    let [nearest, least] = [current, Infinity];
    for (const [cell, one] of cells.entries()) {
      if (one.hidden || cell === current) continue;
      const [x, y] = centre(one).map((place, way) => place - here[way]);
      const [ahead, aside] = [x * dx + y * dy, Math.abs(x * dy) + Math.abs(y * dx)];
      const cost = ahead + 3 * aside;
      if (ahead > 0.5 && aside <= ahead * 1.01 && cost < least) [nearest, least] = [cell, cost];
    }
    return nearest;
  }

  return { draw, edit, letGo, walk };
}

const markOf = ({ best, likely }) => (best ? " best" : likely ? " likely" : "");

function span(className, text) {
  return Object.assign(document.createElement("span"), { className, textContent: text });
}
