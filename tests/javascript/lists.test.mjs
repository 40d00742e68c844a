/** What a page says of its book. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { listFacts } from "../../solver/web/site/lists.js";

test("a longest win is named where the book has one: margins have no distances", () => {
  let shown = [];
  const document = { getElementById: () => ({ replaceChildren: (...rows) => (shown = rows) }), createElement: () => ({}) };
  Object.assign(globalThis, { document });
  for (const [longest, said] of [[{ distance: 5, state: "7" }, ["longest win", "5 plies"]], [null, []]]) {
    const facts = { method: "minimax", scope: "complete", states: 9, counts: { win: 4 }, root: { score: 2, distance: null }, longest };
    listFacts({ game: "kalah", scores: true, digest: "d" }, { facts }, []);
    const texts = shown.map(({ textContent }) => textContent);
    const at = texts.indexOf("longest win");
    assert.deepEqual(at < 0 ? [] : texts.slice(at, at + 2), said);
  }
});
