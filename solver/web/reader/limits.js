/**
 * What a module may have before anything of it is compiled: no more than `solver build` ever writes, by far, so that
 * compiling and running it takes little memory and time, whoever wrote it. docs/guides/webassembly.md describes modules.
 *
 * At each block and branch of a function a compiler keeps its stack and its locals: 64 KB of bytes took V8 2.4 GB. So their
 * sum is bounded, the weight of a function. The largest module of ours has 34 KB, 26 functions and a weight of 60,000.
 */

export const MOST_BYTES = 1 << 18;
const [CUSTOM, TYPE, FUNCTION, MEMORY, GLOBAL, EXPORT, CODE, DATA, DATA_COUNT] = [0, 1, 3, 5, 6, 7, 10, 11, 12];
const OURS = [CUSTOM, TYPE, FUNCTION, MEMORY, GLOBAL, EXPORT, CODE, DATA, DATA_COUNT];
const MAGIC = 8; // bytes of it and the version
const MOST_FUNCTIONS = 1000;
const MOST_PARAMETERS = 64; // of a function; it has one result
const MOST_LOCALS = 4000;
const MOST_WEIGHT = 1 << 22; // of a function
const MOST_TOTAL = 1 << 24; // of all functions
const [FUNCTION_TYPE, NO_RESULT, NUMBERS] = [0x60, 0x40, [0x7c, 0x7d, 0x7e, 0x7f]];
const [BLOCK, LOOP, IF, ELSE, END, BR, BR_IF, BR_TABLE, CALL, CONST, PREFIX] = [2, 3, 4, 5, 0x0b, 0x0c, 0x0d, 0x0e, 0x10, 0x41, 0xfc];
const STRANGE = "it has instructions that no module of ours has";
/** [first and last instruction, operands to pass over, what becomes of the height of the stack]. */
const KINDS = [
  [0x00, 0x01, 0, 0], // unreachable, nop
  [0x0f, 0x0f, 0, 0], // return
  [0x1a, 0x1a, 0, -1], // drop
  [0x1b, 0x1b, 0, -2], // select
  [0x20, 0x20, 1, 1], // local.get
  [0x21, 0x21, 1, -1], // local.set
  [0x22, 0x22, 1, 0], // local.tee
  [0x23, 0x23, 1, 1], // global.get
  [0x24, 0x24, 1, -1], // global.set
  [0x28, 0x35, 2, 0], // loads
  [0x36, 0x3e, 2, -2], // stores
  [0x3f, 0x3f, 1, 1], // memory.size
  [0x40, 0x40, 1, 0], // memory.grow
  [0x45, 0x45, 0, 0], // i32.eqz
  [0x46, 0x4f, 0, -1],
  [0x50, 0x50, 0, 0], // i64.eqz
  [0x51, 0x66, 0, -1], // other comparisons
  [0x67, 0x69, 0, 0], // clz, ctz, popcnt
  [0x6a, 0x78, 0, -1],
  [0x79, 0x7b, 0, 0], // the same of 64 bits
  [0x7c, 0x8a, 0, -1],
  [0x8b, 0x91, 0, 0], // abs to sqrt
  [0x92, 0x98, 0, -1],
  [0x99, 0x9f, 0, 0], // the same of 64 bits
  [0xa0, 0xa6, 0, -1],
  [0xa7, 0xc4, 0, 0], // conversions
];
const PREFIXED = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1]; // operands: conversions that saturate, then bulk memory from BULK on
const BULK = 8;

/** Numbers from bytes, one after another. Throws RangeError at their end. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get isAtEnd() {
    return this.at >= this.bytes.length;
  }

  byte() {
    if (this.isAtEnd) throw new RangeError("it is cut off");
    return this.bytes[this.at++];
  }

  /** An unsigned LEB128 number below 2^32, or so many bytes of another that nobody asks for. */
  number(most = 5) {
    let number = 0;
    for (let count = 0; count < most; count++) {
      const byte = this.byte();
      number += (byte & 127) * 2 ** (7 * count);
      if (byte < 128) return number;
    }
    throw new RangeError("a number is too long");
  }

  take(size) {
    if (size > this.bytes.length - this.at) throw new RangeError("it is cut off");
    return new Reader(this.bytes.subarray(this.at, (this.at += size)));
  }
}

/** The bytes of a module whose memory grows to so many pages at most. Throws RangeError for what no module of ours has. */
export function bounded(bytes, pages) {
  if (bytes.length > MOST_BYTES) throw new RangeError(`it has ${bytes.length} bytes, of ${MOST_BYTES} at most`);
  const reader = new Reader(bytes);
  const parts = [reader.take(MAGIC).bytes];
  const seen = { types: [], functions: [] };
  while (!reader.isAtEnd) {
    const begin = reader.at;
    const kind = reader.byte();
    const section = reader.take(reader.number());
    if (!OURS.includes(kind)) throw new RangeError("it has sections that no module of ours has");
    CHECKS[kind]?.(section, seen);
    parts.push(kind === MEMORY ? memoryOf(section, pages) : bytes.subarray(begin, reader.at));
  }
  return joined(parts);
}

