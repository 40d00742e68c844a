/**
 * Python's syntax, operators and functions, for rules that run in a page.
 *
 * `game.js` has the rules as calls of what stands here under the names of Python's module `ast`: `state + 1` is
 * BinOp(Name(1), Add, Constant(1n)). Each makes a function of a frame: the variables of one call by their numbers, of which
 * 0 is the result. Statements answer why what follows them is left out, if it is.
 *
 * Ints are BigInts, truth values booleans, text strings, None null; lists, tuples and sets are arrays, dicts Maps.
 * Generators and ranges are lists of all that is in them, MOST at most; there are no floats. What Python does not do either throws.
 */

const [RETURN, BREAK, CONTINUE] = ["return", "break", "continue"];
const MOST = 1_000_000;

// functions and statements

/**
 * A function, whose statements `body` makes when it is first called: they may name functions that come later. The result of
 * one that `yields` is the list of that.
 */
export function define(yields, body) {
  let run;
  return (...values) => {
    run ??= block(body());
    const items = yields ? [] : null; // what it returns at its end is no item
    const frame = [items, ...values];
    run(frame);
    return items ?? frame[0];
  };
}

/** Statements, one after the other, until one leaves. */
const block = (statements) => (frame) => {
  for (const statement of statements) {
    const left = statement(frame);
    if (left) return left;
  }
  return undefined;
};

/** @param {any} [value] */
export const Return = (value) => (frame) => {
  if (value) frame[0] = value(frame);
  return RETURN;
};

export const Break = () => () => BREAK;
export const Continue = () => () => CONTINUE;
export const Pass = () => () => undefined;

export const Expr = (value) => (frame) => {
  value(frame);
};

export const Yield = (value) => (frame) => put(frame[0], value(frame));
export const YieldFrom = (items) => (frame) => {
  for (const item of iter(items(frame))) put(frame[0], item);
};

/** Put an item behind others; a generator without end is ended here. */
function put(items, item) {
  if (items.length >= MOST) throw new RangeError(`more than ${MOST} items of a generator or a range`);
  items.push(item);
}

export const Assign = (targets, value) => (frame) => {
  const item = value(frame);
  for (const store of targets) store(frame, item);
};

export function If(test, body, otherwise) {
  const [yes, no] = [block(body), block(otherwise)];
  return (frame) => (truth(test(frame)) ? yes : no)(frame);
}

export const While = (test, body) => For(() => undefined, function* (frame) {
  while (truth(test(frame))) yield;
}, body);

export function For(store, items, body) {
  const run = block(body);
  return (frame) => {
    for (const item of iter(items(frame))) {
      store(frame, item);
      const left = run(frame);
      if (left === RETURN) return left;
      if (left === BREAK) break;
    }
    return undefined;
  };
}

export const Raise = (text) => (frame) => {
  throw new Error(text(frame));
};

// what is assigned to

export const ToName = (place) => (frame, item) => {
  frame[place] = item;
};

export const ToTuple = (targets) => (frame, items) => {
  const found = list(items);
  if (found.length !== targets.length) throw new RangeError("as many items as variables are wanted");
  targets.forEach((store, place) => store(frame, found[place]));
};

export const ToSubscript = (items, index) => (frame, item) => {
  const row = items(frame);
  row[placed(row, index(frame))] = item;
};

// expressions

export const Constant = (item) => () => item;
export const Name = (place) => (frame) => frame[place];
export const BinOp = (left, operator, right) => (frame) => operator(left(frame), right(frame));
export const UnaryOp = (operator, operand) => (frame) => operator(operand(frame));
export const IfExp = (test, body, otherwise) => (frame) => (truth(test(frame)) ? body : otherwise)(frame);

export const BoolOp = (last, parts) => (frame) => {
  let item;
  for (const part of parts) if (truth((item = part(frame))) === last) break;
  return item;
};

