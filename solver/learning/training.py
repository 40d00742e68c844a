"""`learn`: an evaluation of a game from the values of a book, or from searches where there is none.

Models are fitted by scikit-learn, as layers of an `Evaluation`, and judged on states that were never seen in training.

A value v from -1 to 1 is told as `TARGET_SCALE` v, so that no finite estimate need be certain. The linear model is a
logistic regression in which each state is a win with weight (1 + v) / 2 and a loss with the rest, since tanh(z / 2)
is the expectation of -1 and 1 in a logistic model. The network is fitted to artanh v by least squares. Features are
centred and scaled for the fit, which the first layer then makes up for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base import extras
from solver.base.progress import Progress, silent
from solver.book import Book, Source, open_source
from solver.compiled.lookahead.evaluation import Evaluation, Numbers, identity
from solver.learning import SOLVE_IT, samples
from solver.learning.moves import Board, Guess, States, Worths, best_moves, first_moves, guess_of
from solver.learning.samples import Sample
from solver.rules.game import game_text
from solver.search import refuse_chance

TARGET_SCALE = 0.9
STRENGTHS = (0.001, 0.01, 0.1, 1.0)  # of the data against small weights: that which tells held-out states best is taken
MOST_STEPS = 1000  # of a linear model's fit
EPOCHS = 100  # at most, of a network's
PATIENCE = 4  # epochs without a better one, until it ends
BETTER = 1e-3  # a smaller gain is none
BATCH_ROWS = 256
RATE = 2e-3
Layers = list[tuple[Numbers, Numbers]]


class Split(NamedTuple):
    """Features (n, features) and values (n,) from -1 to 1, of states to fit to and of others, to know when to stop."""

    table: NDArray[Any]
    values: NDArray[np.float64]
    held_table: NDArray[Any]
    held_values: NDArray[np.float64]


class Fit(NamedTuple):
    """A model's layers, how many steps or epochs it was fitted for, and its mean squared error on held-out states."""

    layers: Layers
    steps: int
    error: float


def fit(split: Split, hidden: tuple[int, ...], seed: int, progress: Progress = silent) -> Fit:
    """A linear model, or a network with these hidden layers. The same seed fits the same on one kind of machine."""
    from threadpoolctl import threadpool_limits

    middle = split.table.mean(axis=0, dtype=np.float64)
    spread = split.table.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1.0

    def scaled(table: NDArray[np.int16]) -> NDArray[np.float32]:
        numbers: NDArray[np.float32] = ((table - middle) / spread).astype(np.float32)
        return numbers

    ready = split._replace(table=scaled(split.table), held_table=scaled(split.held_table))
    # Sums in one order, whatever the number of cores
    with threadpool_limits(1):
        found = _network(ready, hidden, seed, progress) if hidden else _linear(ready, progress)
    weights, biases = found.layers[0]
    first = weights / spread[:, None]
    found.layers[0] = first.astype(np.float32), (biases - middle @ first).astype(np.float32)
    return found


def _linear(split: Split, progress: Progress) -> Fit:
    from sklearn.linear_model import LogisticRegression

    wins = (1 + TARGET_SCALE * split.values) / 2
    both, outcomes = np.vstack([split.table, split.table]), np.repeat([1, 0], len(wins))
    fits = []
    for tried, strength in enumerate(STRENGTHS):
        model = LogisticRegression(C=strength, max_iter=MOST_STEPS)
        model.fit(both, outcomes, sample_weight=np.concatenate([wins, 1 - wins]))
        layer = model.coef_.T.astype(np.float64) / 2, model.intercept_.astype(np.float64) / 2
        error = _error(np.tanh(split.held_table @ layer[0] + layer[1])[:, 0], split.held_values)
        fits.append(Fit([layer], int(model.n_iter_[0]), error))
        best = min(fits, key=operator.attrgetter("error"))
        progress("fitting", tried + 1, len(STRENGTHS), f"error {best.error:.4f}")
    return best


def _network(split: Split, hidden: tuple[int, ...], seed: int, progress: Progress) -> Fit:
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(
        hidden_layer_sizes=hidden,
        activation="relu",
        batch_size=min(BATCH_ROWS, len(split.values)),
        learning_rate_init=RATE,
        random_state=seed,
    )
    aims = np.arctanh(TARGET_SCALE * split.values).astype(np.float32)
    best, waited = Fit([], 0, np.inf), 0
    for epoch in range(1, EPOCHS + 1):
        model.partial_fit(split.table, aims)
        error = _error(np.tanh(model.predict(split.held_table)), split.held_values)
        waited = 0 if error < best.error * (1 - BETTER) else waited + 1
        if error < best.error:
            layers = zip(model.coefs_, model.intercepts_, strict=True)
            best = Fit([(w.astype(np.float64), b.astype(np.float64)) for w, b in layers], epoch, error)
        progress("fitting", epoch, EPOCHS, f"error {best.error:.4f}")
        if waited == PATIENCE:
            break
    best.layers[1:] = [(w.astype(np.float32), b.astype(np.float32)) for w, b in best.layers[1:]]
    return best


def _error(found: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    return float(np.mean((found - TARGET_SCALE * values) ** 2))


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


HELD = 8  # of so many states to fit to one more is held out to know when to stop, and one to judge the model


def learn(
    source: Source,
    *,
    hidden: tuple[int, ...] = (),
    seed: int = 0,
    states: int = 200_000,
    depth: int = 4,
    progress: Progress = silent,
) -> Evaluation:
    """Fit an evaluation function to the values of sampled states.

    A second sample stops the fit, a third judges it; neither is fitted. The same seed gives the same evaluation.

    Args:
        source: A book or its path, whose exact values are learned; or a game or its name, whose states are sampled by
            random play and valued by search.
        hidden: Widths of the one or two hidden layers of a network. Empty for a linear model.
        seed: The seed of all chance.
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
        rules, book = opened.rules, opened.book
        refuse_chance(rules, "learning", SOLVE_IT)
        board = Board(rules, rules.symmetry)
        number = states + 2 * (states // HELD)
        truth: Truth
        if book is not None:
            sample = samples.from_book(book, board, number, seed=seed, progress=progress)
            truth = truth_of(book)
        else:
            drawn = samples.by_play(board, number, seed=seed)
            values = samples.searching(rules)
            sample = Sample(drawn, values(drawn, depth, progress))

            def truth(states: States) -> Any:
                # A move leads to states that a search of a ply less is for.
                return values(states, max(1, depth - 1), silent), np.ones(len(states), np.bool_)

        source_text = "book" if book is not None else f"searches of depth {depth}"
        name = f"network {'x'.join(map(str, hidden))}" if hidden else "linear"
        facts = {"source": source_text, "model": name, "seed": seed}
        return _fitted(board, sample, truth, hidden, facts, progress)


def _fitted(
    board: Board, sample: Sample, truth: Truth, hidden: tuple[int, ...], facts: dict[str, Any], progress: Progress
) -> Evaluation:
    game = board.rules.game
    board.compare(sample.states)
    table = board.tabulate(sample.states)
    largest = float(np.abs(sample.scores).max()) or 1.0
    values = sample.scores / largest
    share = len(values) // (HELD + 2)
    fitted, held, judged_slice = slice(2 * share, None), slice(share, 2 * share), slice(0, share)
    split = Split(table[fitted], values[fitted], table[held], values[held])
    fitted_net = fit(split, hidden, facts["seed"], progress)
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
