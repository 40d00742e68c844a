"""Backward: the merit of every kept state, from the last tier to the first.

The merit of a state is the best merit of its children. The children lie in later tiers, and a batch of look-ups finds
them there. Retrograde analysis takes the tiers with cycles. Only the tiers that the current tier's moves lead to are
unpacked in memory. If even those exceed the limit, they are taken one range of keys after the other.

An impartial game has nimbers in place of merits, as `base.kinds` has them: the least that no child has. Where they
exceed a byte the pass begins anew with wider ones.

Cost: 2 to 4 bits a state for its merit, deflated, in a file; in memory 10 bytes and the merit for each state that may
be looked up.
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.agreement import naming_states
from solver.compiled.edges import BATCH_MOVES, NOT_TERMINAL, Moves, lift
from solver.store.directory import MISSING, PASSED, TierLookup
from solver.store.packed import LAST, Table
from solver.store.runs import spans, splitters
from solver.store.shared import shared
from solver.store.shelves import ALL_KEYS, ValueShelf, Window
from solver.sweep import batch as batches
from solver.sweep import retrograde
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, least_unmet, new_batch, next_batch, value_at, widest_of
from solver.sweep.checkpoint import BackwardState, Checkpoint
from solver.sweep.expansion import STATES_PER_CALL
from solver.sweep.forward import Forward
from solver.sweep.scale import Merits, Tally, TooWide, first_scale, refuse_long, slowest_win, tallied, wider

Span = tuple[int, int]  # of keys

BYTES_PER_STATE = 10  # bytes of memory that a state takes that is looked up, without its merit
BLOCKS_PER_SEGMENT = 1 << 12  # blocks of the tier under way that are unpacked at a time, where all of it is too much


@shared
def evaluate(
    moves: Moves, lookup: TierLookup, begin: int, end: int, least_key: int, greatest_key: int, best_merits: NDArray[Any]
) -> tuple[Any, Any]:
    """Raise the merits of states[begin:end] by their children in a range of keys.

    All children are finished, or in later tiers whose merits are known.

    Args:
        moves: The compiled moves.
        lookup: The tier and the tiers of its children.
        begin: The index of the first state among those of all tiers.
        end: The index after the last.
        least_key: The least child to look up.
        greatest_key: The greatest child to look up.
        best_merits: Raised: the merits of the states so far, for the side to move, (end - begin,).

    Returns:
        A fault and the state that has it: FINE; TOO_WIDE; or LOST_CHILD if a child was never reached, or a
        state has more than MOST_ACTIONS moves.
    """
    # The dtype of the merits limits them, too: a wider one may hold what this one cannot.
    max_merit = widest_of(best_merits)
    # The look-ups of a batch run together, so that their cache misses overlap.
    batch, cursor = new_batch(BATCH_MOVES), begin
    while cursor < end:
        batch, count, next_state = next_batch(moves, lookup, cursor, end, least_key, greatest_key, batch)
        if count < 0:
            return LOST_CHILD, lookup.states[next_state]
        first_owner, edges, rows, state_indices = cursor - begin, batch.edges, batch.rows, batch.places
        owners, merits, rewards = edges.owners, edges.merits, edges.rewards
        for j in range(count):
            owner, merit = first_owner + (owners[j] >> 1), merits[j]
            if merit == NOT_TERMINAL:
                # Another call takes this child: its key is outside the range.
                if rows[j] == PASSED:
                    continue
                # Forward reached every child. If one is not there, the rules contradict themselves.
                if state_indices[j] == MISSING:
                    return LOST_CHILD, lookup.states[begin + owner]
                # A stored merit is the child's view, one ply later: lift it to the parent's.
                merit = lift(value_at(lookup, rows[j], state_indices[j]), (owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += rewards[j]
            # Rewards add up along a line: only they make a merit too large for its dtype.
            if moves.rewarded and abs(merit) > max_merit:
                return TOO_WIDE, lookup.states[begin + owner]
            # Compare first, so that memory is written only when it changes.
            if merit > best_merits[owner]:
                best_merits[owner] = merit
        cursor = next_state
    return FINE, np.int64(0)


@shared
def exclude(moves: Moves, known: TierLookup, begin: int, end: int, excluded: NDArray[Any]) -> tuple[Any, Any]:
    """Let found (end - begin,) be the nimbers of states[begin:end], LOST in place of 0: the least that no child has.

    All children are finished, and lost, or in later tiers, whose nimbers are known. Returns as `backward.evaluate`.
    """
    widest = LAST >> 64 - 8 * excluded.itemsize
    batch, cursor = new_batch(BATCH_MOVES), begin
    # The last state with such a child, by nimber
    marks = np.empty(0, np.int64)
    while cursor < end:
        batch, count, next_state = next_batch(moves, known, cursor, end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, known.states[next_state]
        owners, merits, rows, places = batch.edges.owners, batch.edges.merits, batch.rows, batch.places
        if len(marks) <= count:
            marks = np.full(2 * count + 1, -1, np.int64)
        for j in range(count):
            if merits[j] == NOT_TERMINAL:
                if places[j] == MISSING:
                    return LOST_CHILD, known.states[cursor + (owners[j] >> 1)]
                merits[j] = -value_at(known, rows[j], places[j])
        j = 0
        for state in range(cursor, next_state):
            first = j
            while j < count and cursor + (owners[j] >> 1) == state:
                j += 1
            least = least_unmet(merits, first, j, marks, state)
            if least > widest:
                return TOO_WIDE, known.states[state]
            excluded[state - begin] = least
        cursor = next_state
    return FINE, np.int64(0)


class Backward:
    """The backward pass over the states of `forward`.

    `merits` lies in the work folder, from the last tier to the first. `scale` says how to read it, `tally` counts it.

    Args:
        forward: The complete forward pass.
        memory: The bytes that may be unpacked at a time.
        progress: Called as merits are found.
        saved: The checkpoint to go on from.
    """

    tally: Tally
    of_layer: Counter[int]
    window: Window

    def __init__(self, forward: Forward, *, memory: int, progress: Progress, saved: Checkpoint | None = None):
        work, rules = forward.work, forward.rules
        self.rules = rules
        self.work = work
        self.forward = forward
        self.memory = memory
        self.progress = progress
        self.layers = forward.layers
        self.cyclic: bool = any(layer.cyclic for layer in self.layers)
        scale = first_scale(rules, self.cyclic, len(self.layers), forward.state.largest)
        state = (saved and saved.backward) or BackwardState("merits", scale, Tally(), Counter())
        self._resolver = saved.resolver if saved else None
        self._forward_state = forward.saved()
        self.moves: Moves = forward.compiled.valued(scale.win)
        self._begin(state, ValueShelf(work, state.merits, state.scale.kind))

    def _begin(self, state: BackwardState, merits: ValueShelf) -> None:
        _, self.scale, self.tally, self.of_layer = state
        self.merits = merits
        self.window = Window(self.forward.states, merits, self.layers)

    def run(self, team: Workers) -> None:
        """Find all merits that are not there yet."""
        while True:
            try:
                self._run(team)
            except TooWide:
                # Margins of tiers with cycles have 16 bits (`scale.WIN`): no wider scale helps.
                if self.cyclic:
                    raise batches.too_wide(self.rules) from None
                # Rewards add up, and nobody knows how far before they do: begin anew with a wider scale
                scale = wider(self.rules, self.scale)
                self.merits.discard()
                merits = ValueShelf(self.work, "merits", scale.kind, numbered=True)
                self._begin(BackwardState(merits.name, scale, Tally(), Counter()), merits)
            else:
                break
        self.window.close()
        self.merits.release()

    def _run(self, team: Workers) -> None:
        total, window = self.forward.states.size, self.window
        # The tally has an entry for each finished tier, so a resumed run goes on behind them.
        for tier_row in reversed(range(len(self.layers) - len(self.tally.tiers))):
            layer = self.layers[tier_row]
            done_count = self.merits.size - (total - layer.end)
            begin = layer.begin + done_count
            # What an earlier run has of it
            window.value(layer, 0, done_count, team)
            if layer.cyclic and layer.kept:
                chunks = self._resolved(tier_row, team)
            else:
                chunks = self._evaluated(tier_row, begin, team)
            for merits in chunks:
                window.merits.put(self.merits.size, merits)
                self.merits.append(merits, team)
                self._count(merits, window.known.states[begin : begin + len(merits)])
                begin += len(merits)
                self.progress("backward", self.merits.size, total)
                if begin < layer.end and not layer.cyclic and self.work.due():
                    self.save()
            self._end_layer()
            # Earlier tiers have lower rows: they need the tier itself and some of its children's tiers
            rows_to_keep = set(range(tier_row, self._child_rows(tier_row - 1).stop)) if tier_row else set()
            if self._bytes(rows_to_keep) > self.memory:
                # It is unpacked again, where and when there is room
                rows_to_keep.discard(tier_row)
            for row in set(window.open) - rows_to_keep:
                window.hide(row)
            self.forward.states.release()
            if self.work.due():
                self.save()

    def save(self) -> None:
        """Write a checkpoint."""
        self.work.checkpoint(self.saved())

    def saved(self) -> Checkpoint:
        """Return the record for a checkpoint."""
        return Checkpoint(self._forward_state, BackwardState(self.merits.name, self.scale, self.tally, self.of_layer))

    def _resolved(self, tier_row: int, team: Workers) -> Iterator[Merits]:
        """Yield the merits of a tier with cycles, in chunks."""
        saved, self._resolver = self._resolver, None
        # The resolver adds its own progress to it
        self.work.state = self.saved()
        resolver = retrograde.Resolver(*self._cycle(tier_row, team))
        if resolver.count(team, saved):
            self.window.hide(tier_row)
        for merits in resolver.resolve(team):
            # Unless it is still there
            self.window.show(tier_row, team, values=False)
            yield merits

    def _cycle(self, tier_row: int, team: Workers) -> tuple[retrograde.Solve, int, TierLookup]:
        """What solves a tier with cycles: the solve, its row, and it and all that its moves may lead to, unpacked."""
        self.window.show(tier_row, team, values=False)
        for row in self._child_rows(tier_row):
            self.window.show(row, team)
        compiled = self.forward.compiled
        solve = retrograde.Solve(self.rules, self.moves, compiled, self.work, self.memory, self.progress, self.scale)
        return solve, tier_row, self.window.known

    @staticmethod
    def value(moves: Moves, lookup: TierLookup, begin: int, end: int, span: Span, point: int, merits: Merits) -> Any:
        """Raise merits by the children in a range of keys, and return the fault, as `evaluate` does."""
        return evaluate(moves, lookup, begin, end, *span, merits)

    def _evaluated(self, tier_row: int, begin: int, team: Workers) -> Iterator[Merits]:
        """Yield the merits of a tier's states from `begin` on, in chunks."""
        layer, window, dtype = self.layers[tier_row], self.window, self.merits.dtype
        no_merit, ranges = np.iinfo(dtype).min, self._key_ranges(tier_row)

        # Where children come range by range, merits wait until the last range has raised them
        waiting = np.full(layer.end - begin, no_merit, dtype) if len(ranges) > 1 else None

        def raise_merits(chunk_begin: int, states_end: int, span: Span) -> Merits:
            chunk_end = min(chunk_begin + STATES_PER_CALL, states_end)
            if waiting is None:
                best_merits: Merits = np.full(chunk_end - chunk_begin, no_merit, dtype)
            else:
                best_merits = waiting[chunk_begin - begin : chunk_end - begin]
            with naming_states(self.forward.compiled, lambda: window.known.states[chunk_begin:chunk_end]):
                fault = self.value(
                    self.moves, window.known, chunk_begin, chunk_end, span, self.scale.point, best_merits
                )
                batches.refuse(self.rules, *fault)
            return best_merits

        for span in ranges:
            for row in self._child_rows(tier_row):
                window.show(row, team, span)
            for chunk_begin, states_end in self._segments(tier_row, begin, team):
                for merits in team.map(
                    functools.partial(raise_merits, states_end=states_end, span=span),
                    range(chunk_begin, states_end, STATES_PER_CALL),
                ):
                    if span == ranges[-1]:
                        yield merits
                    else:
                        self.progress("backward", self.merits.size, self.forward.states.size)

    def _segments(self, tier_row: int, begin: int, team: Workers) -> Iterator[tuple[int, int]]:
        """Yield ranges of a tier's states from `begin` on, unpacked while they are used.

        This is the whole tier if it fits the memory beside the tiers of its children.
        """
        layer, window = self.layers[tier_row], self.window
        if self._bytes([tier_row, *self._child_rows(tier_row)]) <= self.memory:
            window.show(tier_row, team, values=False)
            yield begin, layer.end
            return
        first_block, end_block = window.blocks(tier_row)

        # Unpack the tier in segments, each ahead of its turn, while the last one is evaluated.
        def lay(block: int) -> tuple[int, int]:
            return window.lay(tier_row, block, min(block + BLOCKS_PER_SEGMENT, end_block))

        for segment_begin, segment_end in team.map_ahead(lay, range(first_block, end_block, BLOCKS_PER_SEGMENT)):
            if segment_end > begin:
                yield max(begin, segment_begin), segment_end
            window.lift(tier_row, segment_begin, segment_end)
        window.hide(tier_row)

    def _key_ranges(self, tier_row: int) -> list[Span]:
        """Cut the keys into ranges whose later states fit the memory together."""
        child_rows = list(self._child_rows(tier_row))
        needed_bytes = self._bytes(child_rows)
        if needed_bytes <= self.memory:
            return [ALL_KEYS]
        for row in child_rows:
            self.window.hide(row)
        runs = Table([self.forward.section(self.layers[row]) for row in child_rows])
        return spans(splitters(runs, max(1, len(runs) // -(-needed_bytes // self.memory))))

    def _bytes(self, rows: Iterable[int]) -> int:
        """Return the memory that some tiers take to be looked up."""
        states: int = sum(self.layers[row].kept for row in rows)
        return int(states * (BYTES_PER_STATE + self.merits.dtype.itemsize))

    def _child_rows(self, tier_row: int) -> range:
        """Return the rows of the later tiers that moves from this tier, or from earlier ones, may lead to."""
        highest_tier = self.layers[tier_row].highest
        return range(
            tier_row + 1, bisect.bisect_right(self.layers, highest_tier, tier_row + 1, key=lambda layer: layer.number)
        )

    def _count(self, merits: Merits, states: NDArray[np.int64]) -> None:
        """Enter merits into the tally, and the longest win."""
        counts = tallied(merits)
        refuse_long(self.rules, counts, self.scale.win)
        self.of_layer.update(counts)
        self.tally.meet_win(slowest_win(counts, merits, states))

    def _end_layer(self) -> None:
        self.tally.end_tier(self.of_layer)
        self.of_layer = Counter()


class NimberPass(Backward):
    """`Backward` for an impartial game: `merits` are nimbers, LOST in place of 0."""

    @staticmethod
    def value(moves: Moves, lookup: TierLookup, begin: int, end: int, span: Span, point: int, merits: Merits) -> Any:
        return exclude(moves, lookup, begin, end, merits)

    def _key_ranges(self, tier_row: int) -> list[Span]:
        """All keys at once: a nimber is known when all children are."""
        return [ALL_KEYS]
