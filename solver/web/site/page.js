/**
 * The page: a game on its board, with what its book says of every move, or, where that ends or there is none, a search.
 *
 * `line` has the positions of the game, `at` tells which of them is looked at; both follow from the moves in the
 * address behind `#`, so that every position has a link.
 */

import { Book, remote } from "./book.js";
import { createBoard } from "./board.js";
import { drawChart } from "./chart.js";
import { changed, legend, news, pictureOfDice, thrown, thrownFaces } from "./dice.js";
import { $, marked, passed } from "./elements.js";
import { decisive, sideOf } from "./ending.js";
import { listenToKeys } from "./keys.js";
import { label, listFacts, listHistory, listMoves, listVariations, moveButtons } from "./lists.js";
import { chosenBy, LEVELS, Practical } from "./opponent.js";
import { areOpposite } from "./men.js";
import { Puzzles } from "./puzzles.js";
import { firstDifference, isFrom, played } from "./rules.js";
import { sidesOf } from "./scene.js";
import { asked, createEditor, moverOf, sentence as asSentence } from "./setup.js";
import { asObject, copy, embedding } from "./share.js";
import { chosen, examine, inAll, inOrder, inParts, inWords, isSettled, joined, kindOf, standing, unexamined, valueOf } from "./values.js";
import { phrase, sideName } from "./words.js";
import { bestPlay, givenAway, inSteps, listSteps, losing } from "./why.js";

// milliseconds
const PAUSE = 500; // before the page answers a move
const PATIENCE = 150; // before a position is shown without its values
const LOOKING = 3000; // that a search of what the book lacks may take
const SLICE = 12; // of that at a time
const THINKING = 1000; // that the page searches before it plays
const LONGEST = 60000; // that it searches while a position is looked at
const STEP = 1500; // before the next move of a line that explains one
const EXPLAINING = 2000; // that it searches for each move of such a line

const SAID = 6000; // that a message about what was copied stays
const FEW = 8; // moves that the status names
const OTHERS = 6; // other lines that are kept

/** @type {any} */
const NO_BOOK = { get: async () => undefined, facts: {} };

const never = new Promise(() => {});
const { about, game: whole, records, rules } = await import(new URL("game.js", document.baseURI).href).catch((error) => (fail(error.message), never));
const drawing = about.drawing ?? {};
const game = { ...whole, moves: (state, mover) => whole.moves(state, mover).map((move) => shownAs(move, state, mover)) };
let book = NO_BOOK;
let search; // past the end of the book; undefined where the page has no module
/** @type {any[]} */
let line = []; // { state, mover, gained }, from the second on the name and the place of the move that led there, and
// whether it was a throw; `value` where it is known
let at = 0;
/** @type {any} */
let shown; // what is known of the position that is looked at; undefined while that is found out
let turn = 0; // what is under way for an earlier position is dropped
let listedAt; // the turn whose moves the list has, and in which order: their places among the moves
let order = [];
let seeking = new AbortController(); // the search that is under way
let variations = []; // lines that were left for the present one
/** @type {any} */
let reason; // the line that explains a move: { line, from, steps, back, plays }, where it begins, and where to return
let puzzles; // those of the page, if it has any
let puzzle; // the one that is to be solved: { place, mover, missed, done }, its solver's side, wrong tries of the move that is
// due, and whether all moves were found
let arrives = false; // whether the move that led here is just being played
const board = createBoard($("board"), choose, drawing, players());

async function begin() {
  const differs = firstDifference(whole, records);
  if (differs) {
    throw new Error(phrase("runsOtherwise", { state: differs.record.state }));
  }
  await (about.digest ? openBook() : openSearch());
  listFacts(about, book, records);
  document.body.classList.add(...sidesOf(drawing));
  for (const part of about.expects ? partsOf(".of-chance") : []) part.hidden = false;
  document.body.classList.toggle("chance", Boolean(about.expects));
  document.body.classList.toggle("estimates", Boolean(book.facts.estimate || !about.digest));
  $("dice").hidden = !drawing.dice;
  $("opponent").hidden = Boolean(about.expects);
  $("plies").hidden = Boolean(about.scores || about.expects || book.facts.wdl || book.facts.estimate);
  for (const [side, name] of $("sides").querySelectorAll("span").entries()) name.textContent = players()[side];
  if (about.puzzles) puzzles = new Puzzles(about.puzzles, about.digest);
  $("puzzles").hidden = !puzzles;
  recallPreferences(!location.hash && !document.documentElement.classList.contains("embed"));
  listen();
  await readAddress();
  if (about.digest && about.searches) searchOn();
}

