"""Forward: every reachable state, tier by tier, in ascending order within its tier.

A piece of a tier's runs is sorted, freed of duplicates and expanded while it is in the cache. Its children, sorted, are
runs of their own tiers. If moves can stay inside a tier, the tier is closed first: breadth first, by generations, each
without the states of those before. Then its states are gone through once more in order. Finished states are counted,
not kept.

Cost: about a byte a kept state, packed in files, and the part of the runs under way that exceeds its memory. In a tier
with cycles as much again, with the finished states.
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
from solver.sweep.expansion import Expanded, Expansion, Stays

States = NDArray[np.int64]

INSPECTED_STATES = 8  # states of a tier, and as many again at most, of the first tiers
INSPECTED_FIRST = 1024  # states; once there were so many tiers it is one of each
MAX_TIER_SPAN = 1 << 26  # tiers that a game may span: they are looked up by number
MERGE_FACTOR = 2  # sorted files of states seen are merged when the newer is more than half of the older
# A small generation is cut in so many pieces, of so many states at least, so that all cores have some
SMALL_GENERATION, PIECES_OF_SMALL = 1 << 14, 16
FEW_STARTS = 1000  # that plain Python lists; more are compiled


class Forward:
    """The forward pass. `states` lies in the work folder; `layers` is complete once `run` has returned True.

    Args:
        compiled: The compiled moves.
        work: The work folder.
        cycles: Whether tiers with cycles are closed; otherwise they raise MethodError.
        limit: The bytes of runs to hold in memory.
        most: The greatest number of unfinished states in a tier with cycles.
        progress: Called as states are found.
        saved: The record of a checkpoint to go on from.
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
        self.tiers: bool = compiled.tiered
        self.cycles = cycles
        self.progress = progress
        self.compiled = compiled
        self.expansion: Expansion = Expansion(compiled)
        self.runs: Runs = Runs(work, limit)
        self.states: StateShelf = StateShelf(work, "states")
        self.state: ForwardState = saved or ForwardState()
        self.layers: list[Layer] = self.state.layers
        self.runs.restore(self.state.runs)
        # Looks at some states of each complete tier
        self.inspect: Callable[[list[int]], None] | None = None
        # Unfinished states found in this run
        self.found: int = 0
        # Sorted files of earlier generations
        self._visited = [StateShelf(work, name) for name in self.state.seen]
        # The states of this generation
        self._new = StateShelf(work, self.state.new) if self.state.new else None
        # Counts of the current tier: reached, wins, draws, losses
        self._totals = np.array(self.state.totals)
        if not self.tiers:
            refuse_staying(cycles, f"{rules.name} has no tier")

    def run(self, team: Workers, deadline: float | None = None) -> bool:
        """Reach all states.

        Returns:
            False if the deadline came first; it is looked at after each piece of a tier.
        """
        if self.runs.first() is None and not self.layers and not self._visited:
            # The starts as runs of their tiers, listed part by part
            for starts, tiers in starts_of(self.compiled, max(PIECE_STATES, self.runs.limit // 32)):
                begins = range(0, len(starts), PIECE_STATES)
                pieces = ((starts[at : at + PIECE_STATES], tiers[at : at + PIECE_STATES]) for at in begins)
                for number, run in itertools.chain.from_iterable(team.map(lambda piece: [*runs_of(*piece)], pieces)):
                    self._add(Key(number), run)
                if self.runs.bytes > self.runs.limit:
                    self.runs.spill(team)
        state = self.state
        while not state.finished:
            key = self.runs.first()
            # A tier with cycles is complete when no generation of it waits any more.
            if state.closing is not None and (key is None or key.tier != state.closing):
                self._close(state.closing, team)
            elif key is None:
                state.finished = True
            else:
                try:
                    if not self._reach(key, team, deadline):
                        break
                # The first move that stays in its tier shows that the tier has cycles: begin it again as one.
                except Stays as stays:
                    refuse_staying(self.cycles, f"state {stays} has a move that stays in its tier")
                    state.closing = key.tier
                    self.states.truncate(self.layers[-1].blocks if self.layers else 0)
                    state.position, self._totals[:] = 0, 0
                    # The last checkpoint has more of this tier
                    if self.states.saved > self.states.count:
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
        """Return the states of a tier."""
        return self.states.section(self.states.block_of(layer.begin), layer.blocks)

    def sample(self, layer: Layer, max_states: int, chance: np.random.Generator) -> States:
        """Return some states of a tier at random, ascending; all of them if there are no more."""
        state_indices = np.sort(chance.choice(layer.kept, min(layer.kept, max_states), replace=False))
        return self.section(layer).at(state_indices)

    @property
    def closing(self) -> bool:
        """Whether a tier with cycles is under way."""
        return self.state.closing is not None

    def met(self) -> tuple[int, Packed] | None:
        """Return the tier with cycles under way and most of its states so far, finished ones too; None without one."""
        if self.state.closing is None or not self._visited:
            return None
        return self.state.closing, self._visited[0].section(0, self._visited[0].count)

    @property
    def unfinished(self) -> float:
        """The share of unfinished states in the tier under way, so far."""
        return max(1, self._open_states()) / max(1, int(self._totals[0]))

    def _open_states(self) -> int:
        """Return the number of unfinished states in the tier under way, so far."""
        return int(self._totals[0] - self._totals[1:].sum())

    def save(self, team: Workers) -> None:
        """Write a checkpoint."""
        self.runs.spill(team)
        self.work.checkpoint(Checkpoint(self.saved()))

    def saved(self) -> ForwardState:
        """Return the checkpoint of this pass."""
        return replace(
            self.state,
            totals=self._totals.tolist(),
            runs=self.runs.saved(),
            seen=[shelf.name for shelf in self._visited],
            new=self._new.name if self._new else None,
        )

    def _reach(self, key: Key, team: Workers, deadline: float | None) -> bool:
        """Expand the states of a key, from `_position` on; False if the deadline came first."""
        if not self.tiers:
            self.state.closing = key.tier
        runs, visited = self.runs.of(key), list[Packed]()
        if self.closing:
            visited = [shelf.section(0, shelf.count) for shelf in self._visited]
            if self._new is None:
                self._new = StateShelf(self.work, "seen", numbered=True)
        size = min(PIECE_STATES, max(SMALL_GENERATION, len(runs) // PIECES_OF_SMALL)) if self.closing else 0
        key_spans = spans(splitters(runs, size), self.state.position)

        def expand(span: tuple[int, int]) -> tuple[Expanded, list[Packed]]:
            states = joined(runs, *span)
            # Remove the states of earlier generations before expanding the rest.
            for visited_count in visited:
                states = unseen(states, visited_count)
            expanded = self.expansion.expand(key.tier, states, self.closing)
            # A tier that fits one piece is closed in memory at once.
            if self.closing and not visited and len(key_spans) == 1:
                expanded = self.expansion.closed(key.tier, expanded)
            return expanded, [packed(states) for states in expanded.states]

        for (_, greatest_key), (expanded, states) in zip(key_spans, team.map(expand, key_spans), strict=True):
            self._take(key, expanded, states)
            visited_count = sum(shelf.size for shelf in self._visited)
            self.progress("forward", self.states.size + visited_count, None)
            self.work.read(2 * expanded.reached + visited_count // len(key_spans))
            if self.runs.bytes > self.runs.limit:
                self.runs.spill(team)
            # The end of the last range is the end of the tier.
            if greatest_key == LAST:
                break
            self.state.position = greatest_key + 1
            if self.work.due():
                self.save(team)
            if deadline is not None and time.monotonic() > deadline:
                return False
        if self.closing:
            self._end_generation(team)
        else:
            self._end_layer(key.tier, cyclic=False)
        return True

    def _take(self, key: Key, expanded: Expanded, states: list[Packed]) -> None:
        """Keep a piece of a key's states, packed, and their children."""
        target = self._new if self.closing and self._new else self.states
        for run in states:
            target.append(run)
        self._totals[0] += expanded.reached
        self.found += expanded.reached - int(expanded.terminal.sum())
        self._totals[1:] += expanded.terminal
        # More than the directory of the tier can count
        if self._open_states() > MAX_TIER_STATES:
            raise ResourceError(
                f"tier {key.tier} has more than {MAX_TIER_STATES:,} unfinished states, too many to be looked up:"
                " give the game a tier that rises more often, or take a smaller one"
            )
        self.state.largest = max(self.state.largest, expanded.largest)
        self.state.highest = max(self.state.highest, expanded.highest)
        for tier, run in expanded.runs:
            self._add(Key(tier, key.generation + 1 if tier == key.tier else 0), run)
        for states, tiers in expanded.scattered:
            self._refuse_far(int(tiers.min()), int(tiers.max()))
            self.runs.scatter(states, tiers)

    def _add(self, key: Key, run: States) -> None:
        """Keep a run."""
        self._refuse_far(key.tier)
        self.runs.add(key, run)

    def _refuse_far(self, *tiers: int) -> None:
        """Raise GameError if tiers are too far from the first."""
        # Tables by tier are arrays, so the numbers of tiers must not be far apart.
        current = None if self.layers else self.runs.first()
        first_tier = self.layers[0].number if self.layers else current.tier if current else tiers[0]
        for tier in tiers:
            if abs(tier - first_tier) >= MAX_TIER_SPAN:
                raise GameError(f"there are states in the tiers {first_tier} and {tier}: number the tiers more densely")

    def _end_generation(self, team: Workers) -> None:
        """Add the states of a complete generation to the visited ones, in few files."""
        assert self._new is not None
        if self._new.size:
            self._visited.append(self._new)
        else:
            self._new.discard()
        self._new = None
        open_states = self._open_states()
        self.state.generations.append(open_states - sum(self.state.generations))
        if open_states > self.most:
            needed_gib, free_gib = 8 * open_states / 2**30, 8 * self.most / 2**30
            raise ResourceError(
                f"a tier with cycles has more than {open_states:,} states, which need {needed_gib:.2f} GiB of memory,"
                f" {free_gib:.2f} are free for them: raise --memory, perhaps to several times what it is"
            )
        # files grow like binary counters: each state is merged a logarithmic number of times
        while len(self._visited) > 1 and self._visited[-1].size * MERGE_FACTOR > self._visited[-2].size:
            pair = self._visited[-2:]
            merged_shelf = StateShelf(self.work, "seen", numbered=True)
            for piece in merged_packed(Table([shelf.section(0, shelf.count) for shelf in pair]), team):
                merged_shelf.append(piece)
                self.work.read(2 * len(piece))
            self._visited[-2:] = [merged_shelf]
            for shelf in pair:
                shelf.discard()
        for shelf in self._visited:
            shelf.release()

    def _close(self, tier: int, team: Workers) -> None:
        """Keep the unfinished states of a closed tier, in order."""
        visited = Table([shelf.section(0, shelf.count) for shelf in self._visited])
        self._totals[:] = 0
        size_before = self.states.size

        def keep_span(span: tuple[int, int]) -> tuple[Packed, NDArray[np.int64], int]:
            states = joined(visited, *span)
            unfinished, report = self.expansion.keep(states)
            return packed(unfinished), report, len(states)

        # The visited states include finished ones: drop these now, when all are in order.
        for unfinished, report, count in team.map(keep_span, spans(splitters(visited, PIECE_STATES // 2))):
            self.states.append(unfinished)
            self._totals += [count, *report[WINS : LOSSES + 1].tolist()]
            self.work.read(2 * count)
            self.progress("order", self.states.size - size_before, None)
        self._end_layer(tier, cyclic=True)
        self.state.closing, self.state.generations = None, []
        for shelf in self._visited:
            shelf.discard()
        self._visited = []

    def _end_layer(self, tier: int, cyclic: bool) -> None:
        """Enter the tier whose states are complete."""
        last_layer = self.layers[-1] if self.layers else None
        begin, first_block, first_cell = (
            (last_layer.end, last_layer.blocks, last_layer.first_cell + last_layer.cells) if last_layer else (0, 0, 0)
        )
        end = self.states.size
        if self.inspect is not None and begin < end:
            max_states = INSPECTED_FIRST // (len(self.layers) + 1)
            state_indices = np.arange(0, end - begin, max(1, (end - begin) // INSPECTED_STATES))[: max(1, max_states)]
            self.inspect(self.states.section(first_block, self.states.count).at(state_indices).tolist())
        shift, prefix, cells = 0, 0, 1
        if begin < end:
            shift, prefix, cells = division(self.states.first_of(first_block), self.states.last, end - begin)
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
                first_cell,
                cells,
                self.states.count,
                cyclic=cyclic,
                highest=self.state.highest,
                ends=(ends[0], ends[1], ends[2]),
            )
        )
        self._totals[:] = 0


def refuse_staying(cycles: bool, where: str) -> None:
    """Raise MethodError if moves that stay in a tier cannot be solved here."""
    if not cycles:
        raise MethodError(f"{where}: solve it by retrograde analysis")


def starts_of(compiled: CompiledMoves, batch_size: int) -> Iterator[tuple[States, NDArray[np.int64]]]:
    """Yield the folded starts and their tiers, with duplicates. Raises GameError if a start is not a state."""
    rules, tier = compiled.rules, compiled.tier
    first_starts = [rules.game.initial(), *itertools.islice(rules.starts(), FEW_STARTS + 1)]
    # Compiled rules number positions up to symmetry
    if len(first_starts) <= FEW_STARTS + 1 or (rules.everywhere and not (rules.folds and rules.numbering)):
        every = itertools.chain([rules.game.initial()], rules.starts())
        while keys := [rules.canonical(state) for state in itertools.islice(every, batch_size)]:
            _refuse_beyond_states(rules, min(keys), max(keys))
            yield np.array(keys, np.int64), np.array([tier(key) for key in keys], np.int64)
        return
    if rules.everywhere and rules.numbering:
        list_starts, count = compiled.kernels.list_positions, 1 + rules.numbering.size
    else:
        list_starts, nothing = compiled.kernels.list_starts, np.empty(0, np.int64)
        count = list_starts(0, nothing, nothing)
        if count > MOST_STARTS:
            raise GameError(f"{rules.name} starts from more than {MOST_STARTS:,} states: starts must end")
    for begin in range(0, count, batch_size):
        size = min(batch_size, count - begin)
        starts, tiers = np.empty(size, np.int64), np.empty(size, np.int64)
        starts[0] = rules.canonical(rules.game.initial())
        tiers[0] = tier(int(starts[0]))
        list_starts(begin, starts, tiers)
        _refuse_beyond_states(rules, int(starts.min()))
        yield starts, tiers


def _refuse_beyond_states(rules: Rules, *starts: int) -> None:
    """Raise GameError if a start is not a state."""
    for start in starts:
        if not 0 <= start < STATE_LIMIT:
            raise GameError(f"{rules.name} starts at {start}: states are non-negative 63-bit integers")
