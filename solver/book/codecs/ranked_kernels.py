"""Ranks of many states, compiled: what `ranked.Ranks` says of one.

Cost, connect-four 5x5, CPU: 0.2 us for the rank of a state, as much for what a rank holds. All states of a book are
sorted by their ranks, or back: 40 bytes a state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.errors import UncompiledRules
from solver.base.value import WIN
from solver.book.codecs import ranked
from solver.book.codecs.ranked import TOLD, Ranks, untrue
from solver.book.solution import Part
from solver.compiled.binding import bind, compiling, inlined, kernel
from solver.compiled.inlining import PART
from solver.store.directory import cells_of, prefixes_of

game: Any = None  # constants of the bound copies
FOLDS = OUTLOOK = REPLIES = False
COMPARED = 1000  # states that the plain rules are asked about as well
UNKNOWN, LACKING = 1 << 60, 1 << 61  # no merits: not told; of a state that the book lacks
fill = register_jitable(ranked.fill)
lift = register_jitable(**PART)(value.lift)
terminal_merit = register_jitable(**PART)(value.terminal_merit)


@kernel
def ranks_of(states, ranks):
    """Write the rank of each of the states, which are in a book."""
    for i in range(len(states)):
        ranks[i] = game.rank(states[i])


@inlined
def state_of(rank):
    """The state of a rank that a book may hold, else -1."""
    state = game.unrank(rank)
    if state < 0 or game.is_terminal(state) or (FOLDS and game.canonical(state) != state):
        return -1
    return state


@kernel
def fill_symbols(ranks, indices, symbols):
    """Write the symbols of all ranks from the first to the last."""
    place = 0
    for at in range(len(symbols)):
        rank = ranks[0] + at
        if rank == ranks[place]:  # nobody asks what is in the book
            place += 1
        else:
            symbols[at] = state_of(rank) >= 0
    fill(ranks, indices, symbols)


@kernel
def told(state):
    """The merit of a state, if the rules tell it, else UNKNOWN; and the state that its only reply leads to, or -1."""
    if game.is_terminal(state):
        return terminal_merit(game.utility(state), game.plies_left(state), False, WIN), -1
    outlook = game.outlook(state) if OUTLOOK else 0
    if outlook != 0:
        return WIN - 1 if outlook > 0 else 2 - WIN, -1
    choices = game.replies(state) if REPLIES else 0
    if choices == 0 or choices & choices - 1:
        return UNKNOWN, -1
    child = game.result(state, choices.bit_length() - 1)
    if FOLDS and not game.is_terminal(child):
        child = game.canonical(child)
    return UNKNOWN, child


@kernel
def mark_told(states, merits, indices, shift, cells, kept):
    """Copy the indices, but TOLD where the rules tell the merit; the first place where they tell another, or -1.

    The states ascend; cells[i] is where those begin whose bits from `shift` on are i more than the first one's.
    """
    first = states[0] >> shift
    for i in range(len(states)):
        kept[i] = indices[i]
        merit, child = told(states[i])
        if child >= 0:
            if game.is_terminal(child):
                merit, _ = told(child)
            else:
                cell = (child >> shift) - first
                if not 0 <= cell < len(cells) - 1:
                    return i
                place = cells[cell] + np.searchsorted(states[cells[cell] : cells[cell + 1]], child)
                if place == len(states) or states[place] != child:
                    return i
                merit = merits[indices[place]]
            merit = lift(merit, False, False)
        if merit != UNKNOWN:
            kept[i] = TOLD
            if merit != merits[indices[i]]:
                return i
    return -1


@kernel
def merit_of(state, index, firsts, starts, symbols, merits):
    """The merit of a state of this index: its own, or what the rules tell, or LACKING.

    firsts (groups,) the first ranks of all groups, starts (groups + 1,) where their symbols begin.
    """
    merit, child = told(state)
    if merit == UNKNOWN and child < 0:
        return merits[index] if index < len(merits) else LACKING
    plies = 0
    while merit == UNKNOWN and child >= 0:
        plies += 1
        state = child
        merit, child = told(state)
    if merit == UNKNOWN:
        rank = game.rank(state)
        group = np.searchsorted(firsts, rank, "right") - 1
        if group < 0 or rank - firsts[group] >= starts[group + 1] - starts[group]:
            return LACKING
        symbol = symbols[starts[group] + rank - firsts[group]]
        if symbol == 0 or symbol > len(merits):
            return LACKING
        merit = merits[symbol - 1]
    for _ in range(plies):
        merit = lift(merit, False, False)
    return merit


@kernel
def states_of(group, tells, firsts, starts, symbols, merits, states, indices):
    """Write the states that the ranks of a group hold, and the indices of their values; how many there are.

    An index beyond the palette stands for a value that is none of the palette.
    """
    count = 0
    for at in range(starts[group], starts[group + 1]):
        state = state_of(firsts[group] + at - starts[group]) if symbols[at] else -1
        if state < 0:
            continue
        index = np.int64(symbols[at]) - 1
        if tells:
            merit = merit_of(state, index, firsts, starts, symbols, merits)
            index = 0
            while index < len(merits) and merits[index] != merit:
                index += 1
        states[count], indices[count] = state, index
        count += 1
    return count


def in_order(ranks: Any, indices: Any, values: int) -> tuple[Any, Any]:
    """Ranks and indices, TOLD to values - 1, in order of the ranks: sorted as one number where 63 bits hold both."""
    bits = (values - TOLD).bit_length()
    if int(ranks.max(initial=0)) >> 63 - bits:
        order = np.argsort(ranks)
        return ranks[order], indices[order]
    keys = ranks << bits | indices - TOLD
    keys.sort()
    return keys >> bits, (keys & (1 << bits) - 1).astype(indices.dtype) + TOLD


class Compiled:
    """The compiled ranks of a game and a book. Raises UncompiledRules."""

    def __init__(self, ranks: Ranks) -> None:
        self.rules, self.plain = ranks.rules, ranks
        self.merits: NDArray[np.int64] = np.array(self.plain.merits, np.int64)
        with compiling(self.rules.game):
            self.kernels = bind(sys.modules[__name__], self.rules.game, self.rules.symmetry)
            self.kernels.ranks_of(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def parts(self, parts: Iterable[Part], chunk: int) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Ranks and indices in order of the ranks, `chunk` at a time, of states and indices; raises GameError."""
        pieces = [(np.array(states, np.int64), np.array(indices, np.int32)) for states, indices in parts]
        states, indices = (np.concatenate(column) for column in zip(*pieces, strict=True))
        del pieces
        ranks = np.empty_like(states)
        with compiling(self.rules.game):
            self.kernels.ranks_of(states, ranks)
        step = len(states) // COMPARED + 1
        if [self.plain.rank(state) for state in states[::step].tolist()] != ranks[::step].tolist():
            raise UncompiledRules(f"{self.rules.name}: its ranks differ where they are compiled: keep within 64 bits")
        kept = self._kept(states, indices) if self.plain.tells else indices
        del states, indices
        ranks, kept = in_order(ranks, kept, len(self.merits))
        for begin in range(0, len(ranks), chunk):
            yield ranks[begin : begin + chunk], kept[begin : begin + chunk]

    def _kept(self, states: Any, indices: Any) -> NDArray[np.int32]:
        """The indices that are stored."""
        kept: NDArray[np.int32] = np.empty_like(indices)
        shift, prefix, count = prefixes_of(states)
        cells = np.concatenate(list(cells_of(states, shift, prefix, count)))
        with compiling(self.rules.game):
            wrong = self.kernels.mark_told(states, self.merits, indices, shift, cells, kept)
        if wrong >= 0:
            raise untrue(self.rules, int(states[wrong]))
        return kept

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """`ranked.encode_chunk` at the speed of C."""

        def filled(begin: int, end: int) -> bytes:
            symbols = np.empty(ranks[end - 1] - ranks[begin] + 1, f"<u{index_bytes}")
            self.kernels.fill_symbols(ranks[begin:end], indices[begin:end], symbols)
            return symbols.tobytes()

        with compiling(self.rules.game):
            return ranked.encode_blocks(ranks, index_bytes, filled)

    def states(self, groups: list[tuple[int, Any]]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """The states of all groups of a book, (first rank, symbols) each, and their palette indices."""
        firsts = np.array([first for first, _ in groups], np.int64)
        starts = np.cumsum([0, *(len(symbols) for _, symbols in groups)])
        symbols = np.concatenate([symbols for _, symbols in groups])
        for group in range(len(groups)):
            size = starts[group + 1] - starts[group]
            states, indices = np.empty(size, np.int64), np.empty(size, np.int32)
            with compiling(self.rules.game):
                count = self.kernels.states_of(
                    group, self.plain.tells, firsts, starts, symbols, self.merits, states, indices
                )
            yield states[:count], indices[:count]
