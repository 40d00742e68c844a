/** What can be taken along: a position as its moves, its number, or what is known of it. */

import { thrownFaces, total } from "./dice.js";
import { kindOf } from "./values.js";

/** What is known of a position, by the names of `solver query --json`. */
export function asObject(about, { state, mover, gained }, shown, names) {
  const valued = (value, best) => ({
    value: value === undefined ? null : about.expects ? "expectation" : value.estimate ? "unknown" : kindOf(value, about),
    score: value === undefined || value.estimate ? null : value.score,
    distance: value?.distance ?? null,
    estimate: value?.estimate ? value.score : null,
    exact: Boolean(value && !value.estimate),
    ...(best === undefined ? {} : { best }),
  });
  const moves = shown.moves.map(({ name, value, best, likely, child }) => ({ move: name, ...valued(value, Boolean(best || likely)), child: { state: exactly(child) } }));
  const chance = ({ name, weight, value: known, child }) => {
    const { value, score, distance } = valued(known);
    return { faces: thrownFaces(about.drawing?.dice, name) ?? null, probability: weight / total(shown.moves), value, score, distance, child: { state: exactly(child) } };
  };
  return {
    game: about.game,
    position: names.join(" "),
    state: exactly(state),
    to_move: mover,
    ply: names.length,
    gained: about.adds ? gained : null,
    terminal: Boolean(shown.end),
    ...valued(shown.value),
    ...(shown.value?.depth ? { depth: shown.value.depth } : {}),
    ...(shown.byChance ? { best: [], moves: [], chances: shown.moves.map(chance) } : { best: moves.filter(({ best }) => best).map(({ move }) => move), moves }),
  };
}

/** As a number, whole however large: JSON has no limit, numbers of JavaScript do. */
const exactly = (state) => ("rawJSON" in JSON ? /** @type {any} */ (JSON).rawJSON(String(state)) : state <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(state) : String(state));

/** HTML that shows a page's position within another page. */
export function embedding(address, title) {
  const escaped = [String(address), title].map((text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;"));
  return `<iframe src="${escaped[0]}" title="${escaped[1]}" width="420" height="600" loading="lazy"></iframe>`;
}

/** Copy a text; where the browser does not let pages do that, show it, marked, to be copied by hand. */
export async function copy(text, output) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    output.hidden = false;
    output.value = text;
    output.select();
    return false;
  }
}
