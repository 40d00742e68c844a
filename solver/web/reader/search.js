/**
 * Asks the modules of `solver build`: exact values past the end of any book, in Node and in browsers, without
 * dependencies. docs/guides/webassembly.md describes them.
 *
 *     import { Background, Search } from "./search.js";
 *     const search = await Search.open("connect-four.wasm");            // or bytes; a path is for Node
 *     await search.value(33825n, { milliseconds: 1000 });               // { score: 0, distance: null, outcome: "draw" }
 *     await search.best(33825n, { nodes: 1e6 });                        // { action: 3n, value, exact: true }
 *     const other = await Background.open("connect-four.wasm");         // the same in a Web Worker, or a thread of Node
 *
 * States, of any width, and actions are BigInts. A budget is { milliseconds, nodes, signal }, each of which may be left out; a search
 * ends where the first of them does, by an AbortSignal as by a clock, and lets the event loop go on all the while. What
 * is asked of one Search is answered in turn. Values are for the side to move; an estimate, of the outcome "estimate", lies
 * between -1 and 1, in score games among the margins.
 *
 * What a module does cannot harm: it is small enough to compile quickly (`limits.js`), and has a memory of its own, of the
 * size of its tables and 16 MB. But a Search waits for each of its calls, which is for milliseconds of work; one that does
 * not end is ended in a Background alone.
 */

import { MOST_BYTES, bounded, ofNode } from "./limits.js";

const [FORMAT, OF_WIDE] = [1, 2]; // the second has states of several words
const MOST_WORDS = 8;
const MOST_NAME = 8192; // characters of a game's, as in books
const PAGE = 1 << 16; // bytes; the layout of the memory is that of solver/wasm/exports.py
const ROOM = PAGE + 4096;
const ROOM_WORDS = 7 * 1024;
const MOST_PAGES = 1 << 14; // that a memory may grow to
const PATH = [1024n, 1n << 15n]; // plies, moves of them
const LOOK_PATH = [256n, 1n << 13n];
const LOOK_WORDS = 1n << 20n;
const SPARE = 16 << 20; // bytes of memory for paths and the rest
const SEAL = 32; // bytes
const [PAUSED, DONE] = [0n, 1n];
const RULES = ["initial", "actions", "result", "is_terminal", "utility"];
const MORE_RULES = ["plies_left", "to_move", "again", "reward", "canonical", "rank", "unrank", "outlook", "replies", "tier"];
const EXACT = ["begin", "go_on", "found", "spent", "forget"]; // with lay_out
const TAKING = ["actions", ...RULES.slice(2), "plies_left", "to_move", "again", "reward", "canonical", "evaluate", "begin", "settled", "look"]; // a state first
const GIVING = ["initial", "result", "canonical"]; // a state
const AHEAD = ["look", "look_on", "merit", "cut", "looked"]; // with lay_out_look
const LOOK_WIN = 2 ** 40; // an immediate win, as `look` has it
const CHUNK = 1 << 14; // nodes between two looks at the clock
const SLICE = 12; // milliseconds between two pauses
const FIRST = 1 << 12; // nodes that an analysis gives each move at first
const DEEPEST = 254;
const PATIENCE = 5000; // milliseconds that a worker may be silent
const SHARE = 4; // what a ply more is expected to cost, in times of the last

/** A module that is damaged, of other rules, or none at all. */
export class ForeignModule extends Error {
  name = "ForeignModule";
}

