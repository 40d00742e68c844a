"""States in arrays: one word of 64 bits each, or as many as the bits of a game take, the lowest first.

An array of states is (n,) int64, of wide ones (n, words) int64. In a table of rows with other columns, too, the first
word of a state is its column, as it is where one does; the others lie behind BEYOND.

`extra_words` says which: a tuple with a zero for each word of a state beyond its first, and False behind them where
those are full, so that numbers take one more for their sign. It is a constant of bound kernels (`MORE`), and a type
wherever it is handed on, so that code for states of one word is the same as without all this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numba.core import types as nb
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from solver.compiled.operators import raised_to, widen, word_of
from solver.compiled.wide import WORD, Constant, Wide
from solver.rules.width import USUAL, words_of
from solver.store.shared import PART

MIXER = np.int64(-7046029254386353131)
BEYOND = 12  # columns of a row, at most, but for the words of wide states
COLUMNS = 3  # of states in a row, at most
OPTIONS: Any = {"forceinline": True, **PART}
Words = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., Any])


def more_of(bits: int) -> tuple[int, ...]:
    """Return `extra_words` for states of so many bits."""
    if bits <= USUAL:
        return ()
    words = words_of(bits)
    return (0,) * (words - 1) + ((False,) if bits == words * WORD else ())


def width_of(extra_words: tuple[int, ...]) -> int:
    """The width of the numbers that compiled rules compute with."""
    return WORD * (1 + len(extra_words))


def beyond(extra_words: tuple[int, ...]) -> int:
    """The words of a state beyond its first."""
    return sum(one is not False for one in extra_words)


def columns(used: int, extra_words: tuple[int, ...]) -> int:
    """The columns of rows that use so many, with the words of wide states behind them."""
    return BEYOND + COLUMNS * len(extra_words) if extra_words else used


def doubled(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows with as many empty ones behind them."""
    return np.concatenate([rows, np.zeros_like(rows)])


def packed(states: Sequence[int] | NDArray[Any], extra_words: tuple[int, ...]) -> Words:
    """States as an array."""
    if not extra_words:
        return np.ascontiguousarray(states, np.int64)
    size = 8 * (1 + beyond(extra_words))
    data = b"".join([int(state).to_bytes(size, "little") for state in states])
    return np.frombuffer(data, np.int64).reshape(-1, 1 + beyond(extra_words)).copy()


def unpacked(states: Words) -> list[int]:
    """The states of an array."""
    if states.ndim == 1:
        found: list[int] = states.tolist()
        return found
    data, size = np.ascontiguousarray(states).tobytes(), 8 * states.shape[1]
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def places(column: int, extra_words: tuple[int, ...]) -> list[int]:
    """The columns of the words of a state."""
    first = BEYOND + column * beyond(extra_words)
    return [column, *range(first, first + beyond(extra_words))]


def write_state(rows: Words, column: int, state: int, extra_words: tuple[int, ...]) -> None:
    """Put a state into the first row; for Python."""
    if extra_words:
        rows[0, places(column, extra_words)] = packed([state], extra_words)
    else:
        # A search begins with it: half of what the easiest ones took was an array of one
        rows[0, column] = state


def read_state(rows: Words, at: int, column: int, extra_words: tuple[int, ...]) -> int:
    """The state in a row; for Python."""
    return unpacked(rows[at : at + 1, places(column, extra_words)])[0]


def state_at(rows: Any, at: Any, column: Any, extra_words: Any) -> Any:
    """The state in a column of a row."""
    return rows[at, column]


def put_state(rows: Any, at: Any, column: Any, state: Any, extra_words: Any) -> None:
    """Write it."""
    rows[at, column] = state


@register_jitable(forceinline=True, **PART)
def copy_row(rows: Any, to: Any, source: Any, at: Any, used: Any, extra_words: Any) -> None:
    """Copy the first columns of a row, `used` of them, and the words of wide states behind them."""
    for column in range(used):
        rows[to, column] = source[at, column]
    for column in range(BEYOND, BEYOND + COLUMNS * len(extra_words)):
        rows[to, column] = source[at, column]


def state_in(states: Any, at: Any, extra_words: Any) -> Any:
    """One of an array of states."""
    return states[at]


def put_in(states: Any, at: Any, state: Any, extra_words: Any) -> None:
    """Write it."""
    states[at] = state


def is_missing(state: Any, extra_words: Any) -> Any:
    """Whether -1 was written in place of a state; of a state of nothing but ones it is said, too."""
    return state < 0


