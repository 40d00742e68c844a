/**
 * Positions by number, up to symmetry: what `solver/rules/orbits.py` makes of a game's `symmetries` and `tables`, made in
 * the same way.
 *
 * A symmetry is a list of where each point goes, a table is [rest, mine, theirs]; all of them BigInts. `tier(state)` is
 * undefined where a game has none.
 */

const BYTE = 8;

/** The `rank` and the `unrank` of a game with these; their layout is made when one is first asked for. */
export function byOrbits(symmetries, tables, tier) {
  let made;
  const layout = () => (made ??= layoutOf(symmetries(), tables(), tier));
  return { rank: (state) => rankOf(layout(), state), unrank: (rank) => stateOf(layout(), rank) };
}

function rankOf(layout, state) {
  const { points, every, byMen } = layout;
  const mine = Number(state & every);
  const theirs = Number((state >> points) & every);
  const table = byMen.get(`${state >> (2n * points)},${count(mine)},${count(theirs)}`);
  if (!table || mine & theirs) return -1n;
  const least = orbitsOf(layout, table.theirs);
  const orbit = placeIn(least, theirs);
  if (least[orbit] !== theirs) return -1n;
  return table.first + BigInt(orbit) * table.each + BigInt(numberOf(squeezed(mine, Number(every) & ~theirs)));
}

function stateOf(layout, rank) {
  const { points, every, tables, size } = layout;
  if (rank < 0n || rank >= size) return -1n;
  const table = tables.findLast(({ first }) => first <= rank);
  const theirs = orbitsOf(layout, table.theirs)[Number((rank - table.first) / table.each)];
  const place = Number((rank - table.first) % table.each);
  const mine = unsqueezed(subsetOf(place, table.mine), Number(every) & ~theirs);
  return BigInt(mine) | (BigInt(theirs) << points) | (table.rest << (2n * points));
}

function layoutOf(symmetries, tables, tier) {
  const group = closed(symmetries.map((symmetry) => [...symmetry].map(Number)));
  const size = group[0].length;
  const points = BigInt(size);
  const some = ([rest, mine, theirs]) =>
    (((1n << theirs) - 1n) << (mine + points)) | ((1n << mine) - 1n) | (rest << (2n * points));
  const wanted = tables.map((table) => [...table]);
  if (tier) {
    const tiers = new Map(wanted.map((table) => [table, tier(some(table))]));
    wanted.sort((one, other) => Number(tiers.get(one) - tiers.get(other)));
  }
  /** @type {{ rest: bigint, mine: number, theirs: number, first: bigint, each: bigint }[]} */
  const numbered = [];
  const layout = {
    points,
    every: (1n << points) - 1n,
    images: group.slice(1).map(imagesOf),
    least: new Map(),
    tables: numbered,
    byMen: new Map(),
    size: 0n,
  };
  const counts = orbitCounts(group);
  for (const [rest, mine, theirs] of wanted) {
    const each = BigInt(binomial(size - Number(theirs), Number(mine)));
    const table = { rest, mine: Number(mine), theirs: Number(theirs), first: layout.size, each };
    layout.tables.push(table);
    layout.byMen.set(`${rest},${mine},${theirs}`, table);
    layout.size += BigInt(counts[table.theirs]) * each;
  }
  return layout;
}

/** All symmetries that some make together, the one that leaves all points where they are first. */
function closed(symmetries) {
  const group = [symmetries[0].map((_, point) => point)];
  const known = new Set([group[0].join()]);
  for (const one of group) {
    for (const symmetry of symmetries) {
      const product = one.map((point) => symmetry[point]);
      if (known.has(product.join())) continue;
      known.add(product.join());
      group.push(product);
    }
  }
  return group;
}

/** For each byte of a set of points, the images of the 256 sets within it. */
function imagesOf(symmetry) {
  const tables = [];
  for (let first = 0; first < symmetry.length; first += BYTE) {
    let images = [0];
    for (const target of symmetry.slice(first, first + BYTE)) {
      images = [...images, ...images.map((image) => image | (1 << target))];
    }
    tables.push(images);
  }
  return tables;
}

/** How many orbits there are of sets of each size: on average a symmetry leaves so many as they are (Burnside). */
function orbitCounts(group) {
  const points = group[0].length;
  const total = Array(points + 1).fill(0);
  for (const symmetry of group) {
    let fixed = [1, ...Array(points).fill(0)];
    for (const length of cyclesOf(symmetry)) {
      fixed = fixed.map((number, size) => number + (size >= length ? fixed[size - length] : 0));
    }
    for (const [size, number] of fixed.entries()) total[size] += number;
  }
  return total.map((number) => number / group.length);
}

/** The lengths of a symmetry's cycles. */
function cyclesOf(symmetry) {
  const lengths = [];
  const seen = new Set();
  for (const begin of symmetry.keys()) {
    let length = 0;
    for (let point = begin; !seen.has(point); point = symmetry[point]) {
      seen.add(point);
      length += 1;
    }
    if (length) lengths.push(length);
  }
  return lengths;
}

/** The sets of so many points that are the least of their images, ascending. */
function orbitsOf({ points, images, least }, men) {
  if (!least.has(men)) least.set(men, [...leastSets(Number(points), men, images)]);
  return least.get(men);
}

function* leastSets(points, men, images) {
  const isLeast = (set) =>
    images.every((tables) => tables.reduce((image, table, at) => image | table[(set >> (BYTE * at)) & 255], 0) >= set);
  for (let set = (1 << men) - 1; set < 1 << points; set = following(set)) {
    if (isLeast(set)) yield set;
    if (set === 0) return;
  }
}

/** The next set of as many points. */
function following(set) {
  const low = set & -set;
  const carried = set + low;
  return carried | (((carried ^ set) / low) >> 2);
}

/** Where an ascending list has a number, or might have it. */
function placeIn(list, number) {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many sets of the same size are less than this one. */
function numberOf(set) {
  let number = 0;
  for (let [left, size] = [set, 1]; left; left &= left - 1, size += 1) {
    number += binomial(31 - Math.clz32(left & -left), size);
  }
  return number;
}

/** The set of so many points that so many are less than. */
function subsetOf(number, size) {
  let set = 0;
  for (; size > 0; size -= 1) {
    let point = size - 1;
    while (binomial(point + 1, size) <= number) point += 1;
    number -= binomial(point, size);
    set |= 1 << point;
  }
  return set;
}

/** Some of a set's points, as the places that they have among all of it. */
function squeezed(set, among) {
  let [places, place] = [0, 0];
  for (; among; among &= among - 1, place += 1) {
    if (set & among & -among) places |= 1 << place;
  }
  return places;
}

/** The inverse of `squeezed`. */
function unsqueezed(places, among) {
  let set = 0;
  for (; places; places >>= 1, among &= among - 1) {
    if (places & 1) set |= among & -among;
  }
  return set;
}

function count(set) {
  let number = 0;
  for (; set; set &= set - 1) number += 1;
  return number;
}

function binomial(all, some) {
  if (some > all) return 0;
  let number = 1;
  for (let i = 1; i <= some; i += 1) number = (number * (all - some + i)) / i;
  return number;
}
