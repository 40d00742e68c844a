// A perfect player in Node from the files of a page, without Python: node node.mjs FOLDER [MOVE ...]
//
//     solver export connect-four -o site/
//     node examples/node.mjs site 4 4 3
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, ...line] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`));
const names = ["book.js", "search.js", "values.js", "game.js"];
const [{ Book }, { Search }, { chosen, examine }, { game, about, rules }] = await Promise.all(names.map(load));

let position = { state: game.initial, mover: game.mover(game.initial) };
for (const name of line) {
  const move = game.end(position.state) ? undefined : game.moves(position.state, position.mover).find((one) => one.name === name);
  if (!move) throw new Error(`${name} is not legal there`);
  position = { state: move.child, mover: move.mover };
}
const none = { get: async () => undefined, facts: {} }; // of a page without a book
const book = about.digest ? await Book.open(await readFile(`${folder}/book.bin`), { rules }) : none;
const { end, value, moves } = await examine(game, book, { ...about, wdl: book.facts.wdl }, position);
if (end) console.log("the game is over");
else if (moves.some((move) => move.best)) console.log({ by: "the book, or two plies ahead of it", best: chosen(moves).name, ...value });
else if (about.searches) {
  const search = await Search.open(`${folder}/game.wasm`, about.module);
  const { action, value, exact } = await search.best(position.state, { milliseconds: 1000 });
  const { name } = moves[search.actions(position.state).indexOf(action)];
  console.log({ by: "the search", best: name, exact, ...value });
} else console.log("the book ends here");
