"""Expectations of a table of moves with chance, in arrays: the values of `search.value_iteration`, to the unit.

Play may come back, so all positions are one tier. Its values are narrowed from both sides, in blocks on all cores
(`expectation`). Plain Python takes hundreds of such rounds for minutes; it solves all other tables as quickly.

Cost: NODE_BYTES of memory a position and MOVE_BYTES a move at most; for a million positions with 3.6 million moves two
seconds, and a tenth of one for each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solver.base.expectations import MIDDLE, UNIT, number_of, span_of
from solver.base.kinds import Units
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.book.solution import Solved, TierCount
from solver.book.writer import CHUNK
from solver.rules.game import Rules
from solver.search.nets import NO_BOUND, Net, unmet
from solver.sweep.expectation import middle_of, narrowed, new_entries

NODE_BYTES, MOVE_BYTES = 100, 45  # of memory, the peak


def solve(nodes: Any, rules: Rules, options: Options) -> Solved:
    """Value all positions of a table with chance whose values are no margins.

    Args:
        nodes: The table, `games.common.nodes.Nodes`.
        rules: Its rules.
        options: The options of the solve.

    Raises:
        MethodError: Play need not end.
    """
    worths = np.frombuffer(nodes.worths, np.int64)
    is_open = np.diff(np.frombuffer(nodes.begins, np.uint32)) > 0
    point = UNIT // span_of(int(np.abs(worths[~is_open]).max(initial=0)), False, rules.name)
    values, states = worths * point, np.flatnonzero(is_open)
    net = _net_of(nodes, values, is_open)
    with Workers(options.workers) as team:
        met = narrowed(net, point, team, options.progress)
    if met.place is not None:
        raise unmet(rules.name, int(states[met.place]), met, net, UNIT // point)
    values[states] = middle_of(met, len(states))
    numbers, signs = number_of(values[states]), number_of(values) - MIDDLE
    units = Units(rules.kind.measured(UNIT // point, met.gap + 1), 1, point, met.gap + 1)
    counts = [len(values), int((~is_open).sum()), *(int((test).sum()) for test in (signs > 0, signs == 0, signs < 0))]

    def parts() -> Iterator[tuple[Any, Any]]:
        for begin in range(0, len(states), CHUNK):
            yield states[begin : begin + CHUNK], numbers[begin : begin + CHUNK]

    return Solved(
        len(states),
        parts,
        [],
        None,
        [TierCount(0, *counts)],
        units.value(int(values[0])),
        None,
        units.kind,
        True,
    )


def _net_of(nodes: Any, values: Any, is_open: Any) -> Net:
    """The unfinished positions and the moves between them, by their places among these."""
    begins = np.frombuffer(nodes.begins, np.uint32).astype(np.int64)
    children, movers = np.frombuffer(nodes.children, np.uint32), np.frombuffer(nodes.movers, np.uint8)
    weights = np.frombuffer(nodes.weights, np.uint32).astype(np.int64)
    owners = np.repeat(np.arange(len(values)), np.diff(begins))
    stays, inside = movers[owners] == movers[children], is_open[children]
    numbers, places = np.cumsum(is_open) - 1, begins[:-1][is_open]
    net_begins = np.zeros(int(is_open.sum()) + 1, np.int64)
    np.cumsum(np.bincount(numbers[owners[inside]], minlength=len(net_begins) - 1), out=net_begins[1:])
    child_values = np.where(stays, values[children], -values[children])
    weight = np.add.reduceat(weights, places)
    sums = np.add.reduceat(np.where(inside, 0, weights * child_values), places)
    outside = np.where(weight > 0, sums, np.maximum.reduceat(np.where(inside, NO_BOUND, child_values), places))
    targets, shares = new_entries(int(net_begins[-1]))
    targets[:] = 2 * numbers[children[inside]] + stays[inside]
    shares[:] = weights[inside]
    return Net(net_begins, targets, shares, outside, weight.astype(np.int16), np.empty(0, np.int64))
