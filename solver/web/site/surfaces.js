/** What boards are made of, as SVG: each function gives what lies behind the pieces, and of some boards the pieces, too. */

import { wordSize } from "./layout.js";
import { circle, drawn, path, rect, sideOfStack, svg, words } from "./men.js";

const SEEDS = 18; // that are drawn in a house; more are told by their number alone
const GOLDEN = 2.39996; // an angle that spreads them

/**
 * The number that a character stands for: as many places behind "0"; undefined for "?".
 * @type {(mark: string) => any}
 */
export const numberOf = (mark) => (mark === "?" ? undefined : (mark.codePointAt(0) ?? 48) - 48);

const each = ({ cells }, make) => cells.map((cell, at) => make(cell, at)).filter(Boolean);
const marksOf = (rows) => rows.flatMap((row) => [...row]);
const whole = ({ width, height }, className) => rect(0, 0, width, height, className, 16);

function tiles(layout, rows, gap, className = "tile", rx = 12) {
  const marks = marksOf(rows);
  return each(layout, ({ x, y, w, h }, at) => marks[at] !== " " && rect(x - w / 2 + gap, y - h / 2 + gap, w - 2 * gap, h - 2 * gap, className, rx));
}

/** The lines between cells; `inner`: 1 without those around the board, and how much shorter they are at their ends. */
function linesOf({ across, down, left, top }, className, inner = 0, short = 0) {
  const steps = (count) => Array.from({ length: count + 1 - 2 * inner }, (_, at) => 100 * (at + inner));
  const lines = [
    ...steps(across).map((x) => `M${left + x} ${top + short}v${100 * down - 2 * short}`),
    ...steps(down).map((y) => `M${left + short} ${top + y}h${100 * across - 2 * short}`),
  ];
  return path(lines.join(""), className);
}