/** The items of a row: `*items` stands for several. */
function row(parts) {
  if (!parts.some(({ isStarred }) => isStarred)) return (frame) => parts.map((part) => part(frame));
  return (frame) => parts.flatMap((part) => (part.isStarred ? part(frame) : [part(frame)]));
}

export const Starred = (items) => Object.assign((frame) => list(items(frame)), { isStarred: true });
export const List = row;
export const Tuple = row;

export function Call(call, parts) {
  const items = row(parts);
  return (frame) => call(...items(frame));
}

/** `item.name(...)` of what Python has built in. */
export function Method(item, name, parts) {
  const [call, items] = [METHODS[name], row(parts)];
  return (frame) => call(item(frame), ...items(frame));
}

export const comprehension = (store, items, tests) => ({ store, items, tests });

export function ListComp(item, clauses) {
  const last = (frame, found) => found.push(item(frame));
  const fill = clauses.reduceRight((inner, { store, items, tests }) => (frame, found) => {
    for (const one of iter(items(frame))) {
      store(frame, one);
      if (tests.every((test) => truth(test(frame)))) inner(frame, found);
    }
  }, last);
  return (frame) => {
    const found = [];
    fill(frame, found);
    return found;
  };
}

export function Subscript(items, index) {
  if (!index.bounds) return (frame) => at(items(frame), index(frame));
  return (frame) => slice(items(frame), ...index.bounds.map((bound) => bound && bound(frame)));
}

export const Slice = (...bounds) => ({ bounds });
export const JoinedStr = (parts) => (frame) => parts.map((part) => part(frame)).join("");
export const FormattedValue = (value, conversion, spec) => (frame) => format(value(frame), spec ? spec(frame) : "");

// operators

function whole(item) {
  if (typeof item === "bigint") return item;
  if (typeof item === "boolean") return item ? 1n : 0n;
  throw new TypeError(`${item} is not a whole number`);
}

/** An operator on whole numbers. */
const onWhole = (exact) => (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? exact(a, b) : exact(whole(a), whole(b)));

/** The same, whose result is a truth value where both are. */
function onBits(exact) {
  const onInts = onWhole(exact);
  return (a, b) => (typeof a === "boolean" && typeof b === "boolean" ? truth(onInts(a, b)) : onInts(a, b));
}

const remainder = (a, b) => ((a % b) + b) % b;
const plus = onWhole((a, b) => a + b);
const times = onWhole((a, b) => a * b);

export const Sub = onWhole((a, b) => a - b);
export const Mod = onWhole(remainder);
export const FloorDiv = onWhole((a, b) => (a - remainder(a, b)) / b);
export const Pow = onWhole((a, b) => a ** b);
export const pow = Pow;
export const LShift = onWhole((a, b) => a << places(b));
export const RShift = onWhole((a, b) => a >> places(b));
export const BitAnd = onBits((a, b) => a & b);
export const BitOr = onBits((a, b) => a | b);
export const BitXor = onBits((a, b) => a ^ b);
export const Invert = (a) => ~whole(a);
export const USub = (a) => -whole(a);
export const Not = (a) => !truth(a);
export const And = false; // the truth at which it ends
export const Or = true;

function places(count) {
  if (count < 0n || count > 65536n) throw new RangeError("a shift by less than 0, or by too many places");
  return count;
}

export function Add(a, b) {
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  return plus(a, b);
}

export function Mult(a, b) {
  if (typeof b === "string" || Array.isArray(b)) [a, b] = [b, a];
  const count = () => Math.max(0, Number(whole(b)));
  if (typeof a === "string") return a.repeat(count());
  if (Array.isArray(a)) return Array.from({ length: count() }, () => a).flat();
  return times(a, b);
}

const isNumber = (item) => typeof item === "bigint" || typeof item === "boolean";

export const truth = (item) => (typeof item === "boolean" ? item : typeof item === "bigint" ? item !== 0n : item !== null && size(item) !== 0);

