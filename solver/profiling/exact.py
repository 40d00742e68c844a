"""Play between two players of a solved game, moved on ply by ply as a distribution over positions, in arrays.

Where the shares of all positions go on as they did two plies ago, all smaller by one factor, up to a part STILL of all
games, the other plies are known without play: the share of each is off by MAX_PLIES / 2 * STILL at most.

Cost: about 200 bytes a move. A ply takes 3 ns a move of the positions under way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.extras import PLAIN_LIMIT
from solver.base.progress import Progress
from solver.base.value import WIN
from solver.book import Book
from solver.learning.moves import graph
from solver.play.player import Player
from solver.play.practical import Practical, Reply
from solver.profiling import MAX_PLIES
from solver.rules.width import USUAL
from solver.store.shared import shared

ERROR = 1e-6  # share of games under way at which play stops
STILL = 1e-12  # share of games whose positions may differ where play goes on as two plies ago
PERFECT = -1  # plies that a player sees who knows all values
SHARE, COLUMNS = 5, 9  # of a row of sums, as `Games.play` returns it
Choices = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]  # as of `_choices`
Run = tuple[int, int, int, int]  # the plies that both players see, the position, and whose turn it is there: 0 or 1


class Games:
    """The games between players of a complete book, who see some plies, or are PERFECT.

    `start` is the number of the first position, and `place(state, points)` that of a canonical state in which the
    side to move has gained so many points since the start.
    """

    def __init__(self, player: Player, book: Book, progress: Progress) -> None:
        rules, columns = player.rules, None
        start = rules.canonical(player.game.initial())
        self.place: Callable[[Any, float], int]
        is_large = len(book) > PLAIN_LIMIT and not (rules.plain_only or book.trim or rules.reward)
        if is_large and rules.bits <= USUAL:
            with contextlib.suppress(UncompiledRules):
                states, columns = graph(rules, book, progress)
                columns = *columns, columns[2]
                self.place = lambda state, points: int(states.searchsorted(state))
        if columns is None:
            look = Practical(rules, player.knowledge.value)
            columns, numbers = tabulated(start, lambda state: look.replies(state) or (), progress)
            self.place = lambda state, points: numbers[state, points]
        self.start = self.place(start, 0.0)
        self.choices = dict(_choices(columns, rules.scores, book.header.kind.bare))

    def play(self, run: Run) -> tuple[NDArray[np.float64], float]:
        """Play all games of two players from a position.

        Returns:
            A row for each ply (plies, COLUMNS). The shares of all games that end there, their mean result for the first
            player, and those that it wins and loses; and how many change the lead. The share of games that come so far,
            and of these the sums of moves, of a choice, and of one move alone that keeps the value. And the share of
            games still under way in the end.
        """
        players, size = [self.choices[look] for look in run[:2]], len(self.choices[0][2])
        # The shares of games by twice the position, and 1 more where it is the turn of the second player
        shares, rows, left, moved, factor = [np.zeros(2 * size)], list[NDArray[np.float64]](), 1.0, 1.0, 0.0
        shares[0][2 * run[2] + run[3]] = 1.0
        while left > ERROR and len(rows) < MAX_PLIES and moved > STILL:
            now, then, row = shares[-1], np.zeros(2 * size), np.zeros(COLUMNS)
            for turn, choices in enumerate(players):
                move_on(*choices, now, turn, then, row)
            rows.append(row)
            if len(shares) > 2:
                factor = left / rows[-3][SHARE]
                moved = float(np.abs(now - factor * shares.pop(0)).sum())
            shares.append(then)
            left = float(then.sum())
        while left > ERROR and len(rows) < MAX_PLIES:
            rows.append(factor * rows[-2])
            left = factor * rows[-2][SHARE]
        return np.array(rows), left


@shared
def move_on(begins: Any, targets: Any, weights: Any, sums: Any, now: Any, turn: int, then: Any, row: Any) -> None:
    """Move on the shares `now` of games in which it is a player's turn, to `then`; add their sums to a row."""
    for position in range(len(weights)):
        share = now[2 * position + turn]
        if share == 0:
            continue
        for column in range(COLUMNS):
            row[column] += share * sums[turn, position, column]
        for place in range(begins[position], begins[position + 1]):
            then[targets[place] ^ turn] += share * weights[position]


