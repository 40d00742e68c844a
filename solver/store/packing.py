"""Sorted states in a bit less than a byte each: gaps of four widths, in blocks that are unpacked at a time.

A block of up to BLOCK states is its first state, in the row that the index has for it, and words of 64 bits
    the widths of the four classes, 6 bits each
    the class of each gap, 2 bits: how many states lie between a state and the next, in so many bits
    the gaps themselves, lowest bits first, across words
    a spare word, so that whoever reads a gap may read two words
The widths are those that make the states packed together shortest. Classes are apart from gaps, so that where the next
gap begins is known before this one is read. A state takes 8 ns to pack and 2 to unpack.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from solver.store.shared import shared

BLOCK = 1024  # states
FIRST, END, AT = range(3)  # of a block: its first state, the states up to its end, where its words begin
MANY, STEP = 1 << 13, 7  # gaps, and which of so many are looked at
WIDEST = 62  # bits of a gap: a wider one ends its block
WIDTHS, WORDS, BLOCKS = 0, 1, 2  # what `plan` reports: the widths, and how many words and blocks there are at most
States = NDArray[np.int64]
Words = NDArray[np.uint64]


@intrinsic
def _length_of(typingctx: Any, number: Any) -> Any:
    """The bits of a number >= 0."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        zeros = builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return nb.int64(nb.int64), emit


length_of: Any = _length_of  # takes (number): the typing context is Numba's


@shared
def plan(states: States, report: NDArray[np.int64]) -> None:
    """How to pack sorted states without doubles: report (3,) int64. Of many gaps some are looked at."""
    counts, anywhere, blocks = np.zeros(WIDEST + 1, np.int64), np.int64(0), 1 + len(states) // BLOCK
    for i in range(1, len(states)):
        anywhere |= states[i] - states[i - 1] - 1
    if length_of(anywhere) > WIDEST:
        for i in range(1, len(states)):
            blocks += length_of(states[i] - states[i - 1] - 1) > WIDEST
    step = 1 if len(states) < MANY else STEP
    for i in range(1, len(states), step):
        counts[min(WIDEST, length_of(states[i] - states[i - 1] - 1))] += 1
    counts[min(WIDEST, length_of(anywhere))] += 1
    widths, bits = best_widths(counts)
    report[WIDTHS], report[BLOCKS] = widths, blocks
    report[WORDS] = (len(states) * (widths >> 18 & 63) >> 6) + (len(states) >> 5) + 5 * blocks


@register_jitable
def best_widths(counts: NDArray[np.int64]) -> tuple[Any, Any]:
    """The widths of four classes that take the fewest bits, given how many gaps have each length; and those bits."""
    top = 0
    for bits in range(len(counts)):
        if counts[bits]:
            top = bits
    best, last = np.zeros((4, top + 1), np.int64), np.zeros((4, top + 1), np.int64)
    below = np.cumsum(counts)
    for width in range(top + 1):
        best[0, width] = below[width] * width
    for row in range(1, 4):
        for width in range(top + 1):
            best[row, width], last[row, width] = best[row - 1, width], width
            for narrower in range(width):
                bits = best[row - 1, narrower] + (below[width] - below[narrower]) * width
                if bits < best[row, width]:
                    best[row, width], last[row, width] = bits, narrower
    widths, width = np.int64(0), top
    for row in range(3, -1, -1):
        widths |= width << 6 * row
        width = last[row, width]
    return widths, best[3, top]


@shared
def pack(states: States, widths: int, blocks: NDArray[np.int64], words: Words) -> tuple[int, int]:
    """Pack states: blocks (n, 3) int64, words uint64; how many of both were filled."""
    used, begin, row = 0, 0, 0
    while begin < len(states):
        end = begin + 1
        while end < len(states) and end < begin + BLOCK and length_of(states[end] - states[end - 1] - 1) <= WIDEST:
            end += 1
        blocks[row, FIRST], blocks[row, END], blocks[row, AT] = states[begin], end, used
        words[used] = np.uint64(widths)
        used = put(states, begin, end, widths, words, used + 1)
        begin = end
        row += 1
    return row, used


@register_jitable
def put(states: States, begin: int, end: int, widths: int, words: Words, at: int) -> Any:
    """Write the classes of the gaps between states[begin:end] and the gaps to words[at:]; where they end."""
    first, second, third = widths & 63, widths >> 6 & 63, widths >> 12 & 63
    kinds, gaps, filled = np.uint64(0), np.uint64(0), np.int64(0)
    place = at + (end - begin + 30 >> 5)
    for i in range(end - begin - 1):
        gap = states[begin + i + 1] - states[begin + i] - 1
        bits = length_of(gap)
        kind = np.int64(bits > first) + np.int64(bits > second) + np.int64(bits > third)
        kinds |= np.uint64(kind) << np.uint64(2 * (i & 31))
        if i & 31 == 31:
            words[at + (i >> 5)], kinds = kinds, np.uint64(0)
        gaps |= np.uint64(gap) << np.uint64(filled)
        width = widths >> 6 * kind & 63
        filled += width
        if filled >= 64:
            filled -= 64
            words[place] = gaps
            gaps = np.uint64(gap) >> np.uint64(1) >> np.uint64(width - filled - 1) if filled else np.uint64(0)
            place += 1
    if end - begin - 1 & 31:
        words[at + (end - begin - 1 >> 5)] = kinds
    words[place], words[place + 1] = gaps, np.uint64(0)
    return place + 2


@register_jitable
def unpack(words: Words, at: int, first: int, count: int, out: States, place: int) -> None:
    """Unpack the `count` states of a block whose words begin at `at` to out[place:]."""
    widths = np.int64(words[at])
    bit: Any = (at + 1 + (count + 30 >> 5)) << 6
    state: Any = np.int64(first)
    out[place] = state
    kinds = np.uint64(0)
    for i in range(count - 1):
        if i & 31 == 0:
            kinds = words[at + 1 + (i >> 5)]
        width = widths >> 6 * np.int64(kinds & np.uint64(3)) & 63
        kinds >>= np.uint64(2)
        word, low = bit >> 6, np.uint64(bit & 63)
        gap = words[word] >> low | words[word + 1] << np.uint64(1) << (np.uint64(63) - low)
        state += np.int64(gap & (np.uint64(1) << np.uint64(width)) - np.uint64(1)) + 1
        bit += width
        out[place + i + 1] = state
