/**
 * What the rules say to a ranked book, which stores values without states: the rank of a state, and the values that
 * they tell themselves, which the book leaves out. What `solver/book/codecs/ranked.py` does, done in the same way.
 *
 * The rules are an object of functions with the names of Python's methods, on BigInts; `rules` of a page's `game.js` is
 * one: `is_terminal`, `rank`, and for `entries` `unrank`; and where the game has them `canonical`, `outlook` and `replies`
 * with `result`, `utility`, `plies_left`, `to_move` and `again`.
 */

const WIN = 2 ** 40; // the merit of a win at once; a ply more takes one off, and a draw has none
const STATE_LIMIT = 1n << 63n;

export class Ranking {
  #rules;
  #canonical;
  #tells;
  #palette;

  /** The ranking of a book with these facts. Throws TypeError for rules without ranks. */
  constructor(rules, facts, palette) {
    if (!rules?.rank || !rules.is_terminal) {
      throw new TypeError("the book is ranked, only its rules tell where a state is: Book.open(source, { rules })");
    }
    this.#rules = rules;
    this.#canonical = facts.symmetry && rules.canonical ? rules.canonical : (state) => state;
    this.#palette = palette;
    this.#tells = tells(rules, facts, palette);
  }

  /** The rank of a state that the book may hold, else -1n. */
  rank(state) {
    const rank = state >= 0n && state < STATE_LIMIT ? BigInt(this.#rules.rank(state)) : -1n;
    return rank >= 0n && this.#isOpen(state) ? rank : -1n;
  }

  /** The state of that rank that the book may hold, else -1n. */
  state(rank) {
    if (!this.#rules.unrank) throw new TypeError("the states of a ranked book are told by unrank(rank): give it with the rules");
    const state = rank < STATE_LIMIT ? BigInt(this.#rules.unrank(rank)) : -1n;
    return state >= 0n && this.#isOpen(state) ? state : -1n;
  }

  #isOpen(state) {
    return !this.#rules.is_terminal(state) && this.#canonical(state) === state;
  }

  /** The value of a state; `find(rank)` is a promise of the index that the book has at a rank, or of undefined. */
  async value(state, find) {
    const rank = this.rank(state);
    let index = rank >= 0n ? await find(rank) : undefined;
    if (index === undefined || !this.#tells) return this.#palette[index];
    let told = this.#told(state);
    let plies = 0;
    for (; told.child !== undefined; plies++) {
      state = told.child;
      told = this.#told(state);
    }
    if (told.merit === undefined) {
      if (!plies) return this.#palette[index];
      index = await find(BigInt(this.#rules.rank(state)));
      if (index === undefined) return undefined;
      told.merit = meritOf(this.#palette[index]);
    }
    let merit = told.merit;
    for (; plies; plies--) merit = Math.sign(merit) - merit;
    return valueOf(merit);
  }

  /** The merit of a state, if the rules tell it, or the state that its only reply leads to, or neither. */
  #told(state) {
    const rules = this.#rules;
    if (rules.is_terminal(state)) {
      return { merit: Number(rules.utility(state)) * (WIN - Number(rules.plies_left?.(state) ?? 0)) };
    }
    const outlook = Number(rules.outlook?.(state) ?? 0);
    if (outlook) return { merit: outlook > 0 ? WIN - 1 : 2 - WIN };
    const choices = BigInt(rules.replies?.(state) ?? 0);
    if (!choices || choices & (choices - 1n)) return {};
    const child = rules.result(state, BigInt(choices.toString(2).length - 1));
    return { child: rules.is_terminal(child) ? child : this.#canonical(child) };
  }
}

/** Whether the rules tell some of the values of a book: exact ones, along lines of play that end in the book. */
function tells(rules, { scope, method }, palette) {
  const exact = palette.every(({ score, distance }) => score === 0 || (Math.abs(Number(score)) === 1 && distance !== null));
  const alternates = !rules.to_move && !rules.again;
  return exact && scope === "complete" && method === "minimax" && alternates && Boolean(rules.outlook || rules.replies);
}

const meritOf = ({ score, distance }) => (score ? Number(score) * (WIN - Number(distance)) : 0);

function valueOf(merit) {
  const score = Math.sign(merit);
  const outcome = score > 0 ? "win" : score < 0 ? "loss" : "draw";
  return Object.freeze({ score, distance: score ? WIN - Math.abs(merit) : null, outcome });
}
