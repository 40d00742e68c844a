"""Arrays over numbers, in place of sorted runs and directories: their passes, and those of dense games.

A byte says of every number whether play reaches it, and the arrays of values have one entry for each. Tiers are gone
through in order, forward from the first to the last and backward again, a piece of numbers at a time. A byte and not a
bit, so that threads may mark the same number without atomic steps. Values, counts and book are those of the sorted
sweep.

In a dense game, whose states lie below `size()`, a state is its own number. The numbers of a tier lie anywhere: the
byte says which tier the state is of. `numbered` has the games whose rules number their positions.

Cost of a dense game: 2 bytes of memory a number below `size()` (3 where margins are large), whether it is a state or
not; every tier goes through all of them twice.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.base.tiers import Tier
from solver.compiled import edges
from solver.compiled.agreement import naming_states
from solver.compiled.edges import BATCH_MOVES, ERROR, NOT_TERMINAL, CompiledMoves, Moves, lift, new_edges
from solver.rules.placements import Span
from solver.store.addresses import prefetch
from solver.store.shared import shared
from solver.store.work import Work
from solver.sweep import scale
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, next_edges, refuse, widest_of
from solver.sweep.checkpoint import ArrayState, Checkpoint, column_of
from solver.sweep.expansion import COUNT, HIGHEST, LOWEST_TIER, REFUSED, Expansion, expand
from solver.sweep.forward import starts_of
from solver.sweep.scale import Scale, Tally

UNREACHED, FINISHED, MOST_TIERS = 0, 255, 254  # marks: no state, a finished one, the last tier's
TOO_MANY, BEYOND = 100, 101  # more faults
OF_A_TIER = 8  # states of a sample
NUMBERS_PER_CALL = 1 << 19  # numbers gone through in one call


class Unfit(Exception):
    """Arrays cannot take the game; the reason."""


class ArraySweep:
    """`Swept`, over arrays by number: `marks`, `values` and `layers`, after `forward` and `backward`.

    It goes on from the `saved` state. It raises Unfit where the arrays cannot take the game.
    """

    size: int
    values: NDArray[Any]
    scale: Scale
    # What a kind of numbers has of its own: to mark where play starts; to mark the children of a tier's states, and to
    # find its values; and which of all values are those of a tier
    _start: Callable[[], None]
    _reach: Callable[[Span, Workers], None]
    _solve: Callable[[Span, Workers], None]
    _stored: Callable[[Span], Any]

    def __init__(self, compiled: CompiledMoves, work: Work, progress: Progress, saved: ArrayState | None) -> None:
        self.compiled, self.rules = compiled, compiled.rules
        self.work, self.progress = work, progress
        self.state: ArrayState = saved or ArrayState(type(self).__name__)
        self.layers: list[Tier] = self.state.layers
        self.spans: list[Span] = self.state.spans
        self.marks = np.empty(0, np.uint8)
        if self.state.marks:
            self.marks = work.columns[self.state.marks].view().copy()

    @property
    def tally(self) -> Tally:
        return self.state.tally

    def forward(self, team: Workers) -> None:
        """Mark every state that play reaches, from where the last checkpoint left off."""
        if not self.state.reached:
            self._start()
        while self.state.reached < len(self.spans):
            self._reach(self.spans[self.state.reached], team)
            self.state.reached += 1
            self._save()

    def backward(self, team: Workers) -> None:
        """Find the value of every state, from where the last checkpoint left off."""
        while self.state.finished < len(self.spans):
            self._solve(self.spans[-1 - self.state.finished], team)
            self._save()

    def _save(self) -> None:
        """A checkpoint, if one is due: marks that have changed, and the values of tiers that were finished since."""
        if not self.work.due():
            return
        state, work = self.state, self.work
        if len(self.marks) and state.marked < state.reached:
            if state.marks:
                work.discard(work.columns[state.marks])
            state.marks, state.marked = column_of(work, "array", self.marks).name, state.reached
        if state.saved < state.finished:
            column = work.columns.get(state.values) or work.column("values", self.values.dtype, numbered=True)
            state.values = column.name
            for span in self.spans[::-1][state.saved : state.finished]:
                # By pieces: of a dense game `_stored` are indices of eight bytes
                for piece in pieces_of(span):
                    column.append(self.values[self._stored(piece)])
            state.saved = state.finished
        work.checkpoint(Checkpoint(arrays=state))

    def _restore(self) -> None:
        """Take the values of the last checkpoint."""
        if self.state.values:
            stored, begin = self.work.columns[self.state.values].view(), 0
            for piece in itertools.chain.from_iterable(map(pieces_of, self.spans[::-1][: self.state.saved])):
                where = self._stored(piece)
                end = begin + len(self.values[where])
                self.values[where] = stored[begin:end]
                begin = end


def pieces_of(span: Span) -> Iterator[Span]:
    """Cut a tier's numbers, where a byte of four values begins."""
    begin = span.first
    while begin < span.last:
        end = min((begin // NUMBERS_PER_CALL + 1) * NUMBERS_PER_CALL, span.last)
        yield Span(span.tier, begin, end)
        begin = end


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
    listed, cursor, highest = new_edges(BATCH_MOVES), 0, LOWEST_TIER
    while cursor < len(states):
        begin = cursor
        listed, cursor = expand(moves, states, begin, len(states), tier, REFUSED, listed, report)
        if report[ERROR]:
            return
        highest = max(highest, report[HIGHEST])
        # Marks of children lie anywhere: ask for them together, then write.
        for j in range(report[COUNT]):
            prefetch(marks, listed.keys[j])
        for j in range(report[COUNT]):
            key, mark = listed.keys[j], listed.tiers[j] - first_tier + 1
            if key >= len(marks) or mark > MOST_TIERS:
                report[ERROR] = BEYOND if key >= len(marks) else TOO_MANY
                report[edges.CULPRIT] = states[begin + (listed.owners[j] >> 1)]
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
    listed, cursor, max_merit = new_edges(BATCH_MOVES), 0, widest_of(merits)
    unreached = -(np.int64(1) << 8 * merits.itemsize - 1)
    while cursor < len(states):
        listed, count, next_state = next_edges(moves, states, cursor, len(states), listed)
        for j in range(count):
            prefetch(merits, listed.keys[j])
        for j in range(count):
            owner, merit = cursor + (listed.owners[j] >> 1), listed.merits[j]
            if merit == NOT_TERMINAL:
                merit = np.int64(merits[listed.keys[j]])
                if merit == unreached:
                    return LOST_CHILD, states[owner]
                merit = lift(merit, (listed.owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += listed.rewards[j]
            if moves.rewarded and abs(merit) > max_merit:
                return TOO_WIDE, states[owner]
            # Compare first, so that memory is written only when it changes.
            if merit > best_merits[owner]:
                best_merits[owner] = merit
        cursor = next_state
    return FINE, np.int64(0)


class ByState(ArraySweep):
    """The arrays of a dense game."""

    def __init__(self, compiled: CompiledMoves, work: Work, progress: Progress, saved: ArrayState | None) -> None:
        super().__init__(compiled, work, progress, saved)
        assert self.rules.size is not None
        self.size = self.rules.size()
        self.expansion: Expansion = Expansion(compiled)
        # Looks at some states of each tier that is reached
        self.inspect: Callable[[list[int]], None] | None = None
        if not len(self.marks):
            self.marks = np.zeros(self.size, np.uint8)
        self.values = np.empty(0, np.int8)
        # States of each tier
        self._some: list[int] = []
        if self.state.values:
            self._allocate(work.columns[self.state.values].dtype)
            self._restore()

    @property
    def kept(self) -> int:
        """How many unfinished states were found."""
        return sum(layer.kept for layer in self.layers)

    def merit_of(self, key: int) -> int | None:
        merit = int(self.values[key]) if 0 <= key < self.size else None
        return None if merit is None or merit == np.iinfo(self.values.dtype).min else merit

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[scale.Piece]:
        assert best_first is not None, "chance is for the sorted sweep"
        indices, unreached = scale.indices_of(best_first), np.iinfo(self.values.dtype).min

        def listed(piece: Span) -> scale.Piece:
            merits = self.values[piece.first : piece.last]
            states = np.flatnonzero(merits != unreached)
            return states + piece.first, indices(merits[states])

        yield from team.map(listed, pieces_of(Span(0, 0, self.size)))

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        """Some states, of every tier where both passes were one."""
        numbers = chance.integers(0, self.size, 4 * limit).tolist()
        states = [*self._some, *(state for state in numbers if self.merit_of(state) is not None)]
        chance.shuffle(states)
        return states[:limit]

    def _start(self) -> None:
        keys, tiers = map(np.concatenate, zip(*starts_of(self.compiled, NUMBERS_PER_CALL), strict=True))
        # Arrays end at size(): a state beyond it would be lost silently.
        if keys.max() >= self.size:
            name = self.rules.name
            raise GameError(f"{name} starts at {keys.max()}, and size() says that states are below {self.size}")
        first_tier, last_tier = int(tiers.min()), int(tiers.max())
        if last_tier - first_tier >= MOST_TIERS:
            raise Unfit(f"there are more than {MOST_TIERS} tiers")
        self._extend(first_tier, last_tier)
        self.marks[keys] = tiers - first_tier + 1

    def _extend(self, first_tier: int, last_tier: int) -> None:
        """Know all tiers of a range, however few numbers have them."""
        self.spans += [Span(tier, 0, self.size) for tier in range(first_tier, last_tier + 1)]

    def _mark(self, tier: int) -> int:
        """The mark of a tier's states."""
        return tier - self.spans[0].tier + 1

    def _states_of(self, piece: Span) -> NDArray[np.int64]:
        """The states of a tier among some numbers."""
        return np.flatnonzero(self.marks[piece.first : piece.last] == self._mark(piece.tier)) + piece.first

    _stored = _states_of

    def _reach(self, span: Span, team: Workers) -> None:
        state, tier, marks = self.state, span.tier, self.marks
        totals, sampled = np.zeros(edges.LOSSES + 1, np.int64), list[int]()

        def expand_piece(piece: Span) -> tuple[list[int], NDArray[np.int64], NDArray[np.int64]]:
            states, listed = self._states_of(piece), np.zeros(edges.FIELDS, np.int64)
            with naming_states(self.compiled, lambda: states):
                open_states, report = self.expansion.keep(states)
                mark_children(self.compiled.moves, open_states, tier, self.spans[0].tier, marks, listed)
            fault, culprit = listed[ERROR], listed[edges.CULPRIT]
            if fault == edges.SAME_TIER:
                raise Unfit(f"state {culprit} has a move that stays in its tier")
            if fault == TOO_MANY:
                raise Unfit(f"there are more than {MOST_TIERS} tiers")
            if fault == BEYOND:
                raise GameError(f"state {culprit} has a child that is not below size(), {self.size}: fix size")
            self.expansion.refuse(listed)
            if len(open_states) < len(states):
                marks[states] = FINISHED
                marks[open_states] = self._mark(tier)
            return open_states[:1].tolist(), report, listed

        for some, report, listed in team.map(expand_piece, pieces_of(span)):
            sampled += some
            totals += report[: edges.LOSSES + 1]
            state.largest = max(state.largest, int(report[edges.LARGEST]))
            self._extend(self.spans[-1].tier + 1, int(listed[HIGHEST]))
            self.progress("forward", self.kept + int(totals[edges.KEPT_COUNT]), None)
        if totals.any():
            open_count, wins, draws, losses = totals.tolist()
            self.layers.append(Tier(tier, sum(totals.tolist()), open_count, ends=(wins, draws, losses)))
        sampled = sampled[:: max(1, len(sampled) // OF_A_TIER)]
        self._some += sampled
        if self.inspect is not None:
            self.inspect(sampled)

    def _allocate(self, kind: np.dtype[Any]) -> None:
        """Make an array of such values, of which none is known."""
        if kind.itemsize > 2:
            raise Unfit("its values are more than two bytes hold")
        # So that the memory never holds two
        self.values = np.empty(0, kind)
        self.values, self.scale = np.full(self.size, np.iinfo(kind).min, kind), scale.of_bytes(kind.itemsize)

    def _solve(self, span: Span, team: Workers) -> None:
        if not len(self.values):
            # One byte holds most games. Wider merits are tried only when they are needed.
            self._allocate(np.dtype(scale.first_scale(self.rules, False, len(self.layers), self.state.largest).kind))
        if all(layer.number != span.tier for layer in self.layers):
            self.state.finished += 1
            return
        # Others may still be at them when these are widened
        merits = self.values
        info, done = np.iinfo(merits.dtype), self.tally.values.total()
        moves, counts = self.compiled.valued(int(info.max)), Counter[int]()

        def evaluate_piece(piece: Span) -> tuple[dict[int, int], tuple[int, int] | None]:
            states = self._states_of(piece)
            best_merits = np.full(len(states), info.min, merits.dtype)
            with naming_states(self.compiled, lambda: states):
                fault = evaluate(moves, states, merits, best_merits)
            refuse(self.rules, *fault)
            merits[states] = best_merits
            counts = scale.tallied(best_merits)
            return counts, scale.slowest_win(counts, best_merits, states)

        try:
            for some, win in team.map(evaluate_piece, pieces_of(span)):
                counts.update(some)
                self.tally.meet_win(win)
                self.progress("backward", done + counts.total(), self.kept)
        except scale.TooWide:
            # Begin the pass backward anew, with larger values than before
            state, kind = self.state, np.dtype(scale.wider(self.rules, self.scale).kind)
            if state.values:
                self.work.discard(self.work.columns[state.values])
            state.values, state.finished, state.saved, state.tally = "", 0, 0, Tally()
            self._allocate(kind)
        else:
            self.tally.end_tier(counts)
            self.state.finished += 1
