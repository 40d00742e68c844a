"""Boards as people have them, back to states: rows of marks, arrays, and the text of `show`.

The rules' `from_cells` makes a state of rows. Here the rows are found. In the end the state's cells are told again, and
must be all that was read, so that no board is misunderstood.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Any

from solver.base.errors import PositionError, excerpt
from solver.rules.boards.text import NO_BOARD, Picture, in_rows, is_drawn, lines_of, picture_of, rows_at, rows_of
from solver.rules.game import Rules, own_method
from solver.rules.notation import Position, first_position, show

SIDES = ["1", "2"], ["first", "second"], ["x", "o"]
MOST_COUNTED = 0xD000  # numbers have a character each, and none is half of a pair
COUNTS = ("[1-9][0-9]?", "[1-9]")  # of empty cells, as in FEN: numbers, or digits one by one

Rows = list[str]
Board = tuple[Rows, int | None]  # with the side to move, if a text has it


def read_board(rules: Rules, text: str) -> Position | None:
    """Return the position whose board a text is, None if it looks like no board.

    Raises:
        PositionError: It is the board of no position, or the rules read no boards.
    """
    lines = lines_of(text)
    several, has_strokes = len(lines) > 1, "/" in text
    if not _are_read(rules):
        if several:
            raise PositionError(
                f"{rules.name} reads no boards: give moves, or add from_cells(rows, mover) to its rules"
            )
        return None
    picture = picture_of(rules.game)
    if not several and not has_strokes and not _may_be_a_row(text, picture):
        return None
    boards = _typed(text, picture)
    likely = [] if has_strokes else _printed(rules, lines)
    likely = likely or [board for board in boards if has_strokes or picture.known.issuperset("".join(board[0]))]
    if likely or (boards and several):
        return _position(rules, likely or boards, text)
    if not several and not has_strokes:
        return None
    cells = picture.rows
    raise PositionError(
        f"{excerpt(text, 60)} is no board: write {len(cells)} rows of {len(cells[0])} marks from the top, / between"
        f" them ({'/'.join(cells)}), and the side to move, 1 or 2, behind; or the text of `show`"
    )


def _are_read(rules: Rules) -> bool:
    return is_drawn(rules.game) and own_method(rules.game, "from_cells") is not None


def _printed(rules: Rules, lines: list[str]) -> list[Board]:
    """The board that `show` printed, where the rules have no `show` of their own; none of other texts."""
    last, _, turn = lines[-1].rpartition("   ") if lines[-1].endswith(" to move") else (lines[-1], "", "")
    rows = rows_of(rules.game, [*lines[:-1], last]) if own_method(rules.game, "show") is None else None
    return [] if rows is None else [(rows, _side(picture_of(rules.game), turn.removesuffix(" to move")))]


def _may_be_a_row(text: str, picture: Picture) -> bool:
    """Whether a text of one line has a mark for each cell, on a board of one row."""
    cells, words = picture.rows, text.split()
    if len(cells) == 1 and len(words) <= 2 and len(cells[0]) == len(words[0]) > 1:
        return not words[0].isdecimal() and not {*words[0]} - picture.known
    return len(cells) == 1 and len(words) >= max(2, len(cells[0]))


def is_shown(rules: Rules, state: int, mover: int | None, text: str) -> bool:
    """Whether this is how a position is shown, spaces at the edges aside."""
    return lines_of(show(rules.game, state, mover)) == lines_of(text)


def state_of_array(rules: Rules, board: Any, mover: int | None) -> int:
    """Return the state of a board as a list or an array: `solver.rules.reading.position`."""
    if not _are_read(rules):
        raise PositionError(f"{rules.name} reads no boards: add from_cells(rows, mover) to its rules")
    picture = picture_of(rules.game)
    height, width = len(picture.rows), len(picture.rows[0])
    board = board.tolist() if hasattr(board, "tolist") else board
    if not isinstance(board, list | tuple):
        raise PositionError(f"a board is a list or an array, not {type(board).__name__}")
    flat = _flat(board)
    if len(flat) != height * width:
        raise PositionError(f"a board of {rules.name} has {height} rows of {width} cells, not {len(flat)} in all")
    marks = [_mark(value, picture, cell) for cell, value in enumerate(flat)]
    return _position(rules, [(in_rows(marks, width), mover)]).state


def _flat(board: Any) -> list[Any]:
    """The cells of a list, of lists or of texts."""
    if isinstance(board, list | tuple):
        return [cell for part in board for cell in _flat(part)]
    return [*board] if isinstance(board, str) and len(board) > 1 else [board]


def _mark(value: Any, picture: Picture, cell: int) -> str:
    """The mark of a cell in an array."""
    if isinstance(value, str) and value.strip():
        return value
    square, marks = _square(picture, cell), picture.marks
    try:
        number = 0 if value is None or isinstance(value, str) else operator.index(value)
    except TypeError:
        raise PositionError(f"{square}: {value!r} is no mark: give a whole number or a character") from None
    if picture.is_counted:
        return _counted(number, square)
    if not 0 <= number <= len(marks):
        listed = ", ".join(f"{number} is {mark}" for number, mark in enumerate(marks, 1))
        raise PositionError(f"{square}: {number} is no mark: 0 is empty, {listed}")
    return marks[number - 1] if number else " " if "".join(picture.rows)[cell] == " " else "."


def _counted(number: int, square: str) -> str:
    """The mark of a number: the character so many places behind "0"."""
    if not 0 <= number < MOST_COUNTED:
        raise PositionError(f"{square}: no number of seeds or coins: write 0 to {MOST_COUNTED - 1:,}")
    return chr(48 + number)


def _number(word: str) -> str:
    """The mark of a number that is typed."""
    return _counted(int(word) if len(word) < 9 else MOST_COUNTED, excerpt(word, 20))


def _square(picture: Picture, cell: int) -> str:
    names = picture.names
    return names[cell] if names and not names[cell].isdecimal() else f"cell {cell + 1}"


def _typed(text: str, picture: Picture) -> list[Board]:
    """All boards that a text may be, as people type them. A last word that names the side to move does so first."""
    matched = re.fullmatch(r"(?s)(.*\S)\s+(\S+)", re.sub(r"\s+to move$", "", text.rstrip()))
    side = None if matched is None else _side(picture, matched[2])
    texts = [(text, None)] if matched is None or side is None else [(matched[1], side), (text, None)]
    return [(rows, mover) for part, mover in texts for rows in _readings(part, picture)]


def _readings(text: str, picture: Picture) -> Iterator[Rows]:
    """Yield the rows of the board's shape that a text may be.

    Digits are marks if the game has such marks. Otherwise they count empty cells (`2X` or `11X`), or stand for marks as
    in arrays if all cells are digits.
    """
    rows = re.split(r"[\n/]", text.strip("\n"))
    has_digits = any(map(str.isdecimal, picture.marks))
    # All rows are spaced, or none: in "3 3/14 2" the 2 names no side
    if len(rows) != len(picture.rows) or (has_digits and len({len(row.split()) for row in rows}) > 1):
        return
    readings = [rows]
    if re.search("[0-9]", text) and not has_digits:
        readings = [[re.sub(count, lambda run: "." * int(run[0]), row) for row in rows] for count in COUNTS] + readings
        if "".join("".join(rows).split()).isdecimal():
            numbers = str.maketrans(dict(zip("0123456789", f".{picture.marks}", strict=False)))
            readings.append([row.translate(numbers) for row in rows])
    for reading in readings:
        shaped = [_shaped(row, blank) for row, blank in zip(reading, picture.rows, strict=True)]
        if all(shaped):
            yield shaped


def _shaped(row: str, blank: str) -> str:
    """A row with a mark a cell, "" if it has not. Spaces may separate marks, and may be omitted where no cell is.

    Args:
        row: As it is typed.
        blank: The row at the start of the game, which has the spaces.
    """
    width, words = len(blank), row.split()
    if len(row) == width and all(empty == " " for mark, empty in zip(row, blank, strict=True) if mark == " "):
        joined = row
    elif len(words) == width:
        joined = "".join(_number(word) if len(word) > 1 and word.isdecimal() else word for word in words)
    else:
        joined = "".join(words)
    if len(joined) == width - blank.count(" ") < width:
        typed = iter(joined)
        joined = "".join(" " if mark == " " else next(typed) for mark in blank)
    return joined if len(joined) == width else ""


def _side(picture: Picture, word: str) -> int | None:
    """The side that a word names: 1 or 2, x or o, the names of the colours or their first letters."""
    names = [str(name) for name in picture.drawing.get("sides", [])]
    for pair in ([name[:1] for name in names], names, picture.sides, *SIDES):
        sides = [side.casefold() for side in pair]
        if word and sides.count(word.casefold()) == 1:
            return sides.index(word.casefold())
    return None


def _position(rules: Rules, boards: list[Board], text: str = "") -> Position:
    """The position that is one of some boards, with its side to move if the text tells it. Raises PositionError."""
    known = picture_of(rules.game).known
    # Case does not matter where only one can be meant
    meant = {mark.swapcase(): mark for mark in known if mark.swapcase() not in known}
    states: dict[int, set[int]] = {}
    refusals: list[PositionError] = []
    for rows, mover in boards:
        marks = ["".join(meant.get(mark, mark) for mark in row) for row in rows]
        for side in (0, 1) if mover is None else (mover,):
            try:
                states.setdefault(_state(rules, marks, side), set()).add(side)
            except PositionError as error:
                refusals.append(error)
    if not states:
        raise refusals[0]
    if len(states) > 1:
        states = {state: sides for state, sides in states.items() if is_shown(rules, state, None, text)} or states
    if len(states) > 1:
        reason = f"either side may be to move: {'write 1 or 2 behind it' if text else 'give mover=0 or mover=1'}"
        if sum(map(len, states.values())) > len(set.union(*states.values())):
            reason = "digits may be marks or empty cells: write . for each empty cell"
        raise PositionError(f"{excerpt(text or '/'.join(boards[0][0]), 60)}: {reason}")
    [(state, sides)] = states.items()
    position = first_position(rules, state)
    return position if len(sides) > 1 or position.mover is not None else position._replace(mover=min(sides))


def _state(rules: Rules, rows: Rows, mover: int) -> int:
    """The state of rows with that side to move. Raises PositionError that names the first cell that cannot be."""
    picture, listed = picture_of(rules.game), " ".join(picture_of(rules.game).marks)
    for cell, mark in enumerate("".join(rows)):
        if listed and mark not in picture.known:
            raise PositionError(f"{_square(picture, cell)}: {mark!r} is no mark of this game: {listed}")
    try:
        state = int(rules.game.from_cells(rows, mover))
        again = rows_at(rules.game, state, mover)
        if rules.to_move is not None and rules.to_move(state) != mover:
            raise ValueError(f"player {mover + 1} is not to move")
    except NO_BOARD as error:
        raise PositionError(f"{'/'.join(rows)} is no position of {rules.name}: {error}") from None
    for cell, (mark, other) in enumerate(zip("".join(rows), "".join(again), strict=True)):
        if mark != other:
            raise PositionError(f"{_square(picture, cell)}: there cannot be {mark!r}, but {other!r}")
    return state
