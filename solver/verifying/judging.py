"""The compiled pass over all states of a book: each value must follow from its children's.

It is compiled once for all games, over their `edges.Moves`. It looks states up in a table of its own. There are three
reducers, which make a state's merit from those of its moves. `best` takes the best. `mean`, of games of chance, takes
the mean of the best that each outcome allows. `mex`, of nimbers, takes the least that no move leads to.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import MIDDLE
from solver.base.value import WIN, merit_of
from solver.book.format import Header
from solver.compiled.binding import kernel
from solver.compiled.edges import BATCH_MOVES, GROUP_SHIFT, NOT_TERMINAL, Moves, lift, new_edges
from solver.store.addresses import prefetch
from solver.store.shared import part, shared
from solver.store.sorting import lower_bound, upper_bound
from solver.sweep.batch import least_unmet, next_edges
from solver.verifying.plainly import GROUNDED, SCORING, UNEVEN

game: Any = None  # constants of the bound copies
FOLDS = TIERED = VANISHING = False

WORST = -(1 << 62)  # below all merits
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


class Sorted(NamedTuple):
    """Ascending states, split into leading and other bits.

    A table of the leading bits says where the states begin that have them; the other bits take 2, 4 or 8 bytes a state.
    With 16 other bits (361 million states of connect-four 5x6):

        state      100110101101110101110 0110100111010010
        begins     [100110101101110101110] -> the first such state, and [.. + 1] -> the first after them
        lows                              0110100111010010

    So the states of most games take 2 to 4 bytes each, where they would take 8.

    Attributes:
        begins: (cells + 1,) where the states with the same leading bits begin.
        lows: (n,) the `shift` other bits of each state.
        shift: How many these are.
    """

    begins: NDArray[np.int64]
    lows: NDArray[Any]
    shift: int


class Reached(NamedTuple):
    """Marks (n,) uint8 of the states[low:low + n] that some move leads to."""

    low: int
    marks: NDArray[np.uint8]


class Stored(NamedTuple):
    """A book's states and values.

    Attributes:
        states: The states.
        indices: Of their values in the palette; of expectations, the numbers that stand for them.
        merits: Merits of the palette. Empty of expectations, whose merits are steps.
        scores: Whether merits are scores, without distances.
        converts: Whether distances are plies to a conversion.
        is_mex: Whether merits are nimbers.
        point: Steps of a margin of 1, 1 but for expectations.
        slack: How far a merit may be from the one that the children give, in 1024ths of a step.
    """

    states: Sorted
    indices: NDArray[Any]
    merits: NDArray[np.int64]
    scores: bool
    converts: bool
    is_mex: bool
    point: int
    slack: int


def stored(states: Sorted, indices: NDArray[Any], header: Header) -> Stored:
    """Return the kernel's view of a book."""
    kind = header.kind
    merits = np.array([merit_of(value) for value in header.palette], np.int64)
    reducer, slack = kind.reducer == "mex", math.ceil(1024 * 2 * kind.error / kind.step)
    return Stored(states, indices, merits, not kind.has_distances, kind.converts, reducer, round(1 / kind.step), slack)


@kernel
def describe(states: NDArray[Any], tiers: NDArray[Any], faults: NDArray[Any], utilities: NDArray[Any]) -> None:
    """Write the tier of each state, its utility if it is finished, and why no book stores it: FINE where one may."""
    for i in range(len(states)):
        state = states[i]
        tiers[i] = game.tier(state) if TIERED else 0
        if game.is_terminal(state):
            faults[i], utilities[i] = TERMINAL, game.utility(state)
        elif FOLDS and game.canonical(state) != state:
            faults[i] = NOT_CANONICAL
        elif VANISHING and game.vanishing(state):
            faults[i] = VANISHES


