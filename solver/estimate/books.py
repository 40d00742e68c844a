"""How long work on a complete book takes once it is solved: `verify`, `trim` and `pack`.

`verify` reaches every move again, as the solve did, so that it takes a multiple of the solve. The others read and write
values, so that they take a time for each stored state. Each rate below is the geometric middle between the least and
the most of a few games. `scripts/bench_estimate.py` prints them: renew them when one of these commands becomes faster.
"""

from __future__ import annotations

from typing import NamedTuple

from solver.rules.game import Rules

VERIFY = 0.8  # times of the solve
TRIM = 0.85e-6  # CPU seconds of a stored state, of `trim --wdl --codec ranked`
PACK = 0.07e-6  # the same of `pack`, to the codec compact


class BookTimes(NamedTuple):
    """Seconds of `verify`, `trim --wdl --codec ranked` and `pack`; `trim` is None where a game has no such book."""

    verify: float
    trim: float | None
    pack: float


def times(rules: Rules, stored: int, cyclic: bool, seconds: float, team: int) -> BookTimes:
    """Estimate the work on a book from its number of states and from the solve.

    Args:
        rules: The rules of the game.
        stored: The number of states in the book.
        cyclic: Whether some tier has cycles.
        seconds: The time of the solve with `team` workers.
        team: The number of workers, for all of this work.
    """
    trim = TRIM * stored / team if _has_ranked(rules, cyclic) else None
    return BookTimes(VERIFY * seconds, trim, PACK * stored / team)


def _has_ranked(rules: Rules, cyclic: bool) -> bool:
    """Whether the values can lose their distances, and be stored by numbers of the rules."""
    refused = any(rules.kind.refusal(what, rules.name) is not None for what in ("trim", "wdl"))
    return rules.rank is not None and rules.unrank is not None and not cyclic and not refused
