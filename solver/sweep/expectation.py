"""The backward pass over a game of chance: expectations, as `solver.base.expectations` has them, in place of merits.

Cost: 8 bytes a state in a file; in a tier with cycles 52 more in memory, and 16 a move that stays in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import expectations
from solver.base.expectations import MIDDLE, SPAN, number_of
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import OPEN, ROOM
from solver.search.nets import BLOCK, NONE, Met, Net, meet, narrow, unmet
from solver.store.directory import BEGIN, END, MISSING, Known
from solver.store.packed import LAST
from solver.store.shared import compiled, shared
from solver.sweep.backward import Backward
from solver.sweep.batch import TOO_WIDE, new_batch, next_batch, refuse, value_at
from solver.sweep.demand import refuse_beyond
from solver.sweep.retrograde import Solve
from solver.sweep.scale import of_span

mean = register_jitable(expectations.mean)
narrow_all = compiled(narrow)
Values = NDArray[np.int64]


@register_jitable
def offer(values, i, value, weight):
    """A child gives state i this value: one more of a weighted sum, or of those of which the best counts."""
    if weight:
        values[i] = (0 if values[i] == NONE else values[i]) + weight * value
    else:
        values[i] = max(values[i], value)


@shared
def expect(moves, known, begin, end, low, high, point, values):
    """Add to values (end - begin,) what the children of states[begin:end] from `low` to `high` make of them.

    All children are finished or in later tiers, whose values are known; the finished ones count where `low` is 0, and
    chance nodes are divided where `high` is LAST. A margin of 1 has `point` units. Returns the first state that has a
    child nobody reached, or too many; TOO_WIDE; or -1.
    """
    totals = np.zeros(end - begin, np.int64)
    batch, at = new_batch(ROOM), begin
    while at < end:
        batch, count, others, done = next_batch(moves, known, at, end, low, high, batch)
        if count < 0:
            return known.states[done]
        _, _, owners, merits, _, weights = batch.rest
        for j in range(others):
            owner = at - begin + (owners[j] >> 1)
            totals[owner] += weights[j]
            if merits[j] != OPEN and low == 0:
                if abs(merits[j]) > SPAN // point:
                    return np.int64(TOO_WIDE)
                offer(values, owner, merits[j] * point, weights[j])
        (_, _, owners, _, rewards, weights), rows, places, _, _ = batch
        for j in range(count):
            owner = at - begin + (owners[j] >> 1)
            totals[owner] += weights[j]
            if places[j] == MISSING:
                return known.states[begin + owner]
            value = value_at(known, rows[j], places[j])
            value = (value if owners[j] & 1 else -value) + rewards[j] * point
            if abs(value) > SPAN:
                return np.int64(TOO_WIDE)
            offer(values, owner, value, weights[j])
        at = done
    if high == LAST:
        for i in range(end - begin):
            if totals[i]:
                values[i] = mean(values[i], totals[i])
    return np.int64(-1)


@shared
def count_inside(moves, known, own, begin, end, point, net):
    """For the states begin..end of the tier in row `own`: net.begins (n + 1,) gets the number of moves that stay in it,
    in the next state's place, outside (n,) and weight (n,) what `Net` says. Returns as `expect`."""
    begins, _, _, outside, weight = net
    first = known.table[own, BEGIN]
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, others, done = next_batch(moves, known, at, first + end, 0, LAST, batch)
        if count < 0:
            return known.states[done]
        _, _, owners, merits, _, weights = batch.rest
        for j in range(others):
            owner = at - first + (owners[j] >> 1)
            weight[owner] += weights[j]
            offer(outside, owner, merits[j] * point, weights[j])
        (_, _, owners, _, _, weights), rows, places, _, _ = batch
        for j in range(count):
            owner = at - first + (owners[j] >> 1)
            weight[owner] += weights[j]
            if places[j] == MISSING:
                return known.states[first + owner]
            if rows[j] == own:
                begins[owner + 1] += 1
            else:
                value = value_at(known, rows[j], places[j])
                offer(outside, owner, value if owners[j] & 1 else -value, weights[j])
        at = done
    for i in range(begin, end):
        if weight[i] and outside[i] == NONE:
            outside[i] = 0
    return np.int64(-1)


@shared
def list_inside(moves, inside, own, begin, end, net):
    """The moves of the states begin..end that stay in the tier, into net.targets and net.weights; `inside` is what is
    known of it alone."""
    begins, targets, weights, _, _ = net
    first, entry = inside.table[own, BEGIN], begins[begin]
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, _, done = next_batch(moves, inside, at, first + end, 0, LAST, batch)
        edges, places = batch.edges, batch.places
        for j in range(count):
            targets[entry], weights[entry] = 2 * places[j] + (edges.owners[j] & 1), edges.weights[j]
            entry += 1
        at = done


