"""The exports of a module for the search of limited depth, which estimates by the rules' own `evaluate`.

Its arrays lie where `lay_out_look` made room for them, behind those of the exact search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.compiled.binding import inlined, kernel, respelled
from solver.compiled.lookahead import deepening
from solver.compiled.lookahead.depth import FIELDS, FRAME, MOVE, WINDOW, Field, Frame, Model, Path, Window, list_moves
from solver.compiled.states import columns, put_state
from solver.store.addresses import float_table, floats, singles, words
from solver.store.addresses import table as table_at
from solver.wasm.exports import LOOK, LOOK_BOUNDS, LOOK_BOUNDS_AT, LOOK_MOVES, LOOK_PATH_AT, LOOK_PLIES

game: Any = None  # constants of the bound copies
SCORES = False
MORE = ()


@inlined
def list_moves_at(address: int, path: Any, model: Any, ply: int, wanted: Any) -> Any:
    """`list_moves` itself: a module has no addresses of functions."""
    return list_moves(path, model, ply, wanted)


@inlined
def weighed(shape: Any, weights: Any, relu: bool, inputs: Any, units: Any) -> Any:
    """A module has no model. This stands in its place."""
    return 0.0


# functions of `deepening`, compiled anew for each game, with `list_moves` in its place
arrive: Any = inlined(respelled(deepening.arrive, "arrive", {}))
search_on: Any = respelled(deepening.look, "look", {})


@inlined
def path_of():
    """The line of play that the search is at."""
    desk = words(LOOK, LOOK_BOUNDS + 1)
    at, plies, rows = desk[LOOK_PATH_AT], desk[LOOK_PLIES], desk[LOOK_MOVES]
    windows_at = at + 8 * columns(FRAME, MORE) * plies
    moves_at = windows_at + 8 * WINDOW * plies
    frames, windows = table_at(at, plies, columns(FRAME, MORE)), float_table(windows_at, plies, WINDOW)
    return Path(frames, windows, table_at(moves_at, rows, columns(MOVE, MORE)), words(LOOK, FIELDS))


@kernel
def lay_out_look(address: int, plies: int, rows: int, size: int) -> Any:
    """Make room behind an address for paths of so many plies, so many moves of theirs, and a table of `size` words.

    `size` is a power of two. Returns the bytes that the memory must then have; those from `address` on must be zeros.
    """
    desk = words(LOOK, LOOK_BOUNDS + 1)
    desk[LOOK_PATH_AT], desk[LOOK_PLIES], desk[LOOK_MOVES] = address, plies, rows
    at = address + 8 * ((columns(FRAME, MORE) + WINDOW) * plies + columns(MOVE, MORE) * rows)
    desk[LOOK_BOUNDS_AT], desk[LOOK_BOUNDS] = at + (-at & 63), size
    return desk[LOOK_BOUNDS_AT] + 8 * size


@kernel
def look(state: Any, depth: int, first: int) -> None:
    """Set out to search an unfinished state to a depth of at least 1 ply, beginning with the action `first`, or -1."""
    path = path_of()
    path.search[Field.CHOICE] = first
    path.search[Field.COUNT] = 0
    deepening.begin(path, depth)
    put_state(path.frames, 0, Frame.STATE, state, MORE)


@kernel
def look_on(allowance: int) -> Any:
    """Continue the search for at most so many nodes. Returns as `deepening.look`."""
    desk = words(LOOK, LOOK_BOUNDS + 1)
    at, size = desk[LOOK_BOUNDS_AT], desk[LOOK_BOUNDS]
    model = Model(words(0, 0), singles(0, 0), False, 1.0, words(0, 0), floats(0, 0))
    return search_on((np.int64(0), SCORES) + MORE, (words(at, size), floats(at, size)), path_of(), model, allowance)


@kernel
def choice():
    """The first best action in the game's order."""
    return words(LOOK, FIELDS)[Field.CHOICE]


@kernel
def looked():
    """The nodes that were searched since `look`."""
    return words(LOOK, FIELDS)[Field.COUNT]


@kernel
def cut():
    """1 if a state was cut off, so that a deeper search may find another merit; else 0."""
    return path_of().frames[0, Frame.CUT]


@kernel
def merit():
    """The merit that was found: a win or loss, a margin, or an estimate."""
    return path_of().windows[0, Window.BEST]
