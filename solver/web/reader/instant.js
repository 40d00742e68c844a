/**
 * The `instant` codec: a look-up reads a few bytes of a group and decodes nothing else.
 *
 *     u8 key mode + 8 * value width | u8 states - 1 | u8 local palette entries - 1 | local palette | values | keys
 *
 * Every place that is read was found to lie inside the group: typed arrays answer `undefined` outside, not an error.
 */

import { wordsAt } from "./deflated.js";

export const NAME = "instant";
export const NUMBER = 0;
export const takesWide = true;

const HEAD = 3;
const KEY_BYTES = [0, 1, 2, 4, 8, 16, 32, 64];
const WIDTHS = [0, 1, 2, 4, 8];
const POPULATION = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (; byte; byte &= byte - 1) count++;
  return count;
});

/** The palette index of the state so far behind the first of a group, or undefined. Throws RangeError. */
export function find(segment, group, offset, indexBytes) {
  const layout = layoutOf(segment, group, indexBytes);
  const place = layout.mode ? placeInList(segment.view, layout, offset) : placeInBitmap(segment.bytes, layout, offset);
  return place === undefined ? undefined : indexAt(segment, layout, place, indexBytes);
}

/** The offsets of all states of a group from its first, Numbers or BigInts, and their palette indices. */
export function decode(segment, group, indexBytes) {
  const layout = layoutOf(segment, group, indexBytes);
  const offsets = layout.mode ? listed(segment.view, layout) : marked(segment.bytes, layout);
  if (offsets.length !== layout.count || BigInt(offsets[0]) !== 0n) throw new RangeError("a group has other keys than states");
  return { offsets, indices: offsets.map((_, place) => indexAt(segment, layout, place, indexBytes)) };
}

/** Where the parts of a group lie. */
function layoutOf({ bytes, starts }, group, indexBytes) {
  const begin = starts[group];
  const end = starts[group + 1];
  if (end - begin <= HEAD) throw new RangeError("a group is cut off");
  const width = bytes[begin] >> 3;
  const mode = bytes[begin] & 7;
  const count = bytes[begin + 1] + 1;
  const entries = bytes[begin + 2] + 1;
  const palette = begin + HEAD;
  const values = palette + entries * indexBytes;
  const keys = values + ((count * width + 7) >> 3);
  const fits = mode ? keys + count * KEY_BYTES[mode] === end : keys < end;
  if (!WIDTHS.includes(width) || !fits) throw new RangeError("a group has other bytes than it says");
  return { mode, width, count, entries, palette, values, keys, end };
}

function placeInBitmap(bytes, { keys, end, count }, offset) {
  const bit = offset < 0x100000n ? Number(offset) : Infinity;
  const byte = keys + Math.floor(bit / 8);
  if (byte >= end) return undefined;
  const mask = 1 << (bit & 7);
  if (!(bytes[byte] & mask)) return undefined;
  let place = POPULATION[bytes[byte] & (mask - 1)];
  for (let at = keys; at < byte; at++) place += POPULATION[bytes[at]];
  if (place >= count) throw new RangeError("a group has more keys than states");
  return place;
}

function placeInList(view, { mode, keys, count }, offset) {
  if (mode < 4 && offset > 0xffffffffn) return undefined;
  const wanted = mode < 4 ? Number(offset) : offset;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyAt(view, mode, keys, middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < count && keyAt(view, mode, keys, low) === wanted ? low : undefined;
}

function keyAt(view, mode, keys, place) {
  if (mode === 1) return view.getUint8(keys + place);
  if (mode === 2) return view.getUint16(keys + 2 * place, true);
  if (mode === 3) return view.getUint32(keys + 4 * place, true);
  return wordsAt(view, keys + KEY_BYTES[mode] * place, KEY_BYTES[mode]);
}

function listed(view, { mode, keys, count }) {
  return Array.from({ length: count }, (_, place) => keyAt(view, mode, keys, place));
}

function marked(bytes, { keys, end }) {
  const offsets = [];
  for (let at = keys; at < end; at++) {
    for (let bit = 0; bit < 8; bit++) if ((bytes[at] >> bit) & 1) offsets.push(8 * (at - keys) + bit);
  }
  return offsets;
}

function indexAt({ bytes, view }, { width, entries, palette, values }, place, indexBytes) {
  const bit = place * width;
  const local = width ? (bytes[values + (bit >> 3)] >> (bit & 7)) & ((1 << width) - 1) : 0;
  if (local >= entries) throw new RangeError("a value is outside its group's palette");
  const at = palette + local * indexBytes;
  return indexBytes === 1 ? bytes[at] : indexBytes === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
}
