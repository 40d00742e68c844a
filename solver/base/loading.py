"""Who hears of a game that takes long to load: one that is read from a table, or explored."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from solver.base.options import Say, quiet
from solver.base.progress import Progress, silent


class Listener(NamedTuple):
    """The caller that waits while a game is loaded.

    Attributes:
        progress: Called as the work goes on.
        say: Called with a remark.
        memory: Bytes that the game may take. None for a share of what is free.
    """

    progress: Progress = silent
    say: Say = quiet
    memory: int | None = None


_listener: ContextVar[Listener] = ContextVar("listener", default=Listener())  # noqa: B039  (a tuple)


def listener() -> Listener:
    """Who listens now."""
    return _listener.get()


@contextlib.contextmanager
def listening(progress: Progress, say: Say, memory: int | None) -> Iterator[None]:
    """Tell these of the games that are loaded meanwhile."""
    token = _listener.set(Listener(progress, say, memory))
    try:
        yield
    finally:
        _listener.reset(token)
