/**
 * What the codecs share: groups that are inflated as a whole, to no more than they say, of which the last ones are kept;
 * and keys and numbers out of bytes.
 */

/** What was deflated, which is to be so many bytes; nothing more is made, whatever the data say. Throws RangeError. */
export async function inflate(data, size) {
  const found = new Uint8Array(size);
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  let at = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      found.set(next.value, at); // throws RangeError beyond the end
      at += next.value.length;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw new RangeError(`a group does not inflate: ${error.message}`);
  }
  if (at !== size) throw new RangeError("a group ends early");
  return found;
}

/** `make(segment, group, indexBytes)`, a promise of the parts of a group, with the last `most` of them kept. */
export function keeping(most, make) {
  const kept = []; // a ring: { groups, group }
  const inflated = new WeakMap(); // by segment, promises by group
  let next = 0;
  return (segment, group, indexBytes) => {
    let groups = inflated.get(segment);
    if (groups === undefined) inflated.set(segment, (groups = new Map()));
    const known = groups.get(group);
    if (known !== undefined) return known;
    const parts = make(segment, group, indexBytes);
    const oldest = kept[next];
    if (oldest) oldest.groups.delete(oldest.group);
    kept[next] = { groups, group };
    next = (next + 1) % most;
    groups.set(group, parts);
    return parts;
  };
}

/** The index at a place of a table whose indices take so many bytes each, and that begins there. */
export function indexIn(table, place, indexBytes, begin = 0) {
  const at = begin + place * indexBytes;
  return indexBytes === 1 ? table.getUint8(at) : indexBytes === 2 ? table.getUint16(at, true) : table.getUint32(at, true);
}

/** The number of so many bytes, a multiple of 8, the lowest first. */
export function wordsAt(view, begin, bytes) {
  let number = 0n;
  for (let at = begin + bytes - 8; at >= begin; at -= 8) number = (number << 64n) | view.getBigUint64(at, true);
  return number;
}

/** How many bits are set before one of bytes[begin] to bytes[end - 1], undefined if it is not set itself. */
export function placeInBitmap(bytes, begin, end, count, offset) {
  if (offset >= BigInt(8 * (end - begin))) return undefined;
  const bit = Number(offset);
  const byte = begin + (bit >> 3);
  if (!((bytes[byte] >> (bit & 7)) & 1)) return undefined;
  let place = population(bytes[byte] & ((1 << (bit & 7)) - 1));
  for (let at = begin; at < byte; at++) place += population(bytes[at]);
  if (place >= count) throw new RangeError("a group has more keys than states");
  return place;
}

function population(byte) {
  byte -= (byte >> 1) & 0x55;
  byte = (byte & 0x33) + ((byte >> 2) & 0x33);
  return (byte + (byte >> 4)) & 15;
}

/** The place of a key among so many ascending ones, undefined if it is none of them; `keyAt(place)` is a Number or BigInt. */
export function placeInList(count, keyAt, key) {
  const wanted = key <= 0xffffffffn ? Number(key) : key; // Numbers compare quicker
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyAt(middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < count && keyAt(low) == wanted ? low : undefined;
}

/** The bits that are set in bytes[begin] to bytes[end - 1]. */
export function marked(bytes, begin, end) {
  const bits = [];
  for (let at = begin; at < end; at++) {
    for (let bit = 0; bit < 8; bit++) if ((bytes[at] >> bit) & 1) bits.push(8 * (at - begin) + bit);
  }
  return bits;
}
