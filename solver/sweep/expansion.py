"""What a piece of a tier leads to: its unfinished states, and sorted runs of their children, tier by tier."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.check.conformance import confirmed
from solver.compiled import edges
from solver.compiled.agreement import naming_states
from solver.compiled.edges import CompiledMoves, Edges, Moves
from solver.rules.game import Rules
from solver.store.runs import Scattered, are_scattered, by_tier, runs_of, united, without
from solver.store.shared import shared
from solver.sweep.batch import next_edges

States = NDArray[np.int64]

CHUNK = 1 << 15  # states that one call of a kernel goes through, in all passes
FEW = 1 << 14  # states of a tier with cycles that are closed without files
CHILDREN = 1 << 18  # children of one call, sorted in cache
LOWEST_TIER, HIGHEST_TIER = -(1 << 63), (1 << 63) - 1
REFUSED, KEPT, DROPPED = range(3)  # what becomes of moves that stay in their tier
COUNT, LOWEST, HIGHEST = range(3)  # slots of the report of `expand`; ERROR and CULPRIT are where `keep` has them


@shared
def keep(moves, states, begin, end, kept, report):
    """The unfinished ones of states[begin:end] into `kept`; their number. See `edges.keep`."""
    return edges.keep_open(moves, states, begin, end, kept, report)


@shared
def expand(moves, states, begin, end, tier, staying, listed, report):
    """List the children of unfinished states[begin:end] of a tier while they fit; where, and the first state left over.

    `listed`, or larger arrays, get one entry a move; report (FIELDS,) int64 their number, the range of their tiers, and
    an error with its culprit. `staying`: what becomes of moves that stay in the tier; where they are DROPPED so are, if
    `moves` have a win, those that end the game.
    """
    listed, count, done = next_edges(moves, states, begin, end, listed)
    error = max(0, -count)
    if error:
        report[edges.CULPRIT], count = states[done], 0
    elif staying == DROPPED:
        count = keep_later(moves, tier, count, listed)
    children, tiers, owners = listed.keys, listed.tiers, listed.owners
    lowest, highest, signs = HIGHEST_TIER, LOWEST_TIER, np.int64(0)
    for i in range(count):
        lowest, highest = min(lowest, tiers[i]), max(highest, tiers[i])
        signs |= children[i]
    if signs < 0 or lowest < tier or (lowest == tier and staying == REFUSED):
        for i in range(count):
            wrong = edges.NEGATIVE if children[i] < 0 else edges.TIER_FALLS if tiers[i] < tier else edges.SAME_TIER
            is_same = wrong == edges.SAME_TIER
            if error in (0, edges.SAME_TIER) and (not is_same or (tiers[i] == tier and staying == REFUSED)):
                error, report[edges.CULPRIT] = wrong, states[begin + (owners[i] >> 1)]
    report[COUNT], report[LOWEST], report[HIGHEST], report[edges.ERROR] = count, lowest, highest, error
    return listed, done


@register_jitable
def keep_later(moves, tier, count, listed):
    """Keep of listed moves those to later tiers and, if `moves` have a win, to unfinished states; how many."""
    keys, tiers, merits = listed.keys, listed.tiers, listed.merits
    left = 0
    for i in range(count):
        if tiers[i] > tier and (moves.win == 0 or merits[i] == edges.OPEN):
            keys[left], tiers[left] = keys[i], tiers[i]
            left += 1
    return left


@register_jitable
def keep_distinct(listed, count):
    """Keep of listed moves the first to each child of a state: keys, tiers, owners and merits; how many."""
    keys, tiers, owners, merits = listed.keys, listed.tiers, listed.owners, listed.merits
    left = mark = 0
    owner = np.int64(-1)
    for i in range(count):
        if owners[i] >> 1 != owner:
            mark, owner = left, owners[i] >> 1
        seen = False
        for j in range(mark, left):
            seen = seen or keys[j] == keys[i]
        if not seen:
            keys[left], tiers[left], owners[left], merits[left] = keys[i], tiers[i], owners[i], merits[i]
            left += 1
    return left


@shared
def children_of(moves, states, begin, end, listed):
    """List the children of unfinished states[begin:end], each once for each parent, as far as they fit: the arrays, or
    larger ones, how many, and the first state left over. A state at which the rules err counts as one without any."""
    listed, count, done = next_edges(moves, states, begin, end, listed)
    return listed, keep_distinct(listed, max(0, count)), done + (count < 0)


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
        self.compiled = compiled
        self.rules: Rules = compiled.rules
        self.moves: Moves = compiled.moves
        self._scratch = threading.local()

    def keep(self, states: States) -> tuple[States, NDArray[np.int64]]:
        """The unfinished ones of the states, and the report about the others."""
        kept, report = np.empty(len(states), np.int64), np.zeros(edges.FIELDS, np.int64)
        count = keep(self.moves, states, 0, len(states), kept, report)
        self._refuse(report)
        return kept[:count], report

    def later(self, moves: Moves, tier: int, states: States) -> list[tuple[int, States]]:
        """Runs of the children in later tiers of unfinished states; if `moves` have a win, of the unfinished ones."""
        runs: list[tuple[int, States]] = []
        scattered: list[Scattered] = []
        self._expand(moves, tier, states, DROPPED, runs, scattered)
        return [*runs, *gathered(scattered)]

    def expand(self, tier: int, states: States, closing: bool) -> Found:
        """Expand sorted states of a tier without doubles; where it is `closing` its moves may stay inside.

        Raises GameError where the rules break the protocol, Stays.
        """
        found = Found([states] if closing else [], [], [], len(states), np.zeros(3, np.int64), 1, LOWEST_TIER)
        largest, highest = found.largest, found.highest
        for begin in range(0, len(states), CHUNK):
            chunk = states[begin : begin + CHUNK]
            with naming_states(self.compiled, lambda: chunk):  # noqa: B023
                kept, report = self.keep(chunk)
                staying = KEPT if closing else REFUSED
                highest = max(highest, self._expand(self.moves, tier, kept, staying, found.runs, found.scattered))
            if not closing:
                found.states.append(kept)
            found.terminal[:] += report[edges.WINS : edges.LOSSES + 1]
            largest = max(largest, int(report[edges.LARGEST]))
        return found._replace(largest=largest, highest=highest)

    def closed(self, tier: int, found: Found) -> Found:
        """What the first generation of a tier led to, and the next ones as long as they are few states together."""
        states = found.states[0]
        while len(states) < FEW:
            staying = [run for other, run in found.runs if other == tier]
            if not staying:
                break
            new = without(united(staying), states)
            more, later = self.expand(tier, new, True), [run for run in found.runs if run[0] != tier]
            states = united([states, new])
            found = Found(
                [states],
                later + more.runs,
                found.scattered + more.scattered,
                len(states),
                found.terminal + more.terminal,
                max(found.largest, more.largest),
                max(found.highest, more.highest),
            )
        return found

    def _expand(
        self,
        moves: Moves,
        tier: int,
        kept: States,
        staying: int,
        runs: list[tuple[int, States]],
        scattered: list[Scattered],
    ) -> int:
        """Add what unfinished states lead to; the highest tier among it."""
        at, highest, report = 0, LOWEST_TIER, np.zeros(edges.FIELDS, np.int64)
        listed, spare = self._arrays(min(CHILDREN, 64 * len(kept)))
        while at < len(kept):
            listed, at = expand(moves, kept, at, len(kept), tier, staying, listed, report)
            self._refuse(report)
            if len(spare) < len(listed.keys):
                spare = np.empty_like(listed.keys)
            count, first, last = report[: HIGHEST + 1].tolist()
            highest = max(highest, last)
            if staying != KEPT and are_scattered(count, first, last):
                scattered.append((listed.keys[:count].copy(), listed.tiers[:count].copy()))
            else:
                runs.extend(by_tier(listed.keys, listed.tiers, spare, count, first, last))
        return highest

    def _arrays(self, size: int) -> tuple[Edges, States]:
        """This thread's arrays for so many moves or more, and one to sort in."""
        arrays: tuple[Edges, States] | None = getattr(self._scratch, "arrays", None)
        if arrays is None or len(arrays[1]) < size:
            arrays = self._scratch.arrays = edges.new_edges(size), np.empty(size, np.int64)
        return arrays

    def _refuse(self, report: NDArray[np.int64]) -> None:
        """Raise what a kernel found wrong with the rules."""
        error, culprit = int(report[edges.ERROR]), int(report[edges.CULPRIT])
        if error == edges.SAME_TIER:
            raise Stays(culprit)
        if error:
            raise confirmed(self.rules.game, [culprit], f"state {culprit} {edges.FAULTS[error]}")


def gathered(scattered: Sequence[Scattered]) -> Iterator[tuple[int, States]]:
    """States of many tiers as a sorted run for each tier."""
    if scattered:
        states, tiers = (np.concatenate(arrays) for arrays in zip(*scattered, strict=True))
        yield from runs_of(states, tiers)
