"""The solution that every way of solving hands to the writer of books, and the record of what a trimmed book omits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from solver.base.kinds import Kind
from solver.base.value import Value

Part = tuple[Sequence[int], Sequence[int]]
TRIMMED = "trimmed"  # the scope of such a book
PROOF = "proof"  # in place of the scope of the book that was trimmed: there was none, the side's states were searched
SIDES = ("first", "second", "both")
MOST_PLIES = 2  # that a reader searches for a state which is left out
HASH = re.compile("[0-9a-f]{64}")


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


class Trim(NamedTuple):
    """The states that a trimmed book leaves out.

    Attributes:
        source: Digest of the book that was trimmed; of a proof book the fingerprint of its rules.
        scope: Scope of the book that was trimmed; "proof" of a proof book.
        max_ply: States that are first reached after more plies were dropped. None to keep all plies.
        side: "first", "second" or "both": states that this side does not need to keep its value were dropped. None to
            keep all.
        plies: States that a full-width search of this many plies solves were dropped. The search ends in finished
            states or, in a book for one side, in stored ones. 0 to keep them.
        max_bytes: Last tiers were dropped until the file was this small. None for no limit.
    """

    source: str = ""
    scope: str = ""
    max_ply: int | None = None
    side: str | None = None
    plies: int = 0
    max_bytes: int | None = None

    @property
    def is_gapless(self) -> bool:
        """Whether all states that play can reach are stored, or settled by `plies`."""
        return self.scope == "complete" and (self.max_ply, self.side, self.max_bytes) == (None, None, None)

    @property
    def depth(self) -> int:
        """The plies of search that recover the values left out.

        A book for one side needs one ply more, since replies settle the moves of that side.
        """
        return self.plies + (self.side is not None)


def check_trim(trim: Trim) -> None:
    """Raise ValueError if no book leaves this out, or no reader can make up for it."""
    limits = [limit for limit in (trim.max_ply, trim.max_bytes) if limit is not None]
    if any(type(text) is not str for text in (trim.source, trim.scope)) or not HASH.fullmatch(trim.source):
        raise ValueError("trim names no book")
    if trim.side not in (None, *SIDES) or type(trim.plies) is not int or not 0 <= trim.plies <= MOST_PLIES:
        raise ValueError("trim leaves out what no reader makes up for")
    if any(type(limit) is not int or not 0 <= limit < 1 << 63 for limit in limits):
        raise ValueError("trim has limits that are none")
    if trim.side is None and not trim.plies and not limits:
        raise ValueError("trim leaves nothing out")
