"""What a piece of a tier leads to: its unfinished states, and sorted runs of their children, tier by tier."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import SolverError
from solver.check.conformance import confirmed
from solver.compiled.binding import FAILURES, is_of_compiler
from solver.compiled.edges import (
    BAD_WEIGHT,
    CROWDED,
    CULPRIT,
    ERROR,
    FAULTS,
    FIELDS,
    LARGEST,
    LOSSES,
    MOST_ACTIONS,
    NEGATIVE,
    NO_ACTIONS,
    SAME_TIER,
    TIER_FALLS,
    WINS,
    CompiledMoves,
    Edges,
    Moves,
    keep_open,
    list_edges,
)
from solver.rules.game import Rules
from solver.store.runs import Scattered, are_scattered, by_tier
from solver.store.shared import shared

States = NDArray[np.int64]

CHUNK = 1 << 15  # states expanded in one call
CHILDREN = 1 << 18  # children of one call, sorted in cache
LOWEST_TIER, HIGHEST_TIER = -(1 << 63), (1 << 63) - 1
COUNT, LOWEST, HIGHEST = range(3)  # slots of the report of `expand`; ERROR and CULPRIT are where `keep` has them


@shared
def keep(moves, states, begin, end, kept, report):
    """The unfinished ones of states[begin:end] into `kept`; their number. See `edges.keep`."""
    return keep_open(moves, states, begin, end, kept, report)


@shared
def expand(moves, states, begin, end, tier, stays, listed, report):
    """List the children of unfinished states[begin:end] of a tier while they fit; the first state left over.

    listed (Edges) gets one entry a move; report (FIELDS,) int64 their number, the range of their tiers, and an error
    with its culprit. `stays`: moves may stay in the tier.
    """
    count, done = list_edges(moves, states, begin, end, listed)
    children, tiers, owners = listed.keys, listed.tiers, listed.owners
    lowest, highest, signs = HIGHEST_TIER, LOWEST_TIER, np.int64(0)
    for i in range(count):
        lowest, highest = min(lowest, tiers[i]), max(highest, tiers[i])
        signs |= children[i]
    error = 0
    if signs < 0 or lowest < tier or (lowest == tier and not stays):
        for i in range(count):
            wrong = NEGATIVE if children[i] < 0 else TIER_FALLS if tiers[i] < tier else SAME_TIER
            if error in (0, SAME_TIER) and (wrong != SAME_TIER or (tiers[i] == tier and not stays)):
                error, report[CULPRIT] = wrong, states[begin + (owners[i] >> 1)]
    if count < 0:
        error, report[CULPRIT] = NO_ACTIONS if count == -1 else BAD_WEIGHT, states[done]
        count = 0
    report[COUNT], report[LOWEST], report[HIGHEST], report[ERROR] = count, lowest, highest, error
    return done


class Found(NamedTuple):
    """What a piece of a tier leads to: its states (all of them where the tier is being closed), runs of children and
    those of too many tiers for runs, how many states there were, the finished ones by outcome, their largest margin,
    and the highest tier led to."""

    states: list[States]
    runs: list[tuple[int, States]]
    scattered: list[Scattered]
    reached: int
    terminal: NDArray[np.int64]
    largest: int
    highest: int


class Stays(Exception):
    """A move stays in its tier; the state that has it."""

    def __init__(self, state: int) -> None:
        super().__init__(state)
        self.state = state


class Expansion:
    """Expands pieces of tiers, in any thread."""

    def __init__(self, compiled: CompiledMoves) -> None:
        self.rules: Rules = compiled.rules
        self.moves: Moves = compiled.moves
        self._scratch = threading.local()

    def keep(self, states: States) -> tuple[States, NDArray[np.int64]]:
        """The unfinished ones of the states, and the report about the others."""
        kept, report = np.empty(len(states), np.int64), np.zeros(FIELDS, np.int64)
        count = keep(self.moves, states, 0, len(states), kept, report)
        self._refuse(report)
        return kept[:count], report

    def expand(self, tier: int, states: States, closing: bool) -> Found:
        """Expand sorted states of a tier without doubles; where it is `closing` its moves may stay inside.

        Raises GameError where the rules break the protocol, Stays.
        """
        found = Found([states] if closing else [], [], [], len(states), np.zeros(3, np.int64), 1, LOWEST_TIER)
        largest, highest = found.largest, found.highest
        for begin in range(0, len(states), CHUNK):
            chunk = states[begin : begin + CHUNK]
            try:
                kept, report = self.keep(chunk)
                highest = max(highest, self._expand(tier, kept, closing, found))
            except (SolverError, Stays):
                raise
            except FAILURES as error:
                if is_of_compiler(error):
                    raise
                fault = f"they fail with {type(error).__name__}: {error}"
                raise confirmed(self.rules.game, chunk.tolist(), fault, known=False) from error
            if not closing:
                found.states.append(kept)
            found.terminal[:] += report[WINS : LOSSES + 1]
            largest = max(largest, int(report[LARGEST]))
        return found._replace(largest=largest, highest=highest)

    def _expand(self, tier: int, kept: States, closing: bool, found: Found) -> int:
        """Add what unfinished states lead to; the highest tier among it."""
        at, highest, report = 0, LOWEST_TIER, np.zeros(FIELDS, np.int64)
        room = min(CHILDREN, 64 * len(kept))
        while at < len(kept):
            listed, spare = self._arrays(room)
            done = expand(self.moves, kept, at, len(kept), tier, closing, listed, report)
            self._refuse(report)
            if done == at:
                room = 2 * len(spare)
                if room > 2 * MOST_ACTIONS:
                    raise confirmed(self.rules.game, kept[at : at + 1].tolist(), f"state {kept[at]} {FAULTS[CROWDED]}")
                continue
            count, first, last = report[: HIGHEST + 1].tolist()
            at, highest = done, max(highest, last)
            if not closing and are_scattered(count, first, last):
                found.scattered.append((listed.keys[:count].copy(), listed.tiers[:count].copy()))
            else:
                found.runs.extend(by_tier(listed.keys, listed.tiers, spare, count, first, last))
        return highest

    def _arrays(self, size: int) -> tuple[Edges, States]:
        """This thread's arrays for so many moves or more, and one to sort in."""
        arrays: tuple[Edges, States] | None = getattr(self._scratch, "arrays", None)
        if arrays is None or len(arrays[1]) < size:
            keys, tiers, spare = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
            # merits and rewards are not asked for
            arrays = Edges(keys, tiers, np.empty(size, np.int32), spare, spare, spare), spare
            self._scratch.arrays = arrays
        return arrays

    def _refuse(self, report: NDArray[np.int64]) -> None:
        """Raise what a kernel found wrong with the rules."""
        error, culprit = int(report[ERROR]), int(report[CULPRIT])
        if error == SAME_TIER:
            raise Stays(culprit)
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {FAULTS[error]}")

