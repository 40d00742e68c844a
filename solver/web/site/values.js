/**
 * What a book says of a position and of its moves, and how it is said. Values are for the side to move.
 */

/** What is known of a position: { end, value, moves }, each move with its value and whether it is known to be best. */
export async function examine(game, book, about, { state, mover }) {
  const end = game.end(state);
  if (end) return { end, value: atTheEnd(end, about), moves: [] };
  const moves = game.moves(state, mover);
  const [value, ...values] = await Promise.all([
    book.get(game.key(state)),
    ...moves.map(async (move) => seenBefore(await valueOf(game, book, about, move.child), move, mover)),
  ]);
  const known = values.every((one) => one !== undefined);
  const target = known ? values.reduce((best, one) => (isBetter(one, best) ? one : best)) : value;
  const isBest = (one) => one !== undefined && target !== undefined && isSame(one, target);
  return { end, value: value ?? target, moves: moves.map((move, at) => ({ ...move, value: values[at], best: isBest(values[at]) })) };
}

/** The move to play: a best one, or else the one of which most is known; undefined where nothing is. */
export function chosen(moves) {
  const best = moves.find((move) => move.best);
  if (best || moves.every((move) => move.value === undefined)) return best;
  return moves.reduce((one, other) => (isBetter(other.value, one.value) ? other : one));
}

async function valueOf(game, book, about, state) {
  const end = game.end(state);
  return end ? atTheEnd(end, about) : book.get(game.key(state));
}

function atTheEnd([utility, plies], { scores }) {
  return scores || utility === 0 ? { score: utility, distance: null } : { score: Math.sign(utility), distance: plies };
}

/** The value of a child as it is seen one ply before. */
function seenBefore(value, move, mover) {
  if (value === undefined) return undefined;
  const score = move.mover === mover ? value.score : 0 - value.score;
  return { score: move.gain + score, distance: value.distance === null ? null : value.distance + 1 };
}

const isSame = (one, other) => one.score === other.score && one.distance === other.distance;

/** Whether a value is better for the side to move: higher, then the quicker win or the slower loss; the unknown is 0. */
function isBetter(one, other) {
  if ((one?.score ?? 0) !== (other?.score ?? 0)) return (one?.score ?? 0) > (other?.score ?? 0);
  if (one === undefined || other === undefined) return other === undefined && one !== undefined;
  return one.score > 0 ? one.distance < other.distance : one.distance > other.distance;
}

/** "win", "draw", "loss" or "unknown": what colours go by. */
export function kindOf(value) {
  if (value === undefined) return "unknown";
  return value.score > 0 ? "win" : value.score < 0 ? "loss" : "draw";
}

/** A value in words: win in 5, draw, +3. */
export function inWords(value, { scores, adds }) {
  if (value === undefined) return "unknown";
  if (scores) return value.score ? signed(value.score) : adds ? "0" : "tie";
  return value.distance === null ? kindOf(value) : `${kindOf(value)} in ${value.distance}`;
}

/** The value of a position in words; where moves score, what is still to come, and with what was `gained` before. */
export function inAll(value, about, gained) {
  const words = inWords(value, about);
  if (!about.adds) return words;
  if (!gained) return `${words} still to come`;
  const parts = `margin so far ${signed(gained)}, still to come ${words}`;
  return value === undefined ? parts : `${margin(gained + value.score)}: ${parts}`;
}

/** The margin of a finished game, for the side to move. */
export const finalMargin = (value, gained) => value.score + gained;

const signed = (number) => (number > 0 ? `+${number}` : `${number}`.replace("-", "\u2212"));
const margin = (number) => (number ? signed(number) : "tie");
