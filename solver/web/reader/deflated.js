/**
 * Groups that are deflated: each is inflated as a whole, to no more than it says, and the last ones are kept.
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

/** The number of so many bytes, a multiple of 8, the lowest first. */
export function wordsAt(view, begin, bytes) {
  let number = 0n;
  for (let at = begin + bytes - 8; at >= begin; at -= 8) number = (number << 64n) | view.getBigUint64(at, true);
  return number;
}

/** The index at a place of a table whose indices take so many bytes each, and that begins there. */
export function indexIn(table, place, indexBytes, begin = 0) {
  const at = begin + place * indexBytes;
  return indexBytes === 1 ? table.getUint8(at) : indexBytes === 2 ? table.getUint16(at, true) : table.getUint32(at, true);
}
