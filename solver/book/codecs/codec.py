"""The record that describes a codec: how the states of a group and their values are encoded, and its keys.

Keys are the states themselves, or numbers that the rules make of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from solver.base.errors import BookError
from solver.base.value import Value
from solver.book.solution import Part
from solver.rules.game import Rules
from solver.rules.numbering import bound
from solver.rules.width import refuse_wide, words_of

INDEX_FORMATS = ("", "B", "H", "", "I")

Index = Callable[[int], int | None]  # the palette index that a book has under a key, or None
Lists = tuple[list[int], list[int]]
Find = Callable[[Any, int], int | None]
Groups = tuple[Any, list[int], list[int]]  # one after the other, the states of each, the bytes of each


class Machine(NamedTuple):
    """Where encoders run: as plain Python over lists (`PLAIN`), or compiled over arrays (`arrays.ARRAYS`).

    compiled: Compile a function that calls these helpers.
    new_bytes, new_integers: Make room, all zero, for so many.
    packed: The bytes of indices, so many for each.
    """

    compiled: Callable[..., Any]
    new_bytes: Callable[[int], Any]
    new_integers: Callable[[int], Any]
    packed: Callable[[Any, int], bytes]


def unpacked(values: bytes, index_bytes: int) -> Sequence[int]:
    """Return the indices that `Machine.packed` made bytes of."""
    return struct.unpack(f"<{len(values) // index_bytes}{INDEX_FORMATS[index_bytes]}", values)


PLAIN = Machine(
    compiled=lambda function, *helpers: bound(function, {helper.__name__: helper for helper in helpers}),
    new_bytes=bytearray,
    new_integers=lambda size: [0] * size,
    packed=lambda indices, index_bytes: struct.pack(f"<{len(indices)}{INDEX_FORMATS[index_bytes]}", *indices),
)


class States:
    """Keys that are the states themselves, for which no rules are asked; codecs with others have a class like this.

    `rules` may be None where none are `ASKED`; `left`: the states that the book leaves out, 0 if it has not all
    states of a game without cycles.
    """

    ASKED: tuple[str, ...] = ()  # methods of the rules without which no state is found
    SPARE = 0  # symbols beside the palette's
    LEFT_OUT: tuple[int, ...] = (0,)  # what `Header.sparse` of a complete book without distances may be
    encode: Callable[..., Any] | None = None  # in place of the codec's `encode_chunk`
    plain_only = False  # the keys must not be compiled

    def __init__(self, rules: Rules | None, palette: Sequence[Value], left: int) -> None:
        self.palette = palette

    @classmethod
    def check(cls, rules: Rules, scope: str) -> None:
        """Raise BookError for a game, or so few of its states, that have no such keys."""
        refuse_wide(rules.name, rules.bits, "this codec", "leave --codec out", BookError)

    @classmethod
    def left_out(cls, rules: Rules) -> int:
        """Return which values a complete book without distances leaves out."""
        return 0

    @classmethod
    def check_left_out(cls, rules: Rules, sparse: int) -> None:
        """Raise DamagedBook if a book of these rules cannot leave out so much: its values would never be told."""

    def value(self, state: int, find: Index) -> Value | None:
        """The value of a state; `find(key)` is the index that the book has there, None for a key it lacks."""
        index = find(state)
        return None if index is None else self.palette[index]

    def index(self, state: int, find: Index) -> int:
        """The palette index of a state's value; -1 without one."""
        index = find(state)
        return -1 if index is None else index

    def states(self, keys: list[int], indices: list[int], find: Index) -> Lists:
        """The states under ascending keys of a book, and their palette indices."""
        return keys, indices

    def in_order(self, groups: Iterable[Lists]) -> Iterator[Lists]:
        """The states and indices of groups, ascending."""
        yield from groups

    def parts(self, chunks: Iterable[Part], block: int) -> Iterator[Part]:
        """Keys and indices, ascending, `block` at a time, of ascending states and indices."""
        states: list[int] = []
        indices: list[int] = []
        for more, places in chunks:
            states += as_list(more)
            indices += as_list(places)
            while len(states) >= block:
                yield states[:block], indices[:block]
                states, indices = states[block:], indices[block:]
        yield states, indices

    def told(self, state: int) -> list[str] | None:
        """Return, as text, which questions the rules answer about a state."""
        return None


class Codec(NamedTuple):
    """All that is a codec's own. Its reader in JavaScript is `web/reader/NAME.js`.

    name, number: In the header, and in the head of each segment.
    group, groups: The most states to a group, and groups to a segment.
    block: States after which a group ends, whatever it holds. Parts of a book are multiples of it.
    state_bytes: An upper bound of the bytes that a state takes.
    encode_chunk: `encode_chunk(keys, indices, palette_size, index_bytes, machine)` makes groups of ascending keys and
        their palette indices.
    finder: Makes, for one file, `find(segment, key)`: the palette index of a key, or None. A damaged group may raise
        any of OFTEN_WRONG.
    decode: `decode(body, first, index_bytes)` returns the keys and palette indices of a group. Raises DamagedBook.
    keys: What the codec knows states by.
    find_all: `find_all(segment, keys, found, compiled)` writes the palette indices of ascending keys in a segment, or
        -1, to `found`. All are arrays, `compiled(function, *helpers)` compiles. Raises one of OFTEN_WRONG. Without it,
        or where the keys ask the rules, states are looked up one by one.
    decode_all: `decode_all(segment, keys, indices, compiled)` writes those of a segment, ascending or not. Returns how
        many, or -1 if they do not fit together; or raises DamagedBook. Without it groups are decoded one by one.
    share: Of the bytes of an instant book, for estimates: more than what books of 100,000 states and more take.
    about: What help says of it. Empty if no user chooses it.
    is_stepped: Whether numbers of steps stand in place of palette indices.
    is_wide: Whether states take more than one word.
    """

    name: str
    number: int
    group: int
    groups: int
    block: int
    state_bytes: int
    encode_chunk: Callable[..., Groups]
    finder: Callable[[], Find]
    decode: Callable[[memoryview, int, int], tuple[list[int], list[int]]]
    keys: type[States] = States
    find_all: Callable[..., None] | None = None
    decode_all: Callable[..., int] | None = None
    share: float = 1.0
    about: str = ""
    is_stepped: bool = False
    is_wide: bool = False

    @property
    def asks_rules(self) -> bool:
        """Whether no state is found without the rules."""
        return bool(self.keys.ASKED)

    def wide_bytes(self, bits: int) -> int:
        """Return the bytes of a state for the header, for states of so many bits. 0 for states of one word."""
        return 8 * words_of(bits) if self.is_wide else 0


def as_list(column: Any) -> list[int]:
    """A list, of one or of an array."""
    return column if isinstance(column, list) else column.tolist()
