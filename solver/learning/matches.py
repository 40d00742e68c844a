"""Matches: two players from random openings, each with both colours, and a book's judgement of their moves.

The result: wins, draws and losses, the share of the points, and the difference in Elo, with intervals.

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

import numpy as np

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.learning.moves import SOLVE_IT, Board, Chooser, both_colours, openings
from solver.learning.players import Forfeit
from solver.play.grading import Tally, graded
from solver.play.player import Player
from solver.rules.game import Rules
from solver.rules.notation import names_of
from solver.search import refuse_chance

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


class Match(NamedTuple):
    """The standing as the first player sees it, the games as moves from the start, and the openings' longest.

    Of games 0, 2, 4, ... the first player moves first from the opening, of the others the second, from the same one.
    `forfeits` are the games that each player, an engine, has lost by rule.
    """

    standing: Standing
    games: list[str]
    plies: list[int]
    forfeits: Sequence[list[Forfeit]] = ()


def match(
    rules: Rules,
    first: Chooser,
    second: Chooser,
    *,
    games: int = 400,
    plies: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Match:
    """Play so many games, half as many openings, fewer if the game has no more; `plies` as `moves.openings` has it.

    The same seed plays the same, if the players do. Raises MethodError for games of chance, or without openings.
    """
    refuse_chance(rules, "a match", SOLVE_IT)
    if games < 2:
        raise MethodError(f"{games} games are not a match: each opening is played twice, play 2 or more")
    opened = openings(rules, games // 2, plies, seed)
    board = Board(rules)
    starts = np.array([opening.state for opening in opened], board.dtype)
    begun = [opening.actions for opening in opened for _ in range(2)]
    pairs, played = both_colours(board, starts, (first, second), lines=begun, progress=progress)
    lines = [" ".join(names_of(rules, rules.game.initial(), actions)) for actions in played.actions]
    by_rule = [getattr(player, "forfeits", []) for player in (first, second)]
    return Match(standing(pairs, rules.scores), lines, [len(actions) for actions in begun], by_rule)


def judged(rules: Rules, played: Match, book: Book) -> tuple[Tally, Tally]:
    """Tally the moves behind the openings by a book of these rules: those of the first player and of the second.

    Moves whose value the book does not know are left out. Raises ForeignBook for a book of other rules.
    """
    book.check_rules(rules.game)
    tallies = [Tally(), Tally()]
    player = Player(book, live=False)
    for number, (line, plies) in enumerate(zip(played.games, played.plies, strict=True)):
        moves = [move for move in graded(player, number + 1, line) if move.ply > plies]
        for move in moves:
            if move.before is not None:
                seat = (move.side != moves[0].side) ^ number % 2
                tallies[seat] = tallies[seat].plus(move)
    return tallies[0], tallies[1]