class ExpectationPass(Backward):
    """`Backward` for a game of chance: `merits` are values in units, `tally` counts them by sign.

    `error` is how many half units those found so far may be off.
    """

    def widen(self) -> None:
        self.error = 0
        super().widen()

    def saved(self, resolving: Any = None) -> dict[str, Any]:
        return {**super().saved(resolving), "span": self.scale.span, "error": self.error}

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        self.scale, self.error = of_span(saved["span"]), saved["error"]

    def _raise(self, known: Known, first: int, last: int, low: int, high: int, best: Values) -> int:
        culprit: int = expect(self.moves, known, first, last, low, high, self.scale.point, best)
        return culprit

    def _resolved(self, own: int, team: Workers) -> Iterator[Values]:
        bounds = Bounds(self._solve(), own, self._opened(own, team))
        bounds.build(team)
        yield bounds.narrowed(team)
        self.error += bounds.gap

    def _count(self, merits: Values, states: Values) -> None:
        signs = np.sign(number_of(merits) - MIDDLE)
        for sign in (1, 0, -1):
            self._layer_tally[sign] += int(np.count_nonzero(signs == sign))

    def _end_layer(self) -> None:
        self.error += self._layer_tally.total() > 0
        super()._end_layer()


class Bounds:
    """The values of the tier with cycles in row `own`, narrowed from both sides; `gap` is how many units are left
    between them."""

    def __init__(self, solve: Solve, own: int, known: Known) -> None:
        self.rules, self.moves, self.progress = solve.rules, solve.moves, solve.progress
        self.scale, self.memory = solve.scale, solve.memory
        self.own, self.known = own, known
        self.states: Values = known.states[known.table[own, BEGIN] : known.table[own, END]]
        self.size = size = len(self.states)
        self.gap = 0
        refuse_beyond(self.memory, size, 52 * size)
        self.net = Net(
            np.zeros(size + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64),
            np.full(size, NONE, np.int64), np.zeros(size, np.int64),
        )  # fmt: skip

    def build(self, team: Workers) -> None:
        """List the moves that stay in the tier."""
        begins, own, known = self.net.begins, self.own, self.known

        def count(begin: int) -> None:
            end = min(begin + BLOCK, self.size)
            refuse(self.rules.game, count_inside(self.moves, known, own, begin, end, self.scale.point, self.net))

        for _ in team.map(count, range(0, self.size, BLOCK)):
            pass
        np.cumsum(begins, out=begins)
        moves = int(begins[-1])
        refuse_beyond(self.memory, self.size, 52 * self.size + 16 * moves)
        self.net = self.net._replace(targets=np.empty(moves, np.int64), weights=np.empty(moves, np.int64))

        inside = known.inside(own)

        def enter(begin: int) -> None:
            list_inside(self.moves, inside, own, begin, min(begin + BLOCK, self.size), self.net)

        for _ in team.map(enter, range(0, self.size, BLOCK)):
            pass

    def narrowed(self, team: Workers) -> Values:
        """The middle between the bounds, as near to each other as they come. Raises MethodError if that is not near."""
        met = narrowed(self.net, self.scale.point, team, self.progress)
        if met.place is not None:
            raise unmet(self.rules.name, int(self.states[met.place]), met, self.net, self.scale.span)
        self.gap = met.gap
        middle: Values = met.bounds[0] + met.bounds[1] >> 1
        return middle


def narrowed(net: Net, point: int, team: Workers, progress: Progress) -> Met:
    """The bounds of a net of arrays, as near to each other as they come."""
    size = len(net.weight)

    def round_of(down: bool, old: Any, new: Any) -> list[tuple[int, int, bool]]:
        def block(begin: int) -> tuple[int, int, bool]:
            found: tuple[int, int, bool] = narrow_all(net, begin, min(begin + BLOCK, size), down, old, new)
            return found

        return list(team.map(block, range(0, size, BLOCK)))

    def told(rounds: int, gap: int) -> None:
        progress("narrow", rounds, None, f"{gap / point:.1e} apart")

    old = np.full(size, -SPAN, np.int64), np.full(size, SPAN, np.int64)
    new = np.empty(size, np.int64), np.empty(size, np.int64)
    return meet(net, round_of, old, new, told)
