"""How many states a game with cycles has, from searches that follow only a part of them.

A search keeps the states whose hash is below a threshold, so each state is kept or left out for good, whatever move
leads to it. A kept state is missed if no kept state leads to it. How many those are is told by the states that were
reached once, and twice: f1 ** 2 / (2 * f2) at least (Chao, Nonparametric Estimation of the Number of Classes in a
Population, 1984). Small parts miss whole regions, so the part is doubled as long as there is time.

Cost: 9 bytes for each of twice to four times the states kept, and the listing of their moves.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.extras import working_memory
from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import MOVES_PER_CALL, NOT_TERMINAL, Edges, Moves, new_edges
from solver.store.shared import part, shared
from solver.sweep.expansion import Expansion, list_children
from solver.sweep.forward import Forward, starts_of

HASH_BITS = 20  # of a hash that say whether a state is kept
HALVINGS = 6  # the first part is one in 64
SEEDS = 20_000  # states that are followed whole, before a part of the others is
CHUNK = 1 << 13  # states whose moves are listed in one call
FIRST_TABLE = 1 << 16
EACH = 9  # bytes of a place in the table
LEAST = 1 << 15  # states of a part that say anything
MISSED = 1.5  # times the states counted: an estimate beyond it says too little
SPREAD = 1.05  # of any estimate, up and down
TABLE_BYTES = 1 << 30  # bytes of the table, at most
States = NDArray[np.int64]


class Seen(NamedTuple):
    """A hash table of the unfinished states that a search of a part has kept.

    Attributes:
        keys: The states. -1 in an empty slot.
        times: How often each was reached, up to 255.
    """

    keys: States
    times: NDArray[np.uint8]


class Part(NamedTuple):
    """A search to its end: the part of all states followed, those reached, and how many there are in all."""

    share: float
    reached: int
    estimate: float


class Thinned(NamedTuple):
    """Unfinished states of a game, and the fewest and the most that there may be."""

    states: int
    least: int
    most: int


@part
def hashed(state: Any) -> Any:
    """A hash of 63 bits. No product leaves 63 bits, so plain Python gives the same."""
    mixed = (state & 0xFFFFFFFF) * 0x5BD1E995 ^ (state >> 32) * 0x2C1B3C6D
    mixed ^= mixed >> 31
    mixed = (mixed & 0xFFFFFFFF) * 0x45D9F3B7 ^ mixed >> 32
    return mixed ^ mixed >> 29


@shared
def list_kept(
    moves: Moves, states: NDArray[Any], begin: int, end: int, below: int, listed: Edges
) -> tuple[Any, Any, Any]:
    """List the unfinished children of states[begin:end] whose hash is below a threshold, as many as fit.

    A child is listed once for each parent. Returns the arrays, or larger ones, how many children, and the first state
    left over.
    """
    listed, count, next_state = list_children(moves, states, begin, end, listed)
    keys, left = listed.keys, 0
    for i in range(count):
        if listed.merits[i] == NOT_TERMINAL and hashed(keys[i]) >> 32 & (1 << HASH_BITS) - 1 < below:
            keys[left] = keys[i]
            left += 1
    return listed, left, next_state


@shared
def enter(visited: Any, states: NDArray[Any], fresh: NDArray[Any]) -> Any:
    """Count the states as reached once more; how many are new, which go into `fresh`."""
    keys, times = visited
    mask, new = len(keys) - 1, 0
    for state in states:
        slot = hashed(state) & mask
        while keys[slot] >= 0 and keys[slot] != state:
            slot = slot + 1 & mask
        if keys[slot] < 0:
            keys[slot] = state
            fresh[new] = state
            new += 1
        if times[slot] < 255:
            times[slot] += 1
    return new


@shared
def grow(visited: Any, larger: Any) -> None:
    """Enter the states of a table into a larger one."""
    mask = len(larger.keys) - 1
    for i in range(len(visited.keys)):
        if visited.keys[i] >= 0:
            slot = hashed(visited.keys[i]) & mask
            while larger.keys[slot] >= 0:
                slot = slot + 1 & mask
            larger.keys[slot], larger.times[slot] = visited.keys[i], visited.times[i]


@shared
def frequencies(visited: Any, below: int) -> tuple[Any, Any, Any]:
    """How many states whose hash is below the threshold were seen, once, and twice."""
    visited_count = once = twice = 0
    for i in range(len(visited.keys)):
        if visited.keys[i] >= 0 and hashed(visited.keys[i]) >> 32 & (1 << HASH_BITS) - 1 < below:
            visited_count += 1
            once += visited.times[i] == 1
            twice += visited.times[i] == 2
    return visited_count, once, twice


def table_of(size: int) -> Seen:
    """An empty table."""
    return Seen(np.full(size, -1, np.int64), np.zeros(size, np.uint8))


class Thinning:
    """Searches of parts of a game, each twice as large as the last."""

    def __init__(self, forward: Forward, team: Workers, memory: int, progress: Progress) -> None:
        self.compiled, self.expansion = forward.compiled, Expansion(forward.compiled)
        self.moves = forward.compiled.valued(1)
        self.team, self.memory, self.progress = team, memory, progress
        # Compile the kernels of a search, or load them from the cache
        list_kept(self.moves, np.empty(0, np.int64), 0, 0, 0, new_edges(1))
        visited = table_of(2)
        enter(visited, np.empty(0, np.int64), np.empty(0, np.int64))
        grow(visited, table_of(2))
        frequencies(visited, 0)

    def parts(self, seconds: float) -> list[Part]:
        """The searches that came to their end in so many seconds, the largest last."""
        begun, results = time.monotonic(), list[Part]()
        for halvings in range(HALVINGS, -1, -1):
            first_started = time.monotonic()
            result = self._search(1 << HASH_BITS - halvings, begun + seconds)
            if result is None:
                break
            results.append(result)
            if time.monotonic() + 2 * (time.monotonic() - first_started) > begun + seconds:
                break
        return results

    def _search(self, below: int, deadline: float) -> Part | None:
        """Follow the states whose hash is below a threshold; None where time or memory ends first."""
        visited, reached = table_of(FIRST_TABLE), 0
        waiting = [self.expansion.keep(np.unique(keys))[0] for keys, _ in starts_of(self.compiled, 1 << 22)]
        front, visited = self._entered(visited, reached, np.unique(np.concatenate(waiting)))
        while len(front):
            reached += len(front)
            threshold = below if reached > SEEDS else 1 << HASH_BITS
            children_parts: list[States] = []

            def children_of(begin: int, front: States = front, threshold: int = threshold) -> States:
                end, children = min(begin + CHUNK, len(front)), [np.empty(0, np.int64)]
                listed = new_edges(MOVES_PER_CALL)
                while begin < end:
                    listed, count, begin = list_kept(self.moves, front, begin, end, threshold, listed)
                    children.append(listed.keys[:count].copy())
                return np.concatenate(children)

            for states in self.team.map(children_of, range(0, len(front), CHUNK)):
                new, visited = self._entered(visited, reached + sum(map(len, children_parts)), states)
                children_parts.append(new)
                if time.monotonic() > deadline or EACH * len(visited.keys) > self.memory:
                    return None
            self.progress("sample", reached, None)
            front = np.concatenate(children_parts)
        visited_count, once, twice = frequencies(visited, below)
        share = below / (1 << HASH_BITS)
        return Part(
            share, visited_count, (visited_count + (once * once / (2 * max(1, twice)) if share < 1 else 0)) / share
        )

    def _entered(self, visited: Seen, known: int, states: States) -> tuple[States, Seen]:
        """The states that are new, and the table, larger if it would be more than half full."""
        while 2 * (known + len(states)) > len(visited.keys):
            larger = table_of(2 * len(visited.keys))
            grow(visited, larger)
            visited = larger
        fresh = np.empty(len(states), np.int64)
        return fresh[: enter(visited, states, fresh)], visited


def thinned(forward: Forward, team: Workers, seconds: float, progress: Progress) -> Thinned | None:
    """Estimate a game's states by searching parts of it, in about so many seconds, without compiling.

    Returns None if the parts tell too little.
    """
    thinning = Thinning(forward, team, min(TABLE_BYTES, working_memory(None) // 2), progress)
    return judged(thinning.parts(seconds), forward.found)


def judged(results: list[Part], visited_count: int) -> Thinned | None:
    """Extrapolate from the largest part to the whole, of which so many states were found already."""
    if not results:
        return None
    latest = results[-1]
    if latest.share == 1:
        return Thinned(latest.reached, latest.reached, latest.reached)
    counted = latest.reached / latest.share
    missed = latest.estimate / counted
    if latest.reached < LEAST or missed > MISSED or latest.estimate < visited_count:
        return None
    return Thinned(round(latest.estimate), round(counted / SPREAD), round(latest.estimate * max(missed**2, SPREAD)))