/** The bytes of a module: they themselves, or what a URL, or in Node a path, leads to; a few more than a module may have. */
async function bytesOf(source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const url = String(source);
  if (globalThis.process?.versions?.node && !/^(https?|data|blob):/.test(url)) {
    return fileOf(url.startsWith("file:") ? new URL(url) : url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return streamed(response.body);
}

/** What a stream holds, but for what lies behind the most bytes that a module has. */
async function streamed(body) {
  const reader = body?.getReader();
  const parts = [];
  let size = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader.read()) {
    parts.push(next.value);
    size += next.value.length;
    if (size > MOST_BYTES) break;
  }
  reader?.cancel().catch(() => {});
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The bytes of a file in Node: pipes would be waited for, and devices have no end. */
async function fileOf(path) {
  const { open, stat } = await ofNode("fs/promises");
  if (!(await stat(path)).isFile()) throw new ForeignModule(`${path} is not a regular file: name one that \`solver build\` wrote`);
  const file = await open(path);
  try {
    const bytes = new Uint8Array(MOST_BYTES + 1);
    let size = 0;
    for (let read = 1; read && size < bytes.length; size += read) read = (await file.read(bytes, size)).bytesRead;
    return bytes.subarray(0, size);
  } finally {
    await file.close();
  }
}

/** The last bytes of a module are the checksum of all before them. */
async function checkSeal(bytes) {
  if (bytes.length > MOST_BYTES) throw new ForeignModule(`the module has more than ${MOST_BYTES} bytes: build it again`);
  const seal = inHex(bytes.subarray(-SEAL));
  if (bytes.length > SEAL && (await checksum(bytes.subarray(0, -SEAL))) === seal) return;
  throw new ForeignModule("this is not a module of `solver build`, or it is damaged: build it again");
}

/** What a module says of itself: its format, game, rules, symmetry, scores, win, limit; the words of wide states. */
function factsOf(module) {
  try {
    const [section] = WebAssembly.Module.customSections(module, "solver");
    const facts = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(section));
    const { win, words = 1, game = "" } = facts;
    const isFlat = Object.values(facts).every((fact) => ["string", "number", "boolean"].includes(typeof fact));
    const isNamed = typeof game === "string" && game.length <= MOST_NAME && !/\p{C}/u.test(game);
    if (!isFlat || !isNamed) throw new TypeError("facts of something else");
    if (Number.isSafeInteger(win) && win > 0 && Number.isSafeInteger(words) && words > 0 && words <= MOST_WORDS) return facts;
  } catch {
    // said below
  }
  throw new ForeignModule("this is not a module of `solver build`: build it again");
}

async function compiled(bytes) {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    if (error instanceof WebAssembly.CompileError && /Content Security Policy|unsafe-eval/i.test(error.message)) throw error;
    throw new ForeignModule(`this is not a module of WebAssembly: ${error.message}`);
  }
}

/** Play that alpha-beta does not see the end of. */
class TooLong extends Error {}

/** What a search may take; as soon as it is used up, it stays so. */
class Budget {
  #end;
  #nodes;
  #signal;
  #paused = performance.now();
  spent = 0; // nodes

  /** @param {{ milliseconds?: number, nodes?: number, signal?: AbortSignal }} [limits] */
  constructor({ milliseconds = Infinity, nodes = Infinity, signal } = {}) {
    this.#end = performance.now() + milliseconds;
    this.#nodes = nodes;
    this.#signal = signal;
  }

  get isUsedUp() {
    return this.spent >= this.#nodes || Boolean(this.#signal?.aborted) || performance.now() >= this.#end;
  }

