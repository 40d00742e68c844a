/**
 * What rules need of Python, for rules that were translated to JavaScript.
 *
 * Ints are BigInts, floats Numbers, truth values booleans, text strings, None null; lists are arrays, tuples frozen ones,
 * dicts Maps and sets Sets. What Python does not do either throws.
 */

const isNumber = (item) => typeof item === "bigint" || typeof item === "number" || typeof item === "boolean";

function whole(item) {
  if (typeof item === "bigint") return item;
  if (typeof item === "boolean") return item ? 1n : 0n;
  throw new TypeError(`${item} is no whole number`);
}

/** An operator on two numbers: on whole ones, and on Numbers where one of them is a float. */
function onNumbers(exact, real) {
  return (a, b) => {
    if (typeof a === "bigint" && typeof b === "bigint") return exact(a, b);
    if (!isNumber(a) || !isNumber(b)) throw new TypeError("an operator takes numbers here");
    return typeof a === "number" || typeof b === "number" ? real(Number(a), Number(b)) : exact(whole(a), whole(b));
  };
}

const plus = onNumbers((a, b) => a + b, (a, b) => a + b);
const times = onNumbers((a, b) => a * b, (a, b) => a * b);
const divisor = (b) => {
  if (b == 0) throw new RangeError("division by zero");
  return b;
};

export const sub = onNumbers((a, b) => a - b, (a, b) => a - b);
export const mod = onNumbers(
  (a, b) => ((a % divisor(b)) + b) % b,
  (a, b) => a - Math.floor(a / divisor(b)) * b,
);
export const floordiv = onNumbers(
  (a, b) => (a - mod(a, b)) / b,
  (a, b) => Math.floor(a / divisor(b)),
);
export const div = onNumbers(
  (a, b) => Number(a) / Number(divisor(b)),
  (a, b) => a / divisor(b),
);
export const pow = onNumbers(
  (a, b) => (b < 0n ? Number(a) ** Number(b) : a ** b),
  (a, b) => a ** b,
);
export const lshift = (a, b) => whole(a) << places(b);
export const rshift = (a, b) => whole(a) >> places(b);
export const and = bitwise((a, b) => a & b);
export const or = bitwise((a, b) => a | b);
export const xor = bitwise((a, b) => a ^ b);
export const invert = (a) => ~whole(a);
export const negative = (a) => (typeof a === "number" ? -a : -whole(a));

function places(count) {
  const number = whole(count);
  if (number < 0n || number > 65536n) throw new RangeError("a shift by less than 0, or by too many places");
  return number;
}

function bitwise(operator) {
  return (a, b) => {
    const result = operator(whole(a), whole(b));
    return typeof a === "boolean" && typeof b === "boolean" ? result !== 0n : result;
  };
}

export function add(a, b) {
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return like(a, [...a, ...b]);
  return plus(a, b);
}

/** `a += b`: lists grow in place. */
export function increased(a, b) {
  if (!Array.isArray(a) || Object.isFrozen(a)) return add(a, b);
  a.push(...iter(b));
  return a;
}

export function mul(a, b) {
  if (typeof b === "string" || Array.isArray(b)) [a, b] = [b, a];
  const count = () => Math.max(0, Number(whole(b)));
  if (typeof a === "string") return a.repeat(count());
  if (Array.isArray(a)) return like(a, Array.from({ length: count() }, () => a).flat());
  return times(a, b);
}

/** An array that is a tuple where the model is one. */
const like = (model, items) => (Object.isFrozen(model) ? Object.freeze(items) : items);

export const truth = (item) => (typeof item === "boolean" ? item : isNumber(item) ? item != 0 : item !== null && size(item) !== 0);
export const both = (...parts) => firstOf(parts, false);
export const either = (...parts) => firstOf(parts, true);

/** The first of the parts, which are called for it, whose truth is the wanted one, or the last. */
function firstOf(parts, wanted) {
  let item;
  for (const part of parts) if (truth((item = part())) === wanted) break;
  return item;
}

