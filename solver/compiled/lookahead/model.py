"""A learned evaluation in compiled code: its numbers as arrays, so that one kernel serves all models of a game."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types as nb
from numpy.typing import NDArray

from solver.compiled.lookahead.evaluation import LIMIT, Evaluation
from solver.store.shared import shared


class Model(NamedTuple):
    """Layers as arrays; without any the rules' own `evaluate` is asked.

    shape (layers + 1,) int64: the width of each layer, from the features to the one output, or (0,); weights float32,
    of each layer (inputs, outputs) row by row and then its biases; relu: between layers, instead of tanh; scale: the
    value that an output of 1 stands for. inputs and units are room to work in: the features of a state, int64, and
    two layers, float64; so each thread needs a model of its own, see `copy`.
    """

    shape: Any
    weights: Any
    relu: bool
    scale: float
    inputs: Any
    units: Any

    def copy(self) -> Model:
        """The same with room of its own."""
        return self._replace(inputs=self.inputs.copy(), units=self.units.copy())


MODEL = nb.NamedTuple(
    [
        *(nb.Array(nb.int64, 1, "C"), nb.Array(nb.float32, 1, "C"), nb.boolean, nb.float64),
        *(nb.Array(nb.int64, 1, "C"), nb.Array(nb.float64, 1, "C")),
    ],
    Model,
)


def model_of(evaluation: Evaluation) -> Model:
    """A learned evaluation as arrays."""
    return new_model(evaluation.layers, evaluation.activation, evaluation.scale)


def new_model(layers: Sequence[tuple[Any, Any]] = (), activation: str = "tanh", scale: float = 1.0) -> Model:
    """The model of layers of weights (inputs, outputs) and biases (outputs,); `activation` is tanh or relu."""
    arrays = [np.asarray(array, np.float32).ravel() for layer in layers for array in layer]
    weights = np.concatenate(arrays) if arrays else np.empty(0, np.float32)
    widths = [len(layers[0][0]), *(len(biases) for _, biases in layers)] if layers else []
    widest = max(widths, default=0)
    shape, inputs = np.array(widths, np.int64), np.zeros(widths[0] if widths else 0, np.int64)
    return Model(shape, weights, activation == "relu", float(scale), inputs, np.zeros(2 * widest, np.float64))


@shared
def weighed(shape: NDArray[Any], weights: NDArray[Any], relu: bool, inputs: NDArray[Any], units: NDArray[Any]) -> Any:
    """Return the output of the layers for the inputs, from -LIMIT to LIMIT."""
    width = shape[0]
    if len(shape) == 2:
        total = np.float64(weights[width])
        for i in range(width):
            total += weights[i] * inputs[i]
        return max(-LIMIT, min(LIMIT, math.tanh(total)))
    offset, room = 0, len(units) >> 1
    for i in range(width):
        units[i] = inputs[i]
    source, target = 0, room
    for layer in range(1, len(shape)):
        outputs = shape[layer]
        for j in range(outputs):
            units[target + j] = weights[offset + width * outputs + j]
        for i in range(width):
            number = units[source + i]
            if number != 0:
                for j in range(outputs):
                    units[target + j] += number * weights[offset + i * outputs + j]
        offset += (width + 1) * outputs
        if layer + 1 < len(shape):
            for j in range(outputs):
                number = units[target + j]
                units[target + j] = max(0.0, number) if relu else math.tanh(number)
        width = outputs
        source, target = target, source
    return max(-LIMIT, min(LIMIT, math.tanh(units[source])))
