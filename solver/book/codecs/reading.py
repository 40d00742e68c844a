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
from solver.book import Book, Header
from solver.book.bulk import arrays
from solver.book.check import check_tally, checked_segments
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled, groups_in
from solver.book.segments import groups_of, laid_out
from solver.rules.game import STATE_LIMIT
from solver.store.runs import States
from solver.store.shared import compiled, shared


@shared
def tally_values(
    states: NDArray[Any],
    indices: NDArray[Any],
    count: int,
    last_state: Any,
    values: int,
    numbers: NDArray[Any],
    examples: NDArray[Any],
) -> Any:
    """Count states[:count] by the index of their value, and keep the first of each; the last state.

    It is -1 where states do not ascend from `last_state` or an index is not below `values`. Expectations are not
    counted.
    """
    for i in range(count):
        index = indices[i]
        if states[i] <= last_state or not 0 <= index < values:
            return np.int64(-1)
        last_state = states[i]
        if len(numbers) == 0:
            continue
        if numbers[index] == 0:
            examples[index] = last_state
        numbers[index] += 1
    return last_state


def read_parts(book: Book, progress: Progress = silent) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """The states and palette indices of each segment, checked against the header, until the next is asked for.

    Of one whose keys are ranks all at once, sorted. Raises DamagedBook.
    """
    stored, palette, values = len(book), len(book.header.palette), len(book.header.values)
    numbers, examples = np.zeros(palette, np.int64), np.zeros(palette, np.int64)
    offset, last_state = 0, -1
    keys = book.codec_keys
    for states, indices in _ranked(book, keys, progress) if isinstance(keys, Ranks) else _segments(book):
        last_state = tally_values(states, indices, len(states), last_state, values, numbers, examples)
        if last_state < 0:
            raise DamagedBook(f"{book.path}: states are out of order or a value outside the palette: solve again")
        offset += len(states)
        if offset > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        yield states, indices
        progress("check", offset, stored)
    check_tally(book, offset, numbers.tolist(), examples.tolist())


def _segments(book: Book) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """The states and palette indices of each segment."""
    codec = book.header.encoding
    if codec.decode_all is None:
        for record in checked_segments(book):
            for group in groups_of(book.header, record):
                yield np.array(group[0], np.int64), np.array(group[1], index_type(book.header))
        return
    limit = min(len(book), codec.groups * codec.group)
    room: tuple[NDArray[Any], NDArray[Any]] = np.empty(limit, np.int64), np.empty(limit, index_type(book.header))
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
    ends = [first_rank + len(symbols) for first_rank, symbols in groups]
    later = [*(first_rank for first_rank, _ in groups[1:]), STATE_LIMIT]
    if any(end > first_rank for end, first_rank in zip(ends, later, strict=False)):
        raise DamagedBook(f"{book.path}: states are out of order: solve again")
    states, indices = np.empty(stored, np.int64), np.empty(stored, np.int32)
    offset = 0
    for some, places in kernels.states(groups) if groups else ():
        if offset + len(some) > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        states[offset : offset + len(some)], indices[offset : offset + len(some)] = some, places
        offset += len(some)
        progress("unrank", offset, stored)
    order = np.argsort(states[:offset])
    if offset:
        yield states[order], indices[order]


def index_type(header: Header) -> type[Any]:
    """The type of palette indices, or of numbers of steps, of which the last is 2**31."""
    return np.int32 if len(header.values) <= 1 << 31 else np.int64
