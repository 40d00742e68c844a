"""An end to rules that do not end: a signal after so many seconds of computing."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from solver.base.errors import GameError


@contextlib.contextmanager
def impatient(seconds: float, message: str) -> Iterator[None]:
    """Raise GameError if the process computes longer than that without `not_yet`; in the main thread only."""
    if not hasattr(signal, "ITIMER_VIRTUAL") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        raise GameError(message)

    earlier = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


def not_yet(seconds: float) -> None:
    """Something has ended: the patience begins anew."""
    if hasattr(signal, "ITIMER_VIRTUAL") and signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
