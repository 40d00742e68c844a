"""The parents of a state, by rules that tell children only: the changes that random play makes to a state, undone.

A move changes a state's number by one of few differences; where rules turn the board for the side to move, two plies
do, the second being the first move of the child. Those that sampled play shows are subtracted from a state, and the
rest is a parent if it is unfinished, has the state among its children, and has a parent itself: numbers that are no
states seldom have. Games whose moves change much at once (sowing, turning discs) have too many differences: `learnt` is
None.

The rules are run on numbers that may be no states, which they need not bear: only estimates do that, in a thread that
nobody waits for longer than the time it has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.compiled.edges import FIELDS, Edges, Moves, keep_open, list_edges, new_edges
from solver.store.shared import shared
from solver.sweep.expansion import keep_distinct

States = NDArray[np.int64]

MAX_DIFFERENCES = 4096  # differences
MOST_PARENTS = 1 << 12  # of a state
MISSED = 0.02  # of the moves seen last, that no earlier difference explains
MOVES_PER_STATE = 1 << 12  # moves of a state
DIFFERENCE_BATCH = 32  # differences that are tried together where one parent is enough


class Inverse(NamedTuple):
    """A way to take moves back: parent = child - difference.

    Attributes:
        differences: (n,) int64, frequent ones first.
        over: Plies that a difference spans, 1 or 2.
        some: Bits that some state has.
        every: Bits that all states have.
        largest: The largest state.
    """

    differences: States
    over: int
    some: int
    every: int
    largest: int

    def widened(self, states: States) -> Inverse:
        """With more states known."""
        if not len(states):
            return self
        some_bits, every = int(np.bitwise_or.reduce(states)), int(np.bitwise_and.reduce(states))
        return self._replace(
            some=self.some | some_bits, every=self.every & every, largest=max(self.largest, int(states.max()))
        )


def learnt(moves: Moves, parents: States, children: States) -> Inverse | None:
    """Learn to take moves back, from pairs of a parent and its child in random order.

    The differences of the first half must explain the second half. Returns None if they do not.
    """
    for over in (1, 2):
        last_children = _last(moves, over, children)
        has_child = last_children >= 0
        differences = last_children[has_child] - parents[has_child]
        half = len(differences) // 2
        # Learn from one half of the moves and test on the other, as for any model.
        missed = ~np.isin(differences[half:], differences[:half])
        known, often = np.unique(differences, return_counts=True)
        if half and missed.mean() <= MISSED and len(known) <= MAX_DIFFERENCES:
            return Inverse(known[np.argsort(-often, kind="stable")], over, 0, -1, 0).widened(parents).widened(children)
    return None


def taught(moves: Moves, inverse: Inverse, parents: States, children: States) -> Inverse:
    """With the differences of these moves, too."""
    last_children = _last(moves, inverse.over, children)
    new_differences = np.setdiff1d((last_children - parents)[last_children >= 0], inverse.differences)
    return inverse._replace(differences=np.concatenate([inverse.differences, new_differences])[:MAX_DIFFERENCES])


def _last(moves: Moves, over: int, children: States) -> States:
    """Return the states that differences are taken from: the children, or the first child of each, -1 without any."""
    if over == 1:
        return children
    firsts = np.empty_like(children)
    first_children(moves, children, firsts, new_edges(MOVES_PER_STATE))
    return firsts


@shared
def first_children(moves: Moves, states: NDArray[Any], firsts: NDArray[Any], listed: Edges) -> None:
    """The first child of each state (n,), -1 where it has none."""
    for i in range(len(states)):
        count, _ = list_edges(moves, states, i, i + 1, listed)
        firsts[i] = listed.keys[0] if count > 0 else -1


@shared
def step(
    moves: Moves,
    states: NDArray[Any],
    tier: int,
    finished: bool,
    draws: NDArray[Any],
    children: NDArray[Any],
    tiers: NDArray[Any],
    counts: NDArray[Any],
) -> None:
    """Move each unfinished state of a tier (n,) to one of its children in later tiers, at random.

    Args:
        finished: Whether to choose among the finished children, or among the unfinished ones.
        draws: (n,) random numbers in [0, 1).
        children: (n,) gets the children. -1 if a state has none.
        tiers: (n,) gets their tiers.
        counts: (n, 3) int64 gets the children of that sort, those that stay in the tier, and all. Each child counts
            once.
    """
    listed = new_edges(MOVES_PER_STATE)
    open_states, report = np.empty(1, np.int64), np.zeros(FIELDS, np.int64)
    for i in range(len(states)):
        sort, staying, every = _distinct(moves, states, i, tier, finished, listed, open_states, report)
        counts[i, 0], counts[i, 1], counts[i, 2] = sort, staying, every
        children[i], tiers[i] = -1, 0
        # Choose one child uniformly; its number of parents corrects the weight later.
        if sort:
            chosen = int(draws[i] * sort)
            children[i], tiers[i] = listed.keys[chosen], listed.tiers[chosen]


@register_jitable
def _distinct(
    moves: Moves,
    states: NDArray[Any],
    index: int,
    tier: int,
    finished: bool,
    listed: Edges,
    open_states: Any,
    report: NDArray[Any],
) -> tuple[Any, Any, Any]:
    """List the later children of a state that are of the sort asked for, at the front of `listed`.

    Returns how many there are, how many children stay in the tier, and how many children there are in all.
    """
    count, _ = list_edges(moves, states, index, index + 1, listed)
    keys, tiers, different = listed.keys, listed.tiers, keep_distinct(listed, count)
    sort = staying = 0
    for j in range(different):
        if tiers[j] == tier:
            staying += 1
        elif (keep_open(moves, keys, j, j + 1, open_states, report) == 0) == finished:
            keys[sort], tiers[sort] = keys[j], tiers[j]
            sort += 1
    return sort, staying, different


class Bench(NamedTuple):
    """Scratch arrays of the search for parents: candidates, unfinished ones, moves, two lists of parents, a report."""

    numbers: Any
    kept: Any
    listed: Any
    found: Any
    further: Any
    report: Any


def bench(inverse: Inverse) -> Bench:
    """Return the scratch arrays of a thread."""
    count = len(inverse.differences)
    numbers, open_states = np.empty(count, np.int64), np.empty(count, np.int64)
    parents, further = np.empty(MOST_PARENTS, np.int64), np.empty(MOST_PARENTS, np.int64)
    return Bench(numbers, open_states, new_edges(MOVES_PER_STATE), parents, further, np.zeros(FIELDS, np.int64))


@shared
def count_parents(
    moves: Moves,
    inverse: Inverse,
    states: NDArray[Any],
    parents: NDArray[Any],
    scratch: Bench,
    counts: NDArray[Any],
    missed: NDArray[Any],
) -> None:
    """How many parents each state (n,) has, of which one is known; whether that was not found (n,) bool."""
    for i in range(len(states)):
        number = _parents(moves, inverse, states, i, MOST_PARENTS, scratch.found, scratch)
        good, missed[i] = 0, True
        for j in range(number):
            known = scratch.found[j] == parents[i]
            missed[i] = missed[i] and not known
            # A number without a parent of its own is probably no state: play cannot reach it.
            good += known or _parents(moves, inverse, scratch.found, j, 1, scratch.further, scratch)
        counts[i] = good + missed[i]


@register_jitable
def _parents(
    moves: Moves, inverse: Inverse, states: NDArray[Any], index: int, limit: int, parents: NDArray[Any], scratch: Bench
) -> Any:
    """Unfinished numbers that have states[at] among their children, `limit` of them at most; how many."""
    last_child = state = states[index]
    if inverse.over == 2:
        count, _ = list_edges(moves, states, index, index + 1, scratch.listed)
        if count <= 0:
            return 0
        last_child = scratch.listed.keys[0]
    numbers, open_states, listed = scratch.numbers, scratch.kept, scratch.listed
    begin = number = 0
    while begin < len(inverse.differences) and number < limit:
        count, end = 0, min(begin + (DIFFERENCE_BATCH if limit == 1 else len(numbers)), len(inverse.differences))
        for difference in inverse.differences[begin:end]:
            before = last_child - difference
            # Cheap tests first: bits that no state has, or lacks, and the largest state.
            if 0 <= before <= inverse.largest and before & ~inverse.some == 0 and inverse.every & ~before == 0:
                numbers[count] = before
                count += 1
        count, index, begin = keep_open(moves, numbers, 0, count, open_states, scratch.report), 0, end
        while index < count and number < limit:
            edges, next_state = list_edges(moves, open_states, index, count, listed)
            owner = -1
            for j in range(edges):
                # Two moves to the same child make one parent.
                if listed.keys[j] == state and listed.owners[j] >> 1 != owner and number < limit:
                    owner = listed.owners[j] >> 1
                    parents[number] = open_states[index + owner]
                    number += 1
            index = max(next_state, index + 1) if edges >= 0 else next_state + 1
    return number
