/** The board of a page: a cell shows and says the best of the moves that begin there. tests/web tries it on all games. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf } from "../../solver/web/site/layout.js";
import { areOpposite } from "../../solver/web/site/men.js";
import { check, viewsOf } from "../boards.mjs";

const DRAWING = { board: "checks", sides: ["white", "black"], men: { W: ["pawn", 0], b: ["pawn", 1] } };
const SAID = { 1: "win", "-1": "loss" };

/** A move with its value: the sooner a win and the later a loss, the better. */
const move = (name, place, score, distance, best = false) => ({
  ...{ name, place, best, child: "0", mover: 1, gain: 0, value: { score, distance } },
  ...{ merit: score * (1000 - distance), said: `${SAID[score]} in ${distance}` },
});

test("men of hexapawn 4 x 4 have the values of the player after b1b2 d4d3 b2b3", () => {
  // Black has two winning captures; the man of the slower one has a quiet move that loses, listed before it
  const moves = [
    move("d3d2", [7, 11], -1, 2),
    move("a4a3", [0, 4], -1, 2),
    move("a4b3", [0, 5], 1, 9),
    move("c4b3", [2, 5], 1, 7, true),
    move("c4c3", [2, 6], -1, 2),
  ];
  const board = { about: { drawing: DRAWING }, rows: ["bbb.", ".W.b", "....", "W.WW"], moves };
  const views = viewsOf(board);
  assert.deepEqual(check(board, views), { choices: 2, wrong: [] });
  assert.deepEqual(views.start.cells[0], ["win in 9", "a4: black pawn, 2 moves from here, at best win in 9"]);
  assert.deepEqual(views.start.cells[2], ["win in 7", "c4: black pawn, 2 moves from here, at best win in 7"]);
  assert.deepEqual(views[0].arrows, ["arrow loss", "arrow win"]);
});

test("an arrow of several moves has the colour of the best, as promotions have", () => {
  const [queen, knight] = [move("queen", [2, 0], 1, 1, true), move("knight", [2, 0], 1, 2)];
  for (const moves of [[queen, knight], [knight, queen]]) {
    const views = viewsOf({ about: { drawing: DRAWING }, rows: ["..", "P."], moves });
    assert.deepEqual(views.start.arrows, ["arrow win best"]);
    assert.equal(views.start.cells[2][0], "win in 1");
  }
});

test("a board of sides that face each other is turned for the second player, with its names", () => {
  assert.ok(areOpposite(["bbb", "...", "WWW"], DRAWING));
  for (const rows of [["...", "..."], ["bbb", "...", "W.W"], ["WWW", "...", "bbb"].join("/")]) assert.ok(!areOpposite(rows, DRAWING));
  assert.ok(!areOpposite(["b.", ".W"], { ...DRAWING, board: "plate" })); // where men fall
  const seen = [false, true].map((turned) => layoutOf(DRAWING, ["bb", "..", "WW"], { labels: "names", turned }));
  const [plain, turned] = seen.map(({ cells }) => cells.map(({ x, y }) => `${x} ${y}`));
  assert.deepEqual(turned, plain.toReversed());
  assert.deepEqual([seen[0].width, seen[0].height], [seen[1].width, seen[1].height]);
});
