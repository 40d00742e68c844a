"""How long work says how far it is: callbacks, so that only the command line knows about bars.

A game that is read from a table, or explored, takes long to load. Its `listener` hears of that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import NamedTuple, Protocol

Say = Callable[[str], None]


class Progress(Protocol):
    """A callback: `progress(step, done, total, note)`.

    `step` is the step's name, `done` the units done, and `total` the units in all: None while that is unknown, 0 if
    there is nothing to count. `note` is a remark.
    """

    def __call__(self, step: str, done: int, total: int | None, note: str = "") -> None: ...


def silent(step: str, done: int, total: int | None, note: str = "") -> None:
    """Say nothing."""


def quiet(message: str) -> None:
    """Say nothing."""


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
