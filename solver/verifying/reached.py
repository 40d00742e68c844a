"""What the auditors of values and of expectations share: look-ups, marks of the states that are reached, counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.compiled.binding import kernel
from solver.store.sorting import first_from

game: Any = None  # constants of the bound copies
FOLDS = TIERS = TIERED = VANISHING = False

FINE, CHILD_MISSING, WRONG_VALUE, TERMINAL, NOT_CANONICAL, WRONG_TIER, VANISHES = range(7)
FAULT, CULPRIT, AT, COUNT, LOOKS, STAYS = range(6)  # slots of the report
FAULTS = {
    CHILD_MISSING: "has a child that the book lacks",
    WRONG_VALUE: "has another value than its children give it",
    TERMINAL: "is terminal and should not be stored",
    NOT_CANONICAL: "is not the canonical one of its symmetric states",
    VANISHES: "vanishes and should not be stored",
    WRONG_TIER: "or one of its children is of a tier that the header does not list",
}


class Reached(NamedTuple):
    """Marks (n,) uint8 of the states[low:low + n] that some move leads to."""

    low: int
    marks: NDArray[np.uint8]


@kernel
def mark_starts(stored, reached, begin, ends, report):
    """Go on at start number `begin`, until `ends` is full of finished ones: `reached` is set for the others.

    report (5,) int64 gets CHILD_MISSING and the first unfinished start that is missing, the number of the start to go
    on with, and how many finished ones `ends` holds.
    """
    report[:] = 0
    if begin == 0:
        mark_start(game.initial(), stored, reached, ends, report)
    for start in game.starts():
        if report[FAULT] or report[COUNT] == len(ends):
            break
        report[AT] += 1
        if report[AT] > begin:
            mark_start(start, stored, reached, ends, report)


@kernel
def mark_start(start, stored, reached, ends, report):
    key = game.canonical(start) if FOLDS else start
    if game.is_terminal(start):
        ends[report[COUNT]] = key
        report[COUNT] += 1
        return
    if reach(key, stored, reached, report) < 0:
        report[CULPRIT] = start


@kernel
def stays(state, key):
    """Whether a move to an unfinished state does not raise the tier, so that play may come back."""
    if TIERED:
        return game.tier(key) <= game.tier(state)
    return True


@kernel
def unfit(state):
    """Why no book stores this state: TERMINAL, NOT_CANONICAL or VANISHES; FINE where one may."""
    if game.is_terminal(state):
        return TERMINAL
    if FOLDS and game.canonical(state) != state:
        return NOT_CANONICAL
    if VANISHING and game.vanishing(state):
        return VANISHES
    return FINE


@kernel
def reach(key, stored, reached, report):
    """The index of an unfinished state that a move or the start leads to, marked as reached; -1, a fault, without it.

    `stored` has the states, `prefixes` and `shift`.
    """
    place = look_up(stored.states, key, stored.prefixes, stored.shift)
    report[LOOKS] += 1
    if place < 0:
        report[FAULT] = CHILD_MISSING
    elif reached.low <= place < reached.low + len(reached.marks):
        reached.marks[place - reached.low] = 1
    return place


@kernel
def tally_ends(ends, tiers, tallies):
    """Tally distinct finished states; the first whose tier is none of `tiers`, or -1."""
    for i in range(len(ends)):
        if not tally(ends[i], game.utility(ends[i]), True, tiers, tallies):
            return ends[i]
    return np.int64(-1)


@kernel
def tally(state, score, finished, tiers, tallies):
    """Count a state in tallies (tiers, 5); False if its tier is none of `tiers` (sorted)."""
    row = 0
    if TIERS:
        tier = game.tier(state)
        row = np.searchsorted(tiers, tier)
        if row == len(tiers) or tiers[row] != tier:
            return False
    tallies[row, 0] += 1
    tallies[row, 1] += finished
    tallies[row, 2 if score > 0 else 4 if score < 0 else 3] += 1
    return True


@kernel
def look_up(states, key, prefixes, shift):
    """The index of key in states, or -1."""
    prefix = key >> shift
    if prefix < 0 or prefix + 1 >= len(prefixes):
        return -1
    low = first_from(states, key, prefixes[prefix], prefixes[prefix + 1])
    return low if low < len(states) and states[low] == key else -1