/** @type {(selector: string) => NodeListOf<HTMLElement>} */
const partsOf = (selector) => document.querySelectorAll(selector);

async function openBook() {
  book = await Book.open(remote("book.bin"), { rules });
  if (book.facts.digest !== about.digest) throw new Error(phrase("twoExports"));
  for (const part of partsOf(".of-book")) part.hidden = false;
}

/** Have the module at hand, by which the page searches. */
async function openSearch() {
  const { Background } = await import("./search.js");
  search = await Background.open("game.wasm", about.module);
}

/** Search on where the book ends. */
async function searchOn() {
  try {
    await openSearch();
    if (shown && !isSettled(shown)) await show();
  } catch (error) {
    say(phrase("cannotSearch", { reason: error.message }));
  }
}

/** The names of the players: as the rules draw them, by their pieces where each has one kind, else by who begins. */
function players() {
  if (drawing.sides) return drawing.sides.map(sideName);
  const men = new Set(records.flatMap(({ board: rows }) => (typeof rows === "string" ? [] : [...rows.join("")])));
  const kinds = [/\p{Lu}/u, /\p{Ll}/u].map((kind) => [...men].filter((man) => kind.test(man)));
  return kinds.every((men) => men.length === 1) ? kinds.map(([man]) => man.toUpperCase()) : [phrase("firstPlayer"), phrase("secondPlayer")];
}

/** A move as the page shows it: throws by their dice, and cells of a board that the second player sees turned round. */
function shownAs(move, state, mover) {
  if (move.weight !== undefined) return { ...move, label: thrownFaces(drawing.dice, move.name) ?? move.name };
  if (!drawing.turns) return move;
  const last = [...game.board(state, mover).join("")].length - 1;
  return mover ? { ...move, place: move.place.map((cell) => last - cell) } : move;
}

// the game so far

const names = players();
const areFacing = areOpposite(game.board(game.initial, game.mover(game.initial)), drawing); // so that a second player sees the board turned
const here = () => line[at];
const UNPUT = ["pits", "piles", "dots", "tray"]; // boards of seeds, heaps, lines and hands: their rows are typed
const isPut = game.from && !UNPUT.includes(drawing.board);
const editor = isPut ? createEditor({ game, drawing, records, board, names, opened, closed: show, take: lookAt, say }) : undefined;

function play(move) {
  const next = played(here(), move);
  if (line[at + 1]?.name !== next.name) replace([...line.slice(0, at + 1), next]);
  arrives = true;
  go(at + 1);
}

/** Go over to another line, and keep the one that is left among the variations. */
function replace(next) {
  const isWithin = (one, other) => one.every(({ name }, place) => other[place] && other[place].name === name);
  variations = [line, ...variations.filter((one) => one !== line)].filter((one) => !isWithin(one, next)).slice(0, OTHERS);
  line = next;
}

/** Play a move of the person's, if it is their turn, and of the position that is looked at: not twice by two clicks. */
function choose(move) {
  if (!shown || !(isWatched() || waits())) return;
  watch(false);
  if (isOpen()) attempt(move);
  else play(move);
}

const autos = () => [...$("sides").querySelectorAll("input")]; // for each side, whether the page plays it
const isWatched = () => autos().every((side) => side.checked);

/** Have the page play both sides, or, if it did, neither. */
function watch(wanted) {
  const isOn = wanted && !shown?.end;
  if (isOn !== isWatched()) for (const side of autos()) side.checked = isOn;
  if (reason) reason.plays = false;
  showSides();
}

function showSides() {
  $("watch").setAttribute("aria-pressed", String(isWatched()));
  $("watch").textContent = phrase(isWatched() ? "stop" : "watch");
  $("swap").disabled = new Set(autos().map((side) => side.checked)).size === 1;
}

function swap() {
  for (const side of autos()) side.checked = !side.checked;
  show();
}

function go(place) {
  at = Math.max(0, Math.min(place, line.length - 1));
  history.replaceState(null, "", address());
  return show();
}

/** Go where a person wants to: what plays by itself stops. */
function visit(place) {
  watch(false);
  return go(place);
}

