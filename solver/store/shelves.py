"""Every state of a sweep and its value, in files.

States are packed in blocks (`packed`), values are deflated in blocks. A `Window` has the tiers that a pass backward
looks states up in, unpacked, with their directory and values. Each lies where it would if all tiers were there, in
address space that only takes memory where something is. So places are the same whatever is open, and a tier that is not
needed any more goes without a copy of the rest.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.parallel import Workers
from solver.base.system import Room
from solver.store.directory import FENCE, Layer, TierLookup, fill, table_of
from solver.store.packed import AT, END, LAST, Packed, Table, packed, unpacked
from solver.store.work import Work

VALUES_PER_BLOCK = 1 << 13  # to a block of values
VALUES_PER_CALL = 1 << 16  # that are deflated in one call
MANY_STATES = 1 << 16  # states
ZLIB_LEVEL = 1  # of zlib: values of neighbours are alike, so that it finds what there is to find
PART = 64  # blocks that are unpacked in one call
ALL_KEYS, NO_KEYS = (0, LAST), (1, 0)  # ranges of keys
Values = NDArray[Any]


class _Shelf:
    """Two columns of a work folder: blocks of numbers, and an index with a row for each block.

    Of a row the last entry but one tells how many numbers there are up to its end.

    Args:
        work: The work folder.
        name: The name of the column of blocks.
        dtype: The type of that column.
        numbered: Whether a number makes the name new.
    """

    def __init__(self, work: Work, name: str, dtype: Any, numbered: bool) -> None:
        self.work = work
        self.data = work.column(name, dtype, numbered=numbered)
        self.name: str = self.data.name
        kind, dash, suffix = self.name.partition("-")
        self.index = work.column(f"{kind}index{dash}{suffix}", np.int64)
        self.size: int = int(self.index.part(self.index.size - 2, self.index.size)[0]) if self.index.size else 0

    def release(self) -> None:
        """Let the pages go that were read."""
        self.data.release()
        self.index.release()

    def discard(self) -> None:
        """Remove the shelf."""
        self.work.discard(self.data)
        self.work.discard(self.index)


class StateShelf(_Shelf):
    """Sorted states, one run after the other."""

    def __init__(self, work: Work, name: str, *, numbered: bool = False) -> None:
        super().__init__(work, name, np.uint64, numbered)
        self._last: int | None = None

    @property
    def last(self) -> int:
        """The last state."""
        if self._last is None:
            self._last = int(unpacked(self.section(self.count - 1, self.count))[-1])
        return self._last

    @property
    def saved(self) -> int:
        """The number of blocks in the last checkpoint; -1 if it does not know the shelf."""
        return self.index.saved // 3

    @property
    def count(self) -> int:
        """The number of blocks."""
        return self.index.size // 3

    def bytes_each(self, usual: float) -> float:
        """Return the bytes of a state, or `usual` if there are few states."""
        return 8 * (self.data.size + self.index.size) / self.size if self.size > MANY_STATES else usual

    def append(self, run: Packed) -> None:
        """Append a run. Inside a tier its states follow those that are there."""
        if not len(run):
            return
        blocks = run.blocks.copy()
        blocks[:, END] += self.size
        blocks[:, AT] += self.data.size
        self.data.append(run.words)
        self.index.append(blocks.reshape(-1))
        self.size = int(blocks[-1, END])
        self._last = run.last

    def first_of(self, block: int) -> int:
        """Return the first state of a block."""
        return int(self.index.part(3 * block, 3 * block + 1)[0])

    def block_of(self, state_index: int) -> int:
        """Return the block that holds the state of an index."""
        return int(np.searchsorted(self.index.view()[END::3], state_index, "right"))

    def section(self, begin: int, end: int) -> Packed:
        """Return the blocks from `begin` to `end` as a run."""
        if begin == end:
            return packed(np.empty(0, np.int64))
        block_rows = self.index.part(3 * max(0, begin - 1), 3 * end).reshape(-1, 3)
        states_before, block_rows = (int(block_rows[0, END]), block_rows[1:]) if begin else (0, block_rows)
        words_before = int(block_rows[0, AT])
        words_end = self.data.size if end == self.count else int(self.index.part(3 * end + AT, 3 * end + AT + 1)[0])
        return Packed(block_rows, self.data.part(words_before, words_end), states_before, words_before)

    def truncate(self, blocks: int) -> None:
        """Cut off the runs after so many blocks."""
        if blocks == self.count:
            return
        self.data.truncate(int(self.index.part(3 * blocks + AT, 3 * blocks + AT + 1)[0]))
        self.index.truncate(3 * blocks)
        self.size = int(self.index.part(3 * blocks - 2, 3 * blocks - 1)[0]) if blocks else 0
        self._last = None


class ValueShelf(_Shelf):
    """Numbers of one type, deflated, in the order in which they are appended. A row: the ends in numbers and bytes."""

    def __init__(self, work: Work, name: str, dtype: Any, *, numbered: bool = False) -> None:
        super().__init__(work, name, np.uint8, numbered)
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    def append(self, values: Values, team: Workers) -> None:
        """Append numbers; all cores deflate them."""
        end = self.size + len(values)

        def deflated(begin: int) -> tuple[bytes, list[int]]:
            chunk = np.ascontiguousarray(values[begin : begin + VALUES_PER_CALL], self.dtype)
            blocks = [
                zlib.compress(chunk[begin_in_chunk : begin_in_chunk + VALUES_PER_BLOCK].data, ZLIB_LEVEL)
                for begin_in_chunk in range(0, len(chunk), VALUES_PER_BLOCK)
            ]
            return b"".join(blocks), [len(block) for block in blocks]

        for data, sizes in team.map(deflated, range(0, len(values), VALUES_PER_CALL)):
            value_ends = np.minimum(self.size + VALUES_PER_BLOCK * np.arange(1, len(sizes) + 1), end)
            self.index.append(np.stack((value_ends, self.data.size + np.cumsum(sizes)), axis=1).reshape(-1))
            self.data.append(np.frombuffer(data, np.uint8))
            self.size = int(value_ends[-1])

    def part(self, begin: int, end: int) -> Values:
        """Return the numbers from `begin` to `end`."""
        if begin == end:
            return np.empty(0, self.dtype)
        ends = self.index.view().reshape(-1, 2)
        first_block, last_block = (int(np.searchsorted(ends[:, 0], index, "right")) for index in (begin, end - 1))
        values_before, byte_begin = ends[first_block - 1].tolist() if first_block else (0, 0)
        data, chunks = self.data.view(), []
        for byte_end in ends[first_block : last_block + 1, 1].tolist():
            chunks.append(np.frombuffer(zlib.decompress(data[byte_begin:byte_end].data), self.dtype))
            byte_begin = byte_end
        values = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        return values[begin - values_before : end - values_before]


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
            cells = self.cells.taken(cell_row + cell, cell_row + cell_end + (cell_end > high))
            fill(states, int(index), bits, cell, 0, cells)
            return begin - layer.begin, end - layer.begin

        places = list(team.map(unpack, range(low, high + 1, step)))
        if values:
            self.value(layer, places[0][0], places[-1][1], team)

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

        team.each(take, range(base + begin, base + end, size))

    def hide(self, row: int) -> None:
        """Let the memory of a tier go."""
        if self.open.pop(row, None) is None:
            return
        layer = self.layers[row]
        self.states.give_back(layer.begin, layer.end)
        self.cells.give_back(layer.first_cell, layer.first_cell + layer.cells)
        self.merits.give_back(self.total - layer.end, self.total - layer.begin)
        self.fences.give_back(-(-layer.begin >> FENCE), layer.end >> FENCE)

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
