/** The index: a card for each game, with its board a few moves from the start, and what its book says of the start. */

import { $, element, wrapped } from "./elements.js";
import { games } from "./games.js";
import { pictureOf } from "./scene.js";

/** "win", "draw" or "loss", for whoever begins: what colours go by. */
function kindOf(verdict) {
  if (/^(draw|tie)/.test(verdict)) return "draw";
  const share = shareOf(verdict);
  if (share) return share > 50 ? "win" : "loss";
  if (/^first player wins/.test(verdict)) return "win";
  return /^second player wins/.test(verdict) ? "loss" : "unknown";
}

/** The winning chance of a game of chance, in percent; undefined in others. */
const shareOf = (verdict) => /([\d.]+) %/.exec(verdict)?.[1];

/** A verdict in few words, with the sides by their names. */
function short(verdict, { sides = ["first", "second"] }) {
  const [first, second] = sides.map((name) => name[0].toUpperCase() + name.slice(1));
  if (shareOf(verdict)) return `${first} wins ${Number(shareOf(verdict)).toFixed(1)} %`;
  const words = verdict.replace("first player", first).replace("second player", second).replace(/ pl(y|ies)$/, "");
  return words.replace(/^(Hounds) wins/, "$1 win").replace(/^unknown, looks (\w+) \((.*)\) for the \w+$/, "looks $1, estimate $2");
}

function card({ name, title, summary, verdict, states, drawing, board, mover }) {
  const link = element("a", { href: `./${name}/`, className: "card" });
  const picture = element("div", { className: "preview" });
  picture.append(typeof board === "string" ? element("pre", { textContent: board, className: board.includes("\n") ? "" : "line" }) : pictureOf(drawing, board, { mover }).picture);
  const size = states === null ? "" : `${states.toLocaleString("en")} positions`;
  link.append(
    picture,
    element("h2", { textContent: title }),
    element("p", { className: "rules", textContent: summary }),
    wrapped("p", element("span", { className: `value ${kindOf(verdict)}`, textContent: short(verdict, drawing) })),
    element("p", { className: "size", textContent: size }),
  );
  return wrapped("li", link);
}

const cards = games.map((game) => [card(game), `${game.title} ${game.summary} ${game.verdict}`.toLowerCase()]);

/** Show the cards that have all the words that are looked for. */
function find() {
  const words = $("wanted").value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const [one, text] of cards) {
    one.hidden = !words.every((word) => text.includes(word));
    count += one.hidden ? 0 : 1;
  }
  $("found").textContent = count === games.length ? `${count} games` : `${count} of ${games.length} games`;
}

$("cards").append(...cards.map(([one]) => one));
$("wanted").addEventListener("input", find);
find();
