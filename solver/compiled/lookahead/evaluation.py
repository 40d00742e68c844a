"""A learned evaluation, and its file.

An evaluation maps the features of a state to an estimate of its score for the side to move: layers one after the other,
`x @ weights + biases`, between two layers `tanh` or `relu`, behind the last one `tanh`. So an estimate lies strictly
between -1 and 1 (`LIMIT`); in a score game it is the margin as a part of `scale`.

    "solver.eval" and a zero | u32 version, little-endian | 32 bytes sha256 of the rest | a msgpack map of the fields
    below; a layer is (inputs, outputs, weights and biases as little-endian float32)

A file is data: reading one loads numbers and texts, and runs nothing that it names.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import numpy as np
from numpy.typing import ArrayLike, NDArray

from solver.base.errors import BookError, DamagedBook, ForeignBook, reason
from solver.base.files import open_input, read_input, write_whole
from solver.check.soundness import MOST_FEATURES
from solver.rules.fingerprint import Origin, check_origin, fingerprint
from solver.rules.game import RULES, Game, game_text, is_built_in, load_game, rules_at_hand

MAGIC = b"solver.eval\0"
LAYOUT = 1  # of what is behind HEAD
HEAD = struct.Struct("<12sI32s")
ACTIVATIONS = ("tanh", "relu")
LIMIT = 0.999999  # of estimates: a finished game is worth more, to float32, too
MOST_LAYERS = 4
MOST_UNITS = 1024  # of a layer
MOST_BYTES = 1 << 25  # of a file
PLAIN = {type(None), int, float, bool, str}  # kinds of facts
MOST_TEXT = 8192
MOST_WEIGHT = 1e6  # with which no sum of four layers is infinite
FEATURES = ("features",)  # what the fingerprint is over besides the rules
Numbers = NDArray[np.float32]
Facts = dict[str, Any]


class Evaluation(NamedTuple):
    """A model of a game's values.

    `game` is the game's string, `rules` the fingerprint of its rules and features, `features` their number. `layers`
    are pairs of weights (inputs, outputs) and biases (outputs,), both float32; the last has one output, a linear model
    that layer alone. `scale` is 1, in a score game the margin that an estimate of 1 stands for. `training` says how it
    was made, `figures` the measurements on states that it never saw: texts and numbers.
    """

    game: str
    rules: str
    features: int
    activation: str
    layers: list[tuple[Numbers, Numbers]]
    scale: float
    training: Facts
    figures: Facts

    def shape(self) -> list[int]:
        """The width of each layer, from the features to the one output."""
        return [self.features, *(len(biases) for _, biases in self.layers)]


def estimates(evaluation: Evaluation, table: ArrayLike) -> NDArray[np.float64]:
    """The estimates (n,) float64 of states by their features (n, features)."""
    # No sum exceeds this
    unit_values = np.asarray(table, np.float64)
    for weights, biases in evaluation.layers[:-1]:
        unit_values = unit_values @ weights + biases
        unit_values = np.tanh(unit_values) if evaluation.activation == "tanh" else np.maximum(unit_values, 0)
    weights, biases = evaluation.layers[-1]
    return np.clip(np.tanh(unit_values @ weights + biases)[:, 0], -LIMIT, LIMIT)


def identity(game: Game) -> str:
    """The fingerprint that an evaluation of the game has."""
    return fingerprint(game, FEATURES)


def game_of(evaluation: Evaluation, game: Game | None = None) -> Game:
    """The game of an evaluation. Raises ForeignBook if its rules or features are others, or need `game`."""
    if game is None:
        game = load_game(evaluation.game) if is_built_in(evaluation.game) else rules_at_hand(evaluation.game)
    if game is None:
        raise ForeignBook(f"this evaluation is of {evaluation.game}: name its file with --game, or in {RULES}")
    made_by, wanted = Origin(evaluation.game, evaluation.rules), Origin(game_text(game), identity(game))
    check_origin("the evaluation", made_by, wanted, "learn it again")
    return game


def write(path: str | os.PathLike[str], evaluation: Evaluation) -> None:
    """Write an evaluation, whole or not at all; equal ones make equal bytes. Raises BookError, ResourceError."""
    _check(evaluation)
    body = msgpack.packb({**evaluation._asdict(), "layers": [_packed(*layer) for layer in evaluation.layers]})
    write_whole(path, HEAD.pack(MAGIC, LAYOUT, hashlib.sha256(body).digest()) + body)


def _packed(weights: Numbers, biases: Numbers) -> tuple[int, int, bytes, bytes]:
    return *weights.shape, weights.astype("<f4").tobytes(), biases.astype("<f4").tobytes()


def is_evaluation(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as an evaluation does."""
    with open_input(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path: str | os.PathLike[str]) -> Evaluation:
    """The evaluation of a file. Raises BookError, ForeignBook or DamagedBook, in one line."""
    name = Path(path).name
    try:
        content = read_input(path, MOST_BYTES)
    except OSError as error:
        raise BookError(f"{name} cannot be read ({error.strerror}): name a file that `solver learn` wrote") from None
    if len(content) < len(MAGIC) or content[: len(MAGIC)] != MAGIC:
        raise ForeignBook(f"{name} is not an evaluation: name a file that `solver learn` wrote")
    if len(content) <= HEAD.size:
        raise DamagedBook(f"{name} is truncated: learn it again")
    _, version, digest = HEAD.unpack_from(content)
    body = content[HEAD.size :]
    if version != LAYOUT:
        raise ForeignBook(f"{name} is of version {version}, this package reads {LAYOUT}: learn it again")
    if hashlib.sha256(body).digest() != digest:
        raise DamagedBook(f"{name} is damaged, its checksum is wrong: learn it again")
    try:
        fields = msgpack.unpackb(body, max_map_len=64, max_array_len=64)
        layers = []
        for inputs, outputs, *packed in fields["layers"]:
            if type(inputs) is not int or type(outputs) is not int or inputs < 1 or outputs < 1:
                raise ValueError("a layer has no size")
            weights, biases = (np.frombuffer(array, "<f4").astype(np.float32) for array in packed)
            layers.append((weights.reshape(inputs, outputs), biases))
        evaluation = Evaluation(**{**fields, "layers": layers})
        _check(evaluation)
    except (ValueError, TypeError, KeyError, RecursionError, msgpack.UnpackException) as error:
        raise DamagedBook(f"{name} is damaged ({reason(error)}): learn it again") from None
    return evaluation


