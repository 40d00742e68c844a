"""Expectations of all positions of a graph with chance, in arrays: the values of `search.value_iteration`, to the unit.

Margins have no cycles: they are valued as `graph.margins` are, a round at a time. Others are one tier, whose values are
narrowed from both sides, in blocks on all cores (`expectation`).

Cost: NODE_BYTES of memory a position and MOVE_BYTES a move at most; a million positions with 3.6 million moves take two
seconds, and a tenth of one for each round in which bounds are narrowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import MIDDLE, UNIT, WIDER, mean, number_of, span_of, spanned
from solver.base.kinds import Units
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.book.solution import Solved
from solver.rules.game import Rules
from solver.search.nets import NO_BOUND, Net, unmet
from solver.sweep.expectation import middle_of, narrowed, new_entries
from solver.sweep.graph import Arrays, Ints, arrays_of, counts_by_tier, from_the_ends, in_parts, pieces_of
from solver.sweep.scale import TooWide

NODE_BYTES, MOVE_BYTES = 100, 45  # of memory, the peak


def solve(nodes: Any, rules: Rules, options: Options) -> Solved:
    """The values of all positions of a graph with chance (`games.common.nodes.Nodes`).

    Raises MethodError where play need not end, GameError for margins beyond any span.
    """
    graph, weights = arrays_of(nodes), np.frombuffer(nodes.weights, np.uint32).astype(np.int64)
    is_open = np.diff(graph.begins) > 0
    span = span_of(int(np.abs(graph.worths[~is_open]).max(initial=0)), rules.margins, rules.name)
    while True:
        point = UNIT // span
        try:
            if rules.margins:
                values, error = expectations(graph, weights, point, options.progress)
            else:
                values, error = bounded(graph, weights, point, rules, options)
            break
        except TooWide:
            span = spanned(span * WIDER, rules.name)
    units = Units(rules.kind.measured(span, error), 1, point, error)
    states, tiers = np.flatnonzero(is_open), nodes.tiers if rules.margins else None
    numbers = number_of(values[states])
    return Solved(
        len(states),
        lambda: in_parts(states, numbers),
        [],
        None,
        counts_by_tier(number_of(values) - MIDDLE, is_open, tiers),
        units.value(int(values[0])),
        None,
        units.kind,
        not rules.margins,
    )


def expectations(graph: Arrays, weights: Ints, point: int, progress: Progress) -> tuple[Ints, int]:
    """The values of a graph without cycles, and by how many half units they may be off. Raises TooWide."""
    values, error = graph.worths * point, 0
    for front in from_the_ends(graph, progress):
        for states, moves, places in pieces_of(graph, front):
            child_values = values[graph.children[moves]]
            child_values = np.where(graph.stays[moves], child_values, -child_values) + graph.rewards[moves] * point
            if np.abs(child_values).max() > UNIT:
                raise TooWide
            values[states] = best_of(child_values, weights[moves], places)
        error += 1
    return values, error


def best_of(child_values: Ints, weights: Ints, places: Ints) -> Ints:
    """Return the value that the moves from each of `places` on give a position: the best, or the mean by weight."""
    totals = np.add.reduceat(weights, places)
    means = mean(np.add.reduceat(weights * child_values, places), np.maximum(totals, 1))
    best: Ints = np.where(totals > 0, means, np.maximum.reduceat(child_values, places))
    return best


def bounded(graph: Arrays, weights: Ints, point: int, rules: Rules, options: Options) -> tuple[Ints, int]:
    """The values of a graph as one tier with cycles, and by how many half units they may be off. Raises MethodError."""
    values, is_open = graph.worths * point, np.diff(graph.begins) > 0
    states = np.flatnonzero(is_open)
    net = net_of(graph, weights, values, is_open)
    with Workers(options.workers) as team:
        met = narrowed(net, point, team, options.progress)
    if met.place is not None:
        raise unmet(rules.name, int(states[met.place]), met, net, UNIT // point)
    values[states] = middle_of(met, len(states))
    return values, met.gap + 1


def net_of(graph: Arrays, weights: Ints, values: Ints, is_open: NDArray[np.bool_]) -> Net:
    """The unfinished positions and the moves between them, by their places among these."""
    numbers = np.cumsum(is_open) - 1
    inside = is_open[graph.children]
    begins = np.zeros(int(is_open.sum()) + 1, np.int64)
    np.cumsum(np.bincount(numbers[graph.owners[inside]], minlength=len(begins) - 1), out=begins[1:])
    places = graph.begins[:-1][is_open]
    child_values = values[graph.children]
    child_values = np.where(graph.stays, child_values, -child_values)
    weight = np.add.reduceat(weights, places)
    sums = np.add.reduceat(np.where(inside, 0, weights * child_values), places)
    outside = np.where(weight > 0, sums, np.maximum.reduceat(np.where(inside, NO_BOUND, child_values), places))
    targets, shares = new_entries(int(begins[-1]))
    targets[:] = 2 * numbers[graph.children[inside]] + graph.stays[inside]
    shares[:] = weights[inside]
    return Net(begins, targets, shares, outside, weight.astype(np.int16), np.empty(0, np.int64))
