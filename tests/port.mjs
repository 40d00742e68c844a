// What pytest asks of a page's modules: node port.mjs COMMAND FILE...; prints JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Book } from "../solver/web/reader/book.js";
import { firstDifference, recordOf } from "../solver/web/site/rules.js";
import { chosen, examine, inAll, inWords } from "../solver/web/site/values.js";

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
    const [game, about] = [module.game, { ...module.about, wdl: wdl !== undefined }];
    const { rules } = module;
    const whole = await Book.open(new Uint8Array(readFileSync(`${folder}/book.bin`)), { rules });
    const outcome = (value) => value && { ...value, distance: null };
    const book = wdl ? { get: async (state) => outcome(await whole.get(state)) } : whole;
    const answers = [];
    for (const [text, mover, gained] of JSON.parse(readFileSync(positions, "utf8"))) {
      const state = BigInt(text);
      const { value, moves } = await examine(game, book, about, { state, mover });
      answers.push({
        record: recordOf(game, state, mover),
        words: inAll(value, about, gained),
        moves: moves.map((move) => [move.name, inWords(move.value, about), move.best]),
        chosen: chosen(moves)?.name ?? null,
      });
    }
    return answers;
  },
};

console.log(JSON.stringify(await commands[command]()));