  /** How many nodes of so many may be searched before it is asked again. */
  chunk(most) {
    return Math.max(1, Math.min(CHUNK, most, this.#nodes - this.spent));
  }

  /** Let the event loop go on, now and then. */
  async breathe() {
    if (performance.now() - this.#paused < SLICE) return;
    await pause();
    this.#paused = performance.now();
  }
}

/** A turn of the event loop: timers of browsers wait for 4 milliseconds. */
function pause() {
  if ("setImmediate" in globalThis) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((/** @type {(nothing?: undefined) => void} */ resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** The game of a module, and its searches, in a memory of its own. */
export class Search {
  #module;
  #exports;
  #table;
  #isLaidOut;
  #turn = Promise.resolve();

  /**
   * Open a module: bytes, a URL, in Node a path; or a WebAssembly.Module, whose bytes nobody can check any more. `rules`, a fingerprint, and `symmetry` are those it has to be of;
   * `sha256`, in hex, is its checksum; `table` the bytes, at most, in which a search keeps what it finds. Raises
   * ForeignModule.
   * @param {any} source
   * @param {{ rules?: string, symmetry?: boolean, sha256?: string, table?: number }} [options]
   */
  static async open(source, { rules, symmetry, sha256: sum, table = 1 << 26 } = {}) {
    const module = source instanceof WebAssembly.Module ? source : await Search.#compiled(source, sum, table);
    const facts = factsOf(module);
    for (const [name, wanted] of Object.entries({ format: facts.words > 1 ? OF_WIDE : FORMAT, rules, symmetry })) {
      if (wanted !== undefined && facts[name] !== wanted) {
        const told = String(facts[name]).slice(0, 80).replaceAll(/\p{C}/gu, "?");
        throw new ForeignModule(`the module's ${name} is ${told}, not ${wanted}: build it again`);
      }
    }
    return new Search(module, facts, table);
  }

  static async #compiled(source, sum, table) {
    const bytes = await bytesOf(source);
    if (sum === undefined) await checkSeal(bytes);
    else if ((await checksum(bytes)) !== sum) throw new ForeignModule("the module fails its checksum: fetch it again");
    const room = 8 * (wordsOf(table) + Number(LOOK_WORDS)) + SPARE;
    return compiled(orForeign(() => bounded(bytes, Math.min(MOST_PAGES, room / PAGE))));
  }

  constructor(module, facts, table) {
    this.#module = module;
    this.#table = BigInt(wordsOf(table));
    /** What the module says of itself. */
    this.facts = facts;
    this.#start();
    /** Whether it finds exact values, and whether it looks some plies ahead. */
    this.searches = Boolean(this.#exports.lay_out);
    this.looks = Boolean(this.#exports.lay_out_look);
  }

  /** The game in messages. */
  get #name() {
    return String(this.facts.game).slice(0, 200);
  }

  #start() {
    this.#isLaidOut = false;
    orForeign(() => {
      const { exports } = new WebAssembly.Instance(this.#module);
      this.#exports = this.facts.words > 1 ? widened(exports, this.facts.words) : exports;
      const { memory, lay_out, lay_out_look } = this.#exports;
      const wanted = [RULES, lay_out ? EXACT : [], lay_out_look ? AHEAD : []].flat();
      const lacks = wanted.filter((name) => typeof this.#exports[name] !== "function");
      if (lacks.length) throw new Error(`it lacks ${lacks.join(", ")}`);
      const pages = memory.buffer.byteLength / PAGE;
      if (!(memory instanceof WebAssembly.Memory) || pages > MOST_PAGES) throw new Error("it has no memory such as ours");
      if (grows(memory, MOST_PAGES + 1 - pages)) throw new Error("its memory has no bound");
    });
  }

  /** Make room in the memory for the searches, before the first is asked: the rules want none. */
  #layOut() {
    const { memory, lay_out, forget, lay_out_look } = this.#exports;
    const reach = (end) => memory.grow(Math.max(0, Math.ceil((Number(end) - memory.buffer.byteLength) / PAGE)));
    orForeign(() => {
      let end = BigInt(2 * PAGE);
      if (lay_out) {
        reach((end = lay_out(...PATH, this.#table)));
        forget();
      }
      if (lay_out_look) reach(lay_out_look(end, ...LOOK_PATH, LOOK_WORDS));
    });
    this.#isLaidOut = true;
  }

  // the rules

  /** The state at the start. */
  initial() {
    return this.#exports.initial();
  }

  /** Whether a state is finished. */
  isTerminal(state) {
    return this.#exports.is_terminal(state) !== 0n;
  }

  /** The actions of an unfinished state, in the order of the rules. */
  actions(state) {
    return this.#written("actions", state);
  }

  /** The words that the rules write to the memory. */
  #written(name, state) {
    const { [name]: write, memory } = this.#exports;
    const count = Number(write(state, BigInt(ROOM), BigInt(ROOM_WORDS)));
    if (count > ROOM_WORDS) throw new RangeError(`${name} of state ${state} are ${count} words: there is room for ${ROOM_WORDS}`);
    return [...new BigInt64Array(memory.buffer, ROOM, count)];
  }

  /** The state after an action. */
  result(state, action) {
    return this.#exports.result(state, action);
  }

  /** The rules that the module has, by their names in Python, on BigInts: a book's reader takes them as `rules`. */
  get rules() {
    const rules = { actions: (state) => this.actions(state) };
    for (const name of [...RULES, ...MORE_RULES]) {
      if (!rules[name] && this.#exports[name]) rules[name] = (...asked) => this.#exports[name](...asked);
    }
    if (this.#exports.chance) rules.chance = (state) => pairs(this.#written("chance", state));
    return rules;
  }

  // what is asked

  /** A promise of the value of a state, { score, distance, outcome }; of undefined where the budget ends before. */
  value(state, budget) {
    return this.#alone(async () => {
      const merit = await this.#merit(stateOf(state), new Budget(budget));
      return merit === undefined ? undefined : this.#valueOf(merit);
    });
  }

  /** A promise of whether a state is worth at least a value, which asks less than what it is worth. */
  reaches(state, { score, distance = null }, budget) {
    return this.#alone(async () => {
      const bound = distance === null ? score : score * (this.facts.win - distance);
      const merit = await this.#merit(stateOf(state), new Budget(budget), bound - 1, bound);
      return merit === undefined ? undefined : merit >= bound;
    });
  }

  /**
   * A promise of what is known of a state and its moves: { value, exact, moves }, and of each move { action, child, value,
   * exact, best } as the state's side to move sees it. What the budget leaves open is an estimate, or undefined where
   * there is none; a win or loss whose distance is still open has none. `progress` is told of it all now and then.
   * @param {bigint | number} state
   * @param {{ progress?: any, milliseconds?: number, nodes?: number, signal?: AbortSignal }} [limits]
   */
  analyse(state, { progress, ...budget } = {}) {
    return this.#alone(() => new Analysis(this, this.#asked(), stateOf(state), new Budget(budget), progress).run());
  }

  /** A promise of a best move, { action, value, exact }; of undefined where the state is finished. */
  best(state, budget) {
    return this.#alone(async () => {
      const analysis = new Analysis(this, this.#asked(), stateOf(state), new Budget(budget));
      const { moves } = await analysis.run(true);
      if (!moves.length) return undefined;
      const place = analysis.chosen();
      const { action, value, exact } = moves[place];
      return { action, value, exact: exact && moves[place].best };
    });
  }

  /** What an analysis asks besides the rules. */
  #asked() {
    return {
      moves: (state) => this.#moves(state),
      merit: (...question) => this.#merit(...question),
      look: (...question) => this.#look(...question),
      valueOf: (merit) => this.#valueOf(merit),
    };
  }

  /** One question after another: they share the memory. A trap leaves it as it happens to be, so a new one takes its place. */
  #alone(task) {
    const ready = () => this.#isLaidOut || this.#layOut();
    const mine = this.#turn.then(ready).then(task).catch((error) => {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error; // a full stack is one
      this.#start();
      throw new Error(`the rules of ${this.#name} raise an error there: ${error.message}`);
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Where the actions of an unfinished state lead, and how a merit there is seen from here. */
  #moves(state) {
    const { again, to_move, reward, result } = this.#exports;
    return this.actions(state).map((action) => {
      const child = result(state, action);
      const same = again ? again(state, action) !== 0n : to_move ? to_move(state) === to_move(child) : false;
      return { action, child, sign: same ? 1 : -1, gain: reward ? Number(reward(state, action)) : 0 };
    });
  }

  /** The merit of a finished state. */
  #end(state) {
    const { utility, plies_left } = this.#exports;
    const worth = Number(utility(state));
    return this.facts.scores ? worth : worth * (this.facts.win - (plies_left ? Number(plies_left(state)) : 0));
  }

  /** The merit of a state within low..high, found by so many nodes and the budget at most; else undefined. */
  async #merit(state, budget, low = -this.facts.win, high = this.facts.win, most = Infinity) {
    if (this.isTerminal(state)) return this.#end(state);
    const { begin, go_on, spent, found } = this.#exports;
    if (!begin) return undefined;
    begin(state, BigInt(low), BigInt(high));
    const status = await this.#run(go_on, spent, budget, most);
    if (status !== PAUSED && status !== DONE) throw new TooLong(`${this.#name}: the game goes on for too long for alpha-beta`);
    if (status !== DONE) return undefined;
    const merit = Number(found());
    if (Math.abs(merit) > this.facts.win) throw new Error(`${this.#name}: the module finds what cannot be`);
    return merit;
  }

  /** What is seen so many plies ahead of a state: { merit, exact }, or undefined. */
  async #look(state, depth, budget, most = Infinity) {
    if (this.isTerminal(state)) return { merit: this.#end(state), exact: true };
    const { look, look_on, looked, merit, cut } = this.#exports;
    if (!look) return undefined;
    look(state, BigInt(depth), -1n);
    if ((await this.#run(look_on, looked, budget, most)) !== DONE) return undefined;
    const [best, isCut, { scores, win }] = [merit(), cut() !== 0n, this.facts];
    if (!Number.isFinite(best)) throw new Error(`${this.#name}: the module's estimate is not a number`);
    if (scores || (-1 < best && best < 1)) return { merit: best + 0, exact: !isCut };
    const distance = LOOK_WIN - Math.abs(best);
    return { merit: Math.sign(best) * (win - distance), exact: !isCut || distance <= depth + 1 };
  }

  /** Go on, within a budget, with what is begun; what it returned at last. */
  async #run(go, count, budget, most) {
    let spent = 0;
    while (true) {
      const status = go(BigInt(budget.chunk(most - spent)));
      const before = spent;
      spent = Number(count());
      budget.spent += spent - before;
      if (status !== PAUSED) return status;
      await budget.breathe();
      if (spent >= most || budget.isUsedUp) return PAUSED;
      if (spent <= before) throw new Error(`${this.#name}: the module does not get on`);
    }
  }

  /** The value of a merit. */
  #valueOf(merit) {
    const outcome = merit > 0 ? "win" : merit < 0 ? "loss" : "draw";
    if (this.facts.scores || merit === 0) return { score: merit, distance: null, outcome };
    return { score: Math.sign(merit), distance: this.facts.win - Math.abs(merit), outcome };
  }
}

/**
 * What is found out of a state and its moves. In turns it searches for the state's own value, then for those of its
 * moves, each time with twice the nodes; what is left open is looked at some plies ahead, all moves equally far.
 */
class Analysis {
  #search;
  #ask;
  #state;
  #budget;
  #progress;
  #moves;
  #root; // the exact merit
  #depth = 0;
  #cost = 0; // nodes that the last ply ahead took
  #spent = 0; // nodes of exact searches
  #told = 0; // when

