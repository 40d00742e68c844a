"""The kinds of values that are floats: the expectations of games of chance, and the estimates of grown books.

A game of chance is computed in whole numbers. A value counts units of 2**-48 of `span`, the least power of two that no
utility exceeds. So sums come out the same in whatever order, and every rounding is known: a state's value is off by at
most half a unit more than its children's. A book holds steps of 2**-30 of the span, about 1e-9 where games are won and
lost.

Functions on arrays are in the subset of Python that runs plain and compiled alike. Where play may come back to a state:
`search.nets`.

An estimate is a float, an exact score an int: that is the flag, in memory and in a book's palette. Estimates are odd
multiples of half a step, so that none is a draw, a whole margin, or another value's negative by rounding alone; and 1.0
or -1.0 where a win or loss is certain, but perhaps not its distance. So merits of both kinds have one order:

    loss in d: d - WIN  <  -1.0  <  estimates, draws  <  1.0  <  win in d: WIN - d
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import truediv
from typing import Any, NamedTuple

from solver.base.errors import GameError
from solver.base.kinds import MARGIN, OUTCOME, Average, Kind, Margins, Method, Worth
from solver.base.value import WIN, Value, is_estimate, lift, value_of

UNIT_BITS = 48  # units of the span
STEPS = 30  # steps of the span
MIDDLE = 1 << STEPS  # the number of 0 in a book
DROPPED = UNIT_BITS - STEPS
UNIT = 1 << UNIT_BITS
MOST_WEIGHT = 1 << 14  # of all that chance may do at a state, together: sums stay within 64 bits
WIDER = 16  # times the span, where margins turn out to add up to more
MOST_SPAN = 1 << 32
WIN_STEPS = 512  # of an estimate, to a win
MARGIN_STEPS = 8  # and to a point of the margin
HASH = re.compile("[0-9a-f]{64}")
MOST_MARGIN = 4096  # that is told apart: a header holds the palette


class Steps(Sequence[Value]):
    """The value of each number that a book of expectations may hold."""

    def __init__(self, step: float) -> None:
        self.step = step

    def __len__(self) -> int:
        return 2 * MIDDLE + 1

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number <= 2 * MIDDLE:
            raise IndexError("a value is beyond the span")
        return Value((number - MIDDLE) * self.step, None)


class _ExpectationFields(NamedTuple):
    of: str
    step: float = 0.0
    error: float = 0.0


class Expectation(_ExpectationFields, Margins):
    """The kind of values in a game of chance.

    They are expectations of the "utility", from -1 to 1, or of the "margin". They are stored in steps of `step`, and
    each is within `error` of the true one, rounding included. Both are 0 for rules, before a book exists.
    """

    name = "expectation"
    reducer = "mean"
    number = float
    types: tuple[type, ...] = (float,)
    acyclic: Method = Method.EXPECTIMINIMAX
    cyclic: Method | None = Method.VALUE_ITERATION
    partial: Method | None = None
    remedy = "use value iteration"
    is_stepped = True
    unfit: Mapping[str, str] = {
        **dict.fromkeys(
            (Method.MINIMAX, Method.RETROGRADE, Method.ALPHABETA), "{} is a game of chance: use expectiminimax"
        ),
        **dict.fromkeys(
            ("outlook", "followup", "replies"),
            "has outlook or replies, which speak of sure outcomes: leave them out of a game of chance",
        ),
        "wdl": "{} is a game of chance, whose values have no distances: leave --wdl out",
        "max_ply": "{} is a game of chance, which has no opening books: leave --max-ply out",
        "codec": "{} is a game of chance, whose books are in the codec instant: leave --codec out",
        "import": "{} is a game of chance, whose expectations only solving bounds: solve it",
        "live": "a game of chance is not searched live: solve it into a book",
        "play": "what a player gets in a game of chance no single play shows: leave out --play",
        "pack": "{} holds expectations, which the codec instant alone takes: leave it as it is",
        "merge": "{} holds expectations, which are complete: there is nothing to merge",
        "choose": "the values of {} are expectations: choose by tier, --ply",
        "trim": "the values of {} are expectations, which no play settles: leave the book whole",
    }
    silent: tuple[str, ...] = ("value", "distance")
    counted: tuple[str, str, str] = ("better", "even", "worse")
    repeats = ""

    @property
    def expectation(self) -> Expectation:
        return self

    @property
    def about(self) -> str:  # type: ignore[override]
        return "expected score" if self.of == "margin" else "winning chance"

    def measured(self, span: int, error: int) -> Kind:
        step = span / MIDDLE
        return self._replace(step=step, error=step / 2 + error * span / (2 * UNIT))

    def value(self, merit: Any, win: int = WIN) -> Value:
        return Value(float(merit))

    def fits(self, value: Value) -> bool:
        return value.distance is None and abs(value.score) <= self.step * MIDDLE and not value.score % self.step

    def agrees(self, merit: Any, value: Value) -> bool:
        return bool(abs(merit - value.score) <= 2 * self.error)

    def best(self, worths: Collection[Worth], average: Average = truediv) -> Any:
        return mean_of_best(worths, average)

    def values(self, palette: Sequence[Value]) -> Sequence[Value]:
        return Steps(self.step)

    def pack(self, merit: Any) -> Any:
        return number_of(merit) - MIDDLE

    def unpack(self, packed: int, win: int = WIN) -> Value:
        value: Value = Steps(self.step)[packed + MIDDLE]
        return value

    def listed(self, merits: Iterable[int]) -> list[int] | None:
        return None

    def words(self, value: Value) -> str:
        """An expected margin, or an expected utility and the winning chance that it amounts to, draws half counted."""
        # A finished state has a whole score
        if not isinstance(value.score, float):
            return super().words(value) if self.of == "margin" else value.words()
        return f"{value.score:+.6f}" if self.of == "margin" else f"{value.score:+.6f} ({50 * (1 + value.score):.4f} %)"

    def verdict(self, value: Value) -> str:
        return f"{self.words(value)} for the first player"


def span_of(largest: int, margins: bool, name: str) -> int:
    """The least power of two that is not below a largest utility. Raises GameError if only margins are so large."""
    if largest > 1 and not margins:
        raise GameError(f"{name} has utilities other than -1, 0, 1: a game of margins says score_game = True")
    return spanned(1 << max(0, largest - 1).bit_length(), name)


def spanned(span: int, name: str) -> int:
    """A span. Raises GameError if none is as wide."""
    if span > MOST_SPAN:
        raise GameError(f"{name} has margins beyond {MOST_SPAN:,}: expectations take smaller ones")
    return span


def number_of(value: Any) -> Any:
    """Return the number that a book stores for a value in units, or for an array of them.

    It is rounded to the nearest, and halves away from 0, so that both sides round alike.
    """
    return (value + (1 << DROPPED - 1) - (value < 0) >> DROPPED) + MIDDLE


def mean_of_best(worths: Collection[Worth], average: Average = truediv) -> Any:
    """Return the mean of outcomes of chance, of a group the best; of moves, which weigh nothing, the best."""
    best: dict[int, tuple[int, Any]] = {}
    for index, (weight, group, merit) in enumerate(worths):
        outcome = group or (-1 - index if weight else 0)
        if outcome not in best or merit > best[outcome][1]:
            best[outcome] = weight, merit
    total = sum(weight for weight, _ in best.values())
    return average(sum(weight * merit for weight, merit in best.values()), total) if total else best[0][1]


def mean(total: int, weight: int) -> int:
    """A weighted sum by the sum of the weights, to the nearest unit."""
    return (total + weight // 2) // weight


class Estimated(Value):
    """A value that is an estimate."""

    __slots__ = ()

    @property
    def outcome(self) -> str:
        return "estimate"


class _EstimateFields(NamedTuple):
    of: str
    depth: int
    evaluation: str
    identity: str
    nodes: int = 0


class Estimate(_EstimateFields, Kind):
    """How the values of a grown book were made.

    The kind of value ("outcome" or "margin"), the depth of the searches in plies, the evaluation (its name, and a hash
    of it), and the nodes that the searches for exact values were allowed when the book last grew.
    """

    name = "estimate"
    number = float
    types: tuple[type, ...] = (int, float)
    acyclic: Method = Method.DROP_OUT
    cyclic: Method | None = None
    partial: Method | None = Method.DROP_OUT
    counted: tuple[str, str, str] = ("better", "even", "worse")
    about = "estimate"
    unfit: Mapping[str, str] = {
        "settle": "{} holds estimates, which no look ahead settles: trim it by --max-ply or --max-bytes",
        "wdl": "{} holds estimates: trim it by --max-ply or --max-bytes",
        "choose": "{} holds estimates: choose by tier, --ply",
        "play": "{} holds estimates, of which no play shows that they are right: leave out --play",
        "learn": "{} holds estimates: learn from a solved book, or from searches of the game",
    }

    def check(self, margins: bool) -> None:
        """Raise ValueError for fields that make no sense, or are not of a game of margins or none."""
        if self.of != ("margin" if margins else "outcome") or type(self.depth) is not int or self.depth < 1:
            raise ValueError("estimates of an unknown kind")
        if type(self.nodes) is not int or self.nodes < 0:
            raise ValueError("exact searches of no nodes")
        named = type(self.evaluation) is str and self.evaluation.isprintable() and len(self.evaluation) < 256
        if not named or type(self.identity) is not str or not HASH.fullmatch(self.identity):
            raise ValueError("estimates by an unknown evaluation")

    @property
    def estimate(self) -> Estimate:
        return self

    @property
    def basis(self) -> Kind:
        """The kind of the exact ones."""
        return MARGIN if self.of == "margin" else OUTCOME

    @property
    def scores(self) -> bool:  # type: ignore[override]
        return self.basis.scores

    @property
    def steps(self) -> int:
        return MARGIN_STEPS if self.scores else WIN_STEPS

    def estimated(self, merit: float) -> float:
        """An estimate as it is kept; of a win or loss whose distance is not known 1.0 or -1.0."""
        if not self.scores and abs(merit) >= 1:
            return 1.0 if merit > 0 else -1.0
        largest = MOST_MARGIN if self.scores else 1
        step = int(merit * self.steps // 1)
        return (max(-largest * self.steps, min(largest * self.steps - 1, step)) + 0.5) / self.steps

    def lifted(self, merit: Any, same_mover: bool, gain: int) -> Any:
        """A child's merit as the move sees it that leads there and scores `gain`."""
        if isinstance(merit, float):
            return gain + (merit if same_mover else -merit)
        return gain + lift(merit, same_mover, self.scores)

    def worth(self, merit: Any) -> float:
        """A merit on the scale of estimates: -1, lost, to 1, won; a margin."""
        return float(merit) if self.scores else max(-1.0, min(1.0, merit))

    def backed_up(self, merits: Sequence[Any]) -> Any:
        """Return the merit of a state from the merits of its moves, some of which may be estimates.

        It is exact if all of them are, or if no move can win sooner than the one that does: an estimate says that there
        is not a win or loss within `depth` plies.
        """
        best = max(merits)
        if isinstance(best, float) or not any(isinstance(merit, float) for merit in merits):
            return best
        return best if not self.scores and WIN - best <= self.depth + 1 else self.estimated(best)

    def value(self, merit: Any, win: int = 0) -> Value:
        return Estimated(merit, None) if isinstance(merit, float) else value_of(merit, self.scores)

    def kept(self, value: Value) -> Value:
        return Estimated(*value) if is_estimate(value) else value

    def fits(self, value: Value) -> bool:
        score, distance = value
        if not isinstance(score, float):
            return self.basis.fits(value)
        if distance is not None:
            return False
        return (not self.scores and abs(score) == 1) or score == self.estimated(score)

    def words(self, value: Value) -> str:
        return self.basis.impression(value.score) if is_estimate(value) else self.basis.words(value)

    def verdict(self, value: Value) -> str:
        return f"{self.words(value)} for the first player" if is_estimate(value) else self.basis.verdict(value)

    def impression(self, estimate: float) -> str:
        return self.basis.impression(estimate)
