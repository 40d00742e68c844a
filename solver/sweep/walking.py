"""Sizes of the tiers that counting has not reached, from walkers that go down the tiers.

A tier's states are as many as the sum, over all moves from earlier tiers to one of them, of one part in so many as
the child has parents. So a walker that stands for so many states of a tier, and goes on to one of its children, stands
there for as many times that as its state has children, divided by that child's parents: no state counts twice, however
many moves lead to it, and none is remembered.

Rules tell children only, so parents are found from the changes that random play makes to a state, undone. A move
changes a state's number by one of few differences; where rules turn the board for the side to move, two plies do, the
second being the first move of the child. Those that sampled play shows are subtracted from a state, and the rest is a
parent if it is unfinished, has the state among its children, and has a parent itself: other numbers seldom
have. Games whose moves change much at once (sowing, turning discs) have too many differences: `learnt` is None. The
rules are run on numbers that may not be states, which they need not bear: hence a thread that nobody waits for longer
than the time it has.

Where symmetric states are folded walkers go over states as they are: all but few have as many images as any other.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.tiers import SizedTier
from solver.compiled.edges import FIELDS, CompiledMoves, Edges, Moves, keep_open, list_edges, new_edges
from solver.rules.game import STATE_LIMIT, Rules
from solver.store.shared import part, shared
from solver.sweep.expansion import keep_distinct
from solver.sweep.forward import Forward

LEARNT_MOVES = 1 << 15  # moves from which differences are learnt
MAX_WALKERS, MIN_WALKERS = 1 << 14, 1 << 9  # walkers in a tier
WALKERS_PER_TASK = 1 << 7  # of them that a thread takes at a time
TRIAL_TIERS = 6  # counted tiers on which walkers are tried
TRIAL_WALKERS = 1 << 10  # walkers of that trial
# Of the moves walked may have differences that were not learnt, and so many more
UNLEARNT_SHARE, UNLEARNT_SLACK = 0.2, 1 << 8
MAX_STEP_ERROR = 0.06  # a tier, in the trial
LEAST_STEP_ERROR = 0.004  # a tier, however well the trial goes
SOURCE_TIERS = 48  # counted tiers from which moves may skip to those that were not
TIMEOUT_FACTOR = 8.0  # times the time walkers are given; then nobody waits for them
MAX_DIFFERENCES = 4096  # differences
MOST_PARENTS = 1 << 12  # of a state
MISSED = 0.02  # of the moves seen last, that no earlier difference explains
MOVES_PER_STATE = 1 << 12  # moves of a state
DIFFERENCE_BATCH = 32  # differences that are tried together where one parent is enough
States = NDArray[np.int64]


class Walked(NamedTuple):
    """The tiers beyond the counted ones, and the standard error of all their unfinished states, as a part."""

    tiers: list[SizedTier]
    error: float


class Lost(Exception):
    """Walkers cannot find their way: parents are not found, or the counted tiers show that they are not all."""


def walked(forward: Forward, team: Workers, seconds: float, progress: Progress = silent) -> Walked | None:
    """The tiers that `forward` has not reached, in about so many seconds, compiling apart; None where they get lost."""
    walkers = Walkers(forward, CompiledMoves(Rules(forward.rules.game, False), forward.tiers), team, progress)
    walks: list[Walked] = []

    def walk() -> None:
        try:
            walks.append(walkers.beyond(seconds))
        except Exception:
            # Rules that are run on what is not a state may fail in any way
            return

    # Rules on numbers that are not states may not end: nobody waits for this thread.
    thread = threading.Thread(target=walk, daemon=True)
    thread.start()
    thread.join(TIMEOUT_FACTOR * seconds)
    return walks[0] if walks else None


class Walkers:
    """Walkers from the counted tiers of `forward`; `compiled`: its rules, nothing folded."""

    def __init__(self, forward: Forward, compiled: CompiledMoves, team: Workers, progress: Progress = silent) -> None:
        self.forward = forward
        self.team = team
        self.moves = compiled.moves
        self.progress = progress
        self.chance = np.random.default_rng(0)
        self.inverse: Inverse = Inverse(np.empty(0, np.int64), 1, 0, -1, 0)
        # walkers, and what they stand for
        self.waiting: dict[int, list[tuple[States, NDArray[np.float64]]]] = {}
        self.ended: dict[int, float] = {}  # finished states
        # Compile the kernels of walkers, or load them from the cache
        none = np.empty(0, np.int64)
        self._step(none, 0, False)
        learnt(self.moves, none, none)
        self._parents(none, none)

    def beyond(self, seconds: float) -> Walked:
        """The tiers that were not counted. Raises Lost."""
        end, layers = time.monotonic() + seconds, self.forward.layers
        last_tier = self._learn(max(0, len(layers) - SOURCE_TIERS))
        first_layer, begun = len(layers) - TRIAL_TIERS, time.monotonic()
        tried, errors = self._walk(first_layer, lambda tier: TRIAL_WALKERS, layers[-1].number)
        # The error of a step, on average over the tiers of the trial, without what is random after all steps
        guessed = {tier.number: tier.kept for tier in tried}
        logs = [
            math.log(max(1, guessed.get(layer.number, 0)) / layer.kept) for layer in layers[first_layer:] if layer.kept
        ]
        wrong = max(0.0, abs(logs[-1]) - math.hypot(*errors)) / len(logs) if first_layer >= 0 and logs else 1.0
        if wrong > MAX_STEP_ERROR:
            raise Lost
        spent = (time.monotonic() - begun) / max(1, len(tried)) / TRIAL_WALKERS  # seconds a walker

        # Spend the seconds that are left evenly on the tiers that are left.
        def size(tier: int) -> int:
            left = end - time.monotonic()
            return min(MAX_WALKERS, max(MIN_WALKERS, int(left / max(1, last_tier - tier + 1) / spent)))

        tiers, errors = self._walk(len(layers), size, math.inf)
        total, doubt, varied = 0.0, 0.0, 0.0
        for steps, (tier, error) in enumerate(zip(tiers, errors, strict=True), 1):
            # Random errors of independent steps add up in squares, systematic ones one by one.
            varied += error**2
            total += tier.kept
            doubt += tier.kept * math.hypot(math.sqrt(varied), steps * max(LEAST_STEP_ERROR, wrong))
        return Walked(tiers, doubt / max(1.0, total))

    def _learn(self, first_layer: int) -> int:
        """Learn to take moves back, from counted tiers (`first_layer` on) and, beyond them, from random games.

        Returns the last tier that the games come to. Raises Lost if too few moves can be taken back.
        """
        layers, last_tier = self.forward.layers, 0
        parents, children = [], []
        for layer_index in range(first_layer, len(layers)):
            states = self._sample(layer_index, LEARNT_MOVES // (len(layers) - first_layer))
            while len(states):
                ahead, tiers, _ = self._step(states, layers[layer_index].number, False)
                parents.append(states[ahead >= 0])
                children.append(ahead[ahead >= 0])
                last_tier = max(last_tier, int(tiers.max()))
                states = children[-1] if layer_index == len(layers) - 1 else children[-1][:0]
        before, after = np.concatenate(parents), np.concatenate(children)
        order = self.chance.permutation(len(before))
        inverse = learnt(self.moves, before[order], after[order])
        if inverse is None:
            raise Lost
        self.inverse = inverse
        return last_tier

    def _walk(self, known: int, size: Callable[[int], int], last_tier: float) -> tuple[list[SizedTier], list[float]]:
        """Estimate the tiers behind the first `known` ones, up to `last_tier`, and the standard error of each step.

        Raises Lost.
        """
        self.waiting, self.ended = {}, {}
        for layer_index in range(max(0, known - SOURCE_TIERS), known):
            layer = self.forward.layers[layer_index]
            if layer.kept:
                states = self._sample(layer_index, size(layer.number))
                self._advance(states, layer.number, layer.kept / len(states))
            self._arrived(layer.number)
        tiers: list[SizedTier] = []
        errors: list[float] = []
        while self.waiting and min(self.waiting) <= last_tier:
            tier = min(self.waiting)
            states, weights, ended = self._arrived(tier)
            total_weight, room = float(weights.sum()), size(tier)
            # Systematic resampling: evenly spaced points on the sum of weights, from one random offset.
            picked = np.searchsorted(np.cumsum(weights), (np.arange(room) + self.chance.random()) * total_weight / room)
            branching, leads = self._advance(states[np.minimum(picked, len(states) - 1)], tier, total_weight / room)
            reached, moves = (
                round(min(STATE_LIMIT, count)) for count in (total_weight + ended, total_weight * branching)
            )
            tiers.append(SizedTier(tier, reached, round(min(STATE_LIMIT, total_weight)), moves, leads))
            errors.append(float(weights.std() / max(1e-9, weights.mean()) / math.sqrt(len(weights))))
            self.progress("sample", tier, None)
        return tiers, errors

    def _arrived(self, tier: int) -> tuple[States, NDArray[np.float64], float]:
        """Return the walkers that wait in a tier, their weights, and the finished states there."""
        arrivals = self.waiting.pop(tier, [(np.empty(0, np.int64), np.empty(0))])
        states, weights = (np.concatenate(arrays) for arrays in zip(*arrivals, strict=True))
        return states, weights, self.ended.pop(tier, 0.0)

    def _sample(self, layer_index: int, limit: int) -> States:
        """States of a counted tier, at random."""
        states = self.forward.sample(self.forward.layers[layer_index], limit, self.chance)
        self.chance.shuffle(states)
        return states

    def _advance(self, states: States, tier: int, weight: float) -> tuple[float, int]:
        """Move each of some states of a tier on to a child. Each stands for `weight` states.

        Returns the mean number of children, and how many tiers these are in. Raises Lost.
        """
        children, tiers, counts = self._step(states, tier, False)
        has_child = children >= 0
        parents, missed = self._parents(states[has_child], children[has_child])
        # A move inside the tier would need its own walk: give up instead of guessing.
        if counts[:, 1].any() or missed.sum() > UNLEARNT_SHARE * len(missed) + UNLEARNT_SLACK:
            raise Lost
        weights = weight * counts[has_child, 0] / parents
        if missed.any():
            # Learn the differences of these moves, too
            inverse, before = self.inverse, states[has_child][missed]
            last = _last(self.moves, inverse.over, children[has_child][missed])
            new = np.setdiff1d((last - before)[last >= 0], inverse.differences)
            self.inverse = inverse._replace(differences=np.concatenate([inverse.differences, new])[:MAX_DIFFERENCES])
        # Each walker waits in its child's tier, with the number of states that it stands for.
        for later in np.unique(tiers[has_child]).tolist():
            into = tiers[has_child] == later
            self.waiting.setdefault(later, []).append((children[has_child][into], weights[into]))
        leads = len(np.unique(tiers[has_child]))
        ends, tiers, sort = self._step(states, tier, True)
        has_child = ends >= 0
        weights = weight * sort[has_child, 0] / self._parents(states[has_child], ends[has_child])[0]
        for later in np.unique(tiers[has_child]).tolist():
            self.ended[later] = self.ended.get(later, 0.0) + float(weights[tiers[has_child] == later].sum())
        return float(counts[:, 2].mean()), max(1, leads)

    def _step(self, states: States, tier: int, finished: bool) -> tuple[States, States, NDArray[np.int64]]:
        """One later child of each state, finished or not; its tier, and the counts of `inverse.step`."""
        children, tiers = np.empty_like(states), np.empty_like(states)
        counts = np.zeros((len(states), 3), np.int64)
        draws = self.chance.random(len(states))
        step(self.moves, states, tier, finished, draws, children, tiers, counts)
        return children, tiers, counts

    def _parents(self, parents: States, children: States) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How many parents each child has, one of which is known, and whether that was not found."""
        inverse = self.inverse = self.inverse.widened(children)
        counts, missed = np.empty_like(children), np.empty(len(children), np.bool_)

        def count(begin: int) -> None:
            chunk = slice(begin, begin + WALKERS_PER_TASK)
            count_parents(self.moves, inverse, children[chunk], parents[chunk], counts[chunk], missed[chunk])

        self.team.each(count, range(0, max(1, len(children)), WALKERS_PER_TASK))
        return counts, missed


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


