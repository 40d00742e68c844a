/**
 * The page: a game on its board, with what its book says of every move, or, where that ends or there is none, a search.
 *
 * `line` has the positions of the game, `at` tells which of them is looked at; both follow from the moves in the
 * address behind `#`, so that every position has a link.
 */

import { Book, remote } from "./book.js";
import { createBoard } from "./board.js";
import { legend, news, odds, thrown } from "./dice.js";
import { firstDifference } from "./rules.js";
import { Background } from "./search.js";
import { chosen, examine, finalMargin, inAll, inWords, isSettled, joined, kindOf, unexamined } from "./values.js";

// milliseconds
const PAUSE = 500; // before the page answers a move
const PATIENCE = 150; // before a position is shown without its values
const LOOKING = 3000; // that a search of what the book lacks may take
const SLICE = 12; // of that at a time
const THINKING = 1000; // that the page searches before it plays
const LONGEST = 60000; // that it searches while a position is looked at

const NO_BOOK = { get: async () => undefined, facts: {} };

const $ = (id) => document.getElementById(id);
const never = new Promise(() => {});
const { about, game, records, rules } = await import("./game.js").catch((error) => (fail(error.message), never));
let book = NO_BOOK;
let search; // past the end of the book; undefined where the page has no module
let line = []; // { state, mover, gained }, and from the second on the name and the place of the move that led there, and
// whether it was a throw
let at = 0;
let shown; // what is known of the position that is looked at; undefined while that is found out
let turn = 0; // what is under way for an earlier position is dropped
let listed; // the turn whose moves the list has
let seeking = new AbortController(); // the search that is under way
const board = createBoard($("board"), choose);

async function begin() {
  const differs = firstDifference(game, records);
  if (differs) {
    throw new Error(`The rules run otherwise here than in Python, at state ${differs.record.state}: export the page again`);
  }
  await (about.digest ? openBook() : openSearch());
  $("summary").textContent = about.summary;
  listFacts();
  for (const part of about.expects ? document.querySelectorAll(".of-chance") : []) part.hidden = false;
  document.body.classList.toggle("chance", Boolean(about.expects));
  $("legend").hidden = !game.text;
  listen();
  await readAddress();
  if (about.digest && about.searches) searchOn();
}

async function openBook() {
  book = await Book.open(remote("book.bin"), { rules });
  if (book.facts.digest !== about.digest) throw new Error("book.bin and game.js are of two exports: reload, or export again");
  for (const part of document.querySelectorAll(".of-book")) part.hidden = false;
}

/** Have the module at hand, by which the page searches. */
async function openSearch() {
  search = await Background.open("game.wasm", about.module);
}

/** Search on where the book ends. */
async function searchOn() {
  try {
    await openSearch();
    if (shown && !isSettled(shown)) await show();
  } catch (error) {
    say(`The page cannot search past its book: ${error.message}`);
  }
}

/** The names of the players: by their men, where each has one kind. */
const players = (() => {
  const men = new Set(records.flatMap(({ board: rows }) => (typeof rows === "string" ? [] : [...rows.join("")])));
  const kinds = [/\p{Lu}/u, /\p{Ll}/u].map((kind) => [...men].filter((man) => kind.test(man)));
  return kinds.every((men) => men.length === 1) ? kinds.map(([man]) => man.toUpperCase()) : ["First player", "Second player"];
})();

// the game so far

const here = () => line[at];

function after(position, move) {
  const gained = position.gained + move.gain;
  const { child: state, mover, name, place } = move;
  const isThrow = move.weight !== undefined;
  return { state, mover, gained: mover === position.mover ? gained : 0 - gained, name, place, isThrow };
}

function play(move) {
  const next = after(here(), move);
  if (line[at + 1]?.name !== next.name) line = [...line.slice(0, at + 1), next];
  go(at + 1);
}

/** Play a move of the person's, if it is their turn, and of the position that is looked at: not twice by two clicks. */
function choose(move) {
  if (shown && waits()) play(move);
}

function go(place) {
  at = Math.max(0, Math.min(place, line.length - 1));
  history.replaceState(null, "", address());
  return show();
}

function address() {
  const from = line[0].state === game.initial ? [] : [`state=${line[0].state}`];
  const moves = line.slice(1, at + 1).map(({ name }) => encodeURIComponent(name));
  return `#${[...from, ...(moves.length ? [`moves=${moves.join(",")}`] : [])].join("&")}`;
}

