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
 * every reply. A win must come to an end: play that comes back to a position proves none, play for a draw may. Nothing
 * else is believed: of the book only the numbers of its states, their scores, its start and its side are read, and of
 * the module only the rules. Games of chance, with margins or without tiers are refused. Exit code 0: proved. 1: not
 * proved, with the moves that show it. 2: files that cannot be read, or hold no such proof.
 */

import { readFile } from "node:fs/promises";
import { Book } from "./book.js";
import { Search } from "./search.js";

const SIDES = ["first", "second"];
const RESULTS = ["loss", "draw", "win"];

/** A position in which the book's side gets less than it says; `path` are the actions that lead there. */
class Unproved extends Error {
  constructor(reason, path) {
    super(path.length ? `${reason}, after ${path.join(" ")}` : `${reason}, at the start`);
  }
}

/** One side of a book, and the positions that its play comes to. */
class Play {
  #seen = new Map(); // by `#keyOf`, whether all play behind a position was followed
  #path = []; // the positions whose play is being followed, each with the moves that are left

  constructor(book, game, side, start) {
    this.book = book;
    this.game = game;
    this.rules = game.rules;
    this.side = side;
    this.start = start;
  }

  /** The player to move at the start of all play. Games that do not tell begin with the first player. */
  get mover() {
    return this.rules.to_move ? Number(this.rules.to_move(this.start)) : 0;
  }

  /**
   * Prove that the side gets at least `worth` from the start; returns in how many positions it came to move. Depth first,
   * since a position that play comes back to is then on the path to itself.
   */
  async prove(worth) {
    let positions = 0;
    for (let next = { state: this.start, action: undefined, isOwn: this.mover === this.side, worth }; next; ) {
      if (await this.#enter(next)) positions += Number(next.isOwn);
      while (this.#path.length && !(next = this.#path.at(-1).moves.pop())) this.#seen.set(this.#path.pop().key, true);
    }
    return positions;
  }

  /** Go on to a position in which the side must get at least `worth`; whether that is a new one. */
  async #enter({ state, action, isOwn, worth }) {
    const node = { action, key: this.#key(state), moves: [] };
    this.#path.push(node);
    const score = isOwn ? await this.#stored(state) : worth;
    if (score === undefined) throw this.#unproved("the book has no value");
    if (score < worth) throw this.#unproved(`the book says ${score} where ${worth} is needed`);
    if (!isOwn) node.key = `${worth} ${node.key}`;
    const known = this.#seen.get(node.key);
    if (known === false && score > 0) throw this.#unproved("play comes back to a position, so that its win rests on itself");
    if (known !== undefined) this.#path.pop();
    else {
      this.#seen.set(node.key, false);
      node.moves = isOwn ? await this.#answer(state, score) : this.#replies(state, worth);
    }
    return known === undefined;
  }

  #key(state) {
    return this.book.facts.symmetry ? this.rules.canonical(state) : state;
  }

  /** The score of an unfinished state for its side to move, as the book has it; undefined where it has none. */
  async #stored(state) {
    const value = await this.book.get(this.#key(state));
    return value && Math.sign(Number(value.score));
  }

  /** What an action leads to, in a state in which the side is to move or not; `result` where the game ends. */
  #after(state, action, isOwn, worth) {
    const child = this.game.result(state, action);
    const isNext = this.#movesAgain(state, action, child) === isOwn;
    const utility = this.game.isTerminal(child) ? Math.sign(Number(this.rules.utility(child))) : undefined;
    return { state: child, action, isOwn: isNext, worth, result: utility && (isNext ? utility : 0 - utility) };
  }

