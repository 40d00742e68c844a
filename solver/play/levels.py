"""Levels of play: weaker players err more often, and see fewer plies.

A level is a share of moves and a number of plies. In that share of its moves the player chooses as the fallible
opponent of `practical`: it sees wins and losses within so many plies, and otherwise moves at random. All other moves
are best. So deep mistakes come first, and shallow ones only at the lowest levels.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from solver.play.analysis import Move
from solver.play.player import Player
from solver.play.practical import Practical


class Level(NamedTuple):
    """A strength of play.

    Attributes:
        name: Its name.
        share: The share of moves that may be mistakes.
        plies: Plies that these moves look ahead.
    """

    name: str
    share: float
    plies: int

    def slip(self, player: Player, state: int, chance: random.Random) -> int | None:
        """Return the move of a fallible player, or None if the best move is due.

        Args:
            player: The player whose values the level uses.
            state: An unfinished state.
            chance: The random numbers: one for each move, one more for each slip.

        Raises:
            StateTypeError, PositionError, GameError: As `Player.analyse`.
        """
        if chance.random() >= self.share:
            return None
        moves = player.analyse(state)
        return chance.choice(self._seen(player, state, moves)).action if moves else None

    def _seen(self, player: Player, state: int, moves: Sequence[Move]) -> Sequence[Move]:
        """Return the moves among which the level's look sees no difference. All, if a value is unknown."""
        if self.plies == 0 or player.rules.chance is not None:
            return moves

        choices = Practical(player.rules, player.knowledge.value, self.plies).choices(state)
        if choices is None:
            return moves
        alike = {reply.action for reply in choices}
        return [move for move in moves if move.action in alike]


# Neighbours are 158 to 301 Elo apart on connect-four:5,5, 80 to 220 on hexapawn:4,4 and 61 to 218 on kalah:3,3
# (`scripts/bench_practical.py --levels`).
LEVELS = {
    level.name: level
    for level in (
        Level("beginner", 1.0, 0),
        Level("easy", 1.0, 2),
        Level("medium", 0.55, 2),
        Level("hard", 0.2, 4),
        Level("perfect", 0.0, 4),
    )
}
NUMBERS = (*(name for name in LEVELS for _ in range(2)),)  # of the levels 1 to 10


def level_of(text: str) -> Level:
    """Return the level of a name, or of a number from 1 to 10: two numbers share a level, and 10 is perfect.

    Raises:
        ValueError: There is no such level.
    """
    if text.isascii() and text.isdecimal() and 1 <= int(text[:3]) <= len(NUMBERS):
        return LEVELS[NUMBERS[int(text[:3]) - 1]]
    if text not in LEVELS:
        raise ValueError(f"{text[:40]!r} is no level: choose {', '.join(LEVELS)}, or 1 to {len(NUMBERS)}")
    return LEVELS[text]
