// What pytest asks of the reader for JavaScript: node reader.mjs COMMAND FILE.bin [MORE [GAME.js]]; prints JSON.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Book, DamagedBook, remote } from "../solver/web/reader/book.js";
import * as compact from "../solver/web/reader/compact.js";
import * as instant from "../solver/web/reader/instant.js";
import * as ranked from "../solver/web/reader/ranked.js";
import { peak } from "./peak.mjs";

const [command, path, more, game] = process.argv.slice(2);
const { rules } = game ? await import(pathToFileURL(game)) : {}; // of a ranked book
const bytes = path && new Uint8Array(readFileSync(path));

/** [state, score, distance] of each line of a CSV table. */
function* table(file) {
  for (const line of readFileSync(file, "utf8").trim().split("\n").slice(1)) {
    const [state, score, distance] = line.split(",");
    yield [BigInt(state), Number(score), distance === "" ? null : Number(distance)];
  }
}

/** How many states answer as in a table, in random order of segments; their neighbours are absent but if they are in it. */
async function compare(book, rows) {
  const known = new Map(rows.map(([state, score, distance]) => [state, `${score} ${distance}`]));
  let right = 0;
  for (const [state, score, distance] of rows) {
    const value = await book.get(state);
    const isEstimate = book.facts.estimate && score % 1; // but for 1.0, of which a table does not tell
    const kind = book.facts.expectation ? "expectation" : isEstimate ? "estimate" : undefined;
    const outcome = kind ?? ["loss", "draw", "win"][Math.sign(score) + 1];
    right += value?.score === score && value.distance === distance && value.outcome === outcome;
    for (const near of [state - 1n, state + 1n]) {
      if (!known.has(near) && (await book.get(near)) !== undefined) throw new Error(`${near} is not in the book`);
    }
  }
  for (const absent of [-1n, -1, 0n - (1n << 63n), 1n << 63n, (1n << 64n) + rows[0][0], Number.MAX_SAFE_INTEGER]) {
    if ((await book.get(absent)) !== undefined) throw new Error(`${absent} is not in the book`);
  }
  return right;
}

/** What opening and reading all of some bytes ends with: "read", "DamagedBook", or another error's name. */
async function outcome(data) {
  try {
    await (await Book.open(data, { rules })).check();
    return "read";
  } catch (error) {
    return error instanceof DamagedBook ? error.name : `${error.name}: ${error.message}`;
  }
}

