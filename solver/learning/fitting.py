"""Models fitted to values by scikit-learn, as layers of an `Evaluation`.

A value v from -1 to 1 is told as `TARGET_SCALE` v, so that no finite estimate need be certain. The linear model is a
logistic regression in which each state is a win with weight (1 + v) / 2 and a loss with the rest, since tanh(z / 2)
is the expectation of -1 and 1 in a logistic model. The network is fitted to artanh v by least squares. Features are
centred and scaled for the fit, which the first layer then makes up for.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.progress import Progress, silent
from solver.compiled.lookahead.evaluation import Numbers

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

    table: NDArray[np.int16]
    values: NDArray[np.float64]
    held_table: NDArray[np.int16]
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

    ready = scaled(split.table), split.values, scaled(split.held_table), split.held_values
    # Sums in one order, whatever the number of cores
    with threadpool_limits(1):
        found = _network(*ready, hidden, seed, progress) if hidden else _linear(*ready, progress)
    weights, biases = found.layers[0]
    first = weights / spread[:, None]
    found.layers[0] = first.astype(np.float32), (biases - middle @ first).astype(np.float32)
    return found


def _linear(table: Any, values: Any, held: Any, held_values: Any, progress: Progress) -> Fit:
    from sklearn.linear_model import LogisticRegression

    wins = (1 + TARGET_SCALE * values) / 2
    both, outcomes = np.vstack([table, table]), np.repeat([1, 0], len(values))
    fits = []
    for tried, strength in enumerate(STRENGTHS):
        model = LogisticRegression(C=strength, max_iter=MOST_STEPS)
        model.fit(both, outcomes, sample_weight=np.concatenate([wins, 1 - wins]))
        layer = model.coef_.T.astype(np.float64) / 2, model.intercept_.astype(np.float64) / 2
        error = _error(np.tanh(held @ layer[0] + layer[1])[:, 0], held_values)
        fits.append(Fit([layer], int(model.n_iter_[0]), error))
        best = min(fits, key=operator.attrgetter("error"))
        progress("fitting", tried + 1, len(STRENGTHS), f"error {best.error:.4f}")
    return best


def _network(
    table: Any, values: Any, held: Any, held_values: Any, hidden: tuple[int, ...], seed: int, progress: Progress
) -> Fit:
    from sklearn.neural_network import MLPRegressor

    model = MLPRegressor(
        hidden_layer_sizes=hidden,
        activation="relu",
        batch_size=min(BATCH_ROWS, len(values)),
        learning_rate_init=RATE,
        random_state=seed,
    )
    aims = np.arctanh(TARGET_SCALE * values).astype(np.float32)
    best, waited = Fit([], 0, np.inf), 0
    for epoch in range(1, EPOCHS + 1):
        model.partial_fit(table, aims)
        error = _error(np.tanh(model.predict(held)), held_values)
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
