/**
 * What a book says of a position and of its moves, and how it is said. Values are for the side to move; in a game of
 * chance, where `about` says what the book `expects`, they are expectations. Of a grown book `about` has the `estimate`
 * that its facts have: some values are estimates then, of a kind of their own, `estimate`, with the `depth` of the search.
 */

import { leading } from "./progress.js";
import { phrase } from "./words.js";

const WIN = 2 ** 40; // the merit of an immediate win; a ply more takes one off, and a draw has none
const PLIES = 2; // that are searched where the book lacks a state
const NODES = 20000; // that this takes at most for a position and all its moves
const [EVEN, FAR] = [0.05, 0.35]; // estimates below the one look even, from the other on far from it

/**
 * What is known of a position: { end, value, moves, byChance }, each move with its value and whether it is known to be
 * best; by the estimates of a grown book, which has all moves, it may be `likely` to be. Of a value that is not known, nor
 * estimated by the book, there is nothing, rather than a guess. Where chance decides (`byChance`), its outcomes stand for
 * moves, and none is best. `goesOn` is waited for before a search looks at the moves of a position; it
 * ends where that says no, and what is not settled by then is not known.
 * @param {() => boolean | Promise<boolean>} goesOn
 */
export async function examine(game, book, about, { state, mover }, goesOn = () => true) {
  const { end, moves, byChance } = unexamined(game, { state, mover });
  if (end) return { end, value: valueAt(meritAtTheEnd(end, about), about), moves, byChance };
  const source = { game, book, about, goesOn, left: NODES };
  const [own, ...ranges] = await Promise.all([told(source, state, mover), ...moves.map(({ child, mover }) => told(source, child, mover))]);
  const seen = () => ranges.map((range, at) => seenBefore(range, moves[at], mover, about));
  for (let plies = 1; plies <= PLIES && !about.expects; plies++) {
    for (const [at, { child, mover }] of moves.entries()) {
      if (!isKnown(ranges[at])) ranges[at] = await searched(source, child, mover, plies);
    }
  }
  const bounds = [own, best(seen())].find(isKnown);
  const value = bounds ? valueAt(bounds[0], about) : within(best(seen()), await guessed(source, state), about);
  const top = about.expects ? best(seen()) : bounds; // an expectation may be rounded otherwise than its best move's
  const guesses = await Promise.all(moves.map((move, at) => (isKnown(ranges[at]) ? undefined : guessed(source, move.child))));
  const valued = seen().map((range, at) => {
    const known = isKnown(range);
    const isBest = known && !byChance && top !== undefined && range[0] === top[0];
    const guess = () => within(range, guessedBefore(guesses[at], moves[at], mover), about);
    return { ...moves[at], value: known ? valueAt(range[0], about) : guess(), best: isBest };
  });
  if (about.leads && game.tier && own && isKnown(own)) await markLeading(source, state, own[0], valued);
  return { end, value, moves: about.estimate ? withLikely(valued) : valued, byChance };
}

/** Mark the best move that gets somewhere. */
async function markLeading({ game, book }, state, score, moves) {
  const best = moves.filter((move) => move.best);
  if (best.length) best[await leading(game, book, state, best, score)].leads = true;
}

/** Moves, of which the ones that promise most are likely to be best, where all are told of and none is known to be. */
function withLikely(moves) {
  if (moves.some((move) => move.best || !move.value)) return moves;
  const most = Math.max(...moves.map((move) => rank(move.value)));
  return moves.map((move) => ({ ...move, likely: rank(move.value) === most }));
}

/** A promise of what a grown book takes a position for of which it has no exact value. */
async function guessed({ game, book, about }, state) {
  if (!about.estimate || game.end(state)) return undefined;
  const stored = await book.get(game.key(state));
  return stored?.outcome === "estimate" ? estimateOf(stored.score, about) : undefined;
}

/** An estimate of a grown book as a value; a win or loss may be certain, but not its distance. */
function estimateOf(score, { scores, estimate: { depth } }) {
  const isSure = !scores && Math.abs(score) >= 1;
  return { score, distance: null, estimate: isSure ? (score > 0 ? "win" : "loss") : "unknown", depth };
}

/**
 * An estimate, or the win or loss that bounds tell, but not how soon.
 * @type {(range: number[], guess: any, about: any) => any}
 */
function within([low, high], guess, { scores }) {
  const sign = guess && !scores ? Number(low > 0) - Number(high < 0) : 0;
  return sign ? { ...guess, score: sign, estimate: sign > 0 ? "win" : "loss" } : guess;
}

/** An estimate as it is seen one ply before. */
function guessedBefore(value, { mover: next, gain }, mover) {
  if (value === undefined) return undefined;
  const score = gain + (next === mover ? value.score : 0 - value.score);
  return { ...value, score, estimate: value.estimate === "unknown" ? "unknown" : score > 0 ? "win" : "loss" };
}

/** What the rules alone say of a position, as `examine` gives it: no value is known. */
export function unexamined(game, { state, mover }) {
  const end = game.end(state);
  const moves = end ? [] : game.moves(state, mover);
  const byChance = moves.some((move) => move.weight !== undefined);
  return { end, value: undefined, moves: moves.map((move) => ({ ...move, value: undefined, best: false })), byChance };
}

