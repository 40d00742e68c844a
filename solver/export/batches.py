"""The rows of a training set as columns of arrays, for books of games whose rules compile.

`training` makes the same rows one by one in plain Python and is the judge of these. The columns have the same names,
order and entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.memory import working_memory
from solver.base.value import WIN
from solver.book import Book, bulk, streaming
from solver.compiled.choosing import NO_DISTANCE, Choices, CompiledChoices
from solver.export.layout import EMPTY, Layout
from solver.rules.boards.cells import board_of
from solver.rules.game import Rules

STATE_BYTES = 60  # of memory for each state of a book, while its pieces are joined


@dataclass(frozen=True)
class Column:
    """A column of a number for each row, (rows,), or of a list, (rows, length); `missing` entries have none."""

    numbers: NDArray[Any]
    missing: NDArray[np.bool_] | None = None

    def array(self, pyarrow: Any, kind: Any) -> Any:
        """Return the column as Arrow has it."""
        is_flat = self.numbers.ndim == 1
        missing = None if self.missing is None else self.missing.ravel()
        entries = pyarrow.array(self.numbers.ravel(), mask=missing).cast(kind if is_flat else kind.value_type)
        return entries if is_flat else pyarrow.FixedSizeListArray.from_arrays(entries, type=kind)


class Batches:
    """A whole book in memory and its compiled moves, from which `columns` makes some rows at a time.

    `states` are those of the rows: all of the book but those where chance decides. `shares` are those of the splits.
    The moves are listed for `step` states at a time. Raises UncompiledRules where compiled rules cannot answer.
    """

    def __init__(self, book: Book, rules: Rules, shares: Sequence[tuple[str, float]], step: int) -> None:
        parts = [(np.array(states), np.array(places)) for states, places in streaming.pieces(book)]
        self._stored = np.concatenate([states for states, _ in parts]).astype(np.int64)
        self._places = np.concatenate([places for _, places in parts])
        # a book yields states in the order of its keys, pieces are ascending
        states = np.fromiter(book, np.int64, len(book)) if book.header.encoding.asks_rules else self._stored
        self._palette, self._shares = book.header.values, shares
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
        """Return the columns of rows[begin:end].

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
            Column(states),
            self._splits(states),
            Column(planes),
            Column(legal),
            Column(values.scores),
            Column(values.distances, values.distances == NO_DISTANCE),
            Column(are_best),
            Column(regret, legal == 0),
            Column(plies, plies == NO_DISTANCE),
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

    def _splits(self, states: NDArray[np.int64]) -> tuple[str, ...]:
        """The split of each state, as `training.split_of` has it."""
        digests = b"".join([hashlib.sha256(b"%d" % state).digest()[:8] for state in states.tolist()])
        shares = np.frombuffer(digests, ">u8").astype(np.float64) / 2**64
        names = np.array([name for name, _ in self._shares], object)
        ends = [end for _, end in self._shares[:-1]]
        return tuple(names[np.searchsorted(ends, shares, side="right")].tolist())
