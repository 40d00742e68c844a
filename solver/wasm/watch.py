"""The process that compiles and runs modules, and a watchdog that ends those that do not end.

Compiling is where a stranger's module does most harm: 64 KB of nested loops take the compiler more than a minute and
gigabytes, and no signal is heard meanwhile. So it is done apart, in a process of its own that has 5 seconds and 512 MB.
That takes 0.3 seconds more; modules that come with the package are compiled here.

Code of a module looks at its engine's epoch at every turn of a loop, which costs nothing that could be measured. While
modules run, a thread raises the epoch by one a tick; who has set a deadline in its store is trapped then.
"""

from __future__ import annotations

import contextlib
import functools
import math
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from solver.base.errors import DamagedBook, ResourceError
from solver.base.system import limit_memory

TICK = 0.05  # seconds
CACHED_MODULES = 8  # modules whose machine code is kept
# of the process that compiles: seconds, bytes of memory, and of machine code, of which our modules have 110 KB
COMPILE_SECONDS, COMPILE_BYTES, MAX_CODE_BYTES = 5.0, 512 << 20, 32 << 20
APART = "import sys; sys.path[:] = sys.argv[1:]; from solver.wasm import watch; watch.compile_apart()"
REFUSED = 3  # the exit code of a module that does not compile


def _engine() -> Any:
    import wasmtime

    config = wasmtime.Config()
    config.epoch_interruption = True
    # With parallel compilation some damaged modules never returned
    config.parallel_compilation = False
    return wasmtime.Engine(config)


def compile_apart() -> None:
    """Compile the module on standard input to machine code on standard output, within limits: in a child process."""
    import wasmtime

    limit_memory(COMPILE_BYTES)
    try:
        code = wasmtime.Module(_engine(), sys.stdin.buffer.read()).serialize()
    except wasmtime.WasmtimeError:
        sys.exit(REFUSED)
    if len(code) > MAX_CODE_BYTES:
        raise MemoryError
    sys.stdout.buffer.write(code)


def _compiled_apart(data: bytes) -> bytes:
    """The machine code of a module, made by a child process. Raises DamagedBook, ResourceError without Python."""
    command = [sys.executable or "python3", "-c", APART, *map(str, sys.path)]
    try:
        finished_process = subprocess.run(command, input=data, capture_output=True, timeout=COMPILE_SECONDS)
    except OSError as error:
        reason = error.strerror or error
        raise ResourceError(f"{command[0]} does not start ({reason}): a module is compiled by another Python") from None
    except subprocess.TimeoutExpired:
        raise DamagedBook(
            f"the module takes more than {COMPILE_SECONDS:g} seconds to compile: build it again"
        ) from None
    if finished_process.returncode == REFUSED:
        raise DamagedBook("the module does not compile: build it again: solver build")
    if finished_process.returncode:
        raise DamagedBook(f"the module takes more than {COMPILE_BYTES >> 20} MB to compile: build it again")
    return finished_process.stdout


class Watch:
    """An engine for modules, and its epoch."""

    def __init__(self) -> None:
        self.engine: Any = _engine()
        self._code = functools.lru_cache(maxsize=CACHED_MODULES)(self._module)
        self._compiling, self._lock = threading.Lock(), threading.Lock()
        self._running, self._is_wanted = 0, threading.Event()
        self._thread: threading.Thread | None = None

    def compiled(self, data: bytes, *, is_ours: bool) -> Any:
        """A module's machine code, for any number of instances; `is_ours`: it comes with the package.

        Raises DamagedBook, and wasmtime.WasmtimeError for one of ours.
        """
        with self._compiling:
            return self._code(data, is_ours)

    def _module(self, data: bytes, is_ours: bool) -> Any:
        import wasmtime

        if is_ours:
            return wasmtime.Module(self.engine, data)
        return wasmtime.Module.deserialize(self.engine, _compiled_apart(data))

    @contextlib.contextmanager
    def ends(self, store: Any, seconds: float) -> Iterator[None]:
        """Code that runs in a store meanwhile is trapped after so many seconds, or a tick later."""
        store.set_epoch_deadline(1 + math.ceil(seconds / TICK))
        with self._lock:
            self._running += 1
            self._is_wanted.set()
            # At first, and in a fork
            if self._thread is None or not self._thread.is_alive():
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


watch = functools.cache(Watch)  # the one of this process
