"""`learn`: an evaluation of a game from the values of a book, or from searches where there is none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solver.base import extras
from solver.base.progress import Progress, silent
from solver.book.doors import Opened, Source, open_source
from solver.compiled.lookahead.evaluation import Evaluation, identity
from solver.learning import SOLVE_IT, samples
from solver.learning.figures import Truth, figures, truth_of
from solver.learning.fitting import TARGET_SCALE, Split, fit
from solver.learning.moves import Board, States, guess_of
from solver.learning.samples import Sample
from solver.rules.game import game_text
from solver.search import refuse_chance

HELD = 8  # of so many states to fit to one more is held out to know when to stop, and one to judge the model


class Model(NamedTuple):
    """The model to fit: a linear model, or a network of one or two hidden layers; and the seed of all chance."""

    hidden: tuple[int, ...] = ()
    seed: int = 0

    @property
    def name(self) -> str:
        return f"network {'x'.join(map(str, self.hidden))}" if self.hidden else "linear"


LINEAR = Model()


def learn(
    source: Source, *, model: Model = LINEAR, states: int = 200_000, depth: int = 4, progress: Progress = silent
) -> Evaluation:
    """Fit an evaluation function to the values of sampled states.

    A second sample stops the fit, a third judges it; neither is fitted. The same seed gives the same evaluation.

    Args:
        source: A book or its path, whose exact values are learned; or a game or its name, whose states are sampled by
            random play and valued by search.
        model: Linear, or a network with one or two hidden layers; and the random seed.
        states: States to fit. A quarter as many are sampled in addition, for the other two samples.
        depth: Plies of the searches. Not used with a book. They use the rules' `evaluate` if there is one.
        progress: Called as the work goes on.

    Returns:
        The evaluation. `figures` holds its quality on the third sample.

    Raises:
        MethodError: The game has too few states to learn from, chance has a part in it, or the extra [learn] is not
            installed.
    """
    with open_source(source, shipped_book=False) as opened:
        extras.require_learning()
        return _learned(opened, model, states, depth, progress)


def _learned(opened: Opened, model: Model, states: int, depth: int, progress: Progress) -> Evaluation:
    rules, book = opened.rules, opened.book
    refuse_chance(rules, "learning", SOLVE_IT)
    board = Board(rules, rules.symmetry)
    number = states + 2 * (states // HELD)
    truth: Truth
    if book is not None:
        sample = samples.from_book(book, board, number, seed=model.seed, progress=progress)
        truth = truth_of(book)
    else:
        drawn = samples.by_play(board, number, seed=model.seed)
        values = samples.searching(rules)
        sample = Sample(drawn, values(drawn, depth, progress))

        def truth(states: States) -> Any:
            # A move leads to states that a search of a ply less is for.
            return values(states, max(1, depth - 1), silent), np.ones(len(states), np.bool_)

    facts = {
        "source": "book" if book is not None else f"searches of depth {depth}",
        "model": model.name,
        "seed": model.seed,
    }
    return _fitted(board, sample, truth, model, facts, progress)


def _fitted(
    board: Board, sample: Sample, truth: Truth, model: Model, facts: dict[str, Any], progress: Progress
) -> Evaluation:
    game = board.rules.game
    board.compare(sample.states)
    table = board.tabulate(sample.states)
    largest = float(np.abs(sample.scores).max()) or 1.0
    values = sample.scores / largest
    share = len(values) // (HELD + 2)
    fitted, held, judged_slice = slice(2 * share, None), slice(share, 2 * share), slice(0, share)
    split = Split(table[fitted], values[fitted], table[held], values[held])
    fitted_net = fit(split, model.hidden, model.seed, progress)
    facts |= {"states": len(split.values), "steps": fitted_net.steps}
    scale = largest / TARGET_SCALE if board.rules.scores else 1.0
    evaluation = Evaluation(
        game_text(game), identity(game), board.features, "relu", fitted_net.layers, float(scale), facts, {}
    )
    unseen = Sample(sample.states[judged_slice], sample.scores[judged_slice])
    progress("judging", 0, 1)
    measured = {"states": share, **figures(board, guess_of(board, evaluation), unseen, truth)}
    if board.rules.evaluate is not None:
        own_figures = figures(board, board.guesses, unseen, truth)
        measured |= {f"evaluate_{name}": figure for name, figure in own_figures.items()}
    progress("judging", 1, 1)
    return evaluation._replace(figures=measured)