export function Eq(a, b) {
  if (isNumber(a) && isNumber(b)) return a == b;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, place) => Eq(item, b[place]));
  return a === b;
}

export const NotEq = (a, b) => !Eq(a, b);
export const Lt = (a, b) => compared(a, b) < 0;
export const LtE = (a, b) => compared(a, b) <= 0;
export const Gt = (a, b) => compared(a, b) > 0;
export const GtE = (a, b) => compared(a, b) >= 0;
export const Is = (a, b) => a === b;
export const IsNot = (a, b) => a !== b;
export const NotIn = (item, items) => !In(item, items);

export function In(item, items) {
  if (items instanceof Map) return items.has(key(item));
  if (typeof items === "string") return items.includes(item);
  return items.some((one) => Eq(one, item));
}

function compared(a, b) {
  if ((isNumber(a) && isNumber(b)) || (typeof a === "string" && typeof b === "string")) return a < b ? -1 : a > b ? 1 : 0;
  if (!Array.isArray(a) || !Array.isArray(b)) throw new TypeError("these have no order");
  const differs = a.findIndex((item, place) => place >= b.length || !Eq(item, b[place]));
  return differs < 0 ? a.length - b.length : differs >= b.length ? 1 : compared(a[differs], b[differs]);
}

/** What a dict knows a number, a truth value or text by: 1.0 and True are 1. */
const key = (item) => (typeof item === "boolean" || Number.isInteger(item) ? BigInt(item) : item);

const size = (item) => (typeof item === "string" ? [...item].length : item.length ?? item.size);

/** What a loop runs over. */
function iter(items) {
  if (items instanceof Map) return items.keys();
  if (items === null || typeof items?.[Symbol.iterator] !== "function") throw new TypeError("there is nothing to loop over");
  return items;
}

function at(items, index) {
  if (items instanceof Map) {
    if (!items.has(key(index))) throw new RangeError(`no key ${index}`);
    return items.get(key(index));
  }
  if (Array.isArray(index)) return index.reduce(at, items); // of an array of arrays
  const row = typeof items === "string" ? [...items] : items;
  return row[placed(row, index)];
}

function placed(items, index) {
  const number = Number(whole(index));
  const place = number < 0 ? number + items.length : number;
  if (!(place >= 0 && place < items.length)) throw new RangeError(`no item ${index}`);
  return place;
}

function slice(items, start, stop, step) {
  const row = [...items];
  const by = Number(step ?? 1n);
  const [low, high] = by > 0 ? [0, row.length] : [-1, row.length - 1];
  const clipped = (bound, otherwise) => (bound === null ? otherwise : Math.min(Math.max(Number(bound) + (bound < 0n ? row.length : 0), low), high));
  const [first, end] = by > 0 ? [clipped(start, low), clipped(stop, high)] : [clipped(start, high), clipped(stop, low)];
  const found = [];
  for (let place = first; by > 0 ? place < end : place > end; place += by) found.push(row[place]);
  return typeof items === "string" ? found.join("") : found;
}

// functions that Python has built in

export const list = (items = []) => [...iter(items)];
export const tuple = list;
export const dict = (pairs) => new Map(pairs.map(([name, item]) => [key(name), item]));
export const len = (items) => BigInt(size(items));
export const abs = (a) => (Lt(a, 0n) ? USub(a) : whole(a));
export const bin = (number) => `${number < 0n ? "-" : ""}0b${abs(number).toString(2)}`;
export const bool = truth;
export const ord = (letter) => BigInt(letter.codePointAt(0));
export const chr = (number) => String.fromCodePoint(Number(number));
export const divmod = (a, b) => [FloorDiv(a, b), Mod(a, b)];
export const all = (items) => [...iter(items)].every(truth);
export const any = (items) => [...iter(items)].some(truth);
export const sum = (items, start = 0n) => [...iter(items)].reduce(Add, start);
export const sorted = (items) => [...iter(items)].sort(compared);
export const reversed = (items) => [...iter(items)].reverse();
export const enumerate = (items, start = 0n) => [...iter(items)].map((item, place) => [start + BigInt(place), item]);
export const map = (call, ...rows) => zip(...rows).map((items) => call(...items));
export const min = (...items) => least(items, Lt);
export const max = (...items) => least(items, Gt);