/** The position of the address: `#moves=4,4,5`, or `#state=12345&moves=5`, as far as its moves are legal. */
async function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  let trouble = "";
  line = [{ state: game.initial, mover: game.mover(game.initial), gained: 0 }];
  if (parts.has("state")) {
    const state = await known(parts.get("state"));
    if (state === undefined) trouble = `The state of the link is not in ${about.digest ? "the" : "a"} book; the start is shown.`;
    else line = [{ state, mover: game.mover(state), gained: 0 }];
  }
  for (const name of trouble ? [] : (parts.get("moves") ?? "").split(/[ ,]+/).filter(Boolean)) {
    const { state, mover } = line.at(-1);
    const move = game.end(state) ? undefined : game.moves(state, mover).find((one) => one.name === name);
    if (!move) {
      trouble = `Move ${line.length} of the link, ${name}, is not legal there; the moves before it are shown.`;
      break;
    }
    line.push(after(line.at(-1), move));
  }
  await go(line.length - 1);
  if (trouble) say(trouble);
}

/** The state of a text that may be anything, if the book stores it: rules need not bear other numbers. */
async function known(text) {
  const state = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
  return (await book.get(state)) === undefined ? undefined : state;
}

const person = () => document.querySelector("input[name=side]:checked").value;
const isMine = ({ mover }) => person() === "both" || Number(person()) === mover;

/** Whether the person is to do something; chance decides by itself for the other side, unless the dice are real. */
const waits = () => isMine(here()) || (shown.byChance && $("real").checked);

/** The last position before this one in which a move can be taken back. */
function before() {
  for (let place = at - 1; place >= 0; place--) if (isMine(line[place])) return place;
  return -1;
}

function playBest() {
  if (shown?.byChance) throwDice();
  else {
    const move = chosen(shown?.moves ?? []);
    if (move) play(move);
  }
}

/** The page's own move; past the end of the book, where it knows nothing of any, one at random. */
function answer() {
  if (shown.byChance || chosen(shown.moves)) playBest();
  else play(shown.moves[Math.floor(Math.random() * shown.moves.length)]);
}

function throwDice() {
  if (shown?.byChance) play(thrown(shown.moves));
}

// what is seen

async function show() {
  const mine = ++turn;
  let found;
  shown = undefined;
  seeking.abort();
  const late = setTimeout(() => mine === turn && present({ ...unexamined(game, here()), isLooking: true }), PATIENCE);
  try {
    found = await examine(game, book, { ...about, wdl: book.facts.wdl }, here(), search ? () => false : looking(mine));
  } catch (error) {
    if (mine === turn) fail(`The book cannot be read: ${error.message}`);
    return;
  } finally {
    clearTimeout(late);
  }
  if (mine !== turn) return;
  const searches = search && !isSettled(found);
  present({ ...found, isSearching: searches });
  const searched = searches && seek(mine, found);
  if (shown.end || waits()) return;
  if (at === line.length - 1) await Promise.race([searched, searches && passed(THINKING)]);
  await passed(PAUSE);
  if (mine === turn) at === line.length - 1 ? answer() : go(at + 1);
}

const passed = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Search for what is not known of the position that is looked at, for as long as it is, and show what is found. */
async function seek(mine, found) {
  seeking = new AbortController();
  const known = { ...about, wdl: book.facts.wdl };
  const reveal = (analysis, isSearching) => mine === turn && revise({ ...joined(found, analysis, known), isSearching });
  const budget = { milliseconds: LONGEST, signal: seeking.signal, progress: (analysis) => reveal(analysis, true) };
  try {
    reveal(await search.analyse(here().state, budget), false);
  } catch (error) {
    if (mine !== turn) return;
    revise({ ...shown, isSearching: false });
    say(`The search has failed: ${error.message}`);
  }
}

/** What a search asks at each of its nodes: it lets the page breathe, and ends with its time, or when play goes on. */
function looking(mine) {
  const end = performance.now() + LOOKING;
  let since = performance.now();
  let pause;
  return async () => {
    while (performance.now() - since > SLICE) {
      pause ??= new Promise((resolve) => setTimeout(resolve)).then(() => ([since, pause] = [performance.now(), undefined]));
      await pause;
    }
    return mine === turn && since < end;
  };
}

function present(found) {
  shown = found;
  say("");
  draw();
  $("status").replaceChildren(...sentence());
}

/** Show what is known by now of the same position: nothing that is being pressed goes. */
function revise(found) {
  shown = found;
  drawMoves();
  const parts = sentence();
  const text = parts.map((part) => part.textContent ?? part).join("");
  if (text !== $("status").textContent) $("status").replaceChildren(...parts);
}

