/**
 * What a page of a game of chance has besides: the throw, and what there is to say of it.
 */

/** One of the outcomes of chance, { weight, ... }, as likely as its weight says. */
export function thrown(outcomes, random = Math.random) {
  let left = random() * total(outcomes);
  return outcomes.find(({ weight }) => (left -= weight) < 0) ?? outcomes.at(-1);
}

/** How likely an outcome is, as it is counted on dice: 2/36. */
export const odds = ({ weight }, outcomes) => `${weight}/${total(outcomes)}`;

const total = (outcomes) => outcomes.reduce((sum, { weight }) => sum + weight, 0);

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
