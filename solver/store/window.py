"""The tiers that a pass backward looks states up in, unpacked, with their directory and their values.

Each lies where it would if all tiers were there, in address space that only takes memory where something is. So places
are the same whatever is open, and a tier that is not needed any more goes without a copy of the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.parallel import Workers
from solver.base.system import Room
from solver.store.directory import FENCE, Layer, TierLookup, fill, table_of
from solver.store.packed import LAST, Table, unpacked
from solver.store.shelves import StateShelf, ValueShelf

PART = 64  # blocks that are unpacked in one call
ALL_KEYS, NO_KEYS = (0, LAST), (1, 0)  # ranges of keys


class Spread:
    """An array, `items`, of which only those parts take memory that were put there and not given back."""

    def __init__(self, dtype: Any, size: int) -> None:
        self._itemsize = np.dtype(dtype).itemsize
        with _mapping():
            self._room = Room(max(1, size * self._itemsize))
        self.items: NDArray[Any] = np.frombuffer(self._room.buffer, dtype, size)

    def taken(self, begin: int, end: int) -> NDArray[Any]:
        """Return items[begin:end], to be written. Raises ResourceError where memory has run out."""
        with _mapping():
            self._room.take(begin * self._itemsize, end * self._itemsize)
        return self.items[begin:end]

    def put(self, begin: int, items: NDArray[Any]) -> None:
        """Write items from a place on. Raises ResourceError where memory has run out."""
        self.taken(begin, begin + len(items))[:] = items

    def give_back(self, begin: int, end: int) -> None:
        """Let the memory of items[begin:end] go: they must not be read any more."""
        self._room.give_back(begin * self._itemsize, end * self._itemsize)


@contextlib.contextmanager
def _mapping() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResourceError(f"no more memory can be mapped ({error.strerror}): raise the limit") from error


class Window:
    """`known`: all tiers, of which those that are open have states, cells and values; the others must not be read."""

    def __init__(self, states: StateShelf, values: ValueShelf, layers: Sequence[Layer]) -> None:
        self.shelf, self.values, self.layers = states, values, layers
        self.total: int = layers[-1].end if layers else 0
        table, slots = table_of(layers)
        # The range of keys that is there, by row
        self.open: dict[int, tuple[int, int]] = {}
        self.states: Spread = Spread(np.int64, self.total)
        self.cells: Spread = Spread(np.uint32, layers[-1].first_cell + layers[-1].cells if layers else 0)
        self.merits: Spread = Spread(values.dtype, self.total)
        self.fences: Spread = Spread(np.int64, (self.total >> FENCE) + 1)
        first_tier = layers[0].number if layers else 0
        self.known: TierLookup = TierLookup(
            self.states.items, self.merits.items, table, slots, first_tier, self.cells.items, self.fences.items
        ).read_only()

    def blocks(self, row: int) -> tuple[int, int]:
        """Where the packed blocks of a tier begin and end."""
        return self.layers[row - 1].blocks if row else 0, self.layers[row].blocks

    def show(self, row: int, team: Workers, span: tuple[int, int] = ALL_KEYS, values: bool = True) -> None:
        """Open a tier, or its states in a range of keys, with all that share a cell with those."""
        if self.open.get(row) == span:
            return
        self.hide(row)
        layer, self.open[row] = self.layers[row], span
        run = self.shelf.section(*self.blocks(row))
        if not layer.kept:
            return
        table = Table([run])
        low = max(layer.prefix, span[0] >> layer.shift)
        high = min(layer.prefix + layer.cells - 2, span[1] >> layer.shift)
        if low > high:
            return
        bits, step = layer.shift, max(1, (high - low + 1) // max(1, len(run.blocks) // PART))

        def unpack(cell: int) -> tuple[int, int]:
            cell_end = min(cell + step, high + 1)
            states, [[index, count]] = table.read(cell << bits, (cell_end << bits) - 1)
            begin = layer.begin + int(index)
            end, fence, cell_row = begin + int(count), -(-begin >> FENCE), layer.first_cell - layer.prefix
            self.states.put(begin, states)
            self.fences.put(fence, states[(fence << FENCE) - begin :: 1 << FENCE])
            fill(
                states,
                int(index),
                bits,
                cell,
                0,
                self.cells.taken(cell_row + cell, cell_row + cell_end + (cell_end > high)),
            )
            return begin - layer.begin, end - layer.begin

        places = list(team.map(unpack, range(low, high + 1, step)))
        if values:
            begin, end = places[0][0], places[-1][1]
            self.value(layer, begin, end, team)

    def lay(self, row: int, begin: int, end: int) -> tuple[int, int]:
        """Unpack some blocks of a tier, to be gone through and not looked up: where their states begin and end."""
        run = self.shelf.section(begin, end)
        self.states.put(run.before, unpacked(run))
        self.open[row] = NO_KEYS
        return run.before, run.before + len(run)

    def value(self, layer: Layer, begin: int, end: int, team: Workers) -> None:
        """Take the values of the states begin..end of a tier from the shelf."""
        base, size = self.total - layer.end, 1 << 20

        def take(begin: int) -> None:
            last = min(begin + size, base + end)
            self.merits.put(begin, self.values.part(begin, last))

        for _ in team.map(take, range(base + begin, base + end, size)):
            pass

    def hide(self, row: int) -> None:
        """Let the memory of a tier go."""
        if self.open.pop(row, None) is None:
            return
        layer = self.layers[row]
        cells = layer.first_cell, layer.first_cell + layer.cells
        merits = self.total - layer.end, self.total - layer.begin
        fences = -(-layer.begin >> FENCE), layer.end >> FENCE
        self.states.give_back(layer.begin, layer.end)
        self.cells.give_back(*cells)
        self.merits.give_back(*merits)
        self.fences.give_back(*fences)

    def lift(self, row: int, begin: int, end: int) -> None:
        """Let the memory of some states of a tier go that were laid, and of what values they were given."""
        base = self.total - self.layers[row].end - self.layers[row].begin
        self.states.give_back(begin, end)
        self.merits.give_back(base + begin, base + end)

    def close(self) -> None:
        """Let all memory go: from here on nothing is looked up."""
        self.open.clear()
        for spread in (self.states, self.cells, self.merits, self.fences):
            spread.give_back(0, len(spread.items))
