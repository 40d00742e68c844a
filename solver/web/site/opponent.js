/**
 * The page's opponent: the levels of `solver play`, and practical play, which chooses of equally good moves the one that
 * gives a fallible player the most chances to go wrong. Both are those of `solver.play.practical`,
 * where the model of the fallible player is explained.
 */

import { valueOf } from "./values.js";

/** Of each level the share of moves that may be mistakes, and the plies that these moves look ahead. */
export const LEVELS = { beginner: [1, 0], easy: [1, 2], medium: [0.55, 2], hard: [0.2, 4], perfect: [0, 4], tricky: [0, 2] };

const LOOKS = 600; // moves looked at for one choice
const DEEPEST = 24; // plies
const REMEMBERED = 1 << 15; // states whose moves are kept

class OutOfLooks extends Error {}

/** Estimates, by a look ahead at LOOKS moves at most, of the results against a player that sees so many plies, by the values of a book. */
export class Practical {
  listed = new Map(); // the moves of states
  seen = new Map(); // what looks of some plies saw
  memo = new Map(); // estimates of this depth
  before = new Map(); // and of the depth before
  counted = new Set(); // states whose moves were counted for this choice
  left = Infinity; // moves that may still be looked at
  last = Promise.resolve(); // what was asked for before: choices share what they count, and take turns

  constructor(game, book, about, opponent) {
    this.game = game;
    this.book = book;
    this.about = about;
    this.opponent = opponent;
  }

  /** Do what is asked for after all that was. */
  inTurn(ask) {
    const answer = this.last.then(ask);
    this.last = answer.catch(() => {});
    return answer;
  }

  /** Estimates of the results of some moves of a position, by their places, for the side to move there; undefined past the book. */
  expectations(state, places) {
    return this.inTurn(() => this.expect(state, places));
  }

  async expect(state, places) {
    if (this.listed.size > REMEMBERED) [this.listed, this.seen] = [new Map(), new Map()];
    const replies = await this.replies(state);
    if (replies === undefined) return undefined;
    const chosen = places.map((place) => replies[place]);
    [this.left, this.counted, this.memo] = [LOOKS, new Set(), new Map()];
    let results = chosen.map((reply) => reply.score);
    try {
      for (let plies = 2; plies < DEEPEST; plies += 2) {
        [this.before, this.memo] = [this.memo, new Map()];
        const found = [];
        for (const reply of chosen) found.push(await this.after(reply, true, plies - 1));
        results = found;
      }
    } catch (error) {
      if (!(error instanceof OutOfLooks)) throw error;
    }
    this.left = Infinity;
    return results;
  }

  /** The moves of a state with their values; undefined if one is not known. */
  /** @returns {Promise<any>} */
  async replies(state) {
    if (!this.listed.has(state)) this.listed.set(state, await this.list(state));
    return this.listed.get(state);
  }

  async list(state) {
    const { game, book, about } = this;
    const mover = game.mover(state);
    const listed = [];
    for (const move of game.moves(state, mover)) {
      const ends = Boolean(game.end(move.child));
      const value = await valueOf(game, book, about, { state: move.child, mover: move.mover });
      if (value === undefined || value.estimate) return undefined;
      const same = move.mover === mover;
      listed.push({
        child: ends ? move.child : game.key(move.child),
        score: move.gain + (same ? value.score : 0 - value.score),
        distance: value.distance === null ? null : value.distance + 1,
        same,
        gain: move.gain,
        ends,
      });
    }
    return listed;
  }

  /** The best of some moves: the highest score, then the quickest win or the slowest loss. */
  kept(replies) {
    const top = Math.max(...replies.map(({ score }) => score));
    const best = replies.filter(({ score }) => score === top);
    if (this.about.scores || top === 0 || best.some(({ distance }) => distance === null)) return best;
    const distances = best.map(({ distance }) => distance);
    const target = top > 0 ? Math.min(...distances) : Math.max(...distances);
    return best.filter(({ distance }) => distance === target);
  }

