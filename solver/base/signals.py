"""Signals that ask for an end, from the program's first line to its last: exit codes 130 and 143, whatever goes on.

While a command runs they are exceptions, which let it clean up. Before, while modules are imported, and afterwards,
while threads and callbacks end, there is nothing to clean up, and an exception would end in a traceback: the process
leaves immediately. Python gives signals back to the system before it is gone, so `leave` does not go so far.

Rules that do not end are ended by a signal, too: `impatient`, after so many seconds of computing.

What this module and those before it import takes its time without a handler: as little as there can be.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from solver.base.system import ALARM, COMPUTED, ENDING, at_closing, is_set, ring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn


class Terminated(BaseException):
    """SIGTERM arrived, or on Windows Ctrl-Break."""


_asked: list[int] = []  # the signal that asked for an end
_running: list[bool] = []  # whether a command is, which an exception may interrupt


def catch() -> dict[int, Any]:
    """Handle the signals here, until `give_back` restores the handlers before. Only does so in the main thread."""
    try:
        return {number: signal.signal(number, _end) for number in ENDING}
    except ValueError:
        return {}


def give_back(earlier: dict[int, Any]) -> None:
    """Leave the signals to whom they were taken from."""
    for number, handler in earlier.items():
        signal.signal(number, handler)


def begin() -> None:
    """A command begins: a signal is KeyboardInterrupt or Terminated; of a second one the process ends immediately."""
    _asked.clear()
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(ALARM, _end_again)
        at_closing(signal.SIGTERM)
    sys.unraisablehook = _report_lost
    _running.append(True)


def end() -> int | None:
    """It has ended, so nothing is raised any more; the exit code of the signal that had asked for that, if any."""
    _running.clear()
    ring(ALARM, 0)
    sys.unraisablehook = sys.__unraisablehook__
    return ENDING[_asked[0]] if _asked else None


def leave(code: int) -> NoReturn:
    """End the process as Python does: its threads, its exit handlers, its output. A signal meanwhile is obeyed."""
    import atexit
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError:
        code = code or 1
    finally:
        os._exit(code)


def stay_away() -> None:
    """While the interpreter ends by itself its handlers are gone: no signal must take the place of the exit code."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: Any) -> None:
    if not _running or _asked:
        if not _asked:
            # No reader may be left
            with contextlib.suppress(OSError):
                os.write(2, b"Error: interrupted\n" if number == signal.SIGINT else b"Error: terminated\n")
        os._exit(ENDING[(_asked or [number])[0]])
    _asked.append(number)
    ring(ALARM, 0.2, 0.2)
    raise KeyboardInterrupt() if _asked[0] == signal.SIGINT else Terminated()


def _end_again(number: int, frame: Any) -> None:
    """Raise an end again that a callback from compiled code may have swallowed, unless the end is under way."""
    if _asked and _running and not isinstance(sys.exc_info()[1], (KeyboardInterrupt, Terminated)):
        raise KeyboardInterrupt() if _asked[0] == signal.SIGINT else Terminated()


def _report_lost(lost: Any) -> None:
    """Report lost exceptions as Python would, except our own, which are raised again."""
    if not isinstance(lost.exc_value, (KeyboardInterrupt, Terminated)):
        sys.__unraisablehook__(lost)


@contextlib.contextmanager
def impatient(seconds: float, message: str) -> Iterator[None]:
    """Raise GameError if the process computes longer than that without `not_yet`; in the main thread only."""
    import threading

    from solver.base.errors import GameError

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
    import threading

    # Another thread's limit, such as that of a check of rules while they are compiled, is not the main thread's
    if is_set(COMPUTED) and threading.current_thread() is threading.main_thread():
        ring(COMPUTED, seconds, 1.0)
