/** The lists beside the board: moves or throws with their values, the game so far, facts of the book. */

import { odds, pictureOfDice } from "./dice.js";
import { $, element, marked, wrapped } from "./elements.js";
import { inAll, inWords, startOf } from "./values.js";
import { phrase } from "./words.js";

const SHOWN = 8; // moves of another line

/** @type {() => any[]} the buttons of the moves that are listed */
export const moveButtons = () => [...$("moves").querySelectorAll(".move")];

/** List moves anew: `choose` plays one, `explain` shows why it is good or bad, `newsOf` says what a throw brings. */
export function listMoves(moves, { byChance, choose, explain, newsOf, dice }) {
  const focused = moveButtons().indexOf(document.activeElement);
  $("moves-title").textContent = phrase(byChance ? "throws" : "moves");
  $("moves").replaceChildren(
    ...moves.map((move, place) => {
      const button = element("button", { type: "button", className: "move" });
      const { label: name = move.name } = move;
      const says = place < 9 && keyOf(moves, place) !== name;
      const key = says ? [element("kbd", { textContent: keyOf(moves, place), ariaHidden: "true" })] : [];
      const value = [" ", marked("", "")];
      const star = element("span", { className: "star" });
      const named = element("span", { className: "name", textContent: name });
      if (byChance) {
        button.classList.add("throw");
        const share = element("span", { className: "odds", textContent: odds(move, moves) });
        const brings = element("span", { className: "news", textContent: newsOf(move) });
        button.append(named, ...(dice?.[place] ? [" ", pictureOfDice(dice[place])] : []), " ", share, ...value, " ", brings);
      } else button.append(...key, named, ...value, " ", star);
      button.addEventListener("click", () => choose(move));
      const item = wrapped("li", button);
      if (!byChance) {
        const why = element("button", { type: "button", className: "why", hidden: true });
        why.addEventListener("click", () => explain(place));
        item.append(why);
      }
      return item;
    }),
  );
  const buttons = moveButtons();
  if (focused >= 0) (buttons[Math.min(focused, buttons.length - 1)] ?? $("restart")).focus();
}

/** Say in the list what a move is worth; and offer to explain it, if what it `gives` away is known. */
export function label(button, { name, kind, words, best, likely, gives }) {
  const [value, star] = [button.querySelector(".value"), button.querySelector(".star")];
  Object.assign(value, { className: `value ${kind}`, textContent: words });
  if (star) {
    const mark = best ? "best" : likely ? "likely" : "";
    Object.assign(star, { className: `star ${mark}`.trim(), textContent: mark && phrase(mark) });
  }
  const why = button.nextSibling;
  if (!why) return;
  why.hidden = gives === undefined;
  why.textContent = phrase(gives ? "askWhy" : "line");
  why.setAttribute("aria-label", phrase(gives ? "whyLabel" : "lineLabel", { move: name }));
}

/** The key that plays a move: its name, or its place where no move has a digit as its name. */
export function keyOf(moves, place) {
  const names = moves.map(({ name, label }) => label ?? name);
  return names.some((name) => /^\d$/.test(name)) ? names[place] : String(place + 1);
}

/** List the game so far; `isTurn` says of a place whether the move there gave something away. */
export function listHistory(line, at, go, isTurn) {
  const entry = (position, place) => {
    const button = element("button", { type: "button" });
    if (place) button.append(element("span", { className: "number", textContent: position.isThrow ? phrase("threwNumber", { number: place }) : `${place}.` }), ` ${position.label}`);
    else button.textContent = phrase("start");
    if (isTurn(place)) Object.assign(button, { className: "mistake", title: phrase("gaveAway") });
    if (place === at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(place).then(() => $("history").querySelectorAll("button")[place]?.focus()));
    return wrapped("li", button);
  };
  $("history").replaceChildren(...line.map(entry));
}

/** List other lines, each from the move on by which it leaves the game; `go` leads into one, to that move. */
export function listVariations(variations, line, go) {
  $("variations").hidden = !variations.length;
  $("variations").replaceChildren(
    ...variations.map((variation) => {
      const found = variation.findIndex((position, place) => place && position.name !== line[place]?.name);
      const names = variation.slice(found).map(({ name }) => name);
      const said = names.length > SHOWN ? `${names.slice(0, SHOWN).join(" ")} \u2026` : names.join(" ");
      const button = element("button", { type: "button" });
      button.append(element("span", { className: "number", textContent: phrase("orNumber", { number: found }) }), ` ${said}`);
      button.addEventListener("click", () => go(variation, found));
      return wrapped("li", button);
    }),
  );
}

export function listFacts(about, book, records) {
  const checked = records.length ? `agree with Python's on ${records.length} positions, as just tried` : "a table of all positions";
  const { rules, digest } = about.digest ? book.facts : about.module;
  const facts = {
    game: about.game,
    ...(about.digest ? factsOf(book, about) : { values: "searched here, for a minute a position; there is no book" }),
    "rules here": checked,
    rules,
    ...(about.digest ? { digest } : {}),
  };
  const rows = Object.entries(facts).map(([term, fact]) => [element("dt", { textContent: term }), element("dd", { textContent: fact })]);
  $("facts").replaceChildren(...rows.flat());
}

/** What a book says of its values. */
function factsOf({ facts }, about) {
  const { method, scope, symmetry, states, stored, counts, root, longest, expectation, estimate } = facts;
  const kinds = expectation || estimate ? { win: "better", draw: "even", loss: "worse" } : { win: "win", draw: "draw", loss: "loss" };
  return {
    ...(expectation ? valuesOf(expectation, root, about) : { "start is a": inWords(startOf(facts, about), about) }),
    ...(estimate ? { estimates: `of searches ${estimate.depth} plies deep, by ${estimate.evaluation}` } : {}),
    positions: `${(states ?? stored).toLocaleString("en")}${states === null ? " with a value" : ""}`,
    "to move": Object.entries(counts).map(([kind, count]) => `${count.toLocaleString("en")} ${kinds[kind]}`).join(", "),
    ...(expectation ? {} : { "longest win": longest === null ? "none" : `${longest.distance} plies` }),
    [estimate ? "grown" : "solved"]: `${method}, ${scope}${symmetry ? ", folded by symmetry" : ""}`,
  };
}

/** What the values of a game of chance are, and the start's. */
function valuesOf({ of, error }, root, about) {
  const share = of === "utility" ? ": winning chances, of which a draw is half" : "";
  return {
    "start is worth": `${inAll(root, about, 0)} for the first player`,
    values: `expected ${of}, within ${error.toPrecision(3)}${share}`,
  };
}
