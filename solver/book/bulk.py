"""Many look-ups in a book at once: states are sorted, and each segment is gone through once for all that lie in it.

Millions a second from an instant book, whatever is asked. A compact one inflates each group that is touched, 30 us; so
it takes some hundred states of a group to get there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.expectations import MIDDLE, Steps
from solver.base.memory import working_memory
from solver.base.value import Value
from solver.book.codecs.ranked import Ranks, symbols_of
from solver.book.segments import Segment, bodies_of
from solver.rules.game import Rules
from solver.store.shared import compiled

INTEGERS = "iu"  # kinds of dtype
MANY = 20_000  # states whose images are worth compiling the rules for


class Values(NamedTuple):
    """The values of many states, as arrays of the shape that was asked.

    `scores` int64, of expectations and in grown books float64; `distances` int64, -1 where they mean nothing; where
    `known` (bool) is False, the other two are 0 and -1 and say nothing.
    """

    scores: NDArray[np.int64] | NDArray[np.float64]
    distances: NDArray[np.int64]
    known: NDArray[np.bool_]


def places(
    states: Any, directory: Sequence[int], segment: Callable[[int], Any], find_all: Callable[..., None]
) -> NDArray[np.int64]:
    """The palette index of each state, -1 where it is missing; of the shape of `states`.

    `directory` has the first state of each segment, `segment(number)` is one, `find_all` its codec's. Raises TypeError
    for what is no array of integers, and whatever `segment` and `find_all` do.
    """
    asked = _integers(states)
    keys = asked.ravel()
    order = None if bool((keys[1:] >= keys[:-1]).all()) else np.argsort(keys)
    ordered = keys if order is None else keys[order]
    found = np.full(len(keys), -1, np.int64)
    ends = [*np.searchsorted(ordered, np.array(directory, np.int64)).tolist(), len(keys)]
    for number, (begin, end) in enumerate(zip(ends, ends[1:], strict=False)):
        if begin < end:
            find_all(arrays(segment(number)), ordered[begin:end], found[begin:end], compiled)
    if order is not None:
        unordered = np.empty_like(found)
        unordered[order] = found
        found = unordered
    return found.reshape(asked.shape)


def filled(
    found: NDArray[np.int64],
    states: Any,
    images: Callable[[NDArray[np.int64]], Any],
    places: Callable[[Any], NDArray[np.int64]],
    wide: bool = False,
) -> NDArray[np.int64]:
    """Places, of which those that are missing are looked up by the images of their states."""
    missing = found < 0
    found[missing] = places(images((pythons(states) if wide else _integers(states))[missing]))
    return found


def images_by(rules: Callable[[], Rules], image: Callable[[int], int]) -> Callable[[NDArray[np.int64]], Any]:
    """`image` of an array of states, by compiled rules where they are many and can be compiled."""

    def images(states: NDArray[np.int64]) -> Any:
        from solver.compiled import folding

        found = folding.images(rules(), states) if len(states) >= MANY and states.dtype != object else None
        return [*map(image, states.tolist())] if found is None else found

    return images


def one_by_one(states: Any, index: Callable[[int], int], wide: bool = False) -> NDArray[np.int64]:
    """`places` by a function of one state."""
    asked = pythons(states) if wide else _integers(states)
    return np.array([index(state) for state in asked.ravel().tolist()], np.int64).reshape(asked.shape)


def of_ranked(states: Any, ranks: Ranks, records: Iterable[bytes]) -> NDArray[np.int64] | None:
    """`places` in a ranked book by compiled rules, from all of its segments: a second for a hundred million ranks.

    None where states are few, the symbols do not fit into memory, a byte a rank, or the rules do not compile.
    """
    asked = _integers(states)
    if asked.size < MANY or ranks.plain_only:
        return None
    from solver.book.codecs.ranked_kernels import Compiled

    groups, room = [], working_memory(None) // 2
    for record in records:
        for body, first, size in bodies_of(record):
            groups.append((first, np.frombuffer(symbols_of(body, size), f"<u{size}")))
            room -= groups[-1][1].nbytes
        if room < 0:
            return None
    try:
        found = Compiled(ranks).indices(asked.ravel(), groups)
    except UncompiledRules:
        return None
    return found.reshape(asked.shape)


def pythons(states: Any) -> NDArray[Any]:
    """States of any width as an array of Python's ints. Raises TypeError."""
    asked = np.asarray(states, object)
    if not all(isinstance(state, (int, np.integer)) for state in asked.ravel()):
        raise TypeError("states are integers: give an array of them")
    return asked


def _integers(states: Any) -> NDArray[np.int64]:
    """States as an array; what is beyond 63 bits becomes negative, and so missing. Raises TypeError."""
    asked = np.asarray(states)
    if asked.dtype.kind not in INTEGERS and asked.size:
        raise TypeError(f"states are integers, not {asked.dtype}: give an array of them")
    return asked.astype(np.int64)


def arrays(segment: Segment) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint16], int]:
    """A segment as compiled code takes it."""
    view, firsts, starts, index_bytes = segment
    return _array(view, np.uint8), _array(firsts, np.int64), _array(starts, np.uint16), index_bytes


def _array(buffer: memoryview, dtype: Any) -> NDArray[Any]:
    """What cannot be written to, and lies as arrays do, so that one compiled function takes all segments."""
    array = np.require(np.frombuffer(buffer, dtype), requirements="A")
    array.flags.writeable = False
    return array


def values(indices: NDArray[np.int64], palette: Sequence[Value]) -> Values:
    """Scores, distances and which are known, of palette indices. Raises IndexError for one that is none."""
    if indices.size and not -1 <= int(indices.min()) <= int(indices.max()) < len(palette):
        raise IndexError("a value is outside the palette")
    known = indices >= 0
    if isinstance(palette, Steps):
        return Values(np.where(known, (indices - MIDDLE) * palette.step, 0.0), np.full_like(indices, -1), known)
    scores = np.array([*(score for score, _ in palette), 0])  # int64; of a grown book, estimates among them, float64
    distances = np.array([*(-1 if distance is None else distance for _, distance in palette), -1], np.int64)
    return Values(scores[indices], distances[indices], known)
