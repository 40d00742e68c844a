// What pytest asks of a page's modules: node port.mjs COMMAND FILE...; prints JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { check, viewsOf } from "./boards.mjs";
import { Book } from "../solver/web/reader/book.js";
import { odds } from "../solver/web/site/dice.js";
import { chosenBy, LEVELS, Practical } from "../solver/web/site/opponent.js";
import { firstDifference, recordOf } from "../solver/web/site/rules.js";
import { chosen, examine, inAll, inWords, kindOf } from "../solver/web/site/values.js";
import { bestPlay, givenAway, inSteps } from "../solver/web/site/why.js";

const [command, ...paths] = process.argv.slice(2);

const commands = {
  /** By game.js: where it differs from its records, and what is found there. */
  async differences() {
    const differences = {};
    for (const path of paths) {
      const { game, records } = await import(pathToFileURL(path));
      const difference = firstDifference(game, records);
      if (difference) differences[path] = [difference.record, difference.found.stack ?? difference.found];
    }
    return differences;
  },

  /**
   * Of the positions in a JSON file, [[state, mover, gained]]: their records, and what a page says of them; or what it
   * would say if the book had no distances.
   */
  async answers() {
    const [folder, positions, wdl] = paths;
    const module = await import(pathToFileURL(`${folder}/game.js`));
    const { game, rules } = module;
    const whole = await Book.open(new Uint8Array(readFileSync(`${folder}/book.bin`)), { rules });
    const about = { ...module.about, wdl: wdl !== undefined, estimate: whole.facts.estimate };
    const outcome = (value) => value && { ...value, distance: null };
    const book = wdl ? { get: async (state) => outcome(await whole.get(state)) } : whole;
    const answers = [];
    for (const [text, mover, gained] of JSON.parse(readFileSync(positions, "utf8"))) {
      const state = BigInt(text);
      const { value, moves, byChance } = await examine(game, book, about, { state, mover });
      answers.push({
        record: recordOf(game, state, mover),
        words: inAll(value, about, gained),
        moves: moves.map((move) => [move.name, inWords(move.value, about), move.best || Boolean(move.likely)]),
        kind: kindOf(value, about),
        chosen: chosen(moves)?.name ?? null,
        byChance,
        odds: byChance ? moves.map((move) => odds(move, moves)) : [],
      });
    }
    return answers;
  },

  /** As `answers`, but the search may look at the moves of so many positions only; and whether it asked more than once more. */
  async stopped() {
    const [folder, positions, most] = paths;
    const { about, game, rules } = await import(pathToFileURL(`${folder}/game.js`));
    const book = await Book.open(new Uint8Array(readFileSync(`${folder}/book.bin`)), { rules });
    const answers = [];
    for (const [text, mover] of JSON.parse(readFileSync(positions, "utf8"))) {
      let asked = 0;
      const { value, moves } = await examine(game, book, about, { state: BigInt(text), mover }, async () => ++asked <= Number(most));
      const said = moves.map((move) => [move.name, inWords(move.value, about), move.best]);
      answers.push({ words: inWords(value, about), moves: said, asked });
    }
    return answers;
  },

  /** What practical play expects of each move of some positions, what the fallible player may choose, and what levels play. */
  async practical() {
    const [folder, positions] = paths;
    const { about, game, rules } = await import(pathToFileURL(`${folder}/game.js`));
    const book = await Book.open(new Uint8Array(readFileSync(`${folder}/book.bin`)), { rules });
    const made = new Map();
    const looks = (plies) => made.get(plies) ?? made.set(plies, new Practical(game, book, about, plies)).get(plies);
    const answers = [];
    for (const text of JSON.parse(readFileSync(positions, "utf8"))) {
      const state = BigInt(text);
      const { moves } = await examine(game, book, about, { state, mover: game.mover(state) });
      const places = moves.map((_, place) => place);
      const level = async (name, ...numbers) => {
        const place = await chosenBy(name, looks, state, moves, () => numbers.shift());
        return place === undefined ? null : moves[place].name;
      };
      answers.push({
        names: moves.map(({ name }) => name),
        expected: await new Practical(game, book, about, 2).expectations(state, places),
        choices: await Promise.all([0, 2, 4].map(async (plies) => (await looks(plies).choices(state)).map((place) => moves[place].name))),
        tricky: await level("tricky"),
        easy: await level("easy", 0.5, 0.999),
        levels: LEVELS,
        medium: [await level("medium", 0.6), await level("medium", 0.5, 0)],
      });
    }
    return answers;
  },

  /** Of some positions, for each move what it gives away, and best play after it: names, and the value at the end. */
  async why() {
    const [folder, positions] = paths;
    const { about, game, rules } = await import(pathToFileURL(`${folder}/game.js`));
    const book = await Book.open(new Uint8Array(readFileSync(`${folder}/book.bin`)), { rules });
    const known = (position) => examine(game, book, about, position);
    const answers = [];
    for (const text of JSON.parse(readFileSync(positions, "utf8"))) {
      const state = BigInt(text);
      const position = { state, mover: game.mover(state), gained: 0 };
      const { value, moves } = await known(position);
      const said = [];
      for (const move of moves) {
        const line = await bestPlay(known, game, about, { ...position, value }, move);
        const end = line.at(-1).value;
        const steps = inSteps(game, about, ["First", "Second"], { ...position, value }, move, line);
        said.push({ name: move.name, gives: givenAway(value, move.value), line: line.slice(1).map(({ name }) => name), end: [end.score, end.distance], steps });
      }
      answers.push(said);
    }
    return answers;
  },

  /** Of a JSON file of boards with values: for each, cells with moves of different values, cells that are wrong, outlines of arrows. */
  async boards() {
    return JSON.parse(readFileSync(paths[0], "utf8")).map((board) => {
      const views = viewsOf(board);
      return { ...check(board, views), outlines: Object.values(views).flatMap(({ outlines }) => outlines) };
    });
  },
};

console.log(JSON.stringify(await commands[command]()));
