"""Boards as planes of 0 and 1, as learners take them: one for each character that `cells` may have, and who moves.

A game that does not draw its board in cells gives the bits of its states instead, in one row.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from typing import NamedTuple

from solver.base.errors import GameError
from solver.export.records import board_of, is_drawn
from solver.rules.game import Rules

EMPTY = "."  # a cell that has no plane
STATES, PLAYOUTS, LONGEST = 5_000, 200, 500  # looked at by `surveyed`


class Planes(NamedTuple):
    """The layout: a plane for each of `symbols` (or one of the state's bits), then one that is 1 where the second
    player moves, each of `height` rows and `width` columns; and how many `actions` there are, numbered from 0."""

    symbols: str
    height: int
    width: int
    actions: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, rows, columns."""
        return (len(self.symbols) or 1) + 1, self.height, self.width

    def of(self, rules: Rules, state: int) -> bytes:
        """A byte, 0 or 1, for each cell of each plane. Raises GameError for a board that has no place in them."""
        mover = rules.mover(state)
        cells = self.height * self.width
        if not self.symbols:
            planes = [bytes(state >> bit & 1 for bit in range(self.width))]
        else:
            board = "".join(board_of(rules.game, state, mover))
            if len(board) != cells or not set(board) <= {*self.symbols, EMPTY}:
                raise GameError(f"the board of state {state} of {rules.name} is of another kind than those met before")
            planes = [_plane(board, symbol) for symbol in self.symbols]
        return b"".join([*planes, (b"\1" if mover else b"\0") * cells])

    def mask(self, actions: Iterable[int]) -> bytearray:
        """A byte for every action, 1 for these. Raises GameError for one that has no place."""
        mask = bytearray(self.actions)
        for action in actions:
            if action >= self.actions:
                raise GameError(f"action {action} is beyond the {self.actions} that were met: say how many there are")
            mask[action] = 1
        return mask


def _plane(board: str, symbol: str) -> bytes:
    """1 where a character is this one."""
    try:
        return board.encode("latin-1").translate(_only(symbol))
    except UnicodeEncodeError:
        return bytes(cell == symbol for cell in board)


@functools.cache
def _only(symbol: str) -> bytes:
    """What becomes of each byte: 1 of the symbol's, 0 of others."""
    return bytes(chr(byte) == symbol for byte in range(256))


def planes_of(
    rules: Rules, states: Iterable[int], actions: int | None = None, boards: list[str] | None = None
) -> Planes:
    """Return the layout for these states and their moves.

    Args:
        rules: those of the game.
        states: all states that the layout must have a place for.
        actions: how many there are, if that is known; else the moves tell.
        boards: a list to which the board of each state is added, if the rules draw them, in one line.
    """
    symbols: set[str] = set()
    height = width = most = 0
    drawn = is_drawn(rules.game)
    for state in states:
        if drawn:
            rows = board_of(rules.game, state, rules.mover(state))
            height, width = len(rows), len(rows[0])
            board = "".join(rows)
            symbols.update(board)
            if boards is not None:
                boards.append(board)
        if actions is None and not rules.is_terminal(state):
            most = max(most, *rules.actions(state), -1)
    if not drawn:
        height, width = 1, rules.bits
    return Planes("".join(sorted(symbols - {EMPTY})), height, width, most + 1 if actions is None else actions)


def surveyed(rules: Rules, actions: int | None = None) -> Planes:
    """The layout by the first states of a game, breadth first, and some random games; of so many `actions`, if given.

    What none of these has shows later, as an error.
    """
    found = planes_of(rules, _some(rules))
    return found if actions is None else found._replace(actions=actions)


def _some(rules: Rules) -> list[int]:
    states = dict.fromkeys(rules.roots()[:STATES])
    for state in (waiting := list(states)):
        if len(states) > STATES:
            break
        if not rules.is_terminal(state):
            new = [child for _, _, child in rules.children(state) if child not in states]
            states.update(dict.fromkeys(new))
            waiting.extend(dict.fromkeys(new))
    chance = random.Random(0)
    for _ in range(PLAYOUTS):
        state = rules.game.initial()
        for _ in range(LONGEST):
            states[state] = None
            if rules.is_terminal(state):
                break
            state = chance.choice([child for _, _, child in rules.children(state)])
    return list(states)
