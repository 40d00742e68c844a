"""Engines, which run tasks: `Engine`, the little that a solve asks of it, and `Here`, which runs them at once.

A task is a top-level function of values that can be pickled; a handle stands for a result that may not be there yet. A
task may run more than once, and anywhere, so it must give the same each time. `on_ray.connect` has the other engine.
"""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from solver.base.errors import ResourceError


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

    def submit_each(
        self, task: Callable[..., Any], arguments: Iterable[Sequence[Any]], *, returns: int = 1, memory: int = 0
    ) -> list[list[Any]]:
        """`submit` a task for each of these arguments."""
        return [self.submit(task, *given, returns=returns, memory=memory) for given in arguments]

    def each(self, task: Callable[..., Any], arguments: Iterable[Sequence[Any]], *, memory: int = 0) -> list[Any]:
        """The result of a task for each of these arguments."""
        return list(self.results(handle for [handle] in self.submit_each(task, arguments, memory=memory)))

    @abstractmethod
    def result(self, handle: Any, within: float | None = None) -> Any:
        """Wait for a task, and return its result. Arrays in it are read-only.

        Raises the task's error, or TimeoutError if the task takes longer than `within` seconds.
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
        """Give up running tasks, and end all that this engine started."""


class Here(Engine):
    """An engine that is done with a task when it is submitted: handles are the results."""

    workers, memory = 1, 1 << 62

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        result = task(*arguments)
        return [result] if returns == 1 else list(result)

    def result(self, handle: Any, within: float | None = None) -> Any:
        return handle


def too_large(memory: int, limit: int) -> ResourceError:
    """Why a task cannot run anywhere."""
    return ResourceError(
        f"a task needs {memory:,} bytes of memory, and no machine has more than {limit:,}: raise --memory, or take "
        "machines with more memory"
    )
