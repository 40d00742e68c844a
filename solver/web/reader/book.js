/**
 * Reads the `.bin` books that `solver export BOOK -o FILE.bin` writes, in Node and in browsers, without dependencies.
 * docs/reference/format.md describes the file byte by byte.
 *
 *     import { Book, remote } from "./book.js";
 *     const book = await Book.open(remote("connect-four.bin"));     // range requests; or Book.open(arrayBuffer)
 *     await book.get(33825n);                                       // { score: 0, distance: null, outcome: "draw" }
 *     await book.get(1);                                            // undefined: the book has no such state
 *
 * States are whole numbers below 2^63, in some books wider ones: BigInt, or a Number that is a safe integer. Values
 * are for the side to move; in a grown book, whose facts have an `estimate`, perhaps of the outcome "estimate". A
 * book stores no finished states, and of states that are each other's images by symmetry only the canonical one. A book
 * of the codec `ranked` has values without states: `Book.open(source, { rules })` takes the game's rules (`ranking.js`).
 * Of a game of chance, whose facts have an `expectation`, scores are expectations and the outcome is "expectation".
 *
 * Nothing wrong is answered: the head is checked when a book is opened, each segment when it is first touched, by
 * checksums and bounds; what does not hold raises DamagedBook.
 */

import * as compact from "./compact.js";
import * as instant from "./instant.js";
import * as ranked from "./ranked.js";
import { wordsAt } from "./groups.js";
import { Endless, Ranking, fits } from "./ranking.js";

/**
 * Codecs by their number. Each has its `NAME` among the facts, and `find(segment, group, offset, indexBytes)`: the palette
 * index of the state so far (a BigInt >= 0) behind the first of a group, or undefined; and `decode(...)` without offset:
 * { offsets, indices } of a whole group. Both may return promises, and throw RangeError for a malformed group. A codec that `asksRules` knows
 * states by their ranks. One that `takesAll` may have states of more than one word, and numbers of steps in
 * place of palette indices, which then have no bytes.
 */
const CODECS = new Map([instant, compact, ranked].map((codec) => [codec.NUMBER, /** @type {any} */ (codec)]));

const MAGIC = [0x73, 0x6f, 0x6c, 0x76, 0x65, 0x72, 0x1a, 0x0a];
const FORMAT = 1;
const ESTIMATE = -2; // in place of the distance of one
const PREFIX = 64;
const [OLD, OLDER] = [6, 0x0d]; // the byte of the mark that was another one before format 1, and which
const FIRST_READ = 1 << 16;
const SEGMENT_SIZE = 65520;
const MOST_HEAD = 1 << 26; // bytes: the directory of 256 GB
const MOST_VALUES = 1 << 21; // of a palette
const MOST_DISTANCE = 2 ** 40; // plies
const MIDDLE = 1 << 30; // steps of the expectation 0
const MOST_WHOLE = 1 << 28; // bytes of a file that a server sends as a whole

/** The file is truncated, altered, or no book. */
export class DamagedBook extends Error {
  name = "DamagedBook";
}

/**
 * A file on a web server, read by HTTP range requests; as a whole, of at most `most` bytes, from a server that knows none.
 * The other options are those of `fetch`: a `signal`, AbortSignal.timeout(10000), ends what takes too long.
 * @param {string | URL} url
 * @param {RequestInit & { most?: number }} [options]
 */
export function remote(url, { most = MOST_WHOLE, ...options } = {}) {
  /** @type {Uint8Array | undefined} */
  let whole;
  const source = {
    size: /** @type {number | undefined} */ (undefined),
    async read(begin, end) {
      if (whole) return whole.subarray(begin, end);
      const headers = new Headers(options.headers);
      headers.set("Range", `bytes=${begin}-${end - 1}`);
      const response = await fetch(url, { ...options, headers });
      if (response.status !== 200 && response.status !== 206) throw new Error(`${url}: HTTP ${response.status}`);
      const isWhole = response.status === 200;
      const bytes = await (isWhole ? wholeOf(response, most) : bodyOf(response, end - begin));
      if (isWhole) {
        whole = bytes;
        source.size = bytes.length;
        return whole.subarray(begin, end);
      }
      const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("Content-Range") ?? ""); // hidden across origins
      if (range && Number(range[1]) !== begin) throw new Error(`${url}: the server sent another range than was asked for`);
      if (range) source.size = Number(range[2]);
      return bytes;
    },
  };
  return source;
}

