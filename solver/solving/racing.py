"""Who wins from a position: two searches race for it, and the one that is done first says.

Alpha-beta is far quicker where the rules order moves well (`promise`, `replies`). Proof-number search needs no order.
Nobody knows beforehand which it will be, so both search in turns of a fixed number of nodes, each in a thread of its
own. Small games are settled before proof-number search begins. The same command ends the same way whatever the
threads do: only after a turn of both is it asked who is done, alpha-beta first.

Between turns the work may be kept in a file, from which the same race goes on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from solver.base import system
from solver.base.errors import ResourceError, Unproved
from solver.base.methods import Method
from solver.rules.game import Rules, game_text
from solver.solving import suspended
from solver.solving.job import Job
from solver.solving.proving import AlphaBeta, Limits, ProofNumbers, Search

TABLE = 1 << 30  # bytes of the searches' tables
STATE_BYTES = 600  # of memory that a state of the book takes while it is found; assumed
CHECKPOINT_SECONDS = 120.0
SPARING = 20.0  # times what a checkpoint took: the least between two
HEAD_START = 4  # turns of alpha-beta before proof-number search begins
SEARCHES: dict[str, type[Search]] = {Method.ALPHABETA: AlphaBeta, Method.PROOF_NUMBER: ProofNumbers}
METHODS = tuple(SEARCHES)


class Race:
    """Searches for the value of one position.

    Args:
        job: Options used: table, memory, checkpoint, restart, progress. Beside its book lies the file of the race.
        rules: Rules without distances (`wdl`).
        methods: Of METHODS, in the order in which they are asked who is done.
        seconds: Give up after so many. None for no limit.

    Raises ResourceError if the tables do not fit in memory.
    """

    def __init__(self, job: Job, rules: Rules, methods: Sequence[str], seconds: float | None) -> None:
        table, memory = job.options.table or TABLE, job.options.memory
        if memory is not None and table > memory:
            raise ResourceError(f"the table takes {table:,} bytes of memory, {memory:,} are there: give --table")
        most_states = None if memory is None else max(1, (memory - table) // STATE_BYTES)
        limits = Limits(most_states, None if seconds is None else time.monotonic() + seconds)
        self._job, self._rules, self._limits, self._table = job, rules, limits, table
        self._searches = [SEARCHES[method](rules, table // 2, limits, job.options) for method in methods]
        for search in self._searches[1:]:
            search.turns = HEAD_START
        self._path = job.beside(".proof")
        self._begun = self._saved = time.monotonic()
        self._begun_nodes, self._save_seconds = 0, 0.0

    def run(self, state: int) -> Search:
        """Find the score of a canonical, unfinished state; `method` says which search was done first.

        Returns a search that follows the play from there, with the score in its `scores`.

        Raises:
            Unproved: The time is up.
            ResourceError: There is a file of another race.
            DamagedBook: The file of the race is damaged.
        """
        self._go_on(state)
        try:
            while True:
                self._take_turn(state)
                done = next((search for search in self._searches if state in search.scores), None)
                if done is not None:
                    return self._follower(done)
                self._watch()
        except BaseException as error:
            # What a signal raises is no Exception
            if not isinstance(error, Exception):
                self._keep()
            raise

    def _follower(self, done: Search) -> Search:
        """The search that follows the play: proof-number search, which makes small books."""
        self.method, self._searches = done.method, [done]
        if self._rules.bounds is None and isinstance(done, ProofNumbers):
            return done
        return ProofNumbers(self._rules, self._table // 2, self._limits, self._job.options, done)

    def remove(self) -> None:
        """Remove the file of the race, if it has one."""
        if self._path is not None:
            system.remove(self._path)

    def _take_turn(self, state: int) -> None:
        """Let the searches that are behind search on. After an interruption that may be one of two."""
        turn = min(search.turns for search in self._searches)
        behind = [search for search in self._searches if search.turns == turn]
        for search in behind:
            search.begin(state)
        with ThreadPoolExecutor(len(behind)) as pool:
            for future in [pool.submit(search.take_turn, state) for search in behind]:
                future.result()

    def _watch(self) -> None:
        """Say how far the race is, give up when the time is up, keep the work in a file now and then."""
        nodes = self._nodes
        rate = (nodes - self._begun_nodes) / max(1e-9, time.monotonic() - self._begun)
        told = " and ".join(search.progress for search in self._searches if search.has_begun)
        self._job.options.progress("prove", nodes, None, f"{told}, {rate:.3g} nodes/s")
        if self._limits.are_reached:
            raise Unproved(f"{game_text(self._rules.game)} is not proved after {told}{self._keep()}")
        asked = self._job.options.checkpoint
        every = CHECKPOINT_SECONDS if asked is None else asked
        if time.monotonic() - self._saved > max(every, SPARING * self._save_seconds):
            self._keep()

    def _keep(self) -> str:
        """Write the race into its file, if it has one; what to say of it."""
        if self._path is None:
            return ""
        began = time.monotonic()
        arrays = [search.arrays for search in self._searches]
        sizes = np.array([len(some) for some in arrays])
        suspended.write(self._path, self._facts, [sizes, *(array for some in arrays for array in some)])
        self._saved = time.monotonic()
        self._save_seconds = self._saved - began
        return "; the same command goes on from here"

    def _go_on(self, state: int) -> None:
        """Take the work from the file, if there is one."""
        if self._path is None:
            return
        if self._job.options.restart:
            self.remove()
        kept = suspended.read(self._path, self._facts)
        if kept is None:
            return
        sizes, *arrays = kept
        for search, size in zip(self._searches, sizes, strict=True):
            if size:
                search.begin(state)
                search.arrays = [arrays.pop(0) for _ in range(size)]
        self._begun_nodes = self._nodes

    @property
    def _nodes(self) -> int:
        return sum(search.nodes for search in self._searches if search.has_begun)

    @property
    def _facts(self) -> str:
        rules = self._rules
        methods = "+".join(search.method for search in self._searches)
        facts = [rules.name, rules.fingerprint, str(rules.symmetry), methods, str(self._table)]
        facts += [] if rules.start is None else [f"from {rules.start}"]
        return f"solver proof 2 {' '.join(facts)}"
