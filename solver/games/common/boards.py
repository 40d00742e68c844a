"""Boards as rows of characters, read back: what games need for `from_cells`."""

from __future__ import annotations


def cells_of(rows: list[str], mark: str) -> int:
    """The cells that have a mark, a bit each, row by row from the bottom left."""
    found = 0
    for cell, other in enumerate("".join(rows[::-1])):
        if other == mark:
            found |= 1 << cell
    return found


def check_turns(first: int, second: int, mover: int) -> None:
    """Raise ValueError unless players who put men in turn, the first player first, may have so many."""
    if first - second != mover:
        raise ValueError("men are put in turn: both have as many, or the first player one more, and the second moves")
