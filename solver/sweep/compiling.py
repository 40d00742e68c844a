"""Compiling a game's moves in a process of its own, while plain Python tries the game on another core.

Its result is in Numba's cache, under names that the solve looks for. So it may fail, be killed or never be
started: the solve then compiles by itself and names the fault. It is a fork, so that it has the very rules that
were loaded, and is made only of a process of one thread, which is safe, and while there is a core to spare.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import time

from solver.base.extras import has_cache
from solver.base.system import cores, end_with_parent, fork_is_safe, open_descriptor
from solver.compiled.identity import are_cached
from solver.rules.game import Rules

TINY_SOLVE_SECONDS = 0.05  # seconds in which a tiny game is solved, and nothing need be compiled


class ForkedCompiler:
    """The other process, if there is one, which does not outlive `with`; `cached`: whether all was compiled before."""

    def __init__(self, rules: Rules, tiers: bool) -> None:
        self.rules = rules
        self.tiers = tiers
        self.cached: bool = are_cached(rules, tiers)
        # Whether a fork is safe and gains something
        may_fork = cores() > 1 and importlib.util.find_spec("numba") is not None and fork_is_safe()
        self.process = _fork(rules, tiers) if may_fork and not self.cached else None

    def __enter__(self) -> ForkedCompiler:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def wait(self) -> None:
        """Wait until it has compiled all it can. The rest is compiled here. Without a cache it is of no use."""
        if not has_cache():
            self.stop()
        if self.process is not None:
            # The solve meets it again, and says so
            with contextlib.suppress(Exception):
                from solver.compiled import edges

                edges.address_of(edges.CompiledMoves(self.rules, self.tiers).kernels.keep, edges.KEEP)
            self._reap()

    def stop(self) -> None:
        """It is not needed any more."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
            self._reap()

    def _reap(self) -> None:
        assert self.process is not None
        # Whoever ignores SIGCHLD has no children to wait for
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)
        self.process = None


def _fork(rules: Rules, tiers: bool) -> int | None:
    """Start the other process. It compiles in silence, holds none of the parent's files and does not outlive it."""
    parent = os.getpid()
    try:
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
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        if os.getppid() == parent:
            time.sleep(TINY_SOLVE_SECONDS)
            from solver.compiled import edges

            # The slowest part
            edges.address_of(edges.CompiledMoves(rules, tiers).kernels.edges, edges.EDGES)
    finally:
        os._exit(0)
