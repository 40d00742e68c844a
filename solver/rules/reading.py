"""Positions as text: the start, a state's number, moves, a board, or a notation of the game's own.

A position is `start`, `#12345` (a state's number), or the moves played from the start in the game's notation:
`4453` or `a2a3 b7b6`. Where chance decides, its outcomes count as moves, named by their numbers from 1 on. Spaces and
commas separate moves. Where every move is one character, all of them may be omitted. A board is read as `show` prints
it, or row by row: `X.o/.X./..o`. A game may also read a notation of its own (`parse_position`: chess endings take FEN).
Case, and the signs between the squares of a move, do not matter where only one move can be meant.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base.errors import PositionError, excerpt
from solver.rules.boards.text import is_drawn, lines_of, picture_of
from solver.rules.game import GameOrName, Rules, load_game, own_method
from solver.rules.notation import Position, first_position, legal_actions, next_position, parse_action

REMARK = re.compile(r"(?:^|(?<=\s))[#;].*")  # to the end of a line of a file of games
HEAD = re.compile(r"\s*\[\w+\s+\"")  # of a game in PGN
WORD = re.compile(r"(?:\([^()]*\)|[^\s,(]|\()+")  # what stands in brackets is one


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
    if not isinstance(board, str):
        from solver.rules.boards.typed import state_of_array

        return state_of_array(rules, board, mover)
    if mover is not None:
        raise PositionError(f"{excerpt(board, 60)}: a text tells who moves itself: write {mover + 1} behind the rows")
    return parse_position(rules, board).state


def parse_position(game: Any, text: str, legal: Callable[[int], dict[str, int]] | None = None) -> Position:
    """The position that a text names, of a game or its Rules. Raises PositionError with the place and the legal moves.

    `legal` stands in for `legal_actions` of these rules: it may remember.
    """
    text, rules = "\n".join(lines_of(text)), Rules.of(game)
    if text.startswith("#") and "/" not in text and "\n" not in text:
        return Position(_number(rules, text), None)
    if text.casefold() in ("start", ""):
        return first_position(rules)
    board = _own_notation(rules, text)
    is_one_row = is_drawn(rules.game) and len(picture_of(rules.game).rows) == 1
    if board is None and (is_one_row or "\n" in text or "/" in text):
        from solver.rules.boards.typed import read_board

        board = read_board(rules, text)
    if board is not None:
        _refuse_stuck(rules, board.state, text)
        return board
    position = first_position(rules)
    for _, _, after in moves_played(rules, text, legal):
        position = after
    return position


def _own_notation(rules: Rules, text: str) -> Position | None:
    """The position of a notation that the rules read themselves, None if it is none."""
    parse = own_method(rules.game, "parse_position")
    if parse is None:
        return None
    try:
        state = parse(text)
    except (ValueError, IndexError) as error:
        raise PositionError(f"{excerpt(text, 60)}: {error}") from None
    if state is None:
        return None
    position = first_position(rules, state)
    if "\n" not in text:
        return position
    from solver.rules.boards.typed import is_shown

    sides = [side for side in (0, 1, None) if is_shown(rules, state, side, text)]
    if not sides:
        raise PositionError(f"{excerpt(text, 60)} is read as #{state}, which this game shows in another way")
    return position if position.mover is not None or len(sides) > 1 else position._replace(mover=sides[0])


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
        moves = _split(choices, word)
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


def _number(rules: Rules, text: str) -> int:
    digits, bits = text[1:], rules.bits
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 160 and int(digits) >> bits == 0):
        raise PositionError(f"{excerpt(text, 60)} is not a state: write # and a whole number below 2**{bits}")
    state = int(digits)
    _refuse_stuck(rules, state, text)
    return state


def _refuse_stuck(rules: Rules, state: int, text: str) -> None:
    """Raise PositionError unless a state has a move or is finished."""
    try:
        stuck = not rules.is_terminal(state) and not legal_actions(rules, state)
    except Exception as error:
        # Rules need not bear numbers that are no states
        raise PositionError(f"{excerpt(text, 60)} is not a state of this game: {type(error).__name__}") from None
    if stuck:
        raise PositionError(f"{excerpt(text, 60)} is not a state of this game: it has no moves but is not terminal")


def _split(legal: dict[str, int], word: str) -> list[str]:
    """A word as moves: one, if it is a legal move; else one a character, if such moves exist."""
    if len(word) == 1 or not legal or word in legal or any(len(move) > 1 for move in legal):
        return [word]
    return list(word)
