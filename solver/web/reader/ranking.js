/**
 * What the rules say to a ranked book, which stores values without states: the rank of a state, and the values that
 * they tell themselves, which the book leaves out. What `solver/book/codecs/ranked.py` does, done in the same way.
 *
 * The rules are an object of functions with the names of Python's methods, on BigInts; `rules` of a page's `game.js` is
 * one: `is_terminal`, `rank`, and for `entries` `unrank`; and where the game has them `canonical`, `outlook` and `replies`
 * with `result`, `utility`, `plies_left`, `to_move` and `again`; of a sparse book `actions` and `tier`, too.
 * Of rules that describe their positions otherwise (`digits` and `scan`, `symmetries` and `tables`) a page's `game.js` has
 * `rank` and `unrank` all the same.
 */

const WIN = 2 ** 40; // the merit of an immediate win; a ply more takes one off, and a draw has none
const STATE_LIMIT = 1n << 63n;
const [TELLING, HALVED] = [1, 2]; // `sparse`: the last is of a book without the values of even tiers
const MOST_STEPS = 1 << 16; // states on the way from one to the stored values that tell its own, as in Python

/** A book that leaves out what its rules do not tell: they are others, or it was written to deceive. */
export class Endless extends Error {}

export class Ranking {
  #rules;
  #canonical;
  #tells;
  #bare; // values without distances
  #halved;
  #palette;

  /** The ranking of a book with these facts. Throws TypeError for rules without ranks, Endless where sides do not alternate. */
  constructor(rules, facts, palette) {
    if (!rules?.rank || !rules.is_terminal) {
      throw new TypeError("the book is ranked, only its rules tell where a state is: Book.open(source, { rules })");
    }
    this.#rules = rules;
    this.#canonical = facts.symmetry && rules.canonical ? rules.canonical : (state) => state;
    this.#palette = palette;
    this.#bare = Boolean(facts.sparse);
    this.#halved = facts.sparse === HALVED;
    this.#tells = this.#bare || tells(rules, facts, palette);
    if (this.#bare && !(rules.actions && rules.result && rules.utility && (rules.tier || !this.#halved))) {
      throw new TypeError("the book leaves out what moves tell: give rules with actions, result, utility and tier");
    }
    if (this.#bare && (rules.to_move || rules.again)) throw new Endless("the facts leave out what these rules do not tell");
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
    const index = rank >= 0n ? await find(rank) : undefined;
    if (index === undefined || !this.#tells) return this.#palette[index];
    const merit = await this.#merit(state, find, { steps: 0 });
    return merit === undefined ? undefined : valueOf(merit, this.#bare);
  }

  /** The merit of a state that play comes to from one of the book, or undefined; `way` counts the states on it. */
  async #merit(state, find, way) {
    let told = this.#told(state, way);
    let plies = 0;
    for (; told.children?.length === 1; plies++) {
      [state] = told.children;
      told = this.#told(state, way);
    }
    let { merit } = told;
    if (told.children) {
      merit = await this.#best(told.children, find, way);
    } else if (merit === undefined) {
      const value = this.#palette[await find(BigInt(this.#rules.rank(state)))];
      merit = value && this.#meritOf(value);
    }
    for (; merit !== undefined && plies; plies--) merit = this.#lift(merit);
    return merit;
  }

  /** The best that moves to these states give, or undefined. */
  async #best(children, find, way) {
    let best = -Infinity;
    for (const child of children) {
      const merit = await this.#merit(child, find, way);
      if (merit === undefined) return undefined;
      best = Math.max(best, this.#lift(merit));
      if (this.#bare && best > 0) break;
    }
    return best;
  }

  #lift(merit) {
    return this.#bare ? 0 - merit : Math.sign(merit) - merit;
  }

  #meritOf({ score, distance }) {
    return this.#bare ? Number(score) : score ? Number(score) * (WIN - Number(distance)) : 0;
  }

  /** The merit of a state, if the rules tell it, or the states whose merits do, or neither. */
  #told(state, way) {
    if (way.steps++ > MOST_STEPS) throw new Endless(`state ${state} is too far from any stored value: play may come back to it`);
    const rules = this.#rules;
    if (rules.is_terminal(state)) {
      const utility = Number(rules.utility(state));
      return { merit: this.#bare ? utility : utility * (WIN - Number(rules.plies_left?.(state) ?? 0)) };
    }
    if (rules.outlook) {
      const outlook = Number(rules.outlook(state));
      if (outlook) return { merit: this.#bare ? outlook : outlook > 0 ? WIN - 1 : 2 - WIN };
    } else if (this.#bare && this.#actions(state).some((action) => this.#isWon(rules.result(state, action)))) {
      return { merit: 1 };
    }
    const choices = BigInt(rules.replies?.(state) ?? 0);
    const isSingle = choices && !(choices & (choices - 1n));
    if (!isSingle && !(this.#halved && Number(rules.tier(state)) % 2 === 0)) return {};
    const actions = isSingle
      ? [BigInt(choices.toString(2).length - 1)]
      : this.#actions(state).filter((action) => !choices || (choices >> action) & 1n);
    return { children: actions.map((action) => this.#folded(rules.result(state, action))) };
  }

  #actions(state) {
    return Array.from(this.#rules.actions(state), BigInt);
  }

  /** Whether who moved there has won. */
  #isWon(child) {
    return this.#rules.is_terminal(child) && Number(this.#rules.utility(child)) < 0;
  }

  #folded(child) {
    return this.#rules.is_terminal(child) ? child : this.#canonical(child);
  }
}

/** Whether a book with these facts may leave out what they say; as `Header` in Python. */
export function fits({ sparse, wdl, scope, method, codec }, { NAME, asksRules }) {
  if (sparse === undefined) return true;
  const leavesOut = [TELLING, HALVED].includes(sparse) && wdl === true && scope === "complete" && method === "minimax";
  return leavesOut && asksRules && codec === NAME;
}

/** Whether the rules tell some of the values of a book: exact ones, along lines of play that end in the book. */
function tells(rules, { scope, method }, palette) {
  const exact = palette.every(({ score, distance }) => score === 0 || (Math.abs(Number(score)) === 1 && distance !== null));
  const alternates = !rules.to_move && !rules.again;
  return exact && scope === "complete" && method === "minimax" && alternates && Boolean(rules.outlook || rules.replies);
}

function valueOf(merit, isBare) {
  const score = Math.sign(merit);
  const outcome = score > 0 ? "win" : score < 0 ? "loss" : "draw";
  return Object.freeze({ score, distance: score && !isBare ? WIN - Math.abs(merit) : null, outcome });
}
