"""No command line ends in a traceback, hangs, or fails without a word: thousands at random by `make stress`."""

import os

import pytest

from solver.base import extras
from tests.fuzzing import faults

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux")


@pytest.fixture(autouse=True)
def nothing_is_served_for_ever(monkeypatch):
    """What `serve` has made ready it would serve until a signal, in a browser of its own."""
    monkeypatch.setattr("click.launch", lambda url: 0)
    if extras.has_serving():
        monkeypatch.setattr("solver.serve.running.run", lambda make, sockets, *_: [one.close() for one in sockets])


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(2, 8))
def test_odd_command_lines_by_the_hundred(tmp_path, seed):
    """Each in a process of its own, with its own streams, limits and end."""
    assert faults(seed, 500, tmp_path) == []
