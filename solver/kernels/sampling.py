"""How many states a sweep would reach, from samples, where counting them takes too long.

A tier's states are the moves into it divided by the mean number of parents of its states. Moves, and the share of
finished states, are found in samples of the earlier tiers. The mean number of parents is known of the tiers that were
counted; it changes slowly from tier to tier and goes on along a damped trend. (It does not show in a sample: children
of one parent have children in common far more often than others, so recaptures mislead.)
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.errors import ResourceError
from solver.game import Game
from solver.kernels.compiled import bind, compiling, kernel
from solver.kernels.forward import Forward
from solver.kernels.parallel import Workers
from solver.kernels.runs import states_at
from solver.kernels.work import Work
from solver.progress import Progress, silent

game: Any = None  # constants of the bound copies
FOLDS = TIERS = False

SAMPLE = 1 << 17  # states of a tier
TREND = 12  # counted tiers from which the trend of parents is taken
DAMPED = 0.85  # what is left of the trend from one tier to the next
TRIED = 6  # counted tiers on which the estimate is tried
States = NDArray[np.int64]


class Census(NamedTuple):
    """Unfinished states of each tier (of each generation where a tier has cycles), whether they were all counted, and
    the seconds that counting took, those of compiling left out, with the unfinished states found in them."""

    sizes: list[int]
    counted: bool
    cyclic: bool
    seconds: float
    in_seconds: int


@kernel
def children_of(states, begin, end, children, tiers):
    """The children of states[begin:end], each once for each parent; how many, the unfinished parents, the parents done.

    Stops before a state whose children might not fit.
    """
    count = kept = 0
    for i in range(begin, end):
        state = states[i]
        if game.is_terminal(state):
            continue
        mark = count
        for action in game.actions(state):
            if count == len(children):
                return mark, kept, i - begin
            child = game.result(state, action)
            if FOLDS:
                child = game.canonical(child)
            seen = False
            for j in range(mark, count):
                seen = seen or children[j] == child
            if not seen:
                children[count] = child
                tiers[count] = game.tier(child) if TIERS else 0
                count += 1
        kept += 1
    return count, kept, end - begin


def census(game: Game, *, symmetry: bool = True, seconds: float, progress: Progress = silent) -> Census:
    """Count the tiers for two thirds of the time, and estimate the others from samples."""
    options: dict[str, Any] = {"symmetry": symmetry, "tiers": True, "cycles": True, "most": 1 << 62}
    with Work() as work, Workers() as team, compiling(game):
        forward = Forward(game, work, limit=1 << 30, progress=progress, **options)
        forward.run(team, time.monotonic())  # the first tier: compiles
        begun, earlier = time.monotonic(), forward.found
        try:
            counted = forward.finished or forward.run(team, begun + seconds * 2 / 3)
        except ResourceError:
            counted = False
        taken = time.monotonic() - begun
        sizes = [layer.end - layer.begin for layer in forward.layers]
        cyclic = any(layer.cyclic for layer in forward.layers) or forward.generations != []
        if not counted and forward.generations:
            sizes += continued(forward.generations)
        elif not counted:
            sizes = estimated(game, forward, symmetry, progress)
    return Census(sizes, counted, cyclic, taken, forward.found - earlier)


def estimated(game: Game, forward: Forward, symmetry: bool, progress: Progress = silent) -> list[int]:
    """Unfinished states of all tiers of a game without cycles, those that `forward` has not reached from samples."""
    return _Sampler(game, forward, symmetry, progress).sizes()


class _Moves(NamedTuple):
    """Sampled moves into a tier: the states they lead to, and how many moves each stands for."""

    children: list[States]
    weights: list[float]


class _Sampler:
    """Samples of each tier, from the counted ones on."""

    def __init__(self, game: Game, forward: Forward, symmetry: bool, progress: Progress) -> None:
        self.kernels = bind(sys.modules[__name__], game, symmetry)
        self.forward = forward
        self.progress = progress
        self.moves: dict[int, _Moves] = {}
        self.chance = np.random.default_rng(0)
        layers = forward.layers
        self.size = SAMPLE if layers[-1].tier - layers[0].tier < 100 else SAMPLE // 8

    def sizes(self) -> list[int]:
        """Unfinished states of all tiers."""
        layers = self.forward.layers
        sizes = [layer.end - layer.begin for layer in layers]
        drift = 0.0
        if len(layers) > 2 * TRIED:  # what a tier's estimate is wrong by, seen where the truth is known
            tried = self._beyond(len(layers) - TRIED, TRIED)
            wrong = [max(1, guess) / max(1, size) for guess, size in zip(tried, sizes[-TRIED:], strict=False)]
            drift = sum(map(math.log, wrong[-2:])) / (2 * TRIED - 1)
        beyond = self._beyond(len(layers), 1 << 30)
        return sizes + [round(size * math.exp(-drift * place)) for place, size in enumerate(beyond, 1)]

    def _beyond(self, known: int, most: int) -> list[int]:
        """Unfinished states of at most `most` tiers behind the first `known` ones."""
        states = self.forward.states.view()
        parents: list[tuple[int, float]] = []  # by tier: the mean numbers of parents
        self.moves = {}
        for layer in self.forward.layers[max(0, known - 4 * TREND) : known]:
            if layer.tier in self.moves:
                parents.append((layer.tier, self._moves_into(layer.tier) / layer.reached))
                del self.moves[layer.tier]
            kept = layer.end - layer.begin
            if kept:
                picked = np.sort(self.chance.choice(kept, min(self.size, kept), replace=False))
                self._expand(states_at(states, layer.begin + picked, self.forward.work.read), kept / len(picked))
        parents = parents[1:][-TREND:]  # the first ones lack moves that skip tiers
        sizes: list[int] = []
        while self.moves and len(sizes) < most:
            tier = min(self.moves)
            moves = self._moves_into(tier)
            distinct = np.unique(np.concatenate(self.moves.pop(tier).children))
            reached = max(moves / _trend(parents, tier), len(distinct))
            if len(distinct) > self.size:
                distinct = np.sort(self.chance.choice(distinct, self.size, replace=False))
            sizes.append(round(reached * self._expand(distinct, reached / len(distinct))))
            self.progress("sample", tier, None)
        return sizes

    def _moves_into(self, tier: int) -> float:
        """The moves that lead to a tier, from the samples."""
        moves = self.moves[tier]
        return sum(len(part) * weight for part, weight in zip(moves.children, moves.weights, strict=True))

    def _expand(self, states: States, weight: float) -> float:
        """Enter the moves from states that stand for `weight` states each; the share of unfinished ones."""
        begin = kept = 0
        room = 1 << 16
        while begin < len(states):
            children, tiers = np.empty(room, np.int64), np.empty(room, np.int64)
            count, some, done = self.kernels.children_of(states, begin, len(states), children, tiers)
            if done == 0:
                room *= 2
                continue
            kept += some
            begin += done
            for tier in np.unique(tiers[:count]).tolist():
                moves = self.moves.setdefault(tier, _Moves([], []))
                moves.children.append(children[:count][tiers[:count] == tier])
                moves.weights.append(weight)
        return kept / len(states)


def _trend(parents: list[tuple[int, float]], tier: int) -> float:
    """The mean number of parents in a later tier."""
    if len(parents) < 4:
        return parents[-1][1] if parents else 1.0
    tiers, means = zip(*parents, strict=True)
    slope, start = np.polyfit(tiers, means, 1)
    step = (tiers[-1] - tiers[0]) / (len(tiers) - 1)  # between two tiers
    steps = max(0.0, (tier - tiers[-1]) / step)
    damped = step * DAMPED * (1 - DAMPED**steps) / (1 - DAMPED)
    # the fit's slope is that of the middle of the tiers, half their number ago
    late = DAMPED ** (len(tiers) / 2)
    return float(max(1.0, np.mean(means[-2:]) + slope * late * damped))


def continued(sizes: list[int]) -> list[int]:
    """How the sizes of generations may go on: their logarithms along the parabola that fits the last ones best."""
    logs = [math.log(size) for size in sizes if size][-12:]
    if len(logs) < 4:
        return sizes
    bend, slope, start = np.polyfit(range(len(logs)), logs, 2)
    bend = min(bend, -1e-3)
    more: list[int] = []
    for place in range(len(logs), len(logs) + 10_000):
        size = math.exp(min(600.0, start + slope * place + bend * place * place))
        if size < 1:
            break
        more.append(round(size))
    return sizes + more
