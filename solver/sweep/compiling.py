"""Compiling in processes of their own, while plain Python tries the game, and ahead of the passes of the solve.

Their results are in Numba's cache, under names that the solve looks for. It waits for what they are at
(`base.system.turn`). So they may fail, be killed or never be started: the solve then compiles by itself and names the
fault. They are forks, so that they have the very rules that were loaded. Forks are made only of a process of one
thread, which is safe, and while there is a core to spare.

Cost: a core for as long as they compile. With one core to spare the first solve on a machine takes half the time
(connect-four 4x4).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from solver.base.system import cores, end_with_parent, fork_is_safe, open_descriptor, share_turns, turn
from solver.compiled.identity import are_cached
from solver.rules.game import Rules

TINY_SOLVE_SECONDS = 0.05  # seconds in which a tiny game is solved, and nothing need be compiled
MOST_PROCESSES = 3


class ForkedCompiler:
    """The other processes, if any, until `stop`; `cached`: whether the game was compiled before."""

    def __init__(self, rules: Rules, tiers: bool, codec: str | None = None) -> None:
        self.cached: bool = are_cached(rules, tiers)
        # Whether a fork is safe and gains something
        may_fork = not self.cached and importlib.util.find_spec("numba") is not None and fork_is_safe()
        count = min(cores() - 1, MOST_PROCESSES) if may_fork else 0
        self.processes: list[int] = [one for _ in range(count) if (one := _fork(rules, tiers, codec)) is not None]

    def stop(self) -> None:
        """They are not needed any more."""
        for process in self.processes:
            # Whoever ignores SIGCHLD has no children to wait for
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        self.processes = []


def _fork(rules: Rules, tiers: bool, codec: str | None) -> int | None:
    """Start another process. It compiles in silence, holds none of the parent's files and does not outlive it."""
    parent = os.getpid()
    try:
        turns = share_turns()
        process = os.fork()
    except OSError:
        # Limits on processes or memory may stop it
        return None
    if process:
        return process
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        end_with_parent()
        nowhere = open_descriptor(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        os.closerange(3, turns)
        os.closerange(turns + 1, os.sysconf("SC_OPEN_MAX"))
        if os.getppid() == parent:
            time.sleep(TINY_SOLVE_SECONDS)
            for kernel, *arguments in _kernels(rules, tiers, codec):
                # Another process may be at it
                with contextlib.suppress(BlockingIOError), turn(kernel.py_func.__qualname__, wait=False):
                    kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    finally:
        os._exit(0)


def _kernels(rules: Rules, tiers: bool, codec: str | None) -> Iterator[tuple[Any, ...]]:
    """Yield kernels with arguments of their types: the game's moves, then those of most solves, the slowest first."""
    import numpy as np

    from solver.compiled import edges

    states, merits, words = np.zeros(1, np.int64), np.zeros(1, np.int8), np.zeros(1, np.uint64)
    moves, listed = edges.Moves(0, 0, 0, 0, *[False] * 4), edges.new_edges(1)
    yield edges.CompiledMoves(rules, tiers).listing, states, 0, 0, 0, 0, listed
    from solver.book.codecs import DEFAULT, arrays, instant
    from solver.store import directory, packed, shared, sorting
    from solver.sweep import backward, expansion

    is_sorted = tiers and rules.tiered and rules.size is None and rules.numbering is None
    if is_sorted and rules.kind.name not in ("expectation", "nimber"):
        yield backward.evaluate, moves, directory.lookup_of([(0, states)], merits), 0, 0, 0, 0, merits
    if codec in (None, DEFAULT):
        yield arrays.ARRAYS.compiled(*instant.ENCODER), states, listed.owners, 1, states, np.zeros(1, np.uint8), states
    if is_sorted:
        # The solve compiles the others meanwhile: these it comes to last, the last ones first
        yield sorting.radix_sort_pairs, states, merits, states, merits, 0
        yield packed.pick, shared.read_only(states[None]), shared.read_only(words), 0, 0, states, states
        yield packed.find_begins, states[None], states, np.zeros((1, 1), np.uint32)
        yield packed.pack, states, 0, states[None], words
        yield packed.plan, states, states
        yield expansion.expand, moves, states, 0, 0, 0, 0, listed, states