/** The board and the moves, with what is known of them. */
function drawMoves() {
  const visible = $("values").checked;
  const labelled = shown.moves.map((move) => ({
    ...move,
    kind: visible ? kindOf(move.value) : "",
    words: visible && !shown.isLooking ? (move.value === undefined && shown.isSearching ? "searching" : inWords(move.value, about)) : "",
    best: visible && move.best,
  }));
  const rows = game.board(here().state, here().mover);
  board.draw(rows, labelled, here().place?.at(-1));
  if (game.text) $("legend").textContent = legend(textOf(here()), rows);
  if (listed !== turn) listMoves(labelled);
  listed = turn;
  for (const [place, button] of [...$("moves").querySelectorAll("button")].entries()) label(button, labelled[place]);
  $("best").disabled = !chosen(shown.moves);
}

/** All but the status, of what is known. */
function draw() {
  drawMoves();
  listHistory();
  $("undo").disabled = before() < 0;
  $("redo").disabled = at === line.length - 1;
  $("throw").disabled = !shown.byChance;
  $("restart").disabled = line.length === 1;
  $("link").href = address();
}

/** The board as text, of a position or of the child of a move. */
function textOf({ state, mover }) {
  const board = game.board(state, mover);
  return typeof board === "string" ? board : game.text(state, mover);
}

/** What led to the position that is looked at. */
function lastPlayed() {
  const before = line[at - 1];
  if (!before) return "";
  if (!here().isThrow) return `${players[before.mover]} played ${here().name}. `;
  const brought = news(textOf(before), textOf(here()));
  return `${players[before.mover]} threw ${here().name}${brought && ` (${brought})`}. `;
}

/** The status: what was played, who is to move, and what the position is worth. */
function sentence() {
  const { mover, gained } = here();
  const repeats = !about.expects && line.slice(0, at).some((one) => one.state === here().state && one.mover === mover);
  const again = repeats ? " The position repeats." : "";
  const played = lastPlayed();
  if (shown.end) return [played, marked(kindOf(shown.value), ending(mover, gained))];
  const who = `${players[mover]} to ${shown.byChance ? "throw" : "move"}`;
  if (shown.isLooking) return [played, `${who}. Asking the book, and looking ahead where it ends.`];
  const best = shown.moves.filter((move) => move.best).map((move) => move.name);
  const unsure = search ? " No move is known to be best." : " The book ends here: no move is known to be best.";
  const ends = shown.isSearching ? " Searching." : best.length || shown.byChance ? "" : unsure;
  const alone = ends && !search && person() !== "both" ? " The page plays on as well as it can." : "";
  if (!$("values").checked) return [played, `${who}.`, ends, alone, again];
  const advice = best.length > 8 ? ` ${best.length} moves keep it.` : best.length ? ` Best: ${best.join(", ")}.` : "";
  const worth = shown.isSearching && shown.value === undefined ? [`${who}`] : [`${who}: `, marked(kindOf(shown.value), inAll(shown.value, about, gained))];
  return [played, ...worth, ".", advice, ends, alone, again];
}

function ending(mover, gained) {
  const margin = about.scores ? finalMargin(shown.value, gained) : shown.value.score;
  if (!margin) return "The game is drawn.";
  const by = about.scores && about.expects !== "utility" ? ` by ${Math.abs(margin)}` : "";
  return `${players[margin > 0 ? mover : 1 - mover]} wins${by}.`;
}

function marked(kind, text) {
  return element("span", { className: `value ${kind}`, textContent: text });
}

function listMoves(moves) {
  const focused = [...$("moves").querySelectorAll("button")].indexOf(document.activeElement);
  $("moves-title").textContent = shown.byChance ? "Throws" : "Moves";
  $("moves").replaceChildren(
    ...moves.map((move, place) => {
      const button = element("button", { type: "button" });
      const says = place < 9 && keyOf(moves, place) !== move.name;
      const key = says ? [element("kbd", { textContent: keyOf(moves, place), ariaHidden: "true" })] : [];
      const value = [" ", marked("", "")];
      const star = element("span", { className: "star" });
      const name = element("span", { className: "name", textContent: move.name });
      if (shown.byChance) {
        button.className = "throw";
        const share = element("span", { className: "odds", textContent: odds(move, moves) });
        const brings = element("span", { className: "news", textContent: newsOf(move) });
        button.append(name, " ", share, ...value, " ", brings);
      } else button.append(...key, name, ...value, " ", star);
      button.addEventListener("click", () => choose(move));
      return wrapped("li", button);
    }),
  );
  const buttons = $("moves").querySelectorAll("button");
  if (focused >= 0) (buttons[Math.min(focused, buttons.length - 1)] ?? $("restart")).focus();
}

/** Say in the list what a move is worth. */
function label(button, { kind, words, best }) {
  const [value, star] = [button.querySelector(".value"), button.querySelector(".star")];
  Object.assign(value, { className: `value ${kind}`, textContent: words });
  if (star) Object.assign(star, { className: best ? "star best" : "star", textContent: best ? "best" : "" });
}

