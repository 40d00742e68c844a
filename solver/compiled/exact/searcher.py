"""Exact values of single states by the compiled alpha-beta, one question at a time.

    searcher = Searcher(load_game("connect-four"))
    searcher.value(state)              Value(score=1, distance=41)

The table is kept between questions, so related ones are cheap. It begins with 128 KB, which a processor's cache
holds, and grows fourfold as it fills, up to `table` bytes: in connect-four an easy position costs a third that way.

Several threads may search one state (`Together`). They share the table, their bounds and the states under way, and each
asks the same questions of the same state. They part by putting off moves that another is at (see `prove`), and find the
results of the others in the table. The first who knows the value ends it for all.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from typing import Any

import numpy as np

from solver.base.errors import BudgetExceeded, UncompiledRules
from solver.base.progress import Progress, silent
from solver.base.system import cores
from solver.base.value import Value, merit_of, sign_of, value_of
from solver.check.conformance import check_game
from solver.compiled import agreement
from solver.compiled.binding import bind, compiling
from solver.compiled.exact import alphabeta
from solver.compiled.exact.alphabeta import FIELDS, FRAME, ROW, Field, Frame
from solver.compiled.exact.moves import SLOW
from solver.compiled.exact.table import GROWTH, IDLE, LIMIT, LOAD, WIN, exact_entries, new_table, spread
from solver.compiled.states import Words, columns, doubled, more_of, places, read_state, write_state
from solver.rules.game import Game, Rules, is_built_in
from solver.search import Budget, ExactSearch, SearchStatus, cycle, refuse_chance
from solver.search import alphabeta as plain_search

TABLE_BYTES = 64 << 20  # bytes
SMALLEST = 128 << 10
HARD = 1 << 15  # nodes after which others are asked to join: some 6 ms, where to begin a thread takes a tenth of one
HANDED_OVER = 0.02  # seconds between two lists of values from a thread: to hand over each took longer than easy ones do
ALONE: Words = np.full(1, IDLE, np.int64)


class Searcher(ExactSearch):
    """Alpha-beta for one game, in one thread; several may share a `table` of their own making.

    `outcomes`: find the sign of the score only. Raises MethodError for a game with chance or, while searching, with
    cycles. Its `helpers`, idle searchers of the same game, join in a hard search, unless it counts nodes.
    """

    win = WIN

    def __init__(
        self, game: Game | Rules, *, symmetry: bool = True, outcomes: bool = False, table: int | Words = TABLE_BYTES
    ) -> None:
        self.rules = rules = Rules.of(game, symmetry)
        refuse_chance(rules, "alpha-beta")
        self.game: Any = rules.game
        self._outcomes = outcomes
        self.scores = rules.scores or outcomes
        self.helpers: Sequence[Searcher] = ()
        self._kernels = bind(sys.modules[alphabeta.__name__], rules.game, rules.symmetry, outcomes)
        self._solve = self._kernels.solve
        # The table is the head of this array
        self._room = new_table(table) if isinstance(table, int) else table
        self._smallest = min(SMALLEST // 8, len(self._room)) if isinstance(table, int) else len(table)
        self.table: Words = self._room[: self._smallest]
        self._more = extra_words = more_of(rules.bits)
        self.frames = np.zeros((128, columns(FRAME, extra_words)), np.int64)
        self.moves = np.zeros((4096, columns(ROW, extra_words)), np.int64)
        self.search = np.zeros(FIELDS, np.int64)
        self.nodes: int = 0

    def clear(self) -> None:
        """Forget everything."""
        self.table[:] = 0
        self.table = self._room[: self._smallest]

    def warm(self) -> None:
        """Compile, or load from the cache, all that a search needs; hold a user's rules against plain Python.

        Raises GameError if those break the protocol, UncompiledRules if they compile to something else.
        """
        if not is_built_in(self.rules.name):
            states, table = check_game(self.game), dict[Any, int]()
            agreement.compare(self.game, states, symmetry=self.rules.symmetry)

            def plain(state: int, budget: Budget) -> Value:
                value = plain_search.solve(self.rules, state, table=table, budget=budget).value
                return sign_of(value) if self._outcomes else value

            suspects = "bounds, replies, outlook or longest are unsound, or "
            agreement.compare_values(self.rules, states, plain, self.value, suspects)
        with contextlib.suppress(BudgetExceeded):
            self.value(self.game.initial(), nodes=1)
        spread(new_table(1024), 64, self._more)

    def _range(self, state: int) -> tuple[int, int]:
        if self._outcomes:
            return -1, 1
        low, high = super()._range(state)
        if low > WIN or high < -WIN:
            raise self._too_large(state)
        return low, high

    def _merit(self, state: int, low: int, high: int, budget: Budget) -> int:
        self.begin(state, low, high)
        search, helpers = self.search, self.helpers if budget.nodes_left is None else ()
        try:
            while True:
                before = int(search[Field.COUNT])
                if self.advance(budget.allowance()):
                    merit = int(search[Field.LOW])
                    break
                budget.take(int(search[Field.COUNT]) - before)
                budget.check()
                if helpers and search[Field.COUNT] >= HARD:
                    merit = Together([self, *helpers]).value(state, budget.check)
                    break
        except Exception as error:
            with compiling(self.game):
                raise error
        finally:
            self.end()
        return (merit > 0) - (merit < 0) if self._outcomes else merit

    def begin(self, state: int, low: int, high: int) -> None:
        """Set out to find the merit of a state within low..high."""
        search = self.search
        search[:] = 0
        search[Field.LOW], search[Field.HIGH], search[Field.ASKED] = low, high, LIMIT
        write_state(self.frames, Frame.STATE, state, self._more)

    def is_worth(self, state: int, bound: int, nodes: int) -> bool | None:
        """Whether an unfinished state is worth at least `bound`; None if so many nodes do not tell."""
        self.begin(state, bound - 1, bound)
        return self.end() >= bound if self.advance(nodes) else None

    def step(self, busy: Words, allowance: int) -> bool:
        """Search on for so many nodes, while `busy` names the states that others search; whether the merit is found."""
        status = self._solve(self.table, self.frames, self.moves, busy, self.search, allowance)
        if status == SearchStatus.OUTSIDE:
            raise self._too_large(read_state(self.frames, int(self.search[Field.PLY]), Frame.STATE, self._more))
        if status == SearchStatus.NO_ROOM:
            path = self.frames[: int(self.search[Field.PLY]) + 1, places(Frame.STATE, self._more)]
            if len(np.unique(path, axis=0)) < len(path):
                raise cycle(self.rules, "alpha-beta")
            if len(path) > SLOW // 2:
                raise self._too_large(read_state(self.frames, len(path) - 1, Frame.STATE, self._more))
            self.frames, self.moves = doubled(self.frames), doubled(self.moves)
        return bool(status == SearchStatus.DONE)

    def advance(self, nodes: int) -> bool:
        """Search on alone, for so many nodes or until the table must grow; whether the merit is found."""
        if self.step(ALONE, min(nodes, LOAD * len(self.table) // 2)):
            return True
        if self.can_grow(int(self.search[Field.KEPT])):
            self.grow()
        return False

    @property
    def arrays(self) -> list[Words]:
        """All that the search goes on from. To be set to the same later."""
        return [self.search, self.frames, self.moves, self.table]

    @arrays.setter
    def arrays(self, arrays: list[Words]) -> None:
        self.search, self.frames, self.moves, table = arrays
        self.table = self._room[: len(table)]
        self.table[:] = table

    @property
    def all_nodes(self) -> int:
        """The nodes searched so far, those of a search under way included."""
        return self.nodes + int(self.search[Field.COUNT])

    def end(self) -> int:
        """Count the nodes of a search that has ended; the merit that it found, if it was done."""
        self.nodes += int(self.search[Field.COUNT])
        self.search[Field.COUNT] = 0
        return int(self.search[Field.LOW])

    def can_grow(self, kept: int) -> bool:
        """Whether there is room behind the table, which as many entries as that have filled."""
        return len(self.table) < len(self._room) and kept >= LOAD * len(self.table) // 2

    def grow(self) -> None:
        """Take four times the room for the table, which nobody else may use meanwhile."""
        used = len(self.table)
        self.table = self._room[: GROWTH * used]
        spread(self.table, used, self._more)
        self.search[Field.KEPT] = 0

    def _too_large(self, state: int) -> UncompiledRules:
        what = "margins" if self.rules.scores else "a utility other than -1, 0 and 1, or plies_left"
        return UncompiledRules(
            f"{self.rules.name} has {what} near state {state} beyond what the compiled alpha-beta can hold"
            f" ({WIN:,} for margins): solve it without --max-ply, by minimax"
        )

    def entries(self, progress: Progress = silent) -> dict[int, int]:
        """Canonical states to merits, with `value.WIN`, after a search from all starts: whatever became exact."""
        if not is_built_in(self.rules.name):
            self.warm()
            self.clear()
        starts = self.rules.roots()
        values = {}
        for searched, state in enumerate(starts):
            values[self.rules.canonical(state)] = merit_of(self.value(state))
            progress("search", searched + 1, len(starts), f"{self.nodes:.3g} nodes")
        found = {state: merit_of(value_of(merit, self.rules.scores, WIN)) for state, merit in self.exact().items()}
        return {**found, **values}

    def exact(self) -> dict[int, int]:
        """Canonical states to merits (`win` being `alphabeta.WIN`): all entries whose bounds have met."""
        return exact_entries(self.table, self._more)


class Team(contextlib.AbstractContextManager["Team"]):
    """Searchers on all cores that share one table: many states, each searched by one of them, or one, by all."""

    def __init__(
        self,
        game: Game | Rules,
        *,
        symmetry: bool = True,
        outcomes: bool = False,
        workers: int | None = None,
        table: int | None = None,
    ) -> None:
        self.count: int = workers or cores()
        member = functools.partial(Searcher, Rules.of(game, symmetry), outcomes=outcomes)
        leader = member(table=table or TABLE_BYTES)
        members = [member(table=leader.table) for _ in range(1, self.count)]
        self.members: list[Searcher] = [leader, *members]
        leader.warm()
        leader.helpers = members
        self.value, self.reaches = leader.value, leader.reaches
        self._stop = threading.Event()

    def map(self, states: Iterable[int], seconds: float = math.inf) -> Iterator[list[tuple[int, Value]]]:
        """Yield lists of (state, value) pairs: the results that a thread has within HANDED_OVER seconds.

        After so many `seconds` it ends; a state that takes half of those left is left out.
        """
        deadline = time.monotonic() + seconds
        # All get one table, as large as it may become, and nobody has helpers
        leader = self.members[0]
        leader.helpers = ()
        while leader.can_grow(LOAD * len(leader.table)):
            leader.grow()
        for member in self.members:
            member.table = leader.table
        todo, lock = iter(states), threading.Lock()

        def deal() -> int | None:
            with lock:
                return None if self._stop.is_set() or time.monotonic() > deadline else next(todo, None)

        pool = futures.ThreadPoolExecutor(self.count)
        try:
            running = {pool.submit(self._some, member, deal, deadline): member for member in self.members}
            while running:
                for future in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                    member, pairs = running.pop(future), future.result()
                    if pairs:
                        running[pool.submit(self._some, member, deal, deadline)] = member
                        yield pairs
        finally:
            self._stop.set()
            pool.shutdown()
            leader.helpers = self.members[1:]

    def _some(self, member: Searcher, deal: Callable[[], int | None], deadline: float) -> list[tuple[int, Value]]:
        """The next pairs that one thread finds; none if no state is left."""
        pairs: list[tuple[int, Value]] = []
        due = time.monotonic() + HANDED_OVER
        for state in iter(deal, None):
            seconds = (deadline - time.monotonic()) / 2
            try:
                pairs.append((state, member.value(state, seconds=seconds, stop=self._stop)))
            except BudgetExceeded:
                if self._stop.is_set():
                    raise
            if pairs and time.monotonic() > due:
                break
        return pairs

    def nodes(self) -> int:
        """Nodes searched so far, but for those of searches under way."""
        return sum(member.nodes for member in self.members)

    def __exit__(self, *raised: object) -> None:
        self._stop.set()


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
        threads, leader = [], self._leader
        for member in self.members[1:]:
            member.begin(state, self.low, self.high)
            threads.append(threading.Thread(target=self._help, args=(member,), daemon=True))
        try:
            for thread in threads:
                thread.start()
            while self._search(leader):
                if leader.can_grow(int(leader.search[Field.KEPT]) * len(self.members)):
                    with self._gate:
                        self._held = True
                        self._gate.wait_for(lambda: self._inside == 0)
                        leader.grow()
                        self._held = False
                        self._gate.notify_all()
                check()
        finally:
            self._finish()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        if self._error is not None:
            raise self._error
        return self.low

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
        search = member.search
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
