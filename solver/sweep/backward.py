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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.agreement import naming_states
from solver.compiled.edges import OPEN, ROOM
from solver.rules.game import Rules
from solver.store.directory import MISSING, PASSED, Known
from solver.store.packed import LAST, Table
from solver.store.runs import spans, splitters
from solver.store.shared import shared
from solver.store.shelves import ValueShelf
from solver.store.window import Window
from solver.sweep import retrograde
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, new_batch, next_batch, refuse, too_wide, value_at, widest_of
from solver.sweep.forward import Forward
from solver.sweep.scale import TooWide, first_scale, of_bytes, wider

lift = register_jitable(value.lift)

CHUNK = 1 << 15  # states evaluated in one call
OPENED = 10  # bytes of memory that a state takes that is looked up, without its merit
SEGMENT = 1 << 12  # blocks of the tier under way that are unpacked at a time, where all of it is too much
FEW = 64  # merits that are soonest counted one by one
Merits = NDArray[Any]


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

    `scale` says what they are, `tally` is the numbers of kept states by merit, `counts` those of each layer by outcome
    (wins, draws, losses), the last layer first; `longest` the smallest merit of a win and its first state.
    """

    error = 0  # half units that expectations may be off

    def __init__(self, forward: Forward, *, memory: int, progress: Progress):
        work, rules = forward.work, forward.rules
        self.rules = rules
        self.work = work
        self.forward = forward
        self.memory = memory
        self.progress = progress
        self.layers = forward.layers
        cyclic = any(layer.cyclic for layer in self.layers)
        self.scale = first_scale(rules, cyclic, len(self.layers), forward.largest)
        self.moves = forward.compiled.valued(self.scale.win)
        self.merits = ValueShelf(work, "merits", self.scale.kind)
        self.tally: Counter[int] = Counter()
        self.counts: list[list[int]] = []
        self.longest: tuple[int, int] | None = None
        self._layer_tally: Counter[int] = Counter()
        self._resolving: Any = None
        self._saved_forward = forward.saved()
        self._window: Window

    def run(self, team: Workers) -> None:
        """Find all merits that are not yet there."""
        while True:
            try:
                self._run(team)
            except TooWide:  # rewards add up: nobody knows how far before they do
                self.widen()
            else:
                break

    def widen(self) -> None:
        """Begin anew, with a wider scale."""
        if any(layer.cyclic for layer in self.layers):
            raise too_wide(self.rules)
        self.scale = wider(self.rules, self.scale)
        self.merits.discard()
        self.merits = ValueShelf(self.work, "merits", self.scale.kind, numbered=True)
        self.tally, self.counts, self.longest, self._layer_tally = Counter(), [], None, Counter()

    def _run(self, team: Workers) -> None:
        total = self.forward.states.size
        self._window = window = Window(self.forward.states, self.merits, self.layers)
        for own in reversed(range(len(self.layers) - len(self.counts))):
            layer = self.layers[own]
            done = self.merits.size - (total - layer.end)
            begin = layer.begin + done
            window.value(layer, 0, done, team)  # what an earlier run has of it
            if layer.cyclic and layer.begin < layer.end:
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
                    self.save(None)
            self._end_layer()
            self._close(own)
            if self.work.due():
                self.save(None)
        del self._window
        self.merits.release()

    def save(self, resolving: Any) -> None:
        """A checkpoint."""
        self.work.checkpoint({"pass": "backward", "forward": self._saved_forward, "backward": self.saved(resolving)})

    def saved(self, resolving: Any = None) -> dict[str, Any]:
        return {
            "merits": self.merits.name,
            "kind": self.scale.kind,
            "tally": sorted(self.tally.items()),
            "counts": self.counts,
            "longest": self.longest,
            "layer_tally": sorted(self._layer_tally.items()),
            "resolving": resolving,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.merits = ValueShelf(self.work, saved["merits"], saved["kind"])
        self.scale = of_bytes(self.merits.dtype.itemsize)
        self.tally = Counter(dict(saved["tally"]))
        self.counts = saved["counts"]
        self.longest = tuple(saved["longest"]) if saved["longest"] else None
        self._layer_tally = Counter(dict(saved["layer_tally"]))
        self._resolving = saved["resolving"]

    def _resolved(self, own: int, team: Workers) -> Iterator[Merits]:
        """The merits of a layer with cycles, in parts."""
        resolving, self._resolving = self._resolving, None
        known, window = self._opened(own, team), self._window
        solve = self._solve()._replace(let_go=lambda: window.hide(own))
        for found in retrograde.Resolver(solve, own, known, self.save).run(team, resolving):
            window.show(own, team, values=False)  # unless it is still there
            yield found

    def _opened(self, own: int, team: Workers) -> Known:
        """All tiers that moves from one may lead to, and itself."""
        self._window.show(own, team, values=False)
        for row in self._later(own):
            self._window.show(row, team)
        return self._window.known

    def _solve(self) -> retrograde.Solve:
        compiled = self.forward.compiled
        return retrograde.Solve(self.rules, self.moves, compiled, self.work, self.memory, self.progress, self.scale)

    def _raise(self, known: Known, first: int, last: int, low: int, high: int, best: Merits) -> tuple[int, int]:
        """Raise merits by children in a range of keys: see `evaluate`."""
        fault: tuple[int, int] = evaluate(self.moves, known, first, last, low, high, best)
        return fault

    def _evaluated(self, own: int, begin: int, team: Workers) -> Iterator[Merits]:
        """The merits of a layer's states from `begin` on, in parts."""
        layer, window, dtype = self.layers[own], self._window, self.merits.dtype
        none, ranges = np.iinfo(dtype).min, self._ranges(own)

        def raised(first: int, last: int, low: int, high: int, best: Merits) -> Merits:
            with naming_states(self.forward.compiled, lambda: window.known.states[first:last]):
                refuse(self.rules, *self._raise(window.known, first, last, low, high, best))
            return best

        def whole(first: int, end: int) -> Merits:
            last = min(first + CHUNK, end)
            return raised(first, last, 0, LAST, np.full(last - first, none, dtype))

        if len(ranges) == 1:
            for row in self._later(own):
                window.show(row, team)
            for first, last in self._segments(own, begin, team):
                yield from team.map(functools.partial(whole, end=last), range(first, last, CHUNK))
            return
        best = np.full(layer.end - begin, none, dtype)

        def part(first: int, end: int, span: tuple[int, int]) -> Merits:
            last = min(first + CHUNK, end)
            return raised(first, last, *span, best[first - begin : last - begin])

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
        layer, window = self.layers[own], self._window
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

    def _ranges(self, own: int) -> list[tuple[int, int]]:
        """Ranges of keys, so that the later states in each, with their merits, fit into memory together."""
        later = list(self._later(own))
        needed = self._bytes(later)
        if needed <= self.memory:
            return [(0, LAST)]
        for row in later:
            self._window.hide(row)
        runs = Table([self.forward.section(self.layers[row]) for row in later])
        return spans(splitters(runs, max(1, len(runs) // -(-needed // self.memory))))

    def _bytes(self, rows: Iterable[int]) -> int:
        """What some layers take in memory, to be looked up."""
        states: int = sum(self.layers[row].end - self.layers[row].begin for row in rows)
        return int(states * (OPENED + self.merits.dtype.itemsize))

    def _later(self, own: int) -> range:
        """The rows of later layers that moves from one, or from earlier ones, may lead to."""
        highest = self.layers[own].highest
        return range(own + 1, bisect.bisect_right(self.layers, highest, own + 1, key=lambda one: one.tier))

    def _count(self, merits: Merits, states: NDArray[np.int64]) -> None:
        """Enter merits into the tally, and the longest win."""
        found = tallied(merits)
        refuse_long(self.rules, found, self.scale.win)
        self._layer_tally.update(found)
        slowest = slowest_win(found, merits, states)
        if slowest is not None:
            self.longest = min(slowest, self.longest or slowest)

    def _end_layer(self) -> None:
        self.counts.append(by_outcome(self._layer_tally))
        self.tally.update(self._layer_tally)
        self._layer_tally = Counter()

    def _close(self, own: int) -> None:
        """Let go of a layer that is done, and of those that no move of an earlier one leads to."""
        kept = set(range(own, self._later(own - 1).stop)) if own else set()
        if self._bytes(kept) > self.memory:
            kept.discard(own)  # it is unpacked again, where and when there is room
        for row in set(self._window.open) - kept:
            self._window.hide(row)
        self.forward.states.release()


def tallied(merits: Merits) -> dict[int, int]:
    """How many there are of each merit."""
    if len(merits) <= FEW:
        return Counter(merits.tolist())
    bits = 8 * merits.dtype.itemsize
    if bits <= 16 and len(merits) >= 1 << bits - 4:
        numbers = np.bincount(merits.view(f"u{bits // 8}"), minlength=1 << bits)
        found = np.flatnonzero(numbers)
        distinct, counts = found.astype(f"u{bits // 8}").view(merits.dtype), numbers[found]
        return dict(zip(distinct.tolist(), counts.tolist(), strict=True))
    distinct, counts = np.unique(merits, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def refuse_long(rules: Rules, found: Mapping[int, int], win: int) -> None:
    """Raise GameError if some win is so far that one ply more would be a draw."""
    if not rules.scores and (1 in found or -1 in found):
        raise GameError(f"{rules.name} has wins of more than {win - 2:,} plies")


def slowest_win(found: Mapping[int, int], merits: Merits, states: NDArray[np.int64]) -> tuple[int, int] | None:
    """The smallest merit of a win and the first state that has it."""
    merit = min((merit for merit in found if merit > 0), default=None)
    return None if merit is None else (merit, int(states[np.argmax(merits == merit)]))


def by_outcome(tally: Mapping[int, int]) -> list[int]:
    """The numbers of merits that are wins, draws and losses."""
    return [
        sum(number for merit, number in tally.items() if merit > 0),
        tally.get(0, 0),
        sum(number for merit, number in tally.items() if merit < 0),
    ]
