/** Which men are marked where a game is over: of random games, by brute force over lines and edges. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { decisive, sideOf } from "../../solver/web/site/ending.js";

const ROWS = ["XXX", "OO.", "..."];
const MEN = { men: { X: /** @type {const} */ (["cross", 0]), o: /** @type {const} */ (["ring", 1]) } };

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function random(seed = 1) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Put men of two sides in turn on random cells until the last one ends the game; what ended it, or null where nothing did. */
function played(width, height, marks, ends, chance) {
  const cells = Array(width * height).fill(".");
  const free = [...cells.keys()];
  for (let ply = 0; free.length; ply++) {
    const [last] = free.splice(Math.floor(chance() * free.length), 1);
    cells[last] = marks[ply % 2];
    const rows = Array.from({ length: height }, (_, y) => cells.slice(y * width, (y + 1) * width).join(""));
    const ending = ends(rows, last);
    if (ending) return { rows, last, side: ply % 2, ending };
  }
  return null;
}

/** All straight lines of so many equal men through a cell. */
function linesThrough(rows, length, last) {
  const [width, height] = [rows[0].length, rows.length];
  const found = [];
  for (let cell = 0; cell < width * height; cell++) {
    for (const [dx, dy] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      const places = Array.from({ length }, (_, step) => [(cell % width) + step * dx, Math.floor(cell / width) + step * dy]);
      const line = places.map(([x, y]) => y * width + x);
      const isInside = places.every(([x, y]) => x >= 0 && x < width && y >= 0 && y < height);
      const isEqual = isInside && new Set(places.map(([x, y]) => rows[y][x])).size === 1;
      if (isEqual && line.includes(last)) found.push(line);
    }
  }
  return found.length ? found : null;
}

for (const [width, height, length] of [[5, 4, 4], [3, 3, 3], [4, 4, 3]]) {
  test(`${length} men in a row on ${width} x ${height} are marked`, () => {
    const chance = random();
    let checked = 0;
    while (checked < 200) {
      const game = played(width, height, "Xo", (rows, last) => linesThrough(rows, length, last), chance);
      if (!game) continue;
      checked++;
      const cells = decisive("alignment", game.rows, MEN, [game.last]);
      assert.equal(sideOf(cells, game.rows, MEN), game.side);
      assert.ok(cells.every((cell) => game.ending.some((line) => line.includes(cell))));
      assert.ok(game.ending.some((line) => line.every((cell) => cells.includes(cell))));
    }
  });
}

test("a chain from edge to edge of hexagons is marked", () => {
  const chance = random();
  const size = 4;
  // Whether men that hang together reach both edges: a flood from one edge, not from the last man
  const ends = (rows, last) => {
    const mark = rows[Math.floor(last / size)][last % size];
    const edge = [...Array(size).keys()].map((at) => (mark === "X" ? [at, 0] : [0, at]));
    const seen = new Set(edge.filter(([x, y]) => rows[y][x] === mark).map(([x, y]) => y * size + x));
    for (const cell of seen) {
      const [x, y] = [cell % size, Math.floor(cell / size)];
      for (const [a, b] of [[x, y + 1], [x, y - 1], [x + 1, y], [x - 1, y], [x - 1, y + 1], [x + 1, y - 1]]) {
        if (rows[b]?.[a] === mark) seen.add(b * size + a);
      }
    }
    return [...seen].some((cell) => (mark === "X" ? Math.floor(cell / size) : cell % size) === size - 1);
  };
  for (let checked = 0; checked < 200; checked++) {
    const game = played(size, size, "Xo", ends, chance);
    assert.ok(game, "one side always wins");
    const cells = decisive("connection", game.rows, MEN, [game.last]);
    assert.equal(sideOf(cells, game.rows, MEN), game.side);
    assert.ok(cells.includes(game.last));
    const across = new Set(cells.map((cell) => (game.side === 0 ? Math.floor(cell / size) : cell % size)));
    assert.ok(across.has(0) && across.has(size - 1));
  }
});

test("the row through the last move decides", () => {
  assert.deepEqual(decisive("alignment", ROWS, {}, [2]), [0, 1, 2]);
  assert.equal(sideOf([0, 1, 2], ROWS, {}), 0);
});

test("a chain is what hangs together with the last man", () => {
  assert.deepEqual(decisive("connection", ["X.X", "X.O", "XO."], {}, [6]).sort(), [0, 3, 6]);
});

test("games of other kinds have no such men", () => {
  assert.deepEqual(decisive("capture", ROWS, {}, [2]), []);
  assert.deepEqual(decisive("alignment", ["X.O"], {}, [0]), []);
  assert.deepEqual(decisive("alignment", "no board", {}, [2]), []);
});
