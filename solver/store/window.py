"""The tiers that a pass backward looks states up in, unpacked, with their directory and their values.

Each lies where it would if all tiers were there, in address space that only takes memory where something is. So places
are the same whatever is open, and what is not needed any more goes without a copy of the rest.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.parallel import Workers
from solver.store.directory import FENCE, Known, Layer, fill, table_of
from solver.store.packed import LAST, Table, unpacked
from solver.store.shelves import StateShelf, ValueShelf

RESERVED = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0x40)
LARGE = 4 << 20  # bytes from which large pages pay
PART = 64  # blocks that are unpacked in one call
WHOLE, NOTHING = (0, LAST), (1, 0)  # ranges of keys


class Window:
    """`known`: all tiers, of which those that are open have states, cells and values; the others must not be read."""

    def __init__(self, states: StateShelf, values: ValueShelf, layers: Sequence[Layer]) -> None:
        self.shelf, self.values, self.layers = states, values, layers
        self.total = layers[-1].end if layers else 0
        table, slots = table_of(layers)
        self.open: dict[int, tuple[int, int]] = {}  # the range of keys that is there, by row
        self._maps: list[tuple[mmap.mmap, int]] = []  # with the bytes of an item
        self.states = self._room(np.int64, self.total)
        self.cells = self._room(np.uint32, layers[-1].first_cell + layers[-1].cells if layers else 0)
        self.merits = self._room(values.dtype, self.total)
        self.fences = self._room(np.int64, (self.total >> FENCE) + 1)
        first = layers[0].number if layers else 0
        self.known = Known(self.states, self.merits, table, slots, first, self.cells, self.fences).read_only()

    def _room(self, dtype: Any, size: int) -> NDArray[Any]:
        """An array of zeros that takes memory where it is written to."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | RESERVED
        nbytes = max(1, size * np.dtype(dtype).itemsize)
        try:
            room = mmap.mmap(-1, nbytes, flags=flags)
        except OSError as error:
            raise ResourceError(f"no more memory can be mapped ({error.strerror}): raise the limit") from error
        if nbytes >= LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without them
                room.madvise(mmap.MADV_HUGEPAGE)
        self._maps.append((room, np.dtype(dtype).itemsize))
        return np.frombuffer(room, dtype, size)

    def blocks(self, row: int) -> tuple[int, int]:
        """Where the packed blocks of a tier begin and end."""
        return self.layers[row - 1].blocks if row else 0, self.layers[row].blocks

    def show(self, row: int, team: Workers, span: tuple[int, int] = WHOLE, values: bool = True) -> None:
        """Open a tier, or of it what has keys in a range, with all that shares a cell with those."""
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
            last = min(cell + step, high + 1)
            states, [[place, count]] = table.read(cell << bits, (last << bits) - 1)
            begin = layer.begin + place
            self.states[begin : begin + count] = states
            fence = -(-begin >> FENCE)
            self.fences[fence : -(-(begin + count) >> FENCE)] = states[(fence << FENCE) - begin :: 1 << FENCE]
            at = layer.first_cell - layer.prefix
            fill(states, int(place), bits, cell, 0, self.cells[at + cell : at + last + (last > high)])
            return int(place), int(place + count)

        places = list(team.map(unpack, range(low, high + 1, step)))
        if values:
            begin, end = places[0][0], places[-1][1]
            self.value(layer, begin, end, team)

    def lay(self, row: int, first: int, last: int) -> tuple[int, int]:
        """Unpack some blocks of a tier, to be gone through and not looked up: where their states begin and end."""
        run = self.shelf.section(first, last)
        self.states[run.before : run.before + len(run)] = unpacked(run)
        self.open[row] = NOTHING
        return run.before, run.before + len(run)

    def value(self, layer: Layer, begin: int, end: int, team: Workers) -> None:
        """Take the values of the states begin..end of a tier from the shelf."""
        base, size = self.total - layer.end, 1 << 20

        def take(first: int) -> None:
            last = min(first + size, base + end)
            self.merits[first:last] = self.values.part(first, last)

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
        for room, (begin, end) in zip(self._maps, ((layer.begin, layer.end), cells, merits, fences), strict=True):
            _let_go(*room, begin, end)

    def lift(self, row: int, begin: int, end: int) -> None:
        """Let the memory of some states of a tier go that were laid, and of what values they were given."""
        base = self.total - self.layers[row].end - self.layers[row].begin
        _let_go(*self._maps[0], begin, end)
        _let_go(*self._maps[2], base + begin, base + end)

    def close(self) -> None:
        """Let all memory go: from here on nothing is looked up."""
        self.open.clear()
        for room, _ in self._maps:
            room.madvise(mmap.MADV_DONTNEED)

    def put(self, at: int, values: NDArray[Any]) -> None:
        """The values from a place on, counted from the last tier's first."""
        self.merits[at : at + len(values)] = values


def _let_go(room: mmap.mmap, size: int, begin: int, end: int) -> None:
    """Let the memory of the items from `begin` to `end` of an array go, each of `size` bytes."""
    first = -(-begin * size // mmap.PAGESIZE) * mmap.PAGESIZE
    length = end * size // mmap.PAGESIZE * mmap.PAGESIZE - first
    if length > 0:
        room.madvise(mmap.MADV_DONTNEED, first, length)
