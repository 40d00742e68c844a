/**
 * The `fixed` codec: fixed-point numbers in place of palette indices, for books of expectations.
 *
 *     u8 key mode | u8 states - 1 | u8 bits of a value | u32 the least number | values | keys
 *
 * Every place that is read was found to lie inside the group: typed arrays answer `undefined` outside, not an error.
 */

export const NAME = "fixed";
export const NUMBER = 3;

const MIDDLE = 1 << 30; // the number of 0
const HEAD = 7;
const LEAST = 3; // where the least number is
const MOST_BITS = 32; // of a value
const MOST_MODE = 63;

/** The values of a book of expectations by their numbers, as a palette has them; throws RangeError for no such facts. */
export class Steps {
  length = 2 * MIDDLE + 1;
  #step;

  constructor({ of, step, error }) {
    const isPower = step > 0 && step <= 1 && step === 2 ** Math.round(Math.log2(step));
    if (!["utility", "margin"].includes(of) || !isPower || !(error >= step / 2 && error < 1)) {
      throw new RangeError("expectations of an unknown kind");
    }
    this.#step = step;
  }

  at(number) {
    return Object.freeze({ score: (number - MIDDLE) * this.#step, distance: null, outcome: "expectation" });
  }
}

/** The number of the state so far (a BigInt) behind the first of a group, or undefined. Throws RangeError. */
export function find(segment, group, offset) {
  const layout = layoutOf(segment, group);
  const place = layout.mode ? placeInList(segment.bytes, layout, offset) : placeInBitmap(segment.bytes, layout, offset);
  return place === undefined ? undefined : numberAt(segment.bytes, layout, place);
}

/** The offsets of all states of a group from its first, Numbers or BigInts, and their numbers. */
export function decode(segment, group) {
  const layout = layoutOf(segment, group);
  const { mode, count } = layout;
  const ones = marked(segment.bytes, layout);
  const key = (one, place) => (BigInt(one - place) << BigInt(mode - 1)) | BigInt(lowAt(segment.bytes, layout, place));
  const offsets = mode && ones.length === count ? ones.map(key) : ones;
  if (offsets.length !== count || BigInt(offsets[0]) !== 0n) throw new RangeError("a group has other keys than states");
  return { offsets, indices: offsets.map((_, place) => numberAt(segment.bytes, layout, place)) };
}

/** Where the parts of a group lie. */
function layoutOf({ bytes, view, starts }, group) {
  const begin = starts[group];
  const end = starts[group + 1];
  if (end - begin <= HEAD) throw new RangeError("a group is cut off");
  const mode = bytes[begin];
  const count = bytes[begin + 1] + 1;
  const width = bytes[begin + 2];
  const values = begin + HEAD;
  const keys = values + ((count * width + 7) >> 3);
  const lowBits = mode ? mode - 1 : 0;
  const highs = keys + ((count * lowBits + 7) >> 3); // where the unary parts begin, or the bitmap
  if (width > MOST_BITS || mode > MOST_MODE || highs >= end) throw new RangeError("a group has other bytes than it says");
  return { mode, count, width, least: view.getUint32(begin + LEAST, true), values, keys, lowBits, highs, end };
}

function placeInBitmap(bytes, { keys, end, count }, offset) {
  const bit = offset < 0x100000n ? Number(offset) : Infinity;
  const byte = keys + Math.floor(bit / 8);
  if (byte >= end || !((bytes[byte] >> (bit & 7)) & 1)) return undefined;
  let place = population(bytes[byte] & ((1 << (bit & 7)) - 1));
  for (let at = keys; at < byte; at++) place += population(bytes[at]);
  if (place >= count) throw new RangeError("a group has more keys than states");
  return place;
}

function population(byte) {
  let count = 0;
  for (; byte; byte &= byte - 1) count++;
  return count;
}

/** Elias and Fano: `lowBits` of each key side by side, the rest as zeros before a one for each key. */
function placeInList(bytes, layout, offset) {
  const { lowBits, highs, end, count } = layout;
  const bits = 8 * (end - highs);
  const rest = offset >> BigInt(lowBits);
  if (rest > BigInt(bits)) return undefined;
  const high = Number(rest);
  const low = offset & ((1n << BigInt(lowBits)) - 1n);
  const oneAt = (bit) => (bytes[highs + (bit >> 3)] >> (bit & 7)) & 1;
  let ones = 0;
  let byte = highs;
  for (; byte < end; byte++) {
    const more = population(bytes[byte]);
    if (8 * (byte + 1 - highs) - ones - more >= high) break;
    ones += more;
  }
  let bit = 8 * (byte - highs);
  for (; bit - ones < high && bit < bits; bit++) ones += oneAt(bit);
  for (; bit < bits && oneAt(bit); bit++, ones++) {
    if (ones >= count) throw new RangeError("a group has more keys than states");
    if (BigInt(lowAt(bytes, layout, ones)) === low) return ones;
  }
  return undefined;
}

function marked(bytes, { highs, end }) {
  const places = [];
  for (let at = highs; at < end; at++) {
    for (let bit = 0; bit < 8; bit++) if ((bytes[at] >> bit) & 1) places.push(8 * (at - highs) + bit);
  }
  return places;
}

const lowAt = (bytes, { keys, lowBits }, place) => bitsAt(bytes, keys, place * lowBits, lowBits);
const numberAt = (bytes, { values, width, least }, place) => least + Number(bitsAt(bytes, values, place * width, width));

/** The number of so many bits that begins with this one, counted from a byte; a BigInt where it may be beyond 2^53. */
function bitsAt(bytes, begin, bit, width) {
  if (width > 45) {
    const low = bitsAt(bytes, begin, bit, 32);
    return (BigInt(bitsAt(bytes, begin, bit + 32, width - 32)) << 32n) | BigInt(low);
  }
  let number = 0;
  for (let done = 0; done < width; ) {
    const at = bit + done;
    number += (bytes[begin + (at >> 3)] >> (at & 7)) * 2 ** done;
    done += 8 - (at & 7);
  }
  return number % 2 ** width;
}
