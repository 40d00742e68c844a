"""The exports of a module for the exact search: `compiled.exact.alphabeta` on a desk in the module's own memory.

The desk's words are the fields of `search`, then where the arrays lie that `lay_out` made room for. The table begins
small and grows, as a `Searcher`'s.
"""

from __future__ import annotations

from typing import Any

from solver.compiled.binding import kernel
from solver.compiled.exact.alphabeta import FIELDS, FRAME, ROW, Field, Frame, solve
from solver.compiled.exact.moves import settle_first
from solver.compiled.exact.table import GROWTH, IDLE, LIMIT, LOAD, spread
from solver.compiled.states import columns, put_state
from solver.store.addresses import table as table_at
from solver.store.addresses import words
from solver.wasm.exports import DESK, FRAMES, FRAMES_AT, HEAP, MOVES, MOVES_AT, SMALLEST, TABLE, TABLE_AT, USED

game: Any = None  # constants of the bound copies
MORE = ()


@kernel
def lay_out(plies: int, rows: int, size: int) -> Any:
    """Make room for paths of so many plies, so many moves of theirs, and a table of `size` words, a power of two.

    Returns the bytes that the memory must then have, and forgets earlier results.
    """
    desk = words(DESK, USED + 1)
    desk[FRAMES_AT], desk[FRAMES] = HEAP, plies
    desk[MOVES_AT], desk[MOVES] = HEAP + 8 * columns(FRAME, MORE) * plies, rows
    at = desk[MOVES_AT] + 8 * columns(ROW, MORE) * rows
    desk[TABLE_AT], desk[TABLE] = at + (-at & 63), size
    desk[USED] = 0
    return desk[TABLE_AT] + 8 * size


@kernel
def begin(state: Any, low: int, high: int) -> None:
    """Set out to find the merit of a state within low..high."""
    search = words(DESK, FIELDS)
    for field in range(FIELDS):
        search[field] = 0
    search[Field.LOW], search[Field.HIGH], search[Field.ASKED] = low, high, LIMIT
    frames = table_at(words(DESK, USED + 1)[FRAMES_AT], 1, columns(FRAME, MORE))
    put_state(frames, 0, Frame.STATE, state, MORE)


@kernel
def go_on(allowance: int) -> Any:
    """Continue the search for at most so many nodes. Returns as `solve`."""
    desk = words(DESK, USED + 1)
    search = words(DESK, FIELDS)
    used = desk[USED]
    if used < desk[TABLE] and search[Field.KEPT] >= LOAD * used // 2:
        grown = min(GROWTH * used, desk[TABLE])
        spread(words(desk[TABLE_AT], grown), used, MORE)
        desk[USED] = used = grown
        search[Field.KEPT] = 0
    frames = table_at(desk[FRAMES_AT], desk[FRAMES], columns(FRAME, MORE))
    moves = table_at(desk[MOVES_AT], desk[MOVES], columns(ROW, MORE))
    busy = words(DESK + 8 * (USED + 1), 1)
    busy[0] = IDLE
    return solve(words(desk[TABLE_AT], used), frames, moves, busy, search, min(allowance, max(1024, LOAD * used // 2)))


@kernel
def found():
    """The merit of the state, once `go_on` has found it."""
    return words(DESK, FIELDS)[Field.LOW]


@kernel
def spent():
    """The nodes that were searched since `begin`."""
    return words(DESK, FIELDS)[Field.COUNT]


@kernel
def forget():
    """Empty the table."""
    desk = words(DESK, USED + 1)
    table = words(desk[TABLE_AT], max(desk[USED], min(SMALLEST, desk[TABLE])))
    for at in range(len(table)):
        table[at] = 0
    desk[USED] = min(SMALLEST, desk[TABLE])


@kernel
def settled(state: Any, bound: int) -> Any:
    """Return a bound on a state's merit that tells, without search, whether it is `bound` or more. Otherwise LIMIT."""
    merit, _ = settle_first(state, bound)
    return merit
