"""A map over threads: results in order, few tasks ahead, and a prompt end when something is raised."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from solver.base.errors import ResourceError
from solver.base.system import cores

Item = TypeVar("Item")
Result = TypeVar("Result")


END: Any = object()


class Workers(contextlib.AbstractContextManager["Workers"]):
    """`with Workers(n) as workers: for result in workers.map(function, items)`; kernels release the GIL."""

    def __init__(self, count: int | None = None) -> None:
        self.count: int = count or cores()
        self._pool = ThreadPoolExecutor(self.count)

    def __exit__(self, *raised: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results in the items' order; at most two tasks a worker are under way, so memory stays bounded."""
        queue = iter(items)
        current, following = next(queue, END), next(queue, END)
        # No thread is worth waking: games of many small tiers spend their time here
        if following is END:
            if current is not END:
                yield function(current)
            return
        yield from self.map_ahead(function, itertools.chain((current, following), queue), 2 * self.count)

    def each(self, function: Callable[[Item], object], items: Iterable[Item]) -> None:
        """Call a function with every item."""
        deque(self.map(function, items), maxlen=0)

    def map_ahead(self, function: Callable[[Item], Result], items: Iterable[Item], limit: int = 1) -> Iterator[Result]:
        """The results in the items' order, found while those before are used, so many tasks ahead at most."""
        under_way: deque[Future[Result]] = deque()
        try:
            for argument in items:
                try:
                    under_way.append(self._pool.submit(function, argument))
                except RuntimeError as error:
                    # The limits on memory or processes
                    raise ResourceError(
                        f"{error}: raise the limits on memory and processes, or take --workers 1"
                    ) from None
                if len(under_way) > limit:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
