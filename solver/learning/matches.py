"""Matches: two players from random openings, each with both colours, and a book's judgement of their moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.learning import SOLVE_IT
from solver.learning.contest import Chooser, both_colours, openings
from solver.learning.engines import Forfeit
from solver.learning.moves import Board
from solver.learning.standing import Standing, standing
from solver.play.grading import Tally, graded
from solver.play.player import Player
from solver.rules.game import Rules
from solver.rules.notation import names_of
from solver.search import refuse_chance


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
    """Play so many games, half as many openings, fewer if the game has no more; `plies` as `contest.openings` has it.

    The same seed plays the same, if the players do. Raises MethodError for games of chance, or without openings.
    """
    refuse_chance(rules, "a match", SOLVE_IT)
    if games < 2:
        raise MethodError(f"{games} games are no match: each opening is played twice, play 2 or more")
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
