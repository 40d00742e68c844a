// A module timed in Node, for bench_modules.py: node bench_modules.mjs FILE.wasm BYTES; reads states, prints of each
// score, distance and seconds of CPU.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, table] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const { win } = JSON.parse(new TextDecoder().decode(WebAssembly.Module.customSections(module, "solver")[0]));
const { memory, lay_out, forget, begin, go_on, found } = new WebAssembly.Instance(module).exports;
const needed = Number(lay_out(1024n, 1n << 15n, BigInt(table) / 8n));
memory.grow(Math.ceil((needed - memory.buffer.byteLength) / 65536));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  forget();
  const began = process.cpuUsage();
  begin(BigInt(line), BigInt(-win), BigInt(win));
  while (go_on(1n << 14n) === 0n);
  const { user, system } = process.cpuUsage(began);
  const merit = Number(found());
  console.log(Math.sign(merit), win - Math.abs(merit), (user + system) / 1e6);
}
