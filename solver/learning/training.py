"""`learn`: an evaluation of a game from the values of a book, or from searches where there is none.

Models are fitted by scikit-learn, as layers of an `Evaluation`, and judged on states that were never seen in training.

A value v from -1 to 1 is told as `TARGET_SCALE` v, so that no finite estimate need be certain. The linear model is a
logistic regression in which each state is a win with weight (1 + v) / 2 and a loss with the rest, since tanh(z / 2)
is the expectation of -1 and 1 in a logistic model. The network is fitted to artanh v by least squares. Features are
centred and scaled for the fit, which the first layer then makes up for.

Samples of a book are drawn without any state twice, as evenly as there are any from each ply (the rules' tier) and each
of win, draw and loss for the side to move: uniformly drawn, nearly all would be full boards. That reads the book twice.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.book import Book, Source, open_source, streaming
from solver.compiled.lookahead.evaluation import Evaluation, Numbers, identity
from solver.compiled.lookahead.searches import Chooser
from solver.learning.moves import SOLVE_IT, Board, Guess, States, Worths, best_moves, first_moves, guess_of
from solver.rules.game import Rules, game_text
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
STATES_PER_REPORT = 1 << 12  # states that are searched between two reports of progress
MAX_PLIES = 300  # of a random game
MIN_STATES = 50  # states that anything can be learned from


class Sample(NamedTuple):
    """Unfinished states (n,) int64 in random order, and their scores (n,) float64, for the side to move."""

    states: States
    scores: Worths


def from_book(book: Book, board: Board, number: int, *, seed: int = 0, progress: Progress = silent) -> Sample:
    """So many stored states of a book, all if there are fewer. Raises MethodError where they are too few."""
    book.header.kind.refuse("learn", book.path.name)
    counts: Counter[int] = Counter()
    for _, _, keys in _parts(book, board, progress, "reading"):
        strata, sizes = np.unique(keys, return_counts=True)
        counts.update(dict(zip(strata.tolist(), sizes.tolist(), strict=True)))
    draw = np.random.default_rng(seed)
    wanted = {key: np.sort(draw.choice(count, share, replace=False)) for (key, count), share in _shares(counts, number)}
    passed = dict.fromkeys(counts, 0)
    states: list[States] = []
    found: list[Worths] = []
    for part, scores, keys in _parts(book, board, progress, "reading again"):
        # Those that are wanted by their numbers within their strata
        order, taken = np.argsort(keys, kind="stable"), []
        strata, begins = np.unique(keys[order], return_index=True)
        for key, places in zip(strata.tolist(), np.split(order, begins[1:]), strict=True):
            low, high = np.searchsorted(wanted[key], (passed[key], passed[key] + len(places)))
            taken.append(places[wanted[key][low:high] - passed[key]])
            passed[key] += len(places)
        chosen = np.sort(np.concatenate(taken))
        states.append(part[chosen])
        found.append(scores[chosen])
    sample = Sample(np.concatenate(states), np.concatenate(found))
    if len(sample.states) < MIN_STATES:
        raise MethodError(f"{book.path.name} has {len(sample.states)} states, too few to learn from: take a larger one")
    order = draw.permutation(len(sample.states))
    return Sample(sample.states[order], sample.scores[order])


def searched(chooser: Chooser, rules: Rules, states: States, depth: int, progress: Progress) -> Worths:
    """Ask searches of that depth by the rules' own `evaluate`.

    Returns the score of each unfinished state (n,) float64, or its estimate. Without `evaluate` every state that is
    not finished is even.
    """
    scores = np.zeros(len(states))
    for begin in range(0, len(states), STATES_PER_REPORT):
        part = slice(begin, begin + STATES_PER_REPORT)
        scores[part] = chooser.choose(states[part], depth).merits
        progress("searching", min(begin + STATES_PER_REPORT, len(states)), len(states))
    return scores if rules.scores else np.clip(scores, -1, 1)


def _shares(counts: dict[int, int], number: int) -> list[tuple[tuple[int, int], int]]:
    """How many states to take of each stratum: as many of each, or all it has."""
    left, strata = number, sorted(counts.items(), key=lambda item: (item[1], item[0]))
    shares = []
    for place, (key, count) in enumerate(strata):
        share = min(count, left // (len(strata) - place))
        shares.append(((key, count), share))
        left -= share
    return shares


def _parts(
    book: Book, board: Board, progress: Progress, name: str
) -> Iterator[tuple[States, Worths, NDArray[np.int64]]]:
    """Yield a book's states, their scores, and numbers of their strata: of ply, and loss, draw or win."""

    def renamed(step: str, done: int, total: int | None, note: str = "") -> None:
        progress(name, done, total, note)

    palette = np.array([value.score for value in book.header.outcomes], np.float64)
    for part, indices in streaming.pieces(book, renamed):
        states: States = np.asarray(part, object if book.header.state_bytes else np.int64)
        scores: Worths = palette[np.asarray(indices, np.int64)]
        yield states, scores, 3 * board.tiers(states) + np.sign(scores).astype(np.int64) + 1


