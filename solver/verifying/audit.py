"""The auditor's arithmetic: every value of a book against its children, sharing nothing with the sweep but the rules.

It never calls a book wrong by itself. It asks plain Python about each state that the kernels call wrong, and raises
UncompiledRules if plain Python finds nothing. A fault of the whole book, such as a wrong count, raises Unconfirmed.

It has arithmetic of its own for values (outcome and distance instead of merits), a look-up of its own (a table of
the leading bits and bisection, `reached`), and marks every state that some move reaches, so that strays are found as
well; and it counts all states anew, by tier and outcome.

Cost: 4 to 13 bytes a state, 5 in most games: 2, 4 or 8 for its low bits, 1 or more for its value, 1 for its mark. Where
that is more than the memory given, all but the marks lie in unnamed files, whose pages are let go again, and there is a
pass over all moves for each quarter of the memory that a byte a state fills.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook, SolverError, UncompiledRules
from solver.base.methods import Method
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.book.check import check_counts
from solver.book.codecs.reading import read_parts
from solver.book.format import Header
from solver.book.solution import TierCount
from solver.compiled import agreement
from solver.compiled.binding import FAILURES, bind, compiling, is_of_compiler, kernel
from solver.rules.game import Rules
from solver.store.addresses import prefetch
from solver.store.runs import READ_AHEAD_BYTES, Key, Runs, States, merged
from solver.store.shared import read_only
from solver.store.sorting import lower_bound, sort_unique
from solver.store.work import Work
from solver.sweep.expansion import STATES_PER_CALL
from solver.verifying import expectations, grounding, nimbers
from solver.verifying.plainly import Plain, Unconfirmed, of_the_whole
from solver.verifying.reached import (
    AT,
    CHILD_MISSING,
    COUNT,
    CULPRIT,
    FAULT,
    FAULTS,
    LOOKS,
    STAYS,
    WRONG_TIER,
    WRONG_VALUE,
    Reached,
    Sorted,
    layout,
    low_bits,
    pack,
    state_at,
    states_from,
    stays,
    tally,
    unfit,
)

game: Any = None  # constants of the bound copies
SCORES = CONVERTS = ALTERNATES = AGAIN = REWARD = FOLDS = TIERS = TIERED = False

SMALL_CHUNK = 1 << 12  # where states lie in files: all that one call looks at is mapped at once
BATCH_MOVES = 512  # moves looked up together
NO_DISTANCE = -1  # instead of a distance: the child is not finished
ENDS = 1 << 18  # finished children of one call
START_ENDS = 1 << 21
LEAST_SPAN = 1 << 20  # states that one pass marks


class Stored(NamedTuple):
    """A book's states, the indices of their values, and those values (palette,), distance 0 where it means nothing."""

    states: Sorted
    indices: NDArray[Any]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]


class Listed(NamedTuple):
    """Moves, as arrays with one entry each.

    Attributes:
        keys: The folded child.
        owners: Twice the state's number in its run, plus 1 if the same player moves again.
        scores: Value of a finished child for the side to move there.
        distances: Its distance in plies, or NO_DISTANCE.
        rewards: Reward of the move.
        places: Index of the child among the states, or -1.
        highs: Scratch.
    """

    keys: NDArray[np.int64]
    owners: NDArray[np.int64]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]
    rewards: NDArray[np.int64]
    places: NDArray[np.int64]
    highs: NDArray[np.int64]


@kernel
def new_listed(room: int) -> Any:
    """Room for so many moves."""
    keys, owners, scores = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    distances, rewards = np.empty(room, np.int64), np.empty(room, np.int64)
    return Listed(keys, owners, scores, distances, rewards, np.empty(room, np.int64), np.empty(room, np.int64))


