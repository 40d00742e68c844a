"""The backward pass over a game of chance: expectations, as `solver.base.expectations` has them, in place of merits.

Cost: 8 bytes a state in a file; in a tier with cycles 50 more in memory, and 6 a move that stays in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import expectations
from solver.base.errors import ResourceError
from solver.base.expectations import MIDDLE, SPAN, number_of
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import GROUP, OPEN, ROOM, Moves, new_edges
from solver.search.nets import BLOCK, NONE, Met, Net, Span, carried, meet, narrow, renewed, turns, unmet
from solver.store.directory import BEGIN, END, MISSING, PASSED, Layer, TierLookup
from solver.store.packed import LAST, Packed
from solver.store.shared import compiled, shared
from solver.sweep.backward import Backward
from solver.sweep.backward import Span as Range
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, new_batch, next_batch, next_edges, refuse, value_at
from solver.sweep.demand import more_memory, refuse_beyond
from solver.sweep.retrograde import Solve

mean = register_jitable(expectations.mean)
narrow_all = compiled(narrow, carried, renewed)
Values = NDArray[np.int64]
STATE_BYTES, MOVE_BYTES, CONSTANT_BYTES = 50, 6, 40  # of a tier with cycles in memory
ROOMY = 1 << 10  # bytes of memory for each state of a tier with cycles, with which nobody asks how many moves there are
SAMPLE = 1 << 12  # states of a tier with cycles whose moves are counted beforehand, which tells within a few hundredths


@register_jitable
def split(weights):
    """The group that a move belongs to, 0 without one (`edges.chance_edges`), and its weight."""
    return weights >> GROUP, weights & (1 << GROUP) - 1


@register_jitable
def goes_on(group, weights, j, count):
    """Whether the next move belongs to the same group: the moves of a group follow each other."""
    return group > 0 and j + 1 < count and weights[j + 1] >> GROUP == group


@register_jitable
def give(values, i, value, weight):
    """A child is worth this to state i: one more of a weighted sum, or of those of which the best counts."""
    if weight:
        values[i] = (0 if values[i] == NONE else values[i]) + weight * value
    else:
        values[i] = max(values[i], value)


@shared
def expect(moves, known, begin, end, low, high, point, values):
    """Add to values (end - begin,) what the children of states[begin:end] from `low` to `high` make of them.

    All children are finished or in later tiers, whose values are known; the finished ones count where `low` is 0, and
    chance nodes are divided where `high` is LAST. Where outcomes vanish all keys are asked for. A margin of 1 has
    `point` units. Returns as `backward.evaluate`.
    """
    totals = np.zeros(end - begin, np.int64)
    batch, at = new_batch(ROOM), begin
    while at < end:
        batch, count, done = next_batch(moves, known, at, end, low, high, batch)
        if count < 0:
            return LOST_CHILD, known.states[done]
        (_, _, owners, merits, rewards, weights), rows, places, _ = batch
        last, best = 0, NONE
        for j in range(count):
            owner = at - begin + (owners[j] >> 1)
            group, weight = split(weights[j])
            if group == 0 or group != last:
                totals[owner] += weight
                best = NONE
            last = group
            if merits[j] != OPEN:
                if low == 0:
                    if abs(merits[j]) > SPAN // point:
                        return TOO_WIDE, known.states[begin + owner]
                    best = max(best, merits[j] * point)
            elif rows[j] != PASSED:
                if places[j] == MISSING:
                    return LOST_CHILD, known.states[begin + owner]
                if abs(rewards[j]) > SPAN // point:  # the product would leave 64 bits
                    return TOO_WIDE, known.states[begin + owner]
                value = value_at(known, rows[j], places[j])
                value = (value if owners[j] & 1 else -value) + rewards[j] * point
                if abs(value) > SPAN:
                    return TOO_WIDE, known.states[begin + owner]
                best = max(best, value)
            if best != NONE and not goes_on(group, weights, j, count):
                give(values, owner, best, weight)
        at = done
    if high == LAST:
        for i in range(end - begin):
            if totals[i]:
                values[i] = mean(values[i], totals[i])
    return FINE, np.int64(0)


@shared
def count_inside(moves, known, own, begin, end, point, net):
    """For the states begin..end of the tier in row `own`: net.begins (n + 1,) gets the number of entries of those moves
    that stay in it, in the next state's place, outside (n,) and weight (n,) what `Net` says. Returns as `expect`, and
    the constants of these states, and their number."""
    begins, _, _, outside, totals, _ = net
    first, constants, found = known.table[own, BEGIN], np.empty(16, np.int64), 0
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, done = next_batch(moves, known, at, first + end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, known.states[done], constants, found
        (_, _, owners, merits, _, weights), rows, places, _ = batch
        last, best, staying = 0, NONE, 0
        for j in range(count):
            owner = at - first + (owners[j] >> 1)
            group, weight = split(weights[j])
            if group == 0 or group != last:
                totals[owner] += weight
                best, staying = NONE, 0
            last = group
            if merits[j] != OPEN:
                best = max(best, merits[j] * point)
            elif places[j] == MISSING:
                return LOST_CHILD, known.states[first + owner], constants, found
            elif rows[j] == own:
                staying += 1
            else:
                value = value_at(known, rows[j], places[j])
                best = max(best, value if owners[j] & 1 else -value)
            if goes_on(group, weights, j, count):
                continue
            if staying == 0:
                give(outside, owner, best, weight)
                continue
            begins[owner + 1] += staying
            if best != NONE:
                begins[owner + 1] += 1
                if found == len(constants):
                    constants = np.concatenate((constants, np.empty(found, np.int64)))
                constants[found] = best
                found += 1
        at = done
    for i in range(begin, end):
        if totals[i] and outside[i] == NONE:
            outside[i] = 0
    return FINE, np.int64(0), constants, found


@shared
def list_inside(moves, inside, own, begin, end, constant, net):
    """The moves of the states begin..end that stay in the tier, into net.targets and net.weights, with their constants
    from that number on; `inside` is what is known of the tier alone."""
    begins, targets, shares, _, totals, _ = net
    first, entry = inside.table[own, BEGIN], begins[begin]
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, done = next_batch(moves, inside, at, first + end, 0, LAST, batch)
        owners, weights, rows, places = batch.edges.owners, batch.edges.weights, batch.rows, batch.places
        last, stays, leaves = 0, False, False
        for j in range(count):
            group, weight = split(weights[j])
            if group == 0 or group != last:
                stays = leaves = False
            last = group
            if rows[j] == own:
                targets[entry] = 2 * places[j] + (owners[j] & 1)
                shares[entry] = 0 if stays else weight
                entry, stays = entry + 1, True
            else:
                leaves = True
            if stays and leaves and not goes_on(group, weights, j, count):
                targets[entry], shares[entry] = 2 * (len(totals) + constant) + 1, 0
                entry, constant = entry + 1, constant + 1
        at = done


@shared
def moves_inside(moves, states, tier):
    """How many moves of states of a tier stay in it."""
    listed, at, found = new_edges(ROOM), 0, 0
    while at < len(states):
        listed, count, done = next_edges(moves, states, at, len(states), listed)
        for i in range(count):
            found += listed.tiers[i] == tier and listed.merits[i] == OPEN
        at = done if count >= 0 else done + 1  # the pass will say what is wrong with that state
    return found


def sample(states: Packed) -> Values:
    """Some of a tier's states, evenly spread over it."""
    return states.at(np.linspace(0, len(states) - 1, min(len(states), SAMPLE)).astype(np.int64))


