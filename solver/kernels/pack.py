"""The encoder of books, compiled: the same function as `solver.book.codec` runs, over arrays."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from solver.book import codec


def encode_chunk(
    states: NDArray[np.int64], indices: NDArray[Any], begin: int, end: int, palette_size: int, index_bytes: int
) -> tuple[NDArray[np.uint8], list[int]]:
    """`codec.encode_chunk` at the speed of C, without the GIL."""
    out = np.empty(codec.bound(end - begin, index_bytes), np.uint8)
    lengths = np.empty(codec.groups(end - begin), np.int64)
    scratch = np.zeros(palette_size, np.int64)
    used = encode_groups(states, indices, begin, end, index_bytes, scratch, out, lengths)
    return out[:used], lengths.tolist()


encode_groups = numba.njit(codec.encode_groups, cache=True, nogil=True)
