"""The backward pass over an impartial game: nimbers, as `base.kinds` has them, in place of merits.

Cost: that of `backward`; where its nimbers exceed a byte the pass begins anew with wider ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.kinds import LOST
from solver.compiled.edges import BATCH_MOVES, NOT_TERMINAL, Moves
from solver.store.directory import MISSING, TierLookup
from solver.store.packed import LAST
from solver.store.shared import shared
from solver.sweep.backward import Backward, Span
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, new_batch, next_batch, value_at
from solver.sweep.scale import Merits


@shared
def exclude(moves: Moves, known: TierLookup, begin: int, end: int, excluded: NDArray[Any]) -> tuple[Any, Any]:
    """Let found (end - begin,) be the nimbers of states[begin:end], LOST in place of 0: the least that no child has.

    All children are finished, and lost, or in later tiers, whose nimbers are known. Returns as `backward.evaluate`.
    """
    widest = LAST >> 64 - 8 * excluded.itemsize
    batch, cursor = new_batch(BATCH_MOVES), begin
    # The last state with such a child, by nimber
    marks = np.empty(0, np.int64)
    while cursor < end:
        batch, count, next_state = next_batch(moves, known, cursor, end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, known.states[next_state]
        owners, merits, rows, places = batch.edges.owners, batch.edges.merits, batch.rows, batch.places
        if len(marks) <= count:
            marks = np.full(2 * count + 1, -1, np.int64)
        j = 0
        for state in range(cursor, next_state):
            while j < count and cursor + (owners[j] >> 1) == state:
                nimber = 0
                if merits[j] == NOT_TERMINAL:
                    if places[j] == MISSING:
                        return LOST_CHILD, known.states[state]
                    nimber = max(value_at(known, rows[j], places[j]), 0)
                # No state has so many moves that a larger one counts
                if nimber < len(marks):
                    marks[nimber] = state
                j += 1
            least = 0
            while marks[least] == state:
                least += 1
            if least > widest:
                return TOO_WIDE, known.states[state]
            excluded[state - begin] = least if least else LOST
        cursor = next_state
    return FINE, np.int64(0)


class NimberPass(Backward):
    """`Backward` for an impartial game: `merits` are nimbers, LOST in place of 0."""

    @staticmethod
    def value(
        moves: Moves, known: TierLookup, begin: int, end: int, span: Span, point: int, best: Merits
    ) -> tuple[int, int]:
        fault: tuple[int, int] = exclude(moves, known, begin, end, best)
        return fault

    def _key_ranges(self, tier_row: int) -> list[tuple[int, int]]:
        """All keys at once: a nimber is known when all children are."""
        return [(0, LAST)]
