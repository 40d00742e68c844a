"""The keys of a codec: the states themselves, or numbers that the rules make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from solver.base.errors import BookError
from solver.base.value import Value
from solver.book.solution import Part
from solver.rules.game import Rules
from solver.rules.width import refuse_wide

Index = Callable[[int], int | None]  # the palette index that a book has under a key, or None
Lists = tuple[list[int], list[int]]


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


def as_list(column: Any) -> list[int]:
    """A list, of one or of an array."""
    return column if isinstance(column, list) else column.tolist()