function address() {
  if (puzzle) return `#puzzle=${puzzle.place + 1}`;
  const { state, mover } = line[0];
  const from = state === game.initial ? [] : [`state=${state}`, ...(mover === game.mover(state) ? [] : [`mover=${mover}`])];
  const moves = line.slice(1, at + 1).map(({ name }) => encodeURIComponent(name));
  return `#${[...from, ...(moves.length ? [`moves=${moves.join(",")}`] : [])].join("&")}`;
}

/** Pieces are being put: nothing is played meanwhile. */
function opened() {
  turn++;
  seeking.abort();
  watch(false);
  shown = undefined;
  say("");
  $("status").textContent = phrase("putting");
  return here();
}

/** The position of the address: `#moves=4,4,5`, or `#state=12345&mover=1&moves=5`, as far as its moves are legal; or a puzzle. */
async function readAddress() {
  const raw = location.hash.slice(1).replaceAll("+", "%2B");
  const parts = new URLSearchParams(raw);
  let trouble = "";
  [puzzle, reason, variations] = [undefined, undefined, []];
  const place = puzzles?.place(parts.get("puzzle"));
  if (place !== undefined) return setPuzzle(place);
  line = [{ state: game.initial, mover: game.mover(game.initial), gained: 0 }];
  if (parts.has("state")) {
    const state = /^\d{1,154}$/.test(parts.get("state") ?? "") ? BigInt(parts.get("state") ?? "") : -1n;
    const mover = parts.get("mover") === "1" ? 1 : moverOf(game, state);
    if (await isKnown(state, mover)) line = [{ state, mover, gained: 0 }];
    else trouble = phrase(about.digest ? "stateNotInBook" : "stateNotInABook");
  }
  const asked = trouble ? [] : namesOf(raw);
  while (asked.length) {
    const name = asked.shift() ?? "";
    const { state, mover } = line.at(-1);
    const move = game.end(state) ? undefined : game.moves(state, mover).find((one) => one.name === name);
    if (!move && name.includes(" ")) asked.unshift(...name.split(" ").filter(Boolean));
    else if (!move) {
      trouble = phrase("moveNotLegal", { number: line.length, move: name });
      break;
    } else line.push(played(line.at(-1), move));
  }
  await go(line.length - 1);
  if (trouble) say(trouble);
}

/** The moves of an address, with commas between them; names may have spaces. */
function namesOf(raw) {
  const list = /(?:^|&)moves=([^&]*)/.exec(raw)?.[1] ?? "";
  try {
    return list.split(/,|%2C/i).map((name) => decodeURIComponent(name).trim()).filter(Boolean);
  } catch {
    return [list]; // no such move
  }
}

/**
 * Whether a number is a state that can be looked at: one that the book stores; or one that the rules tell from its board and
 * that is over, known to the book by its image, or can be searched. Rules need not bear other numbers.
 */
async function isKnown(state, mover) {
  if (state < 0n) return false;
  if ((await book.get(state)) !== undefined) return true;
  if (!game.from || !isFrom(game, state, mover)) return false;
  const isWhole = about.digest && !about.searches && book.facts.scope === "complete";
  return !isWhole || Boolean(game.end(state)) || (await book.get(game.key(state))) !== undefined;
}

/** What is known of the game, with what its book says of its values. */
const told = () => ({ ...about, wdl: book.facts.wdl, estimate: book.facts.estimate });

/** Whether a line is shown that explains a move. */
const isExplained = () => reason?.line === line && at >= reason.from;

/** Whether the person plays the side to move. */
function isMine({ mover }) {
  if (isExplained()) return true;
  return puzzle ? mover === puzzle.mover : !autos()[mover].checked;
}

/** Whether the person is to do something; chance decides by itself for the other side, unless the dice are real. */
const waits = () => isMine(here()) || (shown.byChance && $("real").checked && !isWatched());

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

/** The page's own move, by its level; past the end of the book, where it knows nothing of any, one at random. */
async function answer(mine) {
  if (shown.byChance) return playBest();
  const { moves } = shown;
  const level = puzzle ? "perfect" : isWatched() ? "tricky" : Object.keys(LEVELS)[$("level").value];
  const place = about.expects ? undefined : await chosenBy(level, looks, here().state, moves);
  if (mine !== turn) return;
  if (place !== undefined) play(moves[place]);
  else if (chosen(moves)) playBest();
  else play(moves[Math.floor(Math.random() * moves.length)]);
}

const practical = new Map(); // by the plies that its opponent sees

/** Practical play against a player that sees so many plies. */
function looks(plies) {
  if (!practical.has(plies)) practical.set(plies, new Practical(game, book, told(), plies));
  return practical.get(plies);
}