const newsOf = ({ child, mover }) => news(textOf(here()), textOf({ state: child, mover }));

/** The key that plays a move: its name, or its place where no move has a digit as its name. */
function keyOf(moves, place) {
  return moves.some(({ name }) => /^\d$/.test(name)) ? moves[place].name : String(place + 1);
}

function listHistory() {
  const entry = (position, place) => {
    const button = element("button", { type: "button" });
    if (place) button.append(element("span", { className: "number", textContent: `${place}.${position.isThrow ? " threw" : ""}` }), ` ${position.name}`);
    else button.textContent = "start";
    if (place === at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(place).then(() => $("history").querySelectorAll("button")[place]?.focus()));
    return wrapped("li", button);
  };
  $("history").replaceChildren(...line.map(entry));
}

function listFacts() {
  const checked = records.length ? `agree with Python's on ${records.length} positions, as just tried` : "a table of all positions";
  const { rules, digest } = about.digest ? book.facts : about.module;
  const facts = {
    game: about.game,
    ...(about.digest ? factsOf(book) : { values: "searched here, for a minute a position; there is no book" }),
    "rules here": checked,
    rules,
    ...(about.digest ? { digest } : {}),
  };
  const rows = Object.entries(facts).map(([term, fact]) => [element("dt", { textContent: term }), element("dd", { textContent: fact })]);
  $("facts").replaceChildren(...rows.flat());
}

/** What a book says of its values. */
function factsOf({ facts: { method, scope, symmetry, states, stored, counts, root, longest, expectation } }) {
  const kinds = expectation ? { win: "better", draw: "even", loss: "worse" } : { win: "win", draw: "draw", loss: "loss" };
  return {
    ...(expectation ? valuesOf(expectation, root) : { "start is a": inWords(root, about) }),
    positions: `${(states ?? stored).toLocaleString("en")}${states === null ? " with a value" : ""}`,
    "to move": Object.entries(counts).map(([kind, count]) => `${count.toLocaleString("en")} ${kinds[kind]}`).join(", "),
    ...(expectation ? {} : { "longest win": longest === null ? "none" : `${longest.distance} plies` }),
    solved: `${method}, ${scope}${symmetry ? ", folded by symmetry" : ""}`,
  };
}

/** What the values of a game of chance are, and the start's. */
function valuesOf({ of, error }, root) {
  const share = of === "utility" ? ": winning chances, of which a draw is half" : "";
  return {
    "start is worth": `${inAll(root, about, 0)} for the first player`,
    values: `expected ${of}, within ${error.toPrecision(3)}${share}`,
  };
}

function say(trouble) {
  $("trouble").textContent = trouble;
  $("trouble").hidden = !trouble;
}

/** Nothing can be answered here: nothing of another position may be left. */
function fail(trouble) {
  $("status").textContent = "";
  $("moves").replaceChildren();
  say(trouble);
}

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function wrapped(name, child) {
  const parent = document.createElement(name);
  parent.append(child);
  return parent;
}

// what is done

function listen() {
  $("undo").addEventListener("click", () => before() >= 0 && go(before()));
  $("redo").addEventListener("click", () => go(at + 1));
  $("best").addEventListener("click", playBest);
  $("throw").addEventListener("click", throwDice);
  $("real").addEventListener("change", show);
  $("restart").addEventListener("click", restart);
  $("values").addEventListener("change", show);
  $("sides").addEventListener("change", show);
  addEventListener("hashchange", readAddress);
  document.addEventListener("keydown", onKey);
}

function restart() {
  line = line.slice(0, 1);
  go(0);
}

const KEYS = { u: "undo", r: "redo", b: "best", t: "throw", n: "restart" };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !shown) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isInput = event.target instanceof HTMLInputElement && event.target.type === "radio";
  if (/^[1-9]$/.test(key)) {
    const moves = shown.moves;
    const place = moves.findIndex((_, one) => keyOf(moves, one) === key);
    if (place >= 0) choose(moves[place]);
  } else if (KEYS[key]) $(KEYS[key]).click();
  else if (key === "Escape") board.letGo();
  else if (key.startsWith("Arrow") && !isInput) walk(event, key);
}

/** Arrows go over the board, or over the list of moves. */
function walk(event, key) {
  const buttons = [...$("moves").querySelectorAll("button")];
  const place = buttons.indexOf(document.activeElement);
  const step = key === "ArrowDown" || key === "ArrowRight" ? 1 : -1;
  if (place >= 0) buttons[(place + step + buttons.length) % buttons.length].focus();
  else if (!board.walk(key)) {
    if ($("board").contains(document.activeElement) || document.activeElement === document.body) buttons[0]?.focus();
    else return;
  }
  event.preventDefault();
}

begin().catch((error) => fail(error.message));
