/** Values in words and in order. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, inOrder, inWords, isSettled, kindOf, standing } from "../../solver/web/site/values.js";

const ABOUT = { scores: false };
const move = (score, distance) => ({ value: { score, distance } });
const SOON = move(1, 3);
const LATE = move(1, 9);
const DRAW = move(0, null);
const LOSS = move(-1, 4);

test("quick wins come first, then slow wins, draws and losses", () => {
  assert.deepEqual(inOrder([LOSS, DRAW, LATE, SOON]), [3, 2, 1, 0]);
  assert.deepEqual(inOrder([LOSS, { value: undefined }]), [0, 1]);
});

test("the move that leads somewhere is played before others that are as good", () => {
  assert.equal(chosen([{ ...SOON, best: true }, { ...SOON, best: true, leads: true }]).leads, true);
  assert.equal(chosen([]), undefined);
});

test("colours go by the outcome", () => {
  assert.deepEqual([SOON, DRAW, LOSS].map(({ value }) => kindOf(value, ABOUT)), ["win", "draw", "loss"]);
  assert.equal(kindOf(undefined, ABOUT).split(" ")[0], "unknown");
});

test("a win in 3 says so, and a margin has its sign", () => {
  assert.match(inWords(SOON.value, ABOUT), /3/);
  const margins = [3, -2, 0].map((score) => inWords({ score, distance: null }, { scores: true }));
  assert.deepEqual(margins, ["+3", "\u22122", "0"]);
});

test("the chart shows a near win higher than a far one, and the other side's below", () => {
  const share = (value, mover) => standing(value, { mover, gained: 0 }, ABOUT).share;
  assert.ok(share(SOON.value, 0) > share(LATE.value, 0));
  assert.equal(share(SOON.value, 0), -share(SOON.value, 1));
});

test("all is known where every move has its value", () => {
  assert.ok(isSettled({ value: SOON.value, moves: [SOON, LOSS] }));
  assert.ok(!isSettled({ value: SOON.value, moves: [SOON, { value: undefined }] }));
});
