"""Sort states in pieces that fit the cache.

LSD radix sort over the bits in which the keys differ. It sorts 200-260 M keys/s of 30 bits in pieces of up to a
million. NumPy's sort does 15-50 M keys/s with its AVX-512 code on a Zen 4 core, and 90-160 with its AVX2 code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.store.shared import part, shared

DIGIT_BITS = 11  # bits at most, and one more where there are many keys
MANY_KEYS = 1 << 12  # keys
Ints = NDArray[np.int64]


@shared
def radix_sort(keys: Ints, scratch: Ints, count: int) -> None:
    """Sort keys[:count] (int64, >= 0) in place; `scratch` has the same length."""
    radix_sort_pairs(keys, None, scratch, None, count)


@shared
def radix_sort_pairs(keys: Ints, values: Any, key_scratch: Ints, value_scratch: Any, count: int) -> None:
    """Sort keys[:count] (int64, >= 0) in place, and their values alongside.

    Args:
        keys: The keys.
        values: Their values, or None: then the branches for values are not compiled.
        key_scratch: Scratch like `keys`.
        value_scratch: Scratch like `values`.
        count: The number of keys.
    """
    differing = 0
    for i in range(1, count):
        differing |= keys[i] ^ keys[0]
    bits = 0
    while differing >> bits:
        bits += 1
    if bits == 0:
        return
    digit_bits = DIGIT_BITS + (count >= MANY_KEYS)
    passes = (bits + digit_bits - 1) // digit_bits
    digit_bits = (bits + passes - 1) // passes
    # least significant digit first: each pass keeps the order of the one before
    mask = (1 << digit_bits) - 1
    targets = np.empty(1 << digit_bits, np.int64)
    source, target = keys, key_scratch
    value_source, value_target = values, value_scratch
    for pass_index in range(passes):
        shift = pass_index * digit_bits
        # Of each digit, how many keys have a smaller one
        for i in range(len(targets)):
            targets[i] = 0
        for i in range(count):
            targets[source[i] >> shift & mask] += 1
        exclusive_sums(targets)
        for i in range(count):
            key = source[i]
            digit = key >> shift & mask
            target[targets[digit]] = key
            if values is not None:
                value_target[targets[digit]] = value_source[i]
            targets[digit] += 1
        # the arrays change roles with each pass
        source, target = target, source
        value_source, value_target = value_target, value_source
    if passes & 1:
        # A slice would take two seconds to compile
        for i in range(count):
            keys[i] = key_scratch[i]
            if values is not None:
                values[i] = value_scratch[i]


@part
def exclusive_sums(counts: Ints) -> None:
    """Replace each number by the sum of the numbers before it."""
    total = 0
    for i in range(len(counts)):
        count = counts[i]
        counts[i] = total
        total += count


@shared
def sort_unique(keys: Ints, scratch: Ints, count: int) -> int:
    """Sort keys[:count] in place and drop duplicates; return the number that is left."""
    radix_sort(keys, scratch, count)
    kept_count = min(count, 1)
    for i in range(1, count):
        if keys[i] != keys[kept_count - 1]:
            keys[kept_count] = keys[i]
            kept_count += 1
    return kept_count


@shared
def merge(left: Ints, right: Ints, merged: Ints) -> int:
    """Merge two sorted arrays without duplicates into `merged`, without duplicates; return the number of keys."""
    i = j = count = 0
    while i < len(left) and j < len(right):
        first_key, second_key = left[i], right[j]
        merged[count] = min(first_key, second_key)
        count += 1
        # No branch, which nobody could predict
        i += first_key <= second_key
        j += second_key <= first_key
    for index in range(i, len(left)):
        merged[count] = left[index]
        count += 1
    for index in range(j, len(right)):
        merged[count] = right[index]
        count += 1
    return count


@shared
def group_by_tier(keys: Ints, tiers: Ints, count: int, lowest: int, grouped: Ints, ends: Ints) -> None:
    """Group keys[:count] by tiers[:count] into `grouped`; write the end of each tier's keys to `ends`."""
    for i in range(len(ends)):
        ends[i] = 0
    for i in range(count):
        ends[tiers[i] - lowest] += 1
    exclusive_sums(ends)
    for i in range(count):
        tier = tiers[i] - lowest
        grouped[ends[tier]] = keys[i]
        ends[tier] += 1


@part
def lower_bound(keys: Ints, key: int, low: int, high: int) -> int:
    """Return the first index from `low` to `high` whose sorted key is at least `key`."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@part
def upper_bound(keys: Ints, key: int, low: int, high: int) -> int:
    """Return the first index from `low` to `high` whose sorted key is greater than `key`."""
    return high if low == high or keys[high - 1] <= key else lower_bound(keys, key + 1, low, high)


@part
def gallop(keys: Ints, key: int, low: int) -> int:
    """Return the lower bound of `key` from `low` on, in time logarithmic in its distance."""
    step, high = 1, low
    while high < len(keys) and keys[high] < key:
        low = high + 1
        high += step
        step *= 2
    return lower_bound(keys, key, low, min(high, len(keys)))
