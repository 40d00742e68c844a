"""An end to rules that do not end: a signal after so many seconds of computing."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from solver.base.errors import GameError
from solver.base.system import COMPUTED, is_set, ring


@contextlib.contextmanager
def impatient(seconds: float, message: str) -> Iterator[None]:
    """Raise GameError if the process computes longer than that without `not_yet`; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise GameError(message)

    earlier = signal.signal(COMPUTED, end)
    ring(COMPUTED, seconds, 1.0)
    try:
        yield
    finally:
        ring(COMPUTED, 0)
        signal.signal(COMPUTED, earlier)


def not_yet(seconds: float) -> None:
    """Something has ended: the patience begins anew. In other threads than the main one nothing happens."""
    # Another thread's limit, such as that of a check of rules while they are compiled, is not the main thread's
    if is_set(COMPUTED) and threading.current_thread() is threading.main_thread():
        ring(COMPUTED, seconds, 1.0)
