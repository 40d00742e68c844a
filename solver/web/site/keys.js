/** What keys do: play a move by its name or place, press a button, go over the board, the chart and the list. */

import { $ } from "./elements.js";
import { keyOf, moveButtons } from "./lists.js";

const KEYS = { u: "undo", r: "redo", b: "best", t: "throw", w: "watch", n: "restart", v: "values", l: "theme" };

/** `moves()` are those that may be played, undefined while nothing may be; `step(by)` goes on in the game, or back. */
export function listenToKeys({ board, moves, choose, step, isEditing }) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input[type=text], textarea")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isInput = event.target instanceof HTMLInputElement && ["radio", "range"].includes(event.target.type);
    if (isEditing()) {
      if (key === "Escape") $("unplaced").click();
      else if (/^[1-9]$/.test(key)) $("palette").children[Number(key) - 1]?.click();
      else if (key.startsWith("Arrow") && !isInput && board.walk(key)) event.preventDefault();
    } else if (moves()) play(event, key, isInput);
  });

  function play(event, key, isInput) {
    if (/^[1-9]$/.test(key)) {
      const place = moves().findIndex((_, one) => keyOf(moves(), one) === key);
      if (place >= 0) choose(moves()[place]);
    } else if (KEYS[key]) $(KEYS[key]).click();
    else if (key === "Escape") board.letGo();
    else if (key.startsWith("Arrow") && !isInput) walk(event, key);
  }

  /** Arrows go over the board, or over the list of moves. */
  function walk(event, key) {
    const buttons = moveButtons();
    const place = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const by = key === "ArrowDown" || key === "ArrowRight" ? 1 : -1;
    if ($("chart").contains(document.activeElement)) step(by);
    else if (place >= 0) buttons[(place + by + buttons.length) % buttons.length].focus();
    else if (!board.walk(key)) {
      if ($("board").contains(document.activeElement) || document.activeElement === document.body) buttons[0]?.focus();
      else return;
    }
    event.preventDefault();
  }
}
