"""Solving a game whole: forward over all reachable states, backward with their values, and both in order of states.

The states of each tier are sorted, unless arrays take the game; those of all tiers together are merged by ranges of
keys on their way to the book. `finish` checks the values of any sweep against the plain rules. `compare` solves a game
anew to judge a book. Opening books take the plies of `further` and the merits of `merits_of`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook, ResourceError, UncompiledRules
from solver.base.expectations import MIDDLE
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.base.system import trim_heap
from solver.base.tiers import Tier
from solver.base.value import WIN
from solver.book import Book
from solver.book.codecs.arrays import parts, read_parts
from solver.book.solution import Solved, TierCount
from solver.compiled import agreement
from solver.compiled.binding import compiling
from solver.compiled.edges import MOST_STARTS, CompiledMoves
from solver.rules import placements
from solver.rules.game import Game, Rules, is_built_in
from solver.store.directory import lookup_of
from solver.store.packed import LAST, Table
from solver.store.runs import spans, splitters, united, without
from solver.store.shelves import ValueShelf
from solver.store.sorting import radix_sort_pairs
from solver.store.work import Work
from solver.sweep import projection, resources
from solver.sweep.arrays import ByState, Unfit
from solver.sweep.backward import Backward, NimberPass, evaluate
from solver.sweep.batch import FINE
from solver.sweep.checkpoint import Checkpoint, resumed
from solver.sweep.expansion import Expansion
from solver.sweep.expectation import ExpectationPass
from solver.sweep.forward import Forward
from solver.sweep.numbered import ByNumber
from solver.sweep.scale import Piece, Scale, Tally, indices_of

DEFAULT_MEMORY = 4 << 30
TRIAL = 15.0  # seconds of counting after which the size of the game is estimated
SAMPLING = 5.0  # seconds that the estimate may take, at most
DEFAULT = Options()
AUDIT_SHARE = 0.02  # of the time of a solve, for holding it against the plain rules
SAMPLED = 1024  # states that it is held against them on, at most
PART = 1 << 18  # states of all tiers that are put in order together
OF_A_TIER = 64  # states of a sample of the sorted sweep, at most
STATES_PER_CHECK = 1 << 16  # states expanded between two looks at the clock and at the memory
INSPECTED = 16  # states of a ply of a user's game, about, that are held against the plain rules
NO_ENTRIES = np.empty(0, np.int64), np.empty(0, np.int64)
States = NDArray[np.int64]
Inspect = Callable[[list[int]], None]  # holds the compiled rules against the plain ones on some states
PASSES: dict[str, type[Backward]] = {  # of the kinds whose numbers are not merits
    "expectation": ExpectationPass,
    "nimber": NimberPass,
}


def solve(
    game: Game | Rules, work: Work | None = None, options: Options = DEFAULT, states: Sequence[int] = ()
) -> Solved:
    """Solve a game on all cores, within about `options.memory` bytes; states and values are in the files of `work`.

    Of the methods "retrograde" takes a game without margins as one tier, and "minimax" refuses moves that stay in a
    tier, which the others solve by retrograde analysis. A solve that `work` has a checkpoint of goes on from there.
    Unless `anyway`, it is estimated after TRIAL seconds of counting whether the disk will do, and known when all states
    are. The compiled rules are held against the plain ones on `states` and, where there are any, on some of every tier
    that is not in arrays by number; the solution always is. Raises MethodError if the method does not fit, GameError
    with the offending state if the rules break the protocol, UncompiledRules if they cannot be compiled or say
    something else then, ResourceError.
    """
    rules = game if isinstance(game, Rules) else Rules(game, options.symmetry)
    work, memory = work or Work(), options.memory or DEFAULT_MEMORY
    work.mapped = memory // 4
    with Workers(options.workers) as team, compiling(rules.game):
        compiled = CompiledMoves(rules, rules.kind.in_tiers(options.method))
        inspect = agreement.Twins(rules.game, rules.symmetry, compiled.tiered).compare if states else None
        if inspect is not None:
            inspect(states)
        saved = resumed(work)
        try:
            solved = _solved_in_arrays(compiled, work, saved, options, team, inspect)
        except Unfit as reason:
            if rules.kind.converts:
                raise UncompiledRules(str(reason)) from None
            options.say(f"states are sorted: {reason}")
            # The sorted sweep has no use for their columns
            for column in list(work.columns.values()):
                work.discard(column)
            solved, saved = None, Checkpoint()
        if solved is not None:
            return solved
        forward = Forward(
            compiled,
            work,
            cycles=options.method != Method.MINIMAX and rules.kind.cyclic is not None,
            limit=memory // 4,
            most=memory // 16,
            progress=options.progress,
            saved=saved.forward,
        )
        forward.inspect = inspect
        return _solved_sorted(forward, saved, options, team)


def _solved_in_arrays(
    compiled: CompiledMoves, work: Work, saved: Checkpoint, options: Options, team: Workers, inspect: Inspect | None
) -> Solved | None:
    """Solve by arrays, if they can take the game. Raises Unfit if that shows later."""
    rules, memory = compiled.rules, options.memory or DEFAULT_MEMORY
    # The arrays that can take the game, the best first: how many numbers, and the bytes that they need
    chosen: list[tuple[type[ByState] | type[ByNumber], int, int]] = []
    if options.method != Method.MINIMAX and compiled.tiered == rules.tiered and rules.numbering is not None:
        by_number = resources.by_number(rules, options.codec)
        if by_number is not None:
            chosen.append((ByNumber, rules.numbering.size, by_number))
    dense = resources.by_state(rules, compiled.tiered)
    if dense is not None and rules.kind.name not in PASSES and not rules.kind.converts:
        chosen.append((ByState, *dense))
    # Whatever the memory is now, a checkpoint is of the arrays that were chosen first
    chosen = [one for one in chosen if saved.arrays is None or one[0].__name__ == saved.arrays.kind]
    if not chosen or saved.forward is not None:
        return None
    make, size, needed = next((one for one in chosen if one[2] <= memory), chosen[0])
    if needed > memory:
        needs = f"need {needed / 2**30:.2f} GiB of memory, {memory / 2**30:.2f} GiB are free for them"
        if rules.kind.converts or (make is ByNumber and rules.everywhere and size > MOST_STARTS):
            raise ResourceError(
                f"arrays of {size:,} numbers {needs}: raise --memory; --wdl and --codec ranked take less"
            )
        if saved.arrays is not None:
            raise ResourceError(f"arrays of {size:,} numbers {needs}: raise --memory, or --restart")
        options.say(f"states are sorted: arrays of {size:,} numbers {needs}; --memory says more")
        return None
    begun, arrays = time.monotonic(), make(compiled, work, options.progress, saved.arrays)
    if isinstance(arrays, ByState):
        arrays.inspect = inspect
    if saved.arrays is not None:
        done = f"{arrays.state.reached} tiers counted, {arrays.state.finished} done"
        options.say(f"going on from the checkpoint in {work.folder}: {done}")
    arrays.forward(team)
    if isinstance(arrays, ByState) and not options.anyway:
        _refuse_without_room(work, arrays.kept, 2 * resources.DENSE_BOOK_BYTES)
    arrays.backward(team)
    ranked = None
    if isinstance(arrays, ByNumber):
        arrays.check()
        ranked = partial(arrays.ranked, options.workers)
    return finish(rules, arrays, options, begun)._replace(ranked=ranked)


def _solved_sorted(forward: Forward, saved: Checkpoint, options: Options, team: Workers) -> Solved:
    begun, rules, work = time.monotonic(), forward.rules, forward.work
    if saved.forward is not None:
        stored, under_way = forward.states.size, "forward" if saved.backward is None else "backward"
        options.say(f"going on from the checkpoint in {work.folder}: {under_way}, {stored:,} states kept")
    elif work.folder is not None and not options.anyway:
        # The first run compiles, which the trial does not count
        forward.run(team, time.monotonic())
        if not forward.run(team, time.monotonic() + TRIAL):
            _refuse_the_hopeless(forward, work, options, team)
    forward.run(team)
    trim_heap()
    cyclic = any(layer.cyclic for layer in forward.layers)
    if not options.anyway:
        # What a state still takes: its value, and the book twice
        sizes = resources.sizes(rules, cyclic, options.codec)
        _refuse_without_room(work, forward.states.size, sizes.value + 2 * sizes.book)
    make = PASSES.get(rules.kind.name, Backward)
    backward = make(forward, memory=(options.memory or DEFAULT_MEMORY) // 2, progress=options.progress, saved=saved)
    if saved.backward is None and work.due():
        backward.save()
    backward.run(team)
    if work.due():
        backward.save()
    return finish(rules, Ordered(forward, backward), options, begun)


def _refuse_the_hopeless(forward: Forward, work: Work, options: Options, team: Workers) -> None:
    """Raise ResourceError if the disk cannot hold half of the estimate. A second, dearer estimate must confirm it."""
    if forward.closing or any(layer.cyclic for layer in forward.layers):
        # Generations tell too little of those to come
        return
    packed, room = forward.states.bytes_each(resources.PACKED), work.free() + work.size()
    for estimate in (projection.estimated, partial(projection.beyond, team=team)):
        try:
            stored, placed = sum(estimate(forward, seconds=SAMPLING).sizes), placements.of(forward.rules)
            if placed is not None:
                stored = min(stored, placed.most)
        except Exception:
            # An estimate that fails refuses nothing: what is wrong with the rules the solve will say
            return
        needed = resources.needs(forward.rules, stored, False, packed, options.codec)[1]
        if needed / 2 <= room:
            return
    raise ResourceError(
        f"about {stored:.2g} states will need about {needed / 2**30:,.0f} GiB of disk, {room / 2**30:,.0f} GiB are"
        f" free for {work.folder}: take a smaller game, an opening book (--max-ply), or --anyway"
    )


def _refuse_without_room(work: Work, stored: int, bytes_each: float) -> None:
    """Raise ResourceError if the disk cannot hold the further needs of so many states, book and all."""
    needed, free = round(bytes_each * stored), work.free()
    if needed > free:
        raise ResourceError(
            f"the values of {stored:,} states and their book need about {needed:,} bytes more on the disk of"
            f" {work.folder or 'temporary files'}, {free:,} bytes are free: make room, then the same command goes on;"
            " --anyway tries"
        )


class Swept(Protocol):
    """The result of a sweep, whether it sorted states, had arrays by state, or has shards of a cluster."""

    scale: Scale

    @property
    def tally(self) -> Tally: ...
    @property
    def layers(self) -> Sequence[Tier]: ...

    def merit_of(self, key: int) -> int | None:
        """The merit, or value, of a folded unfinished state, None if it was not reached."""

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        """Some states of every tier, or nearly."""

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterable[Piece]:
        """Yield the states, ascending, and the indices of their merits among all merits, in pieces of any size.

        In a game of chance the numbers of expectations take the place of the indices.
        """


def finish(rules: Rules, swept: Swept, options: Options, begun: float) -> Solved:
    """Return the solution of a sweep, after checking a part of it with the plain rules.

    The check takes a share of the time since `begun`.
    """
    units, tally, layers = swept.scale.units(rules, swept.tally.error), swept.tally, swept.layers
    seconds = max(agreement.AUDIT_SECONDS, AUDIT_SHARE * (time.monotonic() - begun))
    agreement.audit(rules, swept.merit_of, units, swept.sample(np.random.default_rng(0), SAMPLED), seconds=seconds)
    start = rules.game.initial()
    if rules.is_terminal(start):
        root: int | None = units.end(rules.utility(start), rules.plies_left(start))
    else:
        root = swept.merit_of(rules.canonical(start))
    assert root is not None, "the start was not reached"
    kind, merits = units.kind, units.kind.listed(tally.values)
    best_first = None if merits is None else np.array(merits, np.int64)

    def parts() -> Iterator[Piece]:
        with Workers(options.workers) as team:
            yield from swept.pieces(best_first, team)

    longest = None
    if tally.longest is not None and kind.has_distances:
        longest = units.win - tally.longest[0], tally.longest[1]
    return Solved(
        tally.values.total(),
        parts,
        [kind.palette_kind.value(merit, units.win) for merit in merits or ()],
        merits and [tally.values[merit] for merit in merits],
        [
            TierCount(tier.number, tier.reached, sum(tier.ends), *map(add, tier.ends, unfinished))
            for tier, unfinished in zip(layers, reversed(tally.tiers), strict=True)
        ],
        units.value(root),
        longest,
        kind,
        any(tier.cyclic for tier in layers),
    )


def in_order(runs: Table, values: Sequence[Any], low: int, high: int) -> Piece:
    """The states of all runs from `low` to `high`, ascending, and their values: those of a run are a slice of its."""
    states, shares = runs.read(low, high)
    slices = [
        tier_values[begin : begin + count]
        for tier_values, (begin, count) in zip(values, shares.tolist(), strict=True)
        if count
    ]
    merits = np.concatenate(slices) if slices else np.empty(0, np.int8)
    if len(slices) > 1:
        radix_sort_pairs(states, merits, np.empty_like(states), np.empty_like(merits), len(states))
    return states, merits


class _Values:
    """The values of a layer, sliced as an array is, on a shelf where they begin at `begin`."""

    def __init__(self, shelf: ValueShelf, begin: int) -> None:
        self.shelf, self.begin = shelf, begin

    def __getitem__(self, places: slice) -> NDArray[Any]:
        return self.shelf.part(self.begin + (places.start or 0), self.begin + places.stop)


class Ordered:
    """`Swept`, of the sorted sweep."""

    def __init__(self, forward: Forward, backward: Backward) -> None:
        self.tier, self._section = forward.compiled.tier, forward.section
        self.states, self.merits = forward.states, backward.merits
        self.layers = forward.layers
        self.rows = {layer.number: layer for layer in forward.layers}
        self.scale, self.tally = backward.scale, backward.tally

    def merit_of(self, key: int) -> int | None:
        layer = self.rows.get(self.tier(key))
        if layer is None or not 0 <= key < 1 << 63:
            return None
        _, [[index, count]] = Table([self._section(layer)]).read(key, key)
        if not count:
            return None
        index += self.states.size - layer.end
        return int(self.merits.part(int(index), int(index) + 1)[0])

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        layers = [layer for layer in self.layers if layer.kept]
        number = max(1, min(OF_A_TIER, limit // max(1, len(layers))))
        states: list[int] = []
        for layer in layers:
            states += self._section(layer).at(np.sort(chance.integers(0, layer.kept, number))).tolist()
        chance.shuffle(states)
        return states[:limit]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        layers = [layer for layer in self.layers if layer.kept]
        runs = Table([self._section(layer) for layer in layers])
        values = [_Values(self.merits, self.states.size - layer.end) for layer in layers]
        indices = indices_of(best_first)
        self.merits.part(0, min(1, self.states.size))  # maps it

        def place(span: tuple[int, int]) -> Piece:
            states, merits = in_order(runs, values, *span)
            return states, indices(merits)

        for piece in team.map(place, spans(splitters(runs, PART))):
            self.states.work.read(2 * len(piece[0]))
            yield piece


def further(rules: Rules, layers: Sequence[list[int]], enough: Callable[[int], bool]) -> Iterator[list[int]]:
    """The plies behind the given ones, one by one, each sorted, until `enough` of the number of states so far.

    Raises GameError where the rules break the protocol, UncompiledRules where they cannot be compiled or say something
    else then.
    """
    with compiling(rules.game):
        expansion = Expansion(CompiledMoves(rules, tiers=False))
        known = [np.array(layer, np.int64) for layer in layers]
        while True:
            count, last_ply, reached = sum(map(len, known)), known[-1], np.empty(0, np.int64)
            if not is_built_in(rules.name):
                inspected = last_ply[:: max(1, len(last_ply) // INSPECTED)].tolist()
                agreement.compare(rules.game, inspected, symmetry=rules.symmetry, tiers=False)
            for begin in range(0, len(last_ply), STATES_PER_CHECK):
                if enough(count + len(reached)):
                    return
                children = expansion.expand(0, last_ply[begin : begin + STATES_PER_CHECK], closing=True)
                new = united([run for _, run in children.runs])
                for states in (*known, reached):
                    new = without(new, states)
                reached = united([reached, expansion.keep(new)[0]])
            known.append(reached)
            yield reached.tolist()


def merits_of(rules: Rules, states: list[int], later: list[int], merits: list[int]) -> list[int] | None:
    """The merits of a ply's states, with `value.WIN`, by those of the next ply's, `later`; both plies are sorted.

    None if a state has an unfinished child that is not in the next ply, or no children.
    """
    states_array, following = np.array(states, np.int64), np.array(later, np.int64)
    known = lookup_of([(-1, states_array), (0, following)], np.array(merits, np.int64))
    best = np.full(len(states_array), -LAST, np.int64)
    with compiling(rules.game):
        moves = CompiledMoves(rules, tiers=False).valued(WIN)
        fault, _ = evaluate(moves, known, 0, len(states_array), 0, LAST, best)
    return best.tolist() if fault == FINE else None


class Apart(NamedTuple):
    """The state whose value is farthest from that found anew, by how much, and how far that may be from the truth."""

    state: int
    off: float
    error: float


def compare(book: Book, rules: Rules, options: Options) -> Apart:
    """Solve the game of a complete book and compare every value.

    Raises DamagedBook if it has other states, and as `exhaustive.solve`.
    """
    with Work() as work:
        solved = solve(rules, work, options)
        steps, worst = (book.header.kind.step, solved.kind.step), Apart(-1, 0.0, solved.kind.error)
        pairs = zip_longest(parts(read_parts(book, options.progress)), parts(solved.parts()), fillvalue=NO_ENTRIES)
        for (states, numbers), (known, found) in pairs:
            if not np.array_equal(known, states):
                raise DamagedBook(f"{book.path}: it has other states than play reaches: solve again")
            if not len(states):
                continue
            off = np.abs((numbers - MIDDLE) * steps[0] - (found.astype(np.int64) - MIDDLE) * steps[1])
            index = int(off.argmax())
            if off[index] > worst.off:
                worst = worst._replace(state=int(states[index]), off=float(off[index]))
    return worst
