"""Whole books over arrays: encoded by compiled code, and read a segment at a time, checked against the header.

Cost of reading: 12 bytes a state of one segment, or of all where the codec's keys are ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook, UncompiledRules
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.book import Book, Header
from solver.book.bulk import arrays
from solver.book.check import check_tally, checked_segments
from solver.book.codecs import Codec, Groups, Machine, States
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled, groups_in
from solver.book.mapping import groups_of, laid_out
from solver.book.writer import CHUNK
from solver.rules.game import STATE_LIMIT
from solver.store.shared import compiled, shared

Columns = tuple[NDArray[np.int64], NDArray[Any]]  # states and palette indices

ARRAYS = Machine(
    compiled=compiled,
    new_bytes=lambda size: np.zeros(size, np.uint8),
    new_integers=lambda size: np.zeros(size, np.int64),
    packed=lambda indices, index_bytes: np.asarray(indices, f"<u{index_bytes}").tobytes(),
)


def encoder_of(codec: Codec) -> Callable[..., Groups]:
    """Return a codec's `encode_chunk` at the speed of C, without the GIL. It takes arrays."""
    return partial(codec.encode_chunk, machine=ARRAYS)


def prepared(
    header: Header,
    keys: States,
    pieces: Iterable[Any],
    team: Workers,
    ranked: Callable[[], Iterable[Any]] | None = None,
) -> tuple[Iterable[Any], Callable[..., Any]] | None:
    """Prepare the arguments of `write_book` for this header: parts of the pieces, and the encoder.

    `ranked` makes the pieces by rank, in order, which need not be sorted then.

    Returns None if the methods that the keys need of the rules do not compile.
    """
    if not isinstance(keys, Ranks):
        return parts(pieces, index_type(header)), encoder_of(header.encoding)
    try:
        compiled_ranks = Compiled(keys)
    except UncompiledRules:
        return None
    if ranked is not None and not keys.tells:
        return parts(ranked()), compiled_ranks.encode
    return parts(compiled_ranks.parts(pieces, header.stored, CHUNK, team)), compiled_ranks.encode


def parts(pieces: Iterable[Any], kind: type[Any] = np.int32) -> Iterator[Columns]:
    """Pieces of states and indices, copied and put together to CHUNK states and, in the end, less.

    `kind` is the type of indices that come as lists; arrays keep their own.
    """
    ready = [(np.empty(0, np.int64), np.empty(0, np.int32))]
    count = 0
    for states, indices in pieces:
        ready.append((np.array(states, np.int64), np.array(indices, getattr(indices, "dtype", kind))))
        count += len(states)
        while count >= CHUNK:
            all_states, all_indices = (np.concatenate(column) for column in zip(*ready, strict=True))
            yield all_states[:CHUNK], all_indices[:CHUNK]
            ready = [(all_states[CHUNK:], all_indices[CHUNK:])]
            count -= CHUNK
    all_states, all_indices = (np.concatenate(column) for column in zip(*ready, strict=True))
    yield all_states, all_indices


def tallied(states: Any, indices: Any, values: int) -> tuple[list[int], list[int]]:
    """Count ascending states by their indices, all below `values`.

    Args:
        states: A buffer of int64.
        indices: A buffer of int32, of the same length.
        values: The number of indices.

    Returns:
        How many states have each index, and the first state that has it, 0 if none has.
    """
    numbers, firsts = np.zeros(values, np.int64), np.zeros(values, np.int64)
    columns = np.frombuffer(states, np.int64), np.frombuffer(indices, np.int32)
    tally_values(*columns, len(states), -1, values, numbers, firsts)
    return numbers.tolist(), firsts.tolist()


def taken(table: list[int], indices: Any) -> NDArray[np.int32]:
    """Return the entries of a table at some indices."""
    return np.array(table, np.int32)[np.asarray(indices, np.int32)]


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


def read_parts(book: Book, progress: Progress = silent) -> Iterator[Columns]:
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


def _segments(book: Book) -> Iterator[Columns]:
    """The states and palette indices of each segment."""
    codec = book.header.encoding
    if codec.decode_all is None:
        for record in checked_segments(book):
            for group in groups_of(book.header, record):
                yield np.array(group[0], np.int64), np.array(group[1], index_type(book.header))
        return
    limit = min(len(book), codec.groups * codec.group)
    room: Columns = np.empty(limit, np.int64), np.empty(limit, index_type(book.header))
    for record in checked_segments(book):
        count = codec.decode_all(arrays(laid_out(record)), *room, compiled)
        if count < 0:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        yield room[0][:count], room[1][:count]


def _ranked(book: Book, ranks: Ranks, progress: Progress) -> Iterator[Columns]:
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
