"""Who plays matches: by guesses one ply ahead or deeper, by a book, by exact search, or at random."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from solver.book import Book
from solver.compiled.lookahead import searches
from solver.compiled.lookahead.evaluation import Evaluation, game_of
from solver.compiled.lookahead.model import model_of
from solver.learning.contest import Numbers, Turn
from solver.learning.moves import Board, Guess, Worths, best_moves
from solver.play.player import Player
from solver.play.practical import Level
from solver.rules.game import Rules

PACE = 1e-6  # a ply sooner is better by that much of a win


class Greedy:
    """The move that a guess likes best, one ply ahead; ends are seen."""

    def __init__(self, board: Board, guess: Guess) -> None:
        self.board, self.guess = board, guess

    def choose(self, turn: Turn) -> Numbers:
        return best_moves(turn.children.parents, self.board.worths(turn.children, self.guess), len(turn.states))


class Deep:
    """The move that an evaluation, or the rules' own `evaluate`, likes best so many plies ahead.

    Raises ForeignBook for an evaluation of other rules.
    """

    def __init__(self, board: Board, evaluation: Evaluation | None, depth: int, workers: int | None = None) -> None:
        if evaluation is not None:
            game_of(evaluation, board.rules.game)
        model = None if evaluation is None else model_of(evaluation)
        self.ahead = searches.Chooser(board.rules.game, model=model, symmetry=board.rules.symmetry, workers=workers)
        self.depth = depth

    def choose(self, turn: Turn) -> Numbers:
        return turn.begins + self.ahead.choose(turn.states, self.depth).places


class Random:
    """Any move, by the seed, the game's number and the ply alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def choose(self, turn: Turn) -> Numbers:
        draws = np.random.default_rng([self.seed, turn.ply]).random(int(turn.games.max()) + 1)[turn.games]
        moves = np.bincount(turn.children.parents)
        return turn.begins + (draws * moves).astype(np.int64)


class ByBook:
    """A best move of a book: the quickest win, else the move of the highest value, else the longest loss.

    The book is complete, or `beyond` plays where it does not know all moves. Raises ForeignBook for one of other rules.
    """

    def __init__(self, board: Board, book: Book, beyond: Deep | None = None) -> None:
        book.check_rules(board.rules.game)
        self.board, self.book, self.beyond = board, book, beyond

    def choose(self, turn: Turn) -> Numbers:
        children, count = turn.children, len(turn.states)
        chosen = best_moves(children.parents, self.board.worths(children, self._values), count)
        if self.beyond is not None:
            known = children.ended.copy()
            known[~known] = self.book.lookup(children.states[~children.ended], missing="mask").known
            lost = np.bincount(children.parents[~known], minlength=count) > 0
            if lost.any():
                chosen[lost] = self.beyond.choose(turn)[lost]
        return chosen

    def _values(self, states: Numbers) -> Worths:
        values = self.book.lookup(states, missing="raise" if self.beyond is None else "mask")
        # `beyond` plays where one is missing
        scores: Worths = np.where(values.known, values.scores, 0.0)
        return scores if self.board.rules.scores else scores * (1 - PACE * np.maximum(0, values.distances + 1))


class AtLevel:
    """A complete book that errs as a level does: by the seed, the game's number and the ply alone."""

    def __init__(self, player: Player, level: Level, seed: int) -> None:
        self.player, self.level, self.seed = player, level, seed

    def choose(self, turn: Turn) -> Numbers:
        places = []
        for state, game in zip(turn.states.tolist(), turn.games.tolist(), strict=True):
            chance = random.Random(f"{self.seed} {turn.ply} {game}")
            action = self.level.slip(self.player, state, chance)
            action = self.player.best(state) if action is None else action
            places.append(list(self.player.rules.actions(state)).index(action))
        return turn.begins + np.array(places, np.int64)


class Asked:
    """Whatever answers a state with an action, asked state by state."""

    def __init__(self, rules: Rules, best: Callable[[int], int]) -> None:
        self.rules, self.best = rules, best

    def choose(self, turn: Turn) -> Numbers:
        places = [list(self.rules.actions(state)).index(self.best(state)) for state in turn.states.tolist()]
        return turn.begins + np.array(places, np.int64)
