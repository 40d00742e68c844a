"""Games judged by a book: how many moves were perfect, how many kept the value of the position, which did not.

For people who train agents, or play themselves. A move is *perfect* if no other is better: it keeps value and distance.
It *keeps* the value if a win stays a win, of whatever length, a draw a draw, and a margin or an expectation the same;
a move that does not is a blunder. In lost positions every move keeps the value. Outcomes of chance are not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from solver.base.errors import PositionError
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Source
from solver.play.player import Player
from solver.rules.game import Rules
from solver.rules.notation import chances, format_action
from solver.rules.reading import game_lines, moves_played


class Graded(NamedTuple):
    """The grade of a move.

    Attributes:
        line, ply: Where it was played, from 1.
        side: Who moved, 0 or 1. None if states do not tell.
        before: Value of the position for the mover. None if the player does not know it.
        after: Value of the move for the mover. None if the player does not know it.
        best: The moves that would have been perfect, if this one was not.
    """

    line: int
    ply: int
    side: int | None
    state: int
    move: str
    before: Value | None
    after: Value | None
    best: list[str]

    @property
    def perfect(self) -> bool:
        """Whether no other move is better."""
        return self.after == self.before

    @property
    def kept(self) -> bool:
        """Whether the move kept a win, a draw or the margin as it was."""
        return self.before is not None and self.after is not None and self.after.score == self.before.score


class Tally(NamedTuple):
    """Numbers of moves: those whose value is known, and of these the perfect ones and those that kept the value."""

    moves: int = 0
    perfect: int = 0
    kept: int = 0

    def plus(self, move: Graded) -> Tally:
        """Return the tally with one more move."""
        return Tally(self.moves + 1, self.perfect + move.perfect, self.kept + move.kept)


class Grades(NamedTuple):
    """Games and moves, those that are not known (`unknown`), and tallies of all others, by `sides`, too."""

    games: int
    unknown: int
    total: Tally
    sides: list[Tally]
    blunders: list[Graded]


def grade(player: Player | Source, games: Iterable[str], *, progress: Progress = silent) -> Grades:
    """Judge every move of some games by a player's values.

    A move is perfect if it keeps value and distance. It keeps the value if a win stays a win and a draw a draw, or if
    the margin stays the same. Any other move is a blunder.

    Args:
        player: Where the values come from: a player, or a book or its path, which is asked without a live search.
        games: Lines of text: the moves of a game from its start. Empty lines and remarks behind # or ; are
            skipped.
        progress: Called after each move with the number of moves so far.

    Returns:
        `Grades`: the number of games, the moves of unknown value, tallies in all and for each side (0 moves first), and
        the blunders in order of play.

    Raises:
        PositionError: A line has an illegal move. The message names the line.
    """
    player = Player.of(player, live=False)
    played = unknown = judged = 0
    tallies: dict[int | None, Tally] = {}
    blunders: list[Graded] = []
    for number, line in game_lines(games):
        played += 1
        try:
            for move in graded(player, number, line):
                judged += 1
                progress("grade", judged, None)
                if move.before is None:
                    unknown += 1
                    continue
                tallies[move.side] = tallies.get(move.side, Tally()).plus(move)
                if not move.kept:
                    blunders.append(move)
        except PositionError as error:
            raise PositionError(f"line {number}: {error}") from None
    total = Tally(*(sum(column) for column in zip(Tally(), *tallies.values(), strict=True)))
    return Grades(played, unknown, total, [tallies.get(side, Tally()) for side in (0, 1)], blunders)


def graded(player: Player, line: int, text: str) -> Iterator[Graded]:
    """The moves of one game."""
    rules: Rules = player.rules
    for ply, (position, action, _) in enumerate(moves_played(rules, text), 1):
        state = position.state
        if chances(rules.game, state):
            continue
        answer, moves = player.examine(state)
        after = next(move.value for move in moves if move.action == action)
        known = answer.value is not None and after is not None
        yield Graded(
            line,
            ply,
            position.mover,
            state,
            format_action(rules.game, state, action),
            answer.value if known else None,
            after if known else None,
            [format_action(rules.game, state, move.action) for move in moves if move.value == answer.value],
        )
