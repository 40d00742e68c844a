/**
 * The `instant` codec: a look-up reads a few bytes of a group and decodes nothing else.
 *
 *     u8 key mode + 8 * value width | u8 states - 1 | u8 local palette entries - 1 | local palette | values | keys
 *
 * In a book of expectations, whose indices have no bytes, numbers of steps stand in place of palette indices:
 *
 *     u8 key mode | u8 states - 1 | u8 bits of a value | u32 the least number | values | keys
 *
 * Every place that is read was found to lie inside the group: typed arrays answer `undefined` outside, not an error.
 */

import { indexIn, marked, placeInBitmap, placeInList, wordsAt } from "./groups.js";

export const NAME = "instant";
export const NUMBER = 0;
export const takesAll = true;

const HEAD = 3;
const KEY_BYTES = [0, 1, 2, 4, 8, 16, 32, 64];
const PACKED = 8; // the first key mode with bits side by side
const MOST_MODE = 64;
const WIDTHS = [0, 1, 2, 4, 8];
const MOST_WIDTH = 32; // bits of a number

/** The palette index of the state so far behind the first of a group, or undefined. Throws RangeError. */
export function find(segment, group, offset, indexBytes) {
  const layout = layoutOf(segment, group, indexBytes);
  const { mode, keys, end, count } = layout;
  let place;
  if (!mode) place = placeInBitmap(segment.bytes, keys, end, count, offset);
  else if (mode < PACKED) place = placeInList(count, (place) => keyAt(segment.view, mode, keys, place), offset);
  else place = placeInUnary(segment.bytes, layout, offset);
  return place === undefined ? undefined : indexAt(segment, layout, place, indexBytes);
}

/** The offsets of all states of a group from its first, Numbers or BigInts, and their palette indices. */
export function decode(segment, group, indexBytes) {
  const layout = layoutOf(segment, group, indexBytes);
  const { mode, keys, highs, end, count } = layout;
  let offsets;
  if (mode && mode < PACKED) offsets = Array.from({ length: count }, (_, place) => keyAt(segment.view, mode, keys, place));
  else offsets = marked(segment.bytes, highs, end);
  if (offsets.length !== count) throw new RangeError("a group has other keys than states");
  if (mode >= PACKED) offsets = offsets.map((bit, place) => packedKey(segment.bytes, layout, bit, place));
  if (BigInt(offsets[0]) !== 0n) throw new RangeError("a group does not begin with its first state");
  return { offsets, indices: offsets.map((_, place) => indexAt(segment, layout, place, indexBytes)) };
}

/** Where the parts of a group lie. */
function layoutOf({ bytes, starts }, group, indexBytes) {
  const begin = starts[group];
  const end = starts[group + 1];
  if (end - begin <= HEAD) throw new RangeError("a group is cut off");
  const count = bytes[begin + 1] + 1;
  const mode = indexBytes ? bytes[begin] & 7 : bytes[begin];
  const width = indexBytes ? bytes[begin] >> 3 : bytes[begin + 2];
  const entries = bytes[begin + 2] + 1;
  const palette = begin + HEAD;
  const values = palette + (indexBytes ? entries * indexBytes : 4);
  const keys = values + ((count * width + 7) >> 3);
  const lowBits = Math.max(0, mode - PACKED);
  const highs = keys + ((count * lowBits + 7) >> 3); // where the unary parts begin, or the bitmap
  const fits = mode && mode < PACKED ? indexBytes && keys + count * KEY_BYTES[mode] === end : highs < end;
  if (!fits || mode > MOST_MODE || !(indexBytes ? WIDTHS.includes(width) : width <= MOST_WIDTH)) {
    throw new RangeError("a group has other bytes than it says");
  }
  return { mode, width, count, entries, palette, values, keys, lowBits, highs, end };
}

function keyAt(view, mode, keys, place) {
  return mode < 4 ? indexIn(view, place, KEY_BYTES[mode], keys) : wordsAt(view, keys + KEY_BYTES[mode] * place, KEY_BYTES[mode]);
}

/** Elias and Fano: `lowBits` of each key side by side, the rest as zeros before a one for each key. */
function placeInUnary(bytes, layout, offset) {
  const { lowBits, highs, end, count } = layout;
  const high = Number(offset >> BigInt(lowBits));
  for (let bit = 0, place = 0; bit < 8 * (end - highs) && bit - place <= high; bit++) {
    if (!((bytes[highs + (bit >> 3)] >> (bit & 7)) & 1)) continue;
    if (place >= count) throw new RangeError("a group has more keys than states");
    if (bit - place === high && packedKey(bytes, layout, bit, place) === offset) return place;
    place++;
  }
  return undefined;
}

function packedKey(bytes, { keys, lowBits }, bit, place) {
  return (BigInt(bit - place) << BigInt(lowBits)) | bitsAt(bytes, keys, place * lowBits, lowBits);
}

/** The number of so many bits that begins with this one, counted from a byte: a BigInt. */
function bitsAt(bytes, begin, bit, width) {
  let number = 0n;
  for (let at = (bit + width - 1) >> 3; at >= bit >> 3; at--) number = (number << 8n) | BigInt(bytes[begin + at]);
  return (number >> BigInt(bit & 7)) & ((1n << BigInt(width)) - 1n);
}

function indexAt({ bytes, view }, { width, entries, palette, values }, place, indexBytes) {
  const bit = place * width;
  if (!indexBytes) return view.getUint32(palette, true) + Number(bitsAt(bytes, values, bit, width));
  const local = width ? (bytes[values + (bit >> 3)] >> (bit & 7)) & ((1 << width) - 1) : 0;
  if (local >= entries) throw new RangeError("a value is outside its group's palette");
  return indexIn(view, local, indexBytes, palette);
}
