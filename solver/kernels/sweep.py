"""The tiered sweep: forward over all reachable states, tier by tier, then backward with their values.

Forward, each chunk of a tier is expanded into its children, which are sorted and freed of doubles in cache and kept
as a run for their tier; when a tier's turn comes its runs are cut at common keys, and each piece is sorted again.
Terminal states are counted, not kept. Backward from the last tier, a state's merit is the best of its children's,
which are found through a directory of the leading bits of each tier's sorted states.

Cost: 8 bytes a kept state, 1 to 4 for its merit, 1 to 2 for the directory, and the runs of the tiers under way.
"""

from __future__ import annotations

import contextlib
import heapq
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver import value
from solver.errors import GameError, MethodError, ResourceError
from solver.game import Game, canonical_of, is_score_game, starts_of
from solver.kernels.compiled import bind, compiling, kernel
from solver.kernels.parallel import Workers
from solver.kernels.sorting import group_by_tier, radix_sort_pairs, sort_unique
from solver.progress import Progress, silent
from solver.solved import Solved, TierCount

States = NDArray[np.int64]

lift = register_jitable(value.lift)
terminal_merit = register_jitable(value.terminal_merit)
game: Any = None  # what follows are constants of the bound copies
SCORES = ALTERNATES = FOLDS = False

CHUNK = 1 << 15  # states expanded in one call
CHILDREN = 1 << 18  # children of one call, sorted in cache
PIECE = 1 << 18  # states of one piece of a merge
BATCH = 512  # children looked up together
CELL = 4  # states to a cell of the directory
TIER_SPAN = 1 << 22  # tiers that one chunk's children may span

# slots of the report that `expand` and `evaluate` fill
KEPT, CHILD_COUNT, WINS, DRAWS, LOSSES, LARGEST, LOWEST, HIGHEST, ERROR, CULPRIT = range(10)
NO_ACTIONS, NEGATIVE, BAD_UTILITY, UNKNOWN_CHILD, SAME_TIER, TIER_FALLS = range(1, 7)
FAULTS = {
    NO_ACTIONS: "has no actions and is not terminal: is_terminal must say so",
    NEGATIVE: "has a child outside [0, 2**63): states are non-negative 63-bit integers",
    BAD_UTILITY: "is terminal with a utility other than -1, 0, 1: a game of margins says score_game = True",
    UNKNOWN_CHILD: "has a child that was not reached before: rules must be deterministic, canonical consistent",
    TIER_FALLS: "has a child in a lower tier: tier must never decrease along a move",
}


@kernel
def expand(states, begin, end, tier, kept, children, child_tiers, report):
    """Expand states[begin:end] of a tier until children (capacity) is full; the index of the first left over.

    kept (end - begin,) int64 gets the non-terminal states, children and child_tiers one entry an edge; report (10,)
    int64 the counts, the range of the children's tiers, and an error with its culprit.
    """
    report[:] = 0
    report[LOWEST], report[HIGHEST] = 1 << 62, -1
    kept_count = child_count = 0
    for i in range(begin, end):
        state = states[i]
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
            child_tier = game.tier(child)
            if child < 0 or child_tier <= tier:
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
    utility = game.utility(state)
    report[LARGEST] = max(report[LARGEST], abs(utility))
    if not SCORES and not -1 <= utility <= 1:
        report[ERROR], report[CULPRIT] = BAD_UTILITY, state
    if utility > 0:
        report[WINS] += 1
    elif utility < 0:
        report[LOSSES] += 1
    else:
        report[DRAWS] += 1


