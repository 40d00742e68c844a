"""The solution that every way of solving hands to the writer of books, whatever arrays or lists it worked in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from solver.base.kinds import Kind
from solver.base.value import Value

Part = tuple[Sequence[int], Sequence[int]]


class Encoded(NamedTuple):
    """Encoded groups of a book, one after the other.

    Attributes:
        firsts: First state of each group.
        payload: The groups' bytes.
        lengths: Bytes of each group.
        states: How many states they hold together.
    """

    firsts: Sequence[int]
    payload: Any
    lengths: Sequence[int]
    states: int


class TierCount(NamedTuple):
    """The distinct states of one tier: all, terminal ones, and by value for the side to move (terminal included)."""

    tier: int
    states: int
    terminal: int
    win: int
    draw: int
    loss: int


class Solved(NamedTuple):
    """The values of all non-terminal states, `stored` of them.

    `parts()` yields pairs of sequences of one length (lists or arrays): states, ascending from part to part, and for
    each the index of its value in the `palette`, which is sorted best value first. `numbers[j]` states have the value
    `palette[j]`. `tiers` counts terminal states too. `longest` is the longest win's distance and the smallest state
    that has it; `cyclic`: some tier had moves that stay in it. Where `kind` lists no values the indices are numbers of
    its steps, the palette is empty and `numbers` is None. `encoded`, if others can do that, yields the same states as
    groups, for the name of a codec and the bytes of an index. `ranked` yields them by ranks in place of states.
    """

    stored: int
    parts: Callable[[], Iterable[Part]]
    palette: list[Value]
    numbers: list[int] | None
    tiers: list[TierCount]
    root: Value
    longest: tuple[int, int] | None
    kind: Kind
    cyclic: bool = False
    encoded: Callable[[str, int], Iterable[Encoded | Part]] | None = None
    ranked: Callable[[], Iterable[Part]] | None = None

    @property
    def method(self) -> str:
        """The one that a header says for a complete solution."""
        return self.kind.cyclic if self.cyclic and self.kind.cyclic else self.kind.acyclic
