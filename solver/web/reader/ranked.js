/**
 * The `ranked` codec: a value for each rank, a number that the game's rules give a state (`ranking.js`).
 *
 *     u16 ranks - 1 | symbols, deflated: 0 for a state that is not in the book, else its palette index + 1
 */

import { indexIn, inflate, keeping } from "./groups.js";

export const NAME = "ranked";
export const NUMBER = 2;
export const asksRules = true;

const HEAD = 2;
const MOST_BYTES = 60000; // of the symbols of a group

/** The palette index at the rank so far behind the first of a group, or undefined. Throws RangeError. */
export async function find(segment, group, offset, indexBytes) {
  if (offset >= BigInt(countOf(segment, group, indexBytes))) return undefined;
  const { symbols } = await inflatedGroup(segment, group, indexBytes);
  const symbol = indexIn(symbols, Number(offset), indexBytes);
  return symbol ? symbol - 1 : undefined;
}

/**
 * The offsets of all ranks of a group from its first, and their palette indices, -1 where there is none. Not all of them
 * are of a state that is stored: the rules know which.
 */
export async function decode(segment, group, indexBytes) {
  const { count, symbols } = await inflatedGroup(segment, group, indexBytes);
  const offsets = Array.from({ length: count }, (_, place) => place);
  return { offsets, indices: offsets.map((place) => indexIn(symbols, place, indexBytes) - 1) };
}

const inflatedGroup = keeping(64, inflateGroup); // of 60 KB at most

async function inflateGroup(segment, group, indexBytes) {
  const count = countOf(segment, group, indexBytes);
  const { bytes, starts } = segment;
  const symbols = await inflate(bytes.subarray(starts[group] + HEAD, starts[group + 1]), count * indexBytes);
  return { count, symbols: new DataView(symbols.buffer) };
}

function countOf({ view, starts }, group, indexBytes) {
  if (starts[group + 1] - starts[group] <= HEAD) throw new RangeError("a group is cut off");
  const count = view.getUint16(starts[group], true) + 1;
  if (count * indexBytes > MOST_BYTES) throw new RangeError("its size is that of no group");
  return count;
}
