/**
 * What a page of a game of chance has besides: the throw, and what there is to say of it.
 */

import { circle, rect, svg, words } from "./men.js";

const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] }; // of nine places

/** A picture of dice, or of a coin: their faces, or "?" before they are thrown. */
export function pictureOfDice(faces, label = "") {
  const parts = faces.map((face, at) => {
    const holder = svg("g", { transform: `translate(${at * 56 + 4} 4)` });
    if (typeof face === "string" && face !== "?") {
      holder.append(circle(24, 24, 23, "coin-face"), words(24, 25, face[0].toUpperCase(), "pip-text", 26));
    } else if (PIPS[face]) {
      holder.append(rect(0, 0, 48, 48, "die", 11), ...PIPS[face].map((pip) => circle(10 + 14 * (pip % 3), 10 + 14 * Math.floor(pip / 3), 4.6, "pip")));
    } else holder.append(rect(0, 0, 48, 48, "die", 11), words(24, 25, face, "pip-text", 24));
    return holder;
  });
  const width = 56 * faces.length;
  return svg("svg", { viewBox: `0 0 ${width} 56`, class: "dice", width, height: 56, ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }) }, ...parts);
}

/** One of the outcomes of chance, { weight, ... }, as likely as its weight says. */
export function thrown(outcomes, random = Math.random) {
  let left = random() * total(outcomes);
  return outcomes.find(({ weight }) => (left -= weight) < 0) ?? outcomes.at(-1);
}

/** How likely an outcome is, as it is counted on dice: 2/36. */
export const odds = ({ weight }, outcomes) => `${weight}/${total(outcomes)}`;

export const total = (outcomes) => outcomes.reduce((sum, { weight }) => sum + weight, 0);

/** What was thrown, as people say it: 6-5, 2, heads; undefined where the rules do not say. */
export const thrownFaces = (dice, name) => dice?.[Number(name) - 1]?.join("-");

/** The cells that a throw has changed, because the only move is played immediately. */
export function changed(before, after) {
  if (typeof before === "string" || typeof after === "string") return [];
  const [was, is] = [before, after].map((rows) => rows.flatMap((row) => [...row]));
  return is.flatMap((mark, cell) => (mark === was[cell] ? [] : [cell]));
}

/** What an outcome brings: the line of the board's text that it changes, if it is one, and not a state's number. */
export function news(before, after) {
  const known = before.split("\n");
  const changed = after.split("\n").filter((line) => !known.includes(line));
  return changed.length === 1 && !/^#\d+$/.test(changed[0]) ? changed[0].trim().replace(/\s+/g, " ") : "";
}

/** The lines of a board's text that say more than its cells do: no rows of them, perhaps numbered, nor letters below. */
export function legend(text, rows) {
  const bare = (line) => line.replace(/\s/g, "").toLowerCase();
  const drawn = [...rows.map(bare), "abcdefghijklmnopqrstuvwxyz".slice(0, rows[0].length)];
  const isDrawn = (line) => drawn.some((row) => line.endsWith(row) && line.length <= row.length + 2);
  return text.split("\n").filter((line) => !isDrawn(bare(line))).join("\n");
}
