"""The backward pass over a game of chance: expectations, as `solver.base.expectations` has them, in place of merits.

Cost: 8 bytes a state in a file; in a tier with cycles 50 more in memory, and 6 a move that stays in it.

A table of moves with chance is solved in arrays (`solve_table`): the values of `search.value_iteration`, to the unit.
Play may come back, so all positions are one tier, and its values are narrowed from both sides, in blocks on all cores.
Plain Python takes hundreds of such rounds for minutes; it solves all other tables as quickly. Cost: NODE_BYTES of
memory a position and MOVE_BYTES a move at most; for a million positions with 3.6 million moves two seconds, and a tenth
of one for each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base import expectations
from solver.base.errors import ResourceError
from solver.base.expectations import MIDDLE, UNIT, number_of, span_of
from solver.base.kinds import Units
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.book.solution import Solved, TierCount
from solver.book.writer import CHUNK
from solver.compiled.edges import BATCH_MOVES, GROUP_SHIFT, NOT_TERMINAL, Moves, new_edges
from solver.rules.game import Rules
from solver.search import nets
from solver.search.nets import NO_BOUND, Met, Net
from solver.store.directory import BEGIN, END, MISSING, PASSED, TierLookup
from solver.store.packed import LAST, Packed
from solver.store.shared import compiled, part, shared
from solver.sweep.backward import Backward, Span
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, new_batch, next_batch, next_edges, refuse, value_at
from solver.sweep.resources import more_memory, refuse_beyond
from solver.sweep.retrograde import Solve

mean = part(expectations.mean)
narrow_all: Any = compiled(nets.narrow, nets.carried, nets.renewed)
Values = NDArray[np.int64]
STATE_BYTES, ENTRY_BYTES, CONSTANT_BYTES = 50, 6, 40  # of a tier with cycles in memory
NODE_BYTES, MOVE_BYTES = 100, 45  # of memory, of a table with chance, the peak
ROOMY = 1 << 10  # bytes of memory for each state of a tier with cycles, with which nobody asks how many moves there are
# States of a tier with cycles whose moves are counted beforehand, which tells within a few hundredths
SAMPLED_STATES = 1 << 12


@part
def split(weights: int) -> tuple[Any, Any]:
    """The group that a move belongs to, 0 without one (`edges.chance_edges`), and its weight."""
    return weights >> GROUP_SHIFT, weights & (1 << GROUP_SHIFT) - 1


@part
def goes_on(group: int, weights: NDArray[Any], j: int, count: int) -> Any:
    """Whether the next move belongs to the same group: the moves of a group follow each other."""
    return group > 0 and j + 1 < count and weights[j + 1] >> GROUP_SHIFT == group


@part
def give(values: NDArray[Any], i: Any, value: int, weight: int) -> None:
    """A child is worth this to state i: one more of a weighted sum, or of those of which the best counts."""
    # Weight 0 marks a choice: there the best child counts, not the sum.
    if weight:
        values[i] = (0 if values[i] == NO_BOUND else values[i]) + weight * value
    else:
        values[i] = max(values[i], value)


@shared
def expect(
    moves: Moves, known: TierLookup, begin: int, end: int, low: int, high: int, point: int, values: NDArray[Any]
) -> tuple[Any, Any]:
    """Add to the value of each state the values that its children give it.

    One call handles the states begin..end and the children with keys in [low, high]. All children are terminal or in
    later tiers, whose values are known. Terminal children count in the call with `low` 0, and sums are divided by the
    total weight in the call with `high` LAST. If outcomes can vanish, one call must cover all keys.

    Args:
        moves: The game's compiled moves (`edges.Moves`).
        known: States and values of all tiers that the moves lead to (`directory.TierLookup`).
        begin, end: The states to value, as indices into known.states.
        low, high: Keys of the children to count.
        point: Units of a margin of 1.
        values: (end - begin,) int64, sums so far. Changed in place.

    Returns:
        FINE and 0, or the fault and the state that has it.
    """
    totals = np.zeros(end - begin, np.int64)
    batch, cursor = new_batch(BATCH_MOVES), begin
    while cursor < end:
        batch, count, next_state = next_batch(moves, known, cursor, end, low, high, batch)
        if count < 0:
            return LOST_CHILD, known.states[next_state]
        (_, _, owners, merits, rewards, weights), rows, places, _ = batch
        last_group, best = 0, NO_BOUND
        for j in range(count):
            owner = cursor - begin + (owners[j] >> 1)
            group, weight = split(weights[j])
            # A new outcome of chance, or a plain move: its weight counts once.
            if group == 0 or group != last_group:
                totals[owner] += weight
                best = NO_BOUND
            last_group = group
            # Terminal children come in every call, so only the first one counts them.
            if merits[j] != NOT_TERMINAL:
                if low == 0:
                    if abs(merits[j]) > UNIT // point:
                        return TOO_WIDE, known.states[begin + owner]
                    best = max(best, merits[j] * point)
            elif rows[j] != PASSED:
                if places[j] == MISSING:
                    return LOST_CHILD, known.states[begin + owner]
                # The product would leave 64 bits
                if abs(rewards[j]) > UNIT // point:
                    return TOO_WIDE, known.states[begin + owner]
                value = value_at(known, rows[j], places[j])
                # The child's value is its own mover's: turn it around unless the mover stays.
                value = (value if owners[j] & 1 else -value) + rewards[j] * point
                if abs(value) > UNIT:
                    return TOO_WIDE, known.states[begin + owner]
                best = max(best, value)
            # The last move of a group ends the choice of its player.
            if best != NO_BOUND and not goes_on(group, weights, j, count):
                give(values, owner, best, weight)
        cursor = next_state
    # The last range of keys completes the sums.
    if high == LAST:
        for i in range(end - begin):
            if totals[i]:
                values[i] = mean(values[i], totals[i])
    return FINE, np.int64(0)


@shared
def count_inside(
    moves: Moves, known: TierLookup, tier_row: int, begin: int, end: int, point: int, net: Net
) -> tuple[Any, Any, Any, Any]:
    """Count the moves that stay inside a tier, so that `list_inside` can list them.

    One call handles the states begin..end of the tier in row `tier_row`.

    Args:
        net: Changed in place, as `Net` describes: begins[i + 1] gets the number of entries of state i's moves that stay
            in the tier, outside[i] the best value that leaves it, weight[i] the total weight.

    Returns:
        A fault as from `expect`, the constants of these states, and how many constants there are.
    """
    begins, _, _, outside, totals, _ = net
    tier_begin, constants, constant_count = known.table[tier_row, BEGIN], np.empty(16, np.int64), 0
    batch, cursor = new_batch(BATCH_MOVES), tier_begin + begin
    while cursor < tier_begin + end:
        batch, count, next_state = next_batch(moves, known, cursor, tier_begin + end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, known.states[next_state], constants, constant_count
        (_, _, owners, merits, _, weights), rows, places, _ = batch
        last_group, best, staying = 0, NO_BOUND, 0
        for j in range(count):
            owner = cursor - tier_begin + (owners[j] >> 1)
            group, weight = split(weights[j])
            if group == 0 or group != last_group:
                totals[owner] += weight
                best, staying = NO_BOUND, 0
            last_group = group
            if merits[j] != NOT_TERMINAL:
                best = max(best, merits[j] * point)
            elif places[j] == MISSING:
                return LOST_CHILD, known.states[tier_begin + owner], constants, constant_count
            # Moves inside the tier wait for the iteration. Everything else is a constant of it.
            elif rows[j] == tier_row:
                staying += 1
            else:
                value = value_at(known, rows[j], places[j])
                best = max(best, value if owners[j] & 1 else -value)
            if goes_on(group, weights, j, count):
                continue
            # All of this group leaves the tier: its value is known now.
            if staying == 0:
                give(outside, owner, best, weight)
                continue
            begins[owner + 1] += staying
            if best != NO_BOUND:
                begins[owner + 1] += 1
                # Amortised growth, as in a list.
                if constant_count == len(constants):
                    constants = np.concatenate((constants, np.empty(constant_count, np.int64)))
                constants[constant_count] = best
                constant_count += 1
        cursor = next_state
    for i in range(begin, end):
        if totals[i] and outside[i] == NO_BOUND:
            outside[i] = 0
    return FINE, np.int64(0), constants, constant_count


@shared
def list_inside(moves: Moves, inside: TierLookup, tier_row: int, begin: int, end: int, constant: int, net: Net) -> None:
    """List the moves of the states begin..end that stay in the tier, in net.targets and net.weights.

    Their constants are numbered from `constant` on. `inside` is the look-up of the tier alone.
    """
    begins, targets, shares, _, totals, _ = net
    tier_begin, entry = inside.table[tier_row, BEGIN], begins[begin]
    batch, cursor = new_batch(BATCH_MOVES), tier_begin + begin
    while cursor < tier_begin + end:
        batch, count, next_state = next_batch(moves, inside, cursor, tier_begin + end, 0, LAST, batch)
        owners, weights, rows, places = batch.edges.owners, batch.edges.weights, batch.rows, batch.places
        last_group, stays, leaves = 0, False, False
        for j in range(count):
            group, weight = split(weights[j])
            if group == 0 or group != last_group:
                stays = leaves = False
            last_group = group
            if rows[j] == tier_row:
                targets[entry] = 2 * places[j] + (owners[j] & 1)
                shares[entry] = 0 if stays else weight
                entry, stays = entry + 1, True
            else:
                leaves = True
            # A choice between moves inside and outside: the outside value joins as a constant child.
            if stays and leaves and not goes_on(group, weights, j, count):
                targets[entry], shares[entry] = 2 * (len(totals) + constant) + 1, 0
                entry, constant = entry + 1, constant + 1
        cursor = next_state


@shared
def moves_inside(moves: Moves, states: NDArray[Any], tier: int) -> Any:
    """How many moves of states of a tier stay in it."""
    listed, cursor, move_count = new_edges(BATCH_MOVES), 0, 0
    while cursor < len(states):
        listed, count, next_state = next_edges(moves, states, cursor, len(states), listed)
        for i in range(count):
            move_count += listed.tiers[i] == tier and listed.merits[i] == NOT_TERMINAL
        # The pass will say what is wrong with that state
        cursor = next_state if count >= 0 else next_state + 1
    return move_count


def sample(states: Packed) -> Values:
    """Some of a tier's states, evenly spread over it."""
    return states.at(np.linspace(0, len(states) - 1, min(len(states), SAMPLED_STATES)).astype(np.int64))


