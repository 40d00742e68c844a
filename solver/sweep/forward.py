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
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import LOSSES, MOST_STARTS, WINS, CompiledMoves
from solver.rules.game import STATE_LIMIT, Rules
from solver.store.directory import MAX_TIER_STATES, Layer, division
from solver.store.packed import LAST, Packed, Table, packed, unseen
from solver.store.runs import PIECE_STATES, Key, Runs, joined, merged_packed, runs_of, spans, splitters
from solver.store.shelves import StateShelf
from solver.store.work import Work
from solver.sweep.checkpoint import Checkpoint, ForwardState
from solver.sweep.expansion import Expansion, Found, Stays

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
    held in memory; `most`: unfinished states that a tier with cycles may have. It goes on from what was `saved`.
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
        saved: ForwardState | None = None,
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
        self.state = saved or ForwardState()
        self.layers = self.state.layers
        self.runs.restore(self.state.runs)
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each complete tier
        self.found = 0  # unfinished states found in this run
        self._seen = [StateShelf(work, name) for name in self.state.seen]  # sorted files of earlier generations
        self._new = StateShelf(work, self.state.new) if self.state.new else None  # the states of this generation
        self._before = sum(self.state.generations)
        self._totals = np.array(self.state.totals)  # of the current tier: reached, wins, draws, losses
        if not self.tiers:
            refuse_staying(cycles, f"{rules.name} has no tier")

    def run(self, team: Workers, deadline: float | None = None) -> bool:
        """Reach all states; False if the deadline came first, which is looked at after each piece of a tier."""
        if self.runs.first() is None and not self.layers and not self._seen:
            self._start(team)
        state = self.state
        while not state.finished:
            key = self.runs.first()
            if state.closing is not None and (key is None or key.tier != state.closing):
                self._close(state.closing, team)
            elif key is None:
                state.finished = True
            else:
                try:
                    if not self._reach(key, team, deadline):
                        break
                except Stays as stays:
                    refuse_staying(self.cycles, f"state {stays.state} has a move that stays in its tier")
                    state.closing = key.tier
                    self.states.truncate(self.layers[-1].blocks if self.layers else 0)
                    state.position, self._totals[:] = 0, 0
                    if self.states.saved > self.states.count:  # the last checkpoint has more of this tier
                        self.save(team)
                    continue
                self.runs.drop(key)
                state.position = 0
            if self.work.due():
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
                break
        return state.finished

    def section(self, layer: Layer) -> Packed:
        """The states of a layer."""
        return self.states.section(self.states.block_of(layer.begin), layer.blocks)

    def sample(self, layer: Layer, most: int, chance: np.random.Generator) -> States:
        """Some states of a layer, ascending, all of them if there are no more."""
        picked = np.sort(chance.choice(layer.kept, min(layer.kept, most), replace=False))
        return self.section(layer).at(picked)

    @property
    def closing(self) -> bool:
        """Whether a tier with cycles is under way."""
        return self.state.closing is not None

    def met(self) -> tuple[int, Packed] | None:
        """The tier with cycles under way, and most of its states met so far, finished ones too; None without one."""
        if self.state.closing is None or not self._seen:
            return None
        return self.state.closing, self._seen[0].section(0, self._seen[0].count)

    @property
    def unfinished(self) -> float:
        """The part of the states met so far of the tier under way that is not finished."""
        return max(1, self._open_states()) / max(1, int(self._totals[0]))

    def _open_states(self) -> int:
        """The states met so far of the tier under way that are not finished."""
        return int(self._totals[0] - self._totals[1:].sum())

    def save(self, team: Workers) -> None:
        """A checkpoint."""
        self.runs.spill(team)
        self.work.checkpoint(Checkpoint(self.saved()))

    def saved(self) -> ForwardState:
        """What a checkpoint keeps of this pass."""
        return replace(
            self.state,
            totals=self._totals.tolist(),
            runs=self.runs.saved(),
            seen=[shelf.name for shelf in self._seen],
            new=self._new.name if self._new else None,
        )

    def _start(self, team: Workers) -> None:
        """The starts as runs of their tiers, listed part by part."""

        def sort(some: tuple[States, NDArray[np.int64]]) -> list[tuple[int, States]]:
            return list(runs_of(*some))

        for starts, tiers in starts_of(self.compiled, max(PIECE_STATES, self.runs.limit // 32)):
            begins = range(0, len(starts), PIECE_STATES)
            pieces = ((starts[begin : begin + PIECE_STATES], tiers[begin : begin + PIECE_STATES]) for begin in begins)
            for number, run in itertools.chain.from_iterable(team.map(sort, pieces)):
                self._add(Key(number), run)
            if self.runs.bytes > self.runs.limit:
                self.runs.spill(team)

    def _reach(self, key: Key, team: Workers, deadline: float | None) -> bool:
        """Expand the states of a key, from `_position` on; False if the deadline came first."""
        if not self.tiers:
            self.state.closing = key.tier
        runs, seen = self.runs.of(key), self._seen_before()
        size = min(PIECE_STATES, max(SMALL, len(runs) // CUTS)) if self.closing else 0
        parts = spans(splitters(runs, size), self.state.position)

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
            self.state.position = last + 1
            if self.work.due():
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
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
        self.state.largest = max(self.state.largest, found.largest)
        self.state.highest = max(self.state.highest, found.highest)
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
        first = self.layers[0].number if self.layers else current.tier if current else tiers[0]
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
        open_states = self._open_states()
        self.state.generations.append(open_states - self._before)
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

    def _close(self, tier: int, team: Workers) -> None:
        """All states of the tier are seen: keep the unfinished ones, in order."""
        seen = Table([shelf.section(0, shelf.count) for shelf in self._seen])
        self._totals[:] = 0
        size = self.states.size

        def filtered(span: tuple[int, int]) -> tuple[Packed, NDArray[np.int64], int]:
            states = joined(seen, *span)
            kept, report = self.expansion.keep(states)
            return packed(kept), report, len(states)

        for kept, report, count in team.map(filtered, spans(splitters(seen, PIECE_STATES // 2))):
            self.states.append(kept)
            self._totals += [count, *report[WINS : LOSSES + 1].tolist()]
            self.work.read(2 * count)
            self.progress("order", self.states.size - size, None)
        self._end_layer(tier, cyclic=True)
        self.state.closing, self.state.generations, self._before = None, [], 0
        for shelf in self._seen:
            shelf.discard()
        self._seen = []

    def _end_layer(self, tier: int, cyclic: bool) -> None:
        """Enter the tier whose states are complete."""
        last = self.layers[-1] if self.layers else None
        begin, first, cell = (last.end, last.blocks, last.first_cell + last.cells) if last else (0, 0, 0)
        end = self.states.size
        if self.inspect is not None and begin < end:
            most = INSPECTED_FIRST // (len(self.layers) + 1)
            places = np.arange(0, end - begin, max(1, (end - begin) // INSPECTED))[: max(1, most)]
            self.inspect(self.states.section(first, self.states.count).at(places).tolist())
        shift, prefix, cells = 0, 0, 1
        if begin < end:
            shift, prefix, cells = division(self.states.first_of(first), self.states.last, end - begin)
        self.states.release()
        reached, *ends = self._totals.tolist()
        self.layers.append(
            Layer(
                tier,
                reached,
                end - begin,
                begin,
                shift,
                prefix,
                cell,
                cells,
                self.states.count,
                cyclic=cyclic,
                highest=self.state.highest,
                ends=(ends[0], ends[1], ends[2]),
            )
        )
        self._totals[:] = 0

    def _refuse_too_many(self, tier: int) -> None:
        """Raise ResourceError if the unfinished states of a tier are more than its directory can count."""
        if self._open_states() > MAX_TIER_STATES:
            raise ResourceError(
                f"tier {tier} has more than {MAX_TIER_STATES:,} unfinished states, too many to be looked up:"
                " give the game a tier that rises more often, or take a smaller one"
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
