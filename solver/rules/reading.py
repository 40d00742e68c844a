"""Positions as text: the start, a state's number, moves, a board, or a notation of the game's own.

A position is `start`, `#12345` (a state's number), or the moves played from the start in the game's notation:
`4453` or `a2a3 b7b6`. Where chance decides, its outcomes count as moves, named by their numbers from 1 on. Spaces and
commas separate moves. Where every move is one character, all of them may be omitted. A board is read as `show` prints
it, or row by row: `X.o/.X./..o`. A game may also read a notation of its own (`parse_position`: chess endings take FEN).
Case, and the signs between the squares of a move, do not matter where only one move can be meant.

The rules' `from_cells` makes a state of a board's rows. Here the rows are found. In the end the state's cells are told
again, and must be all that was read, so that no board is misunderstood.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base.errors import PositionError, excerpt
from solver.rules.boards.text import NO_BOARD, Picture, in_rows, is_drawn, lines_of, picture_of, rows_at, rows_of
from solver.rules.game import GameOrName, Rules, load_game, own_method
from solver.rules.notation import Position, first_position, legal_actions, next_position, parse_action, show

REMARK = re.compile(r"(?:^|(?<=\s))[#;].*")  # to the end of a line of a file of games
HEAD = re.compile(r"\s*\[\w+\s+\"")  # of a game in PGN
WORD = re.compile(r"(?:\([^()]*\)|[^\s,(]|\()+")  # what stands in brackets is one
SIDES = ["1", "2"], ["first", "second"], ["x", "o"]
MOST_COUNTED = 0xD000  # numbers have a character each, and none is half of a pair
COUNTS = ("[1-9][0-9]?", "[1-9]")  # of empty cells, as in FEN: numbers, or digits one by one

Rows = list[str]
Board = tuple[Rows, int | None]  # with the side to move, if a text has it


def position(game: GameOrName | Rules, board: Any, mover: int | None = None) -> int:
    """Return the state of a position as you have it, to look up in a book or to analyse.

    Args:
        game: A game or its name, or its Rules.
        board: A text as `solver query` takes it ("4453", "X.o/.X./..o", the text of `show`), or a board as a list or
            an array. It may have rows, or be flat, row by row from the top left. Its cells are marks ("X"), or
            numbers: of seeds or coins where the game counts them, else 0 for an empty cell and 1, 2, ... for the marks
            of the game's `layout()` in turn. None, "" and " " are empty cells, too.
        mover: The side to move, 0 or 1, where a list or an array does not tell. A text tells it itself.

    Raises:
        GameError: There is no such game.
        PositionError: There is no such position. The message names the first wrong cell, or the reason.
    """
    rules = game if isinstance(game, Rules) else Rules(load_game(game))
    if isinstance(board, str):
        if mover is None:
            return parse_position(rules, board).state
        raise PositionError(f"{excerpt(board, 60)}: a text tells who moves itself: write {mover + 1} behind the rows")
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
    marks: Rows = []
    for cell, value in enumerate(flat):
        if isinstance(value, str) and value.strip():
            marks.append(value)
            continue
        square = _square(picture, cell)
        try:
            number = 0 if value is None or isinstance(value, str) else operator.index(value)
        except TypeError:
            raise PositionError(f"{square}: {value!r} is not a mark: give a whole number or a character") from None
        if picture.is_counted:
            marks.append(_counted(number, square))
        elif 0 <= number <= len(picture.marks):
            empty = " " if "".join(picture.rows)[cell] == " " else "."
            marks.append(picture.marks[number - 1] if number else empty)
        else:
            listed = ", ".join(f"{number} is {mark}" for number, mark in enumerate(picture.marks, 1))
            raise PositionError(f"{square}: {number} is not a mark: 0 is empty, {listed}")
    return _position(rules, [(in_rows(marks, width), mover)]).state


def parse_position(game: Any, text: str, legal: Callable[[int], dict[str, int]] | None = None) -> Position:
    """The position that a text names, of a game or its Rules. Raises PositionError with the place and the legal moves.

    `legal` stands in for `legal_actions` of these rules: it may remember.
    """
    text, rules = "\n".join(lines_of(text)), Rules.of(game)
    if text.startswith("#") and "/" not in text and "\n" not in text:
        digits, bits = text[1:], rules.bits
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 160 and int(digits) >> bits == 0):
            raise PositionError(f"{excerpt(text, 60)} is not a state: write # and a whole number below 2**{bits}")
        _refuse_stuck(rules, int(digits), text)
        return Position(int(digits), None)
    if text.casefold() in ("start", ""):
        return first_position(rules)
    parse, board = own_method(rules.game, "parse_position"), None
    if parse is not None:
        try:
            state = parse(text)
        except (ValueError, IndexError) as error:
            raise PositionError(f"{excerpt(text, 60)}: {error}") from None
        board = None if state is None else first_position(rules, state)
        if board is not None and "\n" in text:
            sides = [side for side in (0, 1, None) if is_shown(rules, state, side, text)]
            if not sides:
                raise PositionError(f"{excerpt(text, 60)} is read as #{state}, which this game shows in another way")
            if board.mover is None and len(sides) == 1:
                board = board._replace(mover=sides[0])
    board = board or read_board(rules, text)
    if board is not None:
        _refuse_stuck(rules, board.state, text)
        return board
    position = first_position(rules)
    for _, _, after in moves_played(rules, text, legal):
        position = after
    return position


def moves_played(
    rules: Rules, text: str, legal: Callable[[int], dict[str, int]] | None = None
) -> Iterator[tuple[Position, int, Position]]:
    """The moves from the start that a text names, each with the positions before and after. Raises PositionError."""
    position, played = first_position(rules), 0
    choices_at = legal or functools.partial(legal_actions, rules)
    if HEAD.match(text):
        raise PositionError(f"{excerpt(text, 60)} is a head of PGN: write the moves alone, a game a line")
    words = WORD.findall(text)
    for word in words:
        choices = choices_at(position.state)
        # A word is one move, if that is legal; else a move a character, if such moves exist
        is_one = len(word) == 1 or not choices or word in choices or any(len(move) > 1 for move in choices)
        moves = [word] if is_one else list(word)
        if len(moves) > 1 < len(words):
            # "11242 3" is moves and a score in published test sets
            raise PositionError(f"{excerpt(text, 60)}: put spaces between all moves or none, and leave out a score")
        for number, move in enumerate(moves):
            choices = choices_at(position.state) if number else choices
            played += 1
            if not choices:
                raise PositionError(f"move {played}, {move!r}, of {excerpt(text, 60)}: the game is over before it")
            action = choices.get(move)
            if action is None:
                try:
                    action = parse_action(rules, position.state, move)
                except PositionError as error:
                    raise PositionError(f"move {played} of {excerpt(text, 60)}: {error}") from None
            before, position = position, next_position(rules, position, action)
            yield before, action, position


def game_lines(games: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the games of a file, a line each, with the line's number. Skips empty lines and remarks: `1234 # mine`."""
    for number, line in enumerate(games, 1):
        text = REMARK.sub("", line).strip()
        if text:
            yield number, text


