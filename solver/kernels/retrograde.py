"""Retrograde analysis of a win-lose-draw game with cycles, compiled, on all cores.

All reachable states are found breadth first and sorted. A reverse index then lists the parents of each state, and
from the states that a finished game decides, wins and losses go backward, one ply a round: a parent of a lost state is
won; a state whose children are all won by the other is lost as late as the last of them; the rest is drawn.

Cost: 8 bytes a state, 8 for the index's offsets, 4 a move for the index, 6 for counter, merit and round; every move is
looked up twice. Measured figures are in `docs/design.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numba import types as nb
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from solver import value
from solver.errors import GameError, MethodError, ResourceError
from solver.game import Game, game_text, is_score_game
from solver.kernels.compiled import bind, compiling, kernel
from solver.kernels.parallel import Workers
from solver.kernels.sorting import sort_unique
from solver.progress import Progress, silent
from solver.search import refuse_chance
from solver.solved import Solved, TierCount

lift = register_jitable(value.lift)
game: Any = None  # constants of the bound copies
ALTERNATES = FOLDS = False

CHUNK = 1 << 14  # states expanded in one call
WIN = np.iinfo(np.int16).max
OPEN = 0  # the merit of a state that is not resolved, or drawn
NEVER = 1 << 20  # a counter that children cannot bring down: one of them is a draw that ends the game
FINE, NO_ACTIONS, NEGATIVE, BAD_UTILITY, UNKNOWN_CHILD, CROWDED = range(6)
FAULTS = {
    NO_ACTIONS: "has no actions and is not terminal: is_terminal must say so",
    NEGATIVE: "has a child outside [0, 2**63): states are non-negative 63-bit integers",
    BAD_UTILITY: "is terminal with a utility other than -1, 0, 1: a game of margins says score_game = True",
    UNKNOWN_CHILD: "has a child that was not reached before: rules must be deterministic, canonical consistent",
}
States = NDArray[np.int64]


@intrinsic
def fetch_add(typingctx: Any, array: Any, index: Any, number: Any) -> Any:
    """Add to an element of a 1-d array as one step, for all threads; the element before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], view, [arguments[1]])
        amount = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
        return builder.atomic_rmw("add", pointer, amount, "monotonic")

    return array.dtype(array, nb.intp, number), emit


@kernel
def list_starts(starts):
    """The canonical starts, doubles included, as far as they fit into `starts`; how many there are."""
    count = 0
    for state in game.starts():
        if count < len(starts):
            starts[count] = game.canonical(state) if FOLDS else state
        count += 1
    return count


@kernel
def split(states, finished):
    """Put the terminal ones of states into `finished` and close the gaps; the numbers of both."""
    count = over = 0
    for i in range(len(states)):
        state = states[i]
        if game.is_terminal(state):
            finished[over] = state
            over += 1
        else:
            states[count] = state
            count += 1
    return count, over


@kernel
def reach(states, begin, end, children, finished, report):
    """The children of states[begin:end], canonical: unfinished ones in `children`, finished ones in `finished`.

    report (5,) int64 gets their numbers, a fault and its state, and the states done.
    """
    count = over = 0
    for i in range(begin, end):
        state = states[i]
        found = 0
        if count + 1024 > len(children) or over + 1024 > len(finished):
            report[2] = CROWDED
            report[4] = i
            break
        for action in game.actions(state):
            child = game.result(state, action)
            found += 1
            if child < 0:
                report[2], report[3] = NEGATIVE, state
                return
            key = game.canonical(child) if FOLDS else child
            if game.is_terminal(child):
                if over == len(finished):
                    report[2], report[3] = CROWDED, state
                    report[4] = i
                    return
                finished[over] = key
                over += 1
            else:
                if count == len(children):
                    report[2], report[3] = CROWDED, state
                    report[4] = i
                    return
                children[count] = key
                count += 1
        if found == 0:
            report[2], report[3] = NO_ACTIONS, state
            return
        report[4] = i + 1
    report[0], report[1] = count, over