@shared
def audit(
    moves: Moves,
    stored: Stored,
    reached: Reached,
    begin: int,
    end: int,
    tiers: NDArray[Any],
    ends: NDArray[Any],
    report: NDArray[Any],
) -> None:
    """Check states[begin:end] against their children, until `ends` (capacity) has no room for a batch.

    Args:
        moves: All moves of each state, with the merits of finished children.
        stored: The book.
        reached: The children in its range are marked.
        begin, end: Indices of the states.
        tiers: Their tiers, (end - begin,).
        ends: The finished children, written.
        report: (6,) int64, set: the first fault, its state, where to go on, the finished children in `ends`, the
            look-ups made, and whether some move does not raise the tier.
    """
    report[:] = 0
    states, cursor = states_from(stored.states, begin, end), 0
    listed, places = new_edges(min(BATCH_MOVES, len(ends))), np.empty((2, 0), np.int64)
    # Arrays under names of their own: each access to one in a named tuple would count references
    indices, merits, low, marks = stored.indices, stored.merits, reached.low, reached.marks
    scores, converts, point = stored.scores, stored.converts, stored.point
    # The last state with a move there, by nimber
    met = np.full(0, -1)
    while cursor < end - begin and report[COUNT] + len(listed.keys) <= len(ends):
        report[AT] = begin + cursor
        listed, count, next_state = next_edges(moves, states, cursor, end - begin, listed)
        if count < 0:
            report[FAULT], report[CULPRIT] = WRONG_VALUE, states[next_state]
            return
        if report[COUNT] + count > len(ends):
            return
        places = find_children(stored, listed, count, places, low, marks)
        keys, child_tiers, owners, worths, rewards, weights = listed
        if stored.is_mex and len(met) <= count:
            met = np.full(2 * count + 1, -1)
        j = 0
        for i in range(cursor, next_state):
            report[CULPRIT], report[AT], first, best = states[i], begin + i, j, np.int64(WORST)
            # Give each move its merit, mark its child as reached. States that stay unmarked make the book too large.
            while j < count and cursor + (owners[j] >> 1) == i:
                if worths[j] != NOT_TERMINAL:
                    ends[report[COUNT]] = keys[j]
                    report[COUNT] += 1
                    merit = worths[j] * (WIN - 1 if converts else point)
                else:
                    place = places[0, j]
                    if place < 0:
                        report[FAULT] = CHILD_MISSING
                        return
                    if low <= place < low + len(marks):
                        marks[place - low] = 1
                    report[LOOKS] += 1
                    merit, is_inside = merit_at(indices, merits, place), child_tiers[j] <= tiers[i]
                    report[STAYS] |= is_inside
                    if converts and not is_inside:
                        merit = (WIN if merit > 0 else -WIN) if merit else merit
                    merit = lift(merit, (owners[j] & 1) == 1, scores)
                    if moves.rewarded:
                        merit += rewards[j] * point
                worths[j] = merit
                best = max(best, merit)
                j += 1
            weight = np.int64(1)
            if stored.is_mex:
                best = least_unmet(worths, first, j, met, begin + i)
            elif moves.weighted:
                best, weight = sum_of_best(worths, weights, first, j)
            merit = merit_at(indices, merits, begin + i)
            if abs(merit * weight - best) > weight * stored.slack // 1024:
                report[FAULT] = WRONG_VALUE
                return
        cursor = next_state
        report[AT] = begin + cursor


@part
def merit_at(indices: NDArray[Any], merits: NDArray[Any], place: int) -> Any:
    """The merit of the state at a place, in steps if it is an expectation."""
    index = np.int64(indices[place])
    return merits[index] if len(merits) else index - MIDDLE


def merits_of(stored: Stored, begin: int, end: int) -> NDArray[np.int64]:
    """The merits (end - begin,) of the states from one place to another."""
    indices = stored.indices[begin:end].astype(np.int64)
    return stored.merits[indices] if len(stored.merits) else indices - MIDDLE


@shared
def tally(tiers: NDArray[Any], scores: NDArray[Any], known: NDArray[Any], tallies: NDArray[Any]) -> Any:
    """Count wins, draws and losses by tier: the last three columns of tallies (rows, 5), a row for each `known` tier.

    If none is known, all states are of one. Returns the index of the first state of another tier, or -1.
    """
    row = 0
    for i in range(len(tiers)):
        if len(known):
            row = np.searchsorted(known, tiers[i])
            if row == len(known) or known[row] != tiers[i]:
                return i
        tallies[row, 3 - (scores[i] > 0) + (scores[i] < 0)] += 1
    return -1


@part
def sum_of_best(merits: NDArray[Any], weights: NDArray[Any], first: int, last: int) -> Any:
    """The weighted sum of outcomes of chance, of a group the best, and their weight; the best of moves, and 1."""
    total, total_weight, best, weight, last_group = np.int64(0), np.int64(0), np.int64(WORST), np.int64(0), np.int64(0)
    for j in range(first, last):
        group = weights[j] >> GROUP_SHIFT
        if weights[j] and (group == 0 or group != last_group):
            total += weight * best if weight else 0
            best, weight, last_group = np.int64(WORST), weights[j] & (1 << GROUP_SHIFT) - 1, group
            total_weight += weight
        best = max(best, merits[j])
    return (total + weight * best, total_weight) if total_weight else (best, np.int64(1))


