"""The encoder of books, compiled: the same functions as `solver.book.codecs.instant` runs, over arrays."""

from __future__ import annotations

import types
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from solver.book.codecs import instant


def encode_chunk(
    states: NDArray[np.int64], indices: NDArray[Any], palette_size: int, index_bytes: int
) -> tuple[NDArray[np.uint8], list[int]]:
    """`instant.encode_chunk` at the speed of C, without the GIL."""
    out = np.empty(instant.bound(len(states), index_bytes), np.uint8)
    lengths = np.empty(instant.groups(len(states)), np.int64)
    used = encode_groups(states, indices, index_bytes, np.zeros(palette_size, np.int64), out, lengths)
    return out[:used], lengths.tolist()


def as_arrays(states: Any, indices: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """A part as arrays, from lists or arrays."""
    dtype = getattr(indices, "dtype", np.int32)
    return np.asarray(states, np.int64), np.asarray(indices, dtype)


_compiled = numba.njit(cache=True, nogil=True)
_helpers = {function.__name__: _compiled(function) for function in (instant.put_values, instant.put_keys)}
encode_groups = _compiled(types.FunctionType(instant.encode_groups.__code__, {**vars(instant), **_helpers}))
