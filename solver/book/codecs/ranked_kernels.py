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
from solver.book.codecs.ranked import MOST_STEPS, TOLD, Ranks, unnumbered, untrue
from solver.book.solution import Part
from solver.compiled.binding import bind, compiling, inlined, kernel
from solver.compiled.inlining import PART
from solver.store.directory import cells_of, prefixes_of

game: Any = None  # constants of the bound copies
FOLDS = OUTLOOK = REPLIES = False
ALL = -1  # actions, in place of their bits
FURTHEST = 4096  # plies that a value may be away from where it is stored
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


@inlined
def end_of(state, bare):
    """The merit of a finished state."""
    if bare:
        return game.utility(state)
    return terminal_merit(game.utility(state), game.plies_left(state), False, WIN)


@inlined
def wins_at_once(state):
    for action in game.actions(state):
        child = game.result(state, action)
        if game.is_terminal(child) and game.utility(child) < 0:
            return True
    return False


@kernel
def told(state, bare, halves):
    """The merit of a state, if the rules tell it, else UNKNOWN; and the actions whose children tell it: bits, or ALL.

    UNKNOWN and 0 for a state whose merit is stored.
    """
    if game.is_terminal(state):
        return end_of(state, bare), 0
    if OUTLOOK:
        outlook = game.outlook(state)
        if outlook != 0:
            return (outlook if bare else WIN - 1 if outlook > 0 else 2 - WIN), 0
    elif bare and wins_at_once(state):
        return 1, 0
    choices = game.replies(state) if REPLIES else 0
    if (choices == 0 or choices & choices - 1) and not (halves and game.tier(state) % 2 == 0):
        return UNKNOWN, 0
    return UNKNOWN, choices if choices else ALL


@kernel
def child_of(state, choices, place):
    """The child by that of the chosen actions, folded; -1 where there are no more."""
    for action in game.actions(state):
        if choices == ALL or choices >> action & 1:
            if place == 0:
                child = game.result(state, action)
                return game.canonical(child) if FOLDS and not game.is_terminal(child) else child
            place -= 1
    return -1


@kernel
def mark_told(states, merits, indices, shift, cells, bare, halves, kept):
    """Copy the indices, but TOLD where rules or children tell the merit; the first place where that is wrong, or -1.

    The states ascend; cells[i] is where those begin whose bits from `shift` on are i more than the first one's.
    """
    first = states[0] >> shift
    for i in range(len(states)):
        kept[i] = indices[i]
        best, choices = told(states[i], bare, halves)
        place = 0
        child = child_of(states[i], choices, 0) if choices else -1
        while child >= 0:
            if game.is_terminal(child):
                merit = end_of(child, bare)
            else:
                cell = (child >> shift) - first
                if not 0 <= cell < len(cells) - 1:
                    return i
                at = cells[cell] + np.searchsorted(states[cells[cell] : cells[cell + 1]], child)
                if at == len(states) or states[at] != child:
                    return i
                merit = merits[indices[at]]
            merit = lift(merit, False, bare)
            best = merit if place == 0 else max(best, merit)
            place += 1
            child = child_of(states[i], choices, place)
        if best != UNKNOWN:
            kept[i] = TOLD
            if best != merits[indices[i]]:
                return i
    return -1


@kernel
def stored_index(rank, firsts, starts, symbols):
    """The index that is stored at a rank, -1 where there is none."""
    group = np.searchsorted(firsts, rank, "right") - 1
    if group < 0 or rank - firsts[group] >= starts[group + 1] - starts[group]:
        return np.int64(-1)
    return np.int64(symbols[starts[group] + rank - firsts[group]]) - 1


