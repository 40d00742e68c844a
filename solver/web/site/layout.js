/**
 * Where the cells of a board lie, in hundredths of a cell: { width, height, cells: [{ x, y, w, h }] }, x and y their
 * centres. `drawing` is what the rules say of it (docs/reference/rules.md), `rows` the cells.
 */

const UNIT = 100;
const EDGE = 14; // around the cells
const NAMES = 34; // more where rows and columns are named

export function layoutOf(drawing, rows, isNamed = false) {
  const [across, down] = [rows[0].length, rows.length];
  const { cells, width, height } = (LAYOUTS[drawing.board] ?? grid)(across, down, drawing);
  const edge = drawing.board in LAYOUTS ? (drawing.edge ?? 0) : EDGE;
  const left = edge + (isNamed ? NAMES - EDGE : 0);
  const below = edge + (isNamed ? NAMES - EDGE : 0);
  return {
    width: width + left + edge,
    height: height + edge + below,
    left,
    top: edge,
    inner: [width, height],
    across,
    down,
    cells: cells.map((cell) => ({ ...cell, x: cell.x + left, y: cell.y + edge })),
  };
}

function grid(across, down) {
  const cells = Array.from({ length: across * down }, (_, cell) => square((cell % across) + 0.5, Math.floor(cell / across) + 0.5));
  return { cells, width: across * UNIT, height: down * UNIT };
}

const square = (x, y, w = 1, h = w) => ({ x: x * UNIT, y: y * UNIT, w: w * UNIT, h: h * UNIT });

/** Cells whose centres the rules give. */
function given({ at }, size = 0.94) {
  const [right, bottom] = [0, 1].map((way) => Math.max(...at.map((point) => point[way])) + 0.5);
  return { cells: at.map(([x, y]) => square(x, y, size)), width: right * UNIT, height: bottom * UNIT };
}

const LAYOUTS = {
  points(across, down, drawing) {
    if (drawing.at) return padded(given(drawing), 24);
    const { cells, width, height } = grid(across, down);
    return padded({ cells: cells.map((cell) => ({ ...cell, w: 94, h: 94 })), width, height }, 6);
  },

  tray: (across, down, drawing) => padded(drawing.at ? given(drawing, 1) : grid(across, down), 8),

  /** A rhombus of hexagons, as wide as a cell. */
  hexagons(across, down) {
    const cells = Array.from({ length: across * down }, (_, cell) => {
      const [row, column] = [Math.floor(cell / across), cell % across];
      return { ...square(column + 0.5 + row / 2, row * 0.866 + 0.577, 0.86), w: 86, h: 86 };
    });
    return padded({ cells, width: (across + (down - 1) / 2) * UNIT, height: ((down - 1) * 0.866 + 1.155) * UNIT }, 22);
  },

  /** Dots, edges and boxes in turns. */
  dots(across, down) {
    const step = (place) => place * 0.7 * UNIT;
    const cells = Array.from({ length: across * down }, (_, cell) => {
      const [row, column] = [Math.floor(cell / across), cell % across];
      return { x: step(column), y: step(row), w: column % 2 ? 104 : 52, h: row % 2 ? 104 : 40 };
    });
    return padded({ cells, width: step(across - 1), height: step(down - 1) }, 34);
  },

  /** Two rows of houses, and a store at either end. */
  pits(across) {
    const cells = Array.from({ length: 2 * across }, (_, cell) => square((cell % across) + 1.6, Math.floor(cell / across) * 1.1 + 0.55, 0.98));
    return padded({ cells, width: (across + 2.2) * UNIT, height: 2.2 * UNIT }, 16);
  },

  /** The points of a home board, the second player's above, and the checkers that are off. */
  bearoff(across) {
    const cells = Array.from({ length: 2 * across }, (_, cell) => {
      const column = cell % across;
      return { x: (column + 0.5 + (column === across - 1 ? 0.25 : 0)) * UNIT, y: (cell < across ? 1.1 : 3.5) * UNIT, w: 96, h: 210 };
    });
    return padded({ cells, width: (across + 0.3) * UNIT, height: 4.6 * UNIT }, 14);
  },

  backgammon: (across) => LAYOUTS.bearoff(across),

  race: () => ({ cells: Array.from({ length: 4 }, () => square(0, 0, 0)), width: 600, height: 300 }),

  track(across) {
    const { cells, width } = grid(across, 1);
    return padded({ cells: cells.map((cell) => ({ ...cell, y: 60 })), width, height: 132 }, 16);
  },

  piles(across, down) {
    const cells = Array.from({ length: across * down }, (_, cell) => square((cell % across) * 0.9 + 0.45, Math.floor(cell / across) * 1.15 + 0.57, 0.88));
    return padded({ cells, width: across * 90, height: down * 115 }, 14);
  },
};

function padded({ cells, width, height }, edge) {
  return { cells: cells.map((cell) => ({ ...cell, x: cell.x + edge, y: cell.y + edge })), width: width + 2 * edge, height: height + 2 * edge };
}