/**
 * What is known, with what a search of the position's module has found out besides: values, and estimates, which are
 * values of a kind of their own: `estimate` is what kind.
 */
export function joined(found, analysis, about) {
  const known = surer(found.value, analysis, about);
  const moves = found.moves.map((move, at) => {
    const value = surer(move.value, analysis.moves[at] ?? {}, about);
    const isBest = value && known && !value.estimate && !known.estimate && rank(value) === rank(known);
    return { ...move, value, best: Boolean(isBest) };
  });
  return { ...found, value: known, moves };
}

/** What is known from the book, or found by a search: what is exact, else the book's estimate. */
const surer = (known, seen, about) => (known && !(known.estimate && seen.exact) ? known : asBook(seen, about));

/** A value of a search as the book would have it. */
function asBook({ value, exact }, about) {
  if (value === undefined) return undefined;
  const { score, distance, outcome } = value;
  if (exact) return { score, distance: isFlat(about) ? null : distance };
  return { score, distance: null, estimate: outcome === "estimate" ? "unknown" : outcome };
}

/** The value of a position alone, if the rules or the book tell it. */
export async function valueOf(game, book, about, { state, mover }) {
  const source = { game, book, about };
  const range = await told(source, state, mover);
  return isKnown(range) ? valueAt(range[0], about) : guessed(source, state);
}

/** The start's value of a book's facts. */
export function startOf({ root, estimate }, about) {
  const isExact = root.distance !== null || (about.scores ? Number.isInteger(root.score) : !root.score);
  return estimate && !isExact ? estimateOf(root.score, { ...about, estimate }) : root;
}

/** How the first player stands: { share, from -1 to 1 for charts; at, the same for as long as nobody errs }. */
export function standing(value, { mover, gained }, { scores, expects }) {
  if (value === undefined) return undefined;
  const way = mover ? -1 : 1;
  if (scores && expects !== "utility") {
    const margin = way * (value.score + gained);
    return { share: Math.tanh(margin / 6), at: margin };
  }
  if (expects || value.estimate) return { share: way * Math.max(-1, Math.min(1, value.score)), at: way * value.score };
  const near = value.distance === null ? 1 : 0.35 + 0.65 * 0.94 ** value.distance; // what is near stands out
  return { share: way * value.score * near, at: way * value.score };
}

/** Whether all is known of a position that can be; a grown book is believed where it has all moves. */
export const isSettled = ({ end, byChance, value, moves }) => Boolean(end || byChance || (isTold(value) && moves.every((move) => isTold(move.value))));

const isTold = (value) => Boolean(value && (!value.estimate || value.depth));

/** Bounds of a position's merit for the side to move: what the rules or the book say, or what is always true. */
async function lookUp({ game, book, about }, state) {
  const end = game.end(state);
  if (end) return exactly(meritAtTheEnd(end, about));
  const stored = await book.get(game.key(state));
  if (stored === undefined || stored.outcome === "estimate") return anything(about);
  if (about.wdl) return exactly(Math.sign(stored.score)); // which may be a nimber
  return exactly(stored.distance === null ? stored.score : stored.score * (WIN - stored.distance));
}

/** The same; a throw that a game of chance passes through, which no book has, is worth the best of its moves. */
async function told(source, state, mover) {
  const range = await lookUp(source, state);
  if (!source.about.expects || isKnown(range)) return range;
  const moves = source.game.moves(state, mover);
  if (!moves.length || moves.some(({ weight }) => weight !== undefined)) return range;
  const ranges = await Promise.all(moves.map(({ child }) => lookUp(source, child)));
  return best(ranges.map((known, at) => seenBefore(known, moves[at], mover, source.about)));
}

/** Bounds that a search of so many plies finds for a position that the book lacks. */
async function searched(source, state, mover, plies) {
  const { game, about } = source;
  if (!(source.left > 0 && (await source.goesOn()))) source.left = 0;
  if (!source.left) return anything(about);
  const moves = game.moves(state, mover);
  source.left = Math.max(0, source.left - moves.length);
  const ranges = await Promise.all(moves.map(({ child }) => lookUp(source, child)));
  for (const [at, move] of moves.entries()) {
    if (plies > 1 && !isKnown(ranges[at])) ranges[at] = await searched(source, move.child, move.mover, plies - 1);
    ranges[at] = seenBefore(ranges[at], move, mover, about);
    if (ranges[at][0] === mostOf(about)) return ranges[at];
  }
  return best(ranges);
}

const anything = (about) => [-mostOf(about), mostOf(about)];
const exactly = (merit) => [merit, merit];
/** @type {(range: number[]) => boolean} */
const isKnown = ([low, high]) => low === high && Number.isFinite(low);
const best = (ranges) => [0, 1].map((end) => Math.max(...ranges.map((range) => range[end])));
const isFlat = ({ scores, wdl }) => scores || wdl; // without distances
const mostOf = (about) => (about.scores ? Infinity : about.wdl ? 1 : WIN - 1);