def bytes_of(size: int, moves: Moves, some: Values, tier: int) -> int:
    """Bytes of memory that so many states of a tier with cycles take, by the moves of some unfinished ones of it."""
    inside = int(moves_inside(moves, some, tier)) / max(1, len(some))
    return round(size * (STATE_BYTES + MOVE_BYTES * inside))


class ExpectationPass(Backward):
    """`Backward` for a game of chance: `merits` are values in units, `tally` counts them by sign."""

    def run(self, team: Workers) -> None:
        for layer in self.layers[: len(self.layers) - len(self.tally.tiers)]:
            if layer.cyclic and ROOMY * layer.kept > self.memory:
                self._refuse_beyond_memory(layer)
        super().run(team)

    def _refuse_beyond_memory(self, layer: Layer) -> None:
        """Raise ResourceError if a tier with cycles will not fit, by a sample: before hours go into the later ones."""
        some = sample(self.forward.section(layer))
        refuse_beyond(self.memory, layer.kept, bytes_of(layer.kept, self.moves, some, layer.number))

    @staticmethod
    def value(
        moves: Moves, known: TierLookup, first: int, last: int, span: Range, point: int, best: Values
    ) -> tuple[int, int]:
        fault: tuple[int, int] = expect(moves, known, first, last, *span, point, best)
        return fault

    def _key_ranges(self, own: int) -> list[tuple[int, int]]:
        """One of all keys where outcomes vanish, since the best of their moves may be any. Raises ResourceError."""
        if self.rules.vanishing is None:
            return super()._key_ranges(own)
        needed = self._bytes(self._child_rows(own))
        if needed > self.memory:
            raise ResourceError(
                f"the tiers that tier {self.layers[own].number} leads to need {needed / 2**30:.2f} GiB of memory"
                f" together where outcomes vanish, {self.memory / 2**30:.2f} are free for them:"
                f" {more_memory(needed, self.memory)}"
            )
        return [(0, LAST)]

    def _resolved(self, own: int, team: Workers) -> Iterator[Values]:
        bounds = Bounds(self._solve(), own, self._lookup_of(own, team))
        bounds.build(team)
        yield bounds.narrowed(team)
        self.tally.error += bounds.gap

    def _count(self, merits: Values, states: Values) -> None:
        signs = np.sign(number_of(merits) - MIDDLE)
        for sign in (1, 0, -1):
            self.of_layer[sign] += int(np.count_nonzero(signs == sign))

    def _end_layer(self) -> None:
        self.tally.error += self.of_layer.total() > 0
        super()._end_layer()


