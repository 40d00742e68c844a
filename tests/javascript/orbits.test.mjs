/** Numbers of positions up to symmetry: each is that of one position, and as many as Burnside counts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { byOrbits } from "../../solver/web/reader/orbits.js";

const POINTS = 6n;
const turn = [...Array(6).keys()].map((point) => BigInt((point + 1) % 6));
const mirror = [...Array(6).keys()].map((point) => BigInt(5 - point));
const TABLES = [
  [4n, 2n, 2n],
  [0n, 0n, 0n],
  [1n, 0n, 1n],
];

test("numbers are those of positions, by tables in the order of their tiers", () => {
  const { rank, unrank } = byOrbits(() => [turn, mirror], () => TABLES, (state) => state >> (2n * POINTS));
  // One empty board, one man in one orbit, and three orbits of two men with six pairs of free points
  const positions = [...Array(20).keys()].map((number) => unrank(BigInt(number)));
  assert.deepEqual(positions.map(rank), [...Array(20).keys()].map(BigInt));
  assert.equal(positions[0], 0n);
  assert.equal(positions[1], (1n << POINTS) | (1n << (2n * POINTS)));
  assert.equal(new Set(positions).size, 20);
  assert.equal(unrank(20n), -1n);
  assert.equal(unrank(-1n), -1n);
});

test("what is no position has no number", () => {
  const { rank } = byOrbits(() => [turn], () => TABLES, undefined);
  assert.equal(rank(1n | (1n << POINTS) | (1n << (2n * POINTS))), -1n);
  assert.equal(rank((2n << POINTS) | (1n << (2n * POINTS))), -1n);
  assert.equal(rank(1n << 20n), -1n);
});
