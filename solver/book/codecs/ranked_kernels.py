"""Ranks of many states, compiled: as `ranked.Ranks` does for one.

Cost, connect-four 5x6, CPU: 0.05 us for the rank of a state, as much for the state of a rank. The states of a book are
sorted by rank on all cores: 17 bytes of memory a state. Reading them back takes one core and 85 bytes a state.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.parallel import Workers
from solver.base.value import WIN
from solver.book.codecs import ranked
from solver.book.codecs.ranked import MOST_STEPS, RECOVERED, Ranks, symbols_of, unnumbered, untrue
from solver.book.mapping import bodies_of
from solver.book.solution import Part
from solver.compiled.binding import bind, compiling, inlined, kernel
from solver.compiled.edges import lift, terminal_merit
from solver.store.packed import Table
from solver.store.runs import spans, splitters
from solver.store.shared import part
from solver.store.sorting import radix_sort

Array = NDArray[Any]
Group = tuple[int, Array]  # its first rank, and the symbols of all

game: Any = None  # constants of the bound copies
FOLDS = OUTLOOK = REPLIES = False
ALL = -1  # actions, in place of their bits
FURTHEST = 4096  # plies that a value may be away from where it is stored
COMPARED = 1000  # states that the plain rules are asked about as well
CHECKED = 1 << 20  # states of a book, about, whose values are compared with those that children tell
UNKNOWN, LACKING = 1 << 60, 1 << 61  # no merits: not told; of a state that the book lacks
fill = part(ranked.fill)


@kernel
def ranks_of(states: Array, ranks: Array) -> None:
    """Write the rank of each of the states, which are in a book."""
    for i in range(len(states)):
        ranks[i] = game.rank(states[i])


@inlined
def state_of(rank: int) -> Any:
    """The state of a rank that a book may hold, else -n: n ranks from this one on have no such state."""
    state = game.unrank(rank)
    if state >= 0 and (game.is_terminal(state) or (FOLDS and game.canonical(state) != state)):
        return -1
    return state


@kernel
def fill_symbols(ranks: Array, indices: Array, symbols: Array) -> None:
    """Write the symbols of all ranks from the first to the last into zeros."""
    index = next_asked = 0
    for at in range(len(symbols)):
        rank = ranks[0] + at
        # Only missing states are wanted
        if rank == ranks[index]:
            index += 1
        elif rank >= next_asked:
            state = state_of(rank)
            symbols[at] = state >= 0
            next_asked = rank - min(state, -1)
    fill(ranks, indices, symbols)


@inlined
def end_of(state: Any, bare: bool) -> Any:
    """The merit of a finished state."""
    if bare:
        return game.utility(state)
    return terminal_merit(game.utility(state), game.plies_left(state), False, WIN)


@inlined
def wins_at_once(state: Any) -> bool:
    """Return whether a move of the state wins immediately."""
    for action in game.actions(state):
        child = game.result(state, action)
        if game.is_terminal(child) and game.utility(child) < 0:
            return True
    return False


@kernel
def told(state: Any, bare: bool, halves: bool) -> tuple[Any, Any]:
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
def child_of(state: Any, choices: int, child_index: int) -> Any:
    """The child by that of the chosen actions, folded; -1 where there are no more."""
    for action in game.actions(state):
        if choices == ALL or choices >> action & 1:
            if child_index == 0:
                child = game.result(state, action)
                return game.canonical(child) if FOLDS and not game.is_terminal(child) else child
            child_index -= 1
    return -1


@kernel
def told_by_children(states: Array, merits: Array, indices: Array, state: Any, choices: int, bare: bool) -> Any:
    """The merit that the children by these actions give a state, LACKING where the states, which ascend, lack one."""
    best = UNKNOWN
    for action in game.actions(state):
        if choices == ALL or choices >> action & 1:
            child = game.result(state, action)
            if game.is_terminal(child):
                merit = end_of(child, bare)
            else:
                child = game.canonical(child) if FOLDS else child
                index = np.searchsorted(states, child)
                if index == len(states) or states[index] != child:
                    return LACKING
                merit = merits[indices[index]]
            merit = lift(merit, False, bare)
            best = merit if best == UNKNOWN else max(best, merit)
    return best


@kernel
def add_symbols(
    states: Array, merits: Array, indices: Array, tells: Any, bits: int, keys: Array, begin: int, end: int
) -> Any:
    """Append the symbol of each state to keys[begin:end] as their low bits: the index of its value less RECOVERED.

    The symbol is 0 if the rules or the children tell the merit. Returns the first place where they tell a wrong one, or
    -1. Of larger books only some states ask their children, which are anywhere in memory.
    """
    asked = len(states) // CHECKED + 1
    for i in range(begin, end):
        index = np.int64(indices[i])
        if tells[0]:
            merit, choices = told(states[i], tells[1], tells[2])
            if choices:
                merit = merits[index]
                if i % asked == 0:
                    merit = told_by_children(states, merits, indices, states[i], choices, tells[1])
            if merit != UNKNOWN:
                if merit != merits[index]:
                    return i
                index = RECOVERED
        keys[i] = keys[i] << bits | index - RECOVERED
    return -1


@kernel
def stored_index(rank: int, firsts: Array, starts: Array, symbols: Array) -> Any:
    """The index that is stored at a rank, -1 where there is none."""
    group = np.searchsorted(firsts, rank, "right") - 1
    if group < 0 or rank - firsts[group] >= starts[group + 1] - starts[group]:
        return np.int64(-1)
    return np.int64(symbols[starts[group] + rank - firsts[group]]) - 1


@kernel
def merit_of(
    state: Any, bare: bool, halves: bool, firsts: Array, starts: Array, symbols: Array, merits: Array, path: Array
) -> Any:
    """The merit of a state of a book: its own, or the one that rules and children tell, or LACKING.

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
def index_of(
    state: Any, index: Any, tells: Any, firsts: Array, starts: Array, symbols: Array, merits: Array, path: Array
) -> Any:
    """The palette index of a state that has this one at its rank; beyond the palette for a value that is none of it."""
    if tells[0]:
        merit = merit_of(state, tells[1], tells[2], firsts, starts, symbols, merits, path)
        index = 0
        while index < len(merits) and merits[index] != merit:
            index += 1
    return index