@kernel
def place_of(states, key, cells, shift):
    """The index of a key among sorted states, or -1; cells[prefix] is where the keys of a prefix begin."""
    prefix = key >> shift
    if prefix + 1 >= len(cells):
        return np.int64(-1)
    low, high = cells[prefix], cells[prefix + 1]
    while low < high:
        middle = (low + high) // 2
        if states[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(states) and states[low] == key else np.int64(-1)


@kernel
def count_parents(states, begin, end, cells, shift, degrees, left, merits, report):
    """The in-degree of every state; of states[begin:end] the children still open, and merits that finished games give.

    degrees (n + 1,) int64 counts at place + 1; left (n,) int32; merits (n,) int16.
    """
    for i in range(begin, end):
        state = states[i]
        still = 0
        best = -WIN - 1
        for action in game.actions(state):
            child = game.result(state, action)
            if game.is_terminal(child):
                utility = game.utility(child)
                if utility < -1 or utility > 1:
                    report[2], report[3] = BAD_UTILITY, child
                    return
                same = not ALTERNATES and game.to_move(child) == game.to_move(state)
                best = max(best, lift(utility * WIN, same, False))
                if utility == 0:
                    still = NEVER
                continue
            place = place_of(states, game.canonical(child) if FOLDS else child, cells, shift)
            if place < 0:
                report[2], report[3] = UNKNOWN_CHILD, state
                return
            fetch_add(degrees, place + 1, 1)
            still += 1
        left[i] = still
        if best > 0 or (still == 0 and best < 0):
            merits[i] = best


@kernel
def list_parents(states, begin, end, cells, shift, ends, parents):
    """Enter states[begin:end] into the lists of their children: parents[ends[place]], twice the index, odd if the same
    player moved again; `ends` go up."""
    for i in range(begin, end):
        state = states[i]
        for action in game.actions(state):
            child = game.result(state, action)
            if not game.is_terminal(child):
                place = place_of(states, game.canonical(child) if FOLDS else child, cells, shift)
                same = 0
                if not ALTERNATES:
                    same = 1 if game.to_move(child) == game.to_move(state) else 0
                parents[fetch_add(ends, place, 1)] = 2 * i + same


@numba.njit(cache=True, nogil=True)
def go_back(front, begins, parents, left, merits, reached):
    """The parents that the states of `front`, all of one distance, resolve; their number. `reached` gets them."""
    count = 0
    for place in front:
        merit = np.int64(merits[place])
        for at in range(begins[place], begins[place + 1]):
            parent = np.int64(parents[at]) >> 1
            if merits[parent] != OPEN:
                continue
            lifted = lift(merit, parents[at] & 1 == 1, False)
            if lifted < 0:
                left[parent] -= 1
                if left[parent] > 0:
                    continue
            merits[parent] = lifted
            reached[count] = parent
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def merged(first, second):
    """Two sorted arrays without doubles as one, and the second without what the first has."""
    both = np.empty(len(first) + len(second), np.int64)
    new = np.empty(len(second), np.int64)
    i = j = count = fresh = 0
    while i < len(first) or j < len(second):
        if j == len(second) or (i < len(first) and first[i] < second[j]):
            both[count] = first[i]
            i += 1
        elif i < len(first) and first[i] == second[j]:
            both[count] = first[i]
            i += 1
            j += 1
        else:
            both[count] = new[fresh] = second[j]
            fresh += 1
            j += 1
        count += 1
    return both[:count], new[:fresh]


def solve(
    game: Game,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress = silent,
) -> Solved:
    """The value of every state reachable from the game's starts.

    Raises MethodError on a game with scores or chance, GameError with the offending state if the rules break the
    protocol, ResourceError before more than about `memory` bytes are used.
    """
    refuse_chance(game, "retrograde analysis")
    if is_score_game(game):
        raise MethodError(f"{game_text(game)} is a score game, which retrograde analysis cannot take: use minimax")
    analysis = _Analysis(game, symmetry, memory, progress)
    with Workers(workers) as team, compiling(game):
        analysis.find_states(team)
        analysis.index(team)
        analysis.resolve()
    return analysis.solved()


class _Analysis:
    """The arrays of one analysis, in the order of the states."""

    def __init__(self, game: Game, symmetry: bool, memory: int | None, progress: Progress) -> None:
        self.game = game
        self.kernels = bind(sys.modules[__name__], game, symmetry)
        self.memory = memory
        self.progress = progress
        self.states: States = np.empty(0, np.int64)
        self.finished: States = np.empty(0, np.int64)

    def find_states(self, team: Workers) -> None:
        """All reachable states, unfinished and finished ones."""
        starts = np.empty(self.kernels.list_starts(self.states), np.int64)
        self.kernels.list_starts(starts)
        starts = _union([starts])
        finished = np.empty_like(starts)
        count, over = self.kernels.split(starts, finished)
        self.states, self.finished = starts[:count].copy(), finished[:over].copy()
        front = self.states
        while len(front):
            runs: list[States] = []
            for children, over in team.map(lambda begin, front=front: self._reach(front, begin), self._chunks(front)):  # type: ignore[misc]
                runs.append(children)
                self.finished = merged(self.finished, over)[0]
                if len(runs) > 64:
                    runs = [_union(runs)]
            self.states, front = merged(self.states, _union(runs))
            self.progress("reach", len(self.states), None)
            self._check_memory(3 * self.states.nbytes + self.finished.nbytes)

    def index(self, team: Workers) -> None:
        """The reverse index."""
        states, size = self.states, len(self.states)
        bits = min(24, size.bit_length())
        self.shift = max(0, (int(states[-1]).bit_length() if size else 0) - bits)
        self.cells = np.searchsorted(states, np.arange((1 << bits) + 1, dtype=np.int64) << self.shift)
        self.begins = np.zeros(size + 1, np.int64)
        self.left = np.zeros(size, np.int32)
        self.merits = np.full(size, OPEN, np.int16)

        def count(begin: int) -> NDArray[np.int64]:
            report = np.zeros(5, np.int64)
            end = min(begin + CHUNK, size)
            self.kernels.count_parents(
                states, begin, end, self.cells, self.shift, self.begins, self.left, self.merits, report
            )
            return report

        for begin, report in zip(self._chunks(states), team.map(count, self._chunks(states)), strict=True):
            self._refuse(report)
            self.progress("count parents", min(begin + CHUNK, size), size)
        np.cumsum(self.begins, out=self.begins)
        moves = int(self.begins[-1])
        kind = np.uint32 if 2 * size < 1 << 32 else np.int64
        self._check_memory(states.nbytes * 4 + moves * np.dtype(kind).itemsize)
        self.parents = np.empty(moves, kind)
        ends = self.begins[:-1].copy()

        def enter(begin: int) -> None:
            end = min(begin + CHUNK, size)
            self.kernels.list_parents(states, begin, end, self.cells, self.shift, ends, self.parents)

        for begin, _ in zip(self._chunks(states), team.map(enter, self._chunks(states)), strict=True):
            self.progress("list parents", min(begin + CHUNK, size), size)

    def resolve(self) -> None:
        """Backward by distance."""
        front = np.flatnonzero(self.merits != OPEN)
        reached = np.empty(len(self.states), np.int64)
        done = 0
        while len(front):
            done += len(front)
            self.progress("resolve", done, len(self.states))
            count = go_back(front, self.begins, self.parents, self.left, self.merits, reached)
            front = np.sort(reached[:count])
            if count and abs(int(self.merits[front[0]])) <= 2:
                raise GameError(f"{game_text(self.game)} has wins of more than {WIN - 2:,} plies")

    def solved(self) -> Solved:
        """States, values and counts."""
        merits = np.unique(self.merits)[::-1] if len(self.merits) < 1 << 16 else _distinct(self.merits)
        places = len(merits) - 1 - np.searchsorted(merits[::-1], self.merits)
        indices = places.astype(np.uint8 if len(merits) <= 256 else np.int32)
        palette = [value.value_of(merit, False, WIN) for merit in merits.tolist()]
        examples = [int(self.states[np.argmax(indices == place)]) for place in range(len(palette))]
        utilities = np.array([self.game.utility(state) for state in self.finished.tolist()], np.int64)
        counts = [
            int((np.sign(self.merits) == sign).sum() + (utilities == sign).sum()) for sign in (1, 0, -1)
        ]
        total = len(self.states) + len(self.finished)
        return Solved(self.states, indices, palette, examples, [TierCount(0, total, len(self.finished), *counts)])

    def _reach(self, front: States, begin: int) -> tuple[States, States]:
        """Unfinished and finished children of one chunk, each sorted, without doubles."""
        end = min(begin + CHUNK, len(front))
        room = 1 << 18
        kept: list[States] = []
        over: list[States] = []
        while begin < end:
            children, finished = np.empty(room, np.int64), np.empty(room, np.int64)
            report = np.zeros(5, np.int64)
            self.kernels.reach(front, begin, end, children, finished, report)
            if report[2] != CROWDED:
                self._refuse(report)
            if report[2] == CROWDED and report[4] <= begin:
                room *= 2
                continue
            begin = int(report[4])
            for part, count, parts in ((children, report[0], kept), (finished, report[1], over)):
                parts.append(part[: sort_unique(part, np.empty(int(count), np.int64), int(count))].copy())
        return _union(kept), _union(over)

    def _refuse(self, report: NDArray[np.int64]) -> None:
        if report[2]:
            raise GameError(f"state {report[3]} {FAULTS[int(report[2])]}")

    def _check_memory(self, needed: int) -> None:
        if self.memory is not None and needed > self.memory:
            raise ResourceError(
                f"{len(self.states):,} states need {needed / 2**30:.2f} GiB, more than the"
                f" {self.memory / 2**30:.2f} GiB allowed: raise --memory or take a smaller game"
            )

    @staticmethod
    def _chunks(states: States) -> Iterator[int]:
        return iter(range(0, len(states), CHUNK))


def _union(runs: list[States]) -> States:
    """All keys of several arrays, sorted, without doubles."""
    keys = np.concatenate(runs) if runs else np.empty(0, np.int64)
    return keys[: sort_unique(keys, np.empty_like(keys), len(keys))]


def _distinct(merits: NDArray[np.int16]) -> NDArray[np.int64]:
    """The distinct merits, best first."""
    seen = np.bincount(merits.astype(np.int64) + WIN + 1, minlength=2 * WIN + 2)
    return np.flatnonzero(seen)[::-1] - WIN - 1
