/** Dice fall by their weights, and what a throw brings is told in the words of the board. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, legend, news, odds, thrown } from "../../solver/web/site/dice.js";
import { asObject } from "../../solver/web/site/share.js";

test("each outcome is thrown as often as its weight says, and the last one at the very end", () => {
  for (const [weights, counts] of [[[5, 4, 3, 2, 1], [1200, 960, 720, 480, 240]], [[1], [3600]]]) {
    const outcomes = weights.map((weight, name) => ({ weight, name }));
    const found = outcomes.map(() => 0);
    for (let at = 0; at < 3600; at++) found[thrown(outcomes, () => (at + 0.5) / 3600).name]++;
    assert.deepEqual(found, counts);
    assert.equal(thrown(outcomes, () => 1 - Number.EPSILON / 2).name, weights.length - 1);
  }
  assert.equal(odds({ weight: 5 }, [5, 4, 3, 2, 1].map((weight) => ({ weight }))), "5/15");
});

test("a throw is taken along by the names of `solver query --json`", () => {
  const moves = [3, 1].map((weight, at) => ({ name: String(at + 1), weight, child: BigInt(at), value: { score: 0.5, distance: null } }));
  const about = { game: "pig", expects: "utility", drawing: { dice: [[6, 5], [1, 1]] } };
  const { chances } = asObject(about, { state: 7n, mover: 0, gained: 0 }, { moves, byChance: true }, []);
  const first = { faces: "6-5", probability: 0.75, value: "expectation", score: 0.5, distance: null, child: { state: 0 } };
  assert.deepEqual(JSON.parse(JSON.stringify(chances))[0], first);
});

test("a move inside a throw changes cells, a throw without one does not", () => {
  assert.deepEqual(changed(["XX..oo"], ["XX..oo"]), []);
  assert.deepEqual(changed(["XX.", ".oo"], [".XX", ".oo"]), [0, 2]);
  assert.deepEqual(changed("player 1 throws", ["XX..oo"]), []);
});

// The texts that the rules show before and after a throw, and the rows of cells
const TOLD = [
  {
    before: "player 1: 0   player 2: 0   of 10\nplayer 1 throws, 0 in this turn",
    after: "player 1: 0   player 2: 0   of 10\nplayer 1 to move, 2 in this turn",
    rows: ["02", "00"],
    brings: "player 1 to move, 2 in this turn",
    beside: "player 1: 0   player 2: 0   of 10\nplayer 1 to move, 2 in this turn",
  },
  {
    before: "x: 1 home, 0 safe   o: 1 home, 0 safe\nx x . . o o\na b c d e f\nx throws",
    after: "x: 1 home, 0 safe   o: 1 home, 0 safe\nx x . . o o\na b c d e f\nx has thrown 2",
    rows: ["XX..oo"],
    brings: "x has thrown 2",
    beside: "x: 1 home, 0 safe   o: 1 home, 0 safe\nx has thrown 2",
  },
  {
    before: "3 . b a\n2 C . c\n1 A B .\n  a b c\nABC throws",
    after: "3 . b a\n2 C . c\n1 A B .\n  a b c\nABC has thrown 2",
    rows: [".ba", "C.c", "AB."],
    brings: "ABC has thrown 2",
    beside: "ABC has thrown 2",
  },
];

test("what a throw brings is the line that has changed; beside cells stands all but their rows and letters", () => {
  for (const { before, after, rows, brings, beside } of TOLD) {
    assert.equal(news(before, after), brings);
    assert.equal(legend(after, rows), beside);
  }
  assert.equal(news("a\nb", "c\nd"), "");
  assert.equal(news("#12", "#15"), ""); // of a game without `show`
});
