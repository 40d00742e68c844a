"""Every value of a book against its children, by kernels (`judging`) over the compiled moves.

It never calls a book wrong by itself. It asks plain Python about each state that the kernels call wrong, and raises
UncompiledRules if plain Python finds nothing. A fault of the whole book, such as a wrong count, raises Unconfirmed.

It has a look-up of its own: a table of the leading bits, and bisection. It marks every state that some move reaches, so
that it finds strays as well. It counts all states anew, by tier and outcome.

Cost: 4 to 13 bytes a state, 5 in most games: 2, 4 or 8 for its low bits, 1 or more for its value, 1 for its mark. Where
that is more than the memory given, all but the marks lie in unnamed files, whose pages are let go again, and there is a
pass over all moves for each quarter of the memory that a byte a state fills.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook, SolverError, UncompiledRules
from solver.base.kinds import Method
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.value import WIN
from solver.book import Book
from solver.book.check import check_counts
from solver.book.codecs.arrays import parts, read_parts
from solver.book.solution import TierCount
from solver.compiled import agreement
from solver.compiled.binding import FAILURES, bind, compiling, is_of_compiler
from solver.compiled.edges import NOT_TERMINAL, CompiledMoves
from solver.rules.game import Rules, is_built_in, own_method
from solver.store.runs import PIECE_STATES, READ_AHEAD_BYTES, Key, Runs, States, merged
from solver.store.shared import read_only, shared
from solver.store.sorting import sort_unique
from solver.store.work import Work
from solver.sweep.expansion import STATES_PER_CALL
from solver.sweep.forward import starts_of
from solver.verifying import judging
from solver.verifying.judging import AT, COUNT, CULPRIT, FAULT, FAULTS, LOOKS, STAYS, Reached, Sorted
from solver.verifying.plainly import UNGROUNDED, Plain, Unconfirmed, of_the_whole, refusal

SMALL_CHUNK = 1 << 12  # where states lie in files: all that one call looks at is mapped at once
ENDS = 1 << 18  # finished children, and moves, of one call
LEAST_SPAN = 1 << 20  # states that one pass marks
MOST_CELLS = 22  # leading bits of the table, where more are not needed
ANYTHING = np.array([[-1], [1]], np.int8)  # bounds of a score
SPARE = 3  # as many fewer leading bits than states have numbers: the table takes a byte a state


def check_values(
    book: Book, rules: Rules, *, memory: int, workers: int | None = None, progress: Progress = silent
) -> bool:
    """Check every value against its children, every state against the moves that lead to it, and every count.

    Returns:
        Whether some move to an unfinished state does not raise the tier.

    Raises:
        DamagedBook: A state is wrong, in plain Python as well.
        Unconfirmed: The book is wrong as a whole, by the kernels alone.
        UncompiledRules: The kernels fail, or plain Python does not confirm them.
    """
    with Work() as work, Workers(workers) as team, compiling(rules.game):
        work.mapped = memory // 4
        audit = _Audit(book, rules, work, team, memory, progress)
        audit.run()
        if audit.stays and book.header.method == Method.RETROGRADE and not book.header.kind.has_distances:
            with of_the_whole():
                audit.ground()
        return audit.stays


def bounds(book: Book, rules: Rules, progress: Progress = silent) -> NDArray[np.int8]:
    """Bounds (2, n) of the scores of a book's states, in its order, by moves and replies to what is stored.

    The side to move gets at least the lower bound. It has a move that ends the game with that, or after which every
    reply ends it so or leads to a stored state worth as much. No move of the side gives it more than the upper bound.
    What a move leads to may be worth anything if it does not raise the tier, or if the same side moves again.

    Args:
        book: A book without distances, of states of one word.
        rules: Its rules, with tiers and without chance.
        progress: Called as the work goes on.

    Raises:
        UncompiledRules: The rules do not compile.
    """
    moves, kernels = CompiledMoves(rules), bind(judging, rules.game, rules.symmetry)
    known, indices = map(np.concatenate, zip(*parts(read_parts(book)), strict=True))
    scores = np.sign([value.score for value in book.header.palette]).astype(np.int8)[indices]
    found = np.repeat(ANYTHING, len(known), axis=1)

    def best(states: States, tiers: States, worth: Callable[[States, States], Any]) -> Any:
        listed = moves.listed(states)
        owners, worths = listed.owners >> 1, np.where(listed.merits == NOT_TERMINAL, ANYTHING, listed.merits)
        follows = (listed.owners & 1 == 0) & (listed.tiers > tiers[owners]) & (listed.merits == NOT_TERMINAL)
        worths[:, follows] = -worth(listed.keys[follows], listed.tiers[follows])[::-1]
        return np.maximum.reduceat(worths, np.searchsorted(owners, np.arange(len(states))), axis=1)

    def stored(keys: States, _: States) -> Any:
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[places] == keys, scores[places], ANYTHING)

    def replied(keys: States, tiers: States) -> Any:
        keys, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
        return best(keys, tiers[firsts], stored)[:, places] if len(keys) else np.empty((2, 0))

    for begin in range(0, len(known), SMALL_CHUNK):
        some = known[begin : begin + SMALL_CHUNK]
        if not is_built_in(rules.name):
            agreement.compare(rules.game, some[:: SMALL_CHUNK // 4].tolist(), symmetry=rules.symmetry)
        tiers, faults, utilities = np.zeros((3, len(some)), np.int64)
        with compiling(rules.game):
            kernels.describe(some, tiers, faults, utilities)
            fine = np.flatnonzero(faults == judging.FINE)
            if len(fine):
                found[:, begin + fine] = best(some[fine], tiers[fine], replied)
        progress("bound", begin, len(known))
    return found


def _read(book: Book, work: Work, memory: int, progress: Progress) -> tuple[Sorted, NDArray[Any]]:
    """All states and palette indices of a book, checked against its header; in files beyond half the memory."""
    count, index, cell = len(book), 0, -1
    chunks = read_parts(book, progress)
    first_chunk = next(chunks, (np.empty(0, np.int64), np.empty(0, np.int32)))
    if len(first_chunk[0]) == count > 0:
        last_state = int(first_chunk[0][-1])
    else:
        group_count = len(book.directory)
        last_state = book.group(group_count - 1, lambda count: count - 1)[-1][0] if group_count else 0
    shift, dtype = layout(last_state, count)
    # The smallest that holds a palette index, or a number of steps
    largest = len(book.header.values) - 1
    index_dtype = next((kind for kind in (np.uint8, np.int32) if largest <= np.iinfo(kind).max), np.int64)
    kinds, begins = (dtype, index_dtype), np.zeros((last_state >> shift) + 2, np.int64)
    in_files = count * sum(np.dtype(kind).itemsize for kind in kinds) + begins.nbytes > memory // 2
    columns = [work.column(name, kind) for name, kind in zip(("states", "indices"), kinds, strict=True) if in_files]
    arrays = [np.empty(0 if in_files else count, kind) for kind in kinds]
    for states, indices in itertools.chain([first_chunk], chunks):
        end, lows = index + len(states), np.empty(len(states), dtype)
        cell = pack(states, index, shift, lows, begins, cell)
        if cell < 0 and len(states):
            raise DamagedBook(f"{book.path}: states are out of order: solve again")
        if in_files:
            columns[0].append(lows)
            columns[1].append(indices)
        else:
            arrays[0][index:end], arrays[1][index:end] = lows, indices
        index = end
    begins[cell + 1 :] = count
    lows, indices = [column.view() for column in columns] if in_files else arrays
    # One type, wherever they lie
    return Sorted(begins, read_only(lows), shift), read_only(indices)


def layout(greatest_key: int, count: int) -> tuple[int, Any]:
    """How many bits of each of so many states are stored, the last of which is `greatest_key`, and their dtype."""
    bits, cell_limit = greatest_key.bit_length(), max(0, count.bit_length() - SPARE)
    leading = min(bits, cell_limit, MOST_CELLS)
    for width, dtype in ((16, np.uint16), (32, np.uint32)):
        if bits - width <= cell_limit:
            return min(width, bits - leading), dtype
    return bits - leading, np.int64


@shared
def pack(states: NDArray[Any], cursor: int, shift: int, lows: NDArray[Any], begins: NDArray[Any], cell: int) -> Any:
    """Write the low bits of states that stand from place `cursor` on, and where their cells begin, after `cell`.

    The last cell that has begun; -1 where a state is beyond the last of all.
    """
    mask = (np.int64(1) << shift) - 1
    for i in range(len(states)):
        lows[i] = states[i] & mask
        state_cell = states[i] >> shift
        if state_cell >= len(begins) - 1:
            return np.int64(-1)
        while cell < state_cell:
            cell += 1
            begins[cell] = cursor + i
    return np.int64(cell)


def state_at(states: Sorted, index: int) -> int:
    """The state at a place."""
    cell = int(np.searchsorted(states.begins, index, "right")) - 1
    return cell << states.shift | int(states.lows[index])


class _Audit:
    """A book whose values are being checked."""

    def __init__(self, book: Book, rules: Rules, work: Work, team: Workers, memory: int, progress: Progress) -> None:
        self.book, self.team, self.work, self.memory, self.progress = book, team, work, memory, progress
        self.rules, self.plain = rules, Plain(book, rules, True)
        header = book.header
        self.compiled = CompiledMoves(rules, header.kind.in_tiers(header.method) or header.kind.converts)
        # All moves, although an immediate win would decide a state
        self.moves = self.compiled.moves._replace(win=WIN)
        self.kernels = bind(judging, rules.game, rules.symmetry)
        self.tiers = np.array([tier.tier for tier in header.tiers or ()], np.int64)
        self.tallies = np.zeros((max(1, len(self.tiers)), 5), np.int64)
        # Some move does not raise the tier
        self.stays = False
        self.ends = Runs(work, memory // 8)
        self.stored = judging.stored(*_read(book, work, memory, progress), header)

    def run(self) -> None:
        stored, span = len(self.stored.states.lows), max(LEAST_SPAN, self.memory // 4)
        for low in range(0, max(1, stored), span):
            reached = Reached(low, np.zeros(min(span, stored - low), np.uint8))
            self._moves(reached)
            for starts, _ in starts_of(self.compiled, max(PIECE_STATES, self.memory // 64)):
                missing = np.empty_like(starts)
                missing = missing[: judging.mark_starts(self.stored, reached, starts, missing)]
                _, faults, _ = self._described(missing)
                for start in missing[faults != judging.TERMINAL][:1].tolist():
                    self.plain.check_start(start)
                    raise agreement.unlike(self.rules, f"the start {start} is missing")
                if low == 0:
                    self._keep(np.unique(missing))
            for unreached in np.flatnonzero(reached.marks == 0)[:1].tolist():
                state = state_at(self.stored.states, low + unreached)
                raise Unconfirmed(
                    f"{self.book.path}: no move leads to state {state}, and play does not start there: solve again"
                )
        for ends in merged(self.ends.of(Key(0)), self.team):
            tiers, _, utilities = self._described(ends)
            self.tallies += self._tallied(ends, tiers, utilities, True)
        numbers = self.tiers.tolist() or [0]
        with of_the_whole():
            check_counts(
                self.book, [TierCount(tier, *row) for tier, row in zip(numbers, self.tallies.tolist(), strict=True)]
            )

    def _moves(self, reached: Reached) -> None:
        """All values against their children; the marks of those in its range. Counts go into the first pass."""
        stored = len(self.stored.states.lows)
        chunk = SMALL_CHUNK if self.work.columns else STATES_PER_CALL
        begins = range(0, stored, chunk)

        def check(begin: int) -> tuple[int, bool, NDArray[np.int64], list[States]]:
            looks, stays, end, report = 0, False, min(begin + chunk, stored), np.zeros(6, np.int64)
            states, missing = judging.states_from(self.stored.states, begin, end), list[States]()
            try:
                tiers, faults, _ = self._described(states)
                for index in np.flatnonzero(faults)[:1].tolist():
                    raise self._unlike(int(states[index]), FAULTS[int(faults[index])])
                tallies = self._tallied(states, tiers, judging.merits_of(self.stored, begin, end), False)
                cursor = begin
                while cursor < end:
                    ends = np.empty(ENDS, np.int64)
                    tiers_left = tiers[cursor - begin :]
                    judging.audit(self.moves, self.stored, reached, cursor, end, tiers_left, ends, report)
                    if report[FAULT]:
                        raise self._unlike(int(report[CULPRIT]), FAULTS[int(report[FAULT])])
                    if report[AT] == cursor:
                        raise self._unlike(int(states[cursor - begin]), f"has more than {ENDS:,} moves")
                    missing.append(ends[: sort_unique(ends, np.empty_like(ends), report[COUNT])].copy())
                    looks, stays, cursor = looks + int(report[LOOKS]), stays | bool(report[STAYS]), int(report[AT])
            except FAILURES as error:
                if isinstance(error, SolverError) or is_of_compiler(error):
                    raise
                raise self._failed(max(begin, int(report[AT])), end, error) from error
            return looks, stays, tallies, missing

        results: Iterator[Any] = self.team.map(check, begins)
        for begin, (looks, stays, tallies, found) in zip(begins, results, strict=True):
            if reached.low == 0:
                self.tallies += tallies
                self.stays |= stays
                for ends in found:
                    self._keep(ends)
            if self.work.columns:
                self.work.read(looks * READ_AHEAD_BYTES)
            self.progress("verify", min(begin + chunk, stored), stored)

    def _described(self, states: States) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The tiers of states, why a book stores none of them, and the utilities of those that are finished."""
        tiers, faults, utilities = np.zeros((3, len(states)), np.int64)
        self.kernels.describe(states, tiers, faults, utilities)
        return tiers, faults, utilities

    def _tallied(self, states: States, tiers: States, scores: States, are_finished: bool) -> NDArray[np.int64]:
        """Count states: a row for each tier of states, finished ones, wins, draws, losses."""
        tallies = np.zeros_like(self.tallies)
        index = judging.tally(tiers, scores, self.tiers, tallies)
        if index >= 0:
            raise self._unlike(int(states[index]), FAULTS[judging.WRONG_TIER])
        tallies[:, 0] = tallies[:, 2:].sum(axis=1)
        tallies[:, 1] = tallies[:, 0] * are_finished
        return tallies

    def _keep(self, ends: States) -> None:
        """Finished states, sorted and without doubles, of which others may know the same."""
        if len(ends):
            self.ends.add(Key(0), ends)
            if self.ends.bytes > self.ends.limit:
                self.ends.spill(self.team)

    def ground(self) -> None:
        """Hold up all values, as `plainly.check_grounds`. Raises DamagedBook.

        Takes 17 bytes a state; where the rules say what endless play is worth 8 more, and 8 while that is asked.
        """
        stored, endless = self.stored, np.empty(0, np.int64)
        grounded = np.zeros(len(stored.states.lows), np.uint8)
        if own_method(self.rules.game, "endless"):
            endless = self.compiled.endless(judging.states_from(stored.states, 0, len(grounded)))

        def some(pending: NDArray[np.int64]) -> NDArray[np.int64]:
            left = np.empty_like(pending)
            tiers, _, _ = self._described(judging.states_at(stored.states, pending))
            count = judging.ground(self.moves, stored, endless, grounded, pending, tiers, left)
            if count < 0:
                raise refusal(self.book, state_at(stored.states, left[0]), -count)
            return left[:count].copy()

        pending = np.arange(len(grounded))
        while len(pending):
            chunks = [pending[begin : begin + STATES_PER_CALL] for begin in range(0, len(pending), STATES_PER_CALL)]
            left = np.concatenate(list(self.team.map(some, chunks)))
            if len(left) == len(pending):
                raise refusal(self.book, state_at(stored.states, left[0]), UNGROUNDED)
            pending = left
            self.progress("ground", len(grounded) - len(pending), len(grounded))

    def _unlike(self, state: int, fault: str) -> UncompiledRules:
        """The error of a state that the kernels alone call wrong. Raises DamagedBook if plain Python does so, too."""
        self.plain.check_again(state)
        return agreement.unlike(self.rules, f"state {state} {fault}")

    def _failed(self, begin: int, end: int, error: Exception) -> UncompiledRules:
        """The error of kernels that fail at one of the states[begin:end], with the state if it is found.

        Raises DamagedBook if plain Python calls one of them wrong.
        """
        twins = agreement.Twins(self.rules.game, self.rules.symmetry, self.rules.tiered)
        for state in judging.states_from(self.stored.states, begin, end).tolist():
            self.plain.check_again(state)
            try:
                twins.compare([state])
            except UncompiledRules as difference:
                return difference
        return agreement.unlike(self.rules, f"they fail with {type(error).__name__}: {error}")
