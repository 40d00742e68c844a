"""Every state of a sweep and its value, in files.

States are packed in blocks (`packed`), values are deflated in blocks.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.store.packed import AT, END, Packed, packed, unpacked
from solver.store.work import Work

VALUES_PER_BLOCK = 1 << 13  # to a block of values
VALUES_PER_CALL = 1 << 16  # that are deflated in one call
MANY_STATES = 1 << 16  # states
ZLIB_LEVEL = 1  # of zlib: values of neighbours are alike, so that it finds what there is to find
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
