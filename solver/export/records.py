"""Positions as a page knows them: records of all that rules say of one, from Python.

A record has the state, who is to move, 0 or 1, how the game has ended, the state in the book, the moves and the board.
Records of random games check the translated rules; those of all positions of a small game stand for rules
that have no translation. States are text, since JavaScript's numbers would round them. Where chance decides, its
outcomes stand for moves, each with its weight, named as in `solver.rules.notation`.
"""

from __future__ import annotations

import random
from typing import Any

from solver.base.errors import GameError
from solver.book.codecs import States
from solver.rules.boards.text import cells_of_move, is_drawn
from solver.rules.game import Rules, own_method
from solver.rules.notation import (
    Position,
    board_of,
    chances,
    first_position,
    format_action,
    format_end,
    next_position,
    show,
)

MAX_PLIES = 60  # plies of a random game
MOVES = 2000  # of all records together: there are games with hundreds at a time

Record = dict[str, Any]


def record_of(rules: Rules, position: Position, keys: States | None = None) -> Record:
    """The record of a position, with the answers that the keys of a book ask of the rules.

    Raises GameError where `cells` or `place` make no board.
    """
    state, mover = position.state, int(position.mover or 0)
    over = bool(rules.is_terminal(state))
    board = board_of(rules.game, state, mover)
    check_back(rules.game, board, state, mover)
    record = {
        "state": str(state),
        "mover": mover,
        "end": [_number(rules.utility(state)), _number(rules.plies_left(state))] if over else None,
        "key": str(rules.canonical(state)),
        "moves": [] if over else _moves(rules, position, board),
        "board": board,
    }
    # Cells do not show the dice
    if is_drawn(rules.game) and rules.chance is not None:
        record["text"] = show(rules.game, state, mover)
    if over and own_method(rules.game, "format_end") is not None:
        record["how"] = format_end(rules.game, state)
    ranked = None if over or keys is None else keys.told(rules.canonical(state))
    return record if ranked is None else {**record, "told": ranked}


def check_back(game: Any, board: list[str] | str, state: int, mover: int) -> None:
    """Raise GameError where `from_cells` does not give back the state whose board this is."""
    back = own_method(game, "from_cells")
    if back is None or isinstance(board, str):
        return
    try:
        parsed = back(board, mover)
    except ValueError as error:
        parsed = f"ValueError, {error}"
    if parsed != state:
        raise GameError(f"from_cells({board}, {mover}) is {parsed}: these are the cells of state {state}")


def _moves(rules: Rules, position: Position, board: list[str] | str) -> list[Record]:
    """The moves of an unfinished position, or the outcomes where chance decides."""
    state, moves = position.state, []
    outcomes = chances(rules.game, state)
    for action in choices(rules, state):
        child = next_position(rules, position, action)
        move = {
            "name": format_action(rules.game, state, action),
            "child": str(child.state),
            "mover": int(child.mover or 0),
            "gain": 0 if outcomes else _number(rules.gain(state, action)),
            "place": [] if outcomes else cells_of_move(rules.game, state, action, board),
        }
        moves.append({**move, "weight": int(outcomes[action][0])} if outcomes else move)
    return moves


def _number(number: Any) -> int | float:
    """Return a number as JSON has it. Rules may return truth values and NumPy's numbers."""
    return int(number) if int(number) == number else float(number)


def sampled(rules: Rules, count: int, seed: int = 0, keys: States | None = None) -> list[Record]:
    """Records along random games, the start first, none twice; fewer where the game has fewer, or they take long."""
    chance = random.Random(seed)
    records: dict[tuple[int, int | None], Record] = {}
    position = first_position(rules)
    for _ in range(20 * count):
        if (position.state, position.mover) not in records:
            records[position.state, position.mover] = record_of(rules, position, keys)
        if len(records) == count or sum(len(record["moves"]) for record in records.values()) > MOVES:
            break
        ended = position.ply == MAX_PLIES or rules.is_terminal(position.state)
        actions = [] if ended else choices(rules, position.state)
        position = next_position(rules, position, chance.choice(actions)) if actions else first_position(rules)
    return list(records.values())


def all_of(rules: Rules, limit: int) -> list[Record] | None:
    """Records of all positions that play can reach, the start first; None if there are more than `limit`."""
    start = first_position(rules)
    records: dict[tuple[int, int | None], Record] = {}
    todo = [start]
    for position in todo:
        if (position.state, position.mover) in records:
            continue
        if len(records) == limit:
            return None
        records[position.state, position.mover] = record_of(rules, position)
        if not rules.is_terminal(position.state):
            todo += [next_position(rules, position, action) for action in choices(rules, position.state)]
    return list(records.values())


def choices(rules: Rules, state: int) -> list[int]:
    """Return the actions at an unfinished state, or the numbers of chance's outcomes, however likely."""
    return list(range(len(chances(rules.game, state)))) or list(rules.actions(state))
