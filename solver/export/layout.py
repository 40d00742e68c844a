"""The layout of a game for learners: a plane for each character of its board, and dense numbers of its actions.

Every array that a learner takes from a game has this one layout: environments, OpenSpiel's tensors and training sets.
The game declares it by its `layout`. Without that, a complete book of all positions gives it, or the game itself, if it
has few positions.

A game without `cells` has no board. The bits of its state then stand in one row.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from solver.base.errors import GameError, LayoutError
from solver.book import Book
from solver.rules.boards.text import is_drawn
from solver.rules.game import Rules, own_method, own_value
from solver.rules.notation import board_of

EMPTY = ". "  # cells without a plane: nobody is there, or there is no cell
FEW = 10_000  # positions of a game that are explored for its layout


@dataclass(frozen=True)
class Layout:
    """The planes of a game's boards and the numbers of its actions.

    Attributes:
        symbols: The characters of a board, each with a plane. Without any, the one plane has the bits of the state.
        height: Rows of a plane.
        width: Columns of a plane.
        actions: The actions as the rules number them, ascending. The place of an action is its dense number.
    """

    symbols: str
    height: int
    width: int
    actions: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, rows, columns. The last plane is 1 where the second player moves."""
        return (len(self.symbols) or 1) + 1, self.height, self.width

    @functools.cached_property
    def _numbers(self) -> dict[int, int]:
        return {action: number for number, action in enumerate(self.actions)}

    def number(self, action: int) -> int:
        """Return the dense number of an action of the rules. Raises LayoutError for one that the layout lacks."""
        try:
            return self._numbers[action]
        except KeyError:
            raise LayoutError(f"layout() lacks action {action}: add it") from None

    def mask(self, actions: Iterable[int]) -> bytearray:
        """Return a byte for each dense number, 1 for these actions of the rules. Raises LayoutError as `number`."""
        mask = bytearray(len(self.actions))
        for action in actions:
            mask[self.number(action)] = 1
        return mask

    def planes(self, rules: Rules, state: int) -> bytes:
        """Return a byte, 0 or 1, for each cell of each plane. Raises LayoutError for a board that it lacks."""
        mover = rules.mover(state)
        cells = self.height * self.width
        if not self.symbols:
            boards = [bytes(state >> bit & 1 for bit in range(cells))]
        else:
            rows = board_of(rules.game, state, mover)
            board = "".join(rows)
            if len(rows) != self.height or len(board) != cells or not set(board) <= {*self.symbols, *EMPTY}:
                raise LayoutError(f"{rules.name}: layout() lacks the board of state {state}, {'/'.join(rows)}: add it")
            try:
                boards = [board.encode("latin-1").translate(_only(symbol)) for symbol in self.symbols]
            except UnicodeEncodeError:
                boards = [bytes(cell == symbol for cell in board) for symbol in self.symbols]
        return b"".join([*boards, (b"\1" if mover else b"\0") * cells])


@functools.cache
def _only(symbol: str) -> bytes:
    """A table of bytes for `translate`: 1 for the symbol, 0 for all others."""
    return bytes(chr(byte) == symbol for byte in range(256))


def layout_of(rules: Rules, book: Book | None = None) -> Layout:
    """Return the layout of a game.

    Args:
        rules: Those of the game.
        book: A book of the game, which helps if the rules declare no layout.

    Raises:
        GameError: The rules declare none or a wrong one, the game has many positions, and the book lacks some of them.
    """
    declared = own_value(rules.game, "layout")
    if declared is None:
        layout = _explored(rules.game)
        if layout is None and book is not None:
            # It has to store every position that play may meet, each image by symmetry included
            header = book.header
            is_whole = header.scope == "complete" and header.trim is None and not header.estimate
            is_folded = header.symmetry and own_method(rules.game, "canonical") is not None
            if is_whole and not is_folded and rules.vanishing is None:
                children = (child for state in book for _, _, child in rules.children(state))
                # It leaves out the finished ones
                layout = _surveyed(rules, itertools.chain(book, filter(rules.is_terminal, children)))
        if layout is not None:
            return layout
        raise GameError(
            f"{rules.name} has over {FEW:,} positions and no layout(self), which gives learners the characters of its"
            " boards and its actions: add it, or take a complete book solved without symmetry"
        )
    try:
        symbols, actions = declared
        marks = set(symbols)
        numbers = tuple(int(action) for action in (range(actions) if isinstance(actions, int) else actions))
    except (TypeError, ValueError):
        raise GameError(f"{rules.name}: layout() is {declared}: make it a text, and actions or their count") from None
    if list(numbers) != sorted(set(numbers)) or min(numbers, default=0) < 0:
        raise GameError(f"{rules.name}: layout() has actions that do not ascend from 0: sort them, each once")
    if not is_drawn(rules.game):
        return Layout("", 1, rules.bits, numbers)
    if len(marks) < len(symbols) or marks & {*EMPTY}:
        raise GameError(f"{rules.name}: layout() names {symbols!r}: name each character once, '.' and ' ' not at all")
    state = rules.game.initial()
    rows = board_of(rules.game, state, rules.mover(state))
    return Layout(symbols, len(rows), len(rows[0]), numbers)


def _surveyed(rules: Rules, states: Iterable[int]) -> Layout:
    """The layout of the boards and the moves of these states."""
    symbols: set[str] = set()
    actions: set[int] = set()
    height, width = 1, rules.bits
    drawn = is_drawn(rules.game)
    for state in states:
        if drawn:
            rows = board_of(rules.game, state, rules.mover(state))
            height, width = len(rows), len(rows[0])
            symbols.update(*rows)
        if not rules.is_terminal(state) and not any(True for _ in rules.outcomes(state)):
            actions.update(rules.actions(state))
    return Layout("".join(sorted(symbols - {*EMPTY})), height, width, tuple(sorted(map(int, actions))))


@functools.lru_cache(maxsize=None, typed=True)  # games of equal parameters are equal
def _explored(game: Any) -> Layout | None:
    """The layout of a game with few positions, None of another."""
    rules = Rules(game)
    states = dict.fromkeys(itertools.islice(itertools.chain([rules.first()], rules.starts()), FEW + 1))
    for state in (waiting := list(states)):
        if len(states) > FEW:
            return None
        if not rules.is_terminal(state):
            new = [child for _, _, child in rules.children(state) if child not in states]
            states.update(dict.fromkeys(new))
            waiting.extend(dict.fromkeys(new))
    return _surveyed(rules, states)