function throwDice() {
  if (shown?.byChance) play(thrown(shown.moves));
}

// why, and puzzles

/** Show why the move at a place of the list is good or bad: best play after it, step by step. */
async function explain(place) {
  watch(false);
  seeking.abort();
  const [mine, move] = [turn, shown.moves[place]];
  const back = isExplained() ? reason.back : { line, at };
  const position = { ...here(), value: shown.value };
  try {
    const found = await bestPlay(knownOf, game, about, position, move);
    if (mine !== turn) return;
    const next = [...line.slice(0, at + 1), ...found];
    replace(next);
    reason = { line: next, from: at + 1, steps: inSteps(game, about, names, position, move, found), back, plays: !isStill() };
    arrives = true;
    await go(at + 1);
  } catch (error) {
    if (mine === turn) say(phrase("lineNotShown", { reason: error.message }));
  }
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** What the book knows of a position, or else a short search. */
async function knownOf(position) {
  const found = await examine(game, book, told(), position, () => !search);
  if (!search || isSettled(found)) return found;
  return joined(found, await search.analyse(position.state, { milliseconds: EXPLAINING }), told());
}

/** Leave the line that explains a move. */
function leaveReason() {
  const { back } = reason;
  replace(back.line);
  reason = undefined;
  visit(back.at);
}

/** Set the puzzle at a place. */
function setPuzzle(place) {
  const state = BigInt(puzzles.list[place].state);
  const mover = moverOf(game, state);
  watch(false);
  puzzle = { place, mover, missed: new Set(), done: false };
  line = [{ state, mover, gained: 0 }];
  $("verdict").textContent = "";
  return go(0);
}

/** Judge a move of the person's in a puzzle: a wrong one is not played. The page answers until the line is found. */
function attempt(move) {
  const gives = givenAway(shown.value, move.value);
  if (gives === undefined) return; // the book is still being read
  if (gives) {
    puzzles.record(puzzle.place, false);
    puzzle.missed.add(move.name);
    judge(phrase("isNotIt", { move: move.name, why: losing(shown.value, move.value, about) }));
    return;
  }
  puzzle.missed.clear();
  const found = 1 + line.slice(1, at + 1).filter(({ by }) => by === puzzle.mover).length;
  if (found < puzzles.length(puzzle.place)) judge(phrase("goOn"));
  else solve(game.end(move.child) ? "solved" : "solvedPlayOn");
  play(move);
}

/** All moves of the puzzle are found. */
function solve(said) {
  puzzle.done = true;
  puzzles.record(puzzle.place, true);
  judge(phrase(said));
}

/** Name a few moves of which one is right. */
function hint() {
  const right = shown && isMine(here()) && chosen(shown.moves);
  const moves = right && puzzles.hint(puzzle.place, right.name, shown.moves.map(({ name }) => name).filter((name) => !puzzle.missed.has(name)));
  if (moves) judge(phrase(moves.length > 1 ? "oneOf" : "itIs", { moves: moves.join(", ") }));
}

function judge(text) {
  $("verdict").textContent = text;
  drawPuzzle();
}

/** Give the puzzle up, and show what was to be found. */
function showSolution() {
  puzzles.record(puzzle.place, false);
  puzzle.done = true;
  [line, at] = [line.slice(0, 1), 0];
  judge(phrase("theSolution"));
  show().then(() => explain(shown.moves.findIndex(({ name }) => name === puzzles.list[puzzle.place].move)));
}

function drawPuzzle() {
  $("puzzle").hidden = !puzzle;
  document.body.classList.toggle("puzzling", Boolean(puzzle));
  if (!puzzle) return;
  const { tried, solved } = puzzles.score();
  $("task").textContent = puzzles.task(puzzle.place, names[puzzle.mover]);
  $("score").textContent = tried ? phrase("solvedOf", { solved, tried }) : "";
  $("next").href = `#puzzle=${puzzles.next(puzzle.place) + 1}`;
  for (const name of ["hint", "solution"]) $(name).disabled = puzzle.done;
}

/** Whether a puzzle keeps its secret. */
const isOpen = () => Boolean(puzzle && !puzzle.done);

const areShown = () => $("values").checked && !isOpen();

// what is seen

async function show() {
  const mine = ++turn;
  editor?.close();
  let found;
  shown = undefined;
  seeking.abort();
  const late = setTimeout(() => mine === turn && present({ ...unexamined(game, here()), isLooking: true }), PATIENCE);
  try {
    found = await examine(game, book, told(), here(), search && !book.facts.estimate ? () => false : looking(mine));
  } catch (error) {
    if (mine === turn) fail(phrase("bookNotRead", { reason: error.message }));
    return;
  } finally {
    clearTimeout(late);
  }
  if (mine !== turn) return;
  const searches = search && !isSettled(found);
  present({ ...found, isSearching: searches });
  const searched = searches && seek(mine, found);
  appraise(mine);
  if (shown.end && isWatched()) watch(false);
  if (isExplained() && reason.plays && at < line.length - 1) {
    await passed(STEP);
    if (mine === turn && reason.plays) go(at + 1);
    return;
  }
  if (shown.end || waits()) return;
  if (at === line.length - 1) await Promise.race([searched, searches && passed(THINKING)]);
  await passed(PAUSE);
  if (mine === turn) at === line.length - 1 ? answer(mine) : go(at + 1);
}

/** Find the values of the other positions of the game, as far as the book has them, for the chart. */
async function appraise(mine) {
  for (const position of line) {
    position.value ??= await valueOf(game, book, told(), position).catch(() => undefined);
    if (mine !== turn) return;
  }
  drawGame();
}

/** Search for what is not known of the position that is looked at, for as long as it is, and show what is found. */
async function seek(mine, found) {
  seeking = new AbortController();
  const known = told();
  const reveal = (analysis, isSearching) => mine === turn && revise({ ...joined(found, analysis, known), isSearching });
  const budget = { milliseconds: LONGEST, signal: seeking.signal, progress: (analysis) => reveal(analysis, true) };
  try {
    reveal(await search.analyse(here().state, budget), false);
  } catch (error) {
    if (mine !== turn) return;
    revise({ ...shown, isSearching: false });
    say(phrase("searchFailed", { reason: error.message }));
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
  if (found.end && isOpen()) solve("solved");
  if (found.value) here().value = found.value;
  say("");
  draw();
  $("status").replaceChildren(...sentence());
}

/** Show what is known by now of the same position: nothing that is being pressed goes. */
function revise(found) {
  shown = found;
  if (found.value) here().value = found.value;
  drawGame();
  drawMoves();
  const parts = sentence();
  const text = parts.map((part) => part.textContent ?? part).join("");
  if (text !== $("status").textContent) $("status").replaceChildren(...parts);
}

/** The board and the moves, with what is known of them. */
function drawMoves() {
  const visible = areShown();
  const labelled = shown.moves.map((move) => ({
    ...move,
    gives: visible && !about.expects ? givenAway(shown.value, move.value) : undefined,
    kind: visible ? kindOf(move.value, about) : "",
    words: visible && !shown.isLooking ? (move.value === undefined && shown.isSearching ? phrase("searching") : inWords(move.value, about)) : "",
    parts: visible && move.value !== undefined ? inParts(move.value, about) : [],
    best: visible && move.best,
    likely: visible && move.likely,
  }));
  const rows = game.board(here().state, here().mover);
  const last = here().isThrow ? changedBy(line[at - 1], here()) : here().place;
  const decided = shown.end && marginAtEnd(here().gained) ? decisive(about.group, rows, drawing, last) : [];
  // A board covered by the same estimate everywhere would tell nothing
  const isAlike = labelled.every(({ value, words }) => value?.estimate === "unknown" && words === labelled[0].words);
  const valued = labelled.map((move) => (move.value === undefined || isAlike ? { ...move, words: "", parts: [] } : move));
  const numbers = isExplained() ? line.slice(reason.from).map(({ place }, step) => ({ cell: place.at(-1), number: step + 1 })) : [];
  board.draw(rows, valued, { last, decided, numbers, arrives, gained: about.adds && line[0].state === game.initial ? here().gained : undefined, mover: here().mover, owners: owners(), turned: areFacing && autos()[0].checked && !isWatched() });
  arrives = false;
  drawDice(rows);
  const best = visible ? inOrder(shown.moves) : [...shown.moves.keys()];
  if (listedAt !== turn || String(order) !== String(best)) {
    order = best;
    listMoves(order.map((place) => labelled[place]), { byChance: shown.byChance, choose, explain: (row) => explain(order[row]), newsOf, dice: drawing.dice });
  }
  listedAt = turn;
  for (const [row, button] of moveButtons().entries()) label(button, labelled[order[row]]);
  $("best").disabled = isOpen() || !chosen(shown.moves);
  $("watch").disabled = isOpen();
}

/** The dice that were thrown last, or those that are to be; and what neither they nor the board show, as text. */
function drawDice(rows) {
  const before = line.slice(0, at + 1).findLast((position) => position.isThrow);
  const faces = shown.byChance ? drawing.dice?.[0].map(() => "?") : drawing.dice?.[Number(before?.name) - 1];
  $("legend").hidden = !game.text || Boolean(faces && drawing.sides);
  if (game.text) $("legend").textContent = named(legend(textOf(here()), rows));
  $("dice").replaceChildren(...(faces ? [pictureOfDice(faces, shown.byChance ? phrase("toBeThrown") : phrase("thrown", { faces: faces.join(phrase("and")) }))] : []));
}

/** Who closed which box of those that are closed, as far as the game tells. */
function owners() {
  const found = new Map();
  if (drawing.board !== "dots") return found;
  for (const position of line.slice(1, at + 1)) {
    for (const [cell, mark] of [...game.board(position.state, position.mover).join("")].entries()) {
      if (mark === "#" && !found.has(cell)) found.set(cell, position.by);
    }
  }
  return found;
}

/** The chart and the list of the game's moves. */
function drawGame() {
  const stood = line.map((position) => standing(position.value, position, about));
  const isTurn = (place) => {
    const [before, after] = [stood[place - 1], stood[place]];
    const isKnown = before && after && !line[place].isThrow && !line[place].value.estimate && !line[place - 1].value.estimate;
    return Boolean(isKnown && Math.abs(after.at - before.at) > (about.expects ? 0.02 : 0));
  };
  const visible = areShown();
  $("chart").hidden = !visible || line.length < 2;
  if (visible) {
    const columns = line.map((position, place) => ({
      share: stood[place]?.share,
      name: place ? `${place}. ${position.name}` : phrase("start"),
      words: position.value === undefined ? "" : `${phrase("toMoveNow", { who: names[position.mover] })}, ${inWords(position.value, about)}`,
      isTurn: isTurn(place),
    }));
    drawChart($("chart"), columns, at, visit);
  }
  listHistory(line, at, visit, (place) => visible && isTurn(place));
  listVariations(variations, line, (other, place) => (replace(other), visit(place)));
}

/** All but the status, of what is known. */
function draw() {
  drawMoves();
  drawGame();
  drawPuzzle();
  showSides();
  $("caption").hidden = !areShown();
  $("why").hidden = $("back").hidden = !isExplained();
  if (isExplained()) listSteps($("steps"), reason.steps, at - reason.from, (step) => visit(reason.from + step));
  $("undo").disabled = before() < 0;
  $("redo").disabled = at === line.length - 1;
  $("throw").disabled = !shown.byChance;
  $("restart").disabled = line.length === 1;
  $("link").href = address();
  $("whole").href = `./${address()}`;
}

/** The board as text, of a position or of the child of a move. */
function textOf({ state, mover }) {
  const board = game.board(state, mover);
  return typeof board === "string" ? board : game.text(state, mover);
}

/** What led to the position that is looked at. */
function lastPlayed() {
  const before = line[at - 1];
  if (!before) return whoPlays();
  if (isExplained()) return `${reason.steps[at - reason.from]} `;
  const who = names[before.mover];
  if (!here().isThrow) return `${phrase("played", { who, move: here().name })} `;
  const brought = broughtBy(before, here());
  return `${phrase(brought ? "threwAnd" : "threw", { who, throw: here().label, what: brought })} `;
}

/** Which side the person has, where the page has the other, and how well it plays. */
function whoPlays() {
  const side = autos().findIndex(({ checked }) => !checked);
  if (puzzle || side < 0 || !autos()[1 - side].checked) return "";
  const how = about.expects ? "" : ` ${phrase("pagePlaysAt", { who: names[1 - side], level: $("strength").textContent })}`;
  return `${phrase("youAre", { who: names[side] })}${how} `;
}

/** What a throw brings besides its dice: that the only move is played immediately, or there is none; else what the board says. */
function broughtBy(before, after) {
  if (!drawing.dice) return named(news(textOf(before), textOf(after)));
  if (changedBy(before, after).length) return phrase("onlyMovePlayed");
  return after.mover !== before.mover && !game.end(after.state) ? phrase("noMove") : "";
}

/** The cells that a throw has changed; in a race its dice count immediately. */
function changedBy(before, after) {
  if (drawing.board === "race") return [];
  return changed(...[before, after].map(({ state, mover }) => game.board(state, mover)));
}

/** The status: what was played, who is to move, and what the position is worth. */
function sentence() {
  const { mover, gained } = here();
  const repeats = !about.expects && line.slice(0, at).some((one) => one.state === here().state && one.mover === mover);
  const again = repeats ? ` ${phrase("repeats")}` : "";
  const before = lastPlayed();
  if (shown.end) return [before, marked(endKind(mover, gained), ending(mover, gained))];
  const who = phrase(shown.byChance ? "toThrowNow" : "toMoveNow", { who: names[mover] });
  if (shown.isLooking) return [before, `${who}. ${phrase("looking")}`];
  const [best, likely] = ["best", "likely"].map((mark) => shown.moves.filter((move) => move[mark]).map((move) => move.name));
  const unsure = ` ${phrase(search ? "noneBest" : "bookEnds")}`;
  const ends = shown.isSearching ? ` ${phrase("isSearching")}` : best.length || likely.length || shown.byChance ? "" : unsure;
  const alone = ends && !search && autos().some((side) => side.checked) ? ` ${phrase("playsOn")}` : "";
  if (!areShown()) return [before, `${who}.`, ends, alone, again];
  const advice = best.length ? ` ${listed(best, "bestAre", "manyKeep")}` : likely.length ? ` ${listed(likely, "likelyAre", "manyAlike")}` : "";
  const worth = shown.isSearching && shown.value === undefined ? [`${who}`] : [`${who}: `, marked(kindOf(shown.value, about), inAll(shown.value, about, gained))];
  return [before, ...worth, ".", advice, ends, alone, again];
}

/** Moves by their names, or, if they are many, by their number. */
const listed = (moves, some, many) => (moves.length > FEW ? phrase(many, { count: moves.length }) : phrase(some, { moves: moves.join(", ") }));

/** Why the game is won, where the board shows it. */
function reasonOfEnd(winner) {
  const rows = game.board(here().state, here().mover);
  const cells = decisive(about.group, rows, drawing, here().place);
  if (!cells.length || sideOf(cells, rows, drawing) !== winner) return "";
  return about.group === "connection" ? phrase("withChain") : phrase("inARow", { count: cells.length });
}

/** The colour of a result: the winner's own. */
function endKind(mover, gained) {
  const margin = marginAtEnd(gained);
  return margin ? `side ${(margin > 0) === (mover === 0) ? "first" : "second"}` : "draw";
}

const marginAtEnd = (gained) => shown.value.score + (about.scores ? gained : 0);

function ending(mover, gained) {
  const margin = marginAtEnd(gained);
  const how = game.how?.(here().state);
  const told = how ? `: ${how}` : "";
  if (!margin) return `${phrase("isDrawn")}${told}.`;
  const by = about.scores && about.expects !== "utility" ? phrase("byMargin", { margin: Math.abs(margin) }) : "";
  const side = margin > 0 ? mover : 1 - mover;
  const winner = names[side];
  const isMany = drawing.sides?.[side].endsWith("s");
  return `${phrase(isMany ? "winMany" : "wins", { who: winner })}${by}${told || reasonOfEnd(side)}.`;
}

const newsOf = ({ child, mover }) => broughtBy(here(), { state: child, mover });

/** A text of the rules with the players' names as the page has them. */
const named = (text) => text.replace(/player ([12])/g, (all, one) => (drawing.sides ? names[one - 1] : all));

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

// what is done

function listen() {
  $("undo").addEventListener("click", () => before() >= 0 && visit(before()));
  $("redo").addEventListener("click", () => visit(at + 1));
  $("back").addEventListener("click", leaveReason);
  $("link").addEventListener("click", (event) => (event.preventDefault(), takeText($("link").href)));
  $("hint").addEventListener("click", hint);
  $("solution").addEventListener("click", showSolution);
  $("best").addEventListener("click", playBest);
  $("throw").addEventListener("click", throwDice);
  $("real").addEventListener("change", show);
  $("watch").addEventListener("click", () => (watch(!isWatched()), show()));
  $("swap").addEventListener("click", swap);
  $("level").addEventListener("input", () => (keepPreference({ level: Object.keys(LEVELS)[$("level").value] }), shown && $("status").replaceChildren(...sentence())));
  $("setup").addEventListener("submit", setUp);
  $("copies").addEventListener("click", ({ target }) => target.dataset.copy && take(target.dataset.copy));
  $("copies").addEventListener("click", ({ target }) => target.dataset.save && savePicture(target.dataset.save));
  $("restart").addEventListener("click", restart);
  $("values").addEventListener("change", () => (keepPreference({ values: $("values").checked }), show()));
  $("sides").addEventListener("change", show);
  addEventListener("hashchange", readAddress);
  listenToKeys({ board, choose, moves: () => shown && order.map((place) => shown.moves[place]), step: (by) => visit(at + by), isEditing: () => Boolean(editor?.isOpen()) });
}

/** Go to the position of a text, or say why that cannot be. */
async function setUp(event) {
  event.preventDefault();
  try {
    /** @type {any} */
    const found = asked(game, names, $("text").value.trim(), drawing);
    const trouble = found.moves ? "" : await lookAt(found);
    if (trouble) say(trouble);
    if (found.moves) {
      const wanted = `#moves=${found.moves.map(encodeURIComponent).join(",")}`;
      if (wanted === location.hash) readAddress();
      else location.hash = wanted;
    }
  } catch (error) {
    say(asSentence(error.message));
  }
}

/** Go to a state with a player to move; or why that cannot be. */
async function lookAt({ state, mover }) {
  if (!(await isKnown(state, mover))) return phrase(about.digest ? "bookHasNot" : "pageHasNot");
  history.pushState(null, "", `#state=${state}${mover === game.mover(state) ? "" : `&mover=${mover}`}`);
  await readAddress();
  return "";
}

/** Take the position along as text. */
async function take(what) {
  const moves = line.slice(1, at + 1).map(({ name }) => name);
  const texts = {
    moves: () => moves.join(" "),
    number: () => `#${here().state}`,
    json: () => JSON.stringify(asObject(about, here(), isOpen() ? unexamined(game, here()) : shown, moves)),
    embed: () => embedding(new URL(`?embed=1${address()}`, document.baseURI), document.title),
  };
  await takeText(texts[what]());
}

/** Save the board as a picture. */
async function savePicture(form) {
  const { pngOf, save, svgOf } = await import("./picture.js");
  const picture = document.querySelector("#board svg");
  if (!picture) return say(phrase("noBoard"));
  const title = `${document.title}: ${$("status").textContent}`;
  const name = `${about.game.replace(/[^a-z0-9]+/gi, "-")}-${here().state}.${form}`;
  return form === "svg" ? save(svgOf(picture, title), name, "image/svg+xml") : save(await pngOf(picture, title), name);
}

/** Copy a text, and say so for a while. */
async function takeText(text) {
  const isCopied = await copy(text, $("taken"));
  const said = isCopied ? phrase("copied", { text: text.length > 80 ? `${text.slice(0, 80)}\u2026` : text || phrase("noMoves") }) : phrase("copyHere");
  $("copied").textContent = said;
  if (isCopied) passed(SAID).then(() => $("copied").textContent === said && ($("copied").textContent = ""));
}

function restart() {
  watch(false);
  [line, variations, reason] = [line.slice(0, 1), [], undefined];
  go(0);
}

const PREFERENCES = "preferences";

/**
 * Set what the person chose here before: the strength, and whether values are shown. Where the address names no position
 * the page opens as a game, in which the person begins and sees no values, unless chosen otherwise.
 */
function recallPreferences(isGame) {
  const { level, values = !isGame } = preferences();
  if (level in LEVELS) $("level").value = Object.keys(LEVELS).indexOf(level);
  $("values").checked = values;
  autos()[1].checked = isGame;
  showStrength();
}

function preferences() {
  try {
    return JSON.parse(localStorage.getItem(PREFERENCES) ?? "{}");
  } catch {
    return {}; // a browser that keeps nothing
  }
}

/** Remember what the person chose, and only that. */
function keepPreference(preference) {
  showStrength();
  try {
    localStorage.setItem(PREFERENCES, JSON.stringify({ ...preferences(), ...preference }));
  } catch {
    // then it lasts as long as the page
  }
}

function showStrength() {
  const name = Object.keys(LEVELS)[$("level").value];
  $("strength").textContent = phrase(name);
  $("level").setAttribute("aria-valuetext", $("strength").textContent);
}

begin().catch((error) => fail(error.message)).then(keepOffline);

/** Have the page and what it has loaded kept for use without a network, where the browser can. */
async function keepOffline() {
  if (!navigator.serviceWorker) return;
  try {
    await navigator.serviceWorker.register(new URL("offline.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
  } catch {
    // then it is not kept
  }
}
