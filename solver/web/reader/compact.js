/**
 * The `compact` codec: groups of some thousand states, keys and values deflated.
 *
 *     u8 key mode | u16 states - 1 | u16 bytes of the keys - 1 | u16 bytes of the keys, deflated | keys | values
 */

import { indexIn, inflate, keeping, marked, placeInBitmap, placeInList } from "./groups.js";

export const NAME = "compact";
export const NUMBER = 1;

const HEAD = 7;
const MOST_STATES = 6144;
const MOST_KEYS = 12 << 10;

/** The palette index of the state so far behind the first of a group, or undefined. Throws RangeError. */
export async function find(segment, group, offset, indexBytes) {
  const decoded = await inflatedGroup(segment, group, indexBytes);
  const { mode, keys, count } = decoded;
  const place = mode
    ? placeInList(count, (place) => keyAt(decoded, place), offset)
    : placeInBitmap(keys, 0, keys.length, count, offset);
  return place === undefined ? undefined : indexIn(decoded.values, place, indexBytes);
}

/** The offsets of all states of a group from its first, Numbers or BigInts, and their palette indices. */
export async function decode(segment, group, indexBytes) {
  const decoded = await inflatedGroup(segment, group, indexBytes);
  const { mode, keys, count } = decoded;
  const offsets = mode ? Array.from({ length: count }, (_, place) => keyAt(decoded, place)) : marked(keys, 0, keys.length);
  if (offsets.length !== count || BigInt(offsets[0]) !== 0n) throw new RangeError("a group has other keys than states");
  return { offsets, indices: offsets.map((_, place) => indexIn(decoded.values, place, indexBytes)) };
}

// of 18 KB where an index takes a byte, and 36 KB at most
const inflatedGroup = keeping(256, inflateGroup);

async function inflateGroup({ bytes, view, starts }, group, indexBytes) {
  const begin = starts[group];
  const end = starts[group + 1];
  if (end - begin <= HEAD) throw new RangeError("a group is cut off");
  const mode = bytes[begin];
  const count = view.getUint16(begin + 1, true) + 1;
  const size = view.getUint16(begin + 3, true) + 1;
  const middle = begin + HEAD + view.getUint16(begin + 5, true);
  if (mode > 8 || count > MOST_STATES || size > MOST_KEYS || (mode && size !== mode * count) || middle > end) {
    throw new RangeError("its sizes are those of no group");
  }
  const [keys, values] = await Promise.all([
    inflate(bytes.subarray(begin + HEAD, middle), size),
    inflate(bytes.subarray(middle, end), count * indexBytes),
  ]);
  return { mode, count, keys, values: new DataView(values.buffer) };
}

/** The difference of a state from the first of its group: its highest bytes lie together in front, the lowest last. */
function keyAt({ mode, count, keys }, place) {
  let high = 0;
  let low = 0;
  for (let plane = 0; plane < mode; plane++) {
    const byte = keys[plane * count + place];
    if (mode - plane > 4) high = high * 256 + byte;
    else low = low * 256 + byte;
  }
  return high < 1 << 21 ? high * 2 ** 32 + low : (BigInt(high) << 32n) | BigInt(low);
}
