"""One state searched by several threads, which share the table, their bounds and the states under way.

Each asks the same questions of the same state. They part by putting off moves that another is at (see `prove`), and
find the results of the others in the table. The first who knows the value ends it for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from solver.compiled.exact.alphabeta import Field
from solver.compiled.exact.table import IDLE, Words

NODES_PER_EXCHANGE = 1 << 13  # nodes between two exchanges: what is searched in vain when another has answered
BUSY = 1 << 14  # states noted that somebody is at


class Together:
    """A search that the first of `members` has begun and all go on with; the others are idle until then."""

    def __init__(self, members: Sequence[Any]) -> None:
        self.members = members
        self._leader = leader = members[0]
        self.low, self.high = int(leader.search[Field.LOW]), int(leader.search[Field.HIGH])
        self._busy: Words = np.full(BUSY, IDLE, np.int64)
        self._gate = threading.Condition()
        # Threads that use the table
        self._inside = 0
        # It is about to grow
        self._held = False
        self._error: BaseException | None = None

    def value(self, state: int, check: Callable[[], None]) -> int:
        """The merit of the state; the leader calls `check` now and then, which may raise."""
        threads = []
        for member in self.members[1:]:
            member.begin(state, self.low, self.high)
            threads.append(threading.Thread(target=self._help, args=(member,), daemon=True))
        try:
            for thread in threads:
                thread.start()
            self._lead(check)
        finally:
            self._finish()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        if self._error is not None:
            raise self._error
        return self.low

    def _lead(self, check: Callable[[], None]) -> None:
        leader = self._leader
        while self._search(leader):
            if leader.can_grow(int(leader.search[Field.KEPT]) * len(self.members)):
                self._grow()
            check()

    def _help(self, member: Any) -> None:
        try:
            while self._search(member):
                pass
        except BaseException as error:
            self._error = error
            self._finish()
        finally:
            member.end()

    def _search(self, member: Any) -> bool:
        """Search on for a chunk, and exchange bounds; whether more is to be done."""
        with self._gate:
            self._gate.wait_for(lambda: not self._held)
            self._inside += 1
        try:
            member.table = self._leader.table
            member.step(self._busy, NODES_PER_EXCHANGE)
        finally:
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()
        return self._exchange(member.search)

    def _exchange(self, search: Words) -> bool:
        with self._gate:
            if self.low < self.high:
                self.low, self.high = max(self.low, int(search[Field.LOW])), min(self.high, int(search[Field.HIGH]))
            if not self.low < search[Field.ASKED] <= self.high:  # another has answered
                search[Field.PLY] = search[Field.ENTERING] = 0
                self._busy[:] = IDLE
            search[Field.LOW], search[Field.HIGH] = self.low, self.high
            return self.low < self.high

    def _finish(self) -> None:
        """Whatever has happened, nobody goes on."""
        with self._gate:
            self.high = self.low

    def _grow(self) -> None:
        """Grow the table while nobody uses it."""
        with self._gate:
            self._held = True
            self._gate.wait_for(lambda: self._inside == 0)
            self._leader.grow()
            self._held = False
            self._gate.notify_all()
