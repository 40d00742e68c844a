"""The backward pass over a game of chance: expectations, as `solver.base.expectations` has them, in place of merits.

Cost: 8 bytes a state in a file; in a tier with cycles 52 more in memory, and 16 a move that stays in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import expectations
from solver.base.errors import ResourceError
from solver.base.expectations import MIDDLE, SPAN, number_of
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.check.conformance import confirmed
from solver.compiled.edges import FAULTS, MOST_ACTIONS, OPEN, ROOM, UNKNOWN_CHILD, Moves, list_edges, new_edges
from solver.rules.game import Rules
from solver.search.nets import BLOCK, NONE, Net, meet, narrow, unmet
from solver.store.directory import BEGIN, MERITS, MISSING, Known, locate, new_places
from solver.store.shared import compiled, shared
from solver.sweep.backward import LAST, TOO_WIDE, Backward
from solver.sweep.scale import Scale, of_span

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
    edges, (rows, places, highs) = new_edges(ROOM), new_places(ROOM)
    totals = np.zeros(end - begin, np.int64)
    at = begin
    while at < end:
        count, done = list_edges(moves, known.states, at, end, edges)
        if done == at:
            room = 2 * len(edges.keys)
            if count < 0 or room > 2 * MOST_ACTIONS:
                return known.states[at]
            edges, (rows, places, highs) = new_edges(room), new_places(room)
            continue
        keys, tiers, owners, merits, rewards, weights = edges
        base, open_moves = at - begin, 0
        for j in range(count):
            owner = base + (owners[j] >> 1)
            totals[owner] += weights[j]
            if merits[j] != OPEN:
                if abs(merits[j]) > SPAN // point:
                    return np.int64(TOO_WIDE)
                if low == 0:
                    offer(values, owner, merits[j] * point, weights[j])
            elif low <= keys[j] <= high:
                keys[open_moves], owners[open_moves] = keys[j], owners[j]
                rewards[open_moves], weights[open_moves] = rewards[j], weights[j]
                slot = tiers[j] - known.first_tier
                rows[open_moves] = known.slots[slot] if 0 <= slot < len(known.slots) else -1
                open_moves += 1
        locate(known, keys, rows, open_moves, places, highs)
        for j in range(open_moves):
            owner = base + (owners[j] >> 1)
            if places[j] == MISSING:
                return known.states[begin + owner]
            value = known.merits[known.table[rows[j], MERITS] + places[j]]
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
    edges, (rows, places, highs) = new_edges(ROOM), new_places(ROOM)
    base, at = known.table[own, BEGIN], begin
    while at < end:
        count, done = list_edges(moves, known.states, base + at, base + end, edges)
        done -= base
        if done == at:
            room = 2 * len(edges.keys)
            if count < 0 or room > 2 * MOST_ACTIONS:
                return known.states[base + at]
            edges, (rows, places, highs) = new_edges(room), new_places(room)
            continue
        keys, tiers, owners, merits, _, weights = edges
        open_moves = 0
        for j in range(count):
            owner = at + (owners[j] >> 1)
            weight[owner] += weights[j]
            if merits[j] != OPEN:
                offer(outside, owner, merits[j] * point, weights[j])
                continue
            slot = tiers[j] - known.first_tier
            rows[open_moves] = known.slots[slot] if 0 <= slot < len(known.slots) else -1
            keys[open_moves], owners[open_moves], weights[open_moves] = keys[j], owners[j], weights[j]
            open_moves += 1
        locate(known, keys, rows, open_moves, places, highs)
        for j in range(open_moves):
            owner = at + (owners[j] >> 1)
            if places[j] == MISSING:
                return known.states[base + owner]
            if rows[j] == own:
                begins[owner + 1] += 1
            else:
                value = known.merits[known.table[rows[j], MERITS] + places[j]]
                offer(outside, owner, value if owners[j] & 1 else -value, weights[j])
        at = done
    for i in range(begin, end):
        if weight[i] and outside[i] == NONE:
            outside[i] = 0
    return np.int64(-1)


@shared
def list_inside(moves, known, own, begin, end, net):
    """The moves of the states begin..end that stay in the tier, into net.targets and net.weights."""
    begins, targets, weights, _, _ = net
    edges, (rows, places, highs) = new_edges(ROOM), new_places(ROOM)
    base, at, entry = known.table[own, BEGIN], begin, begins[begin]
    while at < end:
        count, done = list_edges(moves, known.states, base + at, base + end, edges)
        done -= base
        if done == at:
            room = 2 * len(edges.keys)
            edges, (rows, places, highs) = new_edges(room), new_places(room)
            continue
        inside = 0
        for j in range(count):
            if edges.merits[j] == OPEN and known.slots[edges.tiers[j] - known.first_tier] == own:
                edges.keys[inside], edges.owners[inside], rows[inside] = edges.keys[j], edges.owners[j], own
                edges.weights[inside] = edges.weights[j]
                inside += 1
        locate(known, edges.keys, rows, inside, places, highs)
        for j in range(inside):
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

    def _resolved(self, own: int, known: Known, team: Workers) -> Iterator[Values]:
        layer = self.layers[own]
        bounds = Bounds(self, layer.end - layer.begin)
        bounds.build(own, known, team)
        yield bounds.narrowed(team)
        self.error += bounds.gap

    def _count(self, merits: Values, states: Values) -> None:
        signs = np.sign(number_of(merits) - MIDDLE)
        for sign in (1, 0, -1):
            self._layer_tally[sign] += int(np.count_nonzero(signs == sign))

    def _end_layer(self) -> None:
        self.error += self._layer_tally.total() > 0
        super()._end_layer()


class Solve(Protocol):
    """What the bounds take over from the pass backward."""

    rules: Rules
    moves: Moves
    memory: int
    progress: Progress
    scale: Scale


class Bounds:
    """The values of a tier with cycles, narrowed from both sides; `gap` is how many units are left between them."""

    def __init__(self, solve: Solve, size: int) -> None:
        self.rules, self.moves, self.progress = solve.rules, solve.moves, solve.progress
        self.size, self.scale, self.memory = size, solve.scale, solve.memory
        self.states: Values = np.empty(0, np.int64)
        self.gap = 0
        self._refuse_beyond_memory(52 * size)
        self.net = Net(
            np.zeros(size + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64),
            np.full(size, NONE, np.int64), np.zeros(size, np.int64),
        )  # fmt: skip

    def _refuse_beyond_memory(self, needed: int) -> None:
        if needed > self.memory:
            raise ResourceError(
                f"{self.size:,} states in a tier with cycles need {needed / 2**30:.2f} GiB in memory, more than the"
                f" {self.memory / 2**30:.2f} GiB of it that are free for them: raise --memory"
            )

    def build(self, own: int, known: Known, team: Workers) -> None:
        """List the moves that stay in the tier in row `own`."""
        begins = self.net.begins
        self.states = known.states[known.table[own, BEGIN] :]

        def count(begin: int) -> None:
            end = min(begin + BLOCK, self.size)
            culprit = count_inside(self.moves, known, own, begin, end, self.scale.point, self.net)
            if culprit >= 0:
                raise confirmed(self.rules.game, [int(culprit)], f"state {culprit} {FAULTS[UNKNOWN_CHILD]}")

        for _ in team.map(count, range(0, self.size, BLOCK)):
            pass
        np.cumsum(begins, out=begins)
        moves = int(begins[-1])
        self._refuse_beyond_memory(52 * self.size + 16 * moves)
        self.net = self.net._replace(targets=np.empty(moves, np.int64), weights=np.empty(moves, np.int64))

        def enter(begin: int) -> None:
            end = min(begin + BLOCK, self.size)
            list_inside(self.moves, known, own, begin, end, self.net)

        for _ in team.map(enter, range(0, self.size, BLOCK)):
            pass

    def narrowed(self, team: Workers) -> Values:
        """The middle between the bounds, as near to each other as they come. Raises MethodError if that is not near."""
        size = self.size

        def narrowed(down: bool, old: Any, new: Any) -> list[tuple[int, int, bool]]:
            def block(begin: int) -> tuple[int, int, bool]:
                found: tuple[int, int, bool] = narrow_all(self.net, begin, min(begin + BLOCK, size), down, old, new)
                return found

            return list(team.map(block, range(0, size, BLOCK)))

        def told(rounds: int, gap: int) -> None:
            self.progress("narrow", rounds, None, f"{gap / self.scale.point:.1e} apart")

        old = np.full(size, -SPAN, np.int64), np.full(size, SPAN, np.int64)
        new = np.empty(size, np.int64), np.empty(size, np.int64)
        met = meet(self.net, narrowed, old, new, told)
        if met.place is not None:
            raise unmet(self.rules.name, int(self.states[met.place]), met, self.net, self.scale.span)
        self.gap = met.gap
        middle: Values = met.bounds[0] + met.bounds[1] >> 1
        return middle
