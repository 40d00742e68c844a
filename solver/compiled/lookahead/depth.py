"""The questions that a search of limited depth asks the rules: moves, children, and estimates of the last ply.

This is all of it that is compiled for each game; `deepening`, compiled once, calls `list_moves` at its address.

A merit is a float64 here: a win or loss as in `solver.base.value`, a margin, or an estimate, which in a win-lose-draw
game lies strictly between -1 and 1.

A model weighs a state as numbers: the game's own `features`, or else the bits of the state. These are its cells, one
bit or a few each, in most games; in two sets, one for each player to move, where the game has `to_move`. Features are
those of the image that `canonical` takes, so that symmetric states have the same.

`settling` searches many states to a depth of one or two plies: `solver.search.derive` for arrays of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numba import types as nb
from numba.extending import intrinsic, register_jitable

from solver.base import value
from solver.compiled.binding import bind, compiling, inlined, kernel, respelled
from solver.compiled.edges import address_of, caller, lift, terminal_merit
from solver.compiled.exact.moves import key_of, sign_of
from solver.compiled.lookahead.evaluation import LIMIT, Evaluation
from solver.compiled.states import Words, columns, put_state, state_at, state_in, told
from solver.rules.game import Rules
from solver.rules.width import USUAL
from solver.search import SearchStatus
from solver.store.addresses import borrowed
from solver.store.shared import PART, shared

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = BOUNDS = FEATURES = PROMISES = False
MORE = ()
BITS = USUAL  # of a state
WIN = value.WIN
LARGEST = 1 << 53  # above all merits that a float64 holds exactly
MOST_LEFT = 1 << 30  # plies that an ended game may still take

# columns of `frames`, the plies of the path
Frame = IntEnum("Frame", "STATE KEY LEFT FIRST END UNTRIED ROW BEST_ROW CUT SCOUTS OPEN KILLER", start=0)
FRAME = 12
Window = IntEnum("Window", "ALPHA BETA BEST", start=0)  # columns of `windows`
WINDOW = 4
Move = IntEnum("Move", "CHILD CODE ACTION SIGN GAIN PROMISE", start=0)  # of `moves`, the children of all plies
MOVE = 6
TAKEN = -(1 << 63)  # the promise of a move that needs no search any more
FOREMOST = (1 << 63) - 1  # the promise of the table's move

# fields of `search`, which outlives a call: a call that ran out of its allowance goes on where it stopped
Field = IntEnum("Field", "PLY COUNT CHOICE CULPRIT PLACE", start=0)
FIELDS = 8


class Path(NamedTuple):
    """The line of play that a search is at, in its arrays.

    frames (plies, FRAME) int64, windows (plies, WINDOW) float64, moves (n, MOVE) int64, search (FIELDS,) int64.
    """

    frames: Any
    windows: Any
    moves: Any
    search: Any


def new_path(extra_words: tuple[int, ...]) -> Path:
    """An empty line of play, with room for some plies."""
    return Path(
        np.zeros((64, columns(FRAME, extra_words)), np.int64),
        np.zeros((64, WINDOW), np.float64),
        np.zeros((4096, columns(MOVE, extra_words)), np.int64),
        np.zeros(FIELDS, np.int64),
    )


class Model(NamedTuple):
    """Layers as arrays; without any the rules' own `evaluate` is asked.

    Attributes:
        shape: The width of each layer, from the features to the one output, or (0,). (layers + 1,) int64.
        weights: Of each layer (inputs, outputs) row by row, and then its biases. float32.
        relu: Whether that stands between layers, instead of tanh.
        scale: The value that an output of 1 stands for.
        inputs, units: Room to work in: the features of a state, int64, and two layers, float64. So each thread needs
            a model of its own, see `copy`.
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


MODEL = nb.NamedTuple([nb.int64[::1], nb.float32[::1], nb.boolean, nb.float64, nb.int64[::1], nb.float64[::1]], Model)


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
def weighed(shape: Words, weights: Any, relu: bool, inputs: Words, units: Any) -> Any:
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


@inlined
def end_merit(state: Any) -> Any:
    """A terminal state's merit, or NaN."""
    utility = game.utility(state)
    if SCORES:
        return float(utility) if -LARGEST < utility < LARGEST else np.nan
    left = game.plies_left(state)
    return float(utility * (WIN - left)) if -1 <= utility <= 1 and 0 <= left < MOST_LEFT else np.nan