@kernel
def indices_of(
    states: Array, tells: bool, firsts: Array, starts: Array, symbols: Array, merits: Array, indices: Array
) -> None:
    """Write the palette index of each rank, or -1 for a rank that no state of the book has."""
    path = np.empty((FURTHEST, 4), np.int64)
    for i in range(len(states)):
        state, indices[i] = states[i], -1
        rank = game.rank(state) if state >= 0 else -1
        if rank >= 0 and not game.is_terminal(state) and not (FOLDS and game.canonical(state) != state):
            indices[i] = stored_index(rank, firsts, starts, symbols)
        if indices[i] >= 0:
            indices[i] = index_of(state, indices[i], tells, firsts, starts, symbols, merits, path)
        # The book is refused, and each of its states may take as long
        if indices[i] >= len(merits):
            return


@kernel
def states_of(
    group: int, tells: Any, firsts: Array, starts: Array, symbols: Array, merits: Array, states: Array, indices: Array
) -> Any:
    """Write the states that the ranks of a group hold, and the indices of their values; how many there are.

    tells (3,): whether the rules do, of a book without distances, of one without even tiers. An index beyond the
    palette stands for a value that is none of the palette.
    """
    count = 0
    path = np.empty((FURTHEST, 4), np.int64)
    next_asked = 0
    for place in range(starts[group], starts[group + 1]):
        state = state_of(firsts[group] + place - starts[group]) if symbols[place] and place >= next_asked else -1
        if state < 0:
            next_asked = max(next_asked, place - state)
            continue
        index = np.int64(symbols[place]) - 1
        indices[count] = index_of(state, index, tells, firsts, starts, symbols, merits, path)
        states[count] = state
        count += 1
        # The book is refused, and each of its states may take as long
        if indices[count - 1] >= len(merits):
            break
    return count


def gathered(chunks: Iterable[Part], columns: Sequence[Array], size: int) -> Iterator[slice]:
    """Copy states and indices into columns, and yield where they are, `size` at a time, as soon as they are there."""
    begin = end = 0
    for chunk in chunks:
        before, end = end, end + len(chunk[0])
        for column, more in zip(columns, chunk, strict=True):
            column[before:end] = more
        while end - begin >= size:
            yield slice(begin, begin + size)
            begin += size
    if end != len(columns[0]):
        raise ValueError(f"{end} states came, the header says {len(columns[0])}")
    yield slice(begin, end)


def in_order(keys: NDArray[np.int64], pieces: list[slice], team: Workers) -> Iterator[NDArray[np.int64]]:
    """The keys in ascending order, a piece at a time. These pieces of them are sorted where they lie."""

    def put_in_order(run: NDArray[np.int64]) -> NDArray[np.int64]:
        radix_sort(run, np.empty_like(run), len(run))
        return run

    table = Table([*team.map(put_in_order, (keys[piece] for piece in pieces))])
    yield from team.map(lambda span: put_in_order(table.between(*span)), spans(splitters(table)))


def groups_in(records: Iterable[bytes]) -> Iterator[Group]:
    """The groups of a book's checked segments. Raises DamagedBook."""
    for record in records:
        for body, first_rank, size in bodies_of(record):
            yield first_rank, np.frombuffer(symbols_of(body, size), f"<u{size}")


