"""An engine of threads in this process: a cluster's engine, without a cluster."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from solver.base.errors import ResourceError
from solver.base.memory import free_memory
from solver.base.system import cores
from solver.cluster.engine import Engine, too_large


class Threads(Engine):
    """An engine of `count` threads that share `memory` bytes; kernels release the GIL.

    A task waits for its arguments in its thread. That ends, because tasks begin in the order in which they come, and
    those that it waits for came earlier.
    """

    def __init__(self, count: int | None = None, memory: int | None = None) -> None:
        self._count = count or cores()
        self._total = self._left = memory or free_memory()
        self._room = threading.Condition()
        self._pool = ThreadPoolExecutor(self._count)

    @property
    def workers(self) -> int:
        return self._count

    @property
    def memory(self) -> int:
        return self._total // self.workers

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Future[Any]]:
        if memory > self._total:
            raise too_large(memory, self._total)
        handles: list[Future[Any]] = [Future() for _ in range(returns)]
        try:
            running = self._pool.submit(self._run, task, arguments, handles, memory)
        except RuntimeError as error:  # the limits on memory or processes
            raise ResourceError(f"{error}: raise the limits on memory and processes, or take fewer workers") from None
        running.add_done_callback(lambda run: [handle.cancel() for handle in handles] if run.cancelled() else None)
        return handles

    def result(self, handle: Future[Any], within: float | None = None) -> Any:
        return handle.result(within)

    def __exit__(self, *raised: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(
        self, task: Callable[..., Any], arguments: tuple[Any, ...], handles: list[Future[Any]], memory: int
    ) -> None:
        try:
            known = [given.result() if isinstance(given, Future) else given for given in arguments]
            with self._admitted(memory):
                made = task(*known)
            values = (made,) if len(handles) == 1 else made
            if len(values) != len(handles):
                raise ValueError(f"{task.__name__} returned {len(values)} results instead of {len(handles)}")
        except BaseException as error:
            for handle in handles:
                handle.set_exception(error)
        else:
            for handle, value in zip(handles, values, strict=True):
                handle.set_result(value)

    @contextlib.contextmanager
    def _admitted(self, memory: int) -> Iterator[None]:
        """Take so many bytes of the rest, once there are as many."""
        with self._room:
            self._room.wait_for(lambda: self._left >= memory)
            self._left -= memory
        try:
            yield
        finally:
            with self._room:
                self._left += memory
                self._room.notify_all()