  constructor(search, ask, state, budget, progress) {
    [this.#search, this.#ask, this.#state, this.#budget, this.#progress] = [search, ask, state, budget, progress];
    this.#moves = search.isTerminal(state) ? [] : ask.moves(state);
  }

  /** Find out what the budget allows: all of it, or one best move alone. */
  async run(one = false) {
    const { looks } = this.#search;
    let { searches } = this.#search;
    if (!this.#moves.length) this.#root = await this.#ask.merit(this.#state, this.#budget);
    for (const move of this.#moves) if (this.#search.isTerminal(move.child)) await this.#settle(move, 1);
    if (looks) await this.#deepen();
    for (let most = FIRST; !this.#isDone(one); most *= 2) {
      if (this.#budget.isUsedUp || !(searches || (looks && this.#depth < DEEPEST))) break;
      try {
        if (searches) await this.#prove(most, one);
      } catch (error) {
        if (!(error instanceof TooLong)) throw error;
        searches = false; // where play may go on for ever some plies ahead are looked at
      }
      this.#tell();
      while (looks && this.#open().length && !this.#isDone(one) && this.#depth < DEEPEST && !this.#budget.isUsedUp) {
        if (searches && this.#cost * SHARE > this.#spent) break;
        await this.#deepen();
        this.#tell();
      }
    }
    return this.#known();
  }

  /** The place of the move to play: a best one, else the one that promises most. */
  chosen() {
    const best = this.#moves.findIndex((move) => this.#isBest(move));
    if (best >= 0) return best;
    const worth = this.#moves.map(({ merit, estimate }) => merit ?? estimate ?? -0.5);
    return worth.indexOf(Math.max(...worth));
  }

  #open() {
    return this.#moves.filter(({ merit }) => merit === undefined);
  }

  #isBest({ merit }) {
    return this.#root !== undefined && merit === this.#root;
  }

  #isDone(one) {
    if (!this.#open().length && this.#moves.length) this.#root ??= Math.max(...this.#moves.map(({ merit }) => merit));
    return this.#root !== undefined && (one ? !this.#moves.length || this.#moves.some((move) => this.#isBest(move)) : !this.#open().length);
  }

  /** A child's merit as it is seen from here. */
  #lifted({ sign, gain }, merit) {
    const nearer = this.#search.facts.scores || (-1 < merit && merit < 1) ? merit : merit - Math.sign(merit);
    return gain + sign * nearer + 0;
  }

  /**
   * Search for the state's value, by as many nodes as for all of its moves together; as soon as it is known, for a best
   * move, which it then takes little to tell; then for the values of the others.
   */
  async #prove(most, one) {
    const searched = async (asked) => {
      const merit = await asked;
      this.#spent += most;
      this.#tell();
      return merit;
    };
    const share = most * this.#moves.length;
    this.#root ??= await searched(this.#ask.merit(this.#state, this.#budget, undefined, undefined, share));
    for (const move of this.#root === undefined || this.#moves.some((move) => this.#isBest(move)) ? [] : this.#open()) {
      if (this.#isDone(one) || this.#budget.isUsedUp) return;
      await searched(this.#settle(move, most, true));
    }
    for (const move of one ? [] : this.#open()) {
      if (this.#budget.isUsedUp) return;
      await searched(this.#settle(move, most));
    }
  }

  /** Search for a move's value; `alone`: only for whether it is a best one. */
  async #settle(move, most, alone = false) {
    const { scores, win } = this.#search.facts;
    const window = [-win, win];
    if (this.#root !== undefined) {
      const bound = move.sign * (scores ? this.#root - move.gain : this.#root + Math.sign(this.#root)); // as `drop` has it
      const [near, far] = move.sign > 0 ? [1, 0] : [0, 1]; // no move is worth more than the state
      window[near] = Math.max(near - win, Math.min(win - 1 + near, bound));
      if (alone) window[far] = window[near] - move.sign;
    }
    const found = await this.#ask.merit(move.child, this.#budget, ...window, most);
    const merit = found === undefined ? undefined : this.#lifted(move, found);
    if (merit !== undefined && (!alone || merit === this.#root)) move.merit = merit;
  }

  /** Look a ply further ahead of each move that is open; if the budget ends before, their estimates stay. */
  async #deepen() {
    const found = [];
    const moves = this.#open();
    const budget = this.#depth ? this.#budget : new Budget(); // one ply is always seen
    const before = budget.spent;
    this.#depth++;
    for (const move of moves) {
      const seen = await this.#ask.look(move.child, this.#depth, budget);
      if (!seen) return;
      found.push(seen);
    }
    this.#cost = budget.spent - before;
    for (const [place, { merit, exact }] of found.entries()) {
      moves[place][exact ? "merit" : "estimate"] = this.#lifted(moves[place], merit);
    }
  }

  /** Tell of it, if that was not just done. */
  #tell() {
    if (!this.#progress || performance.now() - this.#told < 100) return;
    this.#told = performance.now();
    this.#progress(this.#known());
  }

  #known() {
    const moves = this.#moves.map((move) => ({ action: move.action, child: move.child, ...this.#said(move), best: this.#isBest(move) }));
    if (this.#root !== undefined) return { ...this.#said({ merit: this.#root }), moves };
    return { ...this.#said({ estimate: this.#most() }), moves };
  }

  /** The estimate of the state: the most that a move promises, if something is known of all. */
  #most() {
    const worth = this.#moves.map(({ merit, estimate }) => merit ?? estimate);
    return worth.includes(undefined) ? undefined : Math.max(...worth);
  }

  /** @param {{ merit?: any, estimate?: any }} known */
  #said({ merit, estimate }) {
    if (merit !== undefined) return { value: this.#ask.valueOf(merit), exact: true };
    if (estimate === undefined) return { value: undefined, exact: false };
    const isSure = !this.#search.facts.scores && Math.abs(estimate) >= 1;
    if (isSure) return { value: { ...this.#ask.valueOf(estimate), distance: null }, exact: false };
    return { value: { score: estimate, distance: null, outcome: "estimate" }, exact: false };
  }
}

/**
 * A Search in a Web Worker, or a thread of Node: the same questions, while the page goes on. While there are questions the
 * worker is asked for signs of life, and ended when it gives none.
 */
export class Background {
  #worker;
  #asked = new Map();
  #count = 0;
  #patience;
  #beats;
  #silent = 0; // beats without an answer
  #end; // the error that ended it
  /** @type {any} what the module says of itself, once it is open */
  facts;

  /** As `Search.open`; `patience`: the milliseconds that the module may let the worker wait. */
  static async open(source, { patience = PATIENCE, ...options } = {}) {
    const background = new Background(await newWorker(), patience);
    try {
      const isPlace = source instanceof URL || (typeof source === "string" && globalThis.document);
      background.facts = await background.#ask("open", [isPlace ? new URL(source, globalThis.document?.baseURI).href : source, options]);
    } catch (error) {
      background.close();
      throw error;
    }
    return background;
  }

  constructor(worker, patience) {
    this.#worker = worker;
    this.#patience = patience;
    worker.onmessage = ({ data }) => this.#answered(data);
    worker.onerror = (event) => this.#fail(new Error(event.message || "the worker does not start"));
  }

  value(state, budget) {
    return this.#ask("value", [state], budget);
  }

  reaches(state, value, budget) {
    return this.#ask("reaches", [state, value], budget);
  }

  analyse(state, budget) {
    return this.#ask("analyse", [state], budget);
  }

  best(state, budget) {
    return this.#ask("best", [state], budget);
  }

  /** End the worker; what is asked stays without an answer. */
  close() {
    clearInterval(this.#beats);
    this.#worker.terminate();
  }

  /**
   * A promise of the worker's answer.
   * @param {string} method
   * @param {any[]} asked
   * @param {{ signal?: AbortSignal, progress?: any, milliseconds?: number, nodes?: number }} [limits]
   */
  #ask(method, asked, { signal, progress, ...budget } = {}) {
    if (this.#end) return Promise.reject(this.#end);
    const id = ++this.#count;
    const cancel = () => this.#worker.postMessage({ id, cancel: true });
    return new Promise((resolve, reject) => {
      if (!this.#asked.size) this.#watch();
      this.#asked.set(id, { resolve, reject, progress });
      this.#worker.postMessage({ id, method, asked, budget, tells: Boolean(progress) });
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel);
    }).finally(() => signal?.removeEventListener("abort", cancel));
  }

  #answered({ id, answer, error, progress }) {
    this.#silent = 0;
    const { resolve, reject, progress: tell } = this.#asked.get(id) ?? {};
    if (progress) return tell?.(progress);
    this.#asked.delete(id);
    if (!this.#asked.size) clearInterval(this.#beats);
    if (error) reject?.(new (error.name === "ForeignModule" ? ForeignModule : Error)(error.message));
    else resolve?.(answer);
  }

  /** Ask for signs of life, a few times before it is ended: pages and machines are sent to sleep, too. */
  #watch() {
    const beats = 8;
    clearInterval(this.#beats);
    this.#silent = 0;
    this.#beats = setInterval(() => {
      if (this.#silent++ < beats) return this.#worker.postMessage({ id: 0, beat: true });
      this.close();
      this.#fail(new Error("the module does not end what it was asked, and was ended"));
    }, this.#patience / beats);
  }

  /** The end of all that is asked. */
  #fail(error) {
    this.#end = error;
    clearInterval(this.#beats);
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

/** A Web Worker, or a thread of Node that is used as one. */
async function newWorker() {
  if (globalThis.Worker) return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const { Worker: Thread } = await ofNode("worker_threads");
  /** @type {any} */
  const thread = new Thread(new URL("./worker.js", import.meta.url));
  thread.on("message", (data) => thread.onmessage({ data }));
  return thread.on("error", (error) => thread.onerror(error));
}

/** The exports of a module whose states lie in its memory, as functions of states: BigInts. */
function widened(exports, words) {
  const wordsAt = (address) => new BigUint64Array(exports.memory.buffer, Number(address), words);
  const placed = (state) => {
    const place = wordsAt(ROOM);
    for (let word = 0; word < words; word++) place[word] = state >> BigInt(64 * word); // the lowest 64 bits of that
    return BigInt(ROOM);
  };
  const stateAt = (address) => wordsAt(address).reduceRight((state, word) => (state << 64n) | word, 0n);
  const functions = { ...exports };
  for (const name of new Set([...TAKING, ...GIVING])) {
    if (typeof exports[name] !== "function") continue;
    const takes = TAKING.includes(name);
    const gives = GIVING.includes(name);
    functions[name] = (...asked) => {
      const found = takes ? exports[name](placed(asked[0]), ...asked.slice(1)) : exports[name]();
      return gives ? stateAt(found) : found;
    };
  }
  return functions;
}

/** What comes of what a module has to bear. Throws ForeignModule if it does not. */
function orForeign(task) {
  try {
    return task();
  } catch (error) {
    throw new ForeignModule(`the module does not start: ${error.message.slice(0, 200)}`);
  }
}

/** The words of a table of so many bytes: a power of two. */
const wordsOf = (table) => 2 ** Math.floor(Math.log2(Math.max(1 << 14, table / 8)));

/** Whether a memory takes so many pages more: it then has them. */
function grows(memory, pages) {
  try {
    memory.grow(pages);
    return true;
  } catch {
    return false;
  }
}

const pairs = (words) => words.flatMap((word, at) => (at % 2 ? [] : [[word, words[at + 1]]]));

/** A state as BigInt. Raises TypeError for a Number that may have been rounded, and for all that is not a number. */
function stateOf(state) {
  if (typeof state === "bigint") return state;
  if (Number.isSafeInteger(state)) return BigInt(state);
  throw new TypeError(`${state} is not a state: a BigInt, or a Number up to 2^53 - 1`);
}

const inHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A promise of the SHA-256 of bytes, in hex. */
async function checksum(bytes) {
  const quick = globalThis.crypto?.subtle;
  return quick ? inHex(new Uint8Array(await quick.digest("SHA-256", bytes))) : sha256(bytes);
}

/** The checksum of FIPS 180-4, in hex: browsers have their own, for pages of https alone. */
export function sha256(bytes) {
  const primes = [];
  for (let number = 2; primes.length < 64; number++) if (primes.every((prime) => number % prime)) primes.push(number);
  const fraction = (number) => Math.floor((number - Math.floor(number)) * 2 ** 32) | 0;
  const keys = primes.map((prime) => fraction(Math.cbrt(prime)));
  const sums = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const data = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  data.set(bytes);
  data[bytes.length] = 0x80;
  const view = new DataView(data.buffer);
  view.setBigUint64(data.length - 8, BigInt(bytes.length) * 8n);
  const turned = (word, by) => (word >>> by) | (word << (32 - by));
  const words = new Int32Array(64);
  for (let at = 0; at < data.length; at += 64) {
    for (let place = 0; place < 64; place++) {
      if (place < 16) words[place] = view.getInt32(at + 4 * place);
      else {
        const [early, late] = [words[place - 15], words[place - 2]];
        const mixed = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
        words[place] = words[place - 16] + mixed + words[place - 7] + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    for (let place = 0; place < 64; place++) {
      const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + keys[place] + words[place];
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((sum, place) => (sums[place] = (sums[place] + sum) | 0));
  }
  return sums.map((sum) => (sum >>> 0).toString(16).padStart(8, "0")).join("");
}
