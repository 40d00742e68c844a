"""Levels of play: below the highest a player makes a second-best move now and then."""

from __future__ import annotations

import random

from solver.play.player import Player

HIGHEST = 10


def slip(player: Player, state: int, level: int, chance: random.Random) -> int | None:
    """Return the best of the moves that are worse, (10 - level) times in 10; None where the best move is due.

    There is none, too, where all moves are equally good. Raises as `Player.analyse`.
    """
    if level < HIGHEST and chance.random() * HIGHEST < HIGHEST - level:
        second_best = [move for move in player.analyse(state) if not move.best]
        if second_best:
            return second_best[0].action
    return None
