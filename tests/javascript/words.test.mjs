/** The texts of the pages: one file has them all, and each language has a text for each. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { ENGLISH } from "../../solver/web/site/words.js";
import { WORDS as GERMAN } from "../../solver/web/site/words-de.js";

const WEB = new URL("../../solver/web/", import.meta.url);
const read = (name) => readFileSync(new URL(name, WEB), "utf8");
const FILES = ["site", "index"].flatMap((folder) => readdirSync(new URL(folder, WEB)).map((name) => `${folder}/${name}`));
const SIDES = "black white red blue yellow amber green sky fox hare hounds north south".split(" ");

for (const [language, words] of Object.entries({ de: GERMAN })) {
  test(`${language} has every text with its values`, () => {
    assert.deepEqual(Object.keys(words), Object.keys(ENGLISH));
    const values = (text) => [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();
    for (const [key, text] of Object.entries(ENGLISH)) assert.deepEqual(values(words[key]), values(text), key);
  });
}

test("the HTML has the English texts", () => {
  const page = read("site/index.html") + read("index/index.html");
  const plain = (text) => text.trim().replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const seen = new Set();
  for (const [, key, text] of page.matchAll(/data-words="(\w+)"[^>]*>([^<]*)</g)) {
    assert.equal(plain(text), ENGLISH[key], key);
    seen.add(key);
  }
  for (const [, tag, pairs] of page.matchAll(/(<[^>]*data-label="([^"]+)"[^>]*>)/g)) {
    for (const [attribute, key] of pairs.split(/\s+/).map((pair) => pair.split(":"))) {
      assert.equal(new RegExp(`${attribute}="([^"]*)"`).exec(tag)?.[1], ENGLISH[key], key);
      seen.add(key);
    }
  }
  assert.ok(seen.size > 50);
});

test("every text is used, and every key is known", () => {
  const scripts = FILES.filter((name) => /\.(js|html)$/.test(name) && !name.includes("/words"));
  const texts = scripts.map((name) => read(name));
  for (const text of texts) for (const [, key] of text.matchAll(/phrase\(\s*"(\w+)"/g)) assert.ok(key in ENGLISH, key);
  const everything = texts.join("");
  for (const key of Object.keys(ENGLISH)) {
    const base = key.replace(/One$/, "");
    const isUsed = new RegExp(`["':]${base}\\b|\\b${base}:`).test(everything);
    assert.ok(key.startsWith("short") || SIDES.includes(key) || isUsed, `nothing says ${key}`);
  }
});