class Bounds:
    """The values of the tier with cycles in row `own`, narrowed from both sides; `gap` is how many units are left
    between them."""

    def __init__(self, solve: Solve, own: int, known: TierLookup) -> None:
        self.rules, self.moves, self.progress = solve.rules, solve.moves, solve.progress
        self.scale, self.memory = solve.scale, solve.memory
        self.own, self.known = own, known
        self.states: Values = known.states[known.table[own, BEGIN] : known.table[own, END]]
        self.size = size = len(self.states)
        self.gap = 0
        refuse_beyond(self.memory, size, STATE_BYTES * size)
        self.net = Net(
            np.zeros(size + 1, np.int64),
            *new_entries(0),
            np.full(size, NONE, np.int64),
            np.zeros(size, np.int16),
            np.empty(0, np.int64),
        )

    def build(self, team: Workers) -> None:
        """List the moves that stay in the tier."""
        begins, own, known = self.net.begins, self.own, self.known
        blocks = range(0, self.size, BLOCK)

        def count(begin: int) -> Values:
            end = min(begin + BLOCK, self.size)
            *fault, constants, found = count_inside(self.moves, known, own, begin, end, self.scale.point, self.net)
            refuse(self.rules, *fault)
            return constants[:found].copy()  # type: ignore[no-any-return]

        parts = list(team.map(count, blocks))
        np.cumsum(begins, out=begins)
        moves, marks = int(begins[-1]), [0, *accumulate(map(len, parts))]
        needed = STATE_BYTES * self.size + MOVE_BYTES * moves + CONSTANT_BYTES * marks[-1]
        refuse_beyond(self.memory, self.size, needed)
        targets, weights = new_entries(moves)
        self.net = self.net._replace(targets=targets, weights=weights, constants=np.concatenate(parts))
        inside = known.inside(own)

        def enter(begin: int) -> None:
            list_inside(self.moves, inside, own, begin, min(begin + BLOCK, self.size), marks[begin // BLOCK], self.net)

        for _ in team.map(enter, blocks):
            pass

    def narrowed(self, team: Workers) -> Values:
        """The middle between the bounds, as near to each other as they come. Raises MethodError if that is not near."""
        met = narrowed(self.net, self.scale.point, team, self.progress)
        if met.place is not None:
            raise unmet(self.rules.name, int(self.states[met.place]), met, self.net, self.scale.span)
        self.gap = met.gap
        return middle_of(met, self.size)


def new_entries(moves: int) -> tuple[NDArray[np.uint32], NDArray[np.int16]]:
    """Room for the targets and weights of so many moves."""
    return np.empty(moves, np.uint32), np.empty(moves, np.int16)


def middle_of(met: Met, size: int) -> Values:
    """The values of so many states, in the middle between their bounds."""
    middle: Values = met.bounds[0 : 2 * size : 2] - met.bounds[1 : 2 * size : 2] >> 1
    return middle


def narrowed(net: Net, point: int, team: Workers, progress: Progress) -> Met:
    """The bounds of a net of arrays, as near to each other as they come."""
    size = len(net.weight)

    def round_of(down: bool, old: int, new: int) -> list[tuple[int, int, bool]]:
        found: list[tuple[int, int, bool]] = []
        for blocks, done in turns(size, down):

            def all_of(block: Span, done: Span = done) -> tuple[int, int, bool]:
                one: tuple[int, int, bool] = narrow_all(net, block, done, down, bounds, old, new)
                return one

            found.extend(team.map(all_of, blocks))
        return found

    def told(rounds: int, gap: int) -> None:
        progress("narrow", rounds, None, f"{gap / point:.1e} apart")

    half = 2 * (size + len(net.constants))
    bounds = np.full(2 * half, -SPAN, np.int64)
    for begin in (0, half):
        bounds[begin + 2 * size : begin + half : 2] = net.constants
        bounds[begin + 2 * size + 1 : begin + half : 2] = -net.constants
    return meet(net, round_of, bounds, told)
