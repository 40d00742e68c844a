"""Fixtures and settings of several files of tests."""

import gc
import os
import shlex
import sys

import pytest
from hypothesis import HealthCheck, settings

from solver.base import options
from solver.cli import common
from solver.play.player import Player
from solver.solving import racing
from solver.solving.ways import plain
from tests.books import sample_book, way
from tests.exports import small
from tests.pages import modules, pages

__all__ = ["modules", "pages", "small", "way"]  # fixtures

settings.register_profile("of any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("of any machine")


def pytest_collection_finish(session):
    """The compiler's many objects stay: looking through them again and again takes a tenth of the time to compile."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)


class FailuresAsTheyCome:
    """Prints each failure at once, and how to run it alone: pytest reports failures at the end, minutes later."""

    def __init__(self, terminal):
        self.terminal = terminal

    @pytest.hookimpl(trylast=True)  # after the F among the dots
    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message if crash else report.longreprtext.strip()
            path, line, _name = report.location
            # Without marks, as those of pyproject.toml leave out slow tests
            alone = shlex.join([sys.executable, "-m", "pytest", "-m", "", report.nodeid])
            self.terminal.write_line(f"\nFAILED {report.nodeid}: {reason.partition(chr(10))[0]}", red=True)
            self.terminal.write_line(f"{path}:{(line or 0) + 1}; to run it alone: {alone}", red=True)


@pytest.hookimpl(trylast=True)  # when the reporter is there
def pytest_configure(config):
    terminal = config.pluginmanager.getplugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):  # workers hand their reports on
        config.pluginmanager.register(FailuresAsTheyCome(terminal))


def pytest_collection_modifyitems(items):
    """Skip tests marked `posix` on Windows."""
    if sys.platform == "win32":
        for item in items:
            for mark in item.iter_markers("posix"):
                item.add_marker(pytest.mark.skip(reason=f"needs a POSIX system: {mark.args[0]}"))


def pytest_addoption(parser):
    parser.addoption("--compile", action="store_true", help="compile what quick tests run as it is written")


@pytest.fixture(autouse=True)
def as_written(request, monkeypatch):
    """Whatever is marked `interpreted` runs its kernels as plain Python; with --compile it does not (make slow)."""
    node = request.node
    quick = node.get_closest_marker("interpreted") and not node.get_closest_marker("slow")
    if quick and not request.config.getoption("compile"):
        from tests.interpreted import interpret

        interpret(monkeypatch)


@pytest.fixture(autouse=True)
def nothing_compiles_behind_the_tests(monkeypatch):
    """`play` loads code while the user looks at the board, which would go on beside the next tests."""
    prepare = Player.prepare
    monkeypatch.setattr(Player, "prepare", lambda self, wait=True: prepare(self) if wait else None)


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk():
    """The files of these processes need not outlast the machine; those that they start write as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_clock_decides():
    """However slow the machine, the same happens in these processes; a test that wants a clock sets it.

    Plain Python keeps the games that it solves, as compiling them takes seconds each. No line of progress is printed
    and no checkpoint is made because time has passed.
    """
    clocks = [(plain, "SMALL_SECONDS"), (plain, "LITTLE_SECONDS"), (common, "THREAD_SECONDS")]
    clocks += [(common, "THINKING_SECONDS"), (options, "CHECKPOINT_SECONDS"), (racing, "CHECKPOINT_SECONDS")]
    with pytest.MonkeyPatch.context() as patch:
        for module, seconds in clocks:
            patch.setattr(module, seconds, 1e6)
        yield


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A book of several segments, its path and its values."""
    return sample_book(tmp_path_factory, "instant")


@pytest.fixture(scope="session")
def compacted(tmp_path_factory):
    """The same, compact."""
    return sample_book(tmp_path_factory, "compact")


@pytest.fixture(params=["instant", "compact"])
def either(request):
    """Each of the two."""
    return request.getfixturevalue({"instant": "sample", "compact": "compacted"}[request.param])
