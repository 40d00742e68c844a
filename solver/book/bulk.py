"""Many look-ups in a book at once: states are sorted, and each segment is gone through once for all that lie in it.

Millions a second from an instant book, whatever is asked. A compact one inflates each group that is touched, 30 us; so
it takes some hundred states of a group to get there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError, MissingState, StateTypeError, UncompiledRules
from solver.base.expectations import MIDDLE, Steps
from solver.base.extras import PLAIN_LIMIT, working_memory
from solver.base.value import Value
from solver.book.mapping import Segment
from solver.rules.game import STATE_LIMIT, Rules
from solver.rules.width import as_integer
from solver.store.shared import compiled

INTEGERS = "iu"  # kinds of dtype
NO_SCORE = np.iinfo(np.int64).min  # under the mask: nobody takes it for a draw
NO_NUMBER = np.nan  # the same of scores that are floats


class Values(NamedTuple):
    """The values of many states, as arrays of the shape that was asked.

    `scores` int64, of expectations and in grown books float64; `distances` int64, -1 where they mean nothing. `known`
    (bool) is False where the book lacks the state: the score there is -2**63, or NaN among floats, and says nothing.
    """

    scores: NDArray[np.int64] | NDArray[np.float64]
    distances: NDArray[np.int64]
    known: NDArray[np.bool_]


def asked(states: Any, wide: bool = False) -> NDArray[Any]:
    """Return states as a new array: of int64, or of Python's own ints if they may be `wide`.

    In int64 a number that does not fit becomes negative, and no book has such a state.

    Raises:
        StateTypeError: where one of them is not an integer.
    """
    try:
        array = np.asarray(states, object if wide else None)
    except ValueError as error:
        # Rows of different lengths
        raise StateTypeError(f"states are one array of integers: {error}") from None
    if array.dtype.kind in INTEGERS:
        return array.astype(np.int64)
    # NumPy makes floats of lists that mix signed numbers and those from 2**63 on: so each number is looked at
    numbers = [as_integer(number) for number in np.asarray(states, object).ravel().tolist()]
    if not wide:
        numbers = [number if 0 <= number < STATE_LIMIT else -1 for number in numbers]
    return np.array(numbers, object if wide else np.int64).reshape(array.shape)


def check_known(values: Values, states: Any, name: str) -> None:
    """Raise MissingState, which counts the states that the book of that name lacks and names the first."""
    missing = ~values.known.ravel()
    if missing.any():
        first_missing = np.asarray(states, object).ravel()[int(missing.argmax())]
        raise MissingState(
            f"{name} lacks {int(missing.sum()):,} of {missing.size:,} states, the first is {first_missing} (no book"
            ' stores finished ones): lookup(states, missing="mask") marks them'
        )


def places(
    queried: NDArray[np.int64], directory: Sequence[int], segment: Callable[[int], Any], find_all: Callable[..., None]
) -> NDArray[np.int64]:
    """The palette index of each state, -1 where it is missing; of the shape of the states.

    `directory` has the first state of each segment, `segment(number)` is one, `find_all` its codec's. Raises whatever
    `segment` and `find_all` do.
    """
    keys = queried.ravel()
    order = None if bool((keys[1:] >= keys[:-1]).all()) else np.argsort(keys)
    ordered = keys if order is None else keys[order]
    indices = np.full(len(keys), -1, np.int64)
    ends = [*np.searchsorted(ordered, np.array(directory, np.int64)).tolist(), len(keys)]
    for number, (begin, end) in enumerate(zip(ends, ends[1:], strict=False)):
        if begin < end:
            find_all(arrays(segment(number)), ordered[begin:end], indices[begin:end], compiled)
    if order is not None:
        unordered = np.empty_like(indices)
        unordered[order] = indices
        indices = unordered
    return indices.reshape(queried.shape)


def images(states: NDArray[Any], rules: Callable[[], Rules], image: Callable[[int], int]) -> NDArray[Any]:
    """`image` of an array of states, by compiled rules where they are many and can be compiled."""
    if len(states) >= PLAIN_LIMIT and states.dtype != object:
        from solver.compiled import edges
        from solver.compiled.binding import bind, compiling

        game, folded = rules().game, np.empty_like(states)
        # Some rules do not compile, or do not bear the states
        with contextlib.suppress(GameError), compiling(game):
            bind(edges, game).fold(states, folded)
            return folded
    return np.array([*map(image, states.tolist())], states.dtype)


def one_by_one(queried: NDArray[Any], index: Callable[[int], int]) -> NDArray[np.int64]:
    """`places` by a function of one state."""
    return np.array([index(state) for state in queried.ravel().tolist()], np.int64).reshape(queried.shape)


def of_ranked(queried: NDArray[np.int64], ranks: Any, records: Iterable[bytes]) -> NDArray[np.int64] | None:
    """`places` in a ranked book by compiled rules, from all of its segments: a second for a hundred million ranks.

    None where states are few, the symbols do not fit into memory, a byte a rank, or the rules do not compile.
    """
    if queried.size < PLAIN_LIMIT or ranks.plain_only:
        return None
    from solver.book.codecs.ranked_kernels import Compiled, groups_in

    groups, room = [], working_memory(None) // 2
    for group in groups_in(records):
        groups.append(group)
        room -= group[1].nbytes
        if room < 0:
            return None
    try:
        indices = Compiled(ranks).indices(queried.ravel(), groups)
    except UncompiledRules:
        return None
    return indices.reshape(queried.shape)


def arrays(segment: Segment) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint16], int]:
    """A segment as compiled code takes it."""
    view, firsts, starts, index_bytes = segment
    return _array(view, np.uint8), _array(firsts, np.int64), _array(starts, np.uint16), index_bytes


def _array(buffer: memoryview, dtype: Any) -> NDArray[Any]:
    """Return a read-only array of a buffer, in the usual layout, so that one compiled function takes all segments."""
    array = np.require(np.frombuffer(buffer, dtype), requirements="A")
    array.flags.writeable = False
    return array


def values(indices: NDArray[np.int64], palette: Sequence[Value]) -> Values:
    """Scores, distances and which are known, of palette indices. Raises ValueError for one outside the palette."""
    if indices.size and not -1 <= int(indices.min()) <= int(indices.max()) < len(palette):
        raise ValueError("a value is outside the palette")
    known = indices >= 0
    if isinstance(palette, Steps):
        scores = np.where(known, (indices - MIDDLE) * palette.step, NO_NUMBER)
        return Values(scores, np.full_like(indices, -1), known)
    # int64; of a grown book, estimates among them, float64
    scores = np.array([*(score for score, _ in palette), 0])
    scores[-1] = NO_SCORE if scores.dtype.kind in INTEGERS else NO_NUMBER
    distances = np.array([*(-1 if distance is None else distance for _, distance in palette), -1], np.int64)
    return Values(scores[indices], distances[indices], known)
