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

LEARNT = 1 << 15  # moves from which differences are learnt
MOST, FEWEST = 1 << 14, 1 << 9  # walkers in a tier
CHUNK = 1 << 7  # of them that a thread takes at a time
TRIED = 6  # counted tiers on which walkers are tried
TRIAL = 1 << 10  # walkers of that trial
UNKNOWN, TAUGHT = 0.2, 1 << 8  # of the moves walked may have differences that were not learnt, and so many more
WRONG = 0.06  # a tier, in the trial
DOUBT = 0.004  # a tier, however well the trial goes
BEFORE = 48  # counted tiers from which moves may skip to those that were not
PATIENCE = 8.0  # times the time walkers are given; then nobody waits for them
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
    found: list[Walked] = []

    def walk() -> None:
        try:
            found.append(walkers.beyond(seconds))
        except Exception:  # rules that are run on what is no state may fail in any way
            return

    thread = threading.Thread(target=walk, daemon=True)
    thread.start()
    thread.join(PATIENCE * seconds)
    return found[0] if found else None


class Walkers:
    """Walkers from the counted tiers of `forward`; `compiled`: its rules, nothing folded."""

    def __init__(self, forward: Forward, compiled: CompiledMoves, team: Workers, progress: Progress = silent) -> None:
        self.forward = forward
        self.team = team
        self.moves = compiled.moves
        self.progress = progress
        self.chance = np.random.default_rng(0)
        self.inverse = Inverse(np.empty(0, np.int64), 1, 0, -1, 0)
        self.waiting: dict[int, list[tuple[States, NDArray[np.float64]]]] = {}  # walkers, and what they stand for
        self.ended: dict[int, float] = {}  # finished states

    def warm(self) -> None:
        """Compile, or load from the cache, what walkers need."""
        none = np.empty(0, np.int64)
        self._step(none, 0, False)
        learnt(self.moves, none, none)
        self._parents(none, none)

    def beyond(self, seconds: float) -> Walked:
        """The tiers that were not counted. Raises Lost."""
        end, layers = time.monotonic() + seconds, self.forward.layers
        last = self._learn(max(0, len(layers) - BEFORE))
        first, begun = len(layers) - TRIED, time.monotonic()
        tried, errors = self._walk(first, lambda tier: TRIAL, layers[-1].number)
        wrong = self._wrong(first, {tier.number: tier.kept for tier in tried}, math.hypot(*errors))
        spent = (time.monotonic() - begun) / max(1, len(tried)) / TRIAL  # seconds a walker

        def size(tier: int) -> int:
            left = end - time.monotonic()
            return min(MOST, max(FEWEST, int(left / max(1, last - tier + 1) / spent)))

        tiers, errors = self._walk(len(layers), size, math.inf)
        total, doubt, varied = 0.0, 0.0, 0.0
        for place, (tier, error) in enumerate(zip(tiers, errors, strict=True), 1):
            varied += error**2
            total += tier.kept
            doubt += tier.kept * math.hypot(math.sqrt(varied), place * max(DOUBT, wrong))
        return Walked(tiers, doubt / max(1.0, total))

    def _learn(self, first: int) -> int:
        """How to take moves back, from those of counted tiers from `first` on and of random games from there; the last
        tier that these come to. Raises Lost."""
        layers, last = self.forward.layers, 0
        parents, children = [], []
        for place in range(first, len(layers)):
            states = self._sample(place, LEARNT // (len(layers) - first))
            while len(states):
                ahead, tiers, _ = self._step(states, layers[place].number, False)
                parents.append(states[ahead >= 0])
                children.append(ahead[ahead >= 0])
                last = max(last, int(tiers.max()))
                states = children[-1] if place == len(layers) - 1 else children[-1][:0]
        before, after = np.concatenate(parents), np.concatenate(children)
        order = self.chance.permutation(len(before))
        inverse = learnt(self.moves, before[order], after[order])
        if inverse is None:
            raise Lost
        self.inverse = inverse
        return last

    def _wrong(self, first: int, guessed: dict[int, int], chance: float) -> float:
        """By what part a step is wrong, on average of counted tiers from `first` on, beyond the part that is by chance
        after all of them. Raises Lost if that is much."""
        logs = [
            math.log(max(1, guessed.get(layer.number, 0)) / layer.kept)
            for layer in self.forward.layers[first:]
            if layer.kept
        ]
        wrong = max(0.0, abs(logs[-1]) - chance) / len(logs) if first >= 0 and logs else 1.0
        if wrong > WRONG:
            raise Lost
        return wrong

    def _walk(self, known: int, size: Callable[[int], int], last: float) -> tuple[list[SizedTier], list[float]]:
        """The tiers behind the first `known` ones up to `last`, and the standard error of each step. Raises Lost."""
        self.waiting, self.ended = {}, {}
        for place in range(max(0, known - BEFORE), known):
            layer = self.forward.layers[place]
            if layer.kept:
                states = self._sample(place, size(layer.number))
                self._advance(states, layer.number, layer.kept / len(states))
            self._arrived(layer.number)
        tiers: list[SizedTier] = []
        errors: list[float] = []
        while self.waiting and min(self.waiting) <= last:
            tier = min(self.waiting)
            states, weights, ended = self._arrived(tier)
            kept, room = float(weights.sum()), size(tier)
            picked = np.searchsorted(np.cumsum(weights), (np.arange(room) + self.chance.random()) * kept / room)
            branching, leads = self._advance(states[np.minimum(picked, len(states) - 1)], tier, kept / room)
            reached, moves = (round(min(STATE_LIMIT, count)) for count in (kept + ended, kept * branching))
            tiers.append(SizedTier(tier, reached, round(min(STATE_LIMIT, kept)), moves, leads))
            errors.append(float(weights.std() / max(1e-9, weights.mean()) / math.sqrt(len(weights))))
            self.progress("sample", tier, None)
        return tiers, errors

    def _arrived(self, tier: int) -> tuple[States, NDArray[np.float64], float]:
        """Who waits in a tier, what they stand for, and the finished states there."""
        parts = self.waiting.pop(tier, [(np.empty(0, np.int64), np.empty(0))])
        states, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return states, weights, self.ended.pop(tier, 0.0)

    def _sample(self, place: int, most: int) -> States:
        """States of a counted tier, at random."""
        found = self.forward.sample(self.forward.layers[place], most, self.chance)
        self.chance.shuffle(found)
        return found

    def _advance(self, states: States, tier: int, weight: float) -> tuple[float, int]:
        """Each state of a tier that stands for `weight` of them goes on to a child; children in all, a state, and how
        many tiers these are in. Raises Lost."""
        children, tiers, counts = self._step(states, tier, False)
        there = children >= 0
        parents, missed = self._parents(states[there], children[there])
        if counts[:, 1].any() or missed.sum() > UNKNOWN * len(missed) + TAUGHT:
            raise Lost
        weights = weight * counts[there, 0] / parents
        if missed.any():
            self.inverse = taught(self.moves, self.inverse, states[there][missed], children[there][missed])
        for later in np.unique(tiers[there]).tolist():
            into = tiers[there] == later
            self.waiting.setdefault(later, []).append((children[there][into], weights[into]))
        leads = len(np.unique(tiers[there]))
        ends, tiers, sort = self._step(states, tier, True)
        there = ends >= 0
        weights = weight * sort[there, 0] / self._parents(states[there], ends[there])[0]
        for later in np.unique(tiers[there]).tolist():
            self.ended[later] = self.ended.get(later, 0.0) + float(weights[tiers[there] == later].sum())
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
            part = slice(begin, begin + CHUNK)
            count_parents(
                self.moves, inverse, children[part], parents[part], bench(inverse), counts[part], missed[part]
            )

        for _ in self.team.map(count, range(0, max(1, len(children)), CHUNK)):
            pass
        return counts, missed
