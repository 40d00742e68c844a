"""Whole books as arrays, a segment at a time: states and values in order, checked against the header.

Cost: 12 bytes a state of one segment, or of all where the codec's keys are ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.book.bulk import arrays
from solver.book.check import check_tally, checked_segments
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled, groups_in
from solver.book.segments import groups_of, laid_out
from solver.rules.game import STATE_LIMIT
from solver.store.runs import States
from solver.store.shared import compiled, shared


@shared
def tally_values(states, indices, count, last, values, numbers, examples):
    """Count states[:count] by the index of their value, and keep the first of each; the last state.

    It is -1 where states do not ascend from `last` or an index is not below `values`. Of expectations none are counted.
    """
    for i in range(count):
        index = indices[i]
        if states[i] <= last or not 0 <= index < values:
            return np.int64(-1)
        last = states[i]
        if len(numbers) == 0:
            continue
        if numbers[index] == 0:
            examples[index] = last
        numbers[index] += 1
    return last


def read_parts(book: Book, progress: Progress = silent) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """The states and palette indices of each segment, checked against the header, until the next is asked for.

    Of one whose keys are ranks all at once, sorted. Raises DamagedBook.
    """
    stored, palette, values = len(book), len(book.header.palette), len(book.header.values)
    numbers, examples = np.zeros(palette, np.int64), np.zeros(palette, np.int64)
    at, last = 0, -1
    keys = book.codec_keys
    for states, indices in _ranked(book, keys, progress) if isinstance(keys, Ranks) else _segments(book):
        last = tally_values(states, indices, len(states), last, values, numbers, examples)
        if last < 0:
            raise DamagedBook(f"{book.path}: states are out of order or a value outside the palette: solve again")
        at += len(states)
        if at > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        yield states, indices
        progress("check", at, stored)
    check_tally(book, at, numbers.tolist(), examples.tolist())


def _segments(book: Book) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """The states and palette indices of each segment."""
    codec = book.header.encoding
    if codec.decode_all is None:
        for record in checked_segments(book):
            for group in groups_of(book.header, record):
                yield np.array(group[0], np.int64), np.array(group[1], _dtype(book))
        return
    most = min(len(book), codec.groups * codec.group)
    room: tuple[NDArray[Any], NDArray[Any]] = np.empty(most, np.int64), np.empty(most, _dtype(book))
    for record in checked_segments(book):
        count = codec.decode_all(arrays(laid_out(record)), *room, compiled)
        if count < 0:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        yield room[0][:count], room[1][:count]


def _ranked(book: Book, ranks: Ranks, progress: Progress) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """All states of a ranked book, as compiled rules tell them from their ranks, and the palette indices."""
    stored = len(book)
    kernels = Compiled(ranks)
    groups = [*groups_in(checked_segments(book))]
    ends = [first + len(symbols) for first, symbols in groups]
    later = [*(first for first, _ in groups[1:]), STATE_LIMIT]
    if any(end > first for end, first in zip(ends, later, strict=False)):
        raise DamagedBook(f"{book.path}: states are out of order: solve again")
    states, indices = np.empty(stored, np.int64), np.empty(stored, np.int32)
    at = 0
    for some, places in kernels.states(groups) if groups else ():
        if at + len(some) > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        states[at : at + len(some)], indices[at : at + len(some)] = some, places
        at += len(some)
        progress("unrank", at, stored)
    order = np.argsort(states[:at])
    if at:
        yield states[order], indices[order]


def _dtype(book: Book) -> type[Any]:
    """Of palette indices, or of numbers of steps."""
    return np.int32 if len(book.header.values) <= 1 << 31 else np.int64