@kernel
def merit_of(state, bare, halves, firsts, starts, symbols, merits, path):
    """The merit of a state of a book: its own, or what rules and children tell, or LACKING.

    LACKING, too, where the way to stored values takes more than MOST_STEPS: a forged header makes it endless.
    firsts (groups,) the first ranks of all groups, starts (groups + 1,) where their symbols begin. path (plies, 4) is
    room for the states on the way to stored ones: a state, its choices, how many of them were looked at, the best.
    """
    path[0, 0], path[0, 2] = state, 0
    depth = 0
    for _ in range(MOST_STEPS):
        if path[depth, 2] == 0:
            merit, choices = told(path[depth, 0], bare, halves)
            path[depth, 1] = choices
        child = child_of(path[depth, 0], path[depth, 1], path[depth, 2]) if path[depth, 1] else -1
        if child >= 0 and not (bare and path[depth, 2] and path[depth, 3] > 0):
            depth += 1
            if depth == len(path):
                return LACKING
            path[depth, 0], path[depth, 2] = child, 0
            continue
        if path[depth, 2]:
            merit = path[depth, 3]
        elif merit == UNKNOWN:
            index = stored_index(game.rank(path[depth, 0]), firsts, starts, symbols)
            merit = merits[index] if 0 <= index < len(merits) else LACKING
        if merit == LACKING or depth == 0:
            return merit
        depth -= 1
        merit = lift(merit, False, bare)
        path[depth, 3] = max(path[depth, 3], merit) if path[depth, 2] else merit
        path[depth, 2] += 1
    return LACKING


@kernel
def index_of(state, index, tells, firsts, starts, symbols, merits, path):
    """The palette index of a state that has this one at its rank; beyond the palette for a value that is none of it."""
    if tells[0]:
        merit = merit_of(state, tells[1], tells[2], firsts, starts, symbols, merits, path)
        index = 0
        while index < len(merits) and merits[index] != merit:
            index += 1
    return index


@kernel
def indices_of(states, tells, firsts, starts, symbols, merits, found):
    """Write the palette index of each of some numbers, -1 for what is no state of the book."""
    path = np.empty((FURTHEST, 4), np.int64)
    for i in range(len(states)):
        state, found[i] = states[i], -1
        rank = game.rank(state) if state >= 0 else -1
        if rank >= 0 and not game.is_terminal(state) and not (FOLDS and game.canonical(state) != state):
            found[i] = stored_index(rank, firsts, starts, symbols)
        if found[i] >= 0:
            found[i] = index_of(state, found[i], tells, firsts, starts, symbols, merits, path)
        if found[i] >= len(merits):  # the book is refused, and each of its states may take as long
            return


@kernel
def states_of(group, tells, firsts, starts, symbols, merits, states, indices):
    """Write the states that the ranks of a group hold, and the indices of their values; how many there are.

    tells (3,): whether the rules do, of a book without distances, of one without even tiers. An index beyond the
    palette stands for a value that is none of the palette.
    """
    count = 0
    path = np.empty((FURTHEST, 4), np.int64)
    for at in range(starts[group], starts[group + 1]):
        state = state_of(firsts[group] + at - starts[group]) if symbols[at] else -1
        if state < 0:
            continue
        index = np.int64(symbols[at]) - 1
        indices[count] = index_of(state, index, tells, firsts, starts, symbols, merits, path)
        states[count] = state
        count += 1
        if indices[count - 1] >= len(merits):  # the book is refused, and each of its states may take as long
            break
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
        if int(ranks.min(initial=0)) < 0:
            raise unnumbered(self.rules, int(states[ranks.argmin()]))
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
            wrong = self.kernels.mark_told(
                states, self.merits, indices, shift, cells, self.plain.bare, self.plain.halves, kept
            )
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
        tells, firsts, starts, symbols = self._laid_out(groups)
        for group in range(len(groups)):
            size = starts[group + 1] - starts[group]
            states, indices = np.empty(size, np.int64), np.empty(size, np.int32)
            with compiling(self.rules.game):
                count = self.kernels.states_of(
                    group, tells, firsts, starts, symbols, self.merits, states, indices
                )
            yield states[:count], indices[:count]

    def indices(self, states: NDArray[np.int64], groups: list[tuple[int, Any]]) -> NDArray[np.int64]:
        """The palette index of each of some numbers in a book of these groups, -1 for what is none of its states."""
        found = np.full(len(states), -1, np.int64)
        with compiling(self.rules.game):
            self.kernels.indices_of(states, *self._laid_out(groups), self.merits, found)
        return found

    def _laid_out(self, groups: list[tuple[int, Any]]) -> Any:
        """What the rules tell, the first ranks of all groups, where their symbols begin, and those."""
        firsts = np.array([first for first, _ in groups], np.int64)
        starts = np.cumsum([0, *(len(symbols) for _, symbols in groups)])
        tells = self.plain.tells, self.plain.bare, self.plain.halves
        return tells, firsts, starts, np.concatenate([symbols for _, symbols in groups])
