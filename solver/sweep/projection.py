"""How many states a sweep would reach, from samples, where counting them takes too long.

A tier's states are the moves into it divided by the mean number of parents of its states. Where `walking` finds
parents it says how many states there are. Elsewhere moves, and the share of finished states, are found in samples of
the earlier tiers. The mean number of parents in earlier tiers is known of the tiers that were counted; it changes
slowly from tier to tier and goes on along a damped trend. (It does not show in a sample: children of one parent have
children in common far more often than others, so recaptures mislead.) States that only moves inside their tier lead to
count as having none there. The states of a game without tiers are counted in parts of them, by `thinning`.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import ResourceError
from solver.base.kinds import Method
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.tiers import SizedTier
from solver.book.codecs.instant import GROUP_STATES
from solver.check.conformance import check_game
from solver.compiled.binding import compiling
from solver.compiled.edges import ERROR, FIELDS, MOVES_PER_CALL, CompiledMoves, new_edges
from solver.rules.game import STATE_LIMIT, Game, Rules
from solver.store.packed import Table
from solver.store.runs import joined, spans, splitters
from solver.store.sorting import sort_unique
from solver.store.work import Work
from solver.sweep import resources
from solver.sweep.expansion import COUNT, KEPT, LOWEST_TIER, Expansion, expand, list_children
from solver.sweep.expectation import bytes_of, moves_inside, sample
from solver.sweep.forward import Forward
from solver.sweep.scale import WIN
from solver.sweep.thinning import thinned
from solver.sweep.walking import walked

PLAYOUTS = 20  # random games whose states are paced
TIER_SAMPLE = 1 << 17  # states of a tier
PACED = 1 << 16  # states whose moves are listed to see how long that takes
SORTED = 1 << 20  # keys sorted to see how long that takes
COUNTED = 1 << 12  # states of a counted tier whose moves are counted, where asked for
MOST_MOVES = 1 << 22  # from the sample of a tier
PARTS, NEIGHBOURS = 16, 1 << 18  # pieces of the counted states whose keys are measured, and states of one
SHARE = 2 / 3  # of the time goes into counting
TREND = 12  # counted tiers from which the trend of parents is taken
DAMPED = 0.85  # what is left of the trend from one tier to the next
TRIAL_TIERS = 6  # counted tiers on which the estimate is tried
GROWING = 0.75  # the power of the tiers ahead with which doubt grows
LEAST_TIER_ERROR = 0.03  # of a tier's estimate, where trying it says less
UNTRIED = 0.15  # where it could not be tried
WIDEST = 1.15  # of the error of any estimate: ten times more or fewer
GENERATIONS = 7  # from which those to come are told
LEAST_BEND, SOONER = -0.05, 1.2  # how growth slows down: at least so much, and by so much more each time
LAYERS = 3  # counted tiers that tell of the others more than generations do
States = NDArray[np.int64]


class Census(NamedTuple):
    """The size of a game, counted or estimated.

    Attributes:
        sizes: Unfinished states of each tier; of each generation, if tiers have cycles.
        counted: Whether all of them were counted.
        whole: Whether the estimate came to the last tier in its time.
        cyclic: Whether tiers have cycles.
        seconds: Time of counting, without compiling.
        in_seconds: Unfinished states found in that time.
        tiers: More about each tier, if that was asked for. A tier with cycles under way is one.
        reached: All states, finished ones included.
        least, most: Range of the unfinished states: twice the standard error to both sides.
        packed: Bytes of a packed state, of those counted.
        narrowed: In a game of chance, bytes of memory for the bounds of the largest tier with cycles, by a sample of
            its moves. 0 in other games.
        keys: Bytes of a state's key in an instant book.
        cycle: The largest tier with cycles, if retrograde analysis takes the game.
    """

    sizes: list[int]
    counted: bool
    whole: bool
    cyclic: bool
    seconds: float
    in_seconds: int
    tiers: list[SizedTier]
    reached: int
    least: int
    most: int
    packed: float
    narrowed: int
    keys: float
    cycle: resources.Cycle | None


def census(
    game: Game,
    *,
    symmetry: bool = True,
    seconds: float,
    workers: int | None = None,
    tiers: bool = False,
    progress: Progress = silent,
) -> Census:
    """Count the tiers for two thirds of the time, compiling apart, and estimate the others from samples.

    `tiers`: count the moves of each tier in a sample, too.
    """
    rules = Rules(game, symmetry)
    with Work() as work, Workers(workers) as team, compiling(game):
        forward = Forward(CompiledMoves(rules), work, cycles=True, limit=1 << 30, most=1 << 62, progress=progress)
        # The first piece: compiles
        forward.run(team, time.monotonic())
        begun, earlier = time.monotonic(), forward.found
        try:
            counted = forward.state.finished or forward.run(team, begun + SHARE * seconds)
        except ResourceError:
            counted = False
        taken = time.monotonic() - begun
        projected = counted_so_far(forward) if counted else beyond(forward, team, max(1.0, seconds - taken), progress)
        known = with_moves(forward) if tiers else []
        narrowed, cycle, met = 0, None, forward.met()
        layers = [layer for layer in forward.layers if layer.cyclic]
        if met is None and layers:
            layer = max(layers, key=lambda layer: layer.kept)
            met = layer.number, forward.section(layer)
        # The largest tier with cycles: how many states it has, and some unfinished ones of the largest that was met
        if met is not None:
            size = max(layer.kept for layer in (*layers, *projected.tiers) if layer.cyclic)
            sampled = forward.expansion.keep(sample(met[1]))[0]
            if rules.kind.cyclic == Method.VALUE_ITERATION:
                narrowed = bytes_of(size, forward.compiled.valued(1), sampled, met[0])
            elif rules.kind.cyclic == Method.RETROGRADE:
                moves = int(moves_inside(forward.compiled.valued(WIN), sampled, met[0]))
                cycle = resources.Cycle(size, moves / max(1, len(sampled)))
        keys = key_bytes(forward, sum(projected.sizes))
    least, highest = interval(forward, projected)
    reached = sum(layer.reached for layer in forward.layers) + sum(tier.reached for tier in projected.tiers)
    return Census(
        projected.sizes,
        counted,
        projected.whole,
        projected.cyclic,
        taken,
        forward.found - earlier,
        known + projected.tiers,
        reached,
        least,
        highest,
        forward.states.bytes_each(resources.PACKED),
        narrowed,
        keys,
        cycle,
    )


def key_bytes(forward: Forward, stored: int) -> float:
    """Bytes of a key in an instant book of so many states, by the distance of neighbours among those counted.

    A group of the book has GROUP_STATES states in a row, whatever their tiers.
    """
    met = forward.met()
    runs = Table([forward.section(layer) for layer in forward.layers if layer.kept] or list(met[1:] if met else []))
    if len(runs) == 0:
        return 0.0
    # States to look up together, as many as lie in a group of the book
    together = max(2, round(GROUP_STATES * min(1.0, len(runs) / max(1, stored))))
    key_ranges = spans(splitters(runs, min(NEIGHBOURS, max(GROUP_STATES, len(runs) // PARTS))))
    taken, groups = 0.0, 0
    every = max(1, len(key_ranges) // PARTS)
    # The first splitter may be the least key: no state lies below it
    for states in filter(len, (joined(runs, low, high) for low, high in key_ranges[::every])):
        firsts = np.arange(0, max(1, len(states) - together + 1), together)
        distance = states[np.minimum(firsts + together - 1, len(states) - 1)] - states[firsts]
        widths = np.select([distance < 1 << 8, distance < 1 << 16, distance < 1 << 32], [1, 2, 4], 8)
        taken += float(np.minimum(distance / 8 / GROUP_STATES, widths).sum())
        groups += len(firsts)
    return taken / max(1, groups)


def interval(forward: Forward, projected: Estimate) -> tuple[int, int]:
    """The fewest and the most unfinished states that there may be, by twice the error."""
    known = sum(layer.kept for layer in forward.layers)
    ahead, spread = sum(projected.sizes) - known, math.exp(2 * min(WIDEST, projected.error))
    return known + round(ahead / spread), known + round(min(STATE_LIMIT, ahead * spread))


class Pace(NamedTuple):
    """Seconds of a core that listing the moves of a state takes, and by each move."""

    state: float
    move: float


def pace(compiled: CompiledMoves) -> Pace:
    """Measure the time of listing moves, on average over the states of random games."""
    expansion = Expansion(compiled)
    open_states = np.resize(
        expansion.keep(np.array(check_game(compiled.rules.game, playouts=PLAYOUTS), np.int64))[0], PACED
    )
    listed, expanded, moves, report = new_edges(MOVES_PER_CALL), 0, 0, np.zeros(FIELDS, np.int64)
    expand(expansion.moves, open_states, 0, min(1, len(open_states)), LOWEST_TIER, KEPT, listed, report)  # compiles
    begun = time.thread_time()
    while expanded < len(open_states) and not report[ERROR]:
        listed, expanded = expand(
            expansion.moves, open_states, expanded, len(open_states), LOWEST_TIER, KEPT, listed, report
        )
        moves += int(report[COUNT])
    taken = time.thread_time() - begun
    return Pace(taken / max(1, len(open_states)), taken / max(1, moves))


def with_moves(forward: Forward) -> list[SizedTier]:
    """The tiers that were counted, with their moves, from a sample of each."""
    chance = np.random.default_rng(0)
    tiers: list[SizedTier] = []
    for layer in forward.layers:
        open_count, moves, leads = layer.kept, 0.0, 0
        if open_count:
            sampled = forward.sample(layer, COUNTED, chance)
            listed, count, next_state = list_children(
                forward.expansion.moves, sampled, 0, len(sampled), new_edges(MOVES_PER_CALL)
            )
            moves, leads = open_count * count / next_state, len(np.unique(listed.tiers[:count]))
        tiers.append(SizedTier(layer.number, layer.reached, open_count, round(moves), leads, cyclic=layer.cyclic))
    return tiers


def sorting(bits: int) -> float:
    """Seconds of a core that sorting a key of so many bits takes, doubles dropped."""
    keys = np.random.default_rng(0).integers(0, 1 << bits, SORTED)
    scratch = np.empty_like(keys)
    sort_unique(keys[:1].copy(), scratch, 1)  # compiles
    begun = time.thread_time()
    sort_unique(keys, scratch, SORTED)
    return (time.thread_time() - begun) / SORTED


class Estimate(NamedTuple):
    """Unfinished states of each tier, of the first ones if not `whole`; `cyclic`: moves were met that stay in one.

    `tiers`: more of those that were not counted. `error`: of the logarithm of their unfinished states in all.
    """

    sizes: list[int]
    whole: bool
    cyclic: bool
    tiers: list[SizedTier]
    error: float


def counted_so_far(forward: Forward) -> Estimate:
    """The tiers that are complete."""
    sizes = [layer.kept for layer in forward.layers]
    return Estimate(sizes, True, any(layer.cyclic for layer in forward.layers), [], 0.0)


def beyond(forward: Forward, team: Workers, seconds: float, progress: Progress = silent) -> Estimate:
    """Unfinished states of all tiers, those that `forward` has not reached from samples, in so many seconds."""
    known = counted_so_far(forward)
    if forward.closing and len(forward.layers) < LAYERS:
        thinned_parts = thinned(forward, team, seconds, progress)
        if thinned_parts is not None:
            ahead = max(1, thinned_parts.states - sum(known.sizes))
            tier = SizedTier(0, round(ahead / forward.unfinished), ahead, 0, 1, cyclic=True)
            spread = max(thinned_parts.most / thinned_parts.states, thinned_parts.states / thinned_parts.least)
            return Estimate([*known.sizes, ahead], True, True, [tier], math.log(spread) / 2)
        key = forward.runs.first()
        before = forward.state.generations
        # Starts that were not all gone through
        waiting = len(forward.runs.of(key)) if key and not before else 0
        generations = continued(before) or [max(waiting, forward.found - sum(known.sizes))]
        open_states = sum(generations)
        tier = SizedTier(0, round(open_states / forward.unfinished), open_states, 0, 1, cyclic=True)
        return Estimate(known.sizes + generations, True, True, [tier], WIDEST)
    estimates = None if known.cyclic or forward.closing else walked(forward, team, seconds, progress)
    if estimates is None:
        sampled = estimated(forward, seconds, progress)
        return sampled._replace(sizes=sampled.sizes or [forward.found], cyclic=sampled.cyclic or known.cyclic)
    sizes = known.sizes + [tier.kept for tier in estimates.tiers]
    return Estimate(sizes, True, False, estimates.tiers, estimates.error)


def estimated(forward: Forward, seconds: float, progress: Progress = silent) -> Estimate:
    """Unfinished states of all tiers, those that `forward` has not reached from samples, in so many seconds."""
    if not forward.layers:
        return Estimate([], False, False, [], WIDEST)
    sampler = _Sampler(forward, progress)
    list_children(sampler.expansion.moves, np.empty(0, np.int64), 0, 0, new_edges(1))  # compiles
    tiers = sampler.tiers(seconds)
    sizes = [layer.kept for layer in forward.layers] + [tier.kept for tier in tiers]
    return Estimate(sizes, not sampler.moves, sampler.cyclic, tiers, sampler.error(tiers))


class _Sampler:
    """Samples of each tier, from the counted ones on."""

    def __init__(self, forward: Forward, progress: Progress) -> None:
        self.expansion = forward.expansion
        self.forward = forward
        self.progress = progress
        # Children in each tier, and the number of moves that each stands for
        self.moves: dict[int, list[tuple[States, float]]] = {}
        self.cyclic = False
        self.begun = self.seconds = 0.0
        self.doubt = UNTRIED
        self.chance = np.random.default_rng(0)
        layers = forward.layers
        self.size = TIER_SAMPLE if layers[-1].number - layers[0].number < 100 else TIER_SAMPLE // 8

    def tiers(self, seconds: float) -> list[SizedTier]:
        """The tiers that were not counted; the first ones of them if about `seconds` are far too few."""
        self.begun, self.seconds = time.monotonic(), seconds
        layers = self.forward.layers
        sizes = [layer.kept for layer in layers]
        drift, self.doubt = 0.0, UNTRIED
        # What a tier's estimate is wrong by, seen where the truth is known
        if len(layers) > 2 * TRIAL_TIERS:
            tried = self._beyond(len(layers) - TRIAL_TIERS, TRIAL_TIERS)
            wrong = [
                max(1, guess.kept) / max(1, size) for guess, size in zip(tried, sizes[-TRIAL_TIERS:], strict=False)
            ]
            drift = sum(map(math.log, wrong[-2:])) / (2 * TRIAL_TIERS - 1)
            self.doubt = max(LEAST_TIER_ERROR, abs(drift))
        scaled: list[SizedTier] = []
        for steps, tier in enumerate(self._beyond(len(layers), 1 << 30), 1):
            factor = math.exp(min(99.0, -drift * steps))
            reached, kept, moves = (
                round(min(STATE_LIMIT, factor * count)) for count in (tier.reached, tier.kept, tier.moves)
            )
            scaled.append(replace(tier, reached=reached, kept=kept, moves=moves))
        return scaled

    def error(self, tiers: list[SizedTier]) -> float:
        """Return the likely error of the logarithm of their states: it grows with each tier guessed from another."""
        total = sum(tier.kept for tier in tiers)
        doubts = (tier.kept * self.doubt * math.pow(steps, GROWING) for steps, tier in enumerate(tiers, 1))
        return sum(doubts) / max(1, total)

    def _sample(self) -> int:
        """How many states of a tier to sample: fewer as the time passes, none when twice as much has."""
        past = time.monotonic() - self.begun
        return 0 if past >= 2 * self.seconds else self.size >> min(8, int(8 * past / self.seconds))

    def _beyond(self, known: int, limit: int) -> list[SizedTier]:
        """At most `limit` tiers behind the first `known` ones."""
        # The mean number of parents, by tier
        parents: list[tuple[int, float]] = []
        self.moves = {}
        for layer in self.forward.layers[max(0, known - 4 * TREND) : known]:
            if layer.number in self.moves:
                parents.append((layer.number, self._moves_into(layer.number) / layer.reached))
                del self.moves[layer.number]
            if layer.kept:
                sampled = self.forward.sample(layer, max(1, self._sample()), self.chance)
                self._expand(layer.number, sampled, layer.kept / len(sampled))
        # The first ones lack moves that skip tiers
        parents = parents[1:][-TREND:]
        tiers: list[SizedTier] = []
        while self.moves and len(tiers) < limit and (sample := self._sample()):
            tier = min(self.moves)
            moves = self._moves_into(tier)
            distinct = np.unique(np.concatenate([children for children, _ in self.moves.pop(tier)]))
            reached = min(STATE_LIMIT, max(moves / _trend(parents, tier), len(distinct)))
            if len(distinct) > sample:
                distinct = np.sort(self.chance.choice(distinct, sample, replace=False))
            share, branching, leads = self._expand(tier, distinct, reached / len(distinct))
            open_count = round(reached * share)
            moves = round(min(STATE_LIMIT, open_count * branching))
            tiers.append(SizedTier(tier, round(reached), open_count, moves, leads, cyclic=self.cyclic))
            self.progress("sample", tier, None)
        return tiers

    def _moves_into(self, tier: int) -> float:
        """The moves that lead to a tier, from the samples."""
        return sum(len(children) * weight for children, weight in self.moves[tier])

    def _expand(self, tier: int, states: States, weight: float) -> tuple[float, float, int]:
        """Add the moves from states of a tier that stand for `weight` states each.

        Returns the share of unfinished states, their mean number of moves, and how many tiers the moves lead to.
        """
        # So that any of them are a sample
        self.chance.shuffle(states)
        open_states = self.expansion.keep(states)[0]
        begin = moves = 0
        listed = new_edges(MOVES_PER_CALL)
        children_by_tier: dict[int, list[States]] = {}
        while begin < len(open_states) and moves < MOST_MOVES and begin <= self._sample():
            listed, count, begin = list_children(self.expansion.moves, open_states, begin, len(open_states), listed)
            moves += count
            children, tiers = listed.keys[:count], listed.tiers[:count]
            for later in np.unique(tiers).tolist():
                children_by_tier.setdefault(later, []).append(children[tiers == later])
        self.cyclic = self.cyclic or tier in children_by_tier
        for later, pieces in children_by_tier.items():
            if later > tier:
                self.moves.setdefault(later, []).extend((piece, weight * len(open_states) / begin) for piece in pieces)
        return len(open_states) / len(states), moves / max(1, begin), len(children_by_tier)


def _trend(parents: list[tuple[int, float]], tier: int) -> float:
    """The mean number of parents in a later tier."""
    if len(parents) < 4:
        return parents[-1][1] if parents else 1.0
    tiers, means = zip(*parents, strict=True)
    step = (tiers[-1] - tiers[0]) / (len(tiers) - 1)  # between two tiers
    slope = float(np.polyfit([(one - tiers[-1]) / step for one in tiers], means, 1)[0]) / step
    steps = max(0.0, (tier - tiers[-1]) / step)
    damped = step * DAMPED * (1 - DAMPED**steps) / (1 - DAMPED)
    # the fit's slope is that of the middle of the tiers, half their number ago
    late = DAMPED ** (len(tiers) / 2)
    # In a tier with cycles some states have none in earlier tiers
    least = min(1.0, *means)
    return float(max(least, np.mean(means[-2:]) + slope * late * damped))


def continued(sizes: list[int]) -> list[int]:
    """Extrapolate the sizes of generations.

    Each grows by less than the one before, as the last ones did, and this happens faster and faster.
    """
    logs = [math.log(size) for size in sizes if size > 0][-GENERATIONS:]
    if len(logs) < 4:
        return sizes
    slopes = np.diff(logs)
    bend = min(float(np.polyfit(range(len(slopes)), slopes, 1)[0]), LEAST_BEND)
    size, slope, continuation = logs[-1], float(slopes[-2:].mean()), list[int]()
    while size >= 0 and size < math.log(STATE_LIMIT):
        bend *= SOONER
        slope += bend
        size += slope
        continuation.append(round(min(STATE_LIMIT, math.exp(size))))
    return sizes + continuation
