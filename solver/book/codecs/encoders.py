"""The encoders of books, compiled: the functions of `solver.book.codecs`, over arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.parallel import Workers
from solver.book import Header
from solver.book.codecs.codec import Codec, Groups, Machine, States
from solver.book.codecs.ranked import Ranks
from solver.book.codecs.ranked_kernels import Compiled
from solver.book.codecs.reading import index_type, tally_values
from solver.book.writer import CHUNK
from solver.store.shared import compiled

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


def parts(pieces: Iterable[Any], kind: type[Any] = np.int32) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
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