const commands = {
  async answers() {
    const rows = [...table(more)];
    const book = await Book.open(bytes.buffer, { rules });
    const few = await Book.open({ read: async (begin, end) => bytes.slice(begin, end) }, { segments: 1, rules });
    await book.check();
    let at = 0;
    for await (const [state, { score, distance }] of few.entries()) {
      if (state !== rows[at][0] || score !== rows[at][1] || distance !== rows[at][2]) throw new Error(`entry ${at}`);
      at++;
    }
    const refused = [];
    for (const wrong of [1.5, 2 ** 53, "5", null, undefined, NaN]) {
      await book.get(wrong).catch((error) => refused.push(error.name));
    }
    const right = [await compare(book, rows), await compare(few, rows)];
    return { right, entries: at, length: book.length, facts: book.facts, refused };
  },

  /** Every byte altered in turn, and the file cut off at every place, or lengthened. */
  async damage() {
    const counts = {};
    const count = (name) => (counts[name] = (counts[name] ?? 0) + 1);
    for (let at = 0; at < bytes.length; at++) {
      const copy = bytes.slice();
      copy[at] ^= 1 << at % 8;
      count(await outcome(copy));
      count(await outcome(bytes.slice(0, at)));
    }
    count(await outcome(Uint8Array.from([...bytes, 0])));
    return counts;
  },

  /** Files whose checksums hold, made by pytest: nothing but answers, no answer, and DamagedBook. */
  async forged() {
    const counts = {};
    const { states } = JSON.parse(more);
    for (let at = 0, size; at < bytes.length; at += 4 + size) {
      size = new DataView(bytes.buffer, at).getUint32(0, true);
      const data = bytes.slice(at + 4, at + 4 + size);
      let name = await outcome(data);
      try {
        const book = await Book.open(data, { rules });
        const isScore = book.facts.expectation || book.facts.estimate ? Number.isFinite : Number.isInteger;
        for (const state of states.map(BigInt)) {
          const value = await book.get(state);
          if (value !== undefined && typeof value.score !== "bigint" && !isScore(value.score)) name = "no value";
        }
      } catch (error) {
        if (!(error instanceof DamagedBook)) name = `${error.name}: ${error.message}`;
      }
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  },

  /** How many of some states, as JSON texts, are not in the book. */
  async absent() {
    const book = await Book.open(bytes, { rules });
    const found = await Promise.all(JSON.parse(more).map((state) => book.get(BigInt(state))));
    return found.filter((value) => value === undefined).length;
  },

  /** How many states of a table answer as it does. */
  async lookups() {
    const book = await Book.open(bytes, { rules });
    let right = 0;
    for (const [state, score, distance] of table(more)) {
      const value = await book.get(state);
      right += value?.score === score && value.distance === distance;
    }
    return right;
  },

  /** What opening ends with. */
  async opening() {
    return Book.open(bytes, { rules }).then(() => "open", (error) => `${error.name}: ${error.message}`);
  },

  /** Of books and rules in a file, [[path, path]]: what opening ends with, or what states 0 and 5 are worth or end with. */
  async each() {
    const ends = [];
    for (const [path, module] of JSON.parse(new TextDecoder().decode(bytes))) {
      const { rules } = await import(pathToFileURL(module));
      const book = await Book.open(new Uint8Array(readFileSync(path)), { rules }).catch((error) => error);
      if (book instanceof Error) ends.push(`${book.name}: ${book.message}`);
      else ends.push(await Promise.all([0, 5].map((state) => book.get(state).then((value) => value?.score ?? null, (error) => error.name))));
    }
    return ends;
  },

  /** What opening says without the rules. */
  async ruleless() {
    return Book.open(bytes).catch((error) => `${error.name}: ${error.message}`);
  },

  /** Over HTTP: with range requests, without, a file that is missing, one that changes while it is read. */
  async http() {
    let asked = 0;
    let served = bytes;
    const server = createServer((request, response) => {
      asked++;
      const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
      if (request.url === "/missing") response.writeHead(404).end();
      else if (request.url === "/whole") response.end(served);
      else {
        const part = served.subarray(Number(begin), Number(end) + 1);
        const range = `bytes ${begin}-${Number(begin) + part.length - 1}/${served.length}`;
        response.writeHead(206, request.url === "/hidden" ? {} : { "Content-Range": range }).end(part);
      }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const at = (name) => remote(`http://127.0.0.1:${server.address().port}/${name}`);
    const rows = [...table(more)];
    const result = {};
    for (const name of ["ranges", "hidden", "whole"]) {
      asked = 0;
      result[name] = [await compare(await Book.open(at(name)), rows), asked];
    }
    result.missing = await Book.open(at("missing")).catch((error) => error.message.split(" ").slice(-2).join(" "));
    const book = await Book.open(at("ranges"));
    served = bytes.slice(0, -1);
    result.changed = await book.get(rows.at(-1)[0]).catch((error) => error.name);
    served = bytes;
    result.again = (await book.get(rows.at(-1)[0])).score === rows.at(-1)[1];
    server.close();
    return result;
  },

  /** What opening says to answers that never end: to a range, as a whole, of zeros or behind a book; and to too large a one. */
  async endless() {
    const zeros = new Uint8Array(1 << 16);
    const server = createServer((request, response) => {
      const [, status, kind] = request.url.split("/");
      response.writeHead(Number(status));
      if (kind === "book") response.write(bytes);
      const send = () => {
        while (!response.destroyed && response.write(zeros));
      };
      response.on("drain", send);
      send();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${server.address().port}`;
    const said = {};
    for (const [name, options] of [["206/zeros"], ["200/zeros"], ["200/book"], ["200/book", { most: 1000 }]]) {
      const source = remote(`${address}/${name}`, options);
      const error = await Book.open(source).catch((error) => error);
      said[options ? "large" : name] = `${error.name}: ${error.message.replace(address, "")}`;
    }
    server.closeAllConnections();
    server.close();
    return { ...said, megabytes: peak() };
  },

  /** The groups of the documentation: offsets and indices, the indices found at offsets 0 to 9, of cut copies errors. */
  async groups() {
    const result = [];
    const documented = [
      [instant, "080201070902 0b"],
      [compact, "0002000000 0300 e30600 63e7640700"],
      [ranked, "0300 e3e0e2e20000"],
      [instant, "000202 46000000 0c 0b", 0],
    ];
    for (const [codec, hex, indexBytes = 1] of documented) {
      const data = Uint8Array.from(hex.replaceAll(" ", "").match(/../g), (byte) => parseInt(byte, 16));
      const segment = (end) => ({ bytes: data, view: new DataView(data.buffer), starts: [0, end] });
      const { offsets, indices } = await codec.decode(segment(data.length), 0, indexBytes);
      const found = [];
      for (let at = 0n; at < 10n; at++) found.push((await codec.find(segment(data.length), 0, at, indexBytes)) ?? null);
      const cut = new Set();
      for (let end = 0; end < data.length; end++) {
        try {
          await codec.decode(segment(end), 0, indexBytes);
          cut.add(end);
        } catch (error) {
          cut.add(error.name);
        }
      }
      result.push([offsets.map(Number), indices, found, [...cut]]);
    }
    return result;
  },

  async time() {
    const states = [...table(more)].map((row) => row[0]).sort(() => Math.random() - 0.5);
    const book = await Book.open(bytes, { rules });
    const times = [];
    for (const state of states) {
      const started = process.hrtime.bigint();
      await book.get(state);
      times.push(Number(process.hrtime.bigint() - started) / 1000);
    }
    times.sort((a, b) => a - b);
    const all = performance.now();
    for (const state of states) await book.get(state);
    const mean = ((performance.now() - all) * 1000) / states.length;
    return { median: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)], mean };
  },
};

console.log(JSON.stringify(await commands[command]()));