def _choices(columns: Sequence[NDArray[Any]], scored: bool, bare: bool) -> Iterator[tuple[int, Choices]]:
    """Yield the plies that a player sees, and the moves that it chooses from, by the columns of `tabulated`.

    They choose from moves in four arrays:
    - where the moves of each position begin that do not end the game (n + 1,)
    - of each such move twice the position that it leads to, and 1 more if the turn changes
    - the share of one move of each position (n,)
    - means over the moves of each position, as `Games.play` sums them (2, n, COLUMNS): where the first player is to
      move, and where the second is

    Distances do not count where values are `scored`, nor for the best moves of a book that is `bare` of them.
    """
    firsts, children, scores, distances, same, gains, results = columns
    begins, counts, ended = firsts[:-1], np.diff(firsts), children < 0
    owners = np.repeat(np.arange(len(counts)), counts)
    tops = np.maximum.reduceat(scores, begins)
    changes = np.sign(scores) != np.sign(tops[owners])
    one_good = (counts > 1) & (np.add.reduceat(scores == tops[owners], begins) == 1)
    seen = tops
    for look in (PERFECT, 0, 1, 2, 3):
        ahead = np.where(same, seen[children], -seen[children]) if look > 1 else 0
        sights = np.where(ended | ((scores == 0) & (not scored)), scores, gains + ahead)
        if look == 0:
            sights = np.zeros(len(scores))
        elif look == PERFECT:
            # A quick win, or a slow loss
            sights = scores if scored or bare else np.where(distances < 0, scores, scores * (WIN - distances))
        elif not scored:
            sights = np.where(distances < 0, sights, np.where(distances <= look, scores, 0))
        seen = np.maximum.reduceat(sights, begins)
        chosen = np.flatnonzero(sights == seen[owners])
        numbers = np.bincount(owners[chosen])
        parts = (ended, ended * results, ended & (results > 0), ended & (results < 0), changes)
        ends, mean, wins, losses, lead = (np.bincount(owners[chosen], part[chosen]) / numbers for part in parts)
        both = [lead, np.ones(len(counts)), counts, counts > 1, one_good]
        views = [ends, mean, wins, losses, *both], [ends, -mean, losses, wins, *both]
        steps = chosen[~ended[chosen]]
        firsts_chosen = np.searchsorted(owners[steps], np.arange(len(counts) + 1))
        targets = 2 * children[steps] + np.logical_not(same[steps])
        yield look, (firsts_chosen, targets, 1 / numbers, np.stack([*map(np.column_stack, views)]))


def tabulated(
    start: Any, replies: Callable[[Any], Iterable[Reply]], progress: Progress
) -> tuple[Sequence[NDArray[Any]], dict[tuple[Any, float], int]]:
    """List the moves of all positions that play comes to, where the same state with other points is another position.

    Args:
        start: The state of the first.
        replies: List the moves of a state.
        progress: Called as the work goes on.

    Returns:
        Where the moves of each position begin (n + 1,). Of each move: the position that it leads to, -1 if it ends the
        game; its score and distance for the mover, -1 if there is none; whether the same player moves again; the points
        that it scores; and the mover's result if the game ends. And the positions by state and points.
    """
    numbers, begins, columns = {(start, 0.0): 0}, [0], list[tuple[int, float, int, bool, float, float]]()
    # The list grows; points are those of who is to move
    for state, points in (waiting := list(numbers)):
        for reply in replies(state):
            child, total = -1, points + reply.gain
            if not reply.ends:
                position = reply.child, total if reply.same else 0 - total
                child = numbers.setdefault(position, len(numbers))
                if child == len(waiting):
                    waiting.append(position)
            distance = -1 if reply.distance is None else reply.distance
            columns.append((child, reply.score, distance, reply.same, reply.gain, points + reply.score))
        begins.append(len(columns))
        if len(begins) % 1024 == 0:
            progress("moves", len(begins), None)
    return (np.array(begins), *map(np.array, zip(*columns, strict=True))), numbers
