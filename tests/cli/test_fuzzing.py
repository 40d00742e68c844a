"""No command line ends in a traceback, hangs, or fails without a word: some at once, thousands by `make stress`."""

import os

import pytest

from solver.base import extras
from tests.fuzzing import faults, run, run_here

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux")


@pytest.fixture(autouse=True)
def nothing_is_served_for_ever(monkeypatch):
    """What `serve` has made ready it would serve until a signal, in a browser of its own."""
    monkeypatch.setattr("click.launch", lambda url: 0)
    if extras.has_serving():
        monkeypatch.setattr("solver.serve.running.run", lambda make, sockets, *_: [one.close() for one in sockets])


def test_odd_command_lines_are_answered_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.fuzzing.DEAR", dict.fromkeys(("check", "estimate", "learn", "match", "solve"), 0.0))
    assert faults(1, 40, tmp_path, run_here) == []


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(2, 8))
def test_odd_command_lines_by_the_hundred(tmp_path, seed):
    """Each in a process of its own, with its own streams, limits and end."""
    assert faults(seed, 500, tmp_path, run) == []