@kernel
def audit(
    stored: Any,
    reached: Any,
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    begin: int,
    end: int,
    ends: NDArray[Any],
    report: NDArray[Any],
) -> None:
    """Check states[begin:end] against their children, until `ends` (capacity) is full.

    report (6,) int64 gets the first fault and its state, where to go on, how many finished children `ends` holds, the
    look-ups made, and whether some move does not raise the tier; tallies (tiers, 5) int64 has states, finished ones,
    wins, draws, losses.
    """
    report[:] = 0
    states = states_from(stored.states, begin, end)
    listed, cursor = new_listed(BATCH_MOVES), begin
    while cursor < end:
        # List a batch of moves, look all of them up together, then judge their states.
        count, next_state = list_moves(states[cursor - begin :], cursor, ends, report, listed)
        # Not even one state fits: it is at fault, or needs larger arrays.
        if next_state == cursor:
            if report[FAULT] or len(listed.keys) >= 2 * len(ends):
                return
            listed = new_listed(2 * len(listed.keys))
            continue
        report[LOOKS] += find_moves(stored, reached, count, listed)
        if not judge(
            stored, states[cursor - begin : next_state - begin], cursor, reached, tiers, tallies, count, listed, report
        ):
            return
        cursor = next_state
    report[AT] = end


@kernel
def list_moves(
    states: NDArray[Any], begin: int, ends: NDArray[Any], report: NDArray[Any], listed: Any
) -> tuple[Any, Any]:
    """List the moves of some states, as many as fit, and add finished children to `ends`.

    `begin` is the number of the first state. Returns how many moves, and the number of the first state left over. If
    that is the first of all, the report says why.
    """
    keys, owners, scores, distances, rewards, _, _ = listed
    count = 0
    for i in range(len(states)):
        state, mark, full = states[i], count, report[COUNT]
        if i == 0:
            report[CULPRIT], report[AT] = state, begin
        fault = unfit(state)
        if fault:
            if i == 0:
                report[FAULT] = fault
            return count, begin + i
        for action in game.actions(state):
            # No room: take this state's moves back, so that the next batch begins with it.
            if count == len(keys) or report[COUNT] == len(ends):
                report[COUNT] = full
                return mark, begin + i
            child = game.result(state, action)
            keys[count] = game.canonical(child) if FOLDS else child
            scores[count], distances[count] = 0, NO_DISTANCE
            if game.is_terminal(child):
                # Finished states are in no book. They are counted apart, without duplicates.
                ends[report[COUNT]] = keys[count]
                report[COUNT] += 1
                scores[count] = game.utility(child)
                distances[count] = 0 if SCORES or scores[count] == 0 else game.plies_left(child)
            if AGAIN:
                same = game.again(state, action) != 0
            else:
                same = not ALTERNATES and game.to_move(child) == game.to_move(state)
            owners[count] = 2 * i + same
            rewards[count] = game.reward(state, action) if REWARD else 0
            count += 1
    return count, begin + len(states)


@kernel
def find_moves(stored: Any, reached: Any, count: int, listed: Any) -> Any:
    """Look up the unfinished children of listed moves, and return how many there are.

    Each step is done for all moves before the next, so that their memory accesses overlap.
    """
    states = stored.states
    begins, shift = states.begins, states.shift
    keys, places, highs = listed.keys, listed.places, listed.highs
    looks = 0
    for j in range(count):
        prefetch(begins, keys[j] >> shift)
    for j in range(count):
        # A child that the table cannot hold gets an empty range.
        places[j] = highs[j] = 0
        cell = keys[j] >> shift
        if listed.distances[j] == NO_DISTANCE and cell >= 0 and cell + 1 < len(begins):
            places[j], highs[j] = begins[cell], begins[cell + 1]
            prefetch(states.lows, (places[j] + highs[j]) >> 1)
    for j in range(count):
        if listed.distances[j] == NO_DISTANCE:
            looks += 1
            key = low_bits(states, keys[j])
            low = lower_bound(states.lows, key, places[j], highs[j])
            is_stored = low < highs[j] and states.lows[low] == key
            places[j] = low if is_stored else -1
            # judge() reads the value and writes the mark next: ask for both now.
            prefetch(stored.indices, low)
            prefetch(reached.marks, low - reached.low)
    return looks