/** A range as it is seen one ply before. */
function seenBefore(range, move, mover, about) {
  const ply = isFlat(about) ? 0 : 1;
  const nearer = range.map((merit) => merit - ply * Math.sign(merit));
  const lifted = move.mover === mover ? nearer : [0 - nearer[1], 0 - nearer[0]];
  return lifted.map((merit) => move.gain + merit);
}

function meritAtTheEnd([utility, plies], about) {
  return about.scores ? utility : about.wdl ? Math.sign(utility) : utility * (WIN - plies);
}

function valueAt(merit, about) {
  if (isFlat(about) || merit === 0) return { score: merit, distance: null };
  return { score: Math.sign(merit), distance: WIN - Math.abs(merit) };
}

/** The move to play: a best one, one that leads somewhere if that is told, or else the one of which most is known; undefined where nothing is. */
export function chosen(moves) {
  const first = moves.find((move) => move.leads) ?? moves.find((move) => move.best);
  if (first || moves.every((move) => move.value === undefined)) return first;
  return moves.reduce((one, other) => (rank(other.value) > rank(one.value) ? other : one));
}

/** The places of moves as a list has them: best first, where all are known; else, and of throws, as they come. */
export function inOrder(moves) {
  const places = [...moves.keys()];
  if (moves.some(({ value, weight }) => value === undefined || value.estimate || weight !== undefined)) return places;
  return places.sort((one, other) => rank(moves[other].value) - rank(moves[one].value) || one - other);
}

/** Higher is better: quick wins, slow losses, what is not known just below a draw. */
function rank(value) {
  if (value === undefined) return -0.5;
  return value.distance === null ? value.score : value.score * (WIN - value.distance);
}

/** "win", "draw", "loss" or "unknown": what colours go by; with "unknown" perhaps how an estimate leans, and if far. */
export function kindOf(value, about) {
  if (value === undefined) return "unknown";
  if (value.estimate === "unknown") return `unknown${leaning(about.scores ? Math.tanh(value.score / 6) : value.score)}`;
  if (value.estimate) return value.estimate;
  return value.score > 0 ? "win" : value.score < 0 ? "loss" : "draw";
}

const leaning = (share) => (Math.abs(share) < EVEN ? "" : `${Math.abs(share) < FAR ? "" : " far"} ${share > 0 ? "better" : "worse"}`);

/** A value in words: win in 5, draw, +3; a winning chance of 53.1 %, an expected margin of +1.25. */
export const inWords = (value, about) => inParts(value, about).map(({ text }) => text).join("");

/**
 * The parts of a value in words, { text, short }: a word, which may have a short form for small cells, and perhaps what
 * stands between it and a number.
 */
export function inParts(value, { scores, expects }) {
  if (value === undefined) return [wordOf("unknown")];
  if (value.estimate && value.estimate !== "unknown") return [wordOf(value.estimate), { text: phrase("comma") }, { text: phrase("distanceUnknown") }];
  const depth = value.depth ? `${phrase("comma")}${phrase("depth", { depth: value.depth })}` : "";
  if (value.estimate) {
    const number = scores ? signed(Math.round(value.score * 10) / 10) : hundredths(value.score);
    return [wordOf("estimate"), { text: " " }, { text: `${number}${depth}` }];
  }
  if (expects) return [{ text: expects === "utility" ? percent(50 * (1 + value.score)) : hundredths(value.score) }];
  if (scores) return [{ text: signed(value.score) }];
  const word = wordOf(kindOf(value));
  return value.distance === null ? [word] : [word, { text: phrase("within") }, { text: String(value.distance) }];
}

const wordOf = (key) => ({ text: phrase(key), short: phrase(`short${key[0].toUpperCase()}${key.slice(1)}`) });

/** The value of a position in words; where moves score, what is still to come, and with what was `gained` before. */
export function inAll(value, about, gained) {
  const words = inWords(value, about);
  if (value?.estimate === "unknown" && !about.scores) return phrase("looks", { impression: phrase(impression(value.score)), words });
  if (about.expects && !about.adds) return phrase(about.expects === "utility" ? "winningChance" : "expectedMargin", { words });
  if (!about.adds) return words;
  if (!gained) return phrase("stillToCome", { words });
  const parts = phrase("marginSoFar", { gained: signed(gained), words });
  if (value === undefined || value.estimate) return parts;
  return `${about.expects ? hundredths(gained + value.score) : signed(gained + value.score)}: ${parts}`;
}

const impression = (score) => (Math.abs(score) < EVEN ? "even" : score > 0 ? "better" : "worse");

/** Only what is certain is said to be 0 % or 100 %. */
function percent(share) {
  if (share > 0 && share < 0.1) return "< 0.1 %";
  if (share > 99.9 && share < 100) return "> 99.9 %";
  return `${share === 0 || share === 100 ? share : share.toFixed(1)} %`;
}

function hundredths(number) {
  const digits = Math.abs(number).toFixed(2);
  return Number(digits) ? `${number > 0 ? "+" : "\u2212"}${digits}` : digits;
}

const signed = (number) => (number > 0 ? `+${number}` : `${number}`.replace("-", "\u2212"));
