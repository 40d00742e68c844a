/** The texts that scripts write into the pages: one file has them all, and no other. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { WORDS } from "../../solver/web/site/words.js";

const WEB = new URL("../../solver/web/", import.meta.url);
const read = (name) => readFileSync(new URL(name, WEB), "utf8");
const FILES = ["site", "index"].flatMap((folder) => readdirSync(new URL(folder, WEB)).map((name) => `${folder}/${name}`));
const SIDES = "black white red blue yellow amber green sky fox hare hounds north south".split(" ");

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
