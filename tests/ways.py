"""By which way tests solve small games: in plain Python, or by the kernels as if they were large."""

import time

import pytest

from solver.base import extras
from solver.solving.ways import plain

compiled = pytest.mark.skipif(not extras.has_kernels(), reason="the extra [solve] is not installed")


def slow(*values):
    """Parameters whose tests are slow; their quick representatives stand beside them."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def slow_rows(*rows):
    """The same where a test takes several arguments."""
    return [pytest.param(*row, marks=pytest.mark.slow) for row in rows]


def slowly(values, *some):
    """All these values, as parameters, of which some are slow."""
    return [*(value for value in values if value not in some), *slow(*some)]


def quickly(values, some):
    """All these values, as parameters, of which all but some are slow."""
    return [value if value in some else pytest.param(value, marks=pytest.mark.slow) for value in values]


def until(condition):
    """Wait until something is true, and return it; that it is not for minutes, on any machine, is a failure."""
    end = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < end, "it has never become true"
        time.sleep(0.01)
    return found


def plainly(monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)


def by_kernels(monkeypatch):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    monkeypatch.setattr(plain, "MANY_TIERS", 1 << 30)


@pytest.fixture(autouse=True)
def what_is_marked_by_kernels(request, monkeypatch):
    """What is marked as compiled is not solved plainly, small as it is."""
    if any(mark == compiled.mark for mark in request.node.iter_markers("skipif")):
        by_kernels(monkeypatch)
