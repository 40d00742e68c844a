"""Backward: the merit of every kept state, from the last tier to the first.

A state's merit is the best of its children's, which lie in later tiers and are looked up there; a tier with cycles is
handed to retrograde analysis. Only the tiers that the current one's moves lead to are unpacked in memory; where even
those exceed the limit they are taken one range of keys after the other.

Cost: 2 to 4 bits a state for its merit, deflated, in a file; in memory, 10 bytes and its merit, of the tiers where
children are looked up.
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.agreement import naming_states
from solver.compiled.edges import OPEN, ROOM, Moves
from solver.store.directory import MISSING, PASSED, TierLookup
from solver.store.packed import Table
from solver.store.runs import spans, splitters
from solver.store.shared import shared
from solver.store.shelves import ValueShelf
from solver.store.window import WHOLE, Window
from solver.sweep import retrograde
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, new_batch, next_batch, refuse, too_wide, value_at, widest_of
from solver.sweep.checkpoint import BackwardState, Checkpoint
from solver.sweep.expansion import CHUNK
from solver.sweep.forward import Forward
from solver.sweep.scale import TooWide, first_scale, wider
from solver.sweep.tally import Merits, Tally, refuse_long, slowest_win, tallied

lift = register_jitable(value.lift)

Span = tuple[int, int]  # of keys

OPENED = 10  # bytes of memory that a state takes that is looked up, without its merit
SEGMENT = 1 << 12  # blocks of the tier under way that are unpacked at a time, where all of it is too much


@shared
def evaluate(moves, known, begin, end, low, high, best):
    """Raise best (end - begin,) to the merits that states[begin:end] have by their children from `low` to `high`.

    All children are finished or in later tiers, whose merits are known. Returns a fault and its state: FINE, TOO_WIDE,
    or LOST_CHILD where nobody reached a child, or there are more than MOST_ACTIONS.
    """
    widest = widest_of(best)
    batch, at = new_batch(ROOM), begin
    while at < end:
        batch, count, done = next_batch(moves, known, at, end, low, high, batch)
        if count < 0:
            return LOST_CHILD, known.states[done]
        base, edges, rows, places = at - begin, batch.edges, batch.rows, batch.places
        owners, merits, rewards = edges.owners, edges.merits, edges.rewards
        for j in range(count):
            owner, merit = base + (owners[j] >> 1), merits[j]
            if merit == OPEN:
                if rows[j] == PASSED:
                    continue
                # Forward reached every child. If one is not there, the rules contradict themselves.
                if places[j] == MISSING:
                    return LOST_CHILD, known.states[begin + owner]
                merit = lift(value_at(known, rows[j], places[j]), (owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += rewards[j]
            # Rewards add up along a line: only they make a merit too large for its dtype.
            if moves.rewarded and abs(merit) > widest:
                return TOO_WIDE, known.states[begin + owner]
            if merit > best[owner]:
                best[owner] = merit
        at = done
    return FINE, np.int64(0)


class Backward:
    """The backward pass over what `forward` reached: `merits` in the work folder, from the last tier to the first.

    `scale` says what they are, `tally` counts them. It goes on from what a checkpoint has `saved`.
    """

    def __init__(self, forward: Forward, *, memory: int, progress: Progress, saved: Checkpoint | None = None):
        work, rules = forward.work, forward.rules
        self.rules = rules
        self.work = work
        self.forward = forward
        self.memory = memory
        self.progress = progress
        self.layers = forward.layers
        self.cyclic = any(layer.cyclic for layer in self.layers)
        scale = first_scale(rules, self.cyclic, len(self.layers), forward.state.largest)
        state = (saved and saved.backward) or BackwardState("merits", scale, Tally(), Counter())
        self._resolver = saved.resolver if saved else None
        self._forward_state = forward.saved()
        self.moves = forward.compiled.valued(scale.win)
        self._begin(state, ValueShelf(work, state.merits, state.scale.kind))

    def _begin(self, state: BackwardState, merits: ValueShelf) -> None:
        _, self.scale, self.tally, self.of_layer = state
        self.merits = merits
        self.window = Window(self.forward.states, merits, self.layers)

    def run(self, team: Workers) -> None:
        """Find all merits that are not yet there."""
        while True:
            try:
                self._run(team)
            except TooWide:  # rewards add up: nobody knows how far before they do
                self._widen()
            else:
                break
        self.window.close()
        self.merits.release()

    def _widen(self) -> None:
        """Begin anew, with a wider scale."""
        if self.cyclic:
            raise too_wide(self.rules)
        scale = wider(self.rules, self.scale)
        self.merits.discard()
        merits = ValueShelf(self.work, "merits", scale.kind, numbered=True)
        self._begin(BackwardState(merits.name, scale, Tally(), Counter()), merits)

    def _run(self, team: Workers) -> None:
        total, window = self.forward.states.size, self.window
        for own in reversed(range(len(self.layers) - len(self.tally.tiers))):
            layer = self.layers[own]
            done = self.merits.size - (total - layer.end)
            begin = layer.begin + done
            window.value(layer, 0, done, team)  # what an earlier run has of it
            if layer.cyclic and layer.kept:
                parts = self._resolved(own, team)
            else:
                parts = self._evaluated(own, begin, team)
            for found in parts:
                window.put(self.merits.size, found)
                self.merits.append(found, team)
                self._count(found, window.known.states[begin : begin + len(found)])
                begin += len(found)
                self.progress("backward", self.merits.size, total)
                if begin < layer.end and not layer.cyclic and self.work.due():
                    self.save()
            self._end_layer()
            self._close(own)
            if self.work.due():
                self.save()

    def save(self) -> None:
        """A checkpoint."""
        self.work.checkpoint(self.saved())

    def saved(self) -> Checkpoint:
        """What a checkpoint keeps."""
        return Checkpoint(self._forward_state, BackwardState(self.merits.name, self.scale, self.tally, self.of_layer))

    def _resolved(self, own: int, team: Workers) -> Iterator[Merits]:
        """The merits of a layer with cycles, in parts."""
        saved, self._resolver = self._resolver, None
        self.work.state = self.saved()  # to which the resolver adds where it stands
        resolver = retrograde.Resolver(self._solve(), own, self._opened(own, team))
        if resolver.count(team, saved):
            self.window.hide(own)
        for found in resolver.resolve(team):
            self.window.show(own, team, values=False)  # unless it is still there
            yield found

    def _opened(self, own: int, team: Workers) -> TierLookup:
        """All tiers that moves from one may lead to, and itself."""
        self.window.show(own, team, values=False)
        for row in self._later(own):
            self.window.show(row, team)
        return self.window.known

    def _solve(self) -> retrograde.Solve:
        compiled = self.forward.compiled
        return retrograde.Solve(self.rules, self.moves, compiled, self.work, self.memory, self.progress, self.scale)

    @staticmethod
    def value(
        moves: Moves, known: TierLookup, first: int, last: int, span: Span, point: int, best: Merits
    ) -> tuple[int, int]:
        """Raise merits by children in a range of keys: see `evaluate`."""
        fault: tuple[int, int] = evaluate(moves, known, first, last, *span, best)
        return fault

    def _evaluated(self, own: int, begin: int, team: Workers) -> Iterator[Merits]:
        """The merits of a layer's states from `begin` on, in parts."""
        layer, window, dtype = self.layers[own], self.window, self.merits.dtype
        none, ranges = np.iinfo(dtype).min, self._ranges(own)

        def raised(first: int, last: int, span: Span, best: Merits) -> Merits:
            with naming_states(self.forward.compiled, lambda: window.known.states[first:last]):
                fault = self.value(self.moves, window.known, first, last, span, self.scale.point, best)
                refuse(self.rules, *fault)
            return best

        def whole(first: int, end: int) -> Merits:
            last = min(first + CHUNK, end)
            return raised(first, last, WHOLE, np.full(last - first, none, dtype))

        if len(ranges) == 1:
            for row in self._later(own):
                window.show(row, team)
            for first, last in self._segments(own, begin, team):
                yield from team.map(functools.partial(whole, end=last), range(first, last, CHUNK))
            return
        best = np.full(layer.end - begin, none, dtype)

        def part(first: int, end: int, span: Span) -> Merits:
            last = min(first + CHUNK, end)
            return raised(first, last, span, best[first - begin : last - begin])

        for span in ranges:
            for row in self._later(own):
                window.show(row, team, span)
            for first, end in self._segments(own, begin, team):
                for found in team.map(functools.partial(part, end=end, span=span), range(first, end, CHUNK)):
                    if span == ranges[-1]:
                        yield found
                    else:
                        self.progress("backward", self.merits.size, self.forward.states.size)

    def _segments(self, own: int, begin: int, team: Workers) -> Iterator[tuple[int, int]]:
        """The states of a layer from `begin` on, unpacked: all of them, or some at a time where they are too many."""
        layer, window = self.layers[own], self.window
        if self._bytes([own, *self._later(own)]) <= self.memory:
            window.show(own, team, values=False)
            yield begin, layer.end
            return
        begins, ends = window.blocks(own)

        def lay(block: int) -> tuple[int, int]:
            return window.lay(own, block, min(block + SEGMENT, ends))

        for first, last in team.ahead(lay, range(begins, ends, SEGMENT)):
            if last > begin:
                yield max(begin, first), last
            window.lift(own, first, last)
        window.hide(own)

    def _ranges(self, own: int) -> list[Span]:
        """Ranges of keys, so that the later states in each, with their merits, fit into memory together."""
        later = list(self._later(own))
        needed = self._bytes(later)
        if needed <= self.memory:
            return [WHOLE]
        for row in later:
            self.window.hide(row)
        runs = Table([self.forward.section(self.layers[row]) for row in later])
        return spans(splitters(runs, max(1, len(runs) // -(-needed // self.memory))))

    def _bytes(self, rows: Iterable[int]) -> int:
        """What some layers take in memory, to be looked up."""
        states: int = sum(self.layers[row].kept for row in rows)
        return int(states * (OPENED + self.merits.dtype.itemsize))

    def _later(self, own: int) -> range:
        """The rows of later layers that moves from one, or from earlier ones, may lead to."""
        highest = self.layers[own].highest
        return range(own + 1, bisect.bisect_right(self.layers, highest, own + 1, key=lambda one: one.number))

    def _count(self, merits: Merits, states: NDArray[np.int64]) -> None:
        """Enter merits into the tally, and the longest win."""
        found = tallied(merits)
        refuse_long(self.rules, found, self.scale.win)
        self.of_layer.update(found)
        self.tally.meet_win(slowest_win(found, merits, states))

    def _end_layer(self) -> None:
        self.tally.end_tier(self.of_layer)
        self.of_layer = Counter()

    def _close(self, own: int) -> None:
        """Let go of a layer that is done, and of those that no move of an earlier one leads to."""
        kept = set(range(own, self._later(own - 1).stop)) if own else set()
        if self._bytes(kept) > self.memory:
            kept.discard(own)  # it is unpacked again, where and when there is room
        for row in set(self.window.open) - kept:
            self.window.hide(row)
        self.forward.states.release()
