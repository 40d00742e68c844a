"""All values of a game that is a graph in arrays: backward from its ends along the moves, a round at a time.

Nothing is looked up and nothing compiled: positions are places, and a round is a handful of NumPy's passes over the
moves that lead to what the round before has settled, so that every move is looked at once. Wins, draws and losses by
retrograde analysis, as `retrograde` has it; margins, which have no cycles, by valuing what has all children valued.

Cost: 30 bytes of memory a position and 25 a move; a million positions with 3.4 million moves take a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.base.kinds import Kind
from solver.base.progress import Progress
from solver.base.value import WIN, value_of
from solver.book.solution import Solved, TierCount
from solver.book.writer import CHUNK

Ints = NDArray[np.int64]
NODE_BYTES, MOVE_BYTES = 60, 40  # of memory, the peak


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


def solve(nodes: Any, kind: Kind, tiers: Any, progress: Progress) -> Solved:
    """The values of all positions of a graph without chance. `tiers` (n,) are those of the rules, None without.

    Raises MethodError for margins with cycles.
    """
    graph = arrays_of(nodes)
    merits = (margins if kind.scores else outcomes)(graph, progress)
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

    def moves_to(self, front: Ints) -> Ints:
        """The places of all moves that lead to some positions."""
        return np.take(self.order, _ranges(self.begins[front], self.begins[front + 1]))


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """All numbers of some ranges, one range after the other."""
    lengths = ends - begins
    starts = np.cumsum(lengths) - lengths
    numbers: Ints = np.repeat(begins - starts, lengths)
    numbers += np.arange(len(numbers))
    return numbers


def outcomes(graph: Arrays, progress: Progress) -> Ints:
    """The merits of all positions, finished ones included, of wins, draws and losses."""
    back = _Back(graph)
    left = np.diff(graph.begins)
    merits = np.where(left == 0, graph.worths * WIN, 0)
    front, distance = np.flatnonzero(merits), 0
    done = int((left == 0).sum())
    is_settled = left == 0
    while len(front):
        distance += 1
        moves = back.moves_to(front)
        owners = graph.owners[moves]
        wins = (merits[graph.children[moves]] > 0) == graph.stays[moves]  # for whoever moves there
        unsettled = ~is_settled[owners]
        won = np.unique(owners[wins & unsettled])
        merits[won], is_settled[won] = WIN - distance, True
        losing = owners[~wins & unsettled]
        np.subtract.at(left, losing, 1)
        lost = np.unique(losing)
        lost = lost[(left[lost] == 0) & ~is_settled[lost]]
        merits[lost], is_settled[lost] = distance - WIN, True
        front = np.concatenate([won, lost])
        done += len(front)
        progress("resolve", done, graph.size)
    return merits


def margins(graph: Arrays, progress: Progress) -> Ints:
    """The merits of all positions where they are margins still to come. Raises MethodError if there are cycles."""
    merits = graph.worths.copy()
    for front, moves, places in from_the_ends(graph, progress):
        seen = merits[graph.children[moves]]
        seen = np.where(graph.stays[moves], seen, -seen) + graph.rewards[moves]
        merits[front] = np.maximum.reduceat(seen, places)
    return merits


def from_the_ends(graph: Arrays, progress: Progress) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Unfinished positions, a round after all those that their moves lead to; their moves, one position's after the
    other's, and where each begins among them. Raises MethodError if there are cycles."""
    back = _Back(graph)
    left = np.diff(graph.begins)
    front = np.flatnonzero(left == 0)
    done = len(front)
    while len(front):
        owners = graph.owners[back.moves_to(front)]
        np.subtract.at(left, owners, 1)
        front = np.unique(owners)
        front = front[left[front] == 0]
        if len(front):
            begins, ends = graph.begins[front], graph.begins[front + 1]
            yield front, _ranges(begins, ends), np.cumsum(ends - begins) - (ends - begins)
            done += len(front)
            progress("resolve", done, graph.size)
    if done < graph.size:
        raise MethodError("play can come back to a position, and values are margins: give every move a later one")