  /** Whether who moves by an action is to move after it, too. */
  #movesAgain(state, action, child) {
    if (this.rules.again) return this.rules.again(state, action) !== 0n;
    return this.rules.to_move ? this.rules.to_move(state) === this.rules.to_move(child) : false;
  }

  /** A move of the side that is worth as much as its state; none where it ends the game. */
  async #answer(state, score) {
    for (const action of this.game.actions(state)) {
      const move = this.#after(state, action, true, score);
      if (await this.#holds(move, new Set())) return move.result === undefined ? [move] : [];
    }
    throw this.#unproved(`no move is known to be worth ${score}`);
  }

  /** Whether the book has an answer that is worth enough behind a move, and behind all that the other side may go on to. */
  async #holds({ state, isOwn, worth, result }, passed) {
    if (result !== undefined) return result >= worth;
    if (isOwn) return ((await this.#stored(state)) ?? -2) >= worth;
    if (passed.has(state)) return true; // said when play is followed
    passed.add(state);
    for (const action of this.game.actions(state)) {
      if (!(await this.#holds(this.#after(state, action, false, worth), passed))) return false;
    }
    return true;
  }

  /** The replies of the other side that do not end the game. */
  #replies(state, worth) {
    const moves = this.game.actions(state).map((action) => this.#after(state, action, false, worth));
    if (!moves.length) throw this.#unproved("the rules give no moves");
    for (const { action, result } of moves) {
      if (result < worth) throw this.#unproved(`the game ends with ${result} where ${worth} is needed`, action);
    }
    return moves.filter(({ result }) => result === undefined);
  }

  #unproved(reason, ...more) {
    return new Unproved(reason, [...this.#path.slice(1).map(({ action }) => action), ...more]);
  }
}

/** Throws where the module has rules that this program proves nothing of, or others than the book's. */
function checkRules({ facts, rules, searches }, made) {
  const { game } = facts;
  if (made.rules !== facts.rules) throw new Error(`the book is of rules ${String(made.rules).slice(0, 8)}, the module of ${facts.rules.slice(0, 8)}`);
  if (facts.scores || rules.reward || rules.chance) throw new Error(`${game} has margins or chance, and this proves wins, draws and losses: use solver verify`);
  if (!searches) throw new Error(`${game} has no tiers, so that play need not end: use solver verify`);
  if (made.symmetry && !rules.canonical) throw new Error("the book is folded by symmetry, the module is not: build it without --no-symmetry");
}

/** The start that a book is about. Throws where that is not an unfinished state. */
function startOf({ start }, game) {
  if (start === undefined) return game.initial();
  const bits = 64 * (game.facts.words ?? 1) - (game.facts.words > 1 ? 0 : 1);
  const state = /^\d{1,155}$/.test(String(start)) ? BigInt(start) : -1n;
  if (state < 0n || state >> BigInt(bits)) throw new Error("the book begins at what is not a state: prove it again");
  if (game.isTerminal(state)) throw new Error(`the game is over at #${state}, where the book begins: there is nothing to prove`);
  return state;
}

async function check(bookPath, modulePath) {
  const game = await Search.open(await readFile(modulePath));
  const book = await Book.open(await readFile(bookPath), { rules: game.rules });
  const facts = /** @type {any} */ (book.facts);
  checkRules(game, facts);
  await book.check();
  const score = facts.root?.score;
  const served = facts.trim?.side ?? "both";
  if (![-1, 0, 1].includes(score)) throw new Error("the book says neither win nor draw nor loss of its start: prove it again");
  if (![...SIDES, "both"].includes(served)) throw new Error("the book is for no side: prove it again");
  const start = startOf(facts, game);
  const from = start === game.initial() ? "" : ` from #${start}`;
  const proofs = [];
  for (const [side, name] of SIDES.entries()) {
    const play = new Play(book, game, side, start);
    const worth = play.mover === side ? score : 0 - score;
    if (worth < 0 || ![name, "both"].includes(served)) continue;
    const positions = await play.prove(worth);
    proofs.push(`${game.facts.game}${from}: the ${name} player gets at least a ${RESULTS[worth + 1]}, proved in ${positions} positions`);
  }
  if (!proofs.length) throw new Unproved("the book's side loses, and has nothing to prove", []);
  console.log(proofs.join("\n"));
}

const [bookPath, modulePath] = process.argv.slice(2);
if (!modulePath) {
  console.error("usage: node check.mjs proof.bin game.wasm");
  process.exit(2);
}
try {
  await check(bookPath, modulePath);
} catch (error) {
  // What it says may come from the book
  console.error(`not proved: ${error.message.replaceAll(/\p{C}/gu, "?")}`);
  process.exit(error instanceof Unproved ? 1 : 2);
}
