/**
 * The `wide` codec: states of more than 63 bits, in opening books and grown ones.
 *
 *     u8 states - 1 | u8 bytes of a key | keys of all states but the first | palette indices of all states
 */

import { indexIn } from "./deflated.js";

export const NAME = "wide";
export const NUMBER = 4;
export const isWide = true;

const HEAD = 2;
const MOST_BYTES = 64; // of a key

/** The palette index of the state so far behind the first of a group, or undefined. Throws RangeError. */
export function find(segment, group, offset, indexBytes) {
  const { size, count, values } = layoutOf(segment, group, indexBytes);
  if (offset >> BigInt(8 * size)) return undefined;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyAt(segment, group, size, middle) < offset) low = middle + 1;
    else high = middle;
  }
  if (low === count || keyAt(segment, group, size, low) !== offset) return undefined;
  return indexIn(segment.view, low, indexBytes, values);
}

/** The offsets of all states of a group from its first, BigInts, and their palette indices. */
export function decode(segment, group, indexBytes) {
  const { size, count, values } = layoutOf(segment, group, indexBytes);
  const places = Array.from({ length: count }, (_, place) => place);
  return {
    offsets: places.map((place) => keyAt(segment, group, size, place)),
    indices: places.map((place) => indexIn(segment.view, place, indexBytes, values)),
  };
}

function layoutOf({ bytes, starts }, group, indexBytes) {
  const begin = starts[group];
  const end = starts[group + 1];
  if (end - begin <= HEAD) throw new RangeError("a group is cut off");
  const count = bytes[begin] + 1;
  const size = bytes[begin + 1];
  const values = begin + HEAD + (count - 1) * size;
  if (size > MOST_BYTES || values + count * indexBytes !== end) throw new RangeError("a group has other bytes than it says");
  return { size, count, values };
}

/** What a state is more than the first of its group. */
function keyAt({ bytes, starts }, group, size, place) {
  let key = 0n;
  if (place === 0) return key;
  const begin = starts[group] + HEAD + (place - 1) * size;
  for (let at = begin + size - 1; at >= begin; at--) key = (key << 8n) | BigInt(bytes[at]);
  return key;
}