function least(items, isLess) {
  const row = items.length === 1 ? [...iter(items[0])] : items;
  if (!row.length) throw new RangeError("there is no least and no most of nothing");
  return row.reduce((best, item) => (isLess(item, best) ? item : best));
}

export function range(first, stop, step = 1n) {
  const [start, end] = stop === undefined ? [0n, whole(first)] : [whole(first), whole(stop)];
  if (step === 0n) throw new RangeError("range() takes steps");
  const found = [];
  for (let item = start; step > 0n ? item < end : item > end; item += step) put(found, item);
  return found;
}

export function zip(...rows) {
  const lists = rows.map(list);
  const length = Math.min(...lists.map((items) => items.length));
  return Array.from({ length }, (_, place) => lists.map((items) => items[place]));
}

export const int = (item = 0n) => (typeof item === "string" ? BigInt(/^\s*[-+]?\d+\s*$/.test(item) ? item : NaN) : whole(item));

/** @param {any} item */
export function str(item = "") {
  if (item === null) return "None";
  if (typeof item === "boolean") return item ? "True" : "False";
  if (typeof item === "object") throw new TypeError("lists have no text here");
  return String(item);
}

/** A value as an f-string writes it, filled up to a width; zeros stand behind a minus unless it says where to fill. */
function format(item, spec) {
  if (spec && typeof item === "boolean") return format(whole(item), spec);
  const [, fill, way, zero, width] = /^(?:(.)?([<>^]))?(0?)(\d*)/su.exec(spec) ?? [];
  const minus = zero && !way && item < 0n ? "-" : "";
  const align = way ?? (isNumber(item) ? ">" : "<");
  return minus + padded(str(item).slice(minus.length), Number(width) - minus.length, fill ?? (zero || " "), align);
}

function padded(text, width, fill, align) {
  const missing = Math.max(0, Number(width) - size(text));
  const before = { "<": 0, ">": missing, "^": Math.floor(missing / 2) }[align];
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

function indexOf(items, item) {
  const place = typeof items === "string" ? items.indexOf(item) : items.findIndex((one) => Eq(one, item));
  if (place < 0) throw new RangeError("there is no such item");
  return typeof items === "string" ? BigInt(size(items.slice(0, place))) : BigInt(place);
}

const METHODS = {
  bit_length: (number) => BigInt(whole(number) ? abs(number).toString(2).length : 0),
  bit_count: (number) => BigInt(abs(number).toString(2).replaceAll("0", "").length),
  join: (glue, items) => [...iter(items)].join(glue),
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
  strip: (text) => text.trim(),
  rstrip: (text, letters = " \n\t") => [...text].slice(0, [...text].findLastIndex((letter) => !letters.includes(letter)) + 1).join(""),
  split: (text, glue) => (glue === undefined ? text.trim().split(/\s+/).filter(Boolean) : text.split(glue)),
  replace: (text, old, fresh) => text.replaceAll(old, () => fresh),
  ljust: (text, width, fill = " ") => padded(text, width, fill, "<"),
  rjust: (text, width, fill = " ") => padded(text, width, fill, ">"),
  count: (items, item) => BigInt(typeof items === "string" ? items.split(item).length - 1 : items.filter((one) => Eq(one, item)).length),
  index: indexOf,
  append: (items, item) => (items.push(item), null),
  extend: (items, more) => (list(more).forEach((item) => items.push(item)), null),
  pop: (items, index = -1n) => items.splice(placed(items, index), 1)[0],
  get: (items, name, otherwise = null) => (items.has(key(name)) ? items.get(key(name)) : otherwise),
};