class Compiled:
    """The compiled ranks of a game and a book. Raises UncompiledRules."""

    def __init__(self, ranks: Ranks) -> None:
        self.rules, self.plain = ranks.rules, ranks
        self.merits: NDArray[np.int64] = np.array(self.plain.merits, np.int64)
        self._tells = ranks.tells, ranks.bare, ranks.halves
        with compiling(self.rules.game):
            self.kernels: Any = bind(sys.modules[__name__], self.rules.game, self.rules.symmetry)
            self.kernels.ranks_of(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def parts(
        self, chunks: Iterable[Part], count: int, chunk: int, team: Workers
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Order the states of a book by their ranks, on all threads of a team.

        Args:
            chunks: Ascending states and their indices, `count` of each.
            count: The states of the book.
            chunk: States of a task.
            team: Threads.

        Yields:
            Ascending ranks and the indices that are stored, some at a time.

        Raises:
            GameError: A state has no rank, or the rules tell another merit than a state has.
            UncompiledRules: A rank differs from that of the plain rules.
        """
        bits = (len(self.merits) - RECOVERED).bit_length()
        ranks, keys, pieces = self._ranked(chunks, count, chunk, bits, team)
        # One number does not hold both
        if keys is not ranks:
            order = np.argsort(ranks)
            yield ranks[order], keys[order].astype(np.int32) + RECOVERED
            return
        for keys in in_order(ranks, pieces, team):
            yield keys >> bits, (keys & (1 << bits) - 1).astype(np.int32) + RECOVERED

    def _ranked(
        self, chunks: Iterable[Part], count: int, chunk: int, bits: int, team: Workers
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[slice]]:
        """The ranks of all states, an array with the symbols as its low bits, the same if it holds both, and pieces."""
        states, ranks = np.empty(count, np.int64), np.empty(count, np.int64)
        indices = np.empty(count, np.uint8 if len(self.merits) <= 1 << 8 else np.int32)

        def rank(piece: slice) -> slice:
            with compiling(self.rules.game):
                self.kernels.ranks_of(states[piece], ranks[piece])
            return piece

        # Ranks are found while later states are read
        pieces = list(team.map(rank, gathered(chunks, (states, indices), chunk)))
        step = count // COMPARED + 1
        if [self.plain.rank(state) for state in states[::step].tolist()] != ranks[::step].tolist():
            raise UncompiledRules(f"{self.rules.name}: its ranks differ where they are compiled: keep within 64 bits")
        if int(ranks.min(initial=0)) < 0:
            raise unnumbered(self.rules, int(states[ranks.argmin()]))
        keys = np.zeros_like(ranks) if int(ranks.max(initial=0)) >> 63 - bits else ranks
        add = functools.partial(self.kernels.add_symbols, states, self.merits, indices, self._tells, bits, keys)
        with compiling(self.rules.game):
            wrong = next((at for at in team.map(lambda piece: add(piece.start, piece.stop), pieces) if at >= 0), None)
        if wrong is not None:
            raise untrue(self.rules, int(states[wrong]))
        return ranks, keys, pieces

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """`ranked.encode_chunk` at the speed of C."""

        def filled(begin: int, end: int) -> bytes:
            symbols = np.zeros(ranks[end - 1] - ranks[begin] + 1, f"<u{index_bytes}")
            self.kernels.fill_symbols(ranks[begin:end], indices[begin:end], symbols)
            return symbols.tobytes()

        with compiling(self.rules.game):
            return ranked.encode_blocks(ranks, index_bytes, filled)

    def states(self, groups: list[Group]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """The states of all groups of a book, (first rank, symbols) each, and their palette indices."""
        tells, firsts, starts, symbols = self._laid_out(groups)
        for group in range(len(groups)):
            size = starts[group + 1] - starts[group]
            states, indices = np.empty(size, np.int64), np.empty(size, np.int32)
            with compiling(self.rules.game):
                count = self.kernels.states_of(group, tells, firsts, starts, symbols, self.merits, states, indices)
            yield states[:count], indices[:count]

    def indices(self, states: NDArray[np.int64], groups: list[Group]) -> NDArray[np.int64]:
        """Return the palette index of each state in a book of these groups, or -1 for a state that is not in it."""
        palette_indices = np.full(len(states), -1, np.int64)
        with compiling(self.rules.game):
            self.kernels.indices_of(states, *self._laid_out(groups), self.merits, palette_indices)
        return palette_indices

    def _laid_out(self, groups: list[Group]) -> Any:
        """Return the values that the rules tell, each group's first rank, where its symbols begin, and the symbols."""
        firsts = np.array([first_rank for first_rank, _ in groups], np.int64)
        starts = np.cumsum([0, *(len(symbols) for _, symbols in groups)])
        return self._tells, firsts, starts, np.concatenate([symbols for _, symbols in groups])