  /** The moves of a state, by their places, that the fallible player may choose; undefined if a value is not known. */
  choices(state) {
    return this.inTurn(() => this.choose(state));
  }

  async choose(state) {
    const replies = await this.replies(state);
    if (replies === undefined) return undefined;
    const modelled = new Set(await this.modelled(replies));
    return replies.flatMap((reply, place) => (modelled.has(reply) ? [place] : []));
  }

  async modelled(replies) {
    if (this.opponent === 0) return replies;
    const sights = [];
    for (const reply of replies) sights.push(await this.sight(reply, this.opponent));
    const top = Math.max(...sights);
    return replies.filter((_, place) => sights[place] === top);
  }

  /** The value of a move as far as a look of some plies sees it, for its mover. */
  async sight({ score, distance, ends, child, gain, same }, plies) {
    if (!this.about.scores && distance !== null) return distance <= plies ? score : 0;
    if (!this.about.scores && score === 0 && !ends) return 0;
    if (ends) return score;
    const ahead = await this.look(child, plies - 1);
    return gain + (same ? ahead : 0 - ahead);
  }

  /** The best score within some plies; 0 beyond the last. */
  async look(state, plies) {
    if (plies <= 0) return 0;
    const key = `${state} ${plies}`;
    if (!this.seen.has(key)) {
      const replies = await this.replies(state);
      if (!replies?.length) return 0;
      this.spend(state, replies.length);
      const sights = [];
      for (const reply of replies) sights.push(await this.sight(reply, plies));
      this.seen.set(key, Math.max(...sights));
    }
    return this.seen.get(key);
  }

  /** Count the moves of a state once for each choice. */
  spend(state, looks) {
    this.left -= this.counted.has(state) ? 1 : looks;
    this.counted.add(state);
    if (this.left < 0) throw new OutOfLooks();
  }

  /** The estimated result of a move, the player's own or the opponent's, for the player. */
  async after(reply, isOwn, plies) {
    const sign = isOwn ? 1 : -1;
    const value = sign * (reply.score - reply.gain);
    const gain = sign * reply.gain;
    if (reply.ends || plies <= 0 || (value > 0 && !this.about.scores)) return gain + value;
    const turn = reply.same === isOwn;
    const key = `${reply.child} ${plies} ${turn}`;
    if (!this.memo.has(key)) this.memo.set(key, await this.expected(reply.child, turn, plies, value));
    return gain + this.memo.get(key);
  }

  /** The estimated result from a state, at the player's turn or the opponent's. */
  async expected(state, isOwn, plies, value) {
    const replies = await this.replies(state);
    if (!replies?.length) return value;
    this.spend(state, replies.length);
    if (isOwn) {
      let keepers = this.kept(replies);
      if (plies > 2) {
        const before = keepers.map((reply) => this.before.get(`${reply.child} ${plies - 3} ${reply.same}`) ?? -Infinity);
        keepers = [keepers[before.indexOf(Math.max(...before))]];
      }
      const results = [];
      for (const reply of keepers) results.push(await this.after(reply, true, plies - 1));
      return Math.max(...results);
    }
    const chosen = await this.modelled(replies);
    let sum = 0;
    for (const reply of chosen) sum += await this.after(reply, false, plies - 1);
    return sum / chosen.length;
  }
}

/**
 * The place of the move that a level plays, undefined where the page's usual move is due: by its share a move of the
 * fallible player; "tricky" of several best moves the one that is hardest to answer.
 */
export async function chosenBy(level, looks, state, moves, random = Math.random) {
  const [share, plies] = LEVELS[level];
  if (level === "tricky") {
    const best = moves.flatMap((move, place) => (move.best ? [place] : []));
    const isKnown = moves.every(({ value }) => value && !value.estimate);
    if (best.length < 2 || !isKnown || moves.some((move) => move.leads)) return undefined;
    const results = await looks(plies).expectations(state, best);
    return results && best[results.indexOf(Math.max(...results))];
  }
  if (random() >= share) return undefined;
  const choices = (plies && (await looks(plies).choices(state))) || moves.map((_, place) => place);
  return choices[Math.floor(random() * choices.length)];
}
