"""Results of tasks in files of the store, where they would be too many for the driver to own.

Ray's driver keeps a record of each result, 38 kB of them in a large shuffle (ray#18333), and passes each on in 20 us.
Of a task whose results are filed it owns two: the first of them, and the offsets of the others in one file. The
digests of what is read come by Ray.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

from solver.cluster.engine import Engine, Node
from solver.cluster.store import Slice, Sliced, Store, store_at

MAIL = "mail"  # what such files are called


class Made:
    """The file that a task makes: what it says of it, once that was asked for."""

    def __init__(self, engine: Engine, handle: Any) -> None:
        self._engine, self._handle = engine, handle
        self.filed: Sliced | None = None

    def part(self, number: int) -> Slice:
        """Where a result is."""
        if self.filed is None:
            self.filed, self._handle = self._engine.result(self._handle), None
        return self.filed.part(number)


class Place(NamedTuple):
    """A handle: one of the results in a file."""

    made: Made
    number: int


class Filing(Engine):
    """An engine around another one that lets tasks exchange results through files of a store.

    Tasks may read results from files. With `files`, a task writes all its results but the first to one file.
    """

    def __init__(self, engine: Engine, store: Store, files: bool) -> None:
        self.engine, self.store, self.files = engine, store, files
        self._made: list[Made] = []
        self._before: list[Made] = []

    @property
    def workers(self) -> int:
        return self.engine.workers

    @property
    def memory(self) -> int:
        return self.engine.memory

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        slices = [
            argument.made.part(argument.number) if isinstance(argument, Place) else argument for argument in arguments
        ]
        url = self.store.url
        if self.files and returns > 1:
            first_result, handle = self.engine.submit(_filed, url, task, *slices, returns=2, memory=memory, node=node)
            self._made.append(Made(self.engine, handle))
            return [first_result, *(Place(self._made[-1], number) for number in range(returns - 1))]
        if any(isinstance(argument, Slice) for argument in slices):
            return self.engine.submit(_called, url, task, *slices, returns=returns, memory=memory, node=node)
        return self.engine.submit(task, *slices, returns=returns, memory=memory, node=node)

    def result(self, handle: Any, within: float | None = None) -> Any:
        if isinstance(handle, Place):
            return _read(self.store, handle.made.part(handle.number))
        return self.engine.result(handle, within)

    def nodes(self) -> list[Node]:
        return self.engine.nodes()

    def step(self) -> None:
        """A step of the solve is done: nothing is wanted any more that was made before the last one was."""
        wanted = {result.filed.name for result in self._made if result.filed is not None}
        self.store.remove(sorted({result.filed.name for result in self._before if result.filed is not None} - wanted))
        self._before, self._made = self._made, []


def _called(url: str, task: Callable[..., Any], *arguments: Any) -> Any:
    """A task, of arguments of which some lie in files."""
    store = store_at(url)
    return task(*(_read(store, argument) if isinstance(argument, Slice) else argument for argument in arguments))


def _filed(url: str, task: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The same; its first result, and where the others are."""
    first_result, *other_results = _called(url, task, *arguments)
    pickles = [pickle.dumps(result, protocol=5) for result in other_results]
    return [first_result, store_at(url).put_parts(f"{MAIL}-starts-0-0", pickles)]


def _read(store: Store, piece: Slice) -> Any:
    return pickle.loads(store.read(*piece))  # noqa: S301  # what has another digest than Ray says is not loaded
