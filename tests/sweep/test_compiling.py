"""Compiling in another process while plain Python tries a game: gone with its parent, silent, and never needed."""

import json
import os
import signal
import sys
import textwrap
import threading

import pytest

from solver.book import streaming
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.sweep import compiling
from tests.compiled.test_compiled import write_race
from tests.processes import BY_KERNELS, has_ended, python
from tests.refusals import failing
from tests.ways import by_kernels, until
from tests.written import line_of

pytest.importorskip("numba")
on_macos = pytest.mark.skipif(sys.platform == "darwin", reason="there it is not started")
pytestmark = [pytest.mark.posix("forks"), on_macos]


def run(tmp_path, code):
    """Run code in a process of one thread with a cache of its own; the JSON that it prints."""
    write_race(tmp_path / "race.py")
    head = f"""
        import contextlib, json, os, sys, time
        from solver.base.system import turn
        from solver.rules.game import Rules, load_game
        from solver.sweep import compiling
        compiling.cores = lambda: 2
        rules = Rules(load_game({str(tmp_path / "race.py")!r} + "::Race"))
    """
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = python(textwrap.dedent(head) + textwrap.dedent(code), env=cache, timeout=3000)
    assert done.stderr == ""
    return json.loads(done.stdout) if done.stdout else done.returncode


@pytest.mark.slow
def test_what_the_other_process_compiles_is_found(tmp_path):
    found = run(
        tmp_path,
        """
        other = compiling.ForkedCompiler(rules, True)
        started = len(other.processes)
        from solver.compiled.edges import CompiledMoves
        compiled, free = CompiledMoves(rules), True
        while free and not compiling.are_cached(rules, True):
            time.sleep(0.01)  # without the turn: the other goes on where it is taken
            free = False
            with contextlib.suppress(BlockingIOError), turn(compiled.listing.py_func.__qualname__, wait=False):
                free = True
        compiled.moves
        other.stop()
        cached = compiling.are_cached(rules, True)
        kernels = compiled.kernels
        hits = [sum(one.stats.cache_hits.values()) for one in (kernels.edges, kernels.keep)]
        again = compiling.ForkedCompiler(rules, True).processes
        print(json.dumps([started, cached, hits, again]))
        """,
    )
    assert found == [1, True, [1, 0], []]


def test_what_is_compiled_ahead_is_what_a_solve_calls(tmp_path, monkeypatch):
    by_kernels(monkeypatch)
    monkeypatch.setattr(streaming, "PLAIN_LIMIT", 0)
    pipeline.solve("connect-four:4,3", tmp_path / "book").close()
    for kernel, *arguments in compiling._kernels(Rules(load_game("connect-four:4,3")), True, None):
        assert tuple(map(kernel.typeof_pyval, arguments)) in kernel.overloads, kernel


@pytest.mark.slow
def test_rules_that_do_not_compile_are_told_once_by_the_solve(tmp_path):
    """The other process says nothing of them."""
    path = write_race(tmp_path / "race.py")
    path.write_text(path.read_text("utf-8").replace("return self.goal - state", "return int(str(self.goal - state))"))
    done = python(BY_KERNELS, "solve", f"{path}::Race", timeout=3000)
    assert done.returncode == 0
    notes = [line for line in done.stderr.splitlines() if line.startswith("Note: ")]  # a slow solve says how far it is
    line = f"race.py line {line_of(path, 'self._ahead')}"
    assert len(notes) == 1 and f"Race cannot be compiled: {line}" in notes[0]


def test_the_other_process_goes_with_its_parent_and_is_not_waited_for(tmp_path):
    ended = run(
        tmp_path,
        f"""
        compiling.TINY_SOLVE_SECONDS = 10_000
        other = compiling.ForkedCompiler(rules, True)
        [process] = other.processes
        other.stop()
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, 0)
            sys.exit("it is still there")
        other = compiling.ForkedCompiler(rules, True)
        open({str(tmp_path / "pid")!r}, "w").write(str(*other.processes))
        os.kill(os.getpid(), 9)
        """,
    )
    assert ended == -signal.SIGKILL
    until(lambda: has_ended((tmp_path / "pid").read_text("utf-8")))


def test_it_is_not_started_where_it_gains_nothing_or_cannot_be(monkeypatch):
    rules, end = Rules(load_game("coins")), threading.Event()
    monkeypatch.setattr(compiling, "are_cached", lambda *given: False)
    monkeypatch.setattr(os, "fork", None)
    monkeypatch.setattr(compiling, "cores", lambda: 2)
    thread = threading.Thread(target=end.wait)
    thread.start()
    beside_a_thread = compiling.ForkedCompiler(rules, True).processes
    end.set()
    thread.join()
    assert beside_a_thread == []
    monkeypatch.setattr(compiling, "fork_is_safe", lambda: True)
    for cores, fork in ((1, None), (2, failing(BlockingIOError))):
        monkeypatch.setattr(compiling, "cores", lambda cores=cores: cores)
        monkeypatch.setattr(os, "fork", fork)
        assert compiling.ForkedCompiler(rules, True).processes == []