const CHECKS = {
  [TYPE](section, seen) {
    for (let count = section.number(); count > 0; count--) {
      if (section.byte() !== FUNCTION_TYPE) throw new RangeError("it has types that no module of ours has");
      const parameters = section.number();
      section.take(parameters);
      const results = section.number();
      section.take(results);
      if (parameters > MOST_PARAMETERS || results > 1) throw new RangeError("a function takes or returns too much");
      seen.types.push({ parameters, results });
    }
  },
  [FUNCTION](section, seen) {
    const count = section.number();
    if (count > MOST_FUNCTIONS) throw new RangeError(`it has more than ${MOST_FUNCTIONS} functions`);
    for (let place = 0; place < count; place++) seen.functions.push(seen.types[section.number()]);
  },
  [CODE](section, { functions }) {
    const count = section.number();
    let total = 0;
    for (let place = 0; place < count; place++) {
      total += new Weighing(section.take(section.number()), functions, functions[place]).weight();
    }
    if (total > MOST_TOTAL) throw new RangeError("its functions are too large");
  },
};

/** A pass over a function, which knows how high its stack is; where it is not valid compilers refuse it. */
class Weighing {
  #body;
  #functions;
  #locals;
  #height = 0;
  #blocks = []; // the heights behind them
  #weight = 0;

  constructor(body, functions, type) {
    this.#body = body;
    this.#functions = functions;
    this.#locals = type?.parameters ?? 0;
  }

  /** What the function weighs for a compiler. Throws RangeError where that is too much. */
  weight() {
    const body = this.#body;
    for (let count = body.number(); count > 0; count--) {
      this.#locals += body.number();
      body.byte();
    }
    if (this.#locals > MOST_LOCALS) throw new RangeError(`a function has more than ${MOST_LOCALS} locals`);
    while (!body.isAtEnd) {
      this.#pass(body.byte());
      if (this.#weight > MOST_WEIGHT) throw new RangeError("a function is too large");
    }
    return this.#weight;
  }

  #pass(code) {
    const body = this.#body;
    if (code === BLOCK || code === LOOP || code === IF) this.#begin(code);
    else if (code === ELSE) this.#height = this.#blocks.at(-1)?.outer ?? 0;
    else if (code === END) this.#height = this.#blocks.pop()?.behind ?? 0;
    else if (code === BR || code === BR_IF) this.#branch(1, code === BR_IF ? 1 : 0);
    else if (code === BR_TABLE) this.#branch(body.number() + 1, 1);
    else if (code === CALL) this.#call(this.#functions[body.number()]);
    else if (code === CONST || code === CONST + 1) body.number(10), this.#height++;
    else if (code === CONST + 2 || code === CONST + 3) body.take(code === CONST + 2 ? 4 : 8), this.#height++;
    else if (code === PREFIX) this.#prefixed(body.number());
    else this.#plain(KINDS.find(([first, last]) => first <= code && code <= last));
  }

  #begin(code) {
    const type = this.#body.byte(); // of a result, or none
    if (type !== NO_RESULT && !NUMBERS.includes(type)) throw new RangeError(STRANGE);
    if (code === IF) this.#move(-1);
    this.#weight += 1 + this.#locals + this.#height;
    this.#blocks.push({ outer: this.#height, behind: this.#height + (type === NO_RESULT ? 0 : 1) });
  }

  #branch(targets, taken) {
    for (let count = targets; count > 0; count--) this.#body.number();
    this.#weight += targets * (1 + this.#locals + this.#height);
    this.#move(-taken);
  }

  #call(type) {
    if (!type) throw new RangeError("it calls what it has not");
    this.#move(type.results - type.parameters);
  }

  #prefixed(code) {
    if (!(code < PREFIXED.length)) throw new RangeError(STRANGE);
    for (let count = PREFIXED[code]; count > 0; count--) this.#body.number();
    if (code >= BULK) this.#move(-3);
  }

  #plain(kind) {
    if (!kind) throw new RangeError(STRANGE);
    for (let count = kind[2]; count > 0; count--) this.#body.number();
    this.#move(kind[3]);
  }

  #move(by) {
    this.#height = Math.max(0, this.#height + by); // what no play comes to may take more than is there
  }
}

/** The section of a memory that has no more pages than that. */
function memoryOf(section, pages) {
  const [count, limits, least] = [section.number(), section.byte(), section.number()];
  const most = limits & 1 ? section.number() : pages;
  if (count !== 1 || limits > 1) throw new RangeError("it has no memory such as ours");
  if (least > pages) throw new RangeError(`it wants ${least} pages of memory, of ${pages} at most`);
  const contents = [1, 1, ...leb128(least), ...leb128(Math.min(most, pages))];
  return Uint8Array.of(MEMORY, ...leb128(contents.length), ...contents);
}

function leb128(number) {
  const bytes = [];
  for (; number > 127; number >>>= 7) bytes.push((number & 127) | 128);
  return [...bytes, number];
}

function joined(parts) {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A module that comes with Node. Bundlers for browsers refuse its name where they can read it. */
export const ofNode = (name) => import(`node:${name}`);