const nameOf = ({ url }) => url.slice(0, 200); // data: URLs are as long as what they hold

/** The body of an answer. Throws DamagedBook as soon as it has more bytes than `most`, and takes in no more. */
async function bodyOf(response, most) {
  const body = growing();
  for await (const chunk of chunksOf(response)) {
    if (body.size + chunk.length > most) throw new DamagedBook(`${nameOf(response)}: more was sent than ${most} bytes: fetch the book again`);
    body.add(chunk);
  }
  return body.bytes();
}

/** A whole book: its prefix says how long it is, and that it is one, before the rest is taken in. */
async function wholeOf(response, most) {
  const body = growing();
  let size;
  for await (const chunk of chunksOf(response)) {
    body.add(chunk.subarray(0, 1 + (size ?? most) - body.size));
    if (size === undefined && body.size >= PREFIX) ({ size } = prefixOf(body.bytes()));
    if (Math.max(size ?? 0, body.size) > most) {
      throw new RangeError(`${nameOf(response)} has more than ${most} bytes, and its server knows no ranges: serve it by one that does`);
    }
    if (size !== undefined && body.size > size) break; // said by who opens it
  }
  return body.bytes();
}

/** The chunks of an answer; who breaks off cancels it. */
async function* chunksOf({ body }) {
  const reader = body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** Bytes that come chunk by chunk. */
function growing() {
  let room = new Uint8Array(FIRST_READ);
  return {
    size: 0,
    add(chunk) {
      if (this.size + chunk.length > room.length) {
        const larger = new Uint8Array(Math.max(this.size + chunk.length, 2 * room.length));
        larger.set(room.subarray(0, this.size));
        room = larger;
      }
      room.set(chunk, this.size);
      this.size += chunk.length;
    },
    bytes() {
      return room.subarray(0, this.size);
    },
  };
}

/** Bytes in memory: an ArrayBuffer, or a view of one. */
function local(data) {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
  return { size: bytes.length, read: async (begin, end) => bytes.subarray(begin, end) };
}

export class Book {
  #source;
  #head;
  #codec;
  #segments = new Map(); // by number, the last used last; promises while they are read
  #most;
  #ranking; // of a ranked book
  #last = -1;

  /**
   * Open a book: an ArrayBuffer, a view of one, `remote(url)`, or any object with `read(begin, end)`, a promise of that
   * part of the file, shorter where the file ends before, and perhaps `size`. At most `segments` of them, of 64 KB, are
   * kept in memory. A ranked book wants the `rules` of its game, those it was made with; the others leave them alone.
   * @param {any} source
   * @param {{ segments?: number, rules?: any }} [options]
   */
  static async open(source, { segments = 256, rules } = {}) {
    const from = typeof source.read === "function" ? source : local(source);
    const head = await readHead(from);
    const ranking = async () => (head.codec.asksRules ? new Ranking(rules, head.facts, head.palette) : undefined);
    return new Book(from, head, Math.max(1, segments), await refusing(ranking()));
  }

  constructor(source, head, most, ranking) {
    this.#source = source;
    this.#head = head;
    this.#codec = head.codec;
    this.#most = most;
    this.#ranking = ranking;
    /** What the book says of itself: game, rules, method, scope, symmetry, counts, root, longest, digest. */
    this.facts = head.facts;
    /** How many states have a value in the book. */
    this.length = head.stored;
    Object.freeze(this);
  }

  /** A promise of the value of a state, { score, distance, outcome }, or of undefined if the book lacks it. */
  async get(state) {
    const key = stateOf(state);
    if (this.#ranking) return refusing(this.#ranking.value(key, (rank) => this.#index(rank)));
    const index = await this.#index(key);
    return index === undefined ? undefined : this.#head.palette.at(index);
  }

  /** The palette index at a key: a state, or in a ranked book a rank; or undefined. */
  async #index(key) {
    const { firsts, palette, indexBytes, limit } = this.#head;
    const number = lastNotAbove(firsts, key);
    if (number < 0 || key >= limit) return undefined;
    let segment = this.#segments.get(number);
    if (segment === undefined || number !== this.#last) segment = this.#touch(number, segment);
    if (segment instanceof Promise) segment = await segment;
    const group = lastNotAbove(segment.firsts, key);
    const index = await guarded(number, () => this.#codec.find(segment, group, key - segment.firsts[group], indexBytes));
    if (index !== undefined && !(index < palette.length)) throw malformed(number, "a value is outside the palette");
    return index;
  }

  /**
   * All [state, value] pairs, states as BigInt, ascending, or those of a ranked book by their ranks; raises DamagedBook
   * where they are not.
   */
  async *entries() {
    const { palette, stored } = this.#head;
    let count = 0;
    for await (const { keys, indices } of this.#groups()) {
      for (let place = 0; place < keys.length; place++) {
        const state = !this.#ranking ? keys[place] : indices[place] < 0 ? -1n : this.#ranking.state(keys[place]);
        if (state < 0n) continue;
        const value = this.#ranking ? await this.get(state) : palette.at(indices[place]);
        if (value === undefined) throw new DamagedBook(`the book lacks what its rules want to tell state ${state}`);
        yield [state, value];
        count++;
      }
    }
    if (count !== stored) throw new DamagedBook(`the book stores ${count} states, it says ${stored}`);
  }

  /** The keys of each group, states or ranks, with their palette indices; -1 at a rank without a value. */
  async *#groups() {
    const { firsts, palette, indexBytes, limit } = this.#head;
    let last = -1n;
    for (let number = 0; number < firsts.length; number++) {
      const segment = await this.#load(number);
      for (let group = 0; group < segment.firsts.length; group++) {
        const { offsets, indices } = await guarded(number, () => this.#codec.decode(segment, group, indexBytes));
        const keys = offsets.map((offset) => segment.firsts[group] + BigInt(offset));
        for (const [place, key] of keys.entries()) {
          if (key <= last || key >= limit) throw malformed(number, "its states are not ascending");
          if (!(indices[place] < palette.length)) throw malformed(number, "a value is outside the palette");
          last = key;
        }
        yield { keys, indices };
      }
    }
  }

  /** Read and check all of the file; raises DamagedBook. */
  async check() {
    for await (const _ of this.entries());
  }

  /** A segment that may be in memory already, or a promise of it; the one that was not used for longest goes. */
  #touch(number, known) {
    const segments = this.#segments;
    if (known !== undefined) segments.delete(number);
    else {
      known = this.#load(number).then(
        (segment) => {
          if (segments.has(number)) segments.set(number, segment);
          return segment;
        },
        (error) => {
          segments.delete(number); // a failed request may be made again
          throw error;
        },
      );
    }
    segments.set(number, known);
    this.#last = number;
    if (segments.size > this.#most) segments.delete(segments.keys().next().value);
    return known;
  }

  async #load(number) {
    const { places, size } = this.#head;
    const bytes = await readExactly(this.#source, places[number], places[number + 1], `segment ${number}`);
    if (this.#source.size !== undefined && this.#source.size !== size) throw new DamagedBook("the file has changed");
    return segmentOf(this.#head, number, bytes);
  }
}

/** A state as BigInt. Raises TypeError for a Number that may have been rounded, and for all that is not a number. */
function stateOf(state) {
  if (typeof state === "bigint") return state;
  if (Number.isSafeInteger(state)) return BigInt(state);
  throw new TypeError(`${state} is not a state: a BigInt, or a Number up to 2^53 - 1`);
}

/** The place of the last of ascending numbers that is not above the key, or -1. */
function lastNotAbove(numbers, key) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle] <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

async function guarded(number, action) {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RangeError) throw malformed(number, error.message);
    throw error;
  }
}

/** What a ranking is asked. Throws DamagedBook where the book contradicts its rules. */
async function refusing(asked) {
  try {
    return await asked;
  } catch (error) {
    throw error instanceof Endless ? new DamagedBook(`${error.message}: solve the book again`) : error;
  }
}

function malformed(number, what) {
  return new DamagedBook(`segment ${number} is malformed: ${what}`);
}

async function readExactly(source, begin, end, name) {
  const bytes = await source.read(begin, end);
  if (bytes.length !== end - begin) throw new DamagedBook(`${name} is cut off, or more was sent: fetch the book again`);
  return bytes;
}

/** Prefix, facts, palette and directory, checked. */
async function readHead(source) {
  let bytes = await source.read(0, FIRST_READ);
  const head = prefixOf(bytes);
  const { size, factsSize, values, segments, stateBytes } = head;
  const sizes = [factsSize, 4 + 16 * values, 4 + (stateBytes + 8) * segments];
  const end = PREFIX + sizes[0] + sizes[1] + sizes[2];
  if (factsSize < 4 || end > size) throw new DamagedBook("the head does not fit into the file");
  if (end > MOST_HEAD || values > MOST_VALUES) throw new DamagedBook("the head is larger than that of any book");
  const found = Math.max(source.size ?? 0, bytes.length);
  if (found > size) throw new DamagedBook(`the file has more than ${size} bytes: fetch it again`);
  if ((source.size ?? size) < size) throw new DamagedBook(`the file has ${found} bytes, it should have ${size}: fetch it again`);
  if (bytes.length < end) bytes = await readExactly(source, 0, end, "the head");
  const parts = [];
  let at = PREFIX;
  for (let part = 0; part < 3; part++) {
    parts.push(unsealed(head.bookId, part, bytes.subarray(at, at + sizes[part]), "the head"));
    at += sizes[part];
  }
  const facts = factsOf(parts[0], head);
  const palette = facts.values === "steps" ? new Steps(facts, head) : paletteOf(parts[1], head, facts);
  return { ...head, facts, palette, ...directoryOf(parts[2], head, end) };
}

function prefixOf(bytes) {
  const isOld = bytes[OLD] === OLDER;
  if (bytes.length < PREFIX || MAGIC.some((byte, place) => bytes[place] !== byte && !(isOld && place === OLD))) {
    throw new DamagedBook("the file is not a .bin book");
  }
  if (isOld) {
    throw new DamagedBook(`the book is older than format ${FORMAT}: make it anew, solver solve GAME -o BOOK and solver export BOOK`);
  }
  const view = viewOf(bytes);
  if (view.getUint32(60, true) !== crc32(bytes.subarray(0, 60))) throw new DamagedBook("the prefix fails its checksum");
  const format = view.getUint32(8, true);
  if (format !== FORMAT) throw new DamagedBook(`the book has format ${format}, this reader knows ${FORMAT}: get a newer one`);
  const head = {
    codec: CODECS.get(view.getUint32(12, true)),
    size: Number(view.getBigUint64(16, true)),
    stored: Number(view.getBigUint64(24, true)),
    bookId: bytes.slice(32, 40),
    factsSize: view.getUint32(40, true),
    values: view.getUint32(44, true),
    segments: view.getUint32(48, true),
    indexBytes: view.getUint32(52, true),
    stateBytes: view.getUint32(56, true),
  };
  if (!head.codec) throw new DamagedBook(`the book has codec ${view.getUint32(12, true)}, which this reader does not know`);
  const sized = head.stateBytes % 8 === 0 && head.stateBytes > 0 && head.stateBytes <= (head.codec.takesAll && head.indexBytes ? 64 : 8);
  const fits = (head.codec.takesAll ? [0, 1, 2, 4] : [1, 2, 4]).includes(head.indexBytes) && sized;
  if (!fits || !Number.isSafeInteger(head.size) || !Number.isSafeInteger(head.stored)) {
    throw new DamagedBook("the prefix is malformed");
  }
  head.limit = 1n << (head.stateBytes > 8 ? BigInt(8 * head.stateBytes) : 63n);
  return head;
}

function factsOf(body, head) {
  let facts;
  try {
    facts = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new DamagedBook("the facts are no JSON");
  }
  if (facts === null || typeof facts !== "object" || facts.stored !== head.stored) {
    throw new DamagedBook("the facts differ from the prefix");
  }
  if (typeof facts.game !== "string" || /[\p{Cc}\p{Cf}]/u.test(facts.game)) throw new DamagedBook("the facts name no game");
  if (!["number", "string"].includes(typeof facts.root?.score)) throw new DamagedBook("the facts lack the value of the start");
  const keys = head.codec.asksRules ? "ranks" : "states";
  const values = head.indexBytes ? "palette" : "steps";
  if (facts.estimate && facts.scope === "complete") throw new DamagedBook("the facts contradict each other, or the prefix");
  if (facts.format !== FORMAT || facts.keys !== keys || facts.values !== values || !fits(facts, head.codec)) {
    throw new DamagedBook("the facts contradict each other, or the prefix");
  }
  return facts;
}

/** Values, frozen, since they are handed out; scores beyond 2^53 are BigInt. Only wins and losses have a distance. */
function paletteOf(body, { values }, { estimate }) {
  const view = viewOf(body);
  return Array.from({ length: values }, (_, place) => {
    const distance = exact(view.getBigInt64(16 * place + 8, true));
    if (estimate && distance === ESTIMATE) {
      const score = view.getFloat64(16 * place, true);
      if (!Number.isFinite(score)) throw new DamagedBook("an estimate is not a number");
      return Object.freeze({ score, distance: null, outcome: "estimate" });
    }
    const score = exact(view.getBigInt64(16 * place, true));
    const fits = distance === -1 || (distance >= 0 && distance < MOST_DISTANCE && (score === 1 || score === -1));
    if (!fits) throw new DamagedBook(`no game has the value ${score} at distance ${distance}: get the book again`);
    const outcome = score > 0 ? "win" : score < 0 ? "loss" : "draw";
    return Object.freeze({ score, distance: distance === -1 ? null : distance, outcome });
  });
}

/** The values of a book of expectations by their numbers of steps, in place of a palette. */
class Steps {
  length = 2 * MIDDLE + 1;
  #step;

  /**
   * @param {{ expectation?: { of?: any, step?: any, error?: any } | null }} facts
   * @param {{ values: number }} prefix
   */
  constructor({ expectation }, { values }) {
    const { of, step, error } = expectation ?? {};
    const isPower = step > 0 && step <= 1 && step === 2 ** Math.round(Math.log2(step));
    if (values || !["utility", "margin"].includes(of) || !isPower || !(error >= step / 2 && error < 1)) {
      throw new DamagedBook("the facts differ from the prefix: expectations of an unknown kind");
    }
    this.#step = step;
  }

  at(number) {
    return Object.freeze({ score: (number - MIDDLE) * this.#step, distance: null, outcome: "expectation" });
  }
}

function exact(number) {
  const rounded = Number(number);
  return Number.isSafeInteger(rounded) ? rounded : number;
}

/** The first state of each segment; where each begins in the file, and where the last ends. */
function directoryOf(body, { segments: count, size, stateBytes }, begin) {
  const view = viewOf(body);
  const entry = stateBytes + 8;
  const firsts = statesIn(view, 0, count, stateBytes, entry);
  const places = new Float64Array(count + 1);
  for (let number = 0; number < count; number++) {
    places[number] = Number(view.getBigUint64(entry * number + stateBytes, true));
  }
  places[count] = size;
  let fits = places[0] === begin;
  for (let number = 0; number < count; number++) {
    const length = places[number + 1] - places[number];
    fits &&= length > 0 && length <= SEGMENT_SIZE && (number === 0 || firsts[number - 1] < firsts[number]);
  }
  if (!fits) throw new DamagedBook("the directory is malformed");
  return { firsts, places };
}

/** States of so many bytes, each `entry` bytes behind the one before. */
function statesIn(view, begin, count, stateBytes, entry) {
  const states = stateBytes === 8 ? new BigUint64Array(count) : new Array(count);
  for (let number = 0; number < count; number++) states[number] = wordsAt(view, begin + entry * number, stateBytes);
  return states;
}

/** A segment whose checksum holds and whose groups lie inside of it. */
function segmentOf(head, number, bytes) {
  unsealed(head.bookId, number, bytes, `segment ${number}`);
  const view = viewOf(bytes);
  const count = bytes.length < 10 ? 0 : view.getUint16(4, true);
  const keys = head.stateBytes;
  const table = 10 + (keys + 2) * count;
  if (!count || table > bytes.length || bytes[6] !== head.codec.NUMBER || bytes[7] !== head.indexBytes) {
    throw malformed(number, "its head");
  }
  const firsts = statesIn(view, 8, count, keys, keys);
  const starts = new Uint16Array(count + 1);
  for (let group = 0; group <= count; group++) starts[group] = view.getUint16(8 + keys * count + 2 * group, true);
  let fits = firsts[0] === head.firsts[number] && starts[0] === table && starts[count] === bytes.length;
  for (let group = 1; group < count; group++) fits &&= firsts[group - 1] < firsts[group];
  for (let group = 0; group < count; group++) fits &&= starts[group] < starts[group + 1];
  if (!fits) throw malformed(number, "its groups");
  return { bytes, view, firsts, starts };
}

/** The body of a sealed record: behind a crc32 over the book id, the record's number as u64, and the body. */
function unsealed(bookId, number, record, name) {
  const body = record.subarray(4);
  const seed = new Uint8Array(16);
  seed.set(bookId);
  viewOf(seed).setBigUint64(8, BigInt(number), true);
  if (record.length < 4 || viewOf(record).getUint32(0, true) !== crc32(body, crc32(seed))) {
    throw new DamagedBook(`${name} fails its checksum: fetch the book again`);
  }
  return body;
}

function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** The checksum of zlib and PNG, going on from that of what came before. */
function crc32(bytes, before = 0) {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = CRC_TABLE[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}
