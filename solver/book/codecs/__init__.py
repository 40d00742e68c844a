"""Codecs: how the states of a group and their values are encoded, one module each; all else is the same in every book.

States are known by keys: themselves, or in `ranked` their ranks, for which the rules are asked. Values
are known by their places in the header's palette, or in games of chance by numbers of steps.

A codec is a module with a `Codec`, and its line in the table `NAMES`. Nobody else knows a codec by its name. The module
is imported when the codec is first asked for: a look-up needs one of them.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from solver.base.errors import BookError
from solver.base.value import Value
from solver.book.solution import Part
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Game, Rules
from solver.rules.width import refuse_wide

NAMES = {  # and what help says of them
    "instant": "the quickest to read (default)",
    "compact": "a quarter of the size for ten times the time",
    "ranked": "a tenth, for games that number their states",
}
DEFAULT = "instant"
OFTEN_WRONG = (IndexError, ValueError, TypeError, struct.error, zlib.error)
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


def _bound(function: Callable[..., Any], *helpers: Callable[..., Any]) -> Callable[..., Any]:
    from solver.rules.numbering import bound

    return bound(function, {helper.__name__: helper for helper in helpers})


PLAIN = Machine(
    compiled=_bound,
    new_bytes=bytearray,
    new_integers=lambda size: [0] * size,
    packed=lambda indices, index_bytes: struct.pack(f"<{len(indices)}{INDEX_FORMATS[index_bytes]}", *indices),
)


class States:
    """Keys that are the states themselves, for which no rules are asked; codecs with others have a class like this.

    `rules` may be None where none are `ASKED`; `left`: the states that the book leaves out, 0 if it has not all
    states of a game without cycles.
    """

    name = "states"  # in the header
    ASKED: tuple[str, ...] = ()  # methods of the rules without which no state is found
    SPARE = 0  # symbols beside the palette's
    LEFT_OUT: tuple[int, ...] = (0,)  # what `Header.sparse` of a complete book without distances may be
    encode: Callable[..., Any] | None = None  # in place of the codec's `encode_chunk`
    plain_only = False  # the keys must not be compiled, or do not fit arrays of words

    def __init__(self, rules: Rules | None, palette: Sequence[Value], left: int) -> None:
        self.palette = palette

    @classmethod
    def check(cls, rules: Rules, scope: str) -> None:
        """Raise BookError for a game, or so few of its states, that have no such keys."""

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
    """All that is a codec's own: its module has one as `CODEC`. Its reader in JavaScript is `web/reader/NAME.js`.

    name, number: In the header, and in the head of each segment.
    group, groups: The most states to a group, and groups to a segment.
    block: States after which a group ends, whatever it holds. Parts of a book are multiples of it.
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
    takes_all: Whether states may take more than one word, and numbers of steps stand in place of palette indices.
        The bytes of an index are then 0.
    """

    name: str
    number: int
    group: int
    groups: int
    block: int
    encode_chunk: Callable[..., Groups]
    finder: Callable[[], Find]
    decode: Callable[[memoryview, int, int], tuple[list[int], list[int]]]
    keys: type[States] = States
    find_all: Callable[..., None] | None = None
    decode_all: Callable[..., int] | None = None
    share: float = 1.0
    takes_all: bool = False

    @property
    def asks_rules(self) -> bool:
        """Whether no state is found without the rules."""
        return bool(self.keys.ASKED)


def as_list(column: Any) -> list[int]:
    """A list, of one or of an array."""
    return column if isinstance(column, list) else column.tolist()


def number_at(view: Any, offset: int, size: int) -> int:
    """Return a little-endian number."""
    number = 0
    for byte in range(size):
        number |= int(view[offset + byte]) << 8 * byte
    return number


def population(bits: int) -> int:
    """Return how many bits of a byte are set."""
    # Add neighbouring bits, then pairs, then halves, all fields at once (Warren, Hacker's Delight, section 5-1).
    bits -= bits >> 1 & 0x55
    bits = (bits & 0x33) + (bits >> 2 & 0x33)
    return (bits & 15) + (bits >> 4)


def codec_of(name: str) -> Codec:
    """Return the codec of that name. Raises BookError for a name that none has."""
    if name not in NAMES:
        raise BookError(f"no codec {name!r}: choose one of {', '.join(NAMES)}")
    codec: Codec = importlib.import_module(f"{__name__}.{name}").CODEC
    return codec


def rules_of(game: Game, codec: str) -> str:
    """The fingerprint of the rules that a book in this codec depends on: of those that solved it, and find its keys."""
    return fingerprint(game, codec_of(codec).keys.ASKED)


def check_codec(name: str, rules: Rules | None = None, scope: str = "") -> None:
    """Raise BookError for a codec that there is not, or that does not go with the rules, or so few of their states."""
    codec = codec_of(name)
    if rules is not None:
        if not codec.takes_all:
            refuse_wide(rules.name, rules.bits, "this codec", "leave --codec out", BookError)
        codec.keys.check(rules, scope)