def _refuse_stuck(rules: Rules, state: int, text: str) -> None:
    """Raise PositionError unless a state has a move or is finished."""
    try:
        stuck = not rules.is_terminal(state) and not legal_actions(rules, state)
    except Exception as error:
        # Rules need not bear numbers that are not states
        raise PositionError(f"{excerpt(text, 60)} is not a state of this game: {type(error).__name__}") from None
    if stuck:
        raise PositionError(f"{excerpt(text, 60)} is not a state of this game: it has no moves but is not terminal")


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
    picture, words = picture_of(rules.game), text.split()
    cells = picture.rows
    if not several and not has_strokes:
        # One line has a mark for each cell, on a board of one row
        if len(words) <= 2 and len(cells[0]) == len(words[0]) > 1:
            is_row = not words[0].isdecimal() and not {*words[0]} - picture.known
        else:
            is_row = len(words) >= max(2, len(cells[0]))
        if len(cells) > 1 or not is_row:
            return None
    # As people type boards: a last word that names the side to move does so first
    matched = re.fullmatch(r"(?s)(.*\S)\s+(\S+)", re.sub(r"\s+to move$", "", text.rstrip()))
    side = None if matched is None else _side(picture, matched[2])
    texts = [(text, None)] if matched is None or side is None else [(matched[1], side), (text, None)]
    boards = [(rows, mover) for part, mover in texts for rows in _readings(part, picture)]
    likely = [board for board in boards if has_strokes or picture.known.issuperset("".join(board[0]))]
    if not has_strokes and own_method(rules.game, "show") is None:
        # As it is printed, where the rules have no `show` of their own
        last, _, turn = lines[-1].rpartition("   ") if lines[-1].endswith(" to move") else (lines[-1], "", "")
        printed = rows_of(rules.game, [*lines[:-1], last])
        likely = likely if printed is None else [(printed, _side(picture, turn.removesuffix(" to move")))]
    if likely or (boards and several):
        return _position(rules, likely or boards, text)
    if not several and not has_strokes:
        return None
    raise PositionError(
        f"{excerpt(text, 60)} is not a board: write {len(cells)} rows of {len(cells[0])} marks from the top, / between"
        f" them ({'/'.join(cells)}), and the side to move, 1 or 2, behind; or the text of `show`"
    )


def _are_read(rules: Rules) -> bool:
    return is_drawn(rules.game) and own_method(rules.game, "from_cells") is not None


def is_shown(rules: Rules, state: int, mover: int | None, text: str) -> bool:
    """Whether this is how a position is shown, spaces at the edges aside."""
    return lines_of(show(rules.game, state, mover)) == lines_of(text)


def _flat(board: Any) -> list[Any]:
    """The cells of a list, of lists or of texts."""
    if isinstance(board, list | tuple):
        return [cell for part in board for cell in _flat(part)]
    return [*board] if isinstance(board, str) and len(board) > 1 else [board]


def _counted(number: int, square: str) -> str:
    """The mark of a number: the character so many places behind "0"."""
    if not 0 <= number < MOST_COUNTED:
        raise PositionError(f"{square}: no number of seeds or coins: write 0 to {MOST_COUNTED - 1:,}")
    return chr(48 + number)


def _square(picture: Picture, cell: int) -> str:
    names = picture.names
    return names[cell] if names and not names[cell].isdecimal() else f"cell {cell + 1}"


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
    else:
        if len(words) == width:
            words = [
                _counted(int(word) if len(word) < 9 else MOST_COUNTED, excerpt(word, 20))
                if len(word) > 1 and word.isdecimal()
                else word
                for word in words
            ]
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
            raise PositionError(f"{_square(picture, cell)}: {mark!r} is not a mark of this game: {listed}")
    try:
        state = int(rules.game.from_cells(rows, mover))
        again = rows_at(rules.game, state, mover)
        if rules.to_move is not None and rules.to_move(state) != mover:
            raise ValueError(f"player {mover + 1} is not to move")
    except NO_BOARD as error:
        raise PositionError(f"{'/'.join(rows)} is not a position of {rules.name}: {error}") from None
    for cell, (mark, other) in enumerate(zip("".join(rows), "".join(again), strict=True)):
        if mark != other:
            raise PositionError(f"{_square(picture, cell)}: there cannot be {mark!r}, but {other!r}")
    return state
