"""The cells that rules draw, boards as text made of them, and back."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from solver.base.errors import GameError
from solver.rules.game import own_method, own_value

NO_BOARD = (ArithmeticError, LookupError, ValueError)  # what `from_cells` may raise for rows of no position
FIRST = 0xF0000  # characters of nobody's stand for the cells of a picture
NUMBER = re.compile(" ([\U000f0000-\U000ffffd])")  # a cell of two places
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def is_drawn(game: Any) -> bool:
    """Whether the rules say how a page draws the board."""
    return own_method(game, "cells") is not None


def drawing_of(game: Any) -> dict[str, Any]:
    """Return how the game's cells are drawn; nothing if the rules do not say. Names that are left out are the usual."""
    return picture_of(game).drawing if is_drawn(game) else dict(own_value(game, "drawing") or {})


def rows_at(game: Any, state: int, mover: int) -> list[str]:
    """Return the rows of a board, one character a cell. Raises GameError if they are empty or differ in length."""
    rows = [str(row) for row in game.cells(state, mover)]
    if not rows or len({len(row) for row in rows}) > 1 or not rows[0]:
        raise GameError(f"cells({state}, {mover}) is {rows}: rows of one length, a character a cell")
    return rows


def cells_of_move(game: Any, state: int, action: int, board: Sequence[str] | str) -> list[int]:
    """Return the cells that a player chooses for a move, in turn; none where the rules name none.

    Raises:
        GameError: A cell lies outside the board.
    """
    place_of = own_method(game, "place")
    cells = [] if place_of is None or isinstance(board, str) else [int(cell) for cell in place_of(state, action)]
    if any(not 0 <= cell < len(board) * len(board[0]) for cell in cells):
        raise GameError(f"place({state}, {action}) is {cells}: cells are numbered from 0, row by row from the top left")
    return cells


def cell_names(game: Any) -> list[str]:
    """Name the cells as the rules' `drawing` does, else as usual; piles have no names."""
    return picture_of(game).names if is_drawn(game) else []


def usual_names(rows: list[str]) -> list[str]:
    """Name the cells of rows by letter and row as in chess; by number where letters do not suffice."""
    height, width = len(rows), len(rows[0])
    if width > len(LETTERS):
        return [str(cell + 1) for cell in range(width * height)]
    return [f"{LETTERS[x]}{height - y}" for y in range(height) for x in range(width)]


def printed(game: Any, state: int, mover: int | None) -> str:
    """Return the board of a state, and who moves, if the state or the caller tells it."""
    mover = mover_of(game, state) if mover is None else mover
    rows, picture = rows_at(game, state, mover or 0), picture_of(game)
    marks = "".join(rows)
    if (len(picture.rows), len(picture.rows[0])) != (len(rows), len(rows[0])):
        lines, is_labelled = [" ".join(row) for row in rows], own_method(game, "place") and len(rows[0]) <= len(LETTERS)
        board = "\n".join(_labelled(lines, rows, 1) if is_labelled else lines)
    elif picture.is_counted:
        board = NUMBER.sub(lambda found: f"{ord(marks[ord(found[1]) - FIRST]) - 48:>2}", picture.text)
    else:
        board = picture.text.translate(dict(enumerate(marks, FIRST)))
    side = "" if mover is None else picture.sides[mover]
    # Of a finished game nobody is to move: it is said only where a reader of the board could not tell
    if not side or (game.is_terminal(state) and _read(game, rows, 1 - int(mover or 0)) is None):
        return board
    return f"{board}   {side} to move"


def mover_of(game: Any, state: int) -> int | None:
    """The side to move of a state, None if neither the state nor its cells tell."""
    decides = own_method(game, "to_move")
    if decides is not None:
        return int(decides(state))
    sides = [side for side in (0, 1) if is_drawn(game) and _read(game, [*game.cells(state, side)], side) == state]
    return sides[0] if len(sides) == 1 else None


def _read(game: Any, rows: list[str], side: int) -> int | None:
    """The state of rows with a side to move, None if the rules find none."""
    parse = own_method(game, "from_cells")
    with contextlib.suppress(*NO_BOARD):
        return None if parse is None else int(parse(rows, side))
    return None


class Picture(NamedTuple):
    """What all boards of a game have in common.

    Attributes:
        drawing: How cells are drawn.
        rows: The cells at the start. A board of another shape has ranks and files alone, where moves have places.
        text: A board with a character from `FIRST` on for each cell, and the names of cells, or of ranks and files.
        names: Those of cells.
        marks: Those of pieces, as the rules list them.
        sides: What the sides are called.
    """

    drawing: dict[str, Any]
    rows: list[str]
    text: str
    names: list[str]
    marks: str
    sides: list[str]

    @property
    def is_counted(self) -> bool:
        """Whether cells hold numbers: the character so many places behind "0"."""
        return self.marks.startswith("0")

    @property
    def known(self) -> set[str]:
        """All marks that cells may have; a space is not a cell, and a dot an empty one."""
        return {*"".join(self.rows), *self.marks, *("" if self.is_counted else ". ")}


def picture_of(game: Any) -> Picture:
    """Return the picture of a game. Raises GameError if its rules tell none."""
    try:
        hash(game)
    except TypeError:
        return _picture_of.__wrapped__(game)
    return _picture_of(game)


