"""Solving a game whole: forward over all reachable states, backward with their values, and both in order of states.

The states of each tier are sorted; those of all tiers together are merged by ranges of keys on their way to the book.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver import value
from solver.book.writer import CHUNK
from solver.errors import ResourceError
from solver.estimation import BOOK_BYTES, CYCLIC_BOOK_BYTES, needs
from solver.game import Game, Rules
from solver.kernels import twins
from solver.kernels.compiled import compiling
from solver.parallel import Workers
from solver.progress import Progress, silent
from solver.search import refuse_chance
from solver.solved import Solved, TierCount
from solver.store.runs import give_back, places_in, splitters
from solver.store.sorting import radix_sort_pairs
from solver.store.work import Work
from solver.sweep import sampling
from solver.sweep.backward import Backward
from solver.sweep.forward import Forward
from solver.value import Value

MEMORY = 4 << 30
AUDIT_SHARE = 0.02  # of the time of a solve, for holding it against the plain rules
TRIAL = 15.0  # seconds of counting after which the size of the game is estimated
SAMPLING = 5.0  # seconds that the estimate may take, at most
PART = 1 << 18  # states of all tiers that are put in order together
Say = Callable[[str], None]


def solve(
    game: Game,
    work: Work | None = None,
    *,
    symmetry: bool = True,
    tiers: bool = True,
    cycles: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    anyway: bool = False,
    progress: Progress = silent,
    say: Say = lambda message: None,
    states: Sequence[int] = (),
) -> Solved:
    """Solve a game on all cores, within about `memory` bytes; states and values are in the files of `work`.

    `tiers`: use the game's; `cycles`: solve tiers whose moves stay inside by retrograde analysis. A solve that
    `work` has a checkpoint of goes on from there. Unless `anyway`, it is estimated after TRIAL seconds of counting
    whether the disk will do, and known when all states are. The compiled rules are held against the plain ones on
    `states` and, where there are any, on some of every tier; the solution always is. Raises MethodError if the method
    does not fit, GameError with the offending state if the rules break the protocol, UncompiledRules if they cannot be
    compiled or say something else then, ResourceError.
    """
    rules = Rules(game, symmetry)
    refuse_chance(rules, "an exhaustive solve")
    begun = time.monotonic()
    work = work or Work()
    memory = memory or MEMORY
    work.mapped = memory // 4
    saved = work.resumed
    with Workers(workers) as team, compiling(game):
        forward = Forward(
            rules,
            work,
            tiers=tiers,
            cycles=cycles,
            limit=memory // 4,
            most=memory // 16,
            progress=progress,
        )
        if states:
            forward.inspect = partial(twins.compare, game, symmetry=symmetry, tiers=tiers)
            forward.inspect(states)
        if saved is not None:
            forward.restore(saved["forward"])
            say(f"going on from the checkpoint in {work.folder}: {saved['pass']}, {forward.states.size:,} states kept")
        elif work.folder is not None and not anyway:
            forward.run(team, time.monotonic())  # compiles, which the trial does not count
            if not forward.run(team, time.monotonic() + TRIAL):
                _refuse_the_hopeless(forward, work)
        forward.run(team)
        give_back()
        if not anyway:
            _refuse_without_room(work, forward)
        backward = Backward(forward, memory=memory // 2, progress=progress)
        if saved is not None and saved["pass"] == "backward":
            backward.restore(saved["backward"])
        elif work.due():
            backward.save(None)
        backward.run(team)
        if work.due():
            backward.save(None)
        solution = twins.Solution(
            rules, forward.layers, forward.states.view(), backward.merits.view(), backward.win, tiers
        )
        twins.audit(solution, seconds=max(twins.AUDIT_SECONDS, AUDIT_SHARE * (time.monotonic() - begun)))
    return _Ordered(forward, backward, workers).solved()


def _refuse_the_hopeless(forward: Forward, work: Work) -> None:
    """Raise ResourceError if the disk cannot hold even half of what the estimate says."""
    if forward.closing or any(layer.cyclic for layer in forward.layers):
        return  # generations tell too little of those to come
    try:
        stored = sum(sampling.estimated(forward, SAMPLING).sizes)
    except Exception:  # an estimate that fails refuses nothing: what is wrong with the rules the solve will say
        return
    needed, room = needs(stored, False)[1], work.free() + work.size()
    if needed / 2 > room:
        raise ResourceError(
            f"about {stored:.2g} states will need about {needed / 2**30:,.0f} GiB of disk, {room / 2**30:,.0f} GiB are"
            f" free for {work.folder}: take a smaller game, an opening book (--max-ply), or --anyway"
        )


def _refuse_without_room(work: Work, forward: Forward) -> None:
    """Raise ResourceError if the disk cannot hold the merits and the book as well."""
    stored, cyclic = forward.states.size, any(layer.cyclic for layer in forward.layers)
    needed = round((2 + 2 * CYCLIC_BOOK_BYTES if cyclic else 1 + 2 * BOOK_BYTES) * stored)
    free = work.free()
    if needed > free:
        raise ResourceError(
            f"the values of {stored:,} states and their book need about {needed:,} bytes more on the disk of"
            f" {work.folder or 'temporary files'}, {free:,} bytes are free: make room, then the same command goes on;"
            " --anyway tries"
        )


class _Ordered:
    """The solution in the order of its states."""

    def __init__(self, forward: Forward, backward: Backward, workers: int | None) -> None:
        self.rules = forward.rules
        self.states, self.merits = forward.states, backward.merits
        self.layers = forward.layers
        self.backward = backward
        self.workers = workers
        self.distinct = np.array(sorted(backward.tally, reverse=True), np.int64)
        self.palette = [
            value.value_of(merit, self.rules.scores, backward.win) for merit in self.distinct.tolist()
        ]

    def solved(self) -> Solved:
        backward = self.backward
        counts = [
            TierCount(
                layer.tier,
                layer.reached,
                layer.wins + layer.draws + layer.losses,
                layer.wins + wins,
                layer.draws + draws,
                layer.losses + losses,
            )
            for layer, (wins, draws, losses) in zip(self.layers, reversed(backward.counts), strict=True)
        ]
        longest = None
        if backward.longest is not None and not self.rules.scores:
            longest = backward.win - backward.longest[0], backward.longest[1]
        cyclic = any(layer.cyclic for layer in self.layers)
        return Solved(
            self.states.size,
            self.parts,
            self.palette,
            [backward.tally[merit] for merit in self.distinct.tolist()],
            counts,
            self._root(),
            longest,
            cyclic,
        )

    def parts(self) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """States, ascending, and indices of their values, CHUNK of them at a time."""
        states: list[NDArray[np.int64]] = []
        indices: list[NDArray[Any]] = []
        ready = 0
        for keys, places in self._pieces():
            states.append(keys)
            indices.append(places)
            ready += len(keys)
            while ready >= CHUNK:
                whole, whole_indices = np.concatenate(states), np.concatenate(indices)
                yield whole[:CHUNK], whole_indices[:CHUNK]
                states, indices = [whole[CHUNK:]], [whole_indices[CHUNK:]]
                ready -= CHUNK
        if ready:
            yield np.concatenate(states), np.concatenate(indices)

    def _pieces(self) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
        """The same in pieces of any size."""
        view, merits, total = self.states.view(), self.merits.view(), self.states.size
        runs = [view[layer.begin : layer.end] for layer in self.layers]
        values = [merits[total - layer.end : total - layer.begin] for layer in self.layers]
        read = self.states.work.read
        keys = splitters(runs, PART, read)
        starts = [np.concatenate([[0], places_in(run, keys, read)]) for run in runs] if len(keys) else None
        ascending = self.distinct[::-1]
        lock = threading.Lock()

        def place(piece: tuple[int, list[tuple[int, int, int]]]) -> tuple[NDArray[np.int64], NDArray[Any]]:
            parts = [(runs[i][begin:end], values[i][begin:end]) for i, begin, end in piece[1]]
            if len(parts) == 1:
                states, merits = parts[0]
                states = states.copy()
            else:
                states = np.concatenate([part[0] for part in parts])
                merits = np.concatenate([part[1] for part in parts])
                radix_sort_pairs(states, merits, np.empty_like(states), np.empty_like(merits), len(states))
            dtype = np.uint8 if len(ascending) <= 256 else np.int32
            indices = (len(ascending) - 1 - np.searchsorted(ascending, merits)).astype(dtype)
            with lock:
                read(states.nbytes + merits.nbytes)
            return states, indices

        def pieces() -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
            for number in range(len(keys) + 1):
                spans = []
                for i, run in enumerate(runs):
                    begin = 0 if starts is None else int(starts[i][number])
                    end = len(run) if number == len(keys) else int(starts[i][number + 1])  # type: ignore[index]
                    if begin < end:
                        spans.append((i, begin, end))
                if spans:
                    yield number, spans

        with Workers(self.workers) as team:
            yield from team.map(place, pieces())

    def _root(self) -> Value:
        """The value of the start."""
        rules = self.rules
        state = rules.game.initial()
        if rules.is_terminal(state):
            return value.value_of(rules.end(state), rules.scores)
        key = rules.canonical(state)
        merits, total = self.merits.view(), self.states.size
        for layer in self.layers:
            states = self.states.view()[layer.begin : layer.end]
            place = int(np.searchsorted(states, key))
            if place < len(states) and states[place] == key:
                return value.value_of(int(merits[total - layer.end + place]), rules.scores, self.backward.win)
        raise AssertionError(f"the start {key} was not reached")
