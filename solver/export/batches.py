"""The rows of a training set as columns of arrays, for books of games whose rules compile.

`training` makes the same rows one by one in plain Python and is the judge of these. The columns have the same names,
order and entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.extras import working_memory
from solver.base.value import WIN
from solver.book import Book, bulk, streaming
from solver.compiled.choosing import NO_DISTANCE, Choices, CompiledChoices
from solver.export.layout import EMPTY, Layout
from solver.rules.boards.cells import board_of
from solver.rules.game import Rules

STATE_BYTES = 60  # of memory for each state of a book, while its pieces are joined


class Batches:
    """A whole book in memory and its compiled moves, from which `columns` makes some rows at a time.

    `states` are those of the rows: all of the book but those where chance decides. `split` names the part of a state.
    The moves are listed for `step` states at a time. Raises UncompiledRules where compiled rules cannot answer.
    """

    def __init__(self, book: Book, rules: Rules, split: Callable[[int], str], step: int) -> None:
        pieces = [(np.array(states), np.array(places)) for states, places in streaming.pieces(book)]
        self._stored = np.concatenate([states for states, _ in pieces]).astype(np.int64)
        self._places = np.concatenate([places for _, places in pieces])
        # a book yields states in the order of its keys, pieces are ascending
        states = np.fromiter(book, np.int64, len(book)) if book.header.encoding.asks_rules else self._stored
        self._palette, self._split = book.header.values, split
        self._moves = CompiledChoices(rules)
        self._moves.of(states[:1])
        self.states = states if rules.chance is None else self._decided(states, step)

    @staticmethod
    def can_take(book: Book, rules: Rules) -> bool:
        """Tell whether arrays hold all that the rows of this book need, and fit into memory."""
        header = book.header
        is_plain = rules.vanishing is not None or rules.plain_only or header.state_bytes or header.kind.signed
        is_whole = header.scope == "complete" and header.trim is None
        return is_whole and not is_plain and STATE_BYTES * len(book) < working_memory(None)

    def _decided(self, states: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """The states where a player decides."""
        are_decided = np.zeros(len(states), np.bool_)
        for begin in range(0, len(states), step):
            are_decided[begin + self._moves.of(states[begin : begin + step]).parents] = True
        return states[are_decided]

    def columns(self, begin: int, end: int, layout: Layout) -> list[Any] | None:
        """Return the columns of rows[begin:end], a tuple or an array each; entries that mean nothing are masked.

        None where compiled rules cannot answer, the layout lacks a board or an action, or the book lacks a child:
        plain rows have the error for it.
        """
        try:
            return self._columns(self.states[begin:end], layout)
        except GameError:
            return None

    def _columns(self, states: NDArray[np.int64], layout: Layout) -> list[Any] | None:
        values, _ = self._values(states)
        moves = self._moves.of(states)
        worths = self._worths(moves)
        planes = self._planes(states, layout)
        numbers = self._numbers(moves, layout)
        if worths is None or planes is None or numbers is None:
            return None
        scores, distances = worths
        firsts = np.searchsorted(moves.parents, np.arange(len(states)))
        best = scores == np.maximum.reduceat(scores, firsts)[moves.parents]
        # of equal scores, which for an expectation need not all have a distance
        merits = np.where(distances == NO_DISTANCE, scores, scores * (WIN - distances))
        merits[~best] = merits.min(initial=0)
        best &= merits == np.maximum.reduceat(merits, firsts)[moves.parents]
        cells = moves.parents, numbers
        shape = len(states), len(layout.actions)
        legal = np.zeros(shape, np.uint8)
        legal[cells] = 1
        are_best = np.zeros(shape, np.uint8)
        are_best[cells] = best
        regret = np.zeros(shape, scores.dtype)
        regret[cells] = values.scores[moves.parents] - scores
        plies = np.full(shape, NO_DISTANCE, np.int32)
        plies[cells] = distances
        return [
            states,
            tuple(map(self._split, states.tolist())),
            planes,
            legal,
            values.scores,
            _told(values.distances),
            are_best,
            np.ma.array(regret, mask=legal == 0),
            _told(plies),
        ]

    @staticmethod
    def _numbers(moves: Choices, layout: Layout) -> NDArray[np.int64] | None:
        """The dense number of each move's action; None where the layout lacks one."""
        known = np.array(layout.actions, np.int64)
        numbers = np.minimum(np.searchsorted(known, moves.actions), max(len(known) - 1, 0))
        return numbers if len(known) and bool((known[numbers] == moves.actions).all()) else None

    def _worths(self, moves: Choices) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """The score and distance of each move for the player who makes it; None where the book lacks a child."""
        children, known = self._values(moves.children)
        if not bool((known | moves.ended).all()):
            return None
        scores = np.where(moves.ended, moves.scores, children.scores)
        distances = np.where(moves.ended, moves.distances, children.distances)
        scores = np.where(moves.same, scores, 0 - scores) + moves.rewards  # no -0.0
        return scores, np.where(distances == NO_DISTANCE, NO_DISTANCE, distances + 1)

    def _values(self, states: NDArray[np.int64]) -> tuple[bulk.Values, NDArray[np.bool_]]:
        """The values of states, and of which the book has one: others are given that of any state."""
        order = np.searchsorted(self._stored, states)
        order[order == len(self._stored)] = 0
        return bulk.values(self._places[order].astype(np.int64), self._palette), self._stored[order] == states

    def _planes(self, states: NDArray[np.int64], layout: Layout) -> NDArray[np.uint8] | None:
        """The planes, (rows, planes x height x width); None for boards that have no place in them."""
        cells = layout.height * layout.width
        planes = np.zeros((len(states), layout.shape[0], cells), np.uint8)
        movers = self._moves.movers(states)
        planes[:, -1] = (movers != 0)[:, None]
        if not layout.symbols:
            planes[:, 0] = states[:, None] >> np.arange(cells) & 1
            return planes.reshape(len(states), -1)
        pairs = zip(states.tolist(), movers.tolist(), strict=True)
        boards = ["".join(board_of(self._moves.rules.game, state, mover)) for state, mover in pairs]
        if any(len(board) != cells for board in boards):
            return None
        # four bytes a character, so that each board is a row of code points whatever its symbols
        codes = np.frombuffer("".join(boards).encode("utf-32-le", "surrogatepass"), "<u4").reshape(-1, cells)
        for number, symbol in enumerate(layout.symbols):
            planes[:, number] = codes == ord(symbol)
        has_place = planes[:, :-1].any(axis=1) | np.isin(codes, [*map(ord, EMPTY)])
        return planes.reshape(len(states), -1) if bool(has_place.all()) else None


def _told(distances: NDArray[Any]) -> Any:
    """Distances, of which those that mean nothing are masked."""
    return np.ma.array(distances, mask=distances == NO_DISTANCE)
