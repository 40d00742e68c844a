/** The texts that scripts write into the pages: one file has them all, and no other. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { WORDS } from "../../solver/web/site/words.js";

const WEB = new URL("../../solver/web/", import.meta.url);
const read = (name) => readFileSync(new URL(name, WEB), "utf8");
const FILES = ["site", "index"].flatMap((folder) => readdirSync(new URL(folder, WEB)).map((name) => `${folder}/${name}`));
const SIDES = "black white red blue yellow amber green sky fox hare hounds north south".split(" ");

test("an even game of chance is coloured as a draw, and expected margins by their sign", () => {
  const [code] = read("index/list.js").match(/function kindOf[^]*?\n}/) ?? [];
  const kindOf = new Function(`${code}; return kindOf;`)();
  const verdicts = ["+0.000000 (50.0000 %) for the first player", "-0.000000 for the first player", "+0.452773 for the first player"];
  assert.deepEqual([...verdicts, "-0.031474 (48.4263 %)", "unknown, about +1"].map(kindOf), ["draw", "draw", "win", "loss", "unknown"]);
});

test("every text is used, and every key is known", () => {
  const scripts = FILES.filter((name) => /\.js$/.test(name) && !name.includes("/words"));
  const texts = scripts.map((name) => read(name));
  for (const text of texts) for (const [, key] of text.matchAll(/phrase\(\s*"(\w+)"/g)) assert.ok(key in WORDS, key);
  const everything = texts.join("");
  for (const key of Object.keys(WORDS)) {
    const base = key.replace(/One$/, "");
    const isUsed = new RegExp(`["':]${base}\\b|\\b${base}:`).test(everything);
    assert.ok(key.startsWith("short") || SIDES.includes(key) || isUsed, `nothing says ${key}`);
  }
});
