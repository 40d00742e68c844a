"""Kernels over arrays by state: a byte marks each state's tier, and each tier is found by going through the bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.compiled.edges import (
    BATCH_MOVES,
    CULPRIT,
    DRAWS,
    ERROR,
    FIELDS,
    LARGEST,
    LOSSES,
    NEGATIVE,
    NOT_TERMINAL,
    SAME_TIER,
    TIER_FALLS,
    WINS,
    Edges,
    Moves,
    keep_open,
    new_edges,
)
from solver.store.addresses import prefetch
from solver.store.shared import shared
from solver.sweep.batch import FINE, LOST_CHILD, TOO_WIDE, next_edges, widest_of

lift = register_jitable(value.lift)

SOME = 256  # states found before they are expanded together
UNREACHED, FINISHED, MOST_TIERS = 0, 255, 254  # marks: no state, a finished one, the last tier's
REACHED, FIRST, HIGHEST = range(FIELDS, FIELDS + 3)  # more slots of the report
TOO_MANY, BEYOND = 100, 101  # more faults
LOWEST_BYTES = 0x7F7F7F7F7F7F7F7F
ONES = 0x0101010101010101


@register_jitable
def gather(words: NDArray[Any], mark: int, begin: int, end: int, states: NDArray[Any]) -> tuple[Any, Any]:
    """List the indices of the bytes equal to `mark` in words[begin:end], in `states`, until another word might not fit.

    Returns how many there are, and the first word left over.
    """
    count = 0
    # Compare eight bytes at once: after the xor a byte that equals the mark is 0.
    pattern = np.int64(mark) * ONES
    for state in range(begin, end):
        if count + 8 > len(states):
            return count, state
        word = words[state] ^ pattern
        # the high bit of every byte that is zero (Warren, Hacker's Delight, 6-1)
        zeros = ~(((word & LOWEST_BYTES) + LOWEST_BYTES) | word | LOWEST_BYTES)
        while zeros:
            # The lowest set bit belongs to the first byte that matches.
            states[count] = 8 * state + (int(zeros & -zeros).bit_length() >> 3) - 1
            zeros &= zeros - 1
            count += 1
    return count, end


@shared
def expand_tier(
    moves: Moves,
    words: NDArray[Any],
    marks: NDArray[Any],
    mark: int,
    first_tier: int,
    begin: int,
    end: int,
    report: NDArray[Any],
) -> None:
    """Mark the children of the states of a tier in marks[8 * begin:8 * end], the finished ones of it as FINISHED.

    report (FIELDS + 3,) int64 gets the counts, the first state that is not finished, or -1, and an error.
    """
    states, open_states = np.empty(SOME, np.int64), np.empty(SOME, np.int64)
    ends, edges = np.zeros(FIELDS, np.int64), new_edges(BATCH_MOVES)
    cursor, first_open = begin, np.int64(-1)
    reached = wins = draws = losses = largest = 0
    while cursor < end:
        count, cursor = gather(words, mark, cursor, end, states)
        open_count = keep_open(moves, states, 0, count, open_states, ends)
        if ends[ERROR]:
            report[ERROR], report[CULPRIT] = ends[ERROR], ends[CULPRIT]
            return
        reached, wins, draws, losses = reached + count, wins + ends[WINS], draws + ends[DRAWS], losses + ends[LOSSES]
        largest = max(largest, ends[LARGEST])
        if first_open < 0 and open_count:
            first_open = open_states[0]
        # keep_open returned the unfinished states in order; every other one of them is finished.
        if open_count < count:
            open_index = 0
            for i in range(count):
                if open_index < open_count and states[i] == open_states[open_index]:
                    open_index += 1
                else:
                    marks[states[i]] = FINISHED
        expanded = 0
        while expanded < open_count:
            edges, listed, after = next_edges(moves, open_states, expanded, open_count, edges)
            if listed < 0:
                report[ERROR], report[CULPRIT] = -listed, open_states[after]
                return
            error, highest, move = _mark_children(edges, listed, mark, first_tier, marks)
            report[HIGHEST] = max(report[HIGHEST], highest)
            if error:
                report[ERROR], report[CULPRIT] = error, open_states[expanded + (edges.owners[move] >> 1)]
                return
            expanded = after
    report[REACHED], report[WINS], report[DRAWS], report[LOSSES] = reached, wins, draws, losses
    report[LARGEST], report[FIRST] = largest, first_open


@register_jitable
def _mark_children(edges: Edges, count: int, mark: int, first_tier: int, marks: NDArray[Any]) -> tuple[Any, Any, Any]:
    """Mark listed children with their tiers; an error or 0, the highest mark, and the move that has the error."""
    highest = np.int64(0)
    # Marks of children lie anywhere: ask for them together, then write.
    for j in range(count):
        prefetch(marks, edges.keys[j])
    for j in range(count):
        key, slot = edges.keys[j], edges.tiers[j] - first_tier + 1
        if slot <= mark or slot > MOST_TIERS or key < 0 or key >= len(marks):
            error = BEYOND if key >= len(marks) else TOO_MANY
            if key < 0:
                error = NEGATIVE
            elif slot <= mark:
                error = SAME_TIER if slot == mark else TIER_FALLS
            return error, highest, j
        highest = max(highest, slot)
        # Threads may mark the same child. They write the same byte, so no lock is needed.
        if marks[key] == UNREACHED:
            marks[key] = slot
    return 0, highest, 0


@shared
def evaluate_tier(
    moves: Moves,
    words: NDArray[Any],
    mark: int,
    begin: int,
    end: int,
    merits: NDArray[Any],
    tally: NDArray[Any],
    longest: NDArray[Any],
) -> tuple[Any, Any]:
    """The merits of the states of a tier among the numbers [8 * begin, 8 * end), by their children's.

    tally (all merits,) int64 counts them, from the least; longest (2,) int64 has the smallest merit of a win and its
    first state. Returns as `backward.evaluate`.
    """
    states, best, edges = np.empty(SOME, np.int64), np.empty(SOME, np.int64), new_edges(BATCH_MOVES)
    half, widest = np.int64(1) << 8 * merits.itemsize - 1, widest_of(merits)
    cursor = begin
    while cursor < end:
        count, cursor = gather(words, mark, cursor, end, states)
        valued = 0
        # NOT_TERMINAL is below all merits, so the first child always raises it.
        for i in range(count):
            best[i] = NOT_TERMINAL
        while valued < count:
            edges, listed, after = next_edges(moves, states, valued, count, edges)
            for j in range(listed):
                prefetch(merits, edges.keys[j])
            for j in range(listed):
                merit, owner = edges.merits[j], valued + (edges.owners[j] >> 1)
                if merit == NOT_TERMINAL:
                    merit = np.int64(merits[edges.keys[j]])
                    # The least number marks a state that nobody reached.
                    if merit == -half:
                        return LOST_CHILD, states[owner]
                    merit = lift(merit, (edges.owners[j] & 1) == 1, moves.scores)
                    if moves.rewarded:
                        merit += edges.rewards[j]
                best[owner] = max(best[owner], merit)
            valued = after
        for i in range(count):
            if not -widest <= best[i] <= widest:
                return TOO_WIDE, states[i]
            merits[states[i]] = best[i]
            tally[best[i] + half] += 1
            # A small positive merit is a slow win.
            if 0 < best[i] < longest[0]:
                longest[0], longest[1] = best[i], states[i]
    return FINE, np.int64(0)


@shared
def collect(
    merits: NDArray[Any], places: NDArray[Any], begin: int, end: int, states: NDArray[Any], indices: NDArray[Any]
) -> Any:
    """The states among the numbers begin..end, and the indices of their values; how many."""
    half = np.int64(1) << 8 * merits.itemsize - 1
    count = 0
    for state in range(begin, end):
        value_index = places[np.int64(merits[state]) + half]
        states[count], indices[count] = state, value_index
        # Without a branch: the next state overwrites one that does not count.
        count += value_index >= 0
    return count
