"""The `ranked` codec: values alone, in the order of the states' ranks; the smallest, and read with the rules.

Its keys are ranks, numbers that the rules give states (`rank(state)`, `unrank(rank)`): so the group and the place in it
are told from the state, and no key is stored.

Group, up to 60,000 ranks, fewer where an index takes more than one byte; at most 64 groups to a segment
    u16 ranks - 1
    symbols, raw deflate (RFC 1951, no distance beyond 8 KB), one for each rank from the group's first on, in as many
        bytes as an index: 0, a state that is not in the book; else its palette index + 1

Worked group: ranks 1000, 1001, 1003 with palette indices 7, 9, 7, indices of one byte, no state of rank 1002
    03 00 | e3 e0 e2 e2 00 00
    4 ranks; symbols 08 0a 0a 08

Where the rules know that a rank has no state that a book could hold (a finished one, none at all, a twin that is
folded away), its symbol is a repetition of the one before, which takes no room. So it is for a state whose value they
tell, but that it is not 0. Whoever looks up asks the rules first.

A group ends where the next state's rank would be beyond it, and where 65,536 states do; so the bytes do not depend on
how the states are cut into parts. They depend on zlib: its versions may deflate to different bytes. What it costs and
what else was tried is in docs/design.md.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from solver.base.errors import DamagedBook
from solver.book.codecs.compact import INDEX_FORMATS, OFTEN_WRONG, deflated, inflated, whole

NAME, NUMBER = "ranked", 2
GROUP = 60_000
GROUPS = 64
BLOCK = 1 << 16
HEAD = struct.Struct("<H")
SLOTS = 61  # decoded groups that a book keeps: 4 MB at most; a prime

Fill = Callable[[int, int], bytes]


def encode_chunk(
    ranks: Sequence[int],
    indices: Sequence[int],
    palette_size: int,
    index_bytes: int,
    holds: Callable[[int], bool] = lambda rank: True,
) -> tuple[bytes, list[int], list[int]]:
    """The groups of the ranks one after the other, the states and the bytes of each.

    An index is -1 where the rules tell the value of a state that is in the book.
    `holds(rank)` says whether somebody may ask for the rank, who then has to be told that it is not in the book.
    """

    def filled(begin: int, end: int) -> bytes:
        symbols = [int(holds(rank)) for rank in range(ranks[begin], ranks[end - 1] + 1)]
        fill(ranks[begin:end], indices[begin:end], symbols)
        return struct.pack(f"<{len(symbols)}{INDEX_FORMATS[index_bytes]}", *symbols)

    return encode_blocks(ranks, index_bytes, filled)


def encode_blocks(ranks: Any, index_bytes: int, filled: Fill) -> tuple[bytes, list[int], list[int]]:
    """`encode_chunk` with what makes the symbols of ranks[begin] to ranks[end - 1]."""
    bodies: list[bytes] = []
    counts: list[int] = []
    span = GROUP // index_bytes
    first = 0
    while first < len(ranks):
        block = min((first // BLOCK + 1) * BLOCK, len(ranks))
        end = bisect_left(ranks, ranks[first] + span, first, block)
        symbols = filled(first, end)
        bodies.append(HEAD.pack(len(symbols) // index_bytes - 1) + deflated(symbols, zlib.Z_FILTERED))
        counts.append(end - first)
        first = end
    return b"".join(bodies), counts, [len(body) for body in bodies]


def fill(ranks: Any, indices: Any, symbols: Any) -> None:
    """Write the symbols of all ranks from the first to the last, in place of whether they may be asked for."""
    place = 0
    symbol = 0
    some = 1  # the last symbol that is none of a missing state
    for at in range(len(symbols)):
        rank = ranks[0] + at
        if rank == ranks[place]:
            if indices[place] >= 0:
                some = indices[place] + 1
            symbol = some if indices[place] >= 0 or not symbol else symbol
            place += 1
        elif symbols[at]:
            symbol = 0
        symbols[at] = symbol


def bound(count: int, index_bytes: int) -> int:
    """An upper bound of the bytes that count states encode to."""
    return count * (128 + 32 * index_bytes)  # a run of 60,000 equal symbols takes less than a hundred


def _count(view: memoryview, at: int, index_bytes: int) -> int:
    """The ranks of the group at a place."""
    count = int(HEAD.unpack_from(view, at)[0]) + 1
    if count > GROUP // index_bytes:
        raise ValueError("its size is that of no group")
    return count


def finder() -> Callable[[Any, int], int | None]:
    """A look-up of ranks in the segments of one file, which keeps SLOTS groups decoded, as `compact` does."""
    slots: list[tuple[int, int, bytes] | None] = [None] * SLOTS

    def find(segment: Any, rank: int) -> int | None:
        view, firsts, starts, index_bytes = segment
        group = bisect_right(firsts, rank) - 1
        first = firsts[group]
        known = slots[first % SLOTS]
        if known is None or known[0] != first:
            known = first, _count(view, starts[group], index_bytes), b""
        first, count, symbols = known
        place = rank - first
        if place >= count:
            return None
        if len(symbols) < (place + 1) * index_bytes:
            size = (count if symbols else place + 1) * index_bytes
            symbols = inflated(view[starts[group] + HEAD.size : starts[group + 1]], size)
            slots[first % SLOTS] = first, count, symbols
        symbol = int.from_bytes(symbols[place * index_bytes : (place + 1) * index_bytes], "little")
        return symbol - 1 if symbol else None

    return find


def decode(body: memoryview, first: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The ranks of a group and their palette indices, -1 where there is none; raises DamagedBook.

    The rules know which of the ranks are of states that are stored: those of others have an index, too.
    """
    try:
        count = _count(body, 0, index_bytes)
        symbols = whole(body[HEAD.size :], count * index_bytes)
    except OFTEN_WRONG as error:
        raise DamagedBook(f"a group is malformed ({error})") from None
    values = struct.unpack(f"<{count}{INDEX_FORMATS[index_bytes]}", symbols)
    return list(range(first, first + count)), [symbol - 1 for symbol in values]
