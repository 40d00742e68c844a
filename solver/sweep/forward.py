"""Forward: every reachable state, tier by tier, in ascending order within its tier.

A piece of a tier's runs is sorted, freed of doubles and expanded while it is in cache; its children, sorted, are runs
of their own tiers. A tier whose moves can stay inside it is closed first, breadth first by generations, each without
what was seen before; then its states are gone through once more in order. Finished states are counted, not kept.

Cost: a byte or so a kept state, packed in files, with what of the runs of the tiers under way exceeds the memory given
them; in a tier with cycles as much again, finished states included.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import LOSSES, MOST_STARTS, WINS, CompiledMoves
from solver.rules.game import STATE_LIMIT, Rules
from solver.store.directory import MOST_STATES, Layer, divided
from solver.store.packed import LAST, Packed, Table, packed, unseen
from solver.store.runs import PIECE, Key, Runs, joined, merged_packed, runs_of, spans, splitters
from solver.store.shelves import StateShelf
from solver.store.work import Work
from solver.sweep.expansion import LOWEST_TIER, Expansion, Found, Stays

States = NDArray[np.int64]

INSPECTED = 8  # states of a tier, and as many again at most, of the first tiers
INSPECTED_FIRST = 1024  # states; once there were so many tiers it is one of each
ALL_TIERS = 1 << 26  # tiers that a game may span: they are looked up by number
GROWTH = 2  # sorted files of states seen are merged when the newer is more than half of the older
SMALL, CUTS = 1 << 14, 16  # a small generation is cut in so many pieces, of so many states at least, so that all
# cores have some
FEW_STARTS = 1000  # that plain Python lists; more are compiled


class Forward:
    """The forward pass: `states` in the work folder, and `layers`, once `run` has returned True.

    `cycles`: tiers whose moves stay inside are closed; without it they raise MethodError. `limit`: bytes of runs
    held in memory; `most`: unfinished states that a tier with cycles may have.
    """

    def __init__(
        self,
        compiled: CompiledMoves,
        work: Work,
        *,
        cycles: bool,
        limit: int,
        most: int,
        progress: Progress,
    ) -> None:
        self.rules = rules = compiled.rules
        self.most = most
        self.work = work
        self.tiers = compiled.tiered
        self.cycles = cycles
        self.progress = progress
        self.compiled = compiled
        self.expansion = Expansion(compiled)
        self.runs = Runs(work, limit)
        self.states = StateShelf(work, "states")
        self.layers: list[Layer] = []
        self.largest = 1
        self.finished = False
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each complete tier
        self.found = 0  # unfinished states found in this run
        self.generations: list[int] = []  # unfinished states of each generation of the tier that is being closed
        self._before = 0  # and how many they are
        self._position = 0  # states of the current key below it are done
        self._closing: int | None = None  # the tier that is being closed
        self._seen: list[StateShelf] = []  # sorted files of its states of earlier generations
        self._new: StateShelf | None = None  # those of this generation
        self._totals = np.zeros(4, np.int64)  # of the current tier: reached, wins, draws, losses
        self._highest = LOWEST_TIER
        if not self.tiers:
            refuse_staying(cycles, f"{rules.name} has no tier")

    def run(self, team: Workers, deadline: float | None = None) -> bool:
        """Reach all states; False if the deadline came first, which is looked at after each piece of a tier."""
        if self.runs.first() is None and not self.layers and not self._seen:
            self._start(team)
        while not self.finished:
            key = self.runs.first()
            if self._closing is not None and (key is None or key.tier != self._closing):
                self._close(team)
            elif key is None:
                self.finished = True
            else:
                try:
                    if not self._reach(key, team, deadline):
                        break
                except Stays as stays:
                    refuse_staying(self.cycles, f"state {stays.state} has a move that stays in its tier")
                    self._closing = key.tier
                    self.states.truncate(self.layers[-1].blocks if self.layers else 0)
                    self._position, self._totals[:] = 0, 0
                    if self.states.saved > self.states.count:  # the last checkpoint has more of this tier
                        self.save(team)
                    continue
                self.runs.drop(key)
                self._position = 0
            if self.work.due():
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
                break
        return self.finished

    def section(self, layer: Layer) -> Packed:
        """The states of a layer."""
        return self.states.section(self.states.block_of(layer.begin), layer.blocks)

    @property
    def closing(self) -> bool:
        """Whether a tier with cycles is under way."""
        return self._closing is not None

    def met(self) -> tuple[int, Packed] | None:
        """The tier with cycles under way, and most of its states met so far, finished ones too; None without one."""
        if self._closing is None or not self._seen:
            return None
        return self._closing, self._seen[0].section(0, self._seen[0].count)

    @property
    def unfinished(self) -> float:
        """The part of the states met so far of the tier under way that is not finished."""
        reached = max(1, int(self._totals[0]))
        return max(1.0, reached - int(self._totals[1:].sum())) / reached

    def save(self, team: Workers) -> None:
        """A checkpoint."""
        self.runs.spill(team)
        self.work.checkpoint({"pass": "forward", "forward": self.saved()})

    def saved(self) -> dict[str, Any]:
        """What a checkpoint keeps of this pass."""
        return {
            "runs": self.runs.saved(),
            "layers": self.layers,
            "largest": self.largest,
            "finished": self.finished,
            "position": self._position,
            "closing": self._closing,
            "generations": self.generations,
            "seen": [shelf.name for shelf in self._seen],
            "new": self._new.name if self._new else None,
            "totals": self._totals.tolist(),
            "highest": self._highest,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.runs.restore(saved["runs"])
        self.layers = [Layer(*row) for row in saved["layers"]]
        self.largest, self.finished = saved["largest"], saved["finished"]
        self._position, self._closing = saved["position"], saved["closing"]
        self.generations = saved["generations"]
        self._before = sum(self.generations)
        self._seen = [StateShelf(self.work, name) for name in saved["seen"]]
        self._new = StateShelf(self.work, saved["new"]) if saved["new"] else None
        self._totals[:] = saved["totals"]
        self._highest = saved["highest"]

    def _begin(self) -> int:
        """Where the states of the current tier begin."""
        return self.layers[-1].end if self.layers else 0

    def _start(self, team: Workers) -> None:
        """The starts as runs of their tiers, listed part by part."""
        for starts, tiers in starts_of(self.compiled, max(PIECE, self.runs.limit // 32)):
            self._add_starts(starts, tiers, team)

    def _add_starts(self, starts: States, tiers: NDArray[np.int64], team: Workers) -> None:
        def sort(begin: int) -> list[tuple[int, States]]:
            return list(runs_of(starts[begin : begin + PIECE], tiers[begin : begin + PIECE]))

        for runs in team.map(sort, range(0, len(starts), PIECE)):
            for number, run in runs:
                self._add(Key(number), run)
        if self.runs.bytes > self.runs.limit:
            self.runs.spill(team)

    def _reach(self, key: Key, team: Workers, deadline: float | None) -> bool:
        """Expand the states of a key, from `_position` on; False if the deadline came first."""
        if not self.tiers:
            self._closing = key.tier
        runs, seen = self.runs.of(key), self._seen_before()
        size = min(PIECE, max(SMALL, len(runs) // CUTS)) if self.closing else 0
        parts = spans(splitters(runs, size), self._position)

        def expand(span: tuple[int, int]) -> tuple[Found, list[Packed]]:
            states = joined(runs, *span)
            for known in seen:
                states = unseen(states, known)
            found = self.expansion.expand(key.tier, states, self.closing)
            if self.closing and not seen and len(parts) == 1:
                found = self.expansion.closed(key.tier, found)
            return found, [packed(states) for states in found.states]

        for (_, last), (found, states) in zip(parts, team.map(expand, parts), strict=True):
            self._take(key, found, states)
            known = sum(one.size for one in self._seen)
            self.progress("forward", self.states.size + known, None)
            self.work.read(2 * found.reached + known // len(parts))
            if self.runs.bytes > self.runs.limit:
                self.runs.spill(team)
            if last == LAST:
                break
            if self.work.due():
                self._position = last + 1
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
                self._position = last + 1
                return False
        if self.closing:
            self._remember(team)
        else:
            self._end_layer(key.tier, cyclic=False)
        return True

    def _seen_before(self) -> list[Packed]:
        """What was seen of the tier that is being closed, and room for what is new."""
        if not self.closing:
            return []
        if self._new is None:
            self._new = StateShelf(self.work, "seen", numbered=True)
        return [shelf.section(0, shelf.count) for shelf in self._seen]

    def _take(self, key: Key, found: Found, states: list[Packed]) -> None:
        """Keep a piece of a key's states, packed, and what they led to."""
        target = self._new if self.closing and self._new else self.states
        for part in states:
            target.append(part)
        self._totals[0] += found.reached
        self.found += found.reached - int(found.terminal.sum())
        self._totals[1:] += found.terminal
        self._refuse_too_many(key.tier)
        self.largest = max(self.largest, found.largest)
        self._highest = max(self._highest, found.highest)
        for tier, run in found.runs:
            self._add(Key(tier, key.generation + 1 if tier == key.tier else 0), run)
        for states, tiers in found.scattered:
            self._refuse_far(int(tiers.min()), int(tiers.max()))
            self.runs.scatter(states, tiers)

    def _add(self, key: Key, run: States) -> None:
        """Keep a run."""
        self._refuse_far(key.tier)
        self.runs.add(key, run)

    def _refuse_far(self, *tiers: int) -> None:
        """Raise GameError if tiers are not near enough to the first."""
        current = None if self.layers else self.runs.first()
        first = self.layers[0].tier if self.layers else current.tier if current else tiers[0]
        for tier in tiers:
            if abs(tier - first) >= ALL_TIERS:
                raise GameError(f"there are states in the tiers {first} and {tier}: number the tiers more densely")

    def _remember(self, team: Workers) -> None:
        """A generation is complete: its states are among those seen, in few files."""
        assert self._new is not None
        if self._new.size:
            self._seen.append(self._new)
        else:
            self._new.discard()
        self._new = None
        open_states = int(self._totals[0] - self._totals[1:].sum())
        self.generations.append(open_states - self._before)
        self._before = open_states
        if open_states > self.most:
            needed, free = 8 * open_states / 2**30, 8 * self.most / 2**30
            raise ResourceError(
                f"a tier with cycles has more than {open_states:,} states, which need {needed:.2f} GiB of memory,"
                f" {free:.2f} are free for them: raise --memory, perhaps to several times what it is"
            )
        while len(self._seen) > 1 and self._seen[-1].size * GROWTH > self._seen[-2].size:
            pair = self._seen[-2:]
            both = StateShelf(self.work, "seen", numbered=True)
            for piece in merged_packed(Table([shelf.section(0, shelf.count) for shelf in pair]), team):
                both.append(piece)
                self.work.read(2 * len(piece))
            self._seen[-2:] = [both]
            for shelf in pair:
                shelf.discard()
        for shelf in self._seen:
            shelf.release()

    def _close(self, team: Workers) -> None:
        """All states of the tier are seen: keep the unfinished ones, in order."""
        assert self._closing is not None
        seen = Table([shelf.section(0, shelf.count) for shelf in self._seen])
        self._totals[:] = 0
        size = self.states.size

        def filtered(span: tuple[int, int]) -> tuple[Packed, NDArray[np.int64], int]:
            states = joined(seen, *span)
            kept, report = self.expansion.keep(states)
            return packed(kept), report, len(states)

        for kept, report, count in team.map(filtered, spans(splitters(seen, PIECE // 2))):
            self.states.append(kept)
            self._totals += [count, *report[WINS : LOSSES + 1].tolist()]
            self.work.read(2 * count)
            self.progress("order", self.states.size - size, None)
        self._end_layer(self._closing, cyclic=True)
        self._closing = None
        self.generations, self._before = [], 0
        for shelf in self._seen:
            shelf.discard()
        self._seen = []

    def _end_layer(self, tier: int, cyclic: bool) -> None:
        """Enter the tier whose states are complete."""
        begin, end = self._begin(), self.states.size
        first = self.layers[-1].blocks if self.layers else 0
        if self.inspect is not None and begin < end:
            most = INSPECTED_FIRST // (len(self.layers) + 1)
            places = np.arange(0, end - begin, max(1, (end - begin) // INSPECTED))[: max(1, most)]
            self.inspect(self.states.section(first, self.states.count).at(places).tolist())
        shift, prefix, cells = 0, 0, 1
        if begin < end:
            shift, prefix, cells = divided(self.states.first_of(first), self.states.last, end - begin)
        self.states.release()
        totals = self._totals.tolist()
        cell = self.layers[-1].first_cell + self.layers[-1].cells if self.layers else 0
        directory = shift, prefix, cell, cells
        self.layers.append(Layer(tier, begin, end, *totals, cyclic, self._highest, *directory, self.states.count))
        self._totals[:] = 0

    def _refuse_too_many(self, tier: int) -> None:
        """Raise ResourceError if the unfinished states of a tier are more than its directory can count."""
        open_states = int(self._totals[0] - self._totals[1:].sum())
        if open_states > MOST_STATES:
            raise ResourceError(
                f"tier {tier} has more than {MOST_STATES:,} unfinished states, too many to be looked up: give the game"
                " a tier that rises more often, or take a smaller one"
            )


def refuse_staying(cycles: bool, where: str) -> None:
    """Raise MethodError if moves that stay in a tier are not to be solved."""
    if not cycles:
        raise MethodError(f"{where}: solve it by retrograde analysis")


def starts_of(compiled: CompiledMoves, most: int) -> Iterator[tuple[States, NDArray[np.int64]]]:
    """The folded starts and their tiers, doubles included, `most` at a time. Raises GameError if one is no state."""
    rules, tier = compiled.rules, compiled.tier
    few = [rules.game.initial(), *itertools.islice(rules.starts(), FEW_STARTS + 1)]
    if len(few) <= FEW_STARTS + 1:
        keys = [rules.canonical(state) for state in few]
        _refuse_beyond_states(rules, min(keys), max(keys))
        yield np.array(keys, np.int64), np.array([tier(key) for key in keys], np.int64)
        return
    list_starts, none = compiled.kernels.list_starts, np.empty(0, np.int64)
    count = list_starts(0, none, none)
    if count > MOST_STARTS:
        raise GameError(f"{rules.name} starts from more than {MOST_STARTS:,} states: starts must end")
    for first in range(0, count, most):
        size = min(most, count - first)
        starts, tiers = np.empty(size, np.int64), np.empty(size, np.int64)
        starts[0] = rules.canonical(rules.game.initial())
        tiers[0] = tier(int(starts[0]))
        list_starts(first, starts, tiers)
        _refuse_beyond_states(rules, int(starts.min()))
        yield starts, tiers


def _refuse_beyond_states(rules: Rules, *starts: int) -> None:
    """Raise GameError if a start is no state."""
    for start in starts:
        if not 0 <= start < STATE_LIMIT:
            raise GameError(f"{rules.name} starts at {start}: states are non-negative 63-bit integers")
