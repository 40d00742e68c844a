/** Operators and functions of Python on numbers of JavaScript. The figures are Python's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as py from "../../solver/web/site/python.js";

test("division rounds down, and the rest has the sign of the divisor", () => {
  assert.deepEqual(py.divmod(-7n, 2n), [-4n, 1n]);
  assert.deepEqual(py.divmod(7n, -2n), [-4n, -1n]);
  assert.throws(() => py.FloorDiv(1n, 0n), RangeError);
});

test("truth values are numbers, too", () => {
  assert.ok(py.Eq(true, 1n));
  assert.ok(py.In(true, [1n, 2n]));
  for (const one of [1n, 1, true]) assert.ok(py.In(one, py.dict([[true, "x"]])) && py.In(one, py.dict([[1, "x"]])));
  assert.ok(!py.In(1.5, py.dict([[1n, "x"]])));
});

test("texts that Python reads as no number are none", () => {
  assert.deepEqual([" 7\n", "-07", "+1"].map(py.int), [7n, -7n, 1n]);
  for (const text of ["", " ", "0x10", "1 2", "n"]) assert.throws(() => py.int(text), RangeError);
});

test("ranges go either way and may be empty", () => {
  assert.deepEqual([...py.range(5n, 0n, -2n)], [5n, 3n, 1n]);
  assert.equal(py.len(py.range(3n, 3n)), 0n);
});

test("nothing has no least and no most", () => {
  assert.equal(py.min(3n, 1n, 2n), 1n);
  assert.throws(() => py.max([]), RangeError);
});

test("indices count from the end, too", () => {
  const at = (items, index) => py.Subscript(py.Constant(items), py.Constant(index))([]);
  assert.equal(at([1n, 2n, 3n], -1n), 3n);
  assert.throws(() => at([1n], 1n), RangeError);
});