def _check(evaluation: Evaluation) -> None:
    """Raise ValueError where an evaluation contradicts itself."""
    if not all(type(text) is str and len(text) <= MOST_TEXT for text in (evaluation.game, evaluation.rules)):
        raise ValueError("its game or its rules are not text")
    if evaluation.activation not in ACTIVATIONS:
        raise ValueError("its activation is unknown")
    if type(evaluation.features) is not int or not 0 < evaluation.features <= MOST_FEATURES:
        raise ValueError("its number of features is out of range")
    if not 0 < len(evaluation.layers) <= MOST_LAYERS:
        raise ValueError("it has too many layers, or none")
    inputs = evaluation.features
    for weights, biases in evaluation.layers:
        if weights.shape != (inputs, len(biases)) or not 0 < len(biases) <= MOST_UNITS:
            raise ValueError("its layers do not fit together")
        if not all((np.abs(array) <= MOST_WEIGHT).all() for array in (weights, biases)):  # nor NaN
            raise ValueError(f"a weight is not a number up to {MOST_WEIGHT:,.0f}")
        inputs = len(biases)
    if inputs != 1:
        raise ValueError("its last layer has more than one output")
    if type(evaluation.scale) is not float or not 0 < evaluation.scale < 1 << 62:
        raise ValueError("its scale is out of range")
    for facts in (evaluation.training, evaluation.figures):
        named = type(facts) is dict and {*map(type, facts)} <= {str} and {*map(type, facts.values())} <= PLAIN
        if not named or any(type(fact) is str and len(fact) > MOST_TEXT for fact in facts.values()):
            raise ValueError("what it says of its training is not a list of facts")
