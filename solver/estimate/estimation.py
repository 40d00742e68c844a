"""The cost of solving, before it is begun: by searching a sample, or by counting for a while.

Work on a complete book is estimated, too. `verify` reaches every move again, as the solve did, so that it takes a
multiple of the solve. The others read and write values, so that they take a time for each stored state. Each rate below
is the geometric middle between the least and the most of a few games. `scripts/bench_estimate.py` prints them: renew
them when one of these commands becomes faster.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple

from solver.base import errors, extras, kinds, options
from solver.base.extras import PROCESS, working_memory
from solver.base.progress import Progress, silent
from solver.base.system import cores
from solver.rules import placements
from solver.rules.game import STATE_LIMIT, Game, Rules
from solver.rules.placements import Placements
from solver.search import refuse_chance
from solver.solving.ways import opening

VERIFY = 0.8  # times of the solve
TRIM = 0.58e-6  # CPU seconds of a stored state, of `trim --wdl --codec ranked`
PACK = 0.07e-6  # the same of `pack`, to the codec compact


class BookTimes(NamedTuple):
    """Seconds of `verify`, `trim --wdl --codec ranked` and `pack`; `trim` is None where a game has no such book."""

    verify: float
    trim: float | None
    pack: float


def book_times(rules: Rules, stored: int, cyclic: bool, seconds: float, team: int) -> BookTimes:
    """Estimate the work on a book from its number of states and from the solve.

    Args:
        rules: The rules of the game.
        stored: The number of states in the book.
        cyclic: Whether some tier has cycles.
        seconds: The time of the solve with `team` workers.
        team: The number of workers, for all of this work.
    """
    is_refused = cyclic or any(rules.kind.refusal(what, rules.name) is not None for what in ("trim", "wdl"))
    is_ranked = rules.rank is not None and rules.unrank is not None and not is_refused
    return BookTimes(VERIFY * seconds, TRIM * stored / team if is_ranked else None, PACK * stored / team)


# Measured on connect-four 5x5 to 6x5 and animal shogi; other games differ, kalah 4,3 by a factor of two
OPENING_BYTES = 5.0  # of an opening book, which is sparser
DENSE_WHOLE = 4.0  # the time of a solve on one core, in times of listing all moves
SOLVE_FACTOR = 2.4  # the time of a solve, in times of its forward pass
CYCLIC_WHOLE = 3.0
NUMBERED_SHARE = 0.5  # of the time of a sorted sweep, over arrays by number: teeko 10.1 of 19.8 s
NUMBER_SECONDS = 620e-9  # of a core, for a number of nine men's morris once all pieces are placed
GROWTH = 5  # plies from which the growth of those to come is taken
SHARED = 1.75  # plies behind the deepest of an opening book
MOVES_COUNTED = 1000  # states of a ply, at most, whose moves are counted


class Opening(NamedTuple):
    """An opening book: states of each ply, and the search of the deepest, from a sample.

    `counted`: all plies were enumerated in the time; else the later ones are as their growth goes on, and the sample is
    of states that random play leads to. `margin` is the standard error of `seconds`. `unfinished` of the sample ran out
    of their time and count with the time they took, so that `seconds` is too low where there are any.
    """

    plies: list[int]
    counted: bool
    sample: int
    unfinished: int
    seconds: float
    margin: float
    memory: int
    book_bytes: int


class Sweep(NamedTuple):
    """The estimate of an exhaustive solve.

    Attributes:
        stored: States that will be stored. Exact if `counted`, otherwise an estimate from samples.
        least, most: The likely range of `stored`.
        states: All states that are reached, finished ones included.
        counted: Whether all states were counted.
        whole: Whether the estimate came to the last tier in its time. If not, there are more states than `stored`.
        cyclic: Whether tiers have cycles.
        tiers: How many tiers there are.
        seconds: Time of the solve.
        memory: Bytes that the solve takes of the memory that it is given.
        disk: Most bytes that the work folder and the book take at a time, with that memory.
        book_bytes: Size of the book.
        by_state: Whether arrays by state or by number take the game, if it has that memory. With less, states are
            sorted, which takes longer.
        placements: All positions that the rules number. No more are stored. None if they number none.
        least_memory: Bytes of memory that the solve needs.
        given_memory: Bytes of memory that it is given.
        book_times: Times of work on the book.
    """

    stored: int
    least: int
    most: int
    states: int
    counted: bool
    whole: bool
    cyclic: bool
    tiers: int
    seconds: float
    memory: int
    disk: int
    book_bytes: int
    by_state: bool
    placements: Placements | None = None
    least_memory: int = 0
    given_memory: int = 0
    book_times: BookTimes | None = None


def of_opening(
    game: Game,
    max_ply: int,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    seconds: float = 60.0,
    progress: Progress = silent,
) -> Opening:
    """Enumerate the plies for half that many seconds at most, search a sample of the deepest in the rest, extrapolate.

    Compiling the search does not count. Raises MethodError without the extra [solve].
    """
    rules = Rules(game, symmetry)
    need_kernels(rules)
    from solver.compiled.exact.searcher import TABLE_BYTES, Searcher

    refuse_chance(rules, "an opening book", "leave --max-ply out")
    searcher = Searcher(game, symmetry=symmetry)
    searcher.warm()
    begun, chance = time.monotonic(), random.Random(0)

    def is_enough(count: int) -> bool:
        progress("enumerate", count, None)
        return time.monotonic() > begun + seconds / 2 or count * opening.STATE_BYTES > working_memory(None)

    layers = opening.plies(rules, max_ply, is_enough)
    sizes = grown([len(layer) for layer in layers], max_ply)
    pool, costs, unfinished = list(layers[-1]), list[float](), 0
    chance.shuffle(pool)
    for state in pool:
        started = time.monotonic()
        if started >= begun + seconds:
            break
        # Random play leads to a ply that was not enumerated
        for _ in range(max_ply + 1 - len(layers)):
            if not rules.is_terminal(state):
                state = rules.result(state, chance.choice(list(rules.actions(state))))
        if rules.is_terminal(state):
            continue
        try:
            searcher.value(rules.canonical(state), seconds=min(max(1.0, seconds / 4), begun + seconds - started))
        except errors.BudgetExceeded:
            unfinished += 1
        costs.append(time.monotonic() - started)
        progress("sample", len(costs), None)
    mean = error = 0.0
    if costs:
        # The first of a random order stand for all
        share = min(1.0, len(costs) / sizes[-1])
        done_share = work_done(share, mean_parents(rules, layers))
        deviation = statistics.stdev(costs) * len(costs) ** 0.5 if len(costs) > 1 else costs[0]
        mean, error = sum(costs) / done_share, deviation * (1 - share) ** 0.5 / done_share
    team, stored = workers or cores(), sum(sizes)
    return Opening(
        sizes,
        len(layers) > max_ply,
        len(costs),
        unfinished,
        mean / team,
        error / team,
        TABLE_BYTES + opening.STATE_BYTES * stored,
        12_288 + round(OPENING_BYTES * stored),
    )


def mean_parents(rules: Rules, layers: Sequence[list[int]]) -> float:
    """The states of a ply from which one of the next is reached, on average, as a sample of the ply before tells."""
    if len(layers) < 2 or not layers[-1]:
        return 1.0
    before = layers[-2]
    sampled = before[:: 1 + len(before) // MOVES_COUNTED]
    moves = sum(1 for state in sampled for _ in rules.actions(state)) * len(before) / len(sampled)
    return max(1.0, moves / len(layers[-1]))


def work_done(share: float, parents: float) -> float:
    """The share of all work that is done with a share of the states, in random order.

    A child that several states share is searched once, and the table keeps it for the others. It is met as soon as the
    first of its ancestors is searched: a child has `parents` of them, a grandchild the square of that. SHARED lies
    between the two, as the costs of connect-four 6x5 and 6x6 tell. A solve takes the states in a better order, and
    somewhat less work.
    """
    return 1.0 if share >= 1 else -math.expm1(parents**SHARED * math.log1p(-share))


def grown(sizes: list[int], max_ply: int) -> list[int]:
    """The sizes of all plies to `max_ply`: those to come grow as the last ones did, on the geometric mean."""
    last_sizes = [size for size in sizes[-GROWTH - 1 :] if size]
    rate = (last_sizes[-1] / last_sizes[0]) ** (1 / (len(last_sizes) - 1)) if len(last_sizes) > 1 else 1.0
    later_plies = range(1, max_ply + 2 - len(sizes))
    return sizes + [
        round(min(STATE_LIMIT, sizes[-1] * math.exp(min(99.0, ply * math.log(rate))))) for ply in later_plies
    ]


def of_sweep(
    game: Game,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    wdl: bool = False,
    seconds: float = 60.0,
    progress: Progress = silent,
) -> Sweep:
    """Count the states tier by tier for most of that time, compiling apart, and estimate the rest from samples.

    Args:
        memory: The bytes that the solve may take, as in `solve`.
        wdl: Without distances. Only for games whose positions all count (`everywhere`), into a ranked book.

    Raises:
        MethodError: The extra [solve] is missing, or `wdl` does not fit the game.
        ResourceError: The memory is too little for any solve.
    """
    rules, budget = Rules(game, symmetry, kinds.WDL if wdl else kinds.OUTCOME), working_memory(memory)
    if wdl and not rules.everywhere:
        raise errors.MethodError(
            f"{rules.name}: the estimate without distances is for games of all positions: omit --wdl"
        )
    need_kernels(rules)
    if rules.everywhere:
        return _of_all_numbers(rules, budget, workers)
    from solver.compiled.edges import CompiledMoves
    from solver.sweep import projection, resources

    census = projection.census(game, symmetry=symmetry, seconds=seconds, workers=workers, progress=progress)
    stored, placed = sum(census.sizes), placements.of(rules)
    if placed is not None and not census.counted and census.most > placed.most:
        # Otherwise the samples mislead
        least = census.least if census.least < placed.most else 0
        reached = round(census.reached * min(1, placed.most / stored))
        stored = min(stored, placed.most)
        census = census._replace(least=least, most=placed.most, reached=reached)
    times = CYCLIC_WHOLE if census.cyclic else SOLVE_FACTOR
    book = resources.book_bytes(rules, census.cyclic, census.keys)
    took = times * census.seconds * stored / max(1, census.in_seconds)
    memory_bytes = resources.needs(rules, stored, census.cyclic, census.packed, narrowed=census.narrowed)[0]
    least_memory = PROCESS + 2 * census.narrowed if census.narrowed else 0
    cycle_files = 0.0
    if census.cycle is not None:
        cycle = census.cycle
        memory_bytes = (150 << 20) + round(2 * cycle.states * (8 + 8 * cycle.moves))
        least_memory = PROCESS + 16 * cycle.states
        cycle_files = sum(resources.index_files(cycle, rules.alternates, budget // 2))
        cycle_files += resources.CHECKPOINT_STATE_BYTES * cycle.states if took > options.CHECKPOINT_SECONDS else 0.0
    memory_bytes, packed = min(memory_bytes, budget + PROCESS), census.packed * stored
    # Two files of states are merged
    merged = 2 * census.packed * census.reached if census.cyclic else 0.0
    written = packed + resources.sizes(rules, census.cyclic).work * stored + 2 * (resources.BOOK + book * stored)
    disk = round(max(merged, packed + cycle_files, written))
    needed = resources.by_state(rules, rules.tiered and not census.cyclic)
    by_state = needed is not None and needed[1] <= budget
    if needed is not None and by_state:
        size, arrays = needed
        stored, book = min(stored, size), resources.DENSE_BOOK_BYTES
        took = DENSE_WHOLE * stored * projection.pace(CompiledMoves(rules)).state / (workers or cores())
        memory_bytes, least_memory, disk = (150 << 20) + arrays, 0, round(2 * book * stored)
        census = census._replace(least=min(census.least, size), most=min(census.most, size))
    numbered = resources.by_number(rules, None)
    if numbered is not None and numbered <= budget:
        assert rules.numbering is not None
        by_state, took = True, took * NUMBERED_SHARE
        values = 2 * rules.numbering.size if took > options.CHECKPOINT_SECONDS else 0
        memory_bytes, least_memory, disk = numbered + PROCESS, 0, round(values + 2 * book * stored)
    counted, is_complete, cyclic, tiers = census.counted, census.whole, census.cyclic, len(census.sizes)
    sizes = stored, census.least, census.most, max(stored, census.reached)
    whole_book = resources.BOOK + round(book * stored)
    taken = took, memory_bytes, disk, whole_book
    limits = least_memory, budget + PROCESS
    later = book_times(rules, stored, cyclic, took, workers or cores())
    return Sweep(*sizes, counted, is_complete, cyclic, tiers, *taken, by_state, placed, *limits, later)


def _of_all_numbers(rules: Rules, budget: int, workers: int | None) -> Sweep:
    """Return the estimate of a game all of whose positions count: they are numbered, so that none need be reached."""
    from solver.sweep import resources

    assert rules.numbering is not None
    size, placed = rules.numbering.size, placements.of(rules)
    assert placed is not None
    tiers = len(placements.spans_of(rules))
    seconds = NUMBER_SECONDS * size / (workers or cores())
    needed = (resources.by_number(rules, "ranked" if rules.kind.bare else None) or 0) + PROCESS
    bytes_per_state = resources.RANKED_BYTES if rules.kind.bare else resources.book_bytes(rules, True, 0.0)
    book = resources.BOOK + round(bytes_per_state * placed.unfinished)
    values = resources.number_bytes(rules, size)
    stored = placed.unfinished, placed.unfinished, placed.most, size
    counted = size <= placements.MAX_SAMPLE
    limits = placed, needed, budget + PROCESS
    return Sweep(*stored, counted, True, True, tiers, seconds, needed, values + 2 * book, book, False, *limits)


def need_kernels(rules: Rules) -> None:
    """Raise MethodError if the rules cannot be compiled here."""
    if rules.plain_only:
        raise errors.MethodError(f"{rules.name} runs in plain Python only, and there is no estimate for that: solve it")
    extras.require_kernels("an estimate needs the compiled kernels: ")
