/**
 * Why a move is good or bad: best play after it, to where the outcome is plain. The lines are those of
 * `solver.play.analysis`.
 */

import { element, wrapped } from "./elements.js";
import { decisive } from "./ending.js";
import { played } from "./rules.js";
import { chosen, kindOf } from "./values.js";
import { phrase } from "./words.js";

const SIGHT = 2; // plies within which a win is plain
const LONGEST = 60; // plies of a line
const NAMED = 8; // moves of it that the first sentence names
const MOST_REPLIES = 20; // that are tried for a threat

/** The value that a move gives away, for its mover: 0 if it keeps the value, undefined if that is not known. */
export function givenAway(before, after) {
  if (!before || !after || before.estimate || after.estimate) return undefined;
  return Math.max(0, before.score - after.score);
}

/**
 * Best play after a move: positions, the one after the move first. `known(position)` resolves to what is known of a
 * position, as `examine` gives it. The line ends early where no best move is known.
 */
export async function bestPlay(known, game, about, position, move) {
  /** @type {any[]} */
  const line = [played(position, move)];
  const seen = new Set([line[0].state]);
  const holdsDraw = !about.scores && move.value.score === 0 && (givenAway(position.value, move.value) ?? 0) > 0;
  while (line.length <= LONGEST && !game.end(line.at(-1).state)) {
    const found = await known(line.at(-1));
    const { distance } = found.value ?? {};
    Object.assign(line.at(-1), { value: found.value, choices: found.moves.length, keepers: keepersOf(found) });
    const isPlain = line.length > 1 && distance !== null && distance !== undefined && distance <= SIGHT && !about.scores;
    const best = found.moves.some((move) => move.best) ? chosen(found.moves) : undefined;
    if (isPlain || !best) break;
    line.push(played(line.at(-1), best));
    if (holdsDraw || seen.has(line.at(-1).state)) break;
    seen.add(line.at(-1).state);
  }
  const last = line.at(-1);
  if (!("value" in last)) last.value = (await known(last)).value;
  return line;
}

/** How many moves keep the value of a position. */
const keepersOf = ({ value, moves }) => moves.filter((move) => givenAway(value, move.value) === 0).length;

/** A line in words, a sentence for each position of it: what was played there, and why. */
export function inSteps(game, about, names, position, move, line) {
  const gives = givenAway(position.value, move.value);
  let before = []; // the threats of the move before
  const steps = line.map((one, place) => {
    const told = { who: names[one.by], move: one.name };
    const [last, answered] = [line[place - 1], before];
    before = about.group === "alignment" ? threatsOf(game, about.drawing, one) : [];
    const threat = before.length ? ` ${inThreat(before)}` : "";
    if (!last) return phrase("playsAndWhy", { ...told, why: gives ? losing(position.value, move.value, about) : keeping(move.value, about) }) + threat;
    if (answered.some(({ cell }) => one.place.includes(cell))) return phrase("stops", told) + threat;
    if (last.choices === 1) return phrase("mustPlay", told) + threat;
    if (last.value?.score < 0 && !about.scores) return phrase("onlyDelays", told) + threat;
    const only = last.value?.score ? "playsOnlyWin" : "playsOnlyDraw";
    return phrase(last.keepers === 1 && !about.scores ? only : "plays", told) + threat;
  });
  const [last, end] = [line.at(-1), game.end(line.at(-1).state)];
  const rows = game.board(last.state, last.mover);
  const row = end && end[0] && inLine(decisive(about.group, rows, about.drawing, last.place), rows);
  steps[steps.length - 1] += end ? ` ${row ? phrase("hasRow", { who: names[last.by], ...row }) : phrase("isOver")}` : outlook(last, names, about);
  if (line.length > 1) steps[0] += ` ${phrase("goesOn", { moves: line.slice(1, NAMED + 1).map(({ name }) => name).join(" ") + (line.length > NAMED + 1 ? " \u2026" : ".") })}`;
  return steps;
}

