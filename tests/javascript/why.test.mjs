/** Why: a threat on a row is named with its cells, both ends of it, and the answer that it forces. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { played } from "../../solver/web/site/rules.js";
import { inSteps } from "../../solver/web/site/why.js";

// Four in a row wins on a board of one row and six cells: a state has a man a cell, "." where none is
const WIDTH = 6;
const cells = (state) => String(state).slice(1).replace(/0/g, ".").replace(/1/g, "X").replace(/2/g, "O");
const stateOf = (row) => BigInt(`9${row.replace(/\./g, "0").replace(/X/g, "1").replace(/O/g, "2")}`);
const game = {
  board: (state) => [".".repeat(WIDTH), cells(state)],
  end: (state) => (/XXXX|OOOO/.test(cells(state)) ? [-1, 0] : cells(state).includes(".") ? null : [0, 0]),
  moves: (state, mover) =>
    [...cells(state)].flatMap((man, place) => {
      const child = () => stateOf(`${cells(state).slice(0, place)}${"XO"[mover]}${cells(state).slice(place + 1)}`);
      return man === "." ? [{ name: String(place + 1), child: child(), mover: 1 - mover, gain: 0, place: [WIDTH + place], value: { score: 1, distance: 3 } }] : [];
    }),
};
const about = { group: "alignment", drawing: {} };

function stepsOf(row, ...names) {
  const before = { state: stateOf(row), mover: 0, gained: 0, value: { score: 1, distance: 3 } };
  const moveOf = (position, name) => game.moves(position.state, position.mover).find((move) => move.name === name);
  const line = [played(before, moveOf(before, names[0]))];
  for (const name of names.slice(1)) line.push(played(line.at(-1), moveOf(line.at(-1), name)));
  return inSteps(game, about, ["Red", "Yellow"], before, moveOf(before, names[0]), line);
}

test("three in a row with two free ends threatens both, and who stops one is told to", () => {
  assert.deepEqual(stepsOf("..XX..", "2", "1", "5"), [
    "Red plays 2: it wins in 3. That makes 3 in row 1 and threatens both ends. Then: 1 5.",
    "Yellow must stop that: 1.",
    "Red plays 5. Red has 4 in row 1.",
  ]);
});

test("three in a row with one free end threatens that end alone", () => {
  const [first] = stepsOf("OXX...", "4");
  assert.equal(first, "Red plays 4: it wins in 3. That makes 3 in row 1 and threatens to win by 5.");
});

test("two in a row threaten nothing", () => {
  assert.equal(stepsOf("..X...", "4")[0], "Red plays 4: it wins in 3.");
});
