/** Which men are marked where a game is over. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decisive, sideOf } from "../../solver/web/site/ending.js";

const ROWS = ["XXX", "OO.", "..."];

test("the row through the last move decides", () => {
  assert.deepEqual(decisive("alignment", ROWS, {}, [2]), [0, 1, 2]);
  assert.equal(sideOf([0, 1, 2], ROWS, {}), 0);
});

test("a chain is what hangs together with the last man", () => {
  assert.deepEqual(decisive("connection", ["X.X", "X.O", "XO."], {}, [6]).sort(), [0, 3, 6]);
});

test("games of other kinds have no such men", () => {
  assert.deepEqual(decisive("capture", ROWS, {}, [2]), []);
  assert.deepEqual(decisive("alignment", "no board", {}, [2]), []);
});