@part
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


@shared
def count_parents(
    moves: Moves,
    inverse: Inverse,
    states: NDArray[Any],
    parents: NDArray[Any],
    counts: NDArray[Any],
    missed: NDArray[Any],
) -> None:
    """How many parents each state (n,) has, of which one is known; whether that was not found (n,) bool."""
    all_parents, further = np.empty(MOST_PARENTS, np.int64), np.empty(MOST_PARENTS, np.int64)
    numbers, listed = np.empty((2, len(inverse.differences)), np.int64), new_edges(MOVES_PER_STATE)
    for i in range(len(states)):
        number = _parents(moves, inverse, states, i, MOST_PARENTS, all_parents, numbers, listed)
        good, missed[i] = 0, True
        for j in range(number):
            known = all_parents[j] == parents[i]
            missed[i] = missed[i] and not known
            # A number without a parent of its own is probably no state: play cannot reach it.
            good += known or _parents(moves, inverse, all_parents, j, 1, further, numbers, listed)
        counts[i] = good + missed[i]


@part
def _parents(
    moves: Moves,
    inverse: Inverse,
    states: NDArray[Any],
    index: int,
    limit: int,
    parents: NDArray[Any],
    scratch: NDArray[Any],
    listed: Edges,
) -> Any:
    """Unfinished numbers that have states[index] among their children, `limit` of them at most; how many."""
    last_child = state = states[index]
    if inverse.over == 2:
        count, _ = list_edges(moves, states, index, index + 1, listed)
        if count <= 0:
            return 0
        last_child = listed.keys[0]
    numbers, open_states, report = scratch[0], scratch[1], np.empty(FIELDS, np.int64)
    begin = number = 0
    while begin < len(inverse.differences) and number < limit:
        count, end = 0, min(begin + (DIFFERENCE_BATCH if limit == 1 else len(numbers)), len(inverse.differences))
        for difference in inverse.differences[begin:end]:
            before = last_child - difference
            # Cheap tests first: bits that no state has, or lacks, and the largest state.
            if 0 <= before <= inverse.largest and before & ~inverse.some == 0 and inverse.every & ~before == 0:
                numbers[count] = before
                count += 1
        count, index, begin = keep_open(moves, numbers, 0, count, open_states, report), 0, end
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