@functools.lru_cache(maxsize=16, typed=True)  # games of equal parameters are equal
def _picture_of(game: Any) -> Picture:
    try:
        drawing, rows = dict(own_value(game, "drawing") or {}), rows_at(game, game.initial(), 0)
        usual = names = usual_names(rows)
        if "names" in drawing:
            own = drawing["names"][: len(usual)]
            drawing["names"] = [other if name is None else name for name, other in itertools.zip_longest(own, usual)]
            names = [name or other for name, other in zip(drawing["names"], usual, strict=True)]
        marks = str((own_value(game, "layout") or [""])[0])
        text = _text(drawing, rows, marks.startswith("0"), own_method(game, "place") is not None)
        # The marks of the sides' pieces, else the sides' names, "" without any
        is_usual = {*marks} >= {"X", "o"} and not marks.startswith("0")
        sides = ["X", "o"] if is_usual else [*map(str, drawing.get("sides", ("", "")))]
        for mover in (0, 1):
            men = [mark for mark, (_, side) in drawing.get("men", {}).items() if side == mover]
            if len(men) == 1 or (men and is_usual):
                sides[mover] = men[0]
        return Picture(drawing, rows, text, [] if drawing.get("board") == "piles" else names, marks, sides)
    except (*NO_BOARD, AttributeError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        where = "see cells at the start, drawing, layout"
        raise GameError(f"{type(game).__name__} shows no board: {where} ({reason})") from None


def _text(drawing: dict[str, Any], rows: list[str], is_counted: bool, has_names: bool) -> str:
    """A board with the names of its cells, if moves have them (`has_names`)."""
    width, kind, names = len(rows[0]), drawing.get("board"), drawing.get("names", [])
    # A space is not a cell, or an empty box
    cells = [cell for cell, mark in enumerate("".join(rows)) if mark != " " or kind == "dots"]
    # The line and the column of each cell, as the drawing places them
    lean = 0.5 if kind == "hexagons" else 0
    at = drawing.get("at") or [(x + y * lean, y) for y in range(len(rows)) for x in range(width)]
    columns, lines = (sorted({round(spot[axis], 2) for spot in at}) for axis in (0, 1))
    spots = [(lines.index(round(at[cell][1], 2)), columns.index(round(at[cell][0], 2))) for cell in cells]
    marks = [chr(FIRST + cell) for cell in cells]
    if names and names != usual_names(rows):
        # Marks, and beside them the names of their cells; in one line below them
        names = [names[cell] for cell in cells]
        pitch = 1 + max(map(len, names))
        beside = _spread(spots, pitch, names)
        if len(beside) == 1:
            return "\n".join([*_spread(spots, pitch, marks), *beside])
        board = _spread(spots, 2, marks)
        wide = max(map(len, board)) + 3
        return "\n".join(f"{line:{wide}}{named}".rstrip() for line, named in zip(board, beside, strict=True))
    if is_counted:
        houses = [f"{house + 1:>2}." for house in range(width)] if kind == "pits" else []
        board = _spread(spots, 3, [f" {mark}" for mark in marks])
        return "\n".join([" ".join(reversed(houses)), *board, " ".join(houses)]).strip("\n")
    board = _spread(spots, 1 if kind == "dots" else 2, marks)
    if kind == "piles":
        board = [f"{LETTERS[number % len(LETTERS)]} {line}" for number, line in enumerate(board)]
    elif kind == "plate":
        board.append(" ".join(map(str, range(1, width + 1))))
    elif has_names and width <= len(LETTERS):
        board = _labelled(board, rows, 2 if kind == "dots" else 1)
    return "\n".join(board)


def _labelled(board: Sequence[str], rows: Sequence[str], step: int) -> list[str]:
    """Lines with their ranks, every `step` of them, and files below, of boards side by side, too."""
    height, width = len(rows), len(rows[0])
    ranks = [f"{(height - y + step - 1) // step:2} " if y % step == 0 else "   " for y in range(height)]
    # Boards that stand side by side have single spaces between them
    parts = [len(part) for part in rows[0].split(" ")]
    parts = parts if step == 1 and min(parts) > 0 else [width]
    files = "   ".join((" " * (2 * step - 1)).join(LETTERS[: (part + step - 1) // step]) for part in parts)
    return [*(rank + line for rank, line in zip(ranks, board, strict=True)), f"   {files}"]


def _spread(spots: Sequence[tuple[int, int]], pitch: int, words: Sequence[str]) -> list[str]:
    """Words at their lines and columns."""
    lines = [""] * (1 + max(line for line, _ in spots))
    for (line, column), word in sorted(zip(spots, words, strict=True)):
        lines[line] = lines[line].ljust(column * pitch) + word
    return lines


def lines_of(text: str) -> list[str]:
    """The lines of a text without the margin that all have, and without spaces behind."""
    lines = [line.rstrip() for line in text.rstrip().lstrip("\n").split("\n")]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[margin:] for line in lines]


def rows_of(game: Any, lines: Sequence[str]) -> list[str] | None:
    """Return the rows of cells that `printed` wrote as these lines, without its last words; None for other texts."""
    picture = picture_of(game)
    patterns, marks = lines_of(picture.text), [*"".join(picture.rows)]
    if len(lines) != len(patterns):
        return None
    if picture.is_counted:
        patterns, lines = ([" ".join(line.split()) for line in every] for every in (patterns, lines))
    else:
        lines = [line.ljust(len(pattern)) for line, pattern in zip(lines, patterns, strict=True)]
    text, cell = "\n".join(patterns), r"(\d{1,5})" if picture.is_counted else "(.)"
    found = re.fullmatch("".join(cell if ord(sign) >= FIRST else re.escape(sign) for sign in text), "\n".join(lines))
    if found is None:
        return None
    cells = [ord(sign) - FIRST for sign in text if ord(sign) >= FIRST]
    for cell_number, mark in zip(cells, found.groups(), strict=True):
        marks[cell_number] = chr(48 + int(mark)) if picture.is_counted else mark
    return in_rows(marks, len(picture.rows[0]))


def in_rows(marks: Sequence[str], width: int) -> list[str]:
    """Marks as rows of that width."""
    return ["".join(marks[first : first + width]) for first in range(0, len(marks), width)]
