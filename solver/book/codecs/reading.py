"""The auditor's own reading of books: all states and values, in order, whatever the codec.

It shares nothing with the codecs but zlib, so an error in one of them is found. Cost: 12 bytes a state, those of one
segment, or of all.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.book.check import check_tally, checked_segments
from solver.book.codecs import CODECS
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled
from solver.store.runs import States
from solver.store.shared import shared
from solver.store.work import Work

STATE_BYTES = 13


def decode_segment(record: bytes, states: States, indices: NDArray[Any]) -> int:
    """Decode a segment's groups into states and indices; how many there are, or -1 if they do not fit together.

    The layout is that of `solver.book.format` and its codecs, decoded here on its own.
    """
    body = np.frombuffer(record, np.uint8)
    if record[6] == 3:
        return int(_fixed(body, states, indices))
    return int(_instant(body, states, indices)) if record[6] == 0 else _compact(record, body, states, indices)


@shared
def _instant(body, states, indices):
    """`decode_segment` of the codec that is not deflated; body (bytes,) uint8, the whole record."""
    at = 0
    groups = np.int64(body[4]) | np.int64(body[5]) << 8
    index_bytes = np.int64(body[7])
    for group in range(groups):
        first = _number(body, 8 + 8 * group, 8)
        start = _number(body, 8 + 8 * groups + 2 * group, 2)
        end = _number(body, 8 + 8 * groups + 2 * group + 2, 2)
        if end > len(body) or end - start < 4:
            return -1
        mode, width = np.int64(body[start]) & 7, np.int64(body[start]) >> 3
        count, entries = np.int64(body[start + 1]) + 1, np.int64(body[start + 2]) + 1
        values = start + 3 + entries * index_bytes
        keys = values + (count * width + 7) // 8
        size = 0 if mode == 0 else 1 << mode - 1
        if mode > 4 or width not in (0, 1, 2, 4, 8) or keys >= end or at + count > len(states):
            return -1
        if mode and keys + count * size != end:
            return -1
        found = 0
        for bit in range(8 * (end - keys) if mode == 0 else count):
            if mode == 0 and not body[keys + bit // 8] >> bit % 8 & 1:
                continue
            if found == count:
                return -1
            place = 0
            if width:
                place = np.int64(body[values + found * width // 8]) >> found * width % 8 & (1 << width) - 1
            if place >= entries:
                return -1
            states[at + found] = first + (bit if mode == 0 else _number(body, keys + bit * size, size))
            indices[at + found] = _number(body, start + 3 + place * index_bytes, index_bytes)
            found += 1
        if found != count or states[at] != first:
            return -1
        at += count
    return at


@shared
def _fixed(body, states, numbers):
    """`decode_segment` of the codec of expectations."""
    at = 0
    groups = np.int64(body[4]) | np.int64(body[5]) << 8
    for group in range(groups):
        first = _number(body, 8 + 8 * group, 8)
        start = _number(body, 8 + 8 * groups + 2 * group, 2)
        end = _number(body, 8 + 8 * groups + 2 * group + 2, 2)
        if end > len(body) or end - start < 8:
            return -1
        mode, count, width = np.int64(body[start]), np.int64(body[start + 1]) + 1, np.int64(body[start + 2])
        keys = start + 7 + (count * width + 7) // 8
        lows = mode - 1 if mode else mode
        highs = keys + (count * lows + 7) // 8
        if mode > 63 or width > 32 or highs >= end or at + count > len(states):
            return -1
        least, found = _number(body, start + 3, 4), 0
        for bit in range(8 * (end - highs)):
            if not body[highs + bit // 8] >> bit % 8 & 1:
                continue
            if found == count:
                return -1
            offset = bit if mode == 0 else (bit - found << lows) + _digits(body, keys, found * lows, lows)
            states[at + found] = first + offset
            numbers[at + found] = least + _digits(body, start + 7, found * width, width)
            found += 1
        if found != count or states[at] != first:
            return -1
        at += count
    return at


@shared
def _digits(body, begin, bit, width):
    """A number of so many bits, the lowest first, from this one on."""
    number = np.int64(0)
    for digit in range(width):
        place = bit + digit
        number |= (np.int64(body[begin + place // 8]) >> place % 8 & 1) << digit
    return number


def _compact(record: bytes, body: NDArray[np.uint8], states: States, indices: NDArray[np.int32]) -> int:
    """`decode_segment` of the codec that is."""
    at = 0
    groups, index_bytes = int.from_bytes(record[4:6], "little"), record[7]
    for group in range(groups):
        first = int(_number(body, 8 + 8 * group, 8))
        start, end = (int(_number(body, 8 + 8 * groups + 2 * (group + one), 2)) for one in (0, 1))
        if end > len(record) or end - start < 7:
            return -1
        mode, count, size, packed = struct.unpack_from("<BHHH", record, start)
        count, size = count + 1, size + 1
        if at + count > len(states) or mode > 8 or size > 12_288 or (mode > 0 and size != mode * count):
            return -1
        keys = _inflated(record[start + 7 : min(start + 7 + packed, end)], size)
        values = _inflated(record[start + 7 + packed : end], count * index_bytes)
        if count > 6144 or keys is None or values is None:
            return -1
        if _spread(np.frombuffer(keys, np.uint8), mode, first, states[at : at + count]) != count:
            return -1
        indices[at : at + count] = np.frombuffer(values, f"<u{index_bytes}")
        at += count
    return at


def _inflated(data: bytes, size: int) -> bytes | None:
    """What was deflated, if it is so many bytes and nothing lies behind it."""
    stream = zlib.decompressobj(-13)
    try:
        found = stream.decompress(data, size + 1)
    except zlib.error:
        return None
    return found if stream.eof and len(found) == size and not stream.unused_data else None


@shared
def _spread(keys, mode, first, states):
    """Write the states of a group from its keys: how many there are, one more than fit, or 0 without the first."""
    count = len(states)
    if mode:
        for i in range(count):
            states[i] = first
            for plane in range(mode):
                states[i] += np.int64(keys[plane * count + i]) << 8 * (mode - 1 - plane)
        return count if states[0] == first else 0
    found = 0
    for bit in range(8 * len(keys)):
        if keys[bit // 8] >> bit % 8 & 1:
            if found == count:
                return count + 1
            states[found] = first + bit
            found += 1
    return found if found and states[0] == first else 0


@shared
def _number(body, at, size):
    number = 0
    for byte in range(size):
        number |= np.int64(body[at + byte]) << 8 * byte
    return number


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
    codec = CODECS[book.codec]
    most = min(len(book), codec.GROUPS * codec.GROUP)
    room: tuple[NDArray[Any], NDArray[Any]] = np.empty(most, np.int64), np.empty(most, _dtype(book))
    for record in checked_segments(book):
        count = decode_segment(record, *room)
        if count < 0:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        yield room[0][:count], room[1][:count]


def _ranked(book: Book, ranks: Ranks, progress: Progress) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """All states of a ranked book, as compiled rules tell them from their ranks, and the palette indices."""
    stored = len(book)
    compiled = Compiled(ranks)
    groups = [group for record in checked_segments(book) for group in _symbols(book, record)]
    ends = [first + len(symbols) for first, symbols in groups]
    if any(end > first for end, (first, _) in zip(ends, groups[1:], strict=False)):
        raise DamagedBook(f"{book.path}: states are out of order: solve again")
    states, indices = np.empty(stored, np.int64), np.empty(stored, np.int32)
    at = 0
    for some, places in compiled.states(groups) if groups else ():
        if at + len(some) > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        states[at : at + len(some)], indices[at : at + len(some)] = some, places
        at += len(some)
        progress("unrank", at, stored)
    order = np.argsort(states[:at])
    if at:
        yield states[order], indices[order]


def _symbols(book: Book, record: bytes) -> Iterator[tuple[int, NDArray[Any]]]:
    """The first rank of each group of a segment, and the symbols of its ranks."""
    body = np.frombuffer(record, np.uint8)
    groups, index_bytes = int.from_bytes(record[4:6], "little"), record[7]
    for group in range(groups):
        first = int(_number(body, 8 + 8 * group, 8))
        start, end = (int(_number(body, 8 + 8 * groups + 2 * (group + one), 2)) for one in (0, 1))
        count = int.from_bytes(record[start : start + 2], "little") + 1
        symbols = _inflated(record[start + 2 : end], count * index_bytes)
        if end > len(record) or end - start < 3 or count > 60_000 // index_bytes or first >> 62 or symbols is None:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        yield first, np.frombuffer(symbols, f"<u{index_bytes}")


def _dtype(book: Book) -> type[Any]:
    """Of palette indices, or of numbers of steps."""
    return np.int32 if book.expectation is None else np.int64


def read_all(book: Book, work: Work, memory: int, progress: Progress = silent) -> tuple[States, NDArray[Any]]:
    """All states and palette indices of a book, checked against its header; in files beyond half the memory.

    Raises DamagedBook.
    """
    stored = len(book)
    in_files = STATE_BYTES * stored > memory // 2
    columns = [work.column("states", np.int64), work.column("indices", _dtype(book))] if in_files else []
    states, indices = np.empty(0 if in_files else stored, np.int64), np.empty(0 if in_files else stored, _dtype(book))
    at = 0
    for parts in read_parts(book, progress):
        if in_files:
            columns[0].append(parts[0])
            columns[1].append(parts[1])
        if not in_files:
            end = at + len(parts[0])
            states[at:end], indices[at:end] = parts
            at = end
    return (columns[0].view(), columns[1].view()) if in_files else (states, indices)