export const SURFACES = {
  squares: (layout, rows) => [whole(layout, "wood"), ...tiles(layout, rows, 3)],

  checks(layout) {
    const { across } = layout;
    const dark = (at) => (Math.floor(at / across) + (at % across) + layout.down) % 2 === 1;
    return [whole(layout, "frame"), ...each(layout, ({ x, y }, at) => rect(x - 50, y - 50, 100, 100, dark(at) ? "check dark" : "check"))];
  },

  grid: (layout) => [whole(layout, "paper"), linesOf(layout, "ruled", 1, 6)],

  plate: (layout) => [rect(4, 4, layout.width - 8, layout.height - 8, "behind", 12)],

  felt(layout) {
    const { across, down, left, top } = layout;
    return [whole(layout, "frame"), rect(left, top, 100 * across, 100 * down, "felt"), linesOf(layout, "felt-line")];
  },

  points(layout, rows, { lines = [] }) {
    const { cells } = layout;
    const d = lines.map(([a, b]) => `M${cells[a].x} ${cells[a].y}L${cells[b].x} ${cells[b].y}`).join("");
    return [whole(layout, "wood"), path(d, "carved"), ...each(layout, ({ x, y }) => circle(x, y, lines.length ? 13 : 20, "point"))];
  },

  cubes: (layout, rows) => [whole(layout, "frame"), ...tiles(layout, rows, 2, "cube-side", 14), ...each(layout, ({ x, y }) => rect(x - 45, y - 47, 90, 88, "cube", 12))],

  tray(layout, rows, { at: centres }) {
    const isHand = (at) => centres && (at < 3 || at >= layout.cells.length - 3);
    return [whole(layout, "wood"), ...each(layout, ({ x, y }, at) => rect(x - 47, y - 47, 94, 94, isHand(at) ? "hand" : "tile", 10))];
  },

  walls(layout, rows) {
    const marks = marksOf(rows);
    const isCell = (at) => (Math.floor(at / layout.across) | at % layout.across) % 2 === 0;
    const isWall = (at) => marks[at] === "-" || marks[at] === "|";
    const fill = ({ x, y, w, h }, className, gap, rx) => rect(x - w / 2 + gap, y - h / 2 + gap, w - 2 * gap, h - 2 * gap, className, rx);
    return [
      whole(layout, "wood"),
      ...each(layout, (cell, at) => isCell(at) && fill(cell, "tile", 1, 8)),
      ...each(layout, (cell, at) => isWall(at) && fill({ ...cell, w: cell.w + (marks[at] === "-" ? 1 : 0), h: cell.h + (marks[at] === "|" ? 1 : 0) }, "wall", 0, 0)),
    ];
  },

  hexagons(layout) {
    const { cells, across, down } = layout;
    const corner = ({ x, y }, turn, r = 57.7) => `${(x + r * Math.sin((turn * Math.PI) / 3)).toFixed(1)} ${(y - r * Math.cos((turn * Math.PI) / 3)).toFixed(1)}`;
    const chain = (list, turns, end) => `M${list.flatMap((cell) => turns.map((turn) => corner(cell, turn))).join("L")}${end ? `L${corner(list.at(-1), end)}` : ""}`;
    const row = (at) => cells.slice(at * across, (at + 1) * across);
    const column = (at) => cells.filter((_, cell) => cell % across === at);
    const rims = [[chain(row(0), [-1, 0], 1), 0], [chain(row(down - 1), [-2, 3], 2), 0], [chain(column(0), [-1, -2], -3), 1], [chain(column(across - 1), [1, 2]), 1]];
    return [
      ...rims.map(([d, side]) => svg("path", { d, class: `hex-rim side${side}` })),
      ...cells.map((cell) => path(`M${[0, 1, 2, 3, 4, 5].map((turn) => corner(cell, turn)).join("L")}z`, "hexagon")),
    ];
  },

  dots(layout, rows, drawing, { owners = new Map() }) {
    const marks = marksOf(rows);
    const box = ({ x, y }, at) => marks[at] === "#" && rect(x - 62, y - 62, 124, 124, owners.has(at) ? `box side${owners.get(at)}` : "box", 6);
    const edge = ({ x, y, w, h }, at) => {
      const isEdge = (Math.floor(at / layout.across) + (at % layout.across)) % 2;
      const [across, up] = w > h ? [70, 0] : [0, 70];
      return isEdge && path(`M${x - across} ${y - up}L${x + across} ${y + up}`, marks[at] === "." ? "edge-open" : "edge-drawn");
    };
    return [whole(layout, "paper"), ...each(layout, box), ...each(layout, edge), ...each(layout, ({ x, y }, at) => marks[at] === "+" && circle(x, y, 8, "dot"))];
  },

  pits(layout, rows, { total }, { gained, mover }) {
    const counts = marksOf(rows).map(numberOf);
    const stored = total - counts.reduce((sum, count) => sum + count, 0);
    const lead = mover ? 0 - gained : gained;
    const stores = gained === undefined || (stored + lead) % 2 ? [undefined, undefined] : [(stored + lead) / 2, (stored - lead) / 2];
    const store = (x, count, side) => [
      rect(x - 42, 28, 84, layout.height - 56, "pit", 42), ...seeds(x, layout.height / 2, count ?? 0, 66),
      words(x, side ? 50 : layout.height - 50, count ?? "", "count", 30),
    ];
    const house = ({ x, y }, at) => svg("g", {}, circle(x, y, 45, "pit"), ...seeds(x, y + 4, counts[at], 27), words(x, y - 31, counts[at], "count", wordSize(layout.width, 20)));
    const middle = stores[0] === undefined ? [words(layout.width / 2, layout.height / 2, `${stored} in the stores`, "count", 24)] : [];
    return [whole(layout, "wood"), ...store(layout.width - 66, stores[0], 0), ...store(66, stores[1], 1), ...each(layout, house), ...middle];
  },

  piles: (layout, rows) => [
    whole(layout, "paper"),
    ...each(layout, ({ x, y }, at) => marksOf(rows)[at] === "." && circle(x, y, 8, "spot")),
  ],

  track(layout) {
    const way = layout.cells.map(({ x, y }) => `${x} ${y}`);
    return [whole(layout, "wood"), path(`M${way.join("L")}`, "carved"), ...each(layout, ({ x, y }) => circle(x, y, 44, "pit"))];
  },

  bearoff(layout, rows, { total }) {
    const counts = marksOf(rows).map(numberOf);
    const { across } = layout;
    const [isTop, isOff] = [(at) => at < across, (at) => at % across === across - 1];
    return [whole(layout, "wood"), ...points(layout, {
      total, isOff, isBar: () => false, sideOf: (at) => (isTop(at) ? 1 : 0), countOf: (at) => counts[at],
      nameOf: (at) => (isOff(at) ? "off" : across - 1 - (at % across)),
    })];
  },

  backgammon(layout, rows, { total }) {
    const marks = marksOf(rows);
    const { across } = layout;
    const [isOff, isBar] = [(at) => at % across === across - 1, (at) => at % across === 6];
    const point = (at) => (at < across ? 13 + at - (at > 6 ? 1 : 0) : 12 - (at - across) + (at - across > 6 ? 1 : 0));
    return [whole(layout, "wood"), ...points(layout, {
      total, isOff, isBar, sideOf: (at) => (sideOfStack(marks[at]) ? 1 : 0), countOf: (at) => numberOf(marks[at]) & 15,
      nameOf: (at) => (isOff(at) ? "off" : isBar(at) ? "bar" : point(at)),
    })];
  },

  race(layout, rows, { total }, { players = ["", ""] }) {
    const lane = (row, side) => {
      const [score, turn] = [...row].map(numberOf);
      const [y, scale] = [side ? 170 : 30, 540 / total];
      const left = score === undefined ? [] : [rect(30, y + 38, Math.max(score * scale, score ? 8 : 0), 34, `bar side${side}`, 10), rect(30 + score * scale, y + 38, turn * scale, 34, `bar turn side${side}`, 10)];
      const said = score === undefined ? "\u2013" : turn ? `${score} + ${turn}` : `${score}`;
      const name = words(30, y + 16, players[side], "count start", 24);
      const number = words(570, y + 16, `${said} of ${total}`, "count end", 24);
      name.setAttribute("text-anchor", "start");
      number.setAttribute("text-anchor", "end");
      return svg("g", {}, rect(30, y + 38, 540, 34, "lane", 10), ...left, name, number);
    };
    return [whole(layout, "paper"), lane(rows[0], 0), lane(rows[1], 1), path("M570 62v46M570 202v46", "finish")];
  },
};

