/**
 * Puzzles: positions in which one move alone is good, as `solver puzzles` finds them. What a person has solved is kept in
 * the browser.
 */

import { phrase } from "./words.js";

const DAY = 86400000; // milliseconds
const CHOICES = 3; // moves that a hint leaves at most, the right one among them
const MOVES = 3; // that are to be found where the book does not say how many there are

const GOALS = { win: "findWin", draw: "findDraw", margin: "findMargin" };

/** The days since 1970, by which the puzzle of the day changes. */
export const today = (now = Date.now()) => Math.floor(now / DAY);

export class Puzzles {
  #results; // by state: whether it was solved at the first try

  /** Of a list of puzzles, { state, goal, distance, move, difficulty }, of the book of that digest. */
  constructor(list, digest) {
    this.list = list;
    this.key = `puzzles ${digest}`;
    try {
      this.#results = JSON.parse(localStorage.getItem(this.key) ?? "{}");
    } catch {
      this.#results = {}; // a browser that keeps nothing
    }
  }

  /** The place of the puzzle that an address asks for: "3", or "daily"; undefined if there is none. */
  place(text, now = Date.now()) {
    const place = text === "daily" ? today(now) % this.list.length : Number(text) - 1;
    return this.list[place] && place;
  }

  /** What is to be done, with the name of the side to move. */
  task(place, name) {
    const puzzle = this.list[place];
    const goal = phrase(GOALS[puzzle.goal], { plies: puzzle.distance });
    return phrase("task", { number: place + 1, count: this.list.length, who: name, goal });
  }

  /** How many moves its solver has to find: those up to the win, else a few. */
  length(place) {
    const { distance } = this.list[place];
    return distance ? Math.ceil(distance / 2) : MOVES;
  }

  /** A hint: a few of these moves, among them the one that is right, in their order; the same each time. */
  hint(place, move, names) {
    const others = names.filter((name) => name !== move);
    const wanted = Math.min(CHOICES - 1, Math.ceil(others.length / 2));
    const step = Math.floor(others.length / wanted);
    const shown = new Set([move, ...others.filter((_, at) => at % step === place % step).slice(0, wanted)]);
    return names.filter((name) => shown.has(name));
  }

  /** Remember how the first try went. */
  record(place, isSolved) {
    const { state } = this.list[place];
    if (state in this.#results) return;
    this.#results[state] = isSolved;
    try {
      localStorage.setItem(this.key, JSON.stringify(this.#results));
    } catch {
      // then it lasts as long as the page
    }
  }

  /** How many were tried, and how many of those were solved at the first try. */
  score() {
    const results = this.list.map(({ state }) => this.#results[state]).filter((one) => one !== undefined);
    return { tried: results.length, solved: results.filter(Boolean).length };
  }

  /** The next puzzle that was not tried; after the last of them the next in the row. */
  next(place) {
    const rest = [...this.list.keys()].map((by) => (place + 1 + by) % this.list.length);
    return rest.find((one) => !(this.list[one].state in this.#results)) ?? rest[0];
  }
}
