"""All values of a game that is a graph in arrays: backward from its ends along the moves, a round at a time.

Nothing is looked up. Positions are indices, and a round passes over the moves into the positions that the last round
has settled, so every move is looked at once. Wins, draws and losses take the retrograde analysis of tiers with cycles
(`parents.go_back`). Margins have no cycles: a position is valued once all its children are, in NumPy.

Cost: at most NODE_BYTES of memory a position, half of that over many rounds, and MOVE_BYTES a move. A million positions
with 3.6 million moves take a second, and two or three for margins.
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
MOVES_PER_PIECE = 1 << 18  # moves that are looked at at a time
NODE_BYTES, MOVE_BYTES = 90, 40  # of memory, the peak


class Arrays(NamedTuple):
    """A graph in NumPy arrays, with n positions and m moves.

    Attributes:
        begins: The first move of each position, (n + 1,).
        owners: The position of each move, (m,).
        children: The position that each move leads to, (m,).
        stays: Whether the same side moves again, (m,).
        rewards: The margin that a move gains for its side, (m,).
        worths: The value of each finished position for the side to move, (n,).
    """

    begins: Ints
    owners: Ints
    children: NDArray[np.uint32]
    stays: NDArray[np.bool_]
    rewards: Ints
    worths: Ints

    @property
    def size(self) -> int:
        """The number of positions."""
        return len(self.worths)


def arrays_of(nodes: Any) -> Arrays:
    """Return the arrays of `games.common.nodes.Nodes`, copied only where that is necessary."""
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
    """Value all positions of a graph without chance.

    Args:
        nodes: The graph, `games.common.nodes.Nodes`.
        rules: Its rules.
        options: The options of the solve.

    Raises:
        MethodError: Values are margins, and the graph has cycles.
    """
    graph, kind = arrays_of(nodes), rules.kind
    tiers = nodes.tiers if rules.scores else None
    merits = (margins if kind.scores else outcomes)(graph, options.progress)
    is_open = np.diff(graph.begins) > 0
    states = np.flatnonzero(is_open)
    stored = merits[states]
    # 64-bit keys, but once
    ascending, numbers = np.unique(stored, return_counts=True)
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
        counts_by_tier(merits, is_open, tiers),
        value_of(int(merits[0]), kind.scores),
        longest,
        kind,
        tiers is None,
    )


def in_parts(states: Ints, kinds: Any) -> Iterator[tuple[Any, Any]]:
    """Yield positions and their palette indices, in parts as `Solved` wants them."""
    for begin in range(0, len(states), CHUNK):
        yield states[begin : begin + CHUNK], kinds[begin : begin + CHUNK]


def counts_by_tier(merits: Ints, is_open: NDArray[np.bool_], tiers: Any) -> list[TierCount]:
    """Count the positions of each tier (of one tier if `tiers` is None) by the signs of their merits."""
    tier_of = np.zeros(len(merits), np.int64) if tiers is None else np.asarray(tiers, np.int64)
    length = int(tier_of.max()) + 1
    columns = [np.ones(len(tier_of), np.bool_), ~is_open, merits > 0, merits == 0, merits < 0]
    counts = np.array([np.bincount(tier_of[column], minlength=length) for column in columns])
    return [TierCount(tier, *counts[:, tier].tolist()) for tier in range(length) if counts[0, tier]]


class _MovesByChild:
    """The moves of a graph by child: those into position i are order[begins[i]:begins[i + 1]]."""

    def __init__(self, graph: Arrays) -> None:
        self.order: Ints = np.argsort(graph.children, kind="stable").astype(np.int64)
        self.begins = np.zeros(graph.size + 1, np.int64)
        np.cumsum(np.bincount(graph.children, minlength=graph.size), out=self.begins[1:])

    def moves_to(self, positions: Ints) -> Iterator[Ints]:
        """Yield the indices of all moves into some positions, MOVES_PER_PIECE at a time."""
        begins, ends = self.begins[positions], self.begins[positions + 1]
        sums = np.cumsum(ends - begins)
        for piece_begin in range(0, int(sums[-1]), MOVES_PER_PIECE):
            piece_end = min(piece_begin + MOVES_PER_PIECE, int(sums[-1]))
            first_position, end_position = (
                np.searchsorted(sums, piece_begin, "right"),
                np.searchsorted(sums, piece_end) + 1,
            )
            piece_begins, piece_ends = (
                begins[first_position:end_position].copy(),
                ends[first_position:end_position].copy(),
            )
            piece_begins[0] = piece_ends[0] - (sums[first_position] - piece_begin)
            piece_ends[-1] -= sums[end_position - 1] - piece_end
            yield np.take(self.order, _concatenated_ranges(piece_begins, piece_ends))


def _concatenated_ranges(begins: Ints, ends: Ints) -> Ints:
    """Return all numbers of some ranges, one range after the other."""
    lengths = ends - begins
    starts = np.cumsum(lengths) - lengths
    numbers: Ints = np.repeat(begins - starts, lengths)
    numbers += np.arange(len(numbers))
    return numbers


def outcomes(graph: Arrays, progress: Progress) -> Ints:
    """Return the merits of all positions, finished ones included, in a game of wins, draws and losses."""
    by_child, no_merit = _MovesByChild(graph), np.iinfo(np.int64).min
    entries = 2 * graph.owners
    entries += graph.stays
    parents = np.take(entries, by_child.order)
    del entries, by_child.order
    open_children = np.diff(graph.begins)
    merits = np.where(open_children == 0, graph.worths * WIN, no_merit)
    frontier = np.flatnonzero((open_children == 0) & (merits != 0))
    done_count = int((open_children == 0).sum())
    while len(frontier):
        frontier, _ = go_back(False, False, frontier, by_child.begins, parents, open_children, merits)
        done_count += len(frontier)
        progress("resolve", done_count, graph.size)
    return np.where(merits == no_merit, 0, merits)


def margins(graph: Arrays, progress: Progress) -> Ints:
    """Return the margins still to come of all positions. Raises MethodError if there are cycles."""
    merits = graph.worths.copy()
    for layer in from_the_ends(graph, progress):
        for positions, moves, first_moves in pieces_of(graph, layer):
            move_values = merits[graph.children[moves]]
            move_values = np.where(graph.stays[moves], move_values, -move_values) + graph.rewards[moves]
            merits[positions] = np.maximum.reduceat(move_values, first_moves)
    return merits


def pieces_of(graph: Arrays, layer: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield positions with about MOVES_PER_PIECE moves together, their moves, and the first move of each."""
    lengths = graph.begins[layer + 1] - graph.begins[layer]
    cuts = np.flatnonzero(np.diff((np.cumsum(lengths) - lengths) // MOVES_PER_PIECE, prepend=-1))
    for begin, end in zip(cuts, [*cuts[1:], len(layer)], strict=True):
        positions, count = layer[begin:end], lengths[begin:end]
        yield (
            positions,
            _concatenated_ranges(graph.begins[positions], graph.begins[positions + 1]),
            np.cumsum(count) - count,
        )


def from_the_ends(graph: Arrays, progress: Progress) -> Iterator[Ints]:
    """Yield all unfinished positions in layers, each after its children. Raises MethodError if there are cycles."""
    by_child = _MovesByChild(graph)
    open_children = np.diff(graph.begins)
    layer = np.flatnonzero(open_children == 0)
    done_count = len(layer)
    while len(layer):
        ready_positions = []
        for moves in by_child.moves_to(layer):
            owners = graph.owners[moves]
            np.subtract.at(open_children, owners, 1)
            ready = np.unique(owners)
            ready_positions.append(ready[open_children[ready] == 0])
        layer = np.concatenate([layer[:0], *ready_positions])
        if len(layer):
            yield layer
            done_count += len(layer)
            progress("resolve", done_count, graph.size)
    if done_count < graph.size:
        raise MethodError("play can come back to a position, and values are margins: give every move a later one")
