"""The record that describes a codec: how the states of a group and their values are encoded."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from solver.book.codecs.keys import States
from solver.rules.width import words_of

INDEX_FORMATS = ("", "B", "H", "", "I")

Find = Callable[[Any, int], int | None]
Groups = tuple[Any, list[int], list[int]]  # one after the other, the states of each, the bytes of each


class Machine(NamedTuple):
    """Where encoders run: as plain Python over lists (`PLAIN`), or compiled over arrays (`encoders.ARRAYS`).

    compiled: Compile a function that calls these helpers.
    new_bytes, new_integers: Make room, all zero, for so many.
    packed: The bytes of indices, so many for each.
    """

    compiled: Callable[..., Any]
    new_bytes: Callable[[int], Any]
    new_integers: Callable[[int], Any]
    packed: Callable[[Any, int], bytes]


def _packed(indices: Sequence[int], index_bytes: int) -> bytes:
    return struct.pack(f"<{len(indices)}{INDEX_FORMATS[index_bytes]}", *indices)


def unpacked(values: bytes, index_bytes: int) -> Sequence[int]:
    """Return the indices that `Machine.packed` made bytes of."""
    return struct.unpack(f"<{len(values) // index_bytes}{INDEX_FORMATS[index_bytes]}", values)


PLAIN = Machine(
    compiled=lambda function, *helpers: function,
    new_bytes=bytearray,
    new_integers=lambda size: [0] * size,
    packed=_packed,
)


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