def told(state: Any, row: Any, extra_words: Any) -> Any:
    """A function that turns a state in one word into Python's: itself, or the row of a table that it is in."""
    return state


def word_count(number: Any) -> Any:
    """The words of a number."""
    return 1


def word_in(number: Any, place: Any) -> Any:
    """One of a number's words, as int64."""
    return number


@register_jitable(**OPTIONS)
def folded(state: Any) -> Any:
    """An int64 that stands for a state where it need not be told from all others: itself, or a mixture of its words."""
    mixed = word_in(state, 0)
    for place in range(1, word_count(state)):
        mixed = (mixed ^ mixed >> 29) * MIXER ^ word_in(state, place)
    return mixed


def in_place_of(plain: Any) -> Callable[[F], F]:
    """Return a decorator: Numba then compiles its function's result for the types, or the plain one for None."""

    def register(make: F) -> F:
        overload(plain, strict=False, jit_options=OPTIONS)(lambda *kinds: make(*kinds) or plain)
        return make

    return register


def where_wide(plain: Any) -> Callable[[Any], Any]:
    """Return a decorator like that of `in_place_of`, for a function whose last argument is `extra_words`, not empty."""
    return lambda make: in_place_of(plain)(lambda *kinds: make(*kinds) if len(kinds[-1]) else None)


@in_place_of(columns)
def _columns(used: Any, extra_words: Any) -> Any:
    rows = BEYOND + COLUMNS * len(extra_words)
    return (lambda used, extra_words: rows) if len(extra_words) else (lambda used, extra_words: used)


def _stored(extra_words: Any) -> int:
    """`beyond` by the type of `extra_words`."""
    return sum(isinstance(kind, nb.Integer) for kind in extra_words)


def _reader(extra_words: Any) -> Any:
    """A function that reads a wide state: its first word from `column`, the others from `behind` on."""
    extra, raised = _stored(extra_words), raised_to(WORD * (1 + len(extra_words)))

    @register_jitable(**OPTIONS)
    def read(rows: NDArray[Any], at: int, column: Any, behind: int) -> Any:
        state = raised(rows[at, column], 0)
        for place in range(extra):
            state |= raised(rows[at, behind + place], place + 1)
        return state

    return read


def _writer(extra_words: Any) -> Any:
    """A function that writes a wide state: its first word to `column`, the others from `behind` on."""
    extra, wide = _stored(extra_words), widen(WORD * (1 + len(extra_words)))

    @register_jitable(**OPTIONS)
    def write(rows: NDArray[Any], at: int, column: Any, behind: int, state: Any) -> None:
        number = wide(state)
        rows[at, column] = word_of(number, 0)
        for place in range(extra):
            rows[at, behind + place] = word_of(number, place + 1)

    return write


@where_wide(state_at)
def _state_at(rows: Any, at: Any, column: Any, extra_words: Any) -> Any:
    extra, read = _stored(extra_words), _reader(extra_words)
    return lambda rows, at, column, extra_words: read(rows, at, column, BEYOND + column * extra)


@where_wide(put_state)
def _put_state(rows: Any, at: Any, column: Any, state: Any, extra_words: Any) -> Any:
    extra, write = _stored(extra_words), _writer(extra_words)
    return lambda rows, at, column, state, extra_words: write(rows, at, column, BEYOND + column * extra, state)


@where_wide(state_in)
def _state_in(states: Any, at: Any, extra_words: Any) -> Any:
    read = _reader(extra_words)
    return lambda states, at, extra_words: read(states, at, 0, 1)


@where_wide(put_in)
def _put_in(states: Any, at: Any, state: Any, extra_words: Any) -> Any:
    write = _writer(extra_words)
    return lambda states, at, state, extra_words: write(states, at, 0, 1, state)


@in_place_of(is_missing)
def _is_missing(state: Any, extra_words: Any) -> Any:
    words = 1 + _stored(extra_words)
    if words == 1 + len(extra_words):
        return None
    ones = Constant.of((1 << WORD * words) - 1, WORD * (1 + len(extra_words)))
    return lambda state, extra_words: state < 0 or state == ones


@where_wide(told)
def _told(state: Any, row: Any, extra_words: Any) -> Any:
    return lambda state, row, extra_words: row


@in_place_of(word_count)
def _word_count(number: Any) -> Any:
    words = number.width // WORD if isinstance(number, Wide) else 1
    return lambda number: words


@in_place_of(word_in)
def _word_in(number: Any, place: Any) -> Any:
    return (lambda number, place: word_of(number, place)) if isinstance(number, Wide) else None
