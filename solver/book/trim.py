"""What a trimmed book leaves out, as its header says it."""

from __future__ import annotations

import re
from typing import NamedTuple

TRIMMED = "trimmed"  # the scope of such a book
SIDES = ("first", "second", "both")
MOST_PLIES = 2  # that a reader searches for a state which is left out
HASH = re.compile("[0-9a-f]{64}")


class Trim(NamedTuple):
    """What a trimmed book leaves out of the book with the digest `source`, which had that `scope`.

    `max_ply`: the states that play first comes to after more plies. `side`: all but the states in which that side is to
    move, if it plays by the book. `plies`: those that a full-width search of so many plies settles, which ends in
    finished states or, in a book for a side, in stored ones. `max_bytes`: the states of the last tiers, so that the
    book is no larger. None, and 0 plies, where nothing was left out for that.
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
    """Raise ValueError for what no book leaves out, or no reader makes up for."""
    limits = [limit for limit in (trim.max_ply, trim.max_bytes) if limit is not None]
    if any(type(text) is not str for text in (trim.source, trim.scope)) or not HASH.fullmatch(trim.source):
        raise ValueError("trim names no book")
    if trim.side not in (None, *SIDES) or type(trim.plies) is not int or not 0 <= trim.plies <= MOST_PLIES:
        raise ValueError("trim leaves out what no reader makes up for")
    if any(type(limit) is not int or not 0 <= limit < 1 << 63 for limit in limits):
        raise ValueError("trim has limits that are none")
    if trim.side is None and not trim.plies and not limits:
        raise ValueError("trim leaves nothing out")
