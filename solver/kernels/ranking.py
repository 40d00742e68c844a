"""Ranks of many states, compiled: what `solver.book.ranking` says of one.

Cost, connect-four 6x4, CPU: 0.6 us for the rank of a state, as much for what a rank holds. All states of a book are
sorted by their ranks, or back: 40 bytes a state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.book.codecs import ranked
from solver.book.ranking import Ranking
from solver.errors import UncompiledRules
from solver.game import Rules
from solver.kernels.compiled import bind, compiling, inlined, kernel
from solver.solved import Part

game: Any = None  # constants of the bound copies
FOLDS = False
COMPARED = 1000  # states and ranks that the plain rules are asked about as well
fill = register_jitable(ranked.fill)


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
    for at in range(len(symbols)):
        symbols[at] = state_of(ranks[0] + at) >= 0
    fill(ranks, indices, symbols)


@kernel
def states_of(first, symbols, states, indices):
    """Write the states that ranks from the first on hold, and the indices of their values; how many there are."""
    count = 0
    for at in range(len(symbols)):
        if symbols[at]:
            state = state_of(first + at)
            if state >= 0:
                states[count], indices[count] = state, symbols[at] - 1
                count += 1
    return count


class Compiled:
    """The compiled ranks of a game. Raises BookError without ranks, UncompiledRules where they do not compile."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.plain = Ranking(rules)
        with compiling(rules.game):
            self.kernels = bind(sys.modules[__name__], rules.game, rules.symmetry)
            self.kernels.ranks_of(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def parts(self, parts: Iterable[Part], chunk: int) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """Ranks and indices in order of the ranks, `chunk` at a time, of states and indices."""
        pieces = [(np.array(states, np.int64), np.array(indices)) for states, indices in parts]
        states, indices = (np.concatenate(column) for column in zip(*pieces, strict=True))
        del pieces
        ranks = np.empty_like(states)
        with compiling(self.rules.game):
            self.kernels.ranks_of(states, ranks)
        step = len(states) // COMPARED + 1
        if [self.plain.rank(state) for state in states[::step].tolist()] != ranks[::step].tolist():
            raise UncompiledRules(f"{self.rules.name}: its ranks differ where they are compiled")
        del states
        order = np.argsort(ranks)
        for begin in range(0, len(order), chunk):
            some = order[begin : begin + chunk]
            yield ranks[some], indices[some]

    def states(self, first: int, symbols: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The states that the ranks from the first on hold, and the palette indices that their symbols say."""
        states, indices = np.empty(len(symbols), np.int64), np.empty(len(symbols), np.int32)
        with compiling(self.rules.game):
            count = self.kernels.states_of(first, symbols, states, indices)
        return states[:count], indices[:count]

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """`ranked.encode_chunk` at the speed of C."""

        def filled(begin: int, end: int) -> bytes:
            symbols = np.empty(ranks[end - 1] - ranks[begin] + 1, f"<u{index_bytes}")
            self.kernels.fill_symbols(ranks[begin:end], indices[begin:end], symbols)
            return symbols.tobytes()

        with compiling(self.rules.game):
            return ranked.encode_blocks(ranks, index_bytes, filled)
