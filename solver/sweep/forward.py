"""Forward: every reachable state, tier by tier, in ascending order within its tier.

A piece of a tier's runs is sorted, freed of doubles and expanded while it is in cache; its children, sorted, are runs
of their own tiers. A tier whose moves can stay inside it is closed first, breadth first by generations, each without
what was seen before; then its states are gone through once more in order. Finished states are counted, not kept.

Cost: 8 bytes a kept state and 1 to 2 of directory, in files; the runs of the tiers under way; in a tier with cycles
another 8 bytes a state, finished ones included.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import LOSSES, MOST_STARTS, WINS, CompiledMoves
from solver.rules.game import STATE_LIMIT, Rules
from solver.store.column import Column
from solver.store.directory import CELL, MOST_STATES, Layer, cells_of, prefixes_of
from solver.store.runs import PIECE, Key, Runs, cut, join, merged, runs_of, splitters, without
from solver.store.work import Work
from solver.sweep.expansion import LOWEST_TIER, Expansion, Found, Stays

States = NDArray[np.int64]

INSPECTED = 8  # states of a tier, and as many again at most, of the first tiers
INSPECTED_FIRST = 1024  # states; once there were so many tiers it is one of each
ALL_TIERS = 1 << 26  # tiers that a game may span: they are looked up by number
GROWTH = 4  # sorted files of states seen are merged when the newer is more than a fourth of the older
FEW_STARTS = 1000  # that plain Python lists; more are compiled


class Forward:
    """The forward pass: `states` in the work folder, `cells`, and `layers`, once `run` has returned True.

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
        self.states = work.column("states", np.int64)
        self.cells = work.column("cells", np.uint32)
        self.layers: list[Layer] = []
        self.largest = 1
        self.finished = False
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each complete tier
        self.found = 0  # unfinished states found in this run
        self.generations: list[int] = []  # unfinished states of each generation of the tier that is being closed
        self._before = 0  # and how many they are
        self._position = 0  # states of the current key below it are done
        self._closing: int | None = None  # the tier that is being closed
        self._seen: list[Column] = []  # sorted files of its states of earlier generations
        self._new: Column | None = None  # those of this generation
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
                    self.states.truncate(self._begin())
                    self._position, self._totals[:] = 0, 0
                    if self.states.saved > self.states.size:  # the last checkpoint has more of this tier
                        self.save(team)
                    continue
                self.runs.drop(key)
                self._position = 0
            if self.work.due():
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
                break
        return self.finished

    @property
    def closing(self) -> bool:
        """Whether a tier with cycles is under way."""
        return self._closing is not None

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
            "seen": [column.name for column in self._seen],
            "new": self._new.name if self._new else None,
            "totals": self._totals.tolist(),
            "highest": self._highest,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        columns = self.work.columns
        self.runs.restore(saved["runs"])
        self.layers = [Layer(*row) for row in saved["layers"]]
        self.largest, self.finished = saved["largest"], saved["finished"]
        self._position, self._closing = saved["position"], saved["closing"]
        self.generations = saved["generations"]
        self._before = sum(self.generations)
        self._seen = [columns[name] for name in saved["seen"]]
        self._new = columns[saved["new"]] if saved["new"] else None
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
        runs = self.runs.of(key)
        if self._position:
            runs = [run[np.searchsorted(run, self._position) :] for run in runs]
        keys = splitters(runs, read=self.work.read)
        pieces = self._pieces(runs, keys)
        bounds = [*keys.tolist(), None]
        for bound, found in zip(bounds, team.map(lambda piece: self._expand(key, *piece), pieces), strict=True):
            self._take(key, found)
            seen = sum(one.size for one in self._seen)
            self.progress("forward", self.states.size + seen, None)
            self.work.read(16 * found.reached + 8 * seen // len(bounds))
            if self.runs.bytes > self.runs.limit:
                self.runs.spill(team)
            if bound is not None and self.work.due():
                self._position = bound
                self.save(team)
            if bound is not None and deadline is not None and time.monotonic() > deadline:
                self._position = bound
                return False
        if self.closing:
            self._remember(team)
        else:
            self._end_layer(key.tier, cyclic=False)
        return True

    def _pieces(self, runs: list[States], keys: States) -> Iterator[tuple[list[States], list[States]]]:
        """The runs cut at the keys, each piece with what was seen of its range before."""
        if not self.closing:
            return ((parts, []) for parts in cut(runs, keys, self.work.read))
        if self._new is None:
            self._new = self.work.column("seen", np.int64, numbered=True)
        views = [column.view() for column in self._seen]
        seen = [view[np.searchsorted(view, self._position) :] for view in views]
        return zip(cut(runs, keys, self.work.read), cut(seen, keys, self.work.read), strict=True)

    def _take(self, key: Key, found: Found) -> None:
        """Keep what a piece of a key's states led to."""
        target = self._new if self.closing and self._new else self.states
        for part in found.states:
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
            self.work.discard(self._new)
        self._new = None
        open_states = int(self._totals[0] - self._totals[1:].sum())
        self.generations.append(open_states - self._before)
        self._before = open_states
        if open_states > self.most:
            needed, free = 8 * open_states / 2**30, 8 * self.most / 2**30
            raise ResourceError(
                f"a tier with cycles has more than {open_states:,} states, which need {needed:.2f} GiB of memory,"
                f" {free:.2f} are free for them: raise --memory"
            )
        while len(self._seen) > 1 and self._seen[-1].size * GROWTH > self._seen[-2].size:
            pair = self._seen[-2:]
            both = self.work.column("seen", np.int64, numbered=True)
            for piece in merged([column.view() for column in pair], team, self.work.read):
                both.append(piece)
                self.work.read(piece.nbytes)
            self._seen[-2:] = [both]
            for column in pair:
                self.work.discard(column)
        for column in self._seen:
            column.release()

    def _close(self, team: Workers) -> None:
        """All states of the tier are seen: keep the unfinished ones, in order."""
        assert self._closing is not None
        views = [column.view() for column in self._seen]
        self._totals[:] = 0
        size = self.states.size

        def filtered(parts: Sequence[States]) -> tuple[States, NDArray[np.int64], int]:
            states = join(parts)
            return *self.expansion.keep(states), len(states)

        keys = splitters(views, PIECE // 2, self.work.read)
        for kept, report, count in team.map(filtered, cut(views, keys, self.work.read)):
            self.states.append(kept)
            self._totals += [count, *report[WINS : LOSSES + 1].tolist()]
            self.work.read(8 * count)
            self.progress("order", self.states.size - size, None)
        self._end_layer(self._closing, cyclic=True)
        self._closing = None
        self.generations, self._before = [], 0
        for column in self._seen:
            self.work.discard(column)
        self._seen = []

    def _end_layer(self, tier: int, cyclic: bool) -> None:
        """Enter the tier whose states are complete."""
        begin, end = self._begin(), self.states.size
        states = self.states.part(begin, end)
        if self.inspect is not None and begin < end:
            most = INSPECTED_FIRST // (len(self.layers) + 1)
            self.inspect(states[:: max(1, len(states) // INSPECTED)][: max(1, most)].tolist())
        shift, prefix, cells = prefixes_of(states)
        first = self.cells.size
        for part in cells_of(states, shift, prefix, cells):
            self.cells.append(part)
            self.work.read(8 * CELL * len(part))
        self.states.release()
        totals = self._totals.tolist()
        self.layers.append(
            Layer(tier, begin, end, *totals, cyclic, self._highest, shift, prefix, first, cells)
        )
        self._totals[:] = 0

    def _expand(self, key: Key, parts: list[States], seen: list[States]) -> Found:
        """Sort a piece of a key, leave out what was seen, and expand it."""
        states = join(parts)
        for known in seen:
            states = without(states, known)
        return self.expansion.expand(key.tier, states, self.closing)

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
