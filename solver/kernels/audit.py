"""The auditor's arithmetic: every value of a book against its children, sharing nothing with the sweep but the rules.

It has arithmetic of its own for values (outcome and distance instead of merits), a look-up of its own (a table of
the leading bits and bisection), and marks every state that some move reaches, so that strays are found as well; and it
counts all states anew, by tier and outcome.

Cost: 13 bytes a state, or, where that is more than the memory given, 12 bytes a state in unnamed files, whose pages are
let go again, and a pass over all moves for each quarter of the memory that a byte a state fills.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from solver.book import Book
from solver.book.check import check_counts, check_tally, checked_segments
from solver.book.format import MOST_STATES
from solver.errors import DamagedBook
from solver.game import Game
from solver.kernels.compiled import bind, compiling, kernel
from solver.parallel import Workers
from solver.progress import Progress, silent
from solver.solved import TierCount
from solver.store.runs import LOOK, Key, Runs, States, merged, places_in
from solver.store.sorting import sort_unique
from solver.store.work import Work

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = TIERS = False

CHUNK = 1 << 15  # states checked in one call
SMALL_CHUNK = 1 << 12  # where states lie in files: all that one call looks at is mapped at once
ENDS = 1 << 18  # finished children of one call
START_ENDS = 1 << 21
STATE_BYTES = 13
LEAST_SPAN = 1 << 20  # states that one pass marks
FINE, CHILD_MISSING, WRONG_VALUE, TERMINAL, NOT_CANONICAL, WRONG_TIER = range(6)
FAULT, CULPRIT, AT, COUNT, LOOKS = range(5)  # slots of the report
FAULTS = {
    CHILD_MISSING: "has a child that the book lacks",
    WRONG_VALUE: "has another value than its children give it",
    TERMINAL: "is terminal and should not be stored",
    NOT_CANONICAL: "is not the canonical one of its symmetric states",
    WRONG_TIER: "or one of its children is of a tier that the header does not list",
}


@kernel
def audit(states, indices, scores, distances, begin, end, prefixes, shift, low, reached, tiers, tallies, ends, report):
    """Check states[begin:end] against their children, until `ends` (capacity) is full.

    report (5,) int64 gets the first fault and its state, where to go on, how many finished children `ends` holds, and
    the look-ups made. scores and distances (palette,) int64, distance 0 where it means nothing; reached (n,) uint8 is
    set for children in states[low:low + n]; tallies (tiers, 5) int64 has states, finished ones, wins, draws, losses.
    """
    report[:] = 0
    for i in range(begin, end):
        state = states[i]
        report[CULPRIT], report[AT] = state, i
        if game.is_terminal(state):
            report[FAULT] = TERMINAL
            return
        if FOLDS and game.canonical(state) != state:
            report[FAULT] = NOT_CANONICAL
            return
        mark = report[COUNT]
        best_score = -(1 << 62)
        best_distance = 0
        for action in game.actions(state):
            child = game.result(state, action)
            key = game.canonical(child) if FOLDS else child
            distance = 0
            if game.is_terminal(child):
                if report[COUNT] == len(ends):
                    report[COUNT] = mark
                    return
                ends[report[COUNT]] = key
                report[COUNT] += 1
                score = game.utility(child)
                distance = 0 if SCORES or score == 0 else game.plies_left(child)
            else:
                place = _look_up(states, key, prefixes, shift)
                report[LOOKS] += 1
                if place < 0:
                    report[FAULT] = CHILD_MISSING
                    return
                if low <= place < low + len(reached):
                    reached[place - low] = 1
                score, distance = scores[indices[place]], distances[indices[place]]
            if AGAIN:
                same = game.again(state, action) != 0
            else:
                same = not ALTERNATES and game.to_move(child) == game.to_move(state)
            score = (score if same else -score) + (game.reward(state, action) if REWARD else 0)
            distance = 0 if SCORES or score == 0 else distance + 1
            if _is_better(score, distance, best_score, best_distance):
                best_score, best_distance = score, distance
        if best_score != scores[indices[i]] or best_distance != distances[indices[i]]:
            report[FAULT] = WRONG_VALUE
            return
        if not _tally(state, best_score, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return
    report[AT] = end


@kernel
def mark_starts(states, prefixes, shift, low, reached, begin, ends, report):
    """Go on at start number `begin`, until `ends` is full of finished ones: `reached` is set for the others.

    report (5,) int64 gets CHILD_MISSING and the first unfinished start that is missing, the number of the start to go
    on with, and how many finished ones `ends` holds.
    """
    report[:] = 0
    if begin == 0:
        _mark_start(game.initial(), states, prefixes, shift, low, reached, ends, report)
    for start in game.starts():
        if report[FAULT] or report[COUNT] == len(ends):
            break
        report[AT] += 1
        if report[AT] > begin:
            _mark_start(start, states, prefixes, shift, low, reached, ends, report)


@kernel
def _mark_start(start, states, prefixes, shift, low, reached, ends, report):
    key = game.canonical(start) if FOLDS else start
    if game.is_terminal(start):
        ends[report[COUNT]] = key
        report[COUNT] += 1
        return
    place = _look_up(states, key, prefixes, shift)
    if place < 0:
        report[FAULT], report[CULPRIT] = CHILD_MISSING, start
    elif low <= place < low + len(reached):
        reached[place - low] = 1


@kernel
def tally_ends(ends, tiers, tallies):
    """Tally distinct finished states; the first whose tier is none of `tiers`, or -1."""
    for i in range(len(ends)):
        if not _tally(ends[i], game.utility(ends[i]), True, tiers, tallies):
            return ends[i]
    return np.int64(-1)


@kernel
def _tally(state, score, finished, tiers, tallies):
    """Count a state in tallies (tiers, 5); False if its tier is none of `tiers` (sorted)."""
    row = 0
    if TIERS:
        tier = game.tier(state)
        row = np.searchsorted(tiers, tier)
        if row == len(tiers) or tiers[row] != tier:
            return False
    tallies[row, 0] += 1
    tallies[row, 1] += finished
    tallies[row, 2 if score > 0 else 4 if score < 0 else 3] += 1
    return True


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
    if prefix < 0 or prefix + 1 >= len(prefixes):
        return -1
    low, high = prefixes[prefix], prefixes[prefix + 1]
    while low < high:
        middle = (low + high) // 2
        if states[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(states) and states[low] == key else -1


def decode_segment(record: bytes, states: States, indices: NDArray[np.int32]) -> int:
    """Decode a segment's groups into states and indices; how many there are, or -1 if they do not fit together.

    The layout is that of `solver.book.format` and its codecs, decoded here on its own.
    """
    body = np.frombuffer(record, np.uint8)
    return int(_instant(body, states, indices)) if record[6] == 0 else _compact(record, body, states, indices)


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
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


@numba.njit(cache=True, nogil=True)
def _number(body, at, size):
    number = 0
    for byte in range(size):
        number |= np.int64(body[at + byte]) << 8 * byte
    return number


@numba.njit(cache=True, nogil=True)
def tally_values(states, indices, count, last, numbers, examples):
    """Count states[:count] by the index of their value, and keep the first of each; the last state.

    It is -1 where states do not ascend from `last` or an index is outside the palette.
    """
    for i in range(count):
        index = indices[i]
        if states[i] <= last or not 0 <= index < len(numbers):
            return np.int64(-1)
        last = states[i]
        if numbers[index] == 0:
            examples[index] = last
        numbers[index] += 1
    return last


def read_parts(book: Book, progress: Progress = silent) -> Iterator[tuple[States, NDArray[np.int32]]]:
    """The states and palette indices of each segment, checked against the header, until the next is asked for.

    Raises DamagedBook.
    """
    stored, palette = len(book), len(book.header.palette)
    most = min(stored, MOST_STATES)
    room: tuple[NDArray[Any], NDArray[Any]] = np.empty(most, np.int64), np.empty(most, np.int32)
    numbers, examples = np.zeros(palette, np.int64), np.zeros(palette, np.int64)
    at, last = 0, -1
    for record in checked_segments(book):
        count = decode_segment(record, *room)
        if count < 0:
            raise DamagedBook(f"{book.path}: a group is malformed: fetch or solve the book again")
        last = tally_values(*room, count, last, numbers, examples)
        if last < 0:
            raise DamagedBook(f"{book.path}: states are out of order or a value outside the palette: solve again")
        at += count
        if at > stored:
            raise DamagedBook(f"{book.path} stores more than the {stored:,} states of its header: solve again")
        yield room[0][:count], room[1][:count]
        progress("check", at, stored)
    check_tally(book, at, numbers.tolist(), examples.tolist())


def read_all(book: Book, work: Work, memory: int, progress: Progress = silent) -> tuple[States, NDArray[np.int32]]:
    """All states and palette indices of a book, checked against its header; in files beyond half the memory.

    Raises DamagedBook.
    """
    stored = len(book)
    in_files = STATE_BYTES * stored > memory // 2
    columns = [work.column("states", np.int64), work.column("indices", np.int32)] if in_files else []
    states, indices = np.empty(0 if in_files else stored, np.int64), np.empty(0 if in_files else stored, np.int32)
    at = 0
    for parts in read_parts(book, progress):
        for column, part in zip(columns, parts, strict=False):  # none, or two
            column.append(part)
        if not in_files:
            end = at + len(parts[0])
            states[at:end], indices[at:end] = parts
            at = end
    return (columns[0].view(), columns[1].view()) if in_files else (states, indices)


def check_values(
    book: Book, game: Game, *, memory: int, workers: int | None = None, progress: Progress = silent
) -> None:
    """Every value against its children, every state against the moves that lead to it, every count of the header.

    Raises DamagedBook with the first state that is wrong.
    """
    with Work() as work, Workers(workers) as team, compiling(game):
        work.mapped = memory // 4
        _Audit(book, game, work, team, memory, progress).run()


class _Audit:
    """A book whose values are being checked."""

    def __init__(self, book: Book, game: Game, work: Work, team: Workers, memory: int, progress: Progress) -> None:
        self.book, self.team, self.work, self.memory, self.progress = book, team, work, memory, progress
        header = book.header
        self.kernels = bind(sys.modules[__name__], game, header.symmetry, tiers=header.tiers is not None)
        self.states, self.indices = read_all(book, work, memory, progress)
        self.scores = np.array([value.score for value in header.palette], np.int64)
        self.distances = np.array([value.distance or 0 for value in header.palette], np.int64)
        self.tiers = np.array([tier.tier for tier in header.tiers or ()], np.int64)
        self.tallies = np.zeros((max(1, len(self.tiers)), 5), np.int64)
        self.ends = Runs(work, memory // 8)
        stored = len(self.states)
        bits = min(22, stored.bit_length())
        self.shift = max(0, (int(self.states[-1]).bit_length() if stored else 0) - bits)
        cells = np.arange((1 << bits) + 1, dtype=np.int64) << self.shift
        self.prefixes = places_in(self.states, cells, work.read)

    def run(self) -> None:
        stored, span = len(self.states), max(LEAST_SPAN, self.memory // 4)
        for low in range(0, max(1, stored), span):
            reached = np.zeros(min(span, stored - low), np.uint8)
            self._moves(low, reached)
            self._starts(low, reached)
            for place in np.flatnonzero(reached == 0)[:1].tolist():
                raise DamagedBook(
                    f"{self.book.path}: no move leads to state {self.states[low + place]}, and play does not start"
                    " there: solve again"
                )
        self._counts()

    def _moves(self, low: int, reached: NDArray[np.uint8]) -> None:
        """All values against their children; the marks of those in states[low:]. Counts go into the first pass."""
        stored = len(self.states)
        chunk = SMALL_CHUNK if self.work.columns else CHUNK
        begins = range(0, stored, chunk)

        def check(begin: int) -> tuple[NDArray[np.int64], NDArray[np.int64], list[States]]:
            tallies = np.zeros_like(self.tallies)
            found: list[States] = []
            report = np.zeros(5, np.int64)
            looks, end = 0, min(begin + chunk, stored)
            while begin < end and not report[FAULT]:
                ends = np.empty(ENDS, np.int64)
                self.kernels.audit(
                    self.states, self.indices, self.scores, self.distances, begin, end, self.prefixes,
                    self.shift, low, reached, self.tiers, tallies, ends, report,
                )  # fmt: skip
                found.append(ends[: sort_unique(ends, np.empty_like(ends), report[COUNT])].copy())
                looks += report[LOOKS]
                if report[AT] == begin and not report[FAULT]:
                    raise DamagedBook(f"{self.book.path}: state {report[CULPRIT]} has more than {ENDS:,} moves")
                begin = int(report[AT])
            report[LOOKS] = looks
            return report, tallies, found

        results: Iterator[Any] = self.team.map(check, begins)
        for begin, (report, tallies, found) in zip(begins, results, strict=True):
            if report[FAULT]:
                self._refuse(report)
            if low == 0:
                self.tallies += tallies
                for ends in found:
                    self._keep(ends)
            if self.work.columns:
                self.work.read(int(report[LOOKS]) * LOOK)
            self.progress("verify", min(begin + chunk, stored), stored)

    def _starts(self, low: int, reached: NDArray[np.uint8]) -> None:
        report = np.zeros(5, np.int64)
        ends = np.empty(START_ENDS, np.int64)
        while True:
            begin = int(report[AT])
            self.kernels.mark_starts(self.states, self.prefixes, self.shift, low, reached, begin, ends, report)
            if report[FAULT]:
                raise DamagedBook(f"{self.book.path}: the start {report[CULPRIT]} is missing: solve again")
            if low == 0:
                self._keep(ends[: sort_unique(ends, np.empty_like(ends), report[COUNT])].copy())
            if report[COUNT] < len(ends):
                return

    def _keep(self, ends: States) -> None:
        """Finished states, sorted and without doubles, of which others may know the same."""
        if len(ends):
            self.ends.add(Key(0), ends)
            if self.ends.bytes > self.ends.limit:
                self.ends.spill(self.team)

    def _counts(self) -> None:
        """The counts of all states that were met against the header's."""
        for ends in merged(self.ends.of(Key(0)), self.team, self.work.read):
            culprit = self.kernels.tally_ends(ends, self.tiers, self.tallies)
            if culprit >= 0:
                self._refuse([WRONG_TIER, culprit])
        numbers = self.tiers.tolist() or [0]
        check_counts(
            self.book, [TierCount(tier, *row) for tier, row in zip(numbers, self.tallies.tolist(), strict=True)]
        )

    def _refuse(self, report: Any) -> None:
        raise DamagedBook(f"{self.book.path}: state {report[CULPRIT]} {FAULTS[int(report[FAULT])]}: solve again")