@inlined
def features(state: Any, out: Words) -> Any:
    """The features of an unfinished state, folded already, into out (n,) int64, as many as fit; how many there are."""
    count = 0
    if FEATURES:
        for number in game.features(state):
            if count < len(out):
                out[count] = number
            count += 1
        return count
    mover = 0 if ALTERNATES or AGAIN else game.to_move(state)
    count = BITS if ALTERNATES or AGAIN else 2 * BITS
    for index in range(min(count, len(out))):
        out[index] = state >> index % BITS & 1 & (index // BITS == mover)
    return count


@inlined
def estimate(state: Any, model: Any) -> Any:
    """The estimate of an unfinished state; NaN if that is out of bounds, or the model one of other features.

    A model is asked of the image that stands for all symmetric ones, so that they are all taken for the same.
    """
    shape, weights, relu, scale, inputs, units = model
    learned = len(shape) > 0
    if learned:
        if features(key_of(state), inputs) != len(inputs):
            return np.nan
        guess = weighed(shape, weights, relu, inputs, units) * scale
    else:
        guess = float(game.evaluate(state))
    if not SCORES:
        return guess if -1 < guess < 1 else np.nan
    if BOUNDS:
        lower, upper = game.bounds(state)
        # A learned evaluation knows no bounds
        if learned:
            return float(lower) if guess < lower else float(upper) if guess > upper else guess
        return guess if lower <= guess <= upper else np.nan
    return guess if -LARGEST < guess < LARGEST else np.nan


@register_jitable(forceinline=True, **PART)
def lifted(merit: float, sign: int, gain: int, scores: bool) -> Any:
    """A child's merit as its parent sees it; estimates are as good one ply earlier."""
    if not scores:
        if merit >= 1:
            merit -= 1
        elif merit <= -1:
            merit += 1
    return sign * merit + gain


@inlined
def write_move(moves: Words, row: int, state: Any, action: Any, child: Any, final: Any) -> None:
    """The action's row, but for its promise."""
    put_state(moves, row, Move.CHILD, child, MORE)
    moves[row, Move.ACTION] = action
    moves[row, Move.SIGN] = sign_of(state, action, child)
    moves[row, Move.GAIN] = game.reward(state, action) if REWARD else np.int64(0)
    if not final:
        put_state(moves, row, Move.CODE, key_of(child), MORE)


@kernel
def list_moves(path: Any, model: Any, ply: int, wanted: int) -> Any:
    """Go through the moves of a frame's state: those that need no search go to the frame.

    Those need none that end the game or come with the last ply; the others are written to `moves`. wanted: the action
    to be searched first, or -1. Returns DONE or OPENED; NO_ROOM, OUTSIDE or STUCK.
    """
    frames, windows, moves, search = path
    frames, windows, moves, search = borrowed(frames), borrowed(windows), borrowed(moves), borrowed(search)
    shape, weights, relu, scale, inputs, units = model
    model = Model(borrowed(shape), borrowed(weights), relu, scale, borrowed(inputs), borrowed(units))
    state, last, left = state_at(frames, ply, Frame.STATE, MORE), frames[ply, Frame.FIRST], frames[ply, Frame.LEFT]
    beta = windows[ply, Window.BETA]
    best, best_row, untried, nodes, cut = -np.inf, np.int64(-1), 0, 0, 0
    for action in game.actions(state):
        if last >= len(moves):
            return SearchStatus.NO_ROOM
        child = game.result(state, action)
        write_move(moves, last, state, action, child, left <= 2)
        moves[last, Move.PROMISE] = TAKEN
        ended = game.is_terminal(child)
        if ended or left == 1:
            nodes += 1
            if ended:
                merit = end_merit(child)
            else:
                cut = 1
                merit = estimate(child, model)
            if merit != merit:
                search[Field.CULPRIT] = told(child, last, MORE)
                return SearchStatus.OUTSIDE
            merit = lifted(merit, moves[last, Move.SIGN], moves[last, Move.GAIN], SCORES)
            if merit > best:
                best, best_row = merit, last
                if best >= beta:
                    untried = 0
                    last += 1
                    break
        else:
            untried += 1
            is_killer = action + 1 == frames[ply, Frame.KILLER]
            moves[last, Move.PROMISE] = game.promise(state, action) if PROMISES else is_killer
            if action == wanted:
                moves[last, Move.PROMISE] = FOREMOST
        last += 1
    search[Field.COUNT] += nodes
    search[Field.CULPRIT] = told(state, -1, MORE)
    frames[ply, Frame.END], frames[ply, Frame.UNTRIED] = last, untried
    frames[ply, Frame.BEST_ROW], frames[ply, Frame.CUT] = best_row, cut
    windows[ply, Window.BEST] = best
    if untried:
        return SearchStatus.OPENED
    return SearchStatus.DONE if last > frames[ply, Frame.FIRST] else SearchStatus.STUCK


@kernel
def list_tiers(states: Words, answers: Words) -> None:
    """Write the tiers (n,) int64 of states, 0 where the rules know none."""
    for i in range(len(states)):
        answers[i] = game.tier(state_in(states, i, MORE))


# The estimates (n,) float64 of unfinished states, 0 without `evaluate`
guess: Any = respelled(list_tiers, "guess", {"tier": "evaluate"})


@kernel
def tabulate(states: Words, table: Words) -> bool:
    """Write the features of unfinished states to the rows of a table, (n, features) int16.

    Returns False if a state has more or fewer features.
    """
    out = np.empty(table.shape[1], np.int64)
    for i in range(len(states)):
        state = state_in(states, i, MORE)
        if features(game.canonical(state) if FOLDS else state, out) != table.shape[1]:
            return False
        for index in range(len(out)):
            table[i, index] = out[index]
    return True


@kernel
def unsettled(states: Words, merits: Any, plies: int, most: Any, kept: Any) -> Any:
    """Mark in kept (n,) bool the unfinished states (n,) that a search of 1 or 2 plies does not settle.

    Returns the first state whose merit, as settled, is not merits (n,) int64; else -1.
    """
    for i in range(len(states)):
        low, high = _range_of_two(states[i], most) if plies == 2 else _range_of_one(states[i], most)
        kept[i] = low != high
        if low == high and low != merits[i]:
            return states[i]
    return np.int64(-1)


@kernel
def _anything(state: Any, most: Any) -> tuple[Any, Any]:
    return -most, most


@kernel
def _range_of_one(state: Any, most: int) -> tuple[Any, Any]:
    low: Any = np.int64(-(1 << 62))
    high: Any = low
    for action in game.actions(state):
        child = game.result(state, action)
        if game.is_terminal(child):
            worst = best = terminal_merit(game.utility(child), game.plies_left(child), SCORES, WIN)
        else:
            worst, best = _anything(child, most)
        same, gain = sign_of(state, action, child) > 0, game.reward(state, action) if REWARD else 0
        worst, best = lift(worst, same, SCORES) + gain, lift(best, same, SCORES) + gain
        low, high = max(low, min(worst, best)), max(high, max(worst, best))
        if low == most:
            break
    return low, high


_range_of_two = respelled(_range_of_one, "_range_of_two", {"_anything": "_range_of_one"})


PATH = nb.NamedTuple([nb.int64[:, ::1], nb.float64[:, ::1], nb.int64[:, ::1], nb.int64[::1]], Path)
LIST_MOVES = (PATH, MODEL, nb.int64, nb.int64)


@intrinsic
def list_moves_at(typingctx: Any, address: Any, path: Any, model: Any, ply: Any, wanted: Any) -> Any:
    """`list_moves` at its address; an error goes on."""
    return nb.int64(nb.int64, *LIST_MOVES), caller(nb.int64, LIST_MOVES)


def list_moves_of(rules: Rules) -> tuple[Any, int]:
    """Return `list_moves` of one game, compiled, and its address, which is valid as long as it lives."""
    compiled = bind(sys.modules[__name__], rules.game, rules.symmetry, tiers=False).list_moves
    return compiled, address_of(compiled, LIST_MOVES)


def settling(rules: Rules, plies: int, merits: list[int]) -> Callable[[Any], tuple[Any, int]]:
    """Return a function that drops from a chunk the states that a short search settles.

    It takes a chunk, that is, arrays of states and of indices into `merits`. It returns the states left, and the
    first state that the search gives another merit than the book, or -1. UncompiledRules is raised when it is first
    called, at the latest.
    """
    kernels: Any = bind(sys.modules[__name__], rules.game, rules.symmetry, rules.scores)
    worth: Words = np.array(merits, np.int64)

    def left_of(chunk: Any) -> tuple[Any, int]:
        states, indices = chunk
        is_kept = np.empty(len(states), np.bool_)
        with compiling(rules.game):
            wrong = kernels.unsettled(states, worth[indices], plies, rules.kind.most, is_kept)
        return (states[is_kept], indices[is_kept]), int(wrong)

    return left_of


def by_tier(rules: Rules, states: Any) -> list[int]:
    """Return the places of states, those of lower tiers first, else in their order. Raises UncompiledRules."""
    numbers = np.asarray(states, np.int64)
    tiers = np.empty(len(numbers), np.int64)
    with compiling(rules.game):
        bind(sys.modules[__name__], rules.game).list_tiers(numbers, tiers)
    places: list[int] = np.argsort(tiers, kind="stable").tolist()
    return places
