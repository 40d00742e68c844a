"""The result of a match: wins, draws and losses, the share of the points, and the difference in Elo, with intervals.

Each opening is played twice, with both colours, and such a pair is one observation, since its two games are not
independent: in an opening that is won for who moves, both win one. The interval is that of Wilson (1927) for as many
trials as would vary as much as the pairs do, which draws and pairs make vary less:

    s = mean points of a pair / 2,  v = variance of that,  z = 1.96,  m = pairs * s (1 - s) / v
    (s + z**2 / 2m  ±  z sqrt(s (1 - s) / m + z**2 / 4m**2)) / (1 + z**2 / m)

Where all games were won, or lost, m is the number of pairs; it is never more than its square. Elo's difference is 400
log10(s / (1 - s)); the interval's ends are those of the share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z = 1.959964  # of a normal distribution, 95 % lie within
DIGITS = 12  # of an interval's ends: those that are 0 or 1 come out so


class Standing(NamedTuple):
    """A match as its first player sees it. `pairs` counts the pairs of games that gave 0, ½, 1, 1½ and 2 points.

    `share` of the points, from 0 to 1, lies within `low` and `high` with 95 %. The Elo difference is None where it has
    no end: all games won, or lost. `margin` is the mean margin of a score game, else None.
    """

    wins: int
    draws: int
    losses: int
    pairs: tuple[int, ...]
    share: float
    low: float
    high: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    margin: float | None = None


def standing(scores: Sequence[tuple[float, float]], score_game: bool = False) -> Standing:
    """The standing of pairs of games, each two scores for the first player: above 0 is won, below lost."""
    games = [score for pair in scores for score in pair]
    wins, losses = sum(score > 0 for score in games), sum(score < 0 for score in games)
    halves = [_halves(one) + _halves(opposite_score) for one, opposite_score in scores]
    counts = tuple(halves.count(number) for number in range(5))
    share = sum(halves) / (4 * len(halves))
    variance = sum((number / 4 - share) ** 2 for number in halves) / len(halves)
    low, high = interval(share, variance, len(halves))
    margin = sum(games) / len(games) if score_game else None
    draws = len(games) - wins - losses
    return Standing(wins, draws, losses, counts, share, low, high, elo(share), elo(low), elo(high), margin)


def _halves(score: float) -> int:
    return 1 + (score > 0) - (score < 0)


def interval(share: float, variance: float, number: int) -> tuple[float, float]:
    """The 95 % interval of a share, the mean of so many observations of that variance."""
    single = share * (1 - share)
    trials = number / max(variance / single, 1 / number) if single else number
    squared = Z * Z / trials
    middle, half = share + squared / 2, Z * math.sqrt(single / trials + squared / (4 * trials))
    low, high = ((middle + offset) / (1 + squared) for offset in (-half, half))
    return max(0.0, round(low, DIGITS)), min(1.0, round(high, DIGITS))


def elo(share: float) -> float | None:
    """The difference in Elo that expects this share of the points."""
    return 400 * math.log10(share / (1 - share)) + 0.0 if 0 < share < 1 else None