/** What whoever has just moved would win by next, whatever is replied elsewhere: [{ name, cell, cells, count, row }]. */
function threatsOf(game, drawing, { state, mover, by }) {
  const replies = game.end(state) || mover === by ? [] : game.moves(state, mover).filter((reply) => !game.end(reply.child));
  const wins = replies.length > MOST_REPLIES ? [] : replies.map((reply) => game.moves(reply.child, reply.mover).filter((win) => {
    const end = game.end(win.child);
    return reply.mover === by && end && (win.mover === by ? end[0] : -end[0]) > 0;
  }));
  const cellOf = (one) => one.place.at(-1);
  const found = new Map(wins.flat().map((win) => [cellOf(win), win]));
  const stand = [...found].filter(([cell]) => replies.every((reply, at) => reply.place.includes(cell) || wins[at].some((win) => cellOf(win) === cell)));
  return stand.flatMap(([cell, win]) => {
    const rows = game.board(win.child, win.mover);
    const cells = decisive("alignment", rows, drawing, win.place).filter((one) => one !== cell);
    const row = inLine(cells, rows);
    return row ? [{ name: win.name, cell, cells, ...row }] : [];
  });
}

function inThreat(threats) {
  const [first, second] = threats.map(({ cells }) => String(cells));
  const key = threats.length === 1 ? "threatens" : first === second ? "threatensEnds" : "threatensBoth";
  return phrase(key, { ...threats[0], moves: threats.map(({ name }) => name).join(phrase("and")) });
}

/** Cells in one line: how many, and in which row or column, or on a diagonal; undefined of others. */
function inLine(cells, rows) {
  if (cells.length < 2) return undefined;
  const width = rows[0].length;
  const [xs, ys] = [cells.map((cell) => cell % width), cells.map((cell) => Math.floor(cell / width))];
  const [across, down] = [xs, ys].map((places) => places.map((place) => Math.abs(place - places[0])));
  const key = !Math.max(...down) ? "row" : !Math.max(...across) ? "column" : String(across) === String(down) ? "diagonal" : undefined;
  return key && { count: cells.length, row: phrase(key, { row: rows.length - ys[0], column: xs[0] + 1 }) };
}

/** What is plain at the end of a line. */
function outlook({ value, mover }, names, about) {
  if (!value || about.scores || value.estimate) return "";
  if (value.score === 0) return ` ${phrase("thatHolds")}`;
  const winner = names[value.score > 0 ? mover : 1 - mover];
  return ` ${value.distance === null ? phrase("willWin", { who: winner }) : phrase("winsIn", { who: winner, plies: value.distance })}`;
}

/** What a move does that gives value away. */
export function losing(before, after, about) {
  if (about.scores) return phrase("givesAway", { margin: before.score - after.score });
  return phrase("makesOf", { after: phrase(kindOf(after, about)), before: phrase(kindOf(before, about)) });
}

/** What a move does that keeps the value. */
function keeping({ score, distance }, about) {
  if (about.scores) return phrase("isBest");
  if (!score) return phrase("holdsDraw");
  if (distance === null) return phrase(score > 0 ? "beginsWins" : "beginsLoses");
  return phrase(score > 0 ? "winsSoon" : "losesSoon", { plies: distance });
}

let listed; // the sentences that are shown

/** Show the sentences of a line, one for each of its positions; `at` is the one that is on the board. */
export function listSteps(place, steps, at, go) {
  if (listed !== steps) {
    listed = steps;
    place.replaceChildren(
      ...steps.map((step, number) => {
        const button = element("button", { type: "button", textContent: step });
        button.addEventListener("click", () => go(number));
        return wrapped("li", button);
      }),
    );
  }
  for (const [number, button] of [...place.querySelectorAll("button")].entries()) {
    if (number !== at) button.removeAttribute("aria-current");
    else {
      button.setAttribute("aria-current", "step");
      place.scrollTop = button.offsetTop - place.offsetTop - place.clientHeight / 2;
    }
  }
}
