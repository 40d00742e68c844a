#!/usr/bin/env node
/**
 * Proves a proof book by the rules alone, apart from the program that wrote it:
 *
 *     solver export proof.lmdb -o proof.bin
 *     solver build hex:4 -o game.wasm
 *     node check.mjs proof.bin game.wasm
 *
 * The book's side plays from the start against every reply. Wherever it is to move the book must have a value; and some
 * move must end the game with a result as good, or lead to a position in which the book has an answer, again as good, to
 * every reply. Nothing else is believed: of the book only the numbers of its states and their scores are read, and of
 * the module only the rules. Exit code 0: proved. 1: not proved, with the moves that show it. 2: files that cannot be read.
 */

import { readFile } from "node:fs/promises";
import { Book } from "./book.js";
import { Search } from "./search.js";

const SIDES = ["first", "second"];

/** A position in which the book's side gets less than it says; `path` are the actions that lead there. */
class Unproved extends Error {
  constructor(reason, path) {
    super(path.length ? `${reason}, after ${path.join(" ")}` : `${reason}, at the start`);
  }
}

/** One side of a book, and the positions in which it is known to keep its values. */
class Play {
  #seen = new Set(); // canonical states in which the side is to move, which hold or are about to be looked at
  #waiting = []; // the same, with the actions that lead there

  constructor(book, game, side, start) {
    this.start = start;
    this.book = book;
    this.rules = game.rules;
    this.game = game;
    this.side = side;
  }

  /** The player to move at the start of all play. Games that do not tell begin with the first player. */
  mover(state) {
    return this.rules.to_move ? Number(this.rules.to_move(state)) : 0;
  }

  /** Whether who moves by an action is to move after it, too. */
  movesAgain(state, action, child) {
    if (this.rules.again) return this.rules.again(state, action) !== 0n;
    return this.rules.to_move ? this.rules.to_move(state) === this.rules.to_move(child) : false;
  }

  key(state) {
    return this.book.facts.symmetry && this.rules.canonical ? this.rules.canonical(state) : state;
  }

  /** The score of an unfinished state for its side to move, as the book has it; undefined where it has none. */
  async stored(state) {
    const value = await this.book.get(this.key(state));
    return value && Math.sign(Number(value.score));
  }

  /** Prove that the side gets at least `worth` from the start; returns in how many positions it came to move. */
  async prove(worth) {
    const { start } = this;
    const isOwn = this.mover(start) === this.side;
    if (isOwn) await this.#expect(start, worth, []);
    else await this.#answerAll(start, worth, []);
    // Iterative, since lines of play may be longer than a stack is deep; the list grows
    for (let at = 0; at < this.#waiting.length; at++) {
      const { state, score, path } = this.#waiting[at];
      await this.#move(state, score, path);
    }
    return this.#seen.size;
  }

  /** The side is to move at a state and must have at least `worth` there: note it, to be proved in its turn. */
  async #expect(state, worth, path) {
    const score = await this.stored(state);
    if (score === undefined) throw new Unproved("the book has no value", path);
    if (score < worth) throw new Unproved(`the book says ${score} where ${worth} is needed`, path);
    const key = this.key(state);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#waiting.push({ state, score, path });
  }

  /** Find a move of the side that is worth as much as its state. */
  async #move(state, score, path) {
    for (const action of this.game.actions(state)) {
      const child = this.game.result(state, action);
      const again = this.movesAgain(state, action, child);
      if (this.game.isTerminal(child)) {
        if (this.#result(child, again) >= score) return;
      } else if (again ? ((await this.stored(child)) ?? -2) >= score : await this.#isAnswered(child, score)) {
        if (again) await this.#expect(child, score, [...path, action]);
        else await this.#answerAll(child, score, [...path, action]);
        return;
      }
    }
    throw new Unproved(`no move is known to be worth ${score}`, path);
  }

  /** What a finished state is worth for who moved there, or for who is to move if that is the `same` side. */
  #result(state, same) {
    const utility = Math.sign(Number(this.rules.utility(state)));
    return same ? utility : 0 - utility;
  }

  /** Whether the book has an answer that is worth enough to every reply of the other side. */
  async #isAnswered(state, worth) {
    for (const action of this.game.actions(state)) {
      const child = this.game.result(state, action);
      const again = this.movesAgain(state, action, child);
      if (this.game.isTerminal(child)) {
        if (0 - this.#result(child, again) < worth) return false;
      } else if (again ? !(await this.#isAnswered(child, worth)) : ((await this.stored(child)) ?? -2) < worth) return false;
    }
    return true;
  }

  /** Every reply of the other side leads to a position that is to be proved. */
  async #answerAll(state, worth, path) {
    for (const action of this.game.actions(state)) {
      const child = this.game.result(state, action);
      const again = this.movesAgain(state, action, child);
      const further = [...path, action];
      if (this.game.isTerminal(child)) {
        const result = 0 - this.#result(child, again);
        if (result < worth) throw new Unproved(`the game ends with ${result} where ${worth} is needed`, further);
      } else if (again) await this.#answerAll(child, worth, further);
      else await this.#expect(child, worth, further);
    }
  }
}

async function check(bookPath, modulePath) {
  const game = await Search.open(await readFile(modulePath));
  const book = await Book.open(await readFile(bookPath), { rules: game.rules });
  await book.check();
  const facts = /** @type {any} */ (book.facts);
  if (facts.rules !== game.facts.rules) throw new Error(`the book is of rules ${facts.rules.slice(0, 8)}, the module of ${game.facts.rules.slice(0, 8)}`);
  const served = facts.trim?.side ?? "both";
  const score = Math.sign(Number(facts.root.score));
  for (const [side, name] of SIDES.entries()) {
    if (served !== name && served !== "both") continue;
    const start = facts.start === undefined ? game.initial() : BigInt(facts.start);
    const play = new Play(book, game, side, start);
    const worth = play.mover(play.start) === side ? score : 0 - score;
    const positions = await play.prove(worth);
    console.log(`${facts.game}: the ${name} player gets at least a ${["loss", "draw", "win"][worth + 1]}, proved in ${positions} positions`);
  }
}

const [bookPath, modulePath] = process.argv.slice(2);
if (!modulePath) {
  console.error("usage: node check.mjs proof.bin game.wasm");
  process.exit(2);
}
try {
  await check(bookPath, modulePath);
} catch (error) {
  console.error(`not proved: ${error.message}`);
  process.exit(error instanceof Unproved ? 1 : 2);
}
