"""Estimates: the values of a grown book, some of them exact, the others estimated by a search of limited depth.

An estimate is a float, an exact score an int: that is the flag, in memory and in a book's palette. Estimates are odd
multiples of half a step, so that none is a draw, a whole margin, or another value's negative by rounding alone; and 1.0
or -1.0 where a win or loss is certain, but perhaps not its distance. So merits of both kinds have one order:

    loss in d: d - WIN  <  -1.0  <  estimates, draws  <  1.0  <  win in d: WIN - d
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from solver.base.kinds import MARGIN, OUTCOME, Kind
from solver.base.methods import Method
from solver.base.value import WIN, Value, lift, value_of

STEPS = 512  # to a win
MARGIN_STEPS = 8  # to a point of the margin
HASH = re.compile("[0-9a-f]{64}")
MOST_MARGIN = 4096  # that is told apart: a header holds the palette


class Estimated(Value):
    """A value that is an estimate."""

    __slots__ = ()

    @property
    def outcome(self) -> str:
        return "estimate"


class _Fields(NamedTuple):
    of: str
    depth: int
    evaluation: str
    identity: str
    nodes: int = 0


class Estimate(_Fields, Kind):
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
        return MARGIN_STEPS if self.scores else STEPS

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
        is no win or loss within `depth` plies.
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

    def words(self, value: Value, adds: bool = False) -> str:
        return self.basis.impression(value.score) if is_estimate(value) else self.basis.words(value, adds)

    def verdict(self, value: Value) -> str:
        return f"{self.words(value)} for the first player" if is_estimate(value) else self.basis.verdict(value)

    def impression(self, estimate: float) -> str:
        return self.basis.impression(estimate)


def is_estimate(value: Value) -> bool:
    """Whether a value of a grown book is none that is known to be exact."""
    return isinstance(value.score, float)
