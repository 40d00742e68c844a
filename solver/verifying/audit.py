"""The auditor's arithmetic: every value of a book against its children, sharing nothing with the sweep but the rules.

It has arithmetic of its own for values (outcome and distance instead of merits), a look-up of its own (a table of
the leading bits and bisection), and marks every state that some move reaches, so that strays are found as well; and it
counts all states anew, by tier and outcome.

Cost: 13 bytes a state, or, where that is more than the memory given, 12 bytes a state in unnamed files, whose pages are
let go again, and a pass over all moves for each quarter of the memory that a byte a state fills.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.book.check import check_counts
from solver.book.codecs.reading import read_all
from solver.book.format import Header
from solver.book.solution import TierCount
from solver.compiled.binding import bind, compiling, kernel
from solver.rules.game import Game
from solver.store.runs import LOOK, Key, Runs, States, merged, places_in
from solver.store.shared import read_only
from solver.store.sorting import sort_unique
from solver.store.work import Work
from solver.verifying import expectations, grounding, nimbers
from solver.verifying.reached import (
    AT,
    COUNT,
    CULPRIT,
    FAULT,
    FAULTS,
    LOOKS,
    STAYS,
    WRONG_TIER,
    WRONG_VALUE,
    Reached,
    reach,
    stays,
    tally,
    unfit,
)

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = TIERS = TIERED = False

CHUNK = 1 << 15  # states checked in one call
SMALL_CHUNK = 1 << 12  # where states lie in files: all that one call looks at is mapped at once
ENDS = 1 << 18  # finished children of one call
START_ENDS = 1 << 21
LEAST_SPAN = 1 << 20  # states that one pass marks


class Stored(NamedTuple):
    """A book's states, the indices of their values, those values (palette,), distance 0 where it means nothing, and a
    table of the states' leading bits."""

    states: States
    indices: NDArray[Any]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]
    prefixes: NDArray[np.int64]
    shift: int