@kernel
def evaluate(states, merits, begin, end, tiers, slots, first_tier, cells, win, report):
    """merits[begin:end] of states[begin:end], whose children's are known; counts into report.

    tiers (n, 6) int64: begin, shift, first cell's prefix, first cell, number of cells, end; slots: row by
    tier - first_tier. Children are looked up BATCH at a time, so that their cache misses overlap.
    """
    report[:] = 0
    keys, rows, owners = np.empty(BATCH, np.int64), np.empty(BATCH, np.int32), np.empty(BATCH, np.int32)
    lows, highs = np.empty(BATCH, np.int64), np.empty(BATCH, np.int64)
    best = np.full(end - begin, -(1 << 62), np.int64)
    count = 0
    for i in range(begin, end):
        state = states[i]
        for action in game.actions(state):
            child = game.result(state, action)
            same_mover = not ALTERNATES and game.to_move(child) == game.to_move(state)
            if game.is_terminal(child):
                merit = terminal_merit(game.utility(child), SCORES, win)
                best[i - begin] = max(best[i - begin], lift(merit, same_mover, SCORES))
                continue
            keys[count] = game.canonical(child) if FOLDS else child
            rows[count] = slots[game.tier(keys[count]) - first_tier]
            owners[count] = (i - begin) * 2 + same_mover
            count += 1
            if count == BATCH:
                _look_up(states, merits, keys, rows, owners, lows, highs, count, tiers, cells, best, report)
                count = 0
    _look_up(states, merits, keys, rows, owners, lows, highs, count, tiers, cells, best, report)
    for i in range(begin, end):
        merit = best[i - begin]
        merits[i] = merit
        if merit > 0:
            report[WINS] += 1
        elif merit < 0:
            report[LOSSES] += 1
        else:
            report[DRAWS] += 1
    if report[ERROR]:
        report[CULPRIT] = states[begin + report[CULPRIT]]


@kernel
def _look_up(states, merits, keys, rows, owners, lows, highs, count, tiers, cells, best, report):
    """Lift the merits of keys[:count] into their owners' best."""
    for j in range(count):
        slot = rows[j]
        cell = (keys[j] >> tiers[slot, 1]) - tiers[slot, 2]
        if cell < 0 or cell >= tiers[slot, 4]:
            lows[j] = highs[j] = 0
            continue
        cell += tiers[slot, 3]
        lows[j] = tiers[slot, 0] + cells[cell]
        highs[j] = tiers[slot, 0] + cells[cell + 1]
    for j in range(count):
        key = keys[j]
        low, high = lows[j], highs[j]
        while high - low > 1:
            middle = (low + high) >> 1
            if states[middle] <= key:
                low = middle
            else:
                high = middle
        if high == low or states[low] != key:
            report[ERROR], report[CULPRIT] = UNKNOWN_CHILD, owners[j] >> 1
        lows[j] = low
    for j in range(count):
        merit = lift(np.int64(merits[lows[j]]), (owners[j] & 1) == 1, SCORES)
        if merit > best[owners[j] >> 1]:
            best[owners[j] >> 1] = merit


@kernel
def index_cells(states, row, cells):
    """Fill a tier's part of the directory: for each prefix, where its states begin, relative to the tier."""
    begin, end, shift, prefix, first, count = row[0], row[5], row[1], row[2], row[3], row[4]
    place = begin
    for cell in range(count):
        while place < end and (states[place] >> shift) - prefix < cell:
            place += 1
        cells[first + cell] = place - begin
    cells[first + count] = end - begin


