/**
 * Moves that get somewhere, as `play/practical.py` finds them: margins have no distances, so where play may come back to
 * a position best moves may go round. Of those that one is played which raises the tier or ends the game soonest,
 * whatever is replied: a search of the book's values, one ply deeper each time.
 */

const DEEPEST = 100; // plies
const LOOKS = 20000; // moves looked at for one move; then any best one is played

/** Which of a position's best moves, worth that much, to play: its place among them. */
export async function leading(game, book, state, moves, score) {
  if (moves.length < 2 || score <= game.endless(state)) return 0;
  const search = new Search(game, book);
  for (let plies = 0; plies < DEEPEST && search.left > 0; plies++) {
    for (const [place, { child }] of moves.entries()) if (await search.getsThere(state, child, plies)) return place;
  }
  return 0;
}

class Search {
  left = LOOKS;
  #soonest = new Map(); // plies that it takes at most, by state
  #latest = new Map(); // and at least

  constructor(game, book) {
    this.game = game;
    this.book = book;
  }

  /** Whether a move does immediately, or what it leads to does within so many plies. */
  async getsThere(state, child, plies) {
    const { game } = this;
    this.left--;
    if (game.end(child)) return true;
    const key = game.key(child);
    return game.tier(key) > game.tier(state) || (await this.#does(key, plies));
  }

  async #does(state, plies) {
    if (plies >= (this.#soonest.get(state) ?? DEEPEST)) return true;
    const value = await this.book.get(state);
    if (value === undefined || plies <= (this.#latest.get(state) ?? -1) || this.left < 0) return false;
    const above = value.score - this.game.endless(state);
    const does = above === 0 || (plies > 0 && (await this.#allOrSome(state, value.score, above > 0, plies - 1)));
    if (does) this.#soonest.set(state, plies);
    else if (this.left >= 0) this.#latest.set(state, plies);
    return does;
  }

  /** Whether one of the best moves gets there; or, where the other side is to be held, every move. */
  async #allOrSome(state, score, some, plies) {
    for (const move of this.game.moves(state, 0)) {
      if (some && (await this.#worth(move)) !== score) continue;
      if ((await this.getsThere(state, move.child, plies)) === some) return some;
    }
    return !some;
  }

  /** What a move of the side that is called 0 is worth to it. */
  async #worth({ child, mover, gain }) {
    const end = this.game.end(child);
    const score = end ? end[0] : (await this.book.get(this.game.key(child)))?.score;
    return gain + (mover === 0 ? score : 0 - score);
  }
}
