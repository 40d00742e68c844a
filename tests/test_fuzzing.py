"""No command line ends in a traceback, hangs, or fails without a word: some at once, thousands by `make stress`."""

import os

import pytest

from tests.fuzzing import faults, run, run_here

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux")


def test_odd_command_lines_are_answered_or_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.fuzzing.DEAR", dict.fromkeys(("check", "estimate", "learn", "match", "solve"), 0.0))
    assert faults(1, 120, tmp_path, run_here) == []


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(2, 8))
def test_odd_command_lines_by_the_hundred(tmp_path, seed):
    """Each in a process of its own, with its own streams, limits and end."""
    assert faults(seed, 500, tmp_path, run) == []