export function eq(a, b) {
  if (isNumber(a) && isNumber(b)) return a == b;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, place) => eq(item, b[place]));
  return a === b;
}

export const ne = (a, b) => !eq(a, b);
export const lt = (a, b) => compared(a, b) < 0;
export const le = (a, b) => compared(a, b) <= 0;
export const gt = (a, b) => compared(a, b) > 0;
export const ge = (a, b) => compared(a, b) >= 0;
export const isIn = (item, items) => (items instanceof Map || items instanceof Set ? items.has(key(item)) : includes(items, item));
export const notIn = (item, items) => !isIn(item, items);

function compared(a, b) {
  if ((isNumber(a) && isNumber(b)) || (typeof a === "string" && typeof b === "string")) return a < b ? -1 : a > b ? 1 : 0;
  if (!Array.isArray(a) || !Array.isArray(b)) throw new TypeError("these have no order");
  const differs = a.findIndex((item, place) => place >= b.length || !eq(item, b[place]));
  return differs < 0 ? a.length - b.length : differs >= b.length ? 1 : compared(a[differs], b[differs]);
}

function includes(items, item) {
  if (typeof items === "string") return items.includes(item);
  for (const one of iter(items)) if (eq(one, item)) return true;
  return false;
}

/** What a dict or set knows a number or text by. */
function key(item) {
  if (typeof item === "string" || typeof item === "bigint") return item;
  return whole(item);
}

/** Whole numbers from `start` on, before `stop`. */
class Range {
  /**
   * @param {bigint} start
   * @param {bigint} stop
   * @param {bigint} step
   */
  constructor(start, stop, step) {
    if (step === 0n) throw new RangeError("range() takes steps");
    const count = step > 0n ? (stop - start + step - 1n) / step : (start - stop - step - 1n) / -step;
    this.start = start;
    this.step = step;
    this.length = count > 0n ? Number(count) : 0;
  }
  at(place) {
    return this.start + BigInt(place) * this.step;
  }
  *[Symbol.iterator]() {
    for (let place = 0, item = this.start; place < this.length; place++, item += this.step) yield item;
  }
}

export function range(first, stop, step = 1n) {
  return stop === undefined ? new Range(0n, whole(first), 1n) : new Range(whole(first), whole(stop), whole(step));
}

function size(item) {
  if (typeof item === "string") return [...item].length;
  return item.length ?? item.size;
}

/** What a loop runs over. */
export function iter(items) {
  if (items instanceof Map) return items.keys();
  if (items === null || typeof items?.[Symbol.iterator] !== "function") throw new TypeError("there is nothing to loop over");
  return items;
}

export function at(items, index) {
  if (items instanceof Map) {
    if (!items.has(key(index))) throw new RangeError(`no key ${index}`);
    return items.get(key(index));
  }
  if (Array.isArray(index)) return index.reduce(at, items); // of an array of arrays
  const row = typeof items === "string" ? [...items] : items;
  const place = placed(row, index);
  return row instanceof Range ? row.at(place) : row[place];
}

export function put(items, index, item) {
  if (items instanceof Map) items.set(key(index), item);
  else items[placed(items, index)] = item;
}

function placed(items, index) {
  const number = Number(whole(index));
  const place = number < 0 ? number + items.length : number;
  if (!(place >= 0 && place < items.length)) throw new RangeError(`no item ${index}`);
  return place;
}

export function slice(items, start, stop, step) {
  const row = [...items];
  const by = step === null ? 1 : Number(step);
  const clipped = (bound, otherwise, low, high) => {
    if (bound === null) return otherwise;
    const place = Number(bound) < 0 ? Number(bound) + row.length : Number(bound);
    return Math.min(Math.max(place, low), high);
  };
  const [low, high] = by > 0 ? [0, row.length] : [-1, row.length - 1];
  const first = clipped(start, by > 0 ? 0 : row.length - 1, low, high);
  const end = clipped(stop, by > 0 ? row.length : -1, low, high);
  const found = [];
  for (let place = first; by > 0 ? place < end : place > end; place += by) found.push(row[place]);
  return typeof items === "string" ? found.join("") : like(items, found);
}

