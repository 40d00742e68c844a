/** The lists beside the board: moves or throws with their values, the game so far, facts of the book. */

import { odds, pictureOfDice } from "./dice.js";
import { $, element, marked, wrapped } from "./elements.js";
import { inAll, inWords, startOf } from "./values.js";

/** List moves anew: `choose` plays one, `newsOf` says what a throw brings. */
export function listMoves(moves, { byChance, choose, newsOf, dice }) {
  const focused = [...$("moves").querySelectorAll("button")].indexOf(document.activeElement);
  $("moves-title").textContent = byChance ? "Throws" : "Moves";
  $("moves").replaceChildren(
    ...moves.map((move, place) => {
      const button = element("button", { type: "button" });
      const says = place < 9 && keyOf(moves, place) !== move.name;
      const key = says ? [element("kbd", { textContent: keyOf(moves, place), ariaHidden: "true" })] : [];
      const value = [" ", marked("", "")];
      const star = element("span", { className: "star" });
      const name = element("span", { className: "name", textContent: move.name });
      if (byChance) {
        button.className = "throw";
        const share = element("span", { className: "odds", textContent: odds(move, moves) });
        const brings = element("span", { className: "news", textContent: newsOf(move) });
        button.append(name, ...(dice?.[place] ? [" ", pictureOfDice(dice[place])] : []), " ", share, ...value, " ", brings);
      } else button.append(...key, name, ...value, " ", star);
      button.addEventListener("click", () => choose(move));
      return wrapped("li", button);
    }),
  );
  const buttons = $("moves").querySelectorAll("button");
  if (focused >= 0) (buttons[Math.min(focused, buttons.length - 1)] ?? $("restart")).focus();
}

/** Say in the list what a move is worth. */
export function label(button, { kind, words, best, likely }) {
  const [value, star] = [button.querySelector(".value"), button.querySelector(".star")];
  Object.assign(value, { className: `value ${kind}`, textContent: words });
  if (star) {
    const mark = best ? "best" : likely ? "likely" : "";
    Object.assign(star, { className: `star ${mark}`.trim(), textContent: mark });
  }
}

/** The key that plays a move: its name, or its place where no move has a digit as its name. */
export function keyOf(moves, place) {
  return moves.some(({ name }) => /^\d$/.test(name)) ? moves[place].name : String(place + 1);
}

/** List the game so far; `isTurn` says of a place whether the move there gave something away. */
export function listHistory(line, at, go, isTurn) {
  const entry = (position, place) => {
    const button = element("button", { type: "button" });
    if (place) button.append(element("span", { className: "number", textContent: `${place}.${position.isThrow ? " threw" : ""}` }), ` ${position.name}`);
    else button.textContent = "start";
    if (isTurn(place)) Object.assign(button, { className: "mistake", title: "It gave something away." });
    if (place === at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(place).then(() => $("history").querySelectorAll("button")[place]?.focus()));
    return wrapped("li", button);
  };
  $("history").replaceChildren(...line.map(entry));
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
