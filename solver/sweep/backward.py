"""Backward: the merit of every kept state, from the last tier to the first.

A state's merit is the best of its children's, which lie in later tiers and are looked up there; a tier with cycles is
handed to retrograde analysis. Merits are appended to a file, so only the tiers that the current one's moves lead to
need be in memory; where even those exceed the limit they are taken one range of keys after the other.

Cost: 1 to 4 bytes a state for its merit, in a file.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import OPEN, ROOM
from solver.rules.game import Rules
from solver.store.directory import MISSING, Known, Layer, table_of
from solver.store.runs import splitters
from solver.store.shared import shared
from solver.sweep import retrograde
from solver.sweep.batch import LAST, TOO_WIDE, new_batch, next_batch, refuse, value_at
from solver.sweep.forward import Forward
from solver.sweep.scale import TooWide, first_scale, of_bytes, wider

lift = register_jitable(value.lift)

CHUNK = 1 << 15  # states evaluated in one call
FEW = 64  # merits that are soonest counted one by one
Merits = NDArray[Any]


@shared
def evaluate(moves, known, begin, end, low, high, best):
    """Raise best (end - begin,) to the merits that states[begin:end] have by their children from `low` to `high`.

    All children are finished or in later tiers, whose merits are known. Returns the first state that has a child
    nobody reached, or more than MOST_ACTIONS; TOO_WIDE; or -1.
    """
    widest = LAST >> 64 - 8 * best.itemsize
    batch, at = new_batch(ROOM), begin
    while at < end:
        batch, count, others, done = next_batch(moves, known, at, end, low, high, batch)
        if count < 0:
            return known.states[done]
        base = at - begin
        for j in range(others):
            owner, merit = base + (batch.rest.owners[j] >> 1), batch.rest.merits[j]
            if merit != OPEN:
                if moves.rewarded and abs(merit) > widest:
                    return np.int64(TOO_WIDE)
                best[owner] = max(best[owner], merit)
        owners, rewards, rows, places = batch.edges.owners, batch.edges.rewards, batch.rows, batch.places
        for j in range(count):
            owner = base + (owners[j] >> 1)
            if places[j] == MISSING:
                return known.states[begin + owner]
            merit = lift(value_at(known, rows[j], places[j]), (owners[j] & 1) == 1, moves.scores)
            if moves.rewarded:
                merit += rewards[j]
                if abs(merit) > widest:
                    return np.int64(TOO_WIDE)
            if merit > best[owner]:
                best[owner] = merit
        at = done
    return np.int64(-1)


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
        self.moves = forward.compiled.moves._replace(win=self.scale.win)
        self.merits = work.column("merits", self.scale.kind)
        self.tally: Counter[int] = Counter()
        self.counts: list[list[int]] = []
        self.longest: tuple[int, int] | None = None
        self._layer_tally: Counter[int] = Counter()
        self._resolving: Any = None
        self._saved_forward = forward.saved()

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
            raise retrograde.too_wide(self.rules)
        self.scale = wider(self.rules, self.scale)
        self.work.discard(self.merits)
        self.merits = self.work.column("merits", self.scale.kind, numbered=True)
        self.tally, self.counts, self.longest, self._layer_tally = Counter(), [], None, Counter()

    def _run(self, team: Workers) -> None:
        total = self.forward.states.size
        states, cells = self.forward.states.view(), self.forward.cells.view()
        merits = self.merits.reserve(total)
        table, slots = table_of(self.layers)
        known = Known(states, merits, table, slots, self.layers[0].tier, cells).read_only()
        for own in reversed(range(len(self.layers) - len(self.counts))):
            layer = self.layers[own]
            done = self.merits.size - (total - layer.end)
            if layer.cyclic and layer.begin < layer.end:
                parts = self._resolved(own, known, team)
            else:
                parts = self._evaluated(layer, layer.begin + done, known, team)
            begin = passed = layer.begin + done
            for found in parts:
                self.merits.append(found)
                self._count(found, states[begin : begin + len(found)])
                begin += len(found)
                if 8 * (begin - passed) > self.work.mapped:
                    self.forward.states.release(passed, begin)
                    passed = begin
                self.progress("backward", self.merits.size, total)
                if begin < layer.end and not layer.cyclic and self.work.due():
                    self.save(None)
            self._end_layer()
            self._release(layer, total)
            if self.work.due():
                self.save(None)
        self.merits.release()

    def save(self, resolving: Any) -> None:
        """A checkpoint."""
        self.work.checkpoint({"pass": "backward", "forward": self._saved_forward, "backward": self.saved(resolving)})

    def saved(self, resolving: Any = None) -> dict[str, Any]:
        return {
            "merits": self.merits.name,
            "tally": sorted(self.tally.items()),
            "counts": self.counts,
            "longest": self.longest,
            "layer_tally": sorted(self._layer_tally.items()),
            "resolving": resolving,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.merits = self.work.columns[saved["merits"]]
        self.scale = of_bytes(self.merits.dtype.itemsize)
        self.tally = Counter(dict(saved["tally"]))
        self.counts = saved["counts"]
        self.longest = tuple(saved["longest"]) if saved["longest"] else None
        self._layer_tally = Counter(dict(saved["layer_tally"]))
        self._resolving = saved["resolving"]

    def _resolved(self, own: int, known: Known, team: Workers) -> Iterator[Merits]:
        """The merits of a layer with cycles, in parts."""
        resolving, self._resolving = self._resolving, None
        return retrograde.Resolver(self._solve(), own, known, self.save).run(team, resolving)

    def _solve(self) -> retrograde.Solve:
        endless = self.forward.compiled.endless
        return retrograde.Solve(self.rules, self.moves, endless, self.work, self.memory, self.progress, self.scale)

    def _raise(self, known: Known, first: int, last: int, low: int, high: int, best: Merits) -> int:
        """Raise merits by children in a range of keys: see `evaluate`."""
        culprit: int = evaluate(self.moves, known, first, last, low, high, best)
        return culprit

    def _evaluated(self, layer: Layer, begin: int, known: Known, team: Workers) -> Iterator[Merits]:
        """The merits of a layer's states from `begin` on, in parts."""
        dtype, none = self.merits.dtype, np.iinfo(self.merits.dtype).min
        ranges = self._ranges(layer)

        def raised(first: int, last: int, low: int, high: int, best: Merits) -> Merits:
            refuse(self.rules.game, self._raise(known, first, last, low, high, best))
            return best

        def whole(first: int) -> Merits:
            last = min(first + CHUNK, layer.end)
            return raised(first, last, 0, LAST, np.full(last - first, none, dtype))

        if len(ranges) == 1:
            yield from team.map(whole, range(begin, layer.end, CHUNK))
            return
        best = np.full(layer.end - begin, none, dtype)
        for low, high in ranges:

            def part(first: int, low: int = low, high: int = high) -> None:
                last = min(first + CHUNK, layer.end)
                raised(first, last, low, high, best[first - begin : last - begin])

            for _ in team.map(part, range(begin, layer.end, CHUNK)):
                self.work.read(8 * CHUNK)
                self.progress("backward", self.merits.size, self.forward.states.size)
            self.forward.states.release()
            self.forward.cells.release()
            self.merits.release()
        yield best

    def _ranges(self, layer: Layer) -> list[tuple[int, int]]:
        """Ranges of keys, so that the later states in each, with their merits, fit into memory together."""
        later = self._needed(layer)[1:]
        needed = (later[-1].end - layer.end if later else 0) * (9 + self.merits.dtype.itemsize)
        if needed <= self.memory:
            return [(0, LAST)]
        states = self.forward.states.view()
        runs = [states[one.begin : one.end] for one in later]
        keys = splitters(runs, max(1, sum(map(len, runs)) * self.memory // needed)).tolist()
        return list(zip([0, *keys], [*(key - 1 for key in keys), LAST], strict=True))

    def _needed(self, layer: Layer) -> list[Layer]:
        """The layer and those that moves from it may lead to."""
        first = len(self.layers) - 1 - len(self.counts)
        end = bisect.bisect_right(self.layers, layer.highest, first + 1, key=lambda one: one.tier)
        return self.layers[first:end]

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

    def _release(self, layer: Layer, total: int) -> None:
        """Let go of the pages of tiers that no move of an earlier tier leads to."""
        if len(self.counts) == len(self.layers):
            return
        before = self.layers[len(self.layers) - 1 - len(self.counts)]
        needed = self._needed(before)
        if layer.end - layer.begin < 1 << 16 and len(self.counts) % 64:
            return  # not worth a system call
        self.forward.states.release(needed[-1].end)
        self.forward.cells.release(needed[-1].first_cell + needed[-1].cells)
        self.merits.release(0, total - needed[-1].end)


def tallied(merits: Merits) -> dict[int, int]:
    """How many there are of each merit."""
    if len(merits) <= FEW:
        return Counter(merits.tolist())
    bits = 8 * merits.dtype.itemsize
    if bits <= 16 and len(merits) >= 1 << bits - 4:
        numbers = np.bincount(merits.view(f"u{bits // 8}"), minlength=1 << bits).tolist()
        half = 1 << bits - 1  # numbers from there on are those of negative merits
        return {(place + half) % (2 * half) - half: number for place, number in enumerate(numbers) if number}
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
