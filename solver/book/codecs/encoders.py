"""The encoders of books, compiled: the same functions as `solver.book.codecs` runs, over arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.parallel import Workers
from solver.book import Header
from solver.book.codecs import compact, fixed, instant
from solver.book.codecs.keys import States
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled
from solver.book.codecs.reading import tally_values
from solver.book.writer import CHUNK
from solver.store.shared import compiled


def encode_instant(
    states: NDArray[np.int64], indices: NDArray[Any], palette_size: int, index_bytes: int
) -> tuple[NDArray[np.uint8], list[int], list[int]]:
    """`instant.encode_chunk` at the speed of C, without the GIL."""
    out = np.empty(instant.bound(len(states), index_bytes), np.uint8)
    lengths = np.empty(instant.groups(len(states)), np.int64)
    used = encode_groups(states, indices, index_bytes, np.zeros(palette_size, np.int64), out, lengths)
    return out[:used], instant.counts(len(states)), lengths.tolist()


def encode_compact(
    states: NDArray[np.int64], indices: NDArray[Any], palette_size: int, index_bytes: int
) -> tuple[bytes, list[int], list[int]]:
    """`compact.encode_chunk`; zlib, which takes most of the time, lets go of the GIL, too."""
    values = np.asarray(indices, f"<u{index_bytes}").tobytes()
    return compact.encode_blocks(states, values, index_bytes, lay_out, _new_bytes, _new_ints)


def encode_fixed(
    states: NDArray[np.int64], numbers: NDArray[Any], palette_size: int, index_bytes: int
) -> tuple[NDArray[np.uint8], list[int], list[int]]:
    """`fixed.encode_chunk` at the speed of C, without the GIL."""
    out = np.empty(fixed.bound(len(states), index_bytes), np.uint8)
    lengths = np.empty(fixed.groups(len(states)), np.int64)
    used = encode_numbers(states, np.asarray(numbers, np.int64), out, lengths)
    return out[:used], fixed.counts(len(states)), lengths.tolist()


ENCODERS: dict[str, Callable[..., Any]] = {
    instant.NAME: encode_instant, compact.NAME: encode_compact, fixed.NAME: encode_fixed
}  # fmt: skip


def prepared(
    header: Header, keys: States, pieces: Iterable[Any], team: Workers
) -> tuple[Iterable[Any], Callable[..., Any]] | None:
    """Prepare what `write_book` takes for this header: parts of the pieces, and the encoder.

    None where the codec has no compiled one, or the methods that the keys ask of the rules do not compile.
    """
    if not isinstance(keys, Ranks):
        return (parts(pieces), ENCODERS[header.codec]) if header.codec in ENCODERS else None
    try:
        compiled_ranks = Compiled(keys)
    except UncompiledRules:
        return None
    return parts(compiled_ranks.parts(pieces, header.stored, CHUNK, team)), compiled_ranks.encode


def parts(pieces: Iterable[Any]) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Pieces of states and indices, copied and put together to CHUNK states and, in the end, less."""
    ready = [(np.empty(0, np.int64), np.empty(0, np.int32))]
    count = 0
    for piece in pieces:
        states, indices = as_arrays(*piece)
        ready.append((states.copy(), indices.copy()))
        count += len(states)
        while count >= CHUNK:
            whole, whole_indices = (np.concatenate(column) for column in zip(*ready, strict=True))
            yield whole[:CHUNK], whole_indices[:CHUNK]
            ready = [(whole[CHUNK:], whole_indices[CHUNK:])]
            count -= CHUNK
    whole, whole_indices = (np.concatenate(column) for column in zip(*ready, strict=True))
    yield whole, whole_indices


def as_arrays(states: Any, indices: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """A part as arrays, from lists or arrays."""
    dtype = getattr(indices, "dtype", np.int32)
    return np.asarray(states, np.int64), np.asarray(indices, dtype)


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
    """What a table has for each of some indices."""
    return np.array(table, np.int32)[np.asarray(indices, np.int32)]


def _new_bytes(size: int) -> NDArray[np.uint8]:
    return np.empty(size, np.uint8)


def _new_ints(size: int) -> NDArray[np.int64]:
    return np.empty(size, np.int64)


encode_groups = compiled(instant.encode_groups, instant.put_values, instant.put_keys)
encode_numbers = compiled(fixed.encode_groups, fixed.put_bits, fixed.put_numbers, fixed.put_offsets)
lay_out = compiled(compact.lay_out, compact.length, compact.put_keys)
