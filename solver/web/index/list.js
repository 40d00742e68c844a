/** The index: a card for each game, with its board a few moves from the start, and what its book says of the start. */

import { $, element, wrapped } from "./elements.js";
import { games } from "./games.js";
import { today } from "./puzzles.js";
import { pictureOf } from "./scene.js";
import { inFigures, phrase, sideName } from "./words.js";

/** "win", "draw" or "loss", for whoever begins: what colours go by. */
function kindOf(verdict) {
  if (/^(draw|tie|[+-]0\.0+ )/.test(verdict)) return "draw";
  if (/^(first player wins|\+)/.test(verdict)) return "win";
  return /^(second player wins|-)/.test(verdict) ? "loss" : "unknown";
}

/**
 * The winning chance of a game of chance, in percent; undefined in others.
 * @type {(verdict: string) => any}
 */
const shareOf = (verdict) => /([\d.]+) %/.exec(verdict)?.[1];

const WINS = { "": ["wins", "winMany"], in: ["winsPlies", "winManyPlies"], by: ["winsMargin", "winManyMargin"] }; // by one, by many

/** A verdict in few words, with the sides by their names. */
function short(verdict, { sides = ["first", "second"] }) {
  const [first, second] = sides.map(sideName);
  if (shareOf(verdict)) return phrase("winsShare", { who: first, count: Number(shareOf(verdict)).toFixed(1) });
  const plain = { draw: "isDraw", tie: "isTie" }[verdict];
  if (plain) return phrase(plain);
  const won = /^(first|second) player wins(?: (in|by) ([\d,]+).*)?$/.exec(verdict);
  if (!won) return verdict.replace(/^unknown, looks (\w+) \((.*)\) for the \w+$/, "looks $1, estimate $2");
  const [, side, how, count] = won;
  const who = side === "first" ? first : second;
  return phrase(WINS[how ?? ""][who.endsWith("s") ? 1 : 0], { who, count });
}

/** What is known of a game's start, in few words. */
function verdictOf({ verdict, drawing, several }) {
  const badge = element("span", { className: `value ${kindOf(verdict)}`, textContent: short(verdict, drawing) });
  const said = wrapped("p", badge);
  said.append(element("span", { className: "size", textContent: several ? phrase("oneStart") : "" }));
  return said;
}

const sizeOf = ({ states }) => (states === null ? "" : phrase("countPositions", { count: inFigures(states) }));
const placeOf = ({ name }) => `./${name}/`;

/** The card of a game, or of its variants: { family, variants }. */
function card({ family, variants }) {
  const [first] = variants;
  const isAlone = variants.length === 1;
  const place = isAlone ? element("a", { href: placeOf(first), className: "card" }) : element("div", { className: "card" });
  const { board, drawing, mover } = first;
  const picture = element("div", { className: "preview" });
  picture.append(typeof board === "string" ? element("pre", { textContent: board, className: board.includes("\n") ? "" : "line" }) : pictureOf(drawing, board, { mover }).picture);
  place.append(picture, element("h2", { textContent: isAlone ? first.title : family }), element("p", { className: "rules", textContent: first.summary }));
  if (isAlone) place.append(verdictOf(first), element("p", { className: "size", textContent: sizeOf(first) }));
  else place.append(listOf(variants, family));
  return wrapped("li", place);
}

/** Links to the variants of a game, each with what is known of it. */
function listOf(variants, family) {
  const list = element("ul", { className: "variants" });
  for (const variant of variants) {
    const link = element("a", { href: placeOf(variant), textContent: variant.title.replace(family, "").replace(/^[ ,]+/, "") || variant.title, title: `${variant.title}, ${sizeOf(variant)}` });
    const item = wrapped("li", link);
    item.append(verdictOf(variant));
    list.append(item);
  }
  return list;
}

/** The games by families, in the order that is chosen. */
function families(order) {
  const found = new Map();
  for (const game of games) found.set(game.family, [...(found.get(game.family) ?? []), game]);
  const list = [...found].map(([family, variants]) => ({ family, variants: variants.sort((one, other) => (one.states ?? Infinity) - (other.states ?? Infinity)) }));
  const most = ({ variants }) => Math.max(...variants.map(({ states }) => states ?? Infinity));
  return order === "size" ? list.sort((one, other) => most(one) - most(other)) : list.sort((one, other) => one.family.localeCompare(other.family, "en"));
}

/** Show the cards of the games that have all that is looked for. */
function find() {
  const words = $("wanted").value.toLowerCase().split(/\s+/);
  const [group, kind] = [$("group").value, $("kind").value];
  const has = (game) =>
    words.every((word) => `${game.title} ${game.summary} ${game.verdict} ${game.group}`.toLowerCase().includes(word)) &&
    (!group || game.group === group) &&
    (!kind || kindOf(game.verdict) === kind);
  const shown = families($("order").value)
    .map(({ family, variants }) => ({ family, variants: variants.filter(has) }))
    .filter(({ variants }) => variants.length);
  const count = shown.reduce((sum, { variants }) => sum + variants.length, 0);
  $("cards").replaceChildren(...shown.map(card));
  $("found").textContent = phrase(count === games.length ? "countGames" : "countOfGames", { count, all: games.length });
}

const groups = [...new Set(games.map(({ group }) => group))].sort();
$("group").append(...groups.map((group) => element("option", { value: group, textContent: group })));
for (const name of ["wanted", "group", "kind", "order"]) $(name).addEventListener("input", find);
const puzzling = games.filter((game) => game.puzzles);
$("daily").hidden = !puzzling.length;
if (puzzling.length) $("daily").href = `${placeOf(puzzling[today() % puzzling.length])}#puzzle=daily`;
find();
