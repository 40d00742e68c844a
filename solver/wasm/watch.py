"""What runs modules, and a watchdog that ends those that do not end.

Code of a module looks at its engine's epoch at every turn of a loop, which costs nothing that could be measured. While
modules run, a thread raises the epoch by one a tick; who has set a deadline in its store is trapped then.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
from collections.abc import Iterator
from typing import Any

TICK = 0.05  # seconds
KEPT = 8  # modules whose machine code is kept


class Watch:
    """An engine for modules, and its epoch."""

    def __init__(self) -> None:
        import wasmtime

        config = wasmtime.Config()
        config.epoch_interruption = True
        config.parallel_compilation = False  # with which some damaged modules, in a row, never came back
        self.engine = wasmtime.Engine(config)
        self._code: dict[bytes, Any] = {}
        self._compiling, self._lock = threading.Lock(), threading.Lock()
        self._running, self._is_wanted = 0, threading.Event()
        self._thread: threading.Thread | None = None

    def compiled(self, data: bytes) -> Any:
        """A module's machine code, for any number of instances. Raises wasmtime.WasmtimeError."""
        import wasmtime

        with self._compiling:
            if data not in self._code:
                if len(self._code) == KEPT:
                    self._code.clear()
                self._code[data] = wasmtime.Module(self.engine, data)
            return self._code[data]

    @contextlib.contextmanager
    def ends(self, store: Any, seconds: float) -> Iterator[None]:
        """Code that runs in a store meanwhile is trapped after so many seconds, or a tick later."""
        store.set_epoch_deadline(1 + math.ceil(seconds / TICK))
        with self._lock:
            self._running += 1
            self._is_wanted.set()
            if self._thread is None or not self._thread.is_alive():  # at first, and in a fork
                self._thread = threading.Thread(target=self._tick, daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._is_wanted.clear()

    def _tick(self) -> None:
        while True:
            self._is_wanted.wait()
            time.sleep(TICK)
            self.engine.increment_epoch()


@functools.cache
def watch() -> Watch:
    """The one of this process."""
    return Watch()
