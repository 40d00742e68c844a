/** Operators and functions of Python on numbers of JavaScript. The figures are Python's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as py from "../../solver/web/site/python.js";

test("division rounds down, and the rest has the sign of the divisor", () => {
  assert.deepEqual(py.divmod(-7n, 2n), [-4n, 1n]);
  assert.deepEqual(py.divmod(7n, -2n), [-4n, -1n]);
  assert.throws(() => py.floordiv(1n, 0n), RangeError);
});

test("numbers are equal across their kinds", () => {
  assert.ok(py.eq(1n, 1));
  assert.ok(py.eq(true, 1n));
  assert.ok(py.isIn(true, py.set([1n, 2n])));
});

test("ranges go either way and may be empty", () => {
  assert.deepEqual([...py.range(5n, 0n, -2n)], [5n, 3n, 1n]);
  assert.equal(py.len(py.range(3n, 3n)), 0n);
});

test("the least and the most take a key and a default", () => {
  assert.equal(py.min({ key: (item) => -item }, 1n, 3n, 2n), 3n);
  assert.equal(py.max({ default: 0n }, []), 0n);
  assert.throws(() => py.max({}, []), RangeError);
});

test("indices count from the end, too", () => {
  assert.equal(py.at([1n, 2n, 3n], -1n), 3n);
  assert.throws(() => py.at([1n], 1n), RangeError);
});
