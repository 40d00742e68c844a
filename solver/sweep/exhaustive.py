"""Solving a game whole: forward over all reachable states, backward with their values, and both in order of states.

The states of each tier are sorted; those of all tiers together are merged by ranges of keys on their way to the book.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from solver.base.errors import ResourceError, UncompiledRules
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.base.system import trim_heap
from solver.book.solution import Solved
from solver.compiled import agreement
from solver.compiled.binding import compiling
from solver.compiled.edges import MOST_STARTS, CompiledMoves
from solver.rules import placements
from solver.rules.game import Game, Rules
from solver.store.work import Work
from solver.sweep import demand, projection
from solver.sweep.backward import Backward, NimberPass
from solver.sweep.checkpoint import Checkpoint, resumed
from solver.sweep.dense import Dense
from solver.sweep.expectation import ExpectationPass
from solver.sweep.finish import Ordered, Unfit, finish
from solver.sweep.forward import Forward
from solver.sweep.numbered import CHECKED, Numbered

DEFAULT_MEMORY = 4 << 30
TRIAL = 15.0  # seconds of counting after which the size of the game is estimated
SAMPLING = 5.0  # seconds that the estimate may take, at most
DEFAULT = Options()
Inspect = Callable[[list[int]], None]  # holds the compiled rules against the plain ones on some states
PASSES: dict[str, type[Backward]] = {  # of the kinds whose numbers are no merits
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
    are. The compiled rules are held against the plain ones on `states` and, where there are any, on some of every tier;
    the solution always is. Raises MethodError if the method does not fit, GameError with the offending state if the
    rules break the protocol, UncompiledRules if they cannot be compiled or say something else then, ResourceError.
    """
    rules = game if isinstance(game, Rules) else Rules(game, options.symmetry)
    work = work or Work()
    work.mapped = _memory(options) // 4
    with Workers(options.workers) as team, compiling(rules.game):
        compiled = CompiledMoves(rules, rules.kind.in_tiers(options.method))
        inspect = agreement.Twins(rules.game, rules.symmetry, compiled.tiered).compare if states else None
        if inspect is not None:
            inspect(states)
        saved = resumed(work)
        for in_arrays in (_by_state, _by_number):
            try:
                solved = in_arrays(compiled, work, saved, options, team, inspect)
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
        memory, cycles = _memory(options), options.method != Method.MINIMAX and rules.kind.cyclic is not None
        forward = Forward(
            compiled,
            work,
            cycles=cycles,
            limit=memory // 4,
            most=memory // 16,
            progress=options.progress,
            saved=saved.forward,
        )
        forward.inspect = inspect
        return _solved_sorted(forward, saved, options, team)


def _memory(options: Options) -> int:
    return options.memory or DEFAULT_MEMORY


def _by_state(
    compiled: CompiledMoves, work: Work, saved: Checkpoint, options: Options, team: Workers, inspect: Inspect | None
) -> Solved | None:
    """Solve by arrays by state, if they can take the game. Raises Unfit if that shows later."""
    needed, memory = demand.by_state(compiled.rules, compiled.tiered), _memory(options)
    kind = compiled.rules.kind
    if needed is None or kind.name in PASSES or kind.converts or saved.forward is not None:
        return None
    size, bytes_needed = needed
    if bytes_needed > memory:
        numbers = (
            f"arrays by state of {size:,} numbers need {bytes_needed / 2**30:.2f} GiB of memory,"
            f" {memory / 2**30:.2f} GiB"
        )
        if saved.dense is not None:
            raise ResourceError(f"{numbers} are free for them: raise --memory, or --restart")
        options.say(f"states are sorted: {numbers} are free for them; --memory says more")
        return None
    begun, dense = time.monotonic(), Dense(compiled, size, work, options.progress, saved.dense)
    dense.inspect = inspect
    if dense.layers:
        options.say(f"going on from the checkpoint in {work.folder}: {len(dense.layers)} tiers counted")
    dense.forward(team)
    if not options.anyway:
        _refuse_without_room(work, dense.kept, 2 * demand.DENSE_BOOK_BYTES)
    dense.backward(team)
    return finish(dense.rules, dense, options, begun)


def _by_number(
    compiled: CompiledMoves, work: Work, saved: Checkpoint, options: Options, team: Workers, inspect: Inspect | None
) -> Solved | None:
    """Solve by arrays by number, if they can take the game. Raises Unfit if that shows later."""
    rules, memory = compiled.rules, _memory(options)
    if options.method == Method.MINIMAX or compiled.tiered != rules.tiered or saved.forward is not None:
        return None
    needed = demand.by_number(rules, options.codec)
    if needed is None:
        return None
    assert rules.numbering is not None
    if needed > memory:
        cannot_sort = rules.kind.converts or (rules.everywhere and rules.numbering.size > MOST_STARTS)
        if saved.numbered is not None or cannot_sort:
            raise ResourceError(
                f"{rules.numbering.size:,} positions need {needed / 2**30:.1f} GiB of memory, {memory / 2**30:.1f} GiB"
                " are free for them: raise --memory; --wdl and --codec ranked take less"
            )
        return None
    begun, numbered = time.monotonic(), Numbered(rules, work, options.progress, saved.numbered)
    if done := numbered.state.finished:
        options.say(f"going on from the checkpoint in {work.folder}: {done} of {len(numbered.spans)} tiers are done")
    numbered.forward(team)
    numbered.backward(team)
    numbered.check_parents(numbered.sample(np.random.default_rng(1), CHECKED))
    if rules.kind.converts:
        numbered.check_conversions(numbered.sample(np.random.default_rng(2), CHECKED))
    return finish(rules, numbered, options, begun)._replace(ranked=partial(numbered.ranked, options.workers))


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
        _refuse_without_room(work, forward.states.size, demand.backward_bytes(rules, cyclic, options.codec))
    make = PASSES.get(rules.kind.name, Backward)
    backward = make(forward, memory=_memory(options) // 2, progress=options.progress, saved=saved)
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
    packed, room = forward.states.bytes_each(demand.PACKED), work.free() + work.size()
    for estimate in (projection.estimated, partial(projection.beyond, team=team)):
        try:
            stored, placed = sum(estimate(forward, seconds=SAMPLING).sizes), placements.of(forward.rules)
            if placed is not None:
                stored = min(stored, placed.most)
        except Exception:
            # An estimate that fails refuses nothing: what is wrong with the rules the solve will say
            return
        needed = demand.needs(forward.rules, stored, False, packed, options.codec)[1]
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
