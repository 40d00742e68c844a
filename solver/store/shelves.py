"""What a sweep keeps of every state, in files: the states packed in blocks, and their values deflated in blocks."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.store.packed import Packed, packed, unpacked
from solver.store.packing import AT, END
from solver.store.work import Work

VALUES = 1 << 13  # to a block of values
TOGETHER = 1 << 16  # that are deflated in one call
MANY = 1 << 16  # states
LEVEL = 1  # of zlib: values of neighbours are alike, so that it finds what there is to find
Values = NDArray[Any]


class StateShelf:
    """Sorted states, one run after the other, in two columns of a work folder. `size`: how many states there are."""

    def __init__(self, work: Work, name: str, *, numbered: bool = False) -> None:
        self.work = work
        self.words = work.column(name, np.uint64, numbered=numbered)
        self.blocks = work.column(_of_index(self.words.name), np.int64)
        self.name = self.words.name
        self.size = int(self.blocks.part(self.blocks.size - 2, self.blocks.size)[0]) if self.blocks.size else 0
        self._last: int | None = None

    @property
    def last(self) -> int:
        """The last state."""
        if self._last is None:
            self._last = int(unpacked(self.section(self.count - 1, self.count))[-1])
        return self._last

    @property
    def saved(self) -> int:
        """How many blocks the last checkpoint has, -1 if it does not know the shelf."""
        return self.blocks.saved // 3

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return self.blocks.size // 3

    def bytes_each(self, usual: float) -> float:
        """Bytes that a state takes, of many; `usual` where there are few."""
        return 8 * (self.words.size + self.blocks.size) / self.size if self.size > MANY else usual

    def append(self, run: Packed) -> None:
        """A run at the end; within a tier its states come after those that are there."""
        if not len(run):
            return
        blocks = run.blocks.copy()
        blocks[:, END] += self.size
        blocks[:, AT] += self.words.size
        self.words.append(run.words)
        self.blocks.append(blocks.reshape(-1))
        self.size = int(blocks[-1, END])
        self._last = run.last

    def first_of(self, block: int) -> int:
        """The first state of a block."""
        return int(self.blocks.part(3 * block, 3 * block + 1)[0])

    def block_of(self, place: int) -> int:
        """The block that has the state at a place."""
        return int(np.searchsorted(self.blocks.view()[END::3], place, "right"))

    def section(self, begin: int, end: int) -> Packed:
        """The blocks from `begin` to `end` as a run."""
        if begin == end:
            return packed(np.empty(0, np.int64))
        rows = self.blocks.part(3 * max(0, begin - 1), 3 * end).reshape(-1, 3)
        before, rows = (int(rows[0, END]), rows[1:]) if begin else (0, rows)
        base = int(rows[0, AT])
        size = self.words.size if end == self.count else int(self.blocks.part(3 * end + AT, 3 * end + AT + 1)[0])
        return Packed(rows, self.words.part(base, size), before, base)

    def truncate(self, blocks: int) -> None:
        """Cut off what was appended after so many blocks."""
        if blocks == self.count:
            return
        self.words.truncate(int(self.blocks.part(3 * blocks + AT, 3 * blocks + AT + 1)[0]))
        self.blocks.truncate(3 * blocks)
        self.size = int(self.blocks.part(3 * blocks - 2, 3 * blocks - 1)[0]) if blocks else 0
        self._last = None

    def release(self) -> None:
        """Let the pages of what was read go."""
        self.words.release()
        self.blocks.release()

    def discard(self) -> None:
        """It is not needed any more."""
        self.work.discard(self.words)
        self.work.discard(self.blocks)


class ValueShelf:
    """Numbers of one type, in the order in which they are appended, deflated. `size`: how many there are."""

    def __init__(self, work: Work, name: str, dtype: Any, *, numbered: bool = False) -> None:
        self.work = work
        self.dtype = np.dtype(dtype)
        self.data = work.column(name, np.uint8, numbered=numbered)
        self.ends = work.column(_of_index(self.data.name), np.int64)  # pairs: of numbers, of bytes
        self.name = self.data.name
        self.size = int(self.ends.part(self.ends.size - 2, self.ends.size)[0]) if self.ends.size else 0

    def append(self, values: Values, team: Workers) -> None:
        """Numbers at the end, deflated on all cores."""
        end = self.size + len(values)

        def deflated(begin: int) -> tuple[bytes, list[int]]:
            part = np.ascontiguousarray(values[begin : begin + TOGETHER], self.dtype)
            blocks = [zlib.compress(part[at : at + VALUES].data, LEVEL) for at in range(0, len(part), VALUES)]
            return b"".join(blocks), [len(block) for block in blocks]

        for data, sizes in team.map(deflated, range(0, len(values), TOGETHER)):
            places = np.minimum(self.size + VALUES * np.arange(1, len(sizes) + 1), end)
            self.ends.append(np.stack((places, self.data.size + np.cumsum(sizes)), axis=1).reshape(-1))
            self.data.append(np.frombuffer(data, np.uint8))
            self.size = int(places[-1])

    def part(self, begin: int, end: int) -> Values:
        """The numbers from `begin` to `end`."""
        if begin == end:
            return np.empty(0, self.dtype)
        ends = self.ends.view().reshape(-1, 2)
        first, last = (int(np.searchsorted(ends[:, 0], place, "right")) for place in (begin, end - 1))
        before, at = ends[first - 1].tolist() if first else (0, 0)
        data, parts = self.data.view(), []
        for stop in ends[first : last + 1, 1].tolist():
            parts.append(np.frombuffer(zlib.decompress(data[at:stop].data), self.dtype))
            at = stop
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return whole[begin - before : end - before]

    def release(self) -> None:
        """Let the pages of what was read go."""
        self.data.release()

    def discard(self) -> None:
        """They are not needed any more."""
        self.work.discard(self.data)
        self.work.discard(self.ends)


def _of_index(name: str) -> str:
    """The name of the column that says where the blocks of another lie."""
    kind, dash, number = name.partition("-")
    return f"{kind}index{dash}{number}"