def bytes_of(size: int, moves: Moves, sampled: Values, tier: int) -> int:
    """Bytes of memory that so many states of a tier with cycles take, by the moves of some unfinished ones of it."""
    inside = int(moves_inside(moves, sampled, tier)) / max(1, len(sampled))
    return round(size * (STATE_BYTES + ENTRY_BYTES * inside))


class ExpectationPass(Backward):
    """`Backward` for a game of chance: `merits` are values in units, `tally` counts them by sign."""

    def run(self, team: Workers) -> None:
        for layer in self.layers[: len(self.layers) - len(self.tally.tiers)]:
            if layer.cyclic and ROOMY * layer.kept > self.memory:
                # By a sample: before hours go into the later ones
                sampled = sample(self.forward.section(layer))
                needed = bytes_of(layer.kept, self.moves, sampled, layer.number)
                refuse_beyond(self.memory, layer.kept, needed)
        super().run(team)

    @staticmethod
    def value(moves: Moves, lookup: TierLookup, begin: int, end: int, span: Span, point: int, merits: Values) -> Any:
        return expect(moves, lookup, begin, end, *span, point, merits)

    def _key_ranges(self, tier_row: int) -> list[tuple[int, int]]:
        """One of all keys where outcomes vanish, since the best of their moves may be any. Raises ResourceError."""
        if self.rules.vanishing is None:
            return super()._key_ranges(tier_row)
        needed = self._bytes(self._child_rows(tier_row))
        if needed > self.memory:
            raise ResourceError(
                f"the tiers that tier {self.layers[tier_row].number} leads to need {needed / 2**30:.2f} GiB of memory"
                f" together where outcomes vanish, {self.memory / 2**30:.2f} are free for them:"
                f" {more_memory(needed, self.memory)}"
            )
        return [(0, LAST)]

    def _resolved(self, tier_row: int, team: Workers) -> Iterator[Values]:
        bounds = Bounds(*self._cycle(tier_row, team))
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
    """The values of the tier with cycles in row `own`, narrowed from both sides.

    `gap` is the number of units left between the bounds.
    """

    def __init__(self, solve: Solve, tier_row: int, known: TierLookup) -> None:
        self.rules, self.moves, self.progress = solve.rules, solve.moves, solve.progress
        self.scale, self.memory = solve.scale, solve.memory
        self.own, self.known = tier_row, known
        self.states: Values = known.states[known.table[tier_row, BEGIN] : known.table[tier_row, END]]
        self.size = size = len(self.states)
        self.gap: int = 0
        refuse_beyond(self.memory, size, STATE_BYTES * size)
        self.net: Net = Net(
            np.zeros(size + 1, np.int64),
            *new_entries(0),
            np.full(size, NO_BOUND, np.int64),
            np.zeros(size, np.int16),
            np.empty(0, np.int64),
        )

    def build(self, team: Workers) -> None:
        """List the moves that stay in the tier."""
        begins, tier_row, known = self.net.begins, self.own, self.known
        blocks = range(0, self.size, nets.GAUSS_SEIDEL_STATES)

        def count(begin: int) -> Values:
            end = min(begin + nets.GAUSS_SEIDEL_STATES, self.size)
            *fault, constants, constant_count = count_inside(
                self.moves, known, tier_row, begin, end, self.scale.point, self.net
            )
            refuse(self.rules, *fault)
            return constants[:constant_count].copy()  # type: ignore[no-any-return]

        # First pass: count, so that the arrays get their exact size.
        block_constants = list(team.map(count, blocks))
        np.cumsum(begins, out=begins)
        moves, marks = int(begins[-1]), [0, *accumulate(map(len, block_constants))]
        needed = STATE_BYTES * self.size + ENTRY_BYTES * moves + CONSTANT_BYTES * marks[-1]
        refuse_beyond(self.memory, self.size, needed)
        targets, weights = new_entries(moves)
        self.net = self.net._replace(targets=targets, weights=weights, constants=np.concatenate(block_constants))
        inside = known.only(tier_row)

        def enter(begin: int) -> None:
            end, constant = min(begin + nets.GAUSS_SEIDEL_STATES, self.size), marks[begin // nets.GAUSS_SEIDEL_STATES]
            list_inside(self.moves, inside, tier_row, begin, end, constant, self.net)

        team.each(enter, blocks)

    def narrowed(self, team: Workers) -> Values:
        """The middle between the bounds, as near to each other as they come. Raises MethodError if that is not near."""
        met = narrowed(self.net, self.scale.point, team, self.progress)
        if met.place is not None:
            raise nets.unmet(self.rules.name, int(self.states[met.place]), met, self.net, self.scale.span)
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
        changes: list[tuple[int, int, bool]] = []
        for blocks, narrowed_before in nets.turns(size, down):

            def all_of(block: nets.Span, narrowed_before: nets.Span = narrowed_before) -> tuple[int, int, bool]:
                change: tuple[int, int, bool] = narrow_all(net, block, narrowed_before, down, bounds, old, new)
                return change

            changes.extend(team.map(all_of, blocks))
        return changes

    def told(rounds: int, gap: int) -> None:
        progress("narrow", rounds, None, f"{gap / point:.1e} apart")

    half = 2 * (size + len(net.constants))
    # Two arrays in turn, for this round's bounds and the next: lower bounds and negative upper bounds side by side.
    bounds = np.full(2 * half, -UNIT, np.int64)
    for begin in (0, half):
        bounds[begin + 2 * size : begin + half : 2] = net.constants
        bounds[begin + 2 * size + 1 : begin + half : 2] = -net.constants
    return nets.meet(net, round_of, bounds, told)


def solve_table(nodes: Any, rules: Rules, options: Options) -> Solved:
    """Value all positions of a table with chance whose values are not margins.

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
        raise nets.unmet(rules.name, int(states[met.place]), met, net, UNIT // point)
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
