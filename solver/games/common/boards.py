"""Boards as rows of characters: how games read them back for `from_cells`, and numbers as characters."""

import re
from collections.abc import Callable, Sequence
from typing import Any


def cells_of(rows: list[str], mark: str) -> int:
    """The cells that have a mark, a bit each, row by row from the bottom left."""
    return sum(1 << cell for cell, other in enumerate("".join(rows[::-1])) if other == mark)


def counts(most: int) -> str:
    """Return the characters of the numbers from 0 to `most` on a board: each is so many places behind "0"."""
    return "".join(chr(48 + number) for number in range(most + 1))


def pits(seeds: list[int], mover: int) -> list[str]:
    """Two rows of houses: the second player's, the last one first, and below them the first player's.

    Args:
        seeds: The seeds in the mover's houses, and in the other's. A mark is so many places behind "0".
        mover: The side to move.
    """
    houses = len(seeds) // 2
    rows = ["".join([chr(48 + count) for count in row]) for row in (seeds[:houses], seeds[houses:])]
    return [rows[1 - mover][::-1], rows[mover]]


def seeds_of(rows: list[str], mover: int) -> list[int]:
    """The seeds that `pits` shows."""
    marks = rows[0][::-1] + rows[1] if mover else rows[1] + rows[0][::-1]
    return [ord(mark) - 48 for mark in marks]


def stacked(rows: list[str]) -> list[str]:
    """The columns of a board as rows, the last above, from the bottom, with an empty cell on top.

    Raises ValueError where a piece lies above an empty cell.
    """
    columns = ["".join(row[column] for row in rows[::-1]) + "." for column in reversed(range(len(rows[0])))]
    for place, column in enumerate(columns[::-1]):
        stones = column.rstrip(".")
        if "." in stones:
            raise ValueError(
                f"{chr(97 + place)}{len(stones)}: a man falls as far as it can, and the cell below is empty"
            )
    return columns


def check_turns(first: int, second: int, mover: int, has_won: bool = False) -> None:
    """Raise ValueError unless players who put pieces in turn may have so many, and the mover has not won."""
    if first - second != mover:
        raise ValueError("men are put in turn: both have as many, or the first player one more, and the second moves")
    if has_won:
        raise ValueError("who is to move has won already: the game was over before the last move")


def standing(rows: list[str], mover: int, men: int) -> int:
    """The state of a board on which either side has so many pieces, all of the time.

    It is the cells of X, those of o above them, and a bit for the side to move.
    """
    first, second, cells = cells_of(rows, "X"), cells_of(rows, "o"), len(rows) * len(rows[0])
    if first.bit_count() != men or second.bit_count() != men:
        raise ValueError(f"each has {men} men, all of the time")
    return first | second << cells | mover << 2 * cells


def placed(rows: list[str], mover: int, men: int) -> int:
    """The state of a board on which either side has put so many pieces, or puts them still; as that of `standing`."""
    first, second, cells = cells_of(rows, "X"), cells_of(rows, "o"), len(rows) * len(rows[0])
    check_placed(first, second, mover, men)
    return first | second << cells | mover << 2 * cells


def check_placed(first: int, second: int, mover: int, men: int) -> None:
    """Raise ValueError unless players who put so many pieces each in turn, and then move them, may have these."""
    if first.bit_count() > men or second.bit_count() > men:
        raise ValueError(f"a player never has more than {men} men")
    if first.bit_count() + second.bit_count() < 2 * men:
        check_turns(first.bit_count(), second.bit_count(), mover)


def shown_with_hands(text: str, letters: str, doubled: str, height: int) -> tuple[list[str], int] | None:
    """The cells and the side to move of a board that `view` or `show` printed with both hands, None for other texts.

    Args:
        text: The board from the top, and a line that ends in the hands. Without a side the first player is to move.
        letters: The kinds of pieces that hands have; the cells of a hand are in this order.
        doubled: The mark of two pieces of each kind.
        height: The rows of the board.

    Raises:
        ValueError: A hand has more than two pieces of a kind.
    """
    *lines, last = [line.strip() for line in text.split("\n")]
    matched = re.fullmatch(rf"[a-d ]+capitals: (.*), in hand ([{letters}]+|-); (.*) ([{letters.lower()}]+|-)", last)
    if matched is None or len(lines) != height:
        return None
    hands = []
    for held in (matched[2], matched[4].upper()):
        if any(held.count(letter) > 2 for letter in letters):
            raise ValueError("there are two men of each kind")
        marks = zip(letters, doubled, strict=True)
        hands.append("".join((".", one, two)[held.count(one)] for one, two in marks))
    rows = [hands[1].lower()[::-1], *("".join(line.split()[1:]) for line in lines), hands[0]]
    return rows, int(matched[1] == "the first")


def text_with_hands(rows: list[str], turned: int, letters: str, doubled: str, *names: str) -> str:
    """The text of cells that `shown_with_hands` reads: a hand, the board from the top, a hand.

    Args:
        rows: The cells.
        turned: Whether the board is seen from the far side.
        letters: The kinds of pieces that hands have.
        doubled: The mark of two pieces of each kind.
        names: Whose the capitals are, and whose the small letters.
    """
    ranks = range(1, len(rows) - 1) if turned else range(len(rows) - 2, 0, -1)
    lines = [f"{rank} " + " ".join(row) for rank, row in zip(ranks, rows[1:-1], strict=True)]
    held = {ord(two): 2 * one for one, two in zip(letters, doubled, strict=True)} | {ord("."): ""}
    below, above = (hand.translate(held) or "-" for hand in (rows[-1], rows[0][::-1].upper()))
    columns = " ".join("abcd"[: len(rows[0])])[:: -1 if turned else 1]
    return "\n".join([*lines, f"  {columns}   capitals: {names[0]}, in hand {below}; {names[1]} {above.lower()}"])


def cased(mark: str, player: int) -> str:
    """The second player's marks are small letters."""
    return mark.lower() if player else mark


def between_hands(width: int, board: list[str], below: list[str], above: list[str], mover: int) -> list[str]:
    """The cells of a board with a hand on either side, as the first player sees them.

    Args:
        width: The cells of a row, and of a hand.
        board: The marks of the board from its first row on, as the mover sees it.
        below: The marks of the mover's hand.
        above: The marks of the other's hand.
        mover: The side to move.
    """
    marks = above[::-1]
    for first in range(len(board) - width, -1, -width):
        marks.extend(board[first : first + width])
    marks.extend(below)
    if mover:
        marks = marks[::-1]
    return ["".join(marks[first : first + width]) for first in range(0, len(marks), width)]


def tray(width: int, height: int, names: dict[str, str], *sides: str) -> dict[str, Any]:
    """The drawing of such cells: pieces by the names of their marks, and the colours of the sides."""
    men = {cased(mark, side): [name, side] for mark, name in names.items() for side in (0, 1)}
    rows = [0.3, *(row + 1.6 for row in range(height)), height + 1.9]
    at = [[column + 0.5, row + 0.2] for row in rows for column in range(width)]
    return {"board": "tray", "at": at, "sides": list(sides), "men": men}


def on_points(names: Sequence[str], joined: Callable[[int, int], int], *sides: str) -> dict[str, Any]:
    """The drawing of points that lie where names such as a1 say, of lines between joined ones, and of the sides."""
    size = max(int(name[1:]) for name in names)
    at = [[ord(name[0]) - 96.5, size + 0.5 - int(name[1:])] for name in names]
    lines = [[a, b] for a in range(len(names)) for b in range(a) if joined(a, b)]
    return {"board": "points", "at": at, "lines": lines, "sides": list(sides), "names": list(names)}
