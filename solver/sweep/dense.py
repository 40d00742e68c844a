"""Dense games, whose states lie below `size()`: arrays by state in place of sorted runs and directories.

A byte says of every number which tier the state is of, or that nothing reached it; another, or two, its merit. Each
tier is found by going through the bytes, eight at a time, forward from the first tier to the last and backward again.
A byte and not a bit, so that threads may mark the same states without atomic steps. The values, the counts and the
book are those of the sorted sweep.

Cost: 2 bytes of memory a number below `size()` (3 where margins are large), whether it is a state or not; every tier
goes through all of them twice.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.book.solution import TierCount
from solver.check.conformance import confirmed
from solver.compiled.agreement import naming_states
from solver.compiled.edges import (
    CULPRIT,
    DRAWS,
    ERROR,
    FAULTS,
    FIELDS,
    LARGEST,
    LOSSES,
    SAME_TIER,
    WINS,
    CompiledMoves,
)
from solver.store.column import Column
from solver.store.work import Work
from solver.sweep.batch import refuse
from solver.sweep.by_state import (
    BEYOND,
    FIRST,
    HIGHEST,
    MOST_TIERS,
    REACHED,
    TOO_MANY,
    collect,
    evaluate_tier,
    expand_tier,
)
from solver.sweep.finish import Piece, tier_count
from solver.sweep.scale import Scale, TooWide, first_scale, of_bytes, wider

OF_A_TIER = 8  # states of a sample
SPAN = 1 << 20  # numbers gone through in one call
MOST_STARTS = 10_000  # listed by plain Python
BLOCK = 1 << 24  # bytes of an array that go to a file at a time


class NotDense(Exception):
    """The arrays cannot take the game; the reason."""


class DenseLayer(NamedTuple):
    """A tier: its mark, how many states it has, and the finished ones by outcome."""

    mark: int
    reached: int
    wins: int
    draws: int
    losses: int

    @property
    def kept(self) -> int:
        return self.reached - self.wins - self.draws - self.losses


class Dense:
    """`Swept`, of a dense game: `marks`, `merits` and `layers`, after `forward` and `backward`.

    `counts` are the numbers of unfinished states of each layer by outcome, the last layer first. Raises NotDense where
    the arrays cannot take the game.
    """

    cyclic, error = False, 0

    def __init__(self, compiled: CompiledMoves, size: int, work: Work, progress: Progress) -> None:
        self.compiled, self.rules = compiled, compiled.rules
        self.size, self.work, self.progress = size, work, progress
        self.inspect: Callable[[list[int]], None] | None = None
        self.marks = np.zeros(-(-size // 8) * 8, np.uint8)
        self.merits: NDArray[Any] = np.empty(0, np.int8)
        self.layers: list[DenseLayer] = []
        self.first_tier = 0
        self.largest = 1
        self.tally: Counter[int] = Counter()
        self.counts: list[list[int]] = []
        self.longest: tuple[int, int] | None = None
        self._some: list[int] = []  # states of each tier
        self._next = 1  # mark of the tier whose turn it is, forward
        self._last = 0  # the highest mark

    def forward(self, team: Workers) -> None:
        """Mark every state, from where the last checkpoint left off."""
        if not self._last:
            self._start()
        while self._next <= self._last:
            self._expand(team)
            self._save()

    def backward(self, team: Workers) -> None:
        """Find the merit of every state, from where the last checkpoint left off."""
        if not len(self.merits):
            self._widen()
        while len(self.counts) < len(self.layers):
            try:
                self._evaluate(self.layers[-1 - len(self.counts)], team)
            except TooWide:
                self._widen()
            self._save()

    def discard(self) -> None:
        """Take the arrays back from the work folder: the sorted sweep has no use for them."""
        for column in self._saved():
            self.work.discard(column)

    @property
    def kept(self) -> int:
        """How many unfinished states were found."""
        return sum(layer.kept for layer in self.layers)

    @property
    def scale(self) -> Scale:
        return of_bytes(self.merits.itemsize)

    def tiers(self) -> list[TierCount]:
        return [
            tier_count(self.first_tier + layer.mark - 1, layer.reached, layer[2:], counts)
            for layer, counts in zip(self.layers, reversed(self.counts), strict=True)
        ]

    def sample(self, chance: np.random.Generator, most: int) -> list[int]:
        """Some states, of every tier where both passes were made at once."""
        places = chance.integers(0, self.size, 4 * most).tolist()
        states = [*self._some, *(place for place in places if self.merit_of(place) is not None)]
        chance.shuffle(states)
        return states[:most]

    def merit_of(self, key: int) -> int | None:
        merit = int(self.merits[key]) if 0 <= key < self.size else None
        return None if merit is None or merit == np.iinfo(self.merits.dtype).min else merit

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        assert best_first is not None, "chance is for the sorted sweep"
        half = -int(np.iinfo(self.merits.dtype).min)
        places = np.full(2 * half, -1, np.int32)
        places[best_first + half] = np.arange(len(best_first))
        dtype = np.uint8 if len(best_first) <= 256 else np.int32

        def part(begin: int) -> Piece:
            end = min(begin + SPAN, self.size)
            states, indices = np.empty(end - begin + 1, np.int64), np.empty(end - begin + 1, dtype)
            count = collect(self.merits, places, begin, end, states, indices)
            return states[:count], indices[:count]

        yield from team.map(part, range(0, self.size, SPAN))

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        columns = self.work.columns
        self.marks = columns[saved["marks"]].view().copy()
        self.merits = columns[saved["merits"]].view().copy() if saved["merits"] else self.merits
        self.layers = [DenseLayer(*row) for row in saved["layers"]]
        self.first_tier, self.largest = saved["first_tier"], saved["largest"]
        self._next, self._last = saved["next"], saved["last"]
        self.tally, self.counts = Counter(dict(saved["tally"])), saved["counts"]
        self.longest = tuple(saved["longest"]) if saved["longest"] else None

    def _start(self) -> None:
        rules = self.rules
        listed = itertools.islice(rules.starts(), MOST_STARTS + 1)
        starts = {rules.canonical(state) for state in (rules.game.initial(), *listed)}
        if len(starts) > MOST_STARTS:
            raise NotDense(f"it starts from more than {MOST_STARTS:,} states")
        tiers = {key: self.compiled.tier(key) for key in starts}
        for key in starts:
            if not 0 <= key < self.size:
                raise GameError(f"{rules.name} starts at {key}, and size() says that states are below {self.size}")
        self.first_tier = min(tiers.values())
        self._last = max(tiers.values()) - self.first_tier + 1
        if self._last > MOST_TIERS:
            raise NotDense(f"there are more than {MOST_TIERS} tiers")
        for key, tier in tiers.items():
            self.marks[key] = tier - self.first_tier + 1

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Ranges of words."""
        words = len(self.marks) // 8
        return ((begin, min(begin + SPAN // 8, words)) for begin in range(0, words, SPAN // 8))

    def _expand(self, team: Workers) -> None:
        """Mark what the states of the next tier lead to."""
        mark, words = self._next, self.marks.view(np.int64)
        total = np.zeros(FIELDS + 3, np.int64)
        some: list[int] = []

        def expand(span: tuple[int, int]) -> NDArray[np.int64]:
            report = np.zeros(FIELDS + 3, np.int64)
            with naming_states(self.compiled, lambda: states_in(self.marks, mark, span)):
                expand_tier(self.compiled.moves, words, self.marks, mark, self.first_tier, *span, report)
            return report

        for report in team.map(expand, self._spans()):
            self._refuse(int(report[ERROR]), int(report[CULPRIT]))
            some += [int(report[FIRST])] if report[REACHED] and report[FIRST] >= 0 else []
            self.largest = max(self.largest, int(report[LARGEST]))
            self._last = max(self._last, int(report[HIGHEST]))
            total += report
            self.progress("forward", self.kept + int(total[REACHED]), None)
        if total[REACHED]:
            self.layers.append(DenseLayer(mark, *(int(total[slot]) for slot in (REACHED, WINS, DRAWS, LOSSES))))
        some = some[:: max(1, len(some) // OF_A_TIER)]
        self._some += some
        if self.inspect is not None:
            self.inspect(some)
        self._next += 1

    def _refuse(self, error: int, culprit: int) -> None:
        if error == SAME_TIER:
            raise NotDense(f"state {culprit} has a move that stays in its tier")
        if error == TOO_MANY:
            raise NotDense(f"there are more than {MOST_TIERS} tiers")
        if error == BEYOND:
            raise GameError(f"state {culprit} has a child that is not below size(), {self.size}: mend size")
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {FAULTS[error]}")

    def _widen(self) -> None:
        """Begin the pass backward, with the smallest merits that may do, or with larger ones than before."""
        first = first_scale(self.rules, False, len(self.layers), self.largest)
        kind = np.dtype((wider(self.rules, self.scale) if len(self.merits) else first).kind)
        if kind.itemsize > 2:
            raise NotDense("its values are more than two bytes hold")
        self.merits = np.empty(0, kind)  # so that the memory never holds two
        self.merits = np.full(self.size, np.iinfo(kind).min, kind)
        self.tally, self.counts, self.longest = Counter(), [], None

    def _evaluate(self, layer: DenseLayer, team: Workers) -> None:
        """The merits of a tier."""
        merits, words = self.merits, self.marks.view(np.int64)  # others may still be at them when these are widened
        info = np.iinfo(merits.dtype)
        moves = self.compiled.valued(int(info.max))
        done = sum(map(sum, self.counts))

        def evaluate(span: tuple[int, int]) -> tuple[NDArray[np.int64], list[int]]:
            tally, longest = np.zeros(info.max - info.min + 1, np.int64), np.full(2, info.max + 1, np.int64)
            with naming_states(self.compiled, lambda: states_in(self.marks, layer.mark, span)):
                fault = evaluate_tier(moves, words, layer.mark, *span, merits, tally, longest)
            refuse(self.rules, *fault)
            return tally, longest.tolist()

        total = np.zeros(info.max - info.min + 1, np.int64)
        for tally, longest in team.map(evaluate, self._spans()):
            total += tally
            if longest[0] <= info.max and not self.rules.scores:
                self.longest = min((longest[0], longest[1]), self.longest or (longest[0], longest[1]))
            self.progress("backward", done + int(total.sum()), self.kept)
        found = np.flatnonzero(total) + info.min
        self.tally.update({merit: int(total[merit - info.min]) for merit in found.tolist()})
        middle = -info.min
        self.counts.append([int(total[middle + 1 :].sum()), int(total[middle]), int(total[:middle].sum())])

    def _saved(self) -> list[Column]:
        """The arrays that lie in the work folder."""
        return [column for name, column in self.work.columns.items() if name.startswith("array")]

    def _save(self) -> None:
        """A checkpoint, if one is due."""
        if not self.work.due():
            return
        before, names = self._saved(), []
        for array in (self.marks, self.merits):
            column = self.work.column("array", array.dtype, numbered=True)
            for begin in range(0, len(array), BLOCK):
                column.append(array[begin : begin + BLOCK])
            names.append(column.name)
        for column in before:
            self.work.discard(column)
        self.work.checkpoint(
            {
                "pass": "dense",
                "dense": {
                    "marks": names[0],
                    "merits": names[1] if len(self.merits) else None,
                    "layers": self.layers,
                    "first_tier": self.first_tier,
                    "largest": self.largest,
                    "next": self._next,
                    "last": self._last,
                    "tally": sorted(self.tally.items()),
                    "counts": self.counts,
                    "longest": self.longest,
                },
            }
        )


def states_in(marks: NDArray[np.uint8], mark: int, span: tuple[int, int]) -> NDArray[np.int64]:
    """The states with a mark in a range of words of eight marks."""
    begin, end = span
    return np.flatnonzero(marks[8 * begin : 8 * end] == mark) + 8 * begin
