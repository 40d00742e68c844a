"""The quality of guesses, measured on states that were never seen in training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.book import Book
from solver.learning.moves import Board, Guess, States, Worths, best_moves, first_moves
from solver.learning.samples import Sample

PLAYED = 5_000  # states whose moves are looked at
Truth = Callable[[States], tuple[Worths, NDArray[np.bool_]]]
"""Scores of unfinished states (n,), folded where their source is, and which are known."""
Figures = dict[str, Any]


def figures(board: Board, guess: Guess, sample: Sample, truth: Truth) -> Figures:
    """Three measures, each None where nothing could be measured. The board's children are folded as `truth` is.

    `sign`: the share of states not drawn of which the guess says who wins; a guess of 0 counts a half. `correlation`
    of guesses and scores (Pearson). `best_moves`: of states in which some move is worse than another, the share in
    which the move that the guess likes best, one ply ahead, is a best one.
    """
    guesses = guess(sample.states)
    decided = sample.scores != 0
    vary = np.ptp(guesses) != 0 and np.ptp(sample.scores) != 0
    signs = np.sign(guesses[decided]) * np.sign(sample.scores[decided])
    return {
        "sign": float(np.mean((signs + 1) / 2)) if decided.any() else None,
        "correlation": float(np.corrcoef(guesses, sample.scores)[0, 1]) if vary else None,
        "best_moves": best_share(board, guess, sample.states[:PLAYED], truth),
    }


def best_share(board: Board, guess: Guess, states: States, truth: Truth) -> float | None:
    """The share of states in which the first of the moves that the guess likes best is a best one, where some are not.

    States of which a move is not known are left out.
    """
    children = board.children(states)
    known = children.ended.copy()
    scores, known[~known] = truth(children.states[~known])
    ends = children.worths if board.rules.scores else np.sign(children.worths)
    worths = board.worths(children._replace(worths=ends), lambda states: scores)
    begins = first_moves(children.parents, len(states))[:-1]
    best, worst = np.maximum.reduceat(worths, begins), np.minimum.reduceat(worths, begins)
    judged = (best > worst) & np.logical_and.reduceat(known, begins)
    if not judged.any():
        return None
    chosen = best_moves(children.parents, board.worths(children, guess), len(states))
    return float(np.mean(worths[chosen][judged] == best[judged]))


def truth_of(book: Book) -> Truth:
    """Return a book's values of states, folded as it is."""

    def truth(states: States) -> tuple[Worths, NDArray[np.bool_]]:
        values = book.lookup(states, missing="mask")
        return np.where(values.known, values.scores, 0.0), values.known

    return truth
