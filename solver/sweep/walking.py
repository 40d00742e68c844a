"""Sizes of the tiers that counting has not reached, from walkers that go down the tiers.

A tier's states are as many as the sum, over all moves from earlier tiers to one of them, of one part in so many as
the child has parents. So a walker that stands for so many states of a tier, and goes on to one of its children, stands
there for as many times that as its state has children, divided by that child's parents: no state counts twice, however
many moves lead to it, and none is remembered. `inverse` finds the parents.

Where symmetric states are folded walkers go over states as they are: all but few have as many images as any other.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.tiers import SizedTier
from solver.compiled.edges import CompiledMoves
from solver.rules.game import STATE_LIMIT, Rules
from solver.sweep.forward import Forward
from solver.sweep.inverse import Inverse, bench, count_parents, learnt, step, taught

LEARNT_MOVES = 1 << 15  # moves from which differences are learnt
MAX_WALKERS, MIN_WALKERS = 1 << 14, 1 << 9  # walkers in a tier
WALKERS_PER_TASK = 1 << 7  # of them that a thread takes at a time
TRIAL_TIERS = 6  # counted tiers on which walkers are tried
TRIAL_WALKERS = 1 << 10  # walkers of that trial
UNLEARNT_SHARE, UNLEARNT_SLACK = (
    0.2,
    1 << 8,
)  # of the moves walked may have differences that were not learnt, and so many more
MAX_STEP_ERROR = 0.06  # a tier, in the trial
LEAST_STEP_ERROR = 0.004  # a tier, however well the trial goes
SOURCE_TIERS = 48  # counted tiers from which moves may skip to those that were not
TIMEOUT_FACTOR = 8.0  # times the time walkers are given; then nobody waits for them
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
    walkers.warm()
    walks: list[Walked] = []

    def walk() -> None:
        try:
            walks.append(walkers.beyond(seconds))
        except Exception:
            # Rules that are run on what is no state may fail in any way
            return

    # Rules on numbers that are no states may not end: nobody waits for this thread.
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

    def warm(self) -> None:
        """Compile, or load from the cache, the kernels of walkers."""
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
        wrong = self._wrong(first_layer, {tier.number: tier.kept for tier in tried}, math.hypot(*errors))
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

    def _wrong(self, first_layer: int, guessed: dict[int, int], chance: float) -> float:
        """Return the relative error of a step, on average over the counted tiers from `first_layer` on.

        `chance`, the part of it that is random after all steps, is subtracted. Raises Lost if the error is large.
        """
        logs = [
            math.log(max(1, guessed.get(layer.number, 0)) / layer.kept)
            for layer in self.forward.layers[first_layer:]
            if layer.kept
        ]
        wrong = max(0.0, abs(logs[-1]) - chance) / len(logs) if first_layer >= 0 and logs else 1.0
        if wrong > MAX_STEP_ERROR:
            raise Lost
        return wrong

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
            self.inverse = taught(self.moves, self.inverse, states[has_child][missed], children[has_child][missed])
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
            count_parents(
                self.moves, inverse, children[chunk], parents[chunk], bench(inverse), counts[chunk], missed[chunk]
            )

        for _ in self.team.map(count, range(0, max(1, len(children)), WALKERS_PER_TASK)):
            pass
        return counts, missed