@part
def find_children(stored: Any, listed: Any, count: int, places: Any, low: int, marks: NDArray[Any]) -> Any:
    """Look up the unfinished children of listed moves; return their places, -1 of those that are missing, and scratch.

    `places`: (2, n) int64, room for that.

    Each step is done for all moves before the next, so that their memory accesses overlap.
    """
    states, keys, merits = stored.states, listed.keys, listed.merits
    begins, shift = states.begins, states.shift
    if places.shape[1] < len(keys):
        places = np.empty((2, len(keys)), np.int64)
    for j in range(count):
        prefetch(begins, keys[j] >> shift)
    for j in range(count):
        # A child that the table cannot hold gets an empty range.
        places[0, j] = places[1, j] = 0
        cell = keys[j] >> shift
        if merits[j] == NOT_TERMINAL and cell >= 0 and cell + 1 < len(begins):
            places[0, j], places[1, j] = begins[cell], begins[cell + 1]
            prefetch(states.lows, (places[0, j] + places[1, j]) >> 1)
    for j in range(count):
        if merits[j] == NOT_TERMINAL:
            key, end = low_bits(states, keys[j]), places[1, j]
            place = lower_bound(states.lows, key, places[0, j], end)
            is_stored = place < end and states.lows[place] == key
            places[0, j] = place if is_stored else -1
            # The value is read and the mark written next: ask for both now.
            prefetch(stored.indices, place)
            prefetch(marks, place - low)
    return places


@shared
def mark_starts(stored: Any, reached: Any, starts: NDArray[Any], missing: NDArray[Any]) -> Any:
    """Mark starts as reached. Those that are not stored go into `missing`; return how many they are."""
    count = 0
    for start in starts:
        place = look_up(stored.states, start)
        if place < 0:
            missing[count] = start
            count += 1
        elif reached.low <= place < reached.low + len(reached.marks):
            reached.marks[place - reached.low] = 1
    return count


@shared
def look_up(states: Any, key: Any) -> Any:
    """The place of a key in `Sorted` states, or -1."""
    cell = key >> states.shift
    if cell < 0 or cell + 1 >= len(states.begins):
        return np.int64(-1)
    end = states.begins[cell + 1]
    low = lower_bound(states.lows, low_bits(states, key), states.begins[cell], end)
    return low if low < end and states.lows[low] == low_bits(states, key) else np.int64(-1)


@part
def low_bits(states: Any, key: Any) -> Any:
    """The bits of a state that `lows` has."""
    return key & ((np.int64(1) << states.shift) - 1)


@shared
def states_from(states: Any, begin: int, end: int) -> Any:
    """The states (end - begin,) from one place to another."""
    found = np.empty(end - begin, np.int64)
    cell = upper_bound(states.begins, begin, 0, len(states.begins)) - 1
    for index in range(begin, end):
        while states.begins[cell + 1] <= index:
            cell += 1
        found[index - begin] = cell << states.shift | np.int64(states.lows[index])
    return found


@shared
def states_at(states: Any, places: NDArray[Any]) -> Any:
    """The states at some places."""
    found = np.empty(len(places), np.int64)
    for i in range(len(places)):
        found[i] = states_from(states, places[i], places[i] + 1)[0]
    return found


@shared
def ground(
    moves: Moves,
    stored: Stored,
    endless: NDArray[Any],
    grounded: NDArray[Any],
    pending: NDArray[Any],
    tiers: NDArray[Any],
    left: NDArray[Any],
) -> Any:
    """Set grounded (n,) uint8 of the states at the indices `pending`, as far as can be seen.

    The indices of the others go into `left`. Returns how many there are; -SCORING or -UNEVEN at a state with that
    fault, whose index then comes first.

    Args:
        moves: All moves of each state, with the merits of finished children.
        stored: The book.
        endless: The value of endless play from each of its states. Empty if that is always 0.
        grounded: Whether the value of each of its states is held up.
        pending: Indices of states.
        tiers: Their tiers.
        left: Written.
    """
    states, listed, places = states_at(stored.states, pending), new_edges(BATCH_MOVES), np.empty((2, 0), np.int64)
    indices, merits = stored.indices, stored.merits
    left_count = cursor = 0
    while cursor < len(pending):
        listed, count, next_state = next_edges(moves, states, cursor, len(pending), listed)
        places = find_children(stored, listed, count, places, 0, grounded)
        j = 0
        for i in range(cursor, next_state):
            index = pending[i]
            score, forever = merit_at(indices, merits, index), endless[index] if len(endless) else np.int64(0)
            by_one, by_all = False, True
            while j < count and cursor + (listed.owners[j] >> 1) == i:
                merit, is_held, place, same = listed.merits[j], True, places[0, j], (listed.owners[j] & 1) == 1
                reward = listed.rewards[j] if moves.rewarded else np.int64(0)
                if merit == NOT_TERMINAL:
                    merit = lift(merit_at(indices, merits, place), same, True) + reward
                    if listed.tiers[j] <= tiers[i]:
                        is_held = grounded[place] != 0
                        is_uneven = len(endless) > 0 and lift(endless[place], same, True) != forever
                        if reward or is_uneven:
                            left[0] = index
                            return -SCORING if reward else -UNEVEN
                by_one |= is_held and merit == score
                by_all &= is_held
                j += 1
            if score == forever or (by_one if score > forever else by_all):
                grounded[index] = GROUNDED
            else:
                left[left_count] = index
                left_count += 1
        cursor = next_state
    return left_count
