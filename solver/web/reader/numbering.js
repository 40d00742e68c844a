/**
 * Positions by number: what `solver/rules/numbering.py` makes of a game's `digits` and `scan`, made in the same way.
 *
 * `digits()` is a list of the bits of each digit of a state, `scan(place, memo, digit)` what to remember of the digits so
 * far, or a number below 0 where no position goes on so; all of them BigInts.
 */

/** The `rank` and the `unrank` of a game with these; their diagram is made when one is first asked for. */
export function numbered(digits, scan) {
  let made;
  const diagram = () => (made ??= diagramOf(digits(), scan));
  return { rank: (state) => rankOf(diagram(), state), unrank: (rank) => stateOf(diagram(), rank) };
}

function rankOf({ masks, read, ends, bits }, state) {
  if (state & ~bits) return -1n;
  let memo = 0n;
  for (const [place, mask] of masks.entries()) {
    memo = read[place].get(memo)?.get(state & mask);
    if (memo === undefined) return -1n;
  }
  let { first: rank, node } = ends.get(memo);
  for (const mask of masks) {
    const arc = node.arcs.get(state & mask);
    rank += arc.before;
    node = arc.child;
  }
  return rank;
}

function stateOf({ ends, size }, rank) {
  if (rank < 0n || rank >= size) return -1n;
  let state = 0n;
  const { first, node: root } = [...ends.values()].findLast((end) => end.first <= rank);
  rank -= first;
  for (let node = root; node.arcs.size; ) {
    const [bits, { before, child }] = [...node.arcs].findLast(([, arc]) => arc.before <= rank);
    rank -= before;
    state |= bits;
    node = child;
  }
  return state;
}

function diagramOf(masks, scan) {
  const read = readOf(masks, scan);
  const last = read.at(-1) ?? new Map([[0n, new Map([[0n, 0n]])]]);
  let after = new Map(); // of each memo the nodes by the last memo that they lead to
  for (const arcs of last.values()) {
    for (const memo of arcs.values()) after.set(memo, new Map([[memo, { total: 1n, arcs: new Map() }]]));
  }
  for (const level of read.toReversed()) {
    after = new Map([...level].map(([memo, arcs]) => [memo, joined(arcs, after)]));
  }
  const ends = new Map();
  let size = 0n;
  const found = [...(after.get(0n) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [memo, node] of found) {
    ends.set(memo, { first: size, node });
    size += node.total;
  }
  return { masks, read, ends, size, bits: masks.reduce((all, mask) => all | mask, 0n) };
}

/** The nodes with arcs of these bits, by the last memo. */
function joined(arcs, after) {
  const nodes = new Map();
  for (const [bits, memo] of arcs) {
    for (const [last, child] of after.get(memo) ?? []) {
      if (!nodes.has(last)) nodes.set(last, { total: 0n, arcs: new Map() });
      const node = nodes.get(last);
      node.arcs.set(bits, { before: node.total, child });
      node.total += child.total;
    }
  }
  return nodes;
}

/** Place by place, of each memo and the bits of a digit, the memo after it. */
function readOf(masks, scan) {
  const read = [];
  let memos = new Set([0n]);
  for (const [place, mask] of masks.entries()) {
    const values = valuesOf(mask);
    const level = new Map();
    const next = new Set();
    for (const memo of memos) {
      const arcs = new Map();
      for (const [digit, bits] of values.entries()) {
        const found = BigInt(scan(BigInt(place), memo, BigInt(digit)));
        if (found < 0n) continue;
        arcs.set(bits, found);
        next.add(found);
      }
      level.set(memo, arcs);
    }
    read.push(level);
    memos = next;
  }
  return read;
}

/**
 * All numbers of these bits alone, ascending.
 * @param {bigint} mask
 */
function valuesOf(mask) {
  let values = [0n];
  for (; mask; mask &= mask - 1n) values = [...values, ...values.map((value) => value | (mask & -mask))];
  return values;
}