@kernel
def audit(stored, reached, tiers, tallies, begin, end, ends, report):
    """Check states[begin:end] against their children, until `ends` (capacity) is full.

    report (6,) int64 gets the first fault and its state, where to go on, how many finished children `ends` holds, the
    look-ups made, and whether some move does not raise the tier; tallies (tiers, 5) int64 has states, finished ones,
    wins, draws, losses.
    """
    report[:] = 0
    states, indices, scores, distances, _, _ = stored
    for i in range(begin, end):
        state = states[i]
        report[CULPRIT], report[AT] = state, i
        report[FAULT] = unfit(state)
        if report[FAULT]:
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
                place = reach(key, stored, reached, report)
                if place < 0:
                    return
                score, distance = scores[indices[place]], distances[indices[place]]
                report[STAYS] |= stays(state, key)
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
        if not tally(state, best_score, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return
    report[AT] = end


@kernel
def _is_better(score, distance, best_score, best_distance):
    """Higher scores first, then quick wins, then slow losses."""
    if score != best_score:
        return score > best_score
    return distance < best_distance if score > 0 else distance > best_distance


def check_values(
    book: Book, game: Game, *, memory: int, workers: int | None = None, progress: Progress = silent
) -> bool:
    """Every value against its children, every state against the moves that lead to it, every count of the header.

    Whether some move to an unfinished state does not raise the tier. Raises DamagedBook with the first state that is
    wrong.
    """
    with Work() as work, Workers(workers) as team, compiling(game):
        work.mapped = memory // 4
        audit = _Audit(book, game, work, team, memory, progress)
        audit.run()
        if audit.stays and book.header.method == "retrograde" and book.header.score_game:
            grounding.check(book, audit.stored, team, progress)
        return audit.stays


def _stored(states: States, indices: NDArray[Any], header: Header, work: Work) -> Any:
    bits = min(22, len(states).bit_length())
    shift = max(0, (int(states[-1]).bit_length() if len(states) else 0) - bits)
    cells = np.arange((1 << bits) + 1, dtype=np.int64) << shift
    prefixes = places_in(states, cells, work.read)
    states, indices = read_only(states), read_only(indices)  # one type, wherever they lie
    return arithmetic_of(header).stored(states, indices, header, prefixes, shift)


def stored(states: States, indices: NDArray[Any], header: Header, prefixes: NDArray[np.int64], shift: int) -> Stored:
    """What the kernel is given of a book."""
    scores = np.array([value.score for value in header.palette], np.int64)
    distances = np.array([value.distance or 0 for value in header.palette], np.int64)
    return Stored(states, indices, scores, distances, prefixes, shift)


def arithmetic_of(header: Header) -> Any:
    """The module with `audit` and `stored` for the kind of a book's values."""
    return {"expectation": expectations, "nimber": nimbers}.get(header.kind.name, sys.modules[__name__])


class _Audit:
    """A book whose values are being checked."""

    def __init__(self, book: Book, game: Game, work: Work, team: Workers, memory: int, progress: Progress) -> None:
        self.book, self.team, self.work, self.memory, self.progress = book, team, work, memory, progress
        header = book.header
        self.kernels = bind(arithmetic_of(header), game, header.symmetry, header.wdl, tiers=header.tiers is not None)
        self.tiers = np.array([tier.tier for tier in header.tiers or ()], np.int64)
        self.tallies = np.zeros((max(1, len(self.tiers)), 5), np.int64)
        self.stays = False  # some move does not raise the tier
        self.ends = Runs(work, memory // 8)
        self.stored = _stored(*read_all(book, work, memory, progress), header, work)

    def run(self) -> None:
        stored, span = len(self.stored.states), max(LEAST_SPAN, self.memory // 4)
        for low in range(0, max(1, stored), span):
            reached = Reached(low, np.zeros(min(span, stored - low), np.uint8))
            self._moves(reached)
            self._starts(reached)
            for place in np.flatnonzero(reached.marks == 0)[:1].tolist():
                state = self.stored.states[low + place]
                raise DamagedBook(
                    f"{self.book.path}: no move leads to state {state}, and play does not start there: solve again"
                )
        self._counts()

    def _moves(self, reached: Reached) -> None:
        """All values against their children; the marks of those in its range. Counts go into the first pass."""
        stored = len(self.stored.states)
        chunk = SMALL_CHUNK if self.work.columns else CHUNK
        begins = range(0, stored, chunk)

        def check(begin: int) -> tuple[NDArray[np.int64], NDArray[np.int64], list[States]]:
            tallies = np.zeros_like(self.tallies)
            found: list[States] = []
            report = np.zeros(6, np.int64)
            looks, stay, end = 0, 0, min(begin + chunk, stored)
            while begin < end and not report[FAULT]:
                ends = np.empty(ENDS, np.int64)
                self.kernels.audit(self.stored, reached, self.tiers, tallies, begin, end, ends, report)
                found.append(ends[: sort_unique(ends, np.empty_like(ends), report[COUNT])].copy())
                looks += report[LOOKS]
                stay |= report[STAYS]
                if report[AT] == begin and not report[FAULT]:
                    raise DamagedBook(f"{self.book.path}: state {report[CULPRIT]} has more than {ENDS:,} moves")
                begin = int(report[AT])
            report[LOOKS], report[STAYS] = looks, stay
            return report, tallies, found

        results: Iterator[Any] = self.team.map(check, begins)
        for begin, (report, tallies, found) in zip(begins, results, strict=True):
            if report[FAULT]:
                self._refuse(report)
            if reached.low == 0:
                self.tallies += tallies
                self.stays |= bool(report[STAYS])
                for ends in found:
                    self._keep(ends)
            if self.work.columns:
                self.work.read(int(report[LOOKS]) * LOOK)
            self.progress("verify", min(begin + chunk, stored), stored)

    def _starts(self, reached: Reached) -> None:
        report = np.zeros(5, np.int64)
        ends = np.empty(START_ENDS, np.int64)
        while True:
            begin = int(report[AT])
            self.kernels.mark_starts(self.stored, reached, begin, ends, report)
            if report[FAULT]:
                raise DamagedBook(f"{self.book.path}: the start {report[CULPRIT]} is missing: solve again")
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
                self._refuse([WRONG_TIER, culprit])
        numbers = self.tiers.tolist() or [0]
        check_counts(
            self.book, [TierCount(tier, *row) for tier, row in zip(numbers, self.tallies.tolist(), strict=True)]
        )

    def _refuse(self, report: Any) -> None:
        raise DamagedBook(f"{self.book.path}: state {report[CULPRIT]} {FAULTS[int(report[FAULT])]}: solve again")
