/**
 * Why a move is good or bad: best play after it, to where the outcome is plain. The lines are those of
 * `solver.play.analysis`.
 */

import { element, wrapped } from "./elements.js";
import { played } from "./rules.js";
import { chosen, kindOf } from "./values.js";
import { phrase } from "./words.js";

const SIGHT = 2; // plies within which a win is plain
const LONGEST = 60; // plies of a line

/** The value that a move gives away, for its mover: 0 if it keeps the value, undefined if that is not known. */
export function givenAway(before, after) {
  if (!before || !after || before.estimate || after.estimate) return undefined;
  return Math.max(0, before.score - after.score);
}

/**
 * Best play after a move: positions, the one after the move first. `known(position)` resolves to what is known of a
 * position, as `examine` gives it. The line ends early where no best move is known.
 */
export async function bestPlay(known, game, about, position, move) {
  /** @type {any[]} */
  const line = [played(position, move)];
  const seen = new Set([line[0].state]);
  const holdsDraw = !about.scores && move.value.score === 0 && (givenAway(position.value, move.value) ?? 0) > 0;
  while (line.length <= LONGEST && !game.end(line.at(-1).state)) {
    const found = await known(line.at(-1));
    const { distance } = found.value ?? {};
    Object.assign(line.at(-1), { value: found.value, choices: found.moves.length, keepers: keepersOf(found) });
    const isPlain = line.length > 1 && distance !== null && distance !== undefined && distance <= SIGHT && !about.scores;
    const best = found.moves.some((move) => move.best) ? chosen(found.moves) : undefined;
    if (isPlain || !best) break;
    line.push(played(line.at(-1), best));
    if (holdsDraw || seen.has(line.at(-1).state)) break;
    seen.add(line.at(-1).state);
  }
  const last = line.at(-1);
  if (!("value" in last)) last.value = (await known(last)).value;
  return line;
}

/** How many moves keep the value of a position. */
const keepersOf = ({ value, moves }) => moves.filter((move) => givenAway(value, move.value) === 0).length;

/** A line in words, a sentence for each position of it: what was played there, and why. */
export function inSteps(game, about, names, position, move, line) {
  const gives = givenAway(position.value, move.value);
  const steps = line.map((one, place) => {
    const before = line[place - 1];
    const who = names[one.by];
    const told = { who, move: one.name };
    if (!before) return phrase("playsAndWhy", { ...told, why: gives ? losing(position.value, move.value, about) : keeping(move.value, about) });
    if (before.choices === 1) return phrase("mustPlay", told);
    if (before.value?.score < 0 && !about.scores) return phrase("onlyDelays", told);
    return phrase(before.keepers === 1 ? "playsOnly" : "plays", told);
  });
  const [last, end] = [line.at(-1), game.end(line.at(-1).state)];
  steps[steps.length - 1] += end ? ` ${phrase("isOver")}` : outlook(last, names, about);
  return steps;
}

/** What is plain at the end of a line. */
function outlook({ value, mover }, names, about) {
  if (!value || about.scores || value.estimate) return "";
  if (value.score === 0) return ` ${phrase("thatHolds")}`;
  const winner = names[value.score > 0 ? mover : 1 - mover];
  return ` ${value.distance === null ? phrase("willWin", { who: winner }) : phrase("winsIn", { who: winner, plies: value.distance })}`;
}

/** What a move does that gives value away. */
export function losing(before, after, about) {
  if (about.scores) return phrase("givesAway", { margin: before.score - after.score });
  return phrase("makesOf", { after: phrase(kindOf(after, about)), before: phrase(kindOf(before, about)) });
}

/** What a move does that keeps the value. */
function keeping({ score, distance }, about) {
  if (about.scores || (score < 0 && distance === null)) return phrase("keepsValue");
  if (!score) return phrase("holdsDraw");
  if (distance === null) return phrase(score > 0 ? "doesWin" : "doesLose");
  return phrase(score > 0 ? "winsSoon" : "losesSoon", { plies: distance });
}

let listed; // the sentences that are shown

/** Show the sentences of a line, one for each of its positions; `at` is the one that is on the board. */
export function listSteps(place, steps, at, go) {
  if (listed !== steps) {
    listed = steps;
    place.replaceChildren(
      ...steps.map((step, number) => {
        const button = element("button", { type: "button", textContent: step });
        button.addEventListener("click", () => go(number));
        return wrapped("li", button);
      }),
    );
  }
  for (const [number, button] of [...place.querySelectorAll("button")].entries()) {
    if (number !== at) button.removeAttribute("aria-current");
    else {
      button.setAttribute("aria-current", "step");
      place.scrollTop = button.offsetTop - place.offsetTop - place.clientHeight / 2;
    }
  }
}
