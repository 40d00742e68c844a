/** What people type into a page: moves, or rows of a board and who is to move. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { asked } from "../../solver/web/site/setup.js";

/** A game whose states are boards: places in a list. */
const gameOf = (boards, move) => ({
  initial: 0n,
  mover: () => 0,
  moves: () => [{ name: move }],
  board: (state) => boards[state],
  from: (rows) => BigInt(boards.findIndex((board) => String(board) === String(rows))),
});
const NAMES = ["First player", "Second player"];

test("digits count empty cells, but on boards that have digits", () => {
  assert.deepEqual(asked(gameOf([["...", "X.."], [".o.", "X.."]], "a1"), NAMES, "1o1/X2 s - - 0 1", {}), { state: 1n, mover: 1 });
  assert.deepEqual(asked(gameOf([["50", "18"], ["32", "18"]], "32/18"), NAMES, "32/18 f", {}), { state: 1n, mover: 0 });
  assert.throws(() => asked(gameOf([["..."]], "a1"), NAMES, "4/ f", {}), /Rows are 1 of 3 cells/);
});

test("rows may have spaces where no cell is, and the last word says who moves", () => {
  const game = gameOf([["+.+", ". ."], ["+-+", ". ."]], "b2");
  assert.deepEqual(asked(game, NAMES, "+-+/. . f", {}), { state: 1n, mover: 0 });
  assert.throws(() => asked(game, NAMES, "+-+/. .", {}), /Rows|who is to move/);
});

test("moves with slashes are moves", () => {
  assert.deepEqual(asked(gameOf([["50", "18"]], "32/18"), NAMES, "32/18 14/18", {}), { moves: ["32/18", "14/18"] });
  assert.deepEqual(asked(gameOf([["..."]], "1"), NAMES, "12 3", {}), { moves: ["1", "2", "3"] });
});