export const tuple = (items = []) => Object.freeze([...iter(items)]);
export const list = (items = []) => [...iter(items)];
export const set = (items = []) => new Set([...iter(items)].map(key));
export const dict = (pairs = []) => new Map([...pairs].map(([name, item]) => [key(name), item]));
export const len = (items) => BigInt(size(items));
export const abs = (a) => (lt(a, 0n) ? negative(a) : typeof a === "number" ? a : whole(a));
export const bool = (item = false) => truth(item);
export const float = (item = 0) => Number(item);
export const ord = (letter) => BigInt(letter.codePointAt(0));
export const chr = (number) => String.fromCodePoint(Number(number));
export const divmod = (a, b) => tuple([floordiv(a, b), mod(a, b)]);
export const all = (items) => !includesTruth(items, false);
export const any = (items) => includesTruth(items, true);
export const reversed = (items) => [...iter(items)].reverse();
/** @type {(options?: any, ...items: any[]) => any} */
export const min = ({ key: by, default: otherwise } = {}, ...items) => least(items, otherwise, (a, b) => lt(a, b), by);
/** @type {(options?: any, ...items: any[]) => any} */
export const max = ({ key: by, default: otherwise } = {}, ...items) => least(items, otherwise, (a, b) => gt(a, b), by);

function includesTruth(items, wanted) {
  for (const item of iter(items)) if (truth(item) === wanted) return true;
  return false;
}

function least(items, otherwise, isLess, by = (item) => item) {
  const row = items.length === 1 ? [...iter(items[0])] : items;
  if (!row.length && otherwise === undefined) throw new RangeError("there is no least and no most of nothing");
  return row.length ? row.reduce((best, item) => (isLess(by(item), by(best)) ? item : best)) : otherwise;
}

export function sum(items, start = 0n) {
  let total = start;
  for (const item of iter(items)) total = add(total, item);
  return total;
}

export function sorted({ key: by = (item) => item, reverse = false } = {}, items) {
  const sign = truth(reverse) ? -1 : 1;
  return [...iter(items)].sort((a, b) => sign * compared(by(a), by(b)));
}

/** @param {any} item */
export function int(item = 0n) {
  if (typeof item === "number") return BigInt(Math.trunc(item));
  return typeof item === "string" ? BigInt(item.trim()) : whole(item);
}

export function* enumerate(items, start = 0n) {
  for (const item of iter(items)) yield Object.freeze([start++, item]);
}

export function* zip(...rows) {
  const walks = rows.map((row) => iter(row)[Symbol.iterator]());
  while (walks.length) {
    const steps = walks.map((walk) => walk.next());
    if (steps.some((step) => step.done)) return;
    yield Object.freeze(steps.map((step) => step.value));
  }
}

export function* map(call, ...rows) {
  for (const items of zip(...rows)) yield call(...items);
}

export function* filter(call, items) {
  for (const item of iter(items)) if (truth(call === null ? item : call(item))) yield item;
}

export function bin(number) {
  const digits = whole(number);
  return digits < 0n ? `-0b${(-digits).toString(2)}` : `0b${digits.toString(2)}`;
}

/** @param {any} item */
export function str(item = "") {
  if (item === null) return "None";
  if (typeof item === "boolean") return item ? "True" : "False";
  if (typeof item === "number" && Number.isInteger(item)) return item.toFixed(1);
  if (typeof item === "object") throw new TypeError("lists have no text here");
  return String(item);
}

