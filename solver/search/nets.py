"""A tier with cycles of a game of chance: the moves that stay in it, and its values.

Values are narrowed from both sides: lower bounds begin at the worst end that there is, upper ones at the best, and each
round takes one more ply into account, rounded outward. So they are bounds whatever the rules, and prove the value where
they meet (interval iteration; for one player: Haddad and Monmege, Reachability in MDPs: Refining Convergence of Value
Iteration, RP 2014).

Where that takes long, few states are solved exactly, by policy iteration in fractions (Howard, Dynamic Programming and
Markov Processes, 1960): choices, the values that they give, better choices by these, until none is better. Where play
must leave the tier no other values fit, whoever chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from solver.base.errors import MethodError
from solver.base.expectations import UNIT

NO_BOUND, INFINITY = -(1 << 63), 1 << 62  # nothing known yet; more than any value
GAUSS_SEIDEL_STATES = 1 << 14  # states of a tier with cycles that see each other's bounds of this round
TURNS, TOGETHER = 32, 4  # of a round, at most; blocks that are narrowed in one, at least
CLOSE = 1 << 5  # units between the bounds of a state that need not come nearer
APART = 1 << 16  # units beyond which bounds that move no more prove nothing
FEW_STATES, FEW_ROUNDS = 64, 1 << 14  # a tier of so few states is solved exactly after so many rounds
LOOK = 1 << 16  # rounds after which, and after each as many again, it is asked how many are to come
MOST_ROUNDS = 1 << 21
HOPELESS = 1 << 26  # rounds to come that nobody waits for
MOST_MOVES = 1 << 20  # of a net in which it is asked whether play must end
OUT = -1  # the choice that leaves the tier


class Net(NamedTuple):
    """The moves that stay in a tier with cycles, its states numbered from 0.

    Those of state i are [begins[i]:begins[i + 1]] of targets, twice a state's number and 1 if the same side is to move,
    and of weights, 0 where a player decides. `outside` is its value by other moves: their best value or, where
    `weight` is not 0, a chance node, their weighted sum; that is the sum of all its weights. Where an outcome of chance
    vanishes its moves follow each other, the first of them with its weight, the others with 0: the best counts. The
    value of such an outcome by moves that leave the tier is one of the `constants`, numbered on from the last state.
    """

    begins: Any
    targets: Any
    weights: Any
    outside: Any
    weight: Any
    constants: Any = ()


Span = tuple[int, int]
Round = Callable[[bool, int, int], list[tuple[int, int, bool]]]


class Met(NamedTuple):
    """The result of `meet`.

    Attributes:
        bounds: Lower and upper bounds, as in `meet`.
        gap: Units left between them.
        place: A state where the gap is too wide. None if there is none.
        rounds: Rounds taken.
        moving: Whether more rounds would have narrowed the gap.
    """

    bounds: Any
    gap: int
    place: int | None
    rounds: int
    moving: bool = False


def meet(net: Net, narrowed: Round, bounds: Any, report: Callable[[int, int], None]) -> Met:
    """The bounds of a net's states, as near to each other as they come from both sides.

    `narrowed(backward, old, new)` runs `narrow` over all blocks, in the order of `turns`. `report` is called with the
    round and the gap. `bounds` holds the bounds of two rounds, old and new. In each, 2 * i holds the lower bound of
    state i and 2 * i + 1 the negative of its upper bound, so that the other side reads them the other way round. The
    bounds of the constants follow the last state.
    """
    rounds, last_gap, old, new = 0, 0, 0, len(bounds) // 2

    def reached() -> Any:
        return bounds[old : old + len(bounds) // 2]

    while True:
        results = narrowed(rounds % 2 == 0, old, new)
        gap = max(widest for widest, _, _ in results)
        old, new, rounds = new, old, rounds + 1
        report(rounds, gap)
        moving = any(moved for _, _, moved in results)
        if gap <= CLOSE or (not moving and gap <= APART):
            return Met(reached(), gap, None, rounds)
        if (rounds == FEW_ROUNDS or not moving) and len(net.weight) <= FEW_STATES and must_end(listed(net)):
            # A small net is solved exactly, to the units below and above the values
            plain, size, exact = listed(net), len(net.weight), reached()
            guesses = [Fraction(int(exact[2 * i]) - int(exact[2 * i + 1]), 2) for i in range(size)]
            values = solved(plain, guesses + [Fraction(0)] * (len(plain.weight) - size))
            if values is not None:
                for i in range(size):
                    exact[2 * i], exact[2 * i + 1] = math.floor(values[i]), -math.floor(values[i]) - 1
                return Met(exact, 1, None, rounds)
        # So many are to come, if they go on as in the last LOOK
        slows = rounds % LOOK == 0 and gap < last_gap
        to_come = LOOK * math.log(gap / CLOSE) / math.log(last_gap / gap) if slows else 0
        if not moving or rounds == MOST_ROUNDS or to_come > HOPELESS:
            widest_index = min(widest_index for widest, widest_index, _ in results if widest == gap)
            return Met(reached(), gap, widest_index if gap > APART else None, rounds, moving)
        last_gap = gap if rounds % LOOK == 0 else last_gap


def turns(size: int, backward: bool) -> Iterator[tuple[list[Span], Span]]:
    """The blocks of a round over so many states, up or down, by turns, and with each turn the states of those before.

    The blocks of a turn may be narrowed at the same time; how many there are does not hang on who narrows them.
    """
    step = GAUSS_SEIDEL_STATES * max(TOGETHER, -(-size // (GAUSS_SEIDEL_STATES * TURNS)))
    begins = range(0, size, step)
    for begin in reversed(begins) if backward else begins:
        end = min(begin + step, size)
        blocks = [
            (block_begin, min(block_begin + GAUSS_SEIDEL_STATES, end))
            for block_begin in range(begin, end, GAUSS_SEIDEL_STATES)
        ]
        yield blocks, (end, size) if backward else (0, begin)


def carried(begin: int, end: int, bounds: Any, old: int, new: int) -> list[bool]:
    """Take the bounds of the states begin..end from one round over to the next: whether they may rest in it.

    They may where they are nearly CLOSE and the last round did not move them: `new` has those before it.
    """
    rest = [False] * (end - begin)
    for i in range(begin, end):
        low, high = bounds[old + 2 * i], bounds[old + 2 * i + 1]
        still = low == bounds[new + 2 * i] and high == bounds[new + 2 * i + 1]
        rest[i - begin] = still and 0 - high - low <= 2 * CLOSE
        bounds[new + 2 * i], bounds[new + 2 * i + 1] = low, high
    return rest


def renewed(net: Any, i: int, block: Span, narrowed: Span, bounds: Any, old: int, new: int) -> Span:
    """Bound state i by its moves. States of `block` and of `narrowed` have new bounds already, all others old ones."""
    begins, targets, weights, outside, weight, _ = net
    first_bound, end_bound, narrowed_begin, narrowed_end = 2 * block[0], 2 * block[1], 2 * narrowed[0], 2 * narrowed[1]
    total, low = weight[i], outside[i]
    high = -low if low != NO_BOUND else INFINITY
    # These belong to the outcome of chance whose moves are under way
    share = worst = best = 0
    for j in range(begins[i], begins[i + 1]):
        target, starts = targets[j], weights[j] != 0
        bound_index = target + (
            new if first_bound <= target < end_bound or narrowed_begin <= target < narrowed_end else old
        )
        lower, upper = (
            bounds[bound_index ^ 1],
            bounds[bound_index],
        )  # that of the other side is the opposite of its upper one
        if not total:
            low, high = max(low, lower), min(high, upper)
        else:
            # No branch: the processor cannot predict the end of an outcome
            low += share * worst if starts else 0
            high += share * best if starts else 0
            worst = lower if starts else max(worst, lower)
            best = upper if starts else min(best, upper)
            share = weights[j] if starts else share
    if total:
        low, high = (low + share * worst) // total, (high + share * best) // total
    return low, high


def narrow(
    net: Any, block: Span, narrowed: Span, backward: bool, bounds: Any, old: int, new: int
) -> tuple[int, int, bool]:
    """A round over a block of a net's states, up or down: new bounds from old ones, which begin there in `bounds`.

    It sees the new bounds of its own states and of those that are `narrowed`. Returns the widest gap, the first state
    that has it, and whether any bound moved.
    """
    begin, end = block
    rest = carried(begin, end, bounds, old, new)
    widest, widest_index, moved = -1, begin, False
    for step in range(end - begin):
        i = end - 1 - step if backward else begin + step
        if not rest[i - begin]:
            low, high = renewed(net, i, block, narrowed, bounds, old, new)
            if low > bounds[new + 2 * i]:
                bounds[new + 2 * i], moved = low, True
            if high > bounds[new + 2 * i + 1]:
                bounds[new + 2 * i + 1], moved = high, True
        gap = -bounds[new + 2 * i + 1] - bounds[new + 2 * i]
        if gap > widest or (gap == widest and i < widest_index):
            widest, widest_index = gap, i
    return widest, widest_index, moved


def unmet(name: str, state: int, met: Met, net: Net, span: int) -> MethodError:
    """The refusal of a game whose bounds do not meet, those of `state` least of all."""
    reached = f"its value is known within {met.gap * span / (2 * UNIT):.1g} after {met.rounds:,} rounds"
    if len(net.targets) <= MOST_MOVES and must_end(listed(net)):
        why = f"takes too long to end, {reached}: let chance end it sooner"
    elif len(net.targets) <= MOST_MOVES and not met.moving:
        why = (
            "need not end, whatever the dice, so that it has no expectation: let every player's choices end the game"
            " with probability 1"
        )
    else:
        why = f"takes too long to end, or need not end, {reached}: let chance and all choices end it sooner"
    return MethodError(f"{name}: from state {state} on play {why}")


def listed(net: Net) -> Net:
    """Return the net as lists, without constants: a state that vanishes is a state of its own behind the others."""
    begins, targets, weights, outside, weight, constants = (list(map(int, column)) for column in net)
    size = len(weight)
    moves: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for i in range(size):
        outcomes: list[tuple[int, list[int]]] = []
        for j in range(begins[i], begins[i + 1]):
            if weights[j] or not weight[i]:
                outcomes.append((weights[j], []))
            outcomes[-1][1].append(targets[j])
        for share, choices in outcomes:
            if len(choices) > 1:
                moves.append([(target, 0) for target in choices if target >> 1 < size])
                known = [constants[(target >> 1) - size] for target in choices if target >> 1 >= size]
                outside.append(max(known, default=NO_BOUND))
                weight.append(0)
                # The same side is to move
                choices = [2 * len(weight) - 1]
            moves[i].append((choices[0], share))
    entries = [outcome for some in moves for outcome in some]
    begins = [0, *accumulate(map(len, moves))]
    return Net(begins, [target for target, _ in entries], [share for _, share in entries], outside, weight)


def must_end(net: Net) -> bool:
    """Whether play leaves a net (of lists) with probability 1, whatever the players choose.

    It need not where there are states among which a player can stay, and chance does.
    """
    size = len(net.weight)
    parents: list[list[int]] = [[] for _ in range(size)]
    staying, inside = [0] * size, [0] * size
    for i in range(size):
        for j in range(net.begins[i], net.begins[i + 1]):
            parents[net.targets[j] >> 1].append(i)
            staying[i] += 1
            inside[i] += net.weights[j]
    leaving = [i for i in range(size) if (inside[i] < net.weight[i] if net.weight[i] else not staying[i])]
    left = set(leaving)
    while leaving:
        for i in parents[leaving.pop()]:
            staying[i] -= 1
            if i not in left and (net.weight[i] or not staying[i]):
                left.add(i)
                leaving.append(i)
    return len(left) == size


def solved(net: Net, values: list[Fraction]) -> list[Fraction] | None:
    """The values of the states of a net (of lists), which play must leave, from a guess on.

    None if choices come again: each side's answer to the other's goes round in a circle.
    """
    chosen: list[int] = []
    tried, size = set(), len(values)
    # 1 if a move's child has the same value before the move, -1 if the opposite
    signs = [1 if target & 1 else -1 for target in net.targets]
    while True:
        # The best choice at each state by the values, the one before if none is better; OUT at a chance node
        better: list[int] = []
        for i in range(size):
            worth = {j: signs[j] * values[net.targets[j] >> 1] for j in range(net.begins[i], net.begins[i + 1])}
            if net.outside[i] != NO_BOUND:
                worth[OUT] = Fraction(net.outside[i])
            best = OUT if net.weight[i] else max(worth, key=worth.__getitem__)
            better.append(chosen[i] if chosen and not net.weight[i] and worth[best] <= worth[chosen[i]] else best)
        if better == chosen:
            return values
        if tuple(better) in tried:
            return None
        tried.add(tuple(better))
        # An equation for each: coefficients by state, and their sum under the number of states
        rows = []
        for i, choice in enumerate(better):
            weight = net.weight[i] or 1
            row = {size: Fraction(net.outside[i] if choice == OUT else 0, weight), i: Fraction(1)}
            for j in range(net.begins[i], net.begins[i + 1]) if net.weight[i] else () if choice == OUT else (choice,):
                target = net.targets[j] >> 1
                row[target] = row.get(target, Fraction(0)) - signs[j] * Fraction(net.weights[j] or 1, weight)
            rows.append(row)
        chosen, values = better, _solution(rows)


def _solution(rows: list[dict[int, Fraction]]) -> list[Fraction]:
    """The solution of linear equations that have one: Gauss and Jordan."""
    size, places = len(rows), [-1] * len(rows)
    left = list(range(size))
    for column in range(size):
        row_index = next(row_index for row_index in left if rows[row_index].get(column))
        left.remove(row_index)
        places[column] = row_index
        head = rows[row_index][column]
        pivot = rows[row_index] = {i: coefficient / head for i, coefficient in rows[row_index].items() if coefficient}
        for row_number, row in enumerate(rows):
            factor = row.get(column)
            if row_number != row_index and factor:
                for i, coefficient in pivot.items():
                    row[i] = row.get(i, Fraction(0)) - factor * coefficient
                row.pop(column)
    return [rows[row_index].get(size, Fraction(0)) for row_index in places]
