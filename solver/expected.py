"""Expectations as whole numbers: how a game of chance is computed, and what its book holds.

A value counts units of 2**-48 of `span`, the least power of two that no utility exceeds. So sums come out the same in
whatever order, and every rounding is known: a state's value is off by at most half a unit more than its children's. A
book holds steps of 2**-30 of the span, about 1e-9 where games are won and lost.

Where play may come back to a state, values are narrowed from both sides: lower bounds begin at the worst end that
there is, upper ones at the best, and each round takes one more ply into account, rounded outward. So they are bounds
whatever the rules, and prove the value where they meet (interval iteration; for one player: Haddad and Monmege,
Reachability in MDPs: Refining Convergence of Value Iteration, RP 2014).

The functions on arrays are in the subset of Python that runs plain and compiled alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

from solver.errors import MethodError
from solver.value import Value

BITS = 48  # units of the span
STEPS = 30  # steps of the span
MIDDLE = 1 << STEPS  # the number of 0 in a book
DROPPED = BITS - STEPS
SPAN = 1 << BITS
MOST_WEIGHT = 1 << 14  # of all that chance may do at a state, together: sums stay within 64 bits
NONE = -(1 << 63)  # nothing known yet
WIDER = 16  # times the span, where margins turn out to add up to more
MOST_SPAN = 1 << 32
BLOCK = 1 << 14  # states of a tier with cycles that see each other's bounds of this round
CLOSE = 1 << 5  # units between the bounds of a state that need not come nearer
APART = 1 << 16  # units beyond which bounds that move no more prove nothing


class Expectation(NamedTuple):
    """What a book's values are: expectations of the "utility", from -1 to 1, or of the "margin", in steps of `step`,
    each within `error` of the true one, its rounding to steps included."""

    of: str
    step: float
    error: float


class Steps(Sequence[Value]):
    """The value of each number that a book of expectations may hold."""

    def __init__(self, step: float) -> None:
        self.step = step

    def __len__(self) -> int:
        return 2 * MIDDLE + 1

    @overload
    def __getitem__(self, number: int) -> Value: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Value]: ...
    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number <= 2 * MIDDLE:
            raise IndexError("a value is beyond the span")
        return Value((number - MIDDLE) * self.step, None)


def span_of(largest: int) -> int:
    """The least power of two that is not below a largest utility."""
    return 1 << max(0, largest - 1).bit_length()


def described(score_game: bool, span: int, error: int) -> Expectation:
    """What a book says of values that are off by so many half units."""
    step = span / MIDDLE
    return Expectation("margin" if score_game else "utility", step, step / 2 + error * span / (2 * SPAN))


def endless(name: str, state: int) -> MethodError:
    """The refusal of a game that the players may keep from ending."""
    return MethodError(
        f"{name}: from state {state} on play need not end, whatever the dice, so that it has no expectation: let every"
        " player's choices end the game with probability 1"
    )


def number_of(value: Any) -> Any:
    """The number that a book holds for a value in units, or for an array of them: the nearest, halves away from 0, so
    that both sides see a value alike."""
    return (value + (1 << DROPPED - 1) - (value < 0) >> DROPPED) + MIDDLE


def mean(total: int, weight: int) -> int:
    """A weighted sum by the sum of the weights, to the nearest unit."""
    return (total + weight // 2) // weight


class Net(NamedTuple):
    """The moves that stay in a tier with cycles, its states numbered from 0.

    Those of state i are [begins[i]:begins[i + 1]] of targets, twice a state's number and 1 if the same side is to move,
    and of weights, 0 where a player decides. `outside` is what other moves make of it: their best value or, where
    `weight` is not 0, a chance node, their weighted sum; that is the sum of all its weights.
    """

    begins: Any
    targets: Any
    weights: Any
    outside: Any
    weight: Any


Round = Callable[[bool, Any, Any], list[tuple[int, int, bool]]]


def meet(narrowed: Round, old: Any, new: Any, told: Callable[[int, int], None]) -> tuple[Any, int, int | None]:
    """The bounds, how many units are left between them, and a state where that is too much, else None.

    `narrowed(backward, old, new)` is a round of `narrow` over all blocks; `told` hears of rounds and gaps.
    """
    rounds = 0
    while True:
        parts = narrowed(rounds % 2 == 0, old, new)
        gap = max(widest for widest, _, _ in parts)
        old, new, rounds = new, old, rounds + 1
        told(rounds, gap)
        if gap <= CLOSE:
            return old, gap, None
        if not any(moved for _, _, moved in parts):
            return old, gap, next(place for widest, place, _ in parts if widest == gap) if gap > APART else None


def narrow(net: Any, begin: int, end: int, backward: bool, old: Any, new: Any) -> tuple[int, int, bool]:
    """A round over the states begin..end of a net, up or down: new bounds (n, n) from old ones.

    States in begin..end see each other's new bounds. Returns the widest gap, the first state that has it, and whether
    any bound moved.
    """
    begins, targets, weights, outside, weight = net
    old_lows, old_highs = old
    lows, highs = new
    for i in range(begin, end):
        lows[i], highs[i] = old_lows[i], old_highs[i]
    widest, place, moved = -1, begin, False
    for step in range(end - begin):
        i = end - 1 - step if backward else begin + step
        low = high = outside[i]
        for j in range(begins[i], begins[i + 1]):
            target = targets[j] >> 1
            if begin <= target < end:
                least, most = lows[target], highs[target]
            else:
                least, most = old_lows[target], old_highs[target]
            if not targets[j] & 1:
                least, most = -most, -least
            if weight[i]:
                low += weights[j] * least
                high += weights[j] * most
            else:
                low, high = max(low, least), max(high, most)
        if weight[i]:
            low, high = low // weight[i], -(-high // weight[i])
        if low > lows[i]:
            lows[i], moved = low, True
        if high < highs[i]:
            highs[i], moved = high, True
        if highs[i] - lows[i] > widest or (highs[i] - lows[i] == widest and i < place):
            widest, place = highs[i] - lows[i], i
    return widest, place, moved
