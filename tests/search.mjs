// What pytest asks of the search for JavaScript: node search.mjs COMMAND FILE.wasm [MORE]; prints JSON.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Background, Search, sha256 } from "../solver/web/reader/search.js";
import { peak } from "./peak.mjs";

const [command, path, more, patience] = process.argv.slice(2);
const bytes = new Uint8Array(readFileSync(path));
const asked = () => JSON.parse(readFileSync(more, "utf8")).map(BigInt);
const said = (value) => value && [value.score, value.distance, value.outcome];

/** What opening ends with. */
async function outcome(source, options) {
  return Search.open(source, options).then(() => "open", (error) => `${error.name}: ${error.message}`);
}

/** What asking an altered module ends with: outcomes, or an error; in a worker, which is slow to start, if it compiles. */
async function end(copy) {
  let search;
  try {
    search = await (WebAssembly.validate(copy) ? Background : Search).open(copy, { patience: Number(patience) });
    const budget = { milliseconds: Math.max(1000, Number(patience) / 10) };
    const found = [await search.value(0n, budget), (await search.best(0n, budget))?.value];
    return found.map((value) => value?.outcome).join(" ");
  } catch (error) {
    return `${error.name}: ${error.message}`;
  } finally {
    search?.close();
  }
}

const commands = {
  /** What is said of states: their values, and of moves theirs and whether they are best; by one search, then by a new one each. */
  async answers() {
    const search = await Search.open(path);
    const answers = [];
    for (const state of asked()) {
      const { value, exact, moves } = await search.analyse(state);
      const best = await search.best(state);
      answers.push({
        value: said(await search.value(state)),
        known: [said(value), exact],
        moves: moves.map((move) => [String(move.action), String(move.child), said(move.value), move.exact, move.best]),
        best: best ? [String(best.action), said(best.value), best.exact] : null,
      });
    }
    return answers;
  },

  /** Whether each state is worth at least its own value, a better one, and a worse one. */
  async bounds() {
    const search = await Search.open(bytes);
    const answers = [];
    for (const state of asked()) {
      const { score, distance } = await search.value(state);
      const others = distance === null ? [{ score: score + 1 }, { score: score - 1 }] : [-1, 1].map((step) => ({ score, distance: distance + step * score }));
      answers.push([await search.reaches(state, { score, distance }), ...(await Promise.all(others.map((one) => search.reaches(state, one))))]);
    }
    return answers;
  },

  /** What is left of a state where the budget ends at once: estimates of a ply at least, and nothing wrong. */
  async budgets() {
    const search = await Search.open(bytes);
    const stopped = new AbortController();
    stopped.abort();
    const found = [];
    for (const budget of [{ nodes: 1 }, { milliseconds: 0 }, { signal: stopped.signal }]) {
      for (const state of asked()) {
        const { exact, moves } = await search.analyse(state, budget);
        const unknown = moves.filter(({ value }) => value === undefined).length;
        found.push([said(await search.value(state, budget)) ?? null, exact, unknown, (await search.best(state, budget))?.exact ?? null]);
      }
    }
    return found;
  },

  /** What is known where alpha-beta does not come to an end: whether it is exact, and how many moves have no estimate. */
  async endless() {
    const { exact, moves } = await (await Search.open(bytes)).analyse(asked()[0], { milliseconds: 100 });
    return [exact, moves.filter(({ value }) => value === undefined).length, moves.length];
  },

  /** Questions at once are answered in turn; an AbortSignal ends the one, not those behind it; progress is told. */
  async turns() {
    const search = await Search.open(bytes);
    const control = new AbortController();
    let told = 0;
    const states = asked();
    const first = search.analyse(states[0], { signal: control.signal, progress: () => told++ });
    const others = states.map((state) => search.value(state));
    control.abort();
    return [(await first).moves.length > 0, (await Promise.all(others)).map(said), told];
  },

  /** How often opening a copy with one byte altered, or cut off, ends with what. */
  async damage() {
    const counts = {};
    for (let at = 0; at < 1000; at++) {
      const place = Math.floor((at * bytes.length) / 1000);
      const altered = bytes.slice();
      altered[place] ^= 1 << at % 8;
      for (const copy of [altered, bytes.slice(0, place)]) {
        const name = (await outcome(copy)).split(":")[0];
        counts[name] = (counts[name] ?? 0) + 1;
      }
    }
    return counts;
  },

  /** What each of a list of modules ends with, a few at a time. */
  async harm() {
    const copies = JSON.parse(readFileSync(more, "utf8")).map((text) => Uint8Array.from(Buffer.from(text, "base64")));
    const ends = [];
    const next = async () => {
      for (let copy; (copy = copies.pop()); ) ends[copies.length] = await end(copy);
    };
    await Promise.all([next(), next(), next(), next()]);
    return ends;
  },

  /** What opening each of a list of modules ends with, and the memory that the last took. */
  async openings() {
    const copies = JSON.parse(readFileSync(more, "utf8")).map((text) => Uint8Array.from(Buffer.from(text, "base64")));
    const ends = [];
    for (const copy of copies) ends.push(await outcome(copy));
    return [ends, peak()];
  },

  /** What opening files says that are none, and answers that never end. */
  async files() {
    const server = createServer((request, response) => {
      const send = () => {
        while (!response.destroyed && response.write(new Uint8Array(1 << 16)));
      };
      response.on("drain", send);
      send();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const paths = [...JSON.parse(readFileSync(more, "utf8")), `http://127.0.0.1:${server.address().port}/`];
    const ends = [];
    for (const one of paths) ends.push((await outcome(one)).replaceAll(one, "IT"));
    server.closeAllConnections();
    server.close();
    return [ends, peak()];
  },

  /** What a module whose `utility` grows its memory gets, of hosts with small tables and with large ones. */
  async greed() {
    const opened = [await Search.open(bytes, { table: 1 << 17 }), await Search.open(bytes, { table: 1 << 31 })];
    return opened.map(({ rules }) => Number(rules.utility(0n)));
  },

  /** What opening says to rules, symmetry and checksums of others, and to damaged bytes. */
  async refusals() {
    const { rules, symmetry } = (await Search.open(bytes)).facts;
    const sum = createHash("sha256").update(bytes).digest("hex");
    const sums = [0, 1, 55, 56, 63, 64, 119, 1000].map((size) => bytes.subarray(0, size));
    return {
      own: await outcome(bytes, { rules, symmetry, sha256: sum }),
      rules: await outcome(bytes, { rules: "0".repeat(64) }),
      symmetry: await outcome(bytes, { symmetry: !symmetry }),
      checksum: await outcome(Uint8Array.from(bytes, (byte, at) => byte ^ (at === 99)), { sha256: sum }),
      short: await outcome(bytes.subarray(0, 500)),
      other: await outcome(bytes.subarray(0, 8)),
      none: await outcome(new Uint8Array(8)),
      state: await (await Search.open(bytes)).value("5").catch((error) => error.name),
      checksums: sums.every((part) => sha256(part) === createHash("sha256").update(part).digest("hex")),
    };
  },
};

console.log(JSON.stringify(await commands[command]()));