/** A value as an f-string writes it. */
export function format(item, spec) {
  const match = /^(?:(.)?([<>^=]))?([-+ ])?(0)?(\d+)?(?:\.(\d+))?([dsfb])?$/su.exec(spec);
  if (!match) throw new TypeError(`the format ${spec} is not known here`);
  const [, fill, way, sign, zero, width, precision, kind] = match;
  let text = typeof item === "boolean" && kind === "d" ? String(whole(item)) : str(item);
  if (kind === "f" || (precision !== undefined && isNumber(item))) text = Number(item).toFixed(Number(precision ?? 6));
  else if (kind === "b") text = bin(item).replace("0b", "");
  else if (precision !== undefined) text = slice(text, null, BigInt(precision), null);
  if (isNumber(item) && (sign === "+" || sign === " ") && !text.startsWith("-")) text = sign + text;
  const align = way ?? (zero ? "=" : isNumber(item) ? ">" : "<");
  const missing = Math.max(0, Number(width ?? 0) - size(text));
  const pad = (count) => (fill ?? (zero ? "0" : " ")).repeat(count);
  if (align === "<") return text + pad(missing);
  if (align === "^") return pad(Math.floor(missing / 2)) + text + pad(Math.ceil(missing / 2));
  const head = align === "=" && /^[-+ ]/.test(text) ? 1 : 0;
  return text.slice(0, head) + pad(missing) + text.slice(head);
}

function stripped(text, letters, left, right) {
  const row = [...text];
  const gone = (letter) => (letters === undefined || letters === null ? /\s/.test(letter) : letters.includes(letter));
  while (left && row.length && gone(row[0])) row.shift();
  while (right && row.length && gone(row.at(-1))) row.pop();
  return row.join("");
}

function indexOf(items, item) {
  const place = [...items].findIndex((one) => eq(one, item));
  if (place < 0) throw new RangeError("there is no such item");
  return BigInt(place);
}

/** A text, and nothing that would only be taken for one. */
function textOf(part) {
  if (typeof part !== "string") throw new TypeError("a text is wanted");
  return part;
}

const padded = (align) => (text, width, fill = " ") => format(text, `${fill}${align}${width}`);

const METHODS = {
  bit_length: (number) => (whole(number) ? BigInt(bin(number).replace(/-?0b/, "").length) : 0n),
  bit_count: (number) => BigInt(bin(number).replace(/[^1]/g, "").length),
  join: (glue, items) => [...iter(items)].join(glue),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  strip: (text, letters) => stripped(text, letters, true, true),
  lstrip: (text, letters) => stripped(text, letters, true, false),
  rstrip: (text, letters) => stripped(text, letters, false, true),
  replace: (text, old, fresh) => text.replaceAll(old, () => fresh),
  startswith: (text, part) => text.startsWith(textOf(part)),
  endswith: (text, part) => text.endsWith(textOf(part)),
  split: (text, glue) => (glue === undefined ? text.trim().split(/\s+/).filter(Boolean) : text.split(glue)),
  ljust: padded("<"),
  rjust: padded(">"),
  center: padded("^"),
  count: (items, item) =>
    BigInt(typeof items === "string" ? items.split(item).length - 1 : [...items].filter((one) => eq(one, item)).length),
  index: (items, item) => (typeof items === "string" ? indexOf([...items], item) : indexOf(items, item)),
  append: (items, item) => (items.push(item), null),
  extend: (items, more) => (items.push(...iter(more)), null),
  pop: (items, index = -1n) => items.splice(placed(items, index), 1)[0],
  insert: (items, index, item) => (items.splice(Number(index), 0, item), null),
  reverse: (items) => (items.reverse(), null),
  copy: (items) => [...items],
  get: (items, name, otherwise = null) => (items.has(key(name)) ? items.get(key(name)) : otherwise),
  keys: (items) => [...items.keys()],
  values: (items) => [...items.values()],
  items: (items) => [...items].map((pair) => Object.freeze(pair)),
  add: (items, item) => (items.add(key(item)), null),
};

/** `item.name(...)` of what Python has built in. */
export const call = (item, name, ...parts) => METHODS[name](item, ...parts);
