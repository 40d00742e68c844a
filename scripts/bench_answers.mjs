// All moves of positions, for bench_answers.py: node bench_answers.mjs FILE.wasm SECONDS; reads states, prints of each the
// seconds, and whether all moves have exact values.
import { createInterface } from "node:readline";
import { Search } from "../solver/web/reader/search.js";

const [file, seconds] = process.argv.slice(2);
const search = await Search.open(file);
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const began = performance.now();
  const { moves } = await search.analyse(BigInt(line), { milliseconds: 1000 * Number(seconds) });
  console.log((performance.now() - began) / 1000, moves.every(({ exact }) => exact));
}