@kernel
def judge(
    stored: Any,
    states: NDArray[Any],
    begin: int,
    reached: Any,
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    count: int,
    listed: Any,
    report: NDArray[Any],
) -> bool:
    """Compare states with the values that their moves give them.

    `begin` is the number of the first state. Returns False at the first state that is wrong.
    """
    indices, scores, distances = stored.indices, stored.scores, stored.distances
    j = 0
    for i in range(len(states)):
        state, best_score, best_distance = states[i], -(1 << 62), 0
        index = indices[begin + i]
        report[CULPRIT], report[AT] = state, begin + i
        # Moves lie in the order of their states, so one cursor suffices.
        while j < count and listed.owners[j] >> 1 == i:
            score, distance = listed.scores[j], listed.distances[j]
            if distance == NO_DISTANCE:
                child_index = listed.places[j]
                if child_index < 0:
                    report[FAULT] = CHILD_MISSING
                    return False
                # Mark the child as reached. States that stay unmarked make the book too large.
                if reached.low <= child_index < reached.low + len(reached.marks):
                    reached.marks[child_index - reached.low] = 1
                score, distance = scores[indices[child_index]], distances[indices[child_index]]
                is_inside = stays(state, listed.keys[j])
                report[STAYS] |= is_inside
                if CONVERTS and not is_inside:
                    distance = 0
            # From the child's view to the parent's, and one ply more.
            score = (score if listed.owners[j] & 1 else -score) + listed.rewards[j]
            distance = 0 if SCORES or score == 0 else distance + 1
            if _is_better(score, distance, best_score, best_distance):
                best_score, best_distance = score, distance
            j += 1
        if best_score != scores[index] or best_distance != distances[index]:
            report[FAULT] = WRONG_VALUE
            return False
        if not tally(state, best_score, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return False
    return True


@kernel
def _is_better(score: int, distance: int, best_score: int, best_distance: int) -> Any:
    """Higher scores first, then quick wins, then slow losses."""
    if score != best_score:
        return score > best_score
    return distance < best_distance if score > 0 else distance > best_distance


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
                grounding.check(book, audit.stored, team, progress)
        return audit.stays


def _read(book: Book, work: Work, memory: int, progress: Progress) -> tuple[Sorted, NDArray[Any]]:
    """All states and palette indices of a book, checked against its header; in files beyond half the memory."""
    count, index, cell = len(book), 0, -1
    chunks = read_parts(book, progress)
    first_chunk = next(chunks, (np.empty(0, np.int64), np.empty(0, np.int32)))
    last_state = int(first_chunk[0][-1]) if len(first_chunk[0]) == count > 0 else _last(book)
    shift, dtype = layout(last_state, count)
    kinds, begins = (dtype, _index_dtype(book)), np.zeros((last_state >> shift) + 2, np.int64)
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


def _last(book: Book) -> int:
    """The last state of a book whose keys are states."""
    number = len(book.directory)
    return book.group(number - 1, lambda count: count - 1)[-1][0] if number else 0


def _index_dtype(book: Book) -> Any:
    """The smallest that holds a palette index, or a number of steps."""
    values = len(book.header.values)
    return next((kind for kind in (np.uint8, np.int32) if values - 1 <= np.iinfo(kind).max), np.int64)


def stored(states: Sorted, indices: NDArray[Any], header: Header) -> Stored:
    """Return the kernel's view of a book."""
    scores = np.array([value.score for value in header.palette], np.int64)
    distances = np.array([value.distance or 0 for value in header.palette], np.int64)
    return Stored(states, indices, scores, distances)


def arithmetic_of(header: Header) -> Any:
    """The module with `audit` and `stored` for the kind of a book's values."""
    return {"expectation": expectations, "nimber": nimbers}.get(header.kind.name, sys.modules[__name__])


class _Audit:
    """A book whose values are being checked."""

    def __init__(self, book: Book, rules: Rules, work: Work, team: Workers, memory: int, progress: Progress) -> None:
        self.book, self.team, self.work, self.memory, self.progress = book, team, work, memory, progress
        self.rules, self.plain = rules, Plain(book, rules, True)
        header = book.header
        tiers = header.tiers is not None
        self.kernels = bind(
            arithmetic_of(header),
            rules.game,
            header.symmetry,
            not header.kind.has_distances,
            tiers=tiers,
            CONVERTS=header.kind.converts,
        )
        self.tiers = np.array([tier.tier for tier in header.tiers or ()], np.int64)
        self.tallies = np.zeros((max(1, len(self.tiers)), 5), np.int64)
        # Some move does not raise the tier
        self.stays = False
        self.ends = Runs(work, memory // 8)
        self.stored = arithmetic_of(header).stored(*_read(book, work, memory, progress), header)

    def run(self) -> None:
        stored, span = len(self.stored.states.lows), max(LEAST_SPAN, self.memory // 4)
        for low in range(0, max(1, stored), span):
            reached = Reached(low, np.zeros(min(span, stored - low), np.uint8))
            self._moves(reached)
            self._starts(reached)
            for unreached in np.flatnonzero(reached.marks == 0)[:1].tolist():
                state = state_at(self.stored.states, low + unreached)
                raise Unconfirmed(
                    f"{self.book.path}: no move leads to state {state}, and play does not start there: solve again"
                )
        self._counts()

    def _moves(self, reached: Reached) -> None:
        """All values against their children; the marks of those in its range. Counts go into the first pass."""
        stored = len(self.stored.states.lows)
        chunk = SMALL_CHUNK if self.work.columns else STATES_PER_CALL
        begins = range(0, stored, chunk)

        def check(begin: int) -> tuple[NDArray[np.int64], NDArray[np.int64], list[States]]:
            tallies = np.zeros_like(self.tallies)
            missing: list[States] = []
            report = np.zeros(6, np.int64)
            looks, stay, end = 0, 0, min(begin + chunk, stored)
            while begin < end and not report[FAULT]:
                ends = np.empty(ENDS, np.int64)
                try:
                    self.kernels.audit(self.stored, reached, self.tiers, tallies, begin, end, ends, report)
                except FAILURES as error:
                    if isinstance(error, SolverError) or is_of_compiler(error):
                        raise
                    raise self._failed(max(begin, int(report[AT])), end, error) from error
                missing.append(ends[: sort_unique(ends, np.empty_like(ends), report[COUNT])].copy())
                looks += report[LOOKS]
                stay |= report[STAYS]
                if report[AT] == begin and not report[FAULT]:
                    raise self._unlike(int(report[CULPRIT]), f"has more than {ENDS:,} moves")
                begin = int(report[AT])
            report[LOOKS], report[STAYS] = looks, stay
            return report, tallies, missing

        results: Iterator[Any] = self.team.map(check, begins)
        for begin, (report, tallies, found) in zip(begins, results, strict=True):
            if report[FAULT]:
                raise self._unlike(int(report[CULPRIT]), FAULTS[int(report[FAULT])])
            if reached.low == 0:
                self.tallies += tallies
                self.stays |= bool(report[STAYS])
                for ends in found:
                    self._keep(ends)
            if self.work.columns:
                self.work.read(int(report[LOOKS]) * READ_AHEAD_BYTES)
            self.progress("verify", min(begin + chunk, stored), stored)

    def _starts(self, reached: Reached) -> None:
        report = np.zeros(5, np.int64)
        ends = np.empty(START_ENDS, np.int64)
        while True:
            begin = int(report[AT])
            self.kernels.mark_starts(self.stored, reached, begin, ends, report)
            if report[FAULT]:
                start = int(report[CULPRIT])
                self.plain.check_start(start)
                raise agreement.unlike(self.rules, f"the start {start} is missing")
            if reached.low == 0:
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
        for ends in merged(self.ends.of(Key(0)), self.team):
            culprit = self.kernels.tally_ends(ends, self.tiers, self.tallies)
            if culprit >= 0:
                raise self._unlike(int(culprit), FAULTS[WRONG_TIER])
        numbers = self.tiers.tolist() or [0]
        with of_the_whole():
            check_counts(
                self.book, [TierCount(tier, *row) for tier, row in zip(numbers, self.tallies.tolist(), strict=True)]
            )

    def _unlike(self, state: int, fault: str) -> UncompiledRules:
        """The error of a state that the kernels alone call wrong. Raises DamagedBook if plain Python does so, too."""
        self.plain.check_again(state)
        return agreement.unlike(self.rules, f"state {state} {fault}")

    def _failed(self, begin: int, end: int, error: Exception) -> UncompiledRules:
        """The error of kernels that fail at one of the states[begin:end], with the state if it is found.

        Raises DamagedBook if plain Python calls one of them wrong.
        """
        twins = agreement.Twins(self.rules.game, self.rules.symmetry, self.rules.tiered)
        for state in states_from(self.stored.states, begin, end).tolist():
            self.plain.check_again(state)
            try:
                twins.compare([state])
            except UncompiledRules as difference:
                return difference
        return agreement.unlike(self.rules, f"they fail with {type(error).__name__}: {error}")