def solve(
    game: Game,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> Solved:
    """Solve a game whose every move leads to a higher tier, on all cores.

    Raises MethodError if a move stays in its tier, GameError with the offending state if the rules break the
    protocol, ResourceError before more than about `memory` bytes are used.
    """
    sweep = _Sweep(game, symmetry, memory, progress)
    with Workers(workers) as team, compiling(game):
        sweep.forward(team)
        sweep.backward(team)
        return sweep.in_key_order(team)


def count_tiers(
    game: Game, *, symmetry: bool = True, seconds: float, progress: Progress = silent
) -> tuple[list[int], bool]:
    """Kept states of each tier, as many tiers as can be reached in that time and 2 GiB, and whether those are all."""
    deadline = time.monotonic() + seconds
    sweep = _Sweep(game, symmetry, 2 << 30, progress)
    finished = False
    with Workers() as team, compiling(game), contextlib.suppress(ResourceError):
        finished = sweep.forward(team, deadline)
    return [layer.end - layer.begin for layer in sweep.layers], finished


class _Layer(NamedTuple):
    """A tier's kept states, states[begin:end], and the counts of its terminal ones."""

    tier: int
    begin: int
    end: int
    reached: int
    terminal: tuple[int, int, int]  # wins, draws, losses


class _Sweep:
    """The arrays of one sweep: all kept states in order of their tiers, and their merits."""

    def __init__(self, game: Game, symmetry: bool, memory: int | None, progress: Progress) -> None:
        self.game = game
        self.kernels = bind(sys.modules[__name__], game, symmetry)
        self.symmetry = symmetry
        self.memory = memory
        self.progress = progress
        self.states: States = np.empty(0, np.int64)
        self.merits: NDArray[Any] = np.empty(0, np.int8)
        self.layers: list[_Layer] = []
        self.largest = 1
        self.win = 0
        self.counts: list[tuple[int, int, int]] = []
        self.scratch = threading.local()

    def forward(self, team: Workers, deadline: float | None = None) -> bool:
        """Reach all states, tier by tier; False if the deadline came first."""
        pending = self._starts()
        waiting = sum(run.nbytes for runs in pending.values() for run in runs)  # bytes
        heap = sorted(pending)
        kept = 0
        while heap:
            tier = heapq.heappop(heap)
            waiting -= sum(run.nbytes for run in pending[tier])
            states = self._merge(pending.pop(tier), team)
            totals = np.zeros(3, np.int64)
            begin = kept
            chunks = ((states, tier, first) for first in range(0, len(states), CHUNK))
            for kept_parts, runs, counts in team.map(self._expand, chunks):
                kept = self._keep(kept_parts, kept)
                totals += counts
                for child_tier, run in runs:
                    if child_tier not in pending:
                        pending[child_tier] = []
                        heapq.heappush(heap, child_tier)
                    pending[child_tier].append(run)
                    waiting += run.nbytes
                self.progress("forward", kept, None)
            self.layers.append(_Layer(tier, begin, kept, len(states), tuple(totals.tolist())))
            self._check_memory(waiting, f"tier {tier}")
            if heap and deadline is not None and time.monotonic() > deadline:
                return False
        self.states.resize(kept, refcheck=False)
        return True

    def backward(self, team: Workers) -> None:
        """Find the merits of all kept states, from the last tier to the first."""
        self.win, dtype = self._range_of_merits()
        self._check_memory(len(self.states) * (2 * dtype.itemsize + 2 + 9), "the backward pass")
        self.merits = np.zeros(len(self.states), dtype)
        rows, cells = self._directory(team)
        first_tier = self.layers[0].tier
        slots = np.zeros(self.layers[-1].tier - first_tier + 1, np.int32)
        slots[[layer.tier - first_tier for layer in self.layers]] = np.arange(len(self.layers))
        done = 0

        def run(begin: int) -> NDArray[np.int64]:
            report = np.zeros(10, np.int64)
            end = min(begin + CHUNK, layer.end)
            self.kernels.evaluate(
                self.states, self.merits, begin, end, rows, slots, first_tier, cells, self.win, report
            )
            return report

        for layer in reversed(self.layers):
            counts = np.zeros(3, np.int64)
            for report in team.map(run, range(layer.begin, layer.end, CHUNK)):
                self._refuse(report)
                counts += report[WINS : LOSSES + 1]
                done = min(done + CHUNK, len(self.states))
                self.progress("backward", done, len(self.states))
            self.counts.append(tuple(counts.tolist()))
        self.counts.reverse()

    def in_key_order(self, team: Workers) -> Solved:
        """All states in ascending order, with the indices of their values in a palette."""
        merits = _distinct(self.merits)[::-1]
        palette = [value.value_of(merit, is_score_game(self.game), self.win) for merit in merits.tolist()]
        size = len(self.states)
        states = np.empty(size, np.int64)
        indices = np.empty(size, np.uint8 if len(palette) <= 256 else np.int32)
        cuts = self._cuts(max(1, size // PIECE))
        ends = np.cumsum(np.diff(cuts, axis=1).sum(axis=0)).tolist()

        def place(piece: int) -> None:
            parts = [slice(low, high) for low, high in cuts[:, piece : piece + 2].tolist() if low < high]
            keys = np.concatenate([self.states[part] for part in parts] or [states[:0]])
            values = np.concatenate([self.merits[part] for part in parts] or [self.merits[:0]])
            radix_sort_pairs(keys, values, np.empty_like(keys), np.empty_like(values), len(keys))
            begin = ends[piece] - len(keys)
            states[begin : ends[piece]] = keys
            indices[begin : ends[piece]] = len(merits) - 1 - np.searchsorted(merits[::-1], values)

        for piece, _ in enumerate(team.map(place, range(len(ends)))):
            self.progress("sort", ends[piece], size)
        examples = first_examples(states, indices, len(palette)).tolist()
        return Solved(states, indices, palette, examples, self._tier_counts())

    def _starts(self) -> dict[int, list[States]]:
        canonical = canonical_of(self.game, self.symmetry)
        tier: Callable[[int], int] = self.game.tier  # type: ignore[attr-defined]
        starts = sorted({canonical(state) for state in starts_of(self.game)})
        pending: dict[int, list[States]] = {}
        for state in starts:
            pending.setdefault(tier(state), []).append(np.array([state], np.int64))
        return pending

    def _expand(
        self, chunk: tuple[States, int, int]
    ) -> tuple[list[States], list[tuple[int, States]], NDArray[np.int64]]:
        """Kept states, sorted runs of children by tier, and counts of terminal states, of one chunk."""
        states, tier, begin = chunk
        end = min(begin + CHUNK, len(states))
        report = np.zeros(10, np.int64)
        kept_parts: list[States] = []
        runs: list[tuple[int, States]] = []
        counts = np.zeros(3, np.int64)
        while begin < end:
            children, child_tiers, spare = self._scratch(min(CHILDREN, 64 * (end - begin)))
            kept = np.empty(end - begin, np.int64)
            reached = self.kernels.expand(states, begin, end, tier, kept, children, child_tiers, report)
            self._refuse(report)
            if reached == begin:
                self._scratch(2 * len(children))
                continue
            begin = reached
            kept_parts.append(kept[: report[KEPT]])
            counts += report[WINS : LOSSES + 1]
            self.largest = max(self.largest, int(report[LARGEST]))
            runs += self._runs(children, child_tiers, spare, report)
        return kept_parts, runs, counts

    def _scratch(self, size: int) -> tuple[States, NDArray[np.int64], States]:
        """This thread's arrays for children, at least this long."""
        arrays: tuple[States, NDArray[np.int64], States] | None = getattr(self.scratch, "arrays", None)
        if arrays is None or len(arrays[0]) < size:
            arrays = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
            self.scratch.arrays = arrays
        return arrays

    def _runs(
        self, children: States, child_tiers: NDArray[np.int64], spare: States, report: NDArray[np.int64]
    ) -> Iterator[tuple[int, States]]:
        """Sorted runs without doubles, one for each tier among the children."""
        count, lowest, highest = int(report[CHILD_COUNT]), int(report[LOWEST]), int(report[HIGHEST])
        if count == 0:
            return
        if highest - lowest >= TIER_SPAN:
            raise GameError(f"moves lead {highest - lowest} tiers apart: number the tiers more densely")
        if lowest == highest:
            yield lowest, children[: sort_unique(children, spare, count)].copy()
            return
        ends = np.empty(highest - lowest + 1, np.int64)
        group_by_tier(children, child_tiers, count, lowest, spare, ends)
        begin = 0
        for tier, end in enumerate(ends.tolist(), lowest):
            if end > begin:
                run = spare[begin:end]
                yield tier, run[: sort_unique(run, children, end - begin)].copy()
            begin = end

    def _merge(self, runs: list[States], team: Workers) -> States:
        """One sorted array without doubles from sorted runs."""
        if len(runs) == 1:
            return runs[0]
        pieces = max(1, sum(map(len, runs)) // PIECE)
        splitters = _splitters(runs, pieces)
        cuts = [[0, *np.searchsorted(run, splitters).tolist(), len(run)] for run in runs]

        def merge(piece: int) -> States:
            keys = np.concatenate([run[cut[piece] : cut[piece + 1]] for run, cut in zip(runs, cuts, strict=True)])
            return keys[: sort_unique(keys, np.empty_like(keys), len(keys))]

        merged = list(team.map(merge, range(len(splitters) + 1)))
        return merged[0] if len(merged) == 1 else np.concatenate(merged)

    def _keep(self, parts: Iterable[States], kept: int) -> int:
        """Append kept states; the number kept so far."""
        for part in parts:
            if kept + len(part) > len(self.states):
                # realloc of a large array moves pages, not bytes, where the system can
                self.states.resize(max(1024, (kept + len(part)) * 5 // 4), refcheck=False)
            self.states[kept : kept + len(part)] = part
            kept += len(part)
        return kept

    def _range_of_merits(self) -> tuple[int, np.dtype[Any]]:
        """The merit of a win at once and the smallest type that holds all merits."""
        largest = self.largest if is_score_game(self.game) else len(self.layers) + 1
        dtype = next(np.dtype(kind) for kind in (np.int8, np.int16, np.int32, np.int64) if largest < np.iinfo(kind).max)
        return int(np.iinfo(dtype).max), dtype

    def _directory(self, team: Workers) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The tiers' rows (begin, shift, prefix, first cell, cells, end) and the cells."""
        rows = np.zeros((len(self.layers), 6), np.int64)
        first_cell = 0
        for row, layer in zip(rows, self.layers, strict=True):
            shift = prefix = count = 0
            if layer.end > layer.begin:
                low, high = int(self.states[layer.begin]), int(self.states[layer.end - 1])
                shift = max(0, ((high - low) * CELL // (layer.end - layer.begin)).bit_length() - 1)
                prefix = low >> shift
                count = (high >> shift) - prefix + 1
            row[:] = layer.begin, shift, prefix, first_cell, count, layer.end
            first_cell += count + 1
        cells = np.zeros(first_cell, np.int32)
        for _ in team.map(lambda row: self.kernels.index_cells(self.states, row, cells), rows):
            pass
        return rows, cells

    def _cuts(self, pieces: int) -> NDArray[np.int64]:
        """cuts[layer, piece]: where each piece of the key range begins among a layer's states; (layers, pieces + 1)."""
        parts = [self.states[layer.begin : layer.end] for layer in self.layers]
        splitters = _splitters(parts, pieces)
        cuts = np.empty((len(parts), len(splitters) + 2), np.int64)
        for row, part, layer in zip(cuts, parts, self.layers, strict=True):
            row[0], row[-1] = layer.begin, layer.end
            row[1:-1] = np.searchsorted(part, splitters) + layer.begin
        return cuts

    def _tier_counts(self) -> list[TierCount]:
        return [
            TierCount(
                layer.tier, layer.reached, sum(layer.terminal), *map(sum, zip(layer.terminal, counts, strict=True))
            )
            for layer, counts in zip(self.layers, self.counts, strict=True)
        ]

    def _refuse(self, report: NDArray[np.int64]) -> None:
        """Raise what a kernel found wrong with the rules."""
        error, culprit = int(report[ERROR]), int(report[CULPRIT])
        if error == SAME_TIER:
            raise MethodError(f"state {culprit} has a move that stays in its tier: solve it by retrograde analysis")
        if error:
            raise GameError(f"state {culprit} {FAULTS[error]}")

    def _check_memory(self, more: int, where: str) -> None:
        """Raise ResourceError if what is held and `more` bytes exceed the budget."""
        needed = self.states.nbytes + more
        if self.memory is not None and needed > self.memory:
            raise ResourceError(
                f"{where} needs {needed / 2**30:.2f} GiB, more than the {self.memory / 2**30:.2f} GiB allowed:"
                " raise --memory or take a smaller game"
            )


@numba.njit(cache=True, nogil=True)
def first_examples(states, indices, count):
    """For each index below count, the first state that has it."""
    examples = np.full(count, -1, np.int64)
    for i in range(len(states)):
        if examples[indices[i]] < 0:
            examples[indices[i]] = states[i]
    return examples


def _splitters(runs: list[States], pieces: int) -> States:
    """Keys that cut the runs together into pieces of about the same length; fewer if keys repeat."""
    if pieces == 1:
        return np.empty(0, np.int64)
    step = max(1, sum(map(len, runs)) // (64 * pieces))
    sample = np.sort(np.concatenate([run[step // 2 :: step] for run in runs]))
    return np.unique(sample[np.arange(1, pieces) * len(sample) // pieces])


def _distinct(merits: NDArray[Any]) -> NDArray[Any]:
    """The distinct merits, ascending."""
    if merits.dtype.itemsize > 2:
        return np.unique(merits)
    span = 1 << 8 * merits.dtype.itemsize
    unsigned = merits.view(f"u{merits.dtype.itemsize}")
    seen = np.zeros(span, bool)
    for begin in range(0, len(merits), 1 << 22):
        seen |= np.bincount(unsigned[begin : begin + (1 << 22)], minlength=span) > 0
    return np.sort(np.flatnonzero(seen).astype(unsigned.dtype).view(merits.dtype))