def by_play(board: Board, number: int, *, seed: int = 0) -> States:
    """Distinct unfinished states of random play from the start, as evenly from each ply as there are any.

    Raises MethodError where they are too few.
    """
    rules, draw = board.rules, np.random.default_rng(seed)
    plies: list[States] = []
    games = max(64, number // 4)
    for _ in range(8):
        for ply, states in enumerate(_random_play(board, games, draw)):
            if ply == MAX_PLIES:
                break
            if ply == len(plies):
                plies.append(states[:0])
            plies[ply] = np.union1d(plies[ply], states)
        # As many of each ply, none twice: of two plies that have a state the earlier
        seen, parts = plies[0][:0], []
        for states in plies:
            parts.append(np.setdiff1d(states, seen, assume_unique=True))
            seen = np.union1d(seen, states)
        shares = _shares({ply: len(part) for ply, part in enumerate(parts)}, number)
        found = np.concatenate([draw.choice(parts[ply], share, replace=False) for (ply, _), share in shares])
        if len(found) == number:
            break
        games *= 2
    if len(found) < MIN_STATES:
        raise MethodError(f"{rules.name} has {len(found)} states by random play, too few to learn from")
    shuffled: States = draw.permutation(found)
    return shuffled


def openings(board: Board, number: int, *, seed: int = 0) -> States:
    """Return `number` different unfinished states in random order.

    They lie after as few random plies as lead to that many states. If no number of plies does, it is the most that any
    does.
    """
    draw = np.random.default_rng(seed)
    best = np.zeros(0, board.dtype)
    for states in _random_play(board, 8 * number, draw):
        distinct = np.unique(states)
        best = distinct if len(distinct) > len(best) else best
        if len(best) >= number:
            break
    chosen: States = draw.permutation(best)[:number]
    return chosen


def _random_play(board: Board, games: int, draw: np.random.Generator) -> Iterator[States]:
    """Yield the states of random games, ply by ply, of those that are not finished."""
    states = np.full(games, board.rules.game.initial(), board.dtype)
    while len(states):
        yield states
        children = board.children(states)
        begins = first_moves(children.parents, len(states))
        chosen = begins[:-1] + draw.integers(0, np.diff(begins))
        states = children.states[chosen][~children.ended[chosen]]


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
            sample = from_book(book, board, number, seed=seed, progress=progress)
            truth = truth_of(book)
        else:
            drawn = by_play(board, number, seed=seed)
            chooser = Chooser(rules.game, symmetry=rules.symmetry)
            sample = Sample(drawn, searched(chooser, rules, drawn, depth, progress))

            def truth(states: States) -> Any:
                # A move leads to states that a search of a ply less is for.
                found = searched(chooser, rules, states, max(1, depth - 1), silent)
                return found, np.ones(len(states), np.bool_)

        board.compare(sample.states)
        table, largest = board.tabulate(sample.states), float(np.abs(sample.scores).max()) or 1.0
        scores = sample.scores / largest
        share = len(scores) // (HELD + 2)
        fitted, held = slice(2 * share, None), slice(share, 2 * share)
        split = Split(table[fitted], scores[fitted], table[held], scores[held])
        model = fit(split, hidden, seed, progress)
        facts = {
            "source": "book" if book is not None else f"searches of depth {depth}",
            "model": f"network {'x'.join(map(str, hidden))}" if hidden else "linear",
            "seed": seed,
            "states": len(split.values),
            "steps": model.steps,
        }
        scale, game = largest / TARGET_SCALE if rules.scores else 1.0, rules.game
        evaluation = Evaluation(
            game_text(game), identity(game), board.features, "relu", model.layers, float(scale), facts, {}
        )
        unseen = Sample(sample.states[:share], sample.scores[:share])
        progress("judging", 0, 1)
        measured = {"states": share, **figures(board, guess_of(board, evaluation), unseen, truth)}
        if rules.evaluate is not None:
            own_figures = figures(board, board.guesses, unseen, truth)
            measured |= {f"evaluate_{name}": figure for name, figure in own_figures.items()}
        progress("judging", 1, 1)
        return evaluation._replace(figures=measured)
