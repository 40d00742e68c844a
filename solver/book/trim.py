"""The record, in a book's header, of the states that a trimmed book leaves out."""

from __future__ import annotations

import re
from typing import NamedTuple

TRIMMED = "trimmed"  # the scope of such a book
PROOF = "proof"  # in place of the scope of the book that was trimmed: there was none, the side's states were searched
SIDES = ("first", "second", "both")
MOST_PLIES = 2  # that a reader searches for a state which is left out
HASH = re.compile("[0-9a-f]{64}")


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
