/** The lists beside the board: moves or throws with their values, the game so far, facts of the book. */

import { odds, pictureOfDice } from "./dice.js";
import { $, element, marked, wrapped } from "./elements.js";
import { inAll, inWords, startOf } from "./values.js";
import { inFigures, phrase } from "./words.js";

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
  const checked = records.length ? phrase("agreeOn", { count: records.length }) : phrase("isTable");
  const { rules, digest } = about.digest ? book.facts : about.module;
  const facts = [
    ["game", about.game],
    ...(about.digest ? factsOf(book, about) : [["values", phrase("searchedHere")]]),
    ["rulesHere", checked],
    ["rules", rules],
    ...(about.digest ? [["digest", digest]] : []),
  ];
  const rows = facts.map(([term, fact]) => [element("dt", { textContent: phrase(term) }), element("dd", { textContent: fact })]);
  $("facts").replaceChildren(...rows.flat());
}

const SURE = { win: "countWin", draw: "countDraw", loss: "countLoss" };
const UNSURE = { win: "countBetter", draw: "countEven", loss: "countWorse" };

/** What a book says of its values: [name, fact] for each. */
function factsOf({ facts }, about) {
  const { method, scope, symmetry, states, stored, counts, root, longest, expectation, estimate } = facts;
  const kinds = expectation || estimate ? UNSURE : SURE;
  const count = inFigures(states ?? stored);
  const how = `${method}, ${scope}`;
  return [
    ...(expectation ? valuesOf(expectation, root, about) : [["startIsA", inWords(startOf(facts, about), about)]]),
    ...(estimate ? [["estimates", phrase("estimatesOf", { depth: estimate.depth, evaluation: estimate.evaluation })]] : []),
    ["positions", states === null ? phrase("withValue", { count }) : count],
    ["toMoveCounts", Object.entries(counts).map(([kind, number]) => phrase(kinds[kind], { count: inFigures(number) })).join(", ")],
    ...(longest ? [["longestWin", phrase("pliesLong", { count: longest.distance })]] : []),
    [estimate ? "grown" : "isSolved", symmetry ? phrase("folded", { how }) : how],
  ];
}

/** What the values of a game of chance are, and the start's. */
function valuesOf({ of, error }, root, about) {
  const expected = phrase("expected", { of, error: error.toPrecision(3) });
  return [
    ["startIsWorth", phrase("forFirst", { value: inAll(root, about, 0) })],
    ["values", of === "utility" ? phrase("winningChances", { expected }) : expected],
  ];
}
