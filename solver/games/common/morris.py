"""Code that the games of mills share."""

import re
from collections.abc import Iterator, Sequence

from solver.games.common.boards import cells_of

COLUMNS = "abcdefg"


def tables(men: int) -> Iterator[tuple[int, int, int]]:
    """How many pieces were placed, and how many the mover and the other may have then, `men` each in all.

    While pieces are placed, who has placed n has taken n - 2 at most: two are there before the first mill, and a piece
    that is taken may open one that the next closes again.
    """
    for placed in range(2 * men + 1):
        own, other = placed // 2, (placed + 1) // 2
        for mine in range(own + 1):
            for theirs in range(other + 1):
                if placed == 2 * men:
                    fits = min(mine, theirs) >= 2
                else:
                    fits = own - mine <= max(0, other - 2) and other - theirs <= max(0, own - 2)
                if fits:
                    yield placed, mine, theirs


def shown(board: Sequence[str], names: Sequence[str], marks: str, mover: int, left: int) -> str:
    """A picture of the points with their pieces, who is to move, and the pieces in hand, `left` in all.

    The mover has one more than the other where their number is odd.
    """
    rows = [list(row) for row in board]
    for name, mark in zip(names, marks.lower(), strict=True):
        rows[-int(name[1])][COLUMNS.index(name[0]) * 3 + 2] = mark
    last = f"  {'  '.join(COLUMNS[: len(board)])}   {'xo'[mover]} to move"
    hands = f", in hand {(left + 1 - mover) // 2} and {(left + mover) // 2}" if left else ""
    return "\n".join([*map("".join, rows), last + hands])


def read(text: str, board: Sequence[str], names: Sequence[str], men: int) -> tuple[list[int], int, int] | None:
    """The pieces of both players, how many were placed, and who is to move, of a text that `shown` made; else None.

    Raises ValueError for pieces that no play brings there, `men` each in all.
    """
    *rows, last = text.split("\n")
    columns = "  ".join(COLUMNS[: len(board)])
    matched = re.fullmatch(rf" *{columns}   ([xo]) to move(?:, in hand (\d) and (\d))?", last)
    if matched is None or len(rows) != len(board):
        return None
    marks = "".join(rows[-int(name[1])].ljust(22)[COLUMNS.index(name[0]) * 3 + 2] for name in names)
    players = [cells_of([marks], mark) for mark in "xo"]
    turn, left = "xo".index(matched[1]), [int(matched[2] or 0), int(matched[3] or 0)]
    if any(player.bit_count() > men - hand for player, hand in zip(players, left, strict=True)):
        raise ValueError(f"each player has {men} men")
    placed = 2 * men - sum(left)
    if placed < 2 * men and (placed % 2 != turn or left[0] != men - (placed + 1) // 2):
        raise ValueError("while men are placed, x has as many in hand as o, or one fewer when o is to move")
    return players, placed, turn
