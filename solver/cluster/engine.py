"""What runs tasks: `Engine`, the little that a solve asks of it, and `Threads`, which is one on this machine.

A task is a top-level function of values that can be pickled; a handle stands for a result that may not be there yet. A
task may run more than once, and anywhere, so it must give the same each time. `on_ray.connect` has the other engine.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Self

from solver.base.errors import ResourceError
from solver.base.memory import free_memory
from solver.base.parallel import cores


class Node(NamedTuple):
    """A machine that runs tasks: its host's name or address, and its id, by which `submit` knows it."""

    host: str
    id: str


class Engine(ABC):
    """Runs tasks, for as long as it is open: `with engine:`."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Tasks that run at a time, as far as is known now."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that each of so many tasks may take."""

    @abstractmethod

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        """Begin a task; the handles of its results, `returns` of them: a task of several returns a sequence of so many.

        An argument that is a handle itself stands for its result, which is then read-only. The task waits until
        `memory` bytes are free. Raises ResourceError if they never are. A task for the `node` of an id runs there at
        once, beside others.
        """

    @abstractmethod
    def result(self, handle: Any, within: float | None = None) -> Any:
        """What the task returned, once it has; raises what it raised. Arrays in it are read-only.

        Raises TimeoutError if it has not returned `within` so many seconds.
        """

    def results(self, handles: Iterable[Any]) -> Iterator[Any]:
        """`result` of each, in their order."""
        return map(self.result, handles)

    def nodes(self) -> list[Node]:
        """The machines that run tasks now: this one, unless an engine knows better."""
        return [Node(socket.gethostname(), "")]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:  # noqa: B027
        """Give up what is under way, and end what this engine started."""


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
        """Take so many bytes of what is left, when there are as many."""
        with self._room:
            self._room.wait_for(lambda: self._left >= memory)
            self._left -= memory
        try:
            yield
        finally:
            with self._room:
                self._left += memory
                self._room.notify_all()


class Here(Engine):
    """An engine that is done with a task when it is submitted: handles are the results."""

    workers, memory = 1, 1 << 62

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        made = task(*arguments)
        return [made] if returns == 1 else list(made)

    def result(self, handle: Any, within: float | None = None) -> Any:
        return handle


def too_large(memory: int, most: int) -> ResourceError:
    """Why a task cannot run anywhere."""
    return ResourceError(
        f"a task needs {memory:,} bytes of memory, and no machine has more than {most:,}: raise --memory, or take "
        "machines with more memory"
    )
