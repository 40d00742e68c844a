"""Dense games, whose states lie below `size()`: arrays by state in place of sorted runs and directories.

A byte says of every number which tier the state is of, or that nothing reached it; another, or two, its merit. Each
tier is found by going through the bytes, forward from the first tier to the last and backward again. A byte and not a
bit, so that threads may mark the same states without atomic steps. The values, the counts and the book are those of
the sorted sweep.

Cost: 2 bytes of memory a number below `size()` (3 where margins are large), whether it is a state or not; every tier
goes through all of them twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.base.tiers import Tier
from solver.compiled.agreement import naming_states
from solver.compiled.edges import (
    BATCH_MOVES,
    CULPRIT,
    ERROR,
    FIELDS,
    KEPT_COUNT,
    LARGEST,
    LOSSES,
    NOT_TERMINAL,
    CompiledMoves,
    Moves,
    new_edges,
)
from solver.store.addresses import prefetch
from solver.store.shared import shared
from solver.store.work import Work
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, next_edges, refuse, widest_of
from solver.sweep.checkpoint import Checkpoint, DenseState, column_of
from solver.sweep.expansion import COUNT, HIGHEST, LOWEST_TIER, REFUSED, Expansion, Stays, expand
from solver.sweep.finish import Piece, Unfit, indices_of
from solver.sweep.forward import starts_of
from solver.sweep.scale import Scale, Tally, TooWide, first_scale, of_bytes, slowest_win, tallied, wider

lift = register_jitable(value.lift)

UNREACHED, FINISHED, MOST_TIERS = 0, 255, 254  # marks: no state, a finished one, the last tier's
TOO_MANY, BEYOND = 100, 101  # more faults
OF_A_TIER = 8  # states of a sample
NUMBERS_PER_CALL = 1 << 20  # numbers gone through in one call


@shared
def mark_children(
    moves: Moves, states: NDArray[Any], tier: int, first_tier: int, marks: NDArray[Any], report: NDArray[Any]
) -> None:
    """Mark the children of a tier's unfinished states.

    Args:
        moves: The compiled moves.
        states: The states.
        tier: The tier.
        first_tier: The first tier of all, whose mark is 1.
        marks: Written.
        report: Written, (FIELDS,) int64: the highest tier of a child, and an error with its culprit.
    """
    edges, cursor, highest = new_edges(BATCH_MOVES), 0, LOWEST_TIER
    while cursor < len(states):
        begin = cursor
        edges, cursor = expand(moves, states, begin, len(states), tier, REFUSED, edges, report)
        if report[ERROR]:
            return
        highest = max(highest, report[HIGHEST])
        # Marks of children lie anywhere: ask for them together, then write.
        for j in range(report[COUNT]):
            prefetch(marks, edges.keys[j])
        for j in range(report[COUNT]):
            key, mark = edges.keys[j], edges.tiers[j] - first_tier + 1
            if key >= len(marks) or mark > MOST_TIERS:
                report[ERROR] = BEYOND if key >= len(marks) else TOO_MANY
                report[CULPRIT] = states[begin + (edges.owners[j] >> 1)]
                return
            # Threads may mark the same child. They write the same byte, so no lock is needed.
            if marks[key] == UNREACHED:
                marks[key] = mark
    report[HIGHEST] = highest


@shared
def evaluate(moves: Moves, states: NDArray[Any], merits: NDArray[Any], best_merits: NDArray[Any]) -> tuple[Any, Any]:
    """Raise the merits of some states, (n,), by those of their children, which stand at the children's numbers.

    Returns as `backward.evaluate`.
    """
    edges, cursor, max_merit = new_edges(BATCH_MOVES), 0, widest_of(merits)
    unreached = -(np.int64(1) << 8 * merits.itemsize - 1)
    while cursor < len(states):
        edges, count, next_state = next_edges(moves, states, cursor, len(states), edges)
        for j in range(count):
            prefetch(merits, edges.keys[j])
        for j in range(count):
            owner, merit = cursor + (edges.owners[j] >> 1), edges.merits[j]
            if merit == NOT_TERMINAL:
                merit = np.int64(merits[edges.keys[j]])
                if merit == unreached:
                    return LOST_CHILD, states[owner]
                merit = lift(merit, (edges.owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += edges.rewards[j]
            if moves.rewarded and abs(merit) > max_merit:
                return TOO_WIDE, states[owner]
            # Compare first, so that memory is written only when it changes.
            if merit > best_merits[owner]:
                best_merits[owner] = merit
        cursor = next_state
    return FINE, np.int64(0)


class Dense:
    """`Swept`, of a dense game: `marks`, `merits` and `layers`, after `forward` and `backward`.

    It goes on from the `saved` state. Raises Unfit where the arrays cannot take the game.
    """

    def __init__(
        self, compiled: CompiledMoves, size: int, work: Work, progress: Progress, saved: DenseState | None = None
    ) -> None:
        self.compiled, self.rules = compiled, compiled.rules
        self.expansion: Expansion = Expansion(compiled)
        self.size, self.work, self.progress = size, work, progress
        self.inspect: Callable[[list[int]], None] | None = None
        self.marks = np.zeros(size, np.uint8)
        self.merits: NDArray[Any] = np.empty(0, np.int8)
        self.state: DenseState = saved or DenseState()
        self.layers: list[Tier] = self.state.layers
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
            try:
                self._expand(team)
            except Stays as stays:
                raise Unfit(f"state {stays.state} has a move that stays in its tier") from None
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

    @property
    def kept(self) -> int:
        """How many unfinished states were found."""
        return sum(layer.kept for layer in self.layers)

    @property
    def scale(self) -> Scale:
        return of_bytes(self.merits.itemsize)

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
        indices, unreached = indices_of(best_first), np.iinfo(self.merits.dtype).min

        def part(begin: int) -> Piece:
            merits = self.merits[begin : begin + NUMBERS_PER_CALL]
            states = np.flatnonzero(merits != unreached)
            return states + begin, indices(merits[states])

        yield from team.map(part, range(0, self.size, NUMBERS_PER_CALL))

    def _start(self) -> None:
        keys, tiers = map(np.concatenate, zip(*starts_of(self.compiled, NUMBERS_PER_CALL), strict=True))
        # Arrays end at size(): a state beyond it would be lost silently.
        if keys.max() >= self.size:
            name = self.rules.name
            raise GameError(f"{name} starts at {keys.max()}, and size() says that states are below {self.size}")
        self.state.first_tier = int(tiers.min())
        self.state.last = self._mark(int(tiers.max()))
        if self.state.last > MOST_TIERS:
            raise Unfit(f"there are more than {MOST_TIERS} tiers")
        self.marks[keys] = tiers - self.state.first_tier + 1

    def _mark(self, tier: int) -> int:
        """The mark of a tier's states."""
        return tier - self.state.first_tier + 1

    def _states_of(self, mark: int, begin: int) -> NDArray[np.int64]:
        """The states with a mark among the numbers of a call."""
        return np.flatnonzero(self.marks[begin : begin + NUMBERS_PER_CALL] == mark) + begin

    def _expand(self, team: Workers) -> None:
        """Mark the children of the next tier's states."""
        state, mark, marks = self.state, self.state.next, self.marks
        tier, totals, sampled = state.first_tier + mark - 1, np.zeros(LOSSES + 1, np.int64), list[int]()

        def expand_span(begin: int) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
            states, listed = self._states_of(mark, begin), np.zeros(FIELDS, np.int64)
            with naming_states(self.compiled, lambda: states):
                open_states, report = self.expansion.keep(states)
                mark_children(self.compiled.moves, open_states, tier, state.first_tier, marks, listed)
            self._refuse(listed)
            if len(open_states) < len(states):
                marks[states] = FINISHED
                marks[open_states] = mark
            return open_states[:1].tolist(), report, listed

        for some, report, listed in team.map(expand_span, range(0, self.size, NUMBERS_PER_CALL)):
            sampled += some
            totals += report[: LOSSES + 1]
            state.largest = max(state.largest, int(report[LARGEST]))
            state.last = max(state.last, self._mark(int(listed[HIGHEST])))
            self.progress("forward", self.kept + int(totals[KEPT_COUNT]), None)
        if totals.any():
            open_count, wins, draws, losses = totals.tolist()
            self.layers.append(Tier(tier, sum(totals.tolist()), open_count, ends=(wins, draws, losses)))
        sampled = sampled[:: max(1, len(sampled) // OF_A_TIER)]
        self._some += sampled
        if self.inspect is not None:
            self.inspect(sampled)
        state.next += 1

    def _refuse(self, report: NDArray[np.int64]) -> None:
        if report[ERROR] == TOO_MANY:
            raise Unfit(f"there are more than {MOST_TIERS} tiers")
        if report[ERROR] == BEYOND:
            raise GameError(f"state {report[CULPRIT]} has a child that is not below size(), {self.size}: mend size")
        self.expansion.refuse(report)

    def _widen(self) -> None:
        """Begin the pass backward, with the smallest merits that may do, or with larger ones than before."""
        scale = first_scale(self.rules, False, len(self.layers), self.state.largest)
        # One byte holds most games. Wider merits are tried only when they are needed.
        kind = np.dtype((wider(self.rules, self.scale) if len(self.merits) else scale).kind)
        if kind.itemsize > 2:
            raise Unfit("its values are more than two bytes hold")
        # So that the memory never holds two
        self.merits = np.empty(0, kind)
        self.merits = np.full(self.size, np.iinfo(kind).min, kind)
        self.state.tally = Tally()

    def _evaluate(self, layer: Tier, team: Workers) -> None:
        """The merits of a tier."""
        mark = self._mark(layer.number)
        # Others may still be at them when these are widened
        merits = self.merits
        info, done = np.iinfo(merits.dtype), self.tally.values.total()
        moves, counts = self.compiled.valued(int(info.max)), Counter[int]()

        def evaluate_span(begin: int) -> tuple[dict[int, int], tuple[int, int] | None]:
            states = self._states_of(mark, begin)
            best_merits = np.full(len(states), info.min, merits.dtype)
            with naming_states(self.compiled, lambda: states):
                fault = evaluate(moves, states, merits, best_merits)
            refuse(self.rules, *fault)
            merits[states] = best_merits
            counts = tallied(best_merits)
            return counts, slowest_win(counts, best_merits, states)

        for some, win in team.map(evaluate_span, range(0, self.size, NUMBERS_PER_CALL)):
            counts.update(some)
            self.tally.meet_win(win)
            self.progress("backward", done + counts.total(), self.kept)
        self.tally.end_tier(counts)

    def _save(self) -> None:
        """A checkpoint, if one is due."""
        if not self.work.due():
            return
        before = list(self.work.columns.values())
        self.state.marks, self.state.merits = (
            column_of(self.work, "array", array).name if len(array) else None for array in (self.marks, self.merits)
        )
        for column in before:
            self.work.discard(column)
        self.work.checkpoint(Checkpoint(dense=self.state))
