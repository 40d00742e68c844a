"""Parts that the auditors share: the states in memory and look-ups among them, marks of those that are reached, counts.

States are cut in two. A table of their leading bits says where the states begin that have them; the other bits take 2,
4 or 8 bytes a state. With 16 other bits (361 million states of connect-four 5x6):

    state      100110101101110101110 0110100111010010
    begins     [100110101101110101110] -> the first such state, and [.. + 1] -> the first after them
    lows                              0110100111010010

So the states of most games take 2 to 4 bytes each, where they would take 8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.compiled.binding import kernel
from solver.store.shared import shared
from solver.store.sorting import lower_bound, upper_bound

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


MOST_CELLS = 22  # leading bits of the table, where more are not needed
SPARE = 3  # as many fewer leading bits than states have numbers: the table takes a byte a state


class Sorted(NamedTuple):
    """Ascending states, split into leading and other bits.

    Attributes:
        begins: (cells + 1,) where the states with the same leading bits begin.
        lows: (n,) the `shift` other bits of each state.
        shift: How many these are.
    """

    begins: NDArray[np.int64]
    lows: NDArray[Any]
    shift: int


def layout(greatest_key: int, count: int) -> tuple[int, Any]:
    """How many bits of each of so many states are stored, the last of which is `greatest_key`, and their dtype."""
    bits, cell_limit = greatest_key.bit_length(), max(0, count.bit_length() - SPARE)
    leading = min(bits, cell_limit, MOST_CELLS)
    for width, dtype in ((16, np.uint16), (32, np.uint32)):
        if bits - width <= cell_limit:
            return min(width, bits - leading), dtype
    return bits - leading, np.int64


@shared
def pack(states: NDArray[Any], cursor: int, shift: int, lows: NDArray[Any], begins: NDArray[Any], cell: int) -> Any:
    """Write the low bits of states that stand from place `cursor` on, and where their cells begin, after `cell`.

    The last cell that has begun; -1 where a state is beyond the last of all.
    """
    mask = (np.int64(1) << shift) - 1
    for i in range(len(states)):
        lows[i] = states[i] & mask
        state_cell = states[i] >> shift
        if state_cell >= len(begins) - 1:
            return np.int64(-1)
        while cell < state_cell:
            cell += 1
            begins[cell] = cursor + i
    return np.int64(cell)


def state_at(states: Sorted, index: int) -> int:
    """The state at a place."""
    cell = int(np.searchsorted(states.begins, index, "right")) - 1
    return cell << states.shift | int(states.lows[index])


class Reached(NamedTuple):
    """Marks (n,) uint8 of the states[low:low + n] that some move leads to."""

    low: int
    marks: NDArray[np.uint8]


@kernel
def mark_starts(stored: Any, reached: Any, begin: int, ends: NDArray[Any], report: NDArray[Any]) -> None:
    """Go on at start number `begin`, until `ends` is full of finished ones: `reached` is set for the others.

    report (4,) int64 gets CHILD_MISSING and the first unfinished start that is missing, the number of the start to go
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
def mark_start(start: Any, stored: Any, reached: Any, ends: NDArray[Any], report: NDArray[Any]) -> None:
    """Mark a start as reached, or add it to `ends` if it is terminal."""
    key = game.canonical(start) if FOLDS else start
    if game.is_terminal(start):
        ends[report[COUNT]] = key
        report[COUNT] += 1
        return
    index = look_up(stored.states, key)
    if index < 0:
        report[FAULT], report[CULPRIT] = CHILD_MISSING, start
    elif reached.low <= index < reached.low + len(reached.marks):
        reached.marks[index - reached.low] = 1


@kernel
def stays(state: Any, key: Any) -> Any:
    """Whether a move to an unfinished state does not raise the tier, so that play may come back."""
    if TIERED:
        return game.tier(key) <= game.tier(state)
    return True


@kernel
def unfit(state: Any) -> Any:
    """Why no book stores this state: TERMINAL, NOT_CANONICAL or VANISHES; FINE where one may."""
    if game.is_terminal(state):
        return TERMINAL
    if FOLDS and game.canonical(state) != state:
        return NOT_CANONICAL
    if VANISHING and game.vanishing(state):
        return VANISHES
    return FINE


@kernel
def tally_ends(ends: NDArray[Any], tiers: NDArray[Any], tallies: NDArray[Any]) -> Any:
    """Tally distinct finished states; the first whose tier is none of `tiers`, or -1."""
    for i in range(len(ends)):
        if not tally(ends[i], game.utility(ends[i]), True, tiers, tallies):
            return ends[i]
    return np.int64(-1)


@kernel
def tally(state: Any, score: int, finished: bool, tiers: NDArray[Any], tallies: NDArray[Any]) -> bool:
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
def look_up(states: Any, key: Any) -> Any:
    """The place of a key in `Sorted` states, or -1."""
    cell = key >> states.shift
    if cell < 0 or cell + 1 >= len(states.begins):
        return np.int64(-1)
    end = states.begins[cell + 1]
    low = lower_bound(states.lows, low_bits(states, key), states.begins[cell], end)
    return low if low < end and states.lows[low] == low_bits(states, key) else np.int64(-1)


@kernel
def low_bits(states: Any, key: Any) -> Any:
    """The bits of a state that `lows` has."""
    return key & ((np.int64(1) << states.shift) - 1)


@kernel
def states_from(states: Any, begin: int, end: int) -> Any:
    """The states (end - begin,) from one place to another."""
    found = np.empty(end - begin, np.int64)
    cell = upper_bound(states.begins, begin, 0, len(states.begins)) - 1
    for index in range(begin, end):
        while states.begins[cell + 1] <= index:
            cell += 1
        found[index - begin] = cell << states.shift | np.int64(states.lows[index])
    return found
