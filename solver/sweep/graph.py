"""All values of a game that is a graph in arrays: backward from its ends along the moves, a round at a time.

Nothing is looked up: positions are places, and a round passes over the moves that lead to what the round before has
settled, so that every move is looked at once. Wins, draws and losses by the retrograde analysis of tiers with cycles
(`parents.go_back`); margins, which have no cycles, by valuing what has all children valued, in NumPy.

Cost: NODE_BYTES of memory a position at most, half of it where there are many rounds, and MOVE_BYTES a move; a second a
million positions with 3.6 million moves, two or three for margins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.base.options import Options
from solver.base.progress import Progress
from solver.base.value import WIN, value_of
from solver.book.solution import Solved, TierCount
from solver.book.writer import CHUNK
from solver.rules.game import Rules
from solver.sweep.parents import go_back

Ints = NDArray[np.int64]
PIECE = 1 << 18  # moves that are looked at at a time
NODE_BYTES, MOVE_BYTES = 90, 40  # of memory, the peak


class Arrays(NamedTuple):
    """The graph as NumPy sees it: `begins` (n + 1,), `owners`, `children` (m,), whether the same side `stays` to move
    (m,), `rewards` (m,), and `worths` (n,)."""

    begins: Ints
    owners: Ints
    children: NDArray[np.uint32]
    stays: NDArray[np.bool_]
    rewards: Ints
    worths: Ints

    @property
    def size(self) -> int:
        return len(self.worths)


def arrays_of(nodes: Any) -> Arrays:
    """The arrays of `games.common.nodes.Nodes`, which are not copied where that need not be."""
    begins = np.frombuffer(nodes.begins, np.uint32).astype(np.int64)
    children = np.frombuffer(nodes.children, np.uint32) if nodes.children else np.empty(0, np.uint32)
    owners = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    stays = np.zeros(len(children), np.bool_)
    if nodes.movers:
        movers = np.frombuffer(nodes.movers, np.uint8)
        stays = movers[owners] == movers[children]
    rewards = np.frombuffer(nodes.rewards, np.int64) if nodes.rewards else np.zeros(len(children), np.int64)
    return Arrays(begins, owners, children, stays, rewards, np.frombuffer(nodes.worths, np.int64))


def solve(nodes: Any, rules: Rules, options: Options) -> Solved:
    """The values of all positions of a graph without chance (`games.common.nodes.Nodes`). Raises MethodError for
    margins with cycles."""
    graph, kind = arrays_of(nodes), rules.kind
    tiers = nodes.tiers if rules.scores else None
    merits = (margins if kind.scores else outcomes)(graph, options.progress)
    is_open = np.diff(graph.begins) > 0
    states = np.flatnonzero(is_open)
    stored = merits[states]
    ascending, numbers = np.unique(stored, return_counts=True)  # 64-bit keys, but once
    best_first = ascending[::-1]
    indices = len(best_first) - 1 - np.searchsorted(ascending, stored)
    kinds = indices.astype(np.uint8 if len(best_first) <= 256 else np.int32)

    wins = ascending[ascending > 0]
    longest = None
    if len(wins) and not kind.scores:
        longest = int(WIN - wins[0]), int(states[np.argmax(stored == wins[0])])
    return Solved(
        len(states),
        lambda: in_parts(states, kinds),
        [value_of(int(merit), kind.scores) for merit in best_first],
        numbers[::-1].tolist(),
        counted(merits, is_open, tiers),
        value_of(int(merits[0]), kind.scores),
        longest,
        kind,
        tiers is None,
    )


def in_parts(states: Ints, kinds: Any) -> Iterator[tuple[Any, Any]]:
    """Positions and what a book has of their values, in parts as `Solved` wants them."""
    for at in range(0, len(states), CHUNK):
        yield states[at : at + CHUNK], kinds[at : at + CHUNK]


def counted(merits: Ints, is_open: NDArray[np.bool_], tiers: Any) -> list[TierCount]:
    """The positions of each tier, all of one if that is None, by the signs of what they are worth."""
    of = np.zeros(len(merits), np.int64) if tiers is None else np.asarray(tiers, np.int64)
    length = int(of.max()) + 1
    columns = [np.ones(len(of), np.bool_), ~is_open, merits > 0, merits == 0, merits < 0]
    counts = np.array([np.bincount(of[column], minlength=length) for column in columns])
    return [TierCount(tier, *counts[:, tier].tolist()) for tier in range(length) if counts[0, tier]]


class _Back:
    """The moves of a graph by where they lead: `order` (m,) has their places, from begins[i] on those to position i."""

    def __init__(self, graph: Arrays) -> None:
        self.order: Ints = np.argsort(graph.children, kind="stable").astype(np.int64)
        self.begins = np.zeros(graph.size + 1, np.int64)
        np.cumsum(np.bincount(graph.children, minlength=graph.size), out=self.begins[1:])

    def moves_to(self, front: Ints) -> Iterator[Ints]:
        """The places of all moves that lead to some positions, PIECE at a time."""
        begins, ends = self.begins[front], self.begins[front + 1]
        sums = np.cumsum(ends - begins)
        for first in range(0, int(sums[-1]), PIECE):
            last = min(first + PIECE, int(sums[-1]))
            low, high = np.searchsorted(sums, first, "right"), np.searchsorted(sums, last) + 1
            some, others = begins[low:high].copy(), ends[low:high].copy()
            some[0] = others[0] - (sums[low] - first)
            others[-1] -= sums[high - 1] - last
            yield np.take(self.order, _ranges(some, others))


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """All numbers of some ranges, one range after the other."""
    lengths = ends - begins
    starts = np.cumsum(lengths) - lengths
    numbers: Ints = np.repeat(begins - starts, lengths)
    numbers += np.arange(len(numbers))
    return numbers


def outcomes(graph: Arrays, progress: Progress) -> Ints:
    """The merits of all positions, finished ones included, of wins, draws and losses."""
    back, none = _Back(graph), np.iinfo(np.int64).min
    entries = 2 * graph.owners
    entries += graph.stays
    parents = np.take(entries, back.order)
    del entries, back.order
    left = np.diff(graph.begins)
    merits = np.where(left == 0, graph.worths * WIN, none)
    front = np.flatnonzero((left == 0) & (merits != 0))
    done = int((left == 0).sum())
    while len(front):
        front, _ = go_back(False, False, front, back.begins, parents, left, merits)
        done += len(front)
        progress("resolve", done, graph.size)
    return np.where(merits == none, 0, merits)


def margins(graph: Arrays, progress: Progress) -> Ints:
    """The merits of all positions where they are margins still to come. Raises MethodError if there are cycles."""
    merits = graph.worths.copy()
    for front in from_the_ends(graph, progress):
        for some, moves, places in pieces_of(graph, front):
            seen = merits[graph.children[moves]]
            seen = np.where(graph.stays[moves], seen, -seen) + graph.rewards[moves]
            merits[some] = np.maximum.reduceat(seen, places)
    return merits


def pieces_of(graph: Arrays, front: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Some positions after the other, with about PIECE moves together: these, and where each position's begin."""
    lengths = graph.begins[front + 1] - graph.begins[front]
    cuts = np.flatnonzero(np.diff((np.cumsum(lengths) - lengths) // PIECE, prepend=-1))
    for low, high in zip(cuts, [*cuts[1:], len(front)], strict=True):
        some, count = front[low:high], lengths[low:high]
        yield some, _ranges(graph.begins[some], graph.begins[some + 1]), np.cumsum(count) - count


def from_the_ends(graph: Arrays, progress: Progress) -> Iterator[Ints]:
    """All unfinished positions, a round at a time, after those that their moves lead to. Raises MethodError if there
    are cycles."""
    back = _Back(graph)
    left = np.diff(graph.begins)
    front = np.flatnonzero(left == 0)
    done = len(front)
    while len(front):
        found = []
        for moves in back.moves_to(front):
            owners = graph.owners[moves]
            np.subtract.at(left, owners, 1)
            ready = np.unique(owners)
            found.append(ready[left[ready] == 0])
        front = np.concatenate([front[:0], *found])
        if len(front):
            yield front
            done += len(front)
            progress("resolve", done, graph.size)
    if done < graph.size:
        raise MethodError("play can come back to a position, and values are margins: give every move a later one")
