/** Puzzles by their place and by the date. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Puzzles } from "../../solver/web/site/puzzles.js";

const LIST = ["a1", "b2", "c3"].map((move, place) => ({ state: String(place), goal: "win", distance: 3, move, difficulty: 1 }));
const DAY = 86400000;

test("an address names a puzzle by its number, or the one of the day", () => {
  const puzzles = new Puzzles(LIST, "digest");
  assert.equal(puzzles.place("2"), 1);
  assert.equal(puzzles.place("4"), undefined);
  assert.equal(puzzles.place("x"), undefined);
  assert.notEqual(puzzles.place("daily", 0), puzzles.place("daily", DAY));
  assert.equal(puzzles.place("daily", 5), puzzles.place("daily", DAY - 1));
});

test("a hint has the solution and others, the same each time", () => {
  const puzzles = new Puzzles(LIST, "digest");
  const hint = puzzles.hint(1, "b2", ["a1", "b2", "c3", "d4"]);
  assert.ok(hint.includes("b2") && hint.length <= 3);
  assert.deepEqual(puzzles.hint(1, "b2", ["a1", "b2", "c3", "d4"]), hint);
  assert.deepEqual(puzzles.hint(1, "b2", ["b2"]), ["b2"]);
});
