"""Dense games, whose states lie below `size()`: arrays by state in place of sorted runs and directories.

A byte says of every number which tier the state is of, or that nothing reached it; another, or two, its merit. Each
tier is found by going through the bytes, eight at a time, forward from the first tier to the last and backward again.
A byte and not a bit, so that threads may mark the same states without atomic steps. The values, the counts and the
book are those of the sorted sweep.

Cost: 2 bytes of memory a number below `size()` (3 where margins are large), whether it is a state or not; every tier
goes through all of them twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.base.tiers import Tier
from solver.check.conformance import confirmed
from solver.compiled import edges
from solver.compiled.agreement import naming_states
from solver.compiled.edges import CompiledMoves
from solver.store.work import Column, Work
from solver.sweep import by_state
from solver.sweep.batch import refuse
from solver.sweep.checkpoint import Checkpoint, DenseState
from solver.sweep.finish import Piece
from solver.sweep.forward import starts_of
from solver.sweep.scale import Scale, Tally, TooWide, first_scale, of_bytes, wider

OF_A_TIER = 8  # states of a sample
NUMBERS_PER_CALL = 1 << 20  # numbers gone through in one call
WRITE_BYTES = 1 << 24  # bytes of an array that go to a file at a time


class NotDense(Exception):
    """The arrays cannot take the game; the reason."""


class Dense:
    """`Swept`, of a dense game: `marks`, `merits` and `layers`, after `forward` and `backward`.

    It goes on from the `saved` state. Raises NotDense where the arrays cannot take the game.
    """

    def __init__(
        self, compiled: CompiledMoves, size: int, work: Work, progress: Progress, saved: DenseState | None = None
    ) -> None:
        self.compiled, self.rules = compiled, compiled.rules
        self.size, self.work, self.progress = size, work, progress
        self.inspect: Callable[[list[int]], None] | None = None
        self.marks = np.zeros(-(-size // 8) * 8, np.uint8)
        self.merits: NDArray[Any] = np.empty(0, np.int8)
        self.state: DenseState = saved or DenseState()
        if saved is not None:
            self.marks = work.columns[saved.marks].view().copy()
            self.merits = work.columns[saved.merits].view().copy() if saved.merits else self.merits
        # States of each tier
        self._some: list[int] = []

    def forward(self, team: Workers) -> None:
        """Mark every state, from where the last checkpoint left off."""
        if not self.state.last:
            self._start()
        while self.state.next <= self.state.last:
            self._expand(team)
            self._save()

    def backward(self, team: Workers) -> None:
        """Find the merit of every state, from where the last checkpoint left off."""
        if not len(self.merits):
            self._widen()
        while len(self.tally.tiers) < len(self.layers):
            try:
                self._evaluate(self.layers[-1 - len(self.tally.tiers)], team)
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

    @property
    def layers(self) -> list[Tier]:
        return self.state.layers

    @property
    def tally(self) -> Tally:
        return self.state.tally

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        """Some states, of every tier where both passes were made at once."""
        places = chance.integers(0, self.size, 4 * limit).tolist()
        states = [*self._some, *(state for state in places if self.merit_of(state) is not None)]
        chance.shuffle(states)
        return states[:limit]

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
            end = min(begin + NUMBERS_PER_CALL, self.size)
            states, indices = np.empty(end - begin + 1, np.int64), np.empty(end - begin + 1, dtype)
            count = by_state.collect(self.merits, places, begin, end, states, indices)
            return states[:count], indices[:count]

        yield from team.map(part, range(0, self.size, NUMBERS_PER_CALL))

    def _start(self) -> None:
        keys, tiers = map(np.concatenate, zip(*starts_of(self.compiled, NUMBERS_PER_CALL), strict=True))
        # Arrays end at size(): a state beyond it would be lost silently.
        if keys.max() >= self.size:
            name = self.rules.name
            raise GameError(f"{name} starts at {keys.max()}, and size() says that states are below {self.size}")
        self.state.first_tier = int(tiers.min())
        self.state.last = self._mark(int(tiers.max()))
        if self.state.last > by_state.MOST_TIERS:
            raise NotDense(f"there are more than {by_state.MOST_TIERS} tiers")
        self.marks[keys] = tiers - self.state.first_tier + 1

    def _mark(self, tier: int) -> int:
        """The mark of a tier's states."""
        return tier - self.state.first_tier + 1

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Ranges of words."""
        words = len(self.marks) // 8
        return ((begin, min(begin + NUMBERS_PER_CALL // 8, words)) for begin in range(0, words, NUMBERS_PER_CALL // 8))

    def _expand(self, team: Workers) -> None:
        """Mark the children of the next tier's states."""
        state, mark, words = self.state, self.state.next, self.marks.view(np.int64)
        total = np.zeros(edges.FIELDS + 3, np.int64)
        sampled: list[int] = []

        def expand(span: tuple[int, int]) -> NDArray[np.int64]:
            report = np.zeros(edges.FIELDS + 3, np.int64)
            with naming_states(self.compiled, lambda: states_in(self.marks, mark, span)):
                by_state.expand_tier(self.compiled.moves, words, self.marks, mark, state.first_tier, *span, report)
            return report

        for report in team.map(expand, self._spans()):
            self._refuse(int(report[edges.ERROR]), int(report[edges.CULPRIT]))
            sampled += [int(report[by_state.FIRST])] if report[by_state.REACHED] and report[by_state.FIRST] >= 0 else []
            state.largest = max(state.largest, int(report[edges.LARGEST]))
            state.last = max(state.last, int(report[by_state.HIGHEST]))
            total += report
            self.progress("forward", self.kept + int(total[by_state.REACHED]), None)
        if reached := int(total[by_state.REACHED]):
            wins, draws, losses = (int(total[slot]) for slot in (edges.WINS, edges.DRAWS, edges.LOSSES))
            number, open_count = state.first_tier + mark - 1, reached - wins - draws - losses
            self.layers.append(Tier(number, reached, open_count, ends=(wins, draws, losses)))
        sampled = sampled[:: max(1, len(sampled) // OF_A_TIER)]
        self._some += sampled
        if self.inspect is not None:
            self.inspect(sampled)
        state.next += 1

    def _refuse(self, error: int, culprit: int) -> None:
        if error == edges.SAME_TIER:
            raise NotDense(f"state {culprit} has a move that stays in its tier")
        if error == by_state.TOO_MANY:
            raise NotDense(f"there are more than {by_state.MOST_TIERS} tiers")
        if error == by_state.BEYOND:
            raise GameError(f"state {culprit} has a child that is not below size(), {self.size}: mend size")
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {edges.FAULTS[error]}")

    def _widen(self) -> None:
        """Begin the pass backward, with the smallest merits that may do, or with larger ones than before."""
        scale = first_scale(self.rules, False, len(self.layers), self.state.largest)
        # One byte holds most games. Wider merits are tried only when they are needed.
        kind = np.dtype((wider(self.rules, self.scale) if len(self.merits) else scale).kind)
        if kind.itemsize > 2:
            raise NotDense("its values are more than two bytes hold")
        # So that the memory never holds two
        self.merits = np.empty(0, kind)
        self.merits = np.full(self.size, np.iinfo(kind).min, kind)
        self.state.tally = Tally()

    def _evaluate(self, layer: Tier, team: Workers) -> None:
        """The merits of a tier."""
        mark = self._mark(layer.number)
        # Others may still be at them when these are widened
        merits, words = self.merits, self.marks.view(np.int64)
        info = np.iinfo(merits.dtype)
        moves = self.compiled.valued(int(info.max))
        tallied = self.tally.values.total()

        def evaluate(span: tuple[int, int]) -> tuple[NDArray[np.int64], list[int]]:
            tally, longest = np.zeros(info.max - info.min + 1, np.int64), np.full(2, info.max + 1, np.int64)
            with naming_states(self.compiled, lambda: states_in(self.marks, mark, span)):
                fault = by_state.evaluate_tier(moves, words, mark, *span, merits, tally, longest)
            refuse(self.rules, *fault)
            return tally, longest.tolist()

        total = np.zeros(info.max - info.min + 1, np.int64)
        for tally, longest in team.map(evaluate, self._spans()):
            total += tally
            if longest[0] <= info.max and not self.rules.scores:
                self.tally.meet_win((longest[0], longest[1]))
            self.progress("backward", tallied + int(total.sum()), self.kept)
        values = np.flatnonzero(total) + info.min
        self.tally.end_tier({merit: int(total[merit - info.min]) for merit in values.tolist()})

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
            for begin in range(0, len(array), WRITE_BYTES):
                column.append(array[begin : begin + WRITE_BYTES])
            names.append(column.name)
        for column in before:
            self.work.discard(column)
        self.state.marks, self.state.merits = names[0], names[1] if len(self.merits) else None
        self.work.checkpoint(Checkpoint(dense=self.state))


def states_in(marks: NDArray[np.uint8], mark: int, span: tuple[int, int]) -> NDArray[np.int64]:
    """The states with a mark in a range of words of eight marks."""
    begin, end = span
    return np.flatnonzero(marks[8 * begin : 8 * end] == mark) + 8 * begin
