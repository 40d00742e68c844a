"""Forward: every reachable state, tier by tier, in ascending order within its tier.

A piece of a tier's runs is sorted, freed of doubles and expanded while it is in cache; its children, sorted, are runs
of their own tiers. A tier whose moves can stay inside it is closed first, breadth first by generations, each without
what was seen before; then its states are gone through once more in order. Finished states are counted, not kept.

Cost: 8 bytes a kept state and 1 to 2 of directory, in files; the runs of the tiers under way; in a tier with cycles
another 8 bytes a state, finished ones included.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.conformance import confirmed
from solver.errors import GameError, MethodError, ResourceError
from solver.game import Rules
from solver.kernels.compiled import FAILURES, bind, is_of_compiler, kernel
from solver.parallel import Workers
from solver.progress import Progress
from solver.search import INFINITY
from solver.store.directory import CELL, MOST_STATES, Layer, cells_of, prefixes_of
from solver.store.runs import PIECE, Key, Runs, cut, join, merged, splitters, without
from solver.store.sorting import group_by_tier, sort_unique
from solver.store.work import Column, Work

States = NDArray[np.int64]

game: Any = None  # what follows are constants of the bound copies
SCORES = ALTERNATES = FOLDS = TIERS = False

CHUNK = 1 << 15  # states expanded in one call
CHILDREN = 1 << 18  # children of one call, sorted in cache
TIER_SPAN = 1 << 22  # tiers that one chunk's children may span
MOST_ACTIONS = 1 << 20  # of one state
MOST_STARTS = 1 << 30  # of a game
INSPECTED = 8  # states of a tier, and as many again at most
ALL_TIERS = 1 << 26  # tiers that a game may span: they are looked up by number
GROWTH = 4  # sorted files of states seen are merged when the newer is more than a fourth of the older

MOST_MARGIN = INFINITY - 1  # of a finished game
MOST_PLIES_LEFT = 1000  # of a finished game
LOWEST_TIER, HIGHEST_TIER = -(1 << 63), (1 << 63) - 1

# slots of the report that `expand` fills
KEPT, CHILD_COUNT, WINS, DRAWS, LOSSES, LARGEST, LOWEST, HIGHEST, ERROR, CULPRIT = range(10)
FIELDS = 10
NO_ACTIONS, NEGATIVE, BAD_UTILITY, UNKNOWN_CHILD, SAME_TIER, TIER_FALLS, BAD_MARGIN, BAD_LEFT, BAD_MOVER = range(1, 10)
FAULTS = {
    NO_ACTIONS: "has no actions and is not terminal: is_terminal must say so",
    NEGATIVE: "has a child outside [0, 2**63): states are non-negative 63-bit integers",
    BAD_UTILITY: "is terminal with a utility other than -1, 0, 1: a game of margins says score_game = True",
    UNKNOWN_CHILD: "has a child that was not reached before: rules must be deterministic, canonical consistent",
    TIER_FALLS: "has a child in a lower tier: tier must never decrease along a move",
    BAD_MOVER: "has another player to move than 0 or 1: to_move is for two players",
    BAD_MARGIN: "is terminal with a margin of 2**60 or more: utilities must be smaller",
    BAD_LEFT: f"is terminal with plies left that are not from 0 to {MOST_PLIES_LEFT - 1}: plies_left is a small number",
}


@kernel
def expand(states, begin, end, tier, stays, kept, children, child_tiers, report):
    """Expand states[begin:end] of a tier until children (capacity) is full; the index of the first left over.

    kept (end - begin,) int64 gets the non-terminal states, children and child_tiers one entry an edge; report (10,)
    int64 the counts, the range of the children's tiers, and an error with its culprit. `stays`: moves may stay in
    the tier.
    """
    report[:] = 0
    report[LOWEST], report[HIGHEST] = HIGHEST_TIER, LOWEST_TIER
    kept_count = child_count = 0
    for i in range(begin, end):
        state = states[i]
        if not ALTERNATES and not 0 <= game.to_move(state) <= 1:
            report[ERROR], report[CULPRIT] = BAD_MOVER, state
            return end
        if game.is_terminal(state):
            _count_terminal(state, report)
            continue
        mark = child_count
        for action in game.actions(state):
            if child_count == len(children):
                report[KEPT], report[CHILD_COUNT] = kept_count, mark
                return i
            child = game.result(state, action)
            if FOLDS:
                child = game.canonical(child)
            child_tier = game.tier(child) if TIERS else 0
            if child < 0 or child_tier < tier or (child_tier == tier and not stays):
                report[ERROR] = NEGATIVE if child < 0 else SAME_TIER if child_tier == tier else TIER_FALLS
                report[CULPRIT] = state
            children[child_count] = child
            child_tiers[child_count] = child_tier
            report[LOWEST] = min(report[LOWEST], child_tier)
            report[HIGHEST] = max(report[HIGHEST], child_tier)
            child_count += 1
        if child_count == mark:
            report[ERROR], report[CULPRIT] = NO_ACTIONS, state
        if report[ERROR]:
            return end
        kept[kept_count] = state
        kept_count += 1
    report[KEPT], report[CHILD_COUNT] = kept_count, child_count
    return end


@kernel
def _count_terminal(state, report):
    utility = np.int64(game.utility(state))
    if not -MOST_MARGIN <= utility <= MOST_MARGIN:
        report[ERROR], report[CULPRIT] = BAD_MARGIN, state
    if not SCORES and not -1 <= utility <= 1:
        report[ERROR], report[CULPRIT] = BAD_UTILITY, state
    if not 0 <= game.plies_left(state) < MOST_PLIES_LEFT:
        report[ERROR], report[CULPRIT] = BAD_LEFT, state
    report[LARGEST] = max(report[LARGEST], abs(utility))
    if utility > 0:
        report[WINS] += 1
    elif utility < 0:
        report[LOSSES] += 1
    else:
        report[DRAWS] += 1


@kernel
def keep(states, kept, report):
    """The non-terminal ones of states into `kept`; their number. The terminal ones are counted in report (10,)."""
    report[:] = 0
    count = 0
    for i in range(len(states)):
        if game.is_terminal(states[i]):
            _count_terminal(states[i], report)
        else:
            kept[count] = states[i]
            count += 1
    return count


@kernel
def list_starts(starts, begin):
    """The canonical starts from number `begin` on, doubles included, as far as they fit; how many there are in all.

    Of more than MOST_STARTS only those are counted: there may be no end of them.
    """
    if begin == 0 and len(starts):
        starts[0] = game.canonical(game.initial()) if FOLDS else game.initial()
    count = 1
    for state in game.starts():
        if begin <= count < begin + len(starts):
            starts[count - begin] = game.canonical(state) if FOLDS else state
        count += 1
        if count > MOST_STARTS:
            break
    return count


@kernel
def list_tiers(states, tiers):
    """tiers[i] = the tier of states[i]; the lowest and the highest."""
    lowest, highest = HIGHEST_TIER, LOWEST_TIER
    for i in range(len(states)):
        tiers[i] = game.tier(states[i]) if TIERS else 0
        lowest, highest = min(lowest, tiers[i]), max(highest, tiers[i])
    return lowest, highest


class _Found(NamedTuple):
    """What a piece of a tier leads to: its states (all of them where the tier is being closed), runs, counts."""

    states: list[States]
    runs: list[tuple[int, States]]
    reached: int
    terminal: NDArray[np.int64]
    largest: int
    highest: int


class Forward:
    """The forward pass: `states` in the work folder, `cells`, and `layers`, once `run` has returned True.

    `cycles`: tiers whose moves stay inside are closed; without it they raise MethodError. `limit`: bytes of runs
    held in memory; `most`: unfinished states that a tier with cycles may have.
    """

    def __init__(
        self,
        rules: Rules,
        work: Work,
        *,
        tiers: bool,
        cycles: bool,
        limit: int,
        most: int,
        progress: Progress,
    ) -> None:
        self.rules = rules
        self.most = most
        self.work = work
        self.tiers = tiers and rules.tiered
        self.cycles = cycles
        self.progress = progress
        self.kernels = bind(sys.modules[__name__], rules.game, rules.symmetry, tiers=tiers)
        self.runs = Runs(work, limit)
        self.states = work.column("states", np.int64)
        self.cells = work.column("cells", np.uint32)
        self.layers: list[Layer] = []
        self.largest = 1
        self.finished = False
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each complete tier
        self.found = 0  # unfinished states found in this run
        self.generations: list[int] = []  # unfinished states of each generation of the tier that is being closed
        self._position = 0  # states of the current key below it are done
        self._closing: int | None = None  # the tier that is being closed
        self._seen: list[Column] = []  # sorted files of its states of earlier generations
        self._new: Column | None = None  # those of this generation
        self._totals = np.zeros(4, np.int64)  # of the current tier: reached, wins, draws, losses
        self._highest = LOWEST_TIER
        self._scratch = threading.local()
        if not self.tiers:
            self._refuse_staying(f"{rules.name} has no tier")

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
                except _Stays:
                    self._closing = key.tier
                    self.states.truncate(self._begin())
                    self._position, self._totals[:] = 0, 0
                    if self.work.kept:  # the last checkpoint may have more of this tier
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
        self._seen = [columns[name] for name in saved["seen"]]
        self._new = columns[saved["new"]] if saved["new"] else None
        self._totals[:] = saved["totals"]
        self._highest = saved["highest"]

    def _begin(self) -> int:
        """Where the states of the current tier begin."""
        return self.layers[-1].end if self.layers else 0

    def _start(self, team: Workers) -> None:
        """The starts as runs of their tiers, listed part by part from the first on."""
        count = self.kernels.list_starts(np.empty(0, np.int64), 0)
        if count > MOST_STARTS:
            raise GameError(f"{self.rules.name} starts from more than {MOST_STARTS:,} states: starts must end")
        most = max(PIECE, self.runs.limit // 32)
        for first in range(0, count, most):
            self._add_starts(first, min(most, count - first), team)

    def _add_starts(self, first: int, count: int, team: Workers) -> None:
        starts = np.empty(count, np.int64)
        self.kernels.list_starts(starts, first)
        if starts.min() < 0:
            raise GameError(f"{self.rules.name} starts at {starts.min()}: states are non-negative 63-bit integers")

        def sort(begin: int) -> list[tuple[int, States]]:
            part = starts[begin : begin + PIECE]
            tiers, spare = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
            lowest, highest = self.kernels.list_tiers(part, tiers)
            return list(_by_tier(part, tiers, spare, len(part), lowest, highest))

        for runs in team.map(sort, range(0, count, PIECE)):
            for tier, run in runs:
                self._add(Key(tier), run)
        if self.runs.bytes > self.runs.limit:
            self.runs.spill(team)

    def _reach(self, key: Key, team: Workers, deadline: float | None) -> bool:
        """Expand the states of a key, from `_position` on; False if the deadline came first."""
        if not self.tiers:
            self._closing = key.tier
        closing = self.closing
        runs = [run[np.searchsorted(run, self._position) :] for run in self.runs.of(key)]
        keys = splitters(runs, read=self.work.read)
        pieces: Iterator[tuple[list[States], list[States]]]
        if closing:
            if self._new is None:
                self._new = self.work.column("seen", np.int64, numbered=True)
            views = [column.view() for column in self._seen]
            seen = [view[np.searchsorted(view, self._position) :] for view in views]
            pieces = zip(cut(runs, keys, self.work.read), cut(seen, keys, self.work.read), strict=True)
        else:
            pieces = ((parts, []) for parts in cut(runs, keys, self.work.read))
        target = self._new if closing and self._new else self.states
        bounds = [*keys.tolist(), None]
        for bound, found in zip(bounds, team.map(lambda piece: self._expand(key, *piece), pieces), strict=True):
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
            self.progress("forward", self.states.size + sum(one.size for one in self._seen), None)
            self.work.read(16 * found.reached + 8 * sum(one.size for one in self._seen) // len(bounds))
            if self.runs.bytes > self.runs.limit:
                self.runs.spill(team)
            if bound is not None and self.work.due():
                self._position = bound
                self.save(team)
            if bound is not None and deadline is not None and time.monotonic() > deadline:
                self._position = bound
                return False
        if closing:
            self._remember(team)
        else:
            self._end_layer(key.tier, cyclic=False)
        return True

    def _add(self, key: Key, run: States) -> None:
        """Keep a run, if its tier is near enough to the first."""
        current = self.runs.first()
        first = self.layers[0].tier if self.layers else current.tier if current else key.tier
        if abs(key.tier - first) >= ALL_TIERS:
            raise GameError(f"there are states in the tiers {first} and {key.tier}: number the tiers more densely")
        self.runs.add(key, run)

    def _remember(self, team: Workers) -> None:
        """A generation is complete: its states are among those seen, in few files."""
        assert self._new is not None
        if self._new.size:
            self._seen.append(self._new)
        else:
            self.work.discard(self._new)
        self._new = None
        open_states = int(self._totals[0] - self._totals[1:].sum())
        self.generations.append(open_states - sum(self.generations))
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
            states, report = join(parts), np.zeros(10, np.int64)
            kept = np.empty(len(states), np.int64)
            count = self.kernels.keep(states, kept, report)
            self._refuse(report)
            return kept[:count], report, len(states)

        keys = splitters(views, PIECE // 2, self.work.read)
        for kept, report, count in team.map(filtered, cut(views, keys, self.work.read)):
            self.states.append(kept)
            self._totals += [count, *report[WINS : LOSSES + 1].tolist()]
            self.work.read(8 * count)
            self.progress("order", self.states.size - size, None)
        self._end_layer(self._closing, cyclic=True)
        self._closing = None
        self.generations = []
        for column in self._seen:
            self.work.discard(column)
        self._seen = []

    def _end_layer(self, tier: int, cyclic: bool) -> None:
        """Enter the tier whose states are complete."""
        begin, end = self._begin(), self.states.size
        states = np.empty(0, np.int64) if begin == end else self.states.view()[begin:end]
        if self.inspect is not None and begin < end:
            self.inspect(states[:: max(1, len(states) // INSPECTED)].tolist())
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

    def _expand(self, key: Key, parts: list[States], seen: list[States]) -> _Found:
        """Sort a piece of a key, leave out what was seen, and expand it."""
        states = join(parts)
        closing = self.closing
        for known in seen:
            states = without(states, known)
        report = np.zeros(10, np.int64)
        kept_parts: list[States] = [states] if closing else []
        runs: list[tuple[int, States]] = []
        terminal = np.zeros(3, np.int64)
        begin, largest, highest = 0, 1, LOWEST_TIER
        while begin < len(states):
            end = min(begin + CHUNK, len(states))
            children, child_tiers, spare = self._arrays(min(CHILDREN, 64 * (end - begin)))
            kept = np.empty(end - begin, np.int64)
            try:
                reached = self.kernels.expand(
                    states, begin, end, key.tier, closing, kept, children, child_tiers, report
                )
            except FAILURES as error:
                if is_of_compiler(error):
                    raise
                fault = f"they fail with {type(error).__name__}: {error}"
                raise confirmed(self.rules.game, states[begin:end].tolist(), fault, known=False) from error
            self._refuse(report, key.tier)
            if reached == begin:
                if len(children) > MOST_ACTIONS:
                    raise GameError(f"state {states[begin]} has more than {MOST_ACTIONS} actions: they must end")
                self._arrays(2 * len(children))
                continue
            begin = reached
            if not closing:
                kept_parts.append(kept[: report[KEPT]])
            terminal += report[WINS : LOSSES + 1]
            largest, highest = max(largest, int(report[LARGEST])), max(highest, int(report[HIGHEST]))
            runs += _by_tier(
                children, child_tiers, spare, int(report[CHILD_COUNT]), int(report[LOWEST]), int(report[HIGHEST])
            )
        return _Found(kept_parts, runs, len(states), terminal, largest, highest)

    def _arrays(self, size: int) -> tuple[States, NDArray[np.int64], States]:
        """This thread's arrays for children, at least this long."""
        arrays: tuple[States, NDArray[np.int64], States] | None = getattr(self._scratch, "arrays", None)
        if arrays is None or len(arrays[0]) < size:
            arrays = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
            self._scratch.arrays = arrays
        return arrays

    def _refuse(self, report: NDArray[np.int64], tier: int = 0) -> None:
        """Raise what a kernel found wrong with the rules."""
        error, culprit = int(report[ERROR]), int(report[CULPRIT])
        if error == SAME_TIER:
            self._refuse_staying(f"state {culprit} has a move that stays in its tier")
            raise _Stays
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {FAULTS[error]}")

    def _refuse_too_many(self, tier: int) -> None:
        """Raise ResourceError if the unfinished states of a tier are more than its directory can count."""
        open_states = int(self._totals[0] - self._totals[1:].sum())
        if open_states > MOST_STATES:
            raise ResourceError(
                f"tier {tier} has more than {MOST_STATES:,} unfinished states, too many to be looked up: give the game"
                " a tier that rises more often, or take a smaller one"
            )

    def _refuse_staying(self, where: str) -> None:
        """Raise MethodError if moves that stay in a tier cannot be solved."""
        if self.rules.scores:
            raise MethodError(
                f"{where}, and retrograde analysis cannot take scores: give it a tier that every move raises, and use"
                " minimax"
            )
        if not self.cycles:
            raise MethodError(f"{where}: solve it by retrograde analysis")


class _Stays(Exception):
    """A move stayed in its tier, which must be closed."""


def _by_tier(
    children: States, tiers: NDArray[np.int64], spare: States, count: int, lowest: int, highest: int
) -> Iterator[tuple[int, States]]:
    """Sorted runs without doubles, one for each tier among the children."""
    if count == 0:
        return
    if highest - lowest >= TIER_SPAN:
        raise GameError(f"moves lead {highest - lowest} tiers apart: number the tiers more densely")
    if lowest == highest:
        yield lowest, children[: sort_unique(children, spare, count)].copy()
        return
    ends = np.empty(highest - lowest + 1, np.int64)
    group_by_tier(children, tiers, count, lowest, spare, ends)
    begin = 0
    for place in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
        end = int(ends[place])
        run = spare[begin:end]
        yield lowest + place, run[: sort_unique(run, children, end - begin)].copy()
        begin = end
