"""The auditor's arithmetic: every value of a book against its children, sharing nothing with the sweep but the rules.

It has arithmetic of its own for values (outcome and distance instead of merits), a look-up of its own (a table of
the leading bits and bisection), and marks every state that some move reaches, so that strays are found as well.
"""

from __future__ import annotations

import sys
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from solver.book import Book
from solver.errors import DamagedBook
from solver.game import Game
from solver.kernels.compiled import bind, compiling, kernel
from solver.kernels.parallel import Workers
from solver.progress import Progress, silent

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = FOLDS = False

CHUNK = 1 << 15
FINE, CHILD_MISSING, WRONG_VALUE, TERMINAL, NOT_CANONICAL = range(5)
FAULTS = {
    CHILD_MISSING: "has a child that the book lacks",
    WRONG_VALUE: "has another value than its children give it",
    TERMINAL: "is terminal and should not be stored",
    NOT_CANONICAL: "is not the canonical one of its symmetric states",
}


@kernel
def audit(states, indices, scores, distances, begin, end, prefixes, shift, reached, verdict):
    """Check states[begin:end] against their children; verdict (2,) int64 gets the first fault and its state.

    scores and distances (palette,) int64, distance 0 where it means nothing; reached (n,) uint8 is set for children.
    """
    verdict[:] = 0
    for i in range(begin, end):
        state = states[i]
        if game.is_terminal(state):
            verdict[0], verdict[1] = TERMINAL, state
            return
        if FOLDS and game.canonical(state) != state:
            verdict[0], verdict[1] = NOT_CANONICAL, state
            return
        best_score = -(1 << 62)
        best_distance = 0
        for action in game.actions(state):
            child = game.result(state, action)
            distance = 0
            if game.is_terminal(child):
                score = game.utility(child)
                distance = 0 if SCORES or score == 0 else game.plies_left(child)
            else:
                key = game.canonical(child) if FOLDS else child
                place = _look_up(states, key, prefixes, shift)
                if place < 0:
                    verdict[0], verdict[1] = CHILD_MISSING, state
                    return
                reached[place] = 1
                score, distance = scores[indices[place]], distances[indices[place]]
            if ALTERNATES or game.to_move(child) != game.to_move(state):
                score = -score
            distance = 0 if SCORES or score == 0 else distance + 1
            if _is_better(score, distance, best_score, best_distance):
                best_score, best_distance = score, distance
        if best_score != scores[indices[i]] or best_distance != distances[indices[i]]:
            verdict[0], verdict[1] = WRONG_VALUE, state
            return


@kernel
def mark_starts(states, prefixes, shift, reached):
    """Set reached for the states where play starts; the first unfinished start that is missing, or -1."""
    for start in game.starts():
        if not game.is_terminal(start):
            place = _look_up(states, game.canonical(start) if FOLDS else start, prefixes, shift)
            if place < 0:
                return start
            reached[place] = 1
    return np.int64(-1)


@kernel
def _is_better(score, distance, best_score, best_distance):
    """Higher scores first, then quick wins, then slow losses."""
    if score != best_score:
        return score > best_score
    return distance < best_distance if score > 0 else distance > best_distance


@kernel
def _look_up(states, key, prefixes, shift):
    """The index of key in states, or -1."""
    prefix = key >> shift
    if prefix + 1 >= len(prefixes):
        return -1
    low, high = prefixes[prefix], prefixes[prefix + 1]
    while low < high:
        middle = (low + high) // 2
        if states[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(states) and states[low] == key else -1


@numba.njit(cache=True, nogil=True)
def decode_segment(body, states, indices, at):
    """Decode a segment's groups into states[at:] and indices[at:]; the new end, or -1 if they do not fit together.

    body (bytes,) uint8, the whole record; the layout is that of `solver.book.format`, decoded here on its own.
    """
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
        if mode > 4 or width > 8 or keys + count * size > end or keys >= end or at + count > len(states):
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
        if found != count:
            return -1
        at += count
    return at


@numba.njit(cache=True, nogil=True)
def _number(body, at, size):
    number = 0
    for byte in range(size):
        number |= np.int64(body[at + byte]) << 8 * byte
    return number


@numba.njit(cache=True, nogil=True)
def first_disorder(states, indices, palette_size):
    """The first place where states do not ascend or an index is outside the palette, or -1."""
    for i in range(len(states)):
        if (i and states[i - 1] >= states[i]) or states[i] < 0 or indices[i] >= palette_size:
            return i
    return -1


def read_all(book: Book, progress: Progress = silent) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """All states and palette indices of a book, checked to ascend. Raises DamagedBook."""
    stored = len(book)
    states, indices = np.empty(stored, np.int64), np.empty(stored, np.int32)
    at = 0
    for record in book.segments():
        at = decode_segment(np.frombuffer(record, np.uint8), states, indices, at)
        if at < 0:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        progress("check", at, stored)
    if at != stored:
        raise DamagedBook(f"{book.path} stores {at:,} states, its header says {stored:,}")
    place = first_disorder(states, indices, len(book.header.palette))
    if place >= 0:
        raise DamagedBook(f"{book.path}: state {states[place]} is out of order or its value outside the palette")
    return states, indices


def check_values(
    book: Book, game: Game, *, workers: int | None = None, progress: Progress = silent
) -> list[int]:
    """Every value against its children; the states, in ascending order, that no move reaches and that are no starts.

    Raises DamagedBook with the first state that is wrong.
    """
    states, indices = read_all(book, progress)
    palette = book.header.palette
    scores = np.array([value.score for value in palette], np.int64)
    distances = np.array([value.distance or 0 for value in palette], np.int64)
    bits = min(22, len(states).bit_length())
    shift = max(0, (int(states[-1]).bit_length() if len(states) else 0) - bits)
    prefixes = np.searchsorted(states, np.arange((1 << bits) + 1, dtype=np.int64) << shift)
    reached = np.zeros(len(states), np.uint8)
    kernels = bind(sys.modules[__name__], game, book.header.symmetry)

    def check(begin: int) -> NDArray[np.int64]:
        verdict = np.zeros(2, np.int64)
        end = min(begin + CHUNK, len(states))
        kernels.audit(states, indices, scores, distances, begin, end, prefixes, shift, reached, verdict)
        return verdict

    with Workers(workers) as team, compiling(game):
        begins = range(0, len(states), CHUNK)
        for begin, (fault, culprit) in zip(begins, team.map(check, begins), strict=True):
            if fault:
                raise DamagedBook(f"{book.path}: state {culprit} {FAULTS[int(fault)]}: solve again")
            progress("verify", min(begin + CHUNK, len(states)), len(states))
        start = kernels.mark_starts(states, prefixes, shift, reached)
        if start >= 0:
            raise DamagedBook(f"{book.path}: the start {start} is missing: solve again")
    unreached: list[int] = states[reached == 0].tolist()
    return unreached
