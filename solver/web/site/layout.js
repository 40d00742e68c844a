/**
 * Where the cells of a board lie, in hundredths of a cell: { width, height, cells: [{ x, y, w, h }] }, x and y their
 * centres. `drawing` is what the rules say of it (docs/reference/rules.md), `rows` the cells.
 */

import { GRIDS } from "./grids.js";

const UNIT = 100;
const NAMED = 20; // more where rows and columns are named
const LONGEST = 10; // cells of a row; longer ones of low boards go on below, as lines of text do
const FOLDED = ["squares", "checks", "piles", "track"];

/**
 * `labels`: "names" of rows and columns, "columns" or "heaps" alone, which need room, or ""; `narrow`: as on a phone;
 * `turned`: as the second player sees it, from the other side.
 */
export function layoutOf(drawing, rows, { labels = "", narrow = false, turned = false } = {}) {
  const [across, down] = [rows[0].length, rows.length];
  const { cells, width, height, edge = 0 } = PLACED[drawing.board]?.(across, down, narrow) ?? spread(across, down, drawing);
  const left = edge + (["names", "heaps"].includes(labels) ? NAMED : 0);
  const below = edge + (["names", "columns"].includes(labels) ? NAMED : 0);
  return {
    width: width + left + edge,
    height: height + edge + below,
    left,
    top: edge,
    across,
    down,
    turned,
    cells: cells.map((cell) => ({ ...cell, x: left + (turned ? width - cell.x : cell.x), y: edge + (turned ? height - cell.y : cell.y) })),
  };
}

/** The size of words on a board of this width: that of a phone's screen has them 11 pixels high. */
export const wordSize = (width, least) => Math.max(least, width / 32);

const numbered = (across, down, make) => Array.from({ length: across * down }, (_, cell) => make(cell % across, Math.floor(cell / across)));

/** Cells in rows, or with the centres that the rules give. The parts of heaps that are long lie together. */
function spread(across, down, { board = "squares", at }) {
  const grid = GRIDS[board] ?? GRIDS.squares;
  const parts = FOLDED.includes(board) && (down < 4 || board === "piles") ? Math.ceil(across / LONGEST) : 1;
  const long = Math.ceil(across / parts);
  const rowOf = (part, y) => (board === "piles" ? y * parts + part : part * (down + 0.4) + y);
  const given = grid.given === undefined ? undefined : at;
  const centres = given ?? numbered(across, down, (x, y) => [grid.x + grid.dx * (x % long) + grid.slant * y, grid.y + grid.dy * rowOf(Math.floor(x / long), y)]);
  const size = grid.size * UNIT;
  const [right, bottom] = [0, 1].map((way) => Math.max(...centres.map((centre) => centre[way])));
  const cells = centres.map(([x, y]) => ({ x: x * UNIT, y: y * UNIT, w: size, h: size }));
  const placed = { cells, width: (right + grid.right) * UNIT, height: (bottom + grid.bottom) * UNIT };
  return { ...padded(placed, given ? grid.given : grid.pad), edge: grid.edge };
}

const PLACED = {
  /** Dots, edges and boxes in turns. */
  dots(across, down) {
    const cells = numbered(across, down, (x, y) => ({ x: x * 70, y: y * 70, w: x % 2 ? 104 : 52, h: y % 2 ? 104 : 40 }));
    return padded({ cells, width: 70 * (across - 1), height: 70 * (down - 1) }, 34);
  },

  /** Cells and, in the gaps between them, walls. */
  walls(across, down) {
    const [cell, gap] = [100, 34];
    const middle = (at) => (at >> 1) * (cell + gap) + (at % 2 ? cell + gap / 2 : cell / 2);
    const cells = numbered(across, down, (x, y) => ({ x: middle(x), y: middle(y), w: x % 2 ? gap : cell, h: y % 2 ? gap : cell }));
    const size = (count) => ((count + 1) / 2) * (cell + gap) - gap;
    return padded({ cells, width: size(across), height: size(down) }, 14);
  },

  /** The points of a home board, the second player's above, and the checkers that are off. */
  bearoff(across) {
    const cells = numbered(across, 2, (x, y) => ({ x: (x + 0.5 + (x === across - 1 ? 0.25 : 0)) * UNIT, y: y ? 350 : 110, w: 96, h: 210 }));
    return padded({ cells, width: (across + 0.3) * UNIT, height: 4.6 * UNIT }, 14);
  },

  /** In little room the half with the bar lies above the one with the checkers that are off. */
  backgammon(across, down, narrow) {
    const { cells, width, height } = PLACED.bearoff(across);
    const [half, below] = [(UNIT * across) / 2, 4.8 * UNIT];
    if (!narrow) return { cells, width, height };
    const folded = cells.map((cell, at) => (at % across < across / 2 ? cell : { ...cell, x: cell.x - half, y: cell.y + below }));
    return { cells: folded, width: width - half, height: height + below };
  },

  race: (across, down) => ({ cells: numbered(across, down, () => ({ x: 0, y: 0, w: 0, h: 0 })), width: 600, height: 300 }),
};

function padded({ cells, width, height }, edge) {
  return { cells: cells.map((cell) => ({ ...cell, x: cell.x + edge, y: cell.y + edge })), width: width + 2 * edge, height: height + 2 * edge };
}
