"""Pack sorted states in a bit less than a byte each.

Gaps between states are stored in one of four widths, in blocks of up to BLOCK_STATES that are unpacked as a whole:

    block row    first state | states up to its end | begin of its words
    words        widths of the four classes, 6 bits each
                 class of each gap, 2 bits each, 32 to a word
                 gaps, lowest bits first, across words
                 a spare word, so that a reader of a gap may always read two words

A gap is the number of absent states between two neighbours. The four widths are those that make the packed states
shortest. Classes lie apart from gaps, so that the begin of the next gap is known before this one is read. To pack a
state takes 8 ns, to unpack it 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from solver.store.shared import shared

BLOCK_STATES = 1024  # states
FIRST, END, AT = range(3)  # of a block: its first state, the states up to its end, where its words begin
MANY_GAPS, SAMPLE_STEP = 1 << 13, 7  # gaps, and which of so many are looked at
MAX_GAP_BITS = 62  # bits of a gap: a wider one ends its block
WIDTHS, WORDS, BLOCKS = 0, 1, 2  # what `plan` reports: the widths, and how many words and blocks there are at most
States = NDArray[np.int64]
Words = NDArray[np.uint64]


@intrinsic
def _length_of(typingctx: Any, number: Any) -> Any:
    """Return the number of bits of a number from 0 on, as Numba's intrinsic."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        zeros = builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return nb.int64(nb.int64), emit


length_of: Any = _length_of  # takes (number): the typing context is Numba's


@shared
def plan(states: States, report: NDArray[np.int64]) -> None:
    """Choose the widths for sorted states without duplicates.

    Many gaps are sampled: every seventh is looked at.

    Args:
        states: Ascending states.
        report: Written, (3,) int64: the widths, and upper bounds of the numbers of words and blocks.
    """
    counts, bits_in_use, block_count = (
        np.zeros(MAX_GAP_BITS + 1, np.int64),
        np.int64(0),
        1 + len(states) // BLOCK_STATES,
    )
    for i in range(1, len(states)):
        bits_in_use |= states[i] - states[i - 1] - 1
    if length_of(bits_in_use) > MAX_GAP_BITS:
        for i in range(1, len(states)):
            block_count += length_of(states[i] - states[i - 1] - 1) > MAX_GAP_BITS
    step = 1 if len(states) < MANY_GAPS else SAMPLE_STEP
    for i in range(1, len(states), step):
        counts[min(MAX_GAP_BITS, length_of(states[i] - states[i - 1] - 1))] += 1
    counts[min(MAX_GAP_BITS, length_of(bits_in_use))] += 1
    widths, bits = best_widths(counts)
    report[WIDTHS], report[BLOCKS] = widths, block_count
    report[WORDS] = (len(states) * (widths >> 18 & 63) >> 6) + (len(states) >> 5) + 5 * block_count


@register_jitable
def best_widths(counts: NDArray[np.int64]) -> tuple[Any, Any]:
    """Choose the four widths that take the fewest bits, by dynamic programming over the classes.

    Args:
        counts: The number of gaps of each length in bits.

    Returns:
        The widths, 6 bits each, and the bits of all gaps.
    """
    widest = 0
    for bits in range(len(counts)):
        if counts[bits]:
            widest = bits
    fewest_bits, narrower_of = np.zeros((4, widest + 1), np.int64), np.zeros((4, widest + 1), np.int64)
    gaps_below = np.cumsum(counts)
    for width in range(widest + 1):
        fewest_bits[0, width] = gaps_below[width] * width
    # fewest_bits[row, width]: the bits of all gaps up to `width` in `row` + 1 classes, the widest of that width
    for row in range(1, 4):
        for width in range(widest + 1):
            fewest_bits[row, width], narrower_of[row, width] = fewest_bits[row - 1, width], width
            for narrower in range(width):
                bits = fewest_bits[row - 1, narrower] + (gaps_below[width] - gaps_below[narrower]) * width
                if bits < fewest_bits[row, width]:
                    fewest_bits[row, width], narrower_of[row, width] = bits, narrower
    widths, width = np.int64(0), widest
    for row in range(3, -1, -1):
        widths |= width << 6 * row
        width = narrower_of[row, width]
    return widths, fewest_bits[3, widest]


@shared
def pack(states: States, widths: int, blocks: NDArray[np.int64], words: Words) -> tuple[int, int]:
    """Write blocks (n, 3) int64 and words uint64; return the number of both that were filled."""
    word_count, begin, block_count = 0, 0, 0
    while begin < len(states):
        end = begin + 1
        while (
            end < len(states)
            and end < begin + BLOCK_STATES
            and length_of(states[end] - states[end - 1] - 1) <= MAX_GAP_BITS
        ):
            end += 1
        blocks[block_count, FIRST], blocks[block_count, END], blocks[block_count, AT] = states[begin], end, word_count
        words[word_count] = np.uint64(widths)
        word_count = put(states, begin, end, widths, words, word_count + 1)
        begin = end
        block_count += 1
    return block_count, word_count


@register_jitable
def put(states: States, begin: int, end: int, widths: int, words: Words, class_begin: int) -> Any:
    """Write the classes and the gaps of states[begin:end] to words[class_begin:]; return the index after them."""
    first_width, second, third = widths & 63, widths >> 6 & 63, widths >> 12 & 63
    kinds, gaps, bits_filled = np.uint64(0), np.uint64(0), np.int64(0)
    cursor = class_begin + (end - begin + 30 >> 5)
    for i in range(end - begin - 1):
        gap = states[begin + i + 1] - states[begin + i] - 1
        bits = length_of(gap)
        # without a branch, which nobody could predict
        kind = np.int64(bits > first_width) + np.int64(bits > second) + np.int64(bits > third)
        kinds |= np.uint64(kind) << np.uint64(2 * (i & 31))
        if i & 31 == 31:
            words[class_begin + (i >> 5)], kinds = kinds, np.uint64(0)
        gaps |= np.uint64(gap) << np.uint64(bits_filled)
        width = widths >> 6 * kind & 63
        bits_filled += width
        if bits_filled >= 64:
            bits_filled -= 64
            words[cursor] = gaps
            gaps = np.uint64(gap) >> np.uint64(1) >> np.uint64(width - bits_filled - 1) if bits_filled else np.uint64(0)
            cursor += 1
    if end - begin - 1 & 31:
        words[class_begin + (end - begin - 1 >> 5)] = kinds
    words[cursor], words[cursor + 1] = gaps, np.uint64(0)
    return cursor + 2


@register_jitable
def unpack(words: Words, offset: int, first_key: int, count: int, out: States, out_index: int) -> None:
    """Unpack the `count` states of a block whose words begin at `offset` to out[place:]."""
    widths = np.int64(words[offset])
    bit: Any = (offset + 1 + (count + 30 >> 5)) << 6
    state: Any = np.int64(first_key)
    out[out_index] = state
    kinds = np.uint64(0)
    for i in range(count - 1):
        if i & 31 == 0:
            kinds = words[offset + 1 + (i >> 5)]
        width = widths >> 6 * np.int64(kinds & np.uint64(3)) & 63
        kinds >>= np.uint64(2)
        word, low = bit >> 6, np.uint64(bit & 63)
        gap = words[word] >> low | words[word + 1] << np.uint64(1) << (np.uint64(63) - low)
        state += np.int64(gap & (np.uint64(1) << np.uint64(width)) - np.uint64(1)) + 1
        bit += width
        out[out_index + i + 1] = state