/** So many seeds within a circle. */
function seeds(x, y, count, radius) {
  return Array.from({ length: Math.min(count, SEEDS) }, (_, at) => {
    const away = radius * Math.sqrt((at + 0.5) / Math.max(Math.min(count, SEEDS), 7));
    return circle(x + away * Math.cos(at * GOLDEN) * (radius > 40 ? 0.45 : 1), y + away * Math.sin(at * GOLDEN), 8, `seed s${at % 3}`);
  });
}

/** Two rows of points with the pieces on them, those on the bar, and those that are off. */
function points(layout, { total, isOff, isBar, sideOf, countOf, nameOf }) {
  const { across } = layout;
  const wedge = ({ x, y }, at) => {
    const way = at < across ? 1 : -1;
    if (isOff(at)) return rect(x - 44, y - 105, 88, 210, "pit", 10);
    if (isBar(at)) return rect(x - 30, y - 105, 60, 210, "pit", 10);
    return path(`M${x - 46} ${y - 105 * way}h92L${x} ${y + 85 * way}z`, (at % across) % 2 ? "wedge odd" : "wedge");
  };
  const stack = ({ x, y }, at) => {
    const [way, side, count] = [at < across ? 1 : -1, sideOf(at), countOf(at)];
    const step = isOff(at) ? Math.min(30, 190 / total) : Math.min(62, 150 / Math.max(1, count - 1));
    return svg("g", {}, ...Array.from({ length: count }, (_, one) => {
      const place = y + way * (-(isOff(at) ? 88 : 68) + one * step);
      if (isOff(at)) return rect(x - 34, place - 11, 68, 20, `slab side${side}`, 6);
      const man = drawn({ shape: "disc", side });
      man.setAttribute("transform", `translate(${x} ${place}) scale(0.84)`);
      return man;
    }));
  };
  const number = ({ x, y }, at) => words(x, y + (at < across ? 106 : -106), nameOf(at), "count", Math.min(26, wordSize(layout.width, 20)));
  return [...each(layout, wedge), ...each(layout, stack), ...each(layout, number)];
}

/** The front of a plate with a hole for each cell, behind which discs fall. */
export function front(layout) {
  const hole = ({ x, y }) => `M${x - 40} ${y}a40 40 0 1 0 80 0a40 40 0 1 0-80 0z`;
  const d = `M16 0H${layout.width - 16}q16 0 16 16V${layout.height - 16}q0 16-16 16H16q-16 0-16-16V16q0-16 16-16z${layout.cells.map(hole).join("")}`;
  return [svg("path", { d, class: "plate", "fill-rule": "evenodd" }), ...layout.cells.map(({ x, y }) => circle(x, y, 40, "hole-rim"))];
}

/** Boards whose functions draw the pieces as well. */
export const OWN_MEN = new Set(["pits", "bearoff", "backgammon", "race", "dots"]);
