"""Who wins from a position, and the values that its play comes to: two searches race, the first that is done says.

Alpha-beta is far quicker where the rules order moves well (`promise`, `replies`). Proof-number search needs no order.
Nobody knows beforehand which it will be, so both search in turns of a fixed number of nodes, each in a thread of its
own. Small games are settled before proof-number search begins. The same command ends the same way whatever the
threads do: only after a turn of both is it asked who is done, alpha-beta first.

Between turns the work may be kept in a file, from which the same race goes on.

What is left then is to find, in each position where the book's side is to move, moves that keep its value and leave
little to follow (`following`). Proof-number search finds those: it proves what takes the fewest positions, as far as it
can tell. So a short one comes first, and the winner of the race answers the rest.
"""

from __future__ import annotations

import abc
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from solver.base import system
from solver.base.errors import MethodError, ResourceError, Unproved
from solver.base.kinds import Method
from solver.book.writer import check_target
from solver.rules.game import Rules, game_text
from solver.solving.following import Follower
from solver.solving.job import Job

TABLE = 1 << 30  # bytes of the searches' tables
STATE_BYTES = 600  # of memory that a state of the book takes while it is found; assumed
CHECKPOINT_SECONDS = 120.0
SPARING = 20.0  # times what a checkpoint took: the least between two
HEAD_START = 4  # turns of alpha-beta before proof-number search begins
ALPHABETA_TURN = 1 << 20  # nodes
PROOF_NUMBER_TURN = 1 << 18


class Racer(abc.ABC):
    """A search for the score of one state, which stops after each turn.

    Attributes:
        score: What it found: -1, 0 or 1. None before.
        turns: How many turns it has had without finding it.
        engine: The compiled search, whose `arrays` are all that it goes on from. None before it has begun.
    """

    method: ClassVar[Method]
    engine: Any = None

    def __init__(self, rules: Rules, table: int) -> None:
        """`table`: The bytes that its table may take, once it has begun."""
        self.rules, self.table = rules, table
        self.score: int | None = None
        self.turns = 0

    @abc.abstractmethod
    def begin(self, state: int) -> None:
        """Set out to search an unfinished state. Compiles, and takes memory."""

    @abc.abstractmethod
    def advance(self) -> int | None:
        """Search on for the nodes of a turn; the score if it is known by then."""

    def take_turn(self) -> None:
        """Search on for the nodes of a turn: in the end `score` is known, or `turns` is one more."""
        self.score = self.advance()
        if self.score is None:
            self.turns += 1

    @property
    def nodes(self) -> int:
        """The nodes searched so far. Ask once it has begun."""
        return int(self.engine.all_nodes)

    @property
    @abc.abstractmethod
    def progress(self) -> str:
        """How far it is, in words. Ask once it has begun."""


class AlphaBeta(Racer):
    """By alpha-beta, which finds the score itself."""

    method = Method.ALPHABETA

    @property
    def progress(self) -> str:
        return f"{self.nodes:,} nodes of alpha-beta"

    def begin(self, state: int) -> None:
        from solver.compiled.exact.searcher import Searcher

        searcher = Searcher(self.rules, symmetry=self.rules.symmetry, outcomes=True, table=self.table)
        searcher.warm()
        searcher.begin(state, -1, 1)
        self.engine = searcher

    def advance(self) -> int | None:
        searcher, stop = self.engine, self.engine.all_nodes + ALPHABETA_TURN
        try:
            while searcher.all_nodes < stop:
                if searcher.advance(stop - searcher.all_nodes):
                    return int(searcher.end())
        except MethodError:
            raise MethodError(f"{self.rules.name} has cycles, and a proof may never end there: solve it") from None
        return None


class ProofNumbers(Racer):
    """By proof numbers: whether it is a win, then whether it is at least a draw."""

    method = Method.PROOF_NUMBER

    @property
    def progress(self) -> str:
        proof, refutation = self.engine.root_numbers
        question = ("at least a draw", "a win")[self.engine.bound]
        numbers = f"{question}: proof number {proof:,}, disproof number {refutation:,}"
        return f"{self.nodes:,} nodes of proof-number search ({numbers})"

    def begin(self, state: int) -> None:
        from solver.compiled.exact.proof import Prover

        prover = Prover(self.rules, self.table)
        prover.warm()
        prover.begin(state, 1)
        self._state, self.engine = state, prover

    def advance(self) -> int | None:
        bound, is_worth = int(self.engine.bound), self.engine.advance(PROOF_NUMBER_TURN)
        if is_worth is False and bound:
            # Not a win: is it at least a draw?
            self.engine.begin(self._state, 0)
            return None
        return None if is_worth is None else bound if is_worth else -1


LAYOUT = 3  # of the file of a race: another for other arrays
MARK = rb"\Asolver proof "
RACERS: dict[str, type[Racer]] = {Method.ALPHABETA: AlphaBeta, Method.PROOF_NUMBER: ProofNumbers}
METHODS = tuple(RACERS)


class Race:
    """A race for the score of one position, and what comes after it.

    Args:
        job: Options used: table, memory, checkpoint, restart, progress. Beside its book lies the file of the race.
        rules: Rules without distances.
        methods: Of METHODS, in the order in which they are asked who is done.
        seconds: Give up after so many. None for no limit.

    Raises ResourceError if the tables do not fit in memory.
    """

    def __init__(self, job: Job, rules: Rules, methods: Sequence[str], seconds: float | None) -> None:
        table, memory = job.options.table or TABLE, job.options.memory
        if memory is not None and table > memory:
            raise ResourceError(f"the table takes {table:,} bytes of memory, {memory:,} are there: give --table")
        self._job, self._rules, self._table = job, rules, table
        self._most_states = None if memory is None else max(1, (memory - table) // STATE_BYTES)
        self._begun = self._saved = time.monotonic()
        self._deadline = math.inf if seconds is None else self._begun + seconds
        self._racers = [RACERS[method](rules, table // 2) for method in methods]
        for racer in self._racers[1:]:
            racer.turns = HEAD_START
        self._path = job.beside(".proof")
        self._begun_nodes, self._save_seconds = 0, 0.0

    def run(self, state: int) -> Racer:
        """Find the score of a canonical, unfinished state; the search that was done first.

        Raises:
            Unproved: The time is up.
            ResourceError: There is a file of another race.
            BookError: There is a file that is not a race's.
            DamagedBook: The file of the race is damaged.
        """
        options = self._job.options
        self._go_on(state)
        try:
            while True:
                # Those search on that are behind; after an interruption that may be one of two
                turn = min(racer.turns for racer in self._racers)
                behind = [racer for racer in self._racers if racer.turns == turn]
                for racer in behind:
                    if racer.engine is None:
                        racer.begin(state)
                with ThreadPoolExecutor(len(behind)) as pool:
                    list(pool.map(Racer.take_turn, behind))
                winner = next((racer for racer in self._racers if racer.score is not None), None)
                if winner is not None:
                    # The others' memory is free now
                    self._racers = [winner]
                    return winner
                nodes = self._nodes
                rate = (nodes - self._begun_nodes) / max(1e-9, time.monotonic() - self._begun)
                told = " and ".join(racer.progress for racer in self._racers if racer.engine is not None)
                options.progress("prove", nodes, None, f"{told}, {rate:.3g} nodes/s")
                if time.monotonic() > self._deadline:
                    raise Unproved(f"{game_text(self._rules.game)} is not proved after {told}{self._keep()}")
                every = CHECKPOINT_SECONDS if options.checkpoint is None else options.checkpoint
                if time.monotonic() - self._saved > max(every, SPARING * self._save_seconds):
                    self._keep()
        except BaseException as error:
            # What a signal raises is no Exception
            if not isinstance(error, Exception):
                self._keep()
            raise

    def follower(self, winner: Racer, state: int) -> Follower:
        """What finds the values of play from the state whose score the race found."""
        from solver.compiled.exact.proof import Prover

        if isinstance(winner, ProofNumbers) and self._rules.bounds is None:
            # Its table knows most of what comes
            prover = winner.engine
        else:
            prover = Prover(self._rules, self._table // 2, bounds=False)
            prover.warm()
        assert winner.score is not None
        scores, progress = {state: winner.score}, self._job.options.progress
        return Follower(
            self._rules, prover, winner.engine.is_worth, scores, progress, self._most_states, self._deadline
        )

    def remove(self) -> None:
        """Remove the file of the race, if it has one."""
        if self._path is not None:
            system.remove(self._path)

    def _keep(self) -> str:
        """Write the race into its file, if it has one; what to say of it."""
        if self._path is None:
            return ""
        from solver.compiled.exact import suspended

        began = time.monotonic()
        numbers: list[int] = []
        arrays: list[Any] = []  # of NumPy
        for racer in self._racers:
            own = racer.engine.arrays if racer.engine is not None else []
            numbers += [len(own), racer.turns]
            arrays += own
        suspended.write(self._path, self._facts, numbers, arrays)
        self._saved = time.monotonic()
        self._save_seconds = self._saved - began
        return "; the same command goes on from here"

    def _go_on(self, state: int) -> None:
        """Take the work from the file, if there is one."""
        if self._path is None:
            return
        check_target(self._path, MARK)
        if self._job.options.restart:
            self.remove()
        from solver.compiled.exact import suspended

        numbers, arrays = suspended.read(self._path, self._facts) or ([], [])
        for racer in self._racers if numbers else ():
            size, racer.turns, *numbers = numbers
            if size:
                racer.begin(state)
                racer.engine.arrays, arrays = arrays[:size], arrays[size:]
        self._begun_nodes = self._nodes

    @property
    def _nodes(self) -> int:
        return sum(racer.nodes for racer in self._racers if racer.engine is not None)

    @property
    def _facts(self) -> str:
        rules = self._rules
        methods = "+".join(racer.method for racer in self._racers)
        facts = [rules.name, rules.fingerprint, str(rules.symmetry), methods, str(self._table)]
        facts += [] if rules.start is None else [f"from {rules.start}"]
        return f"solver proof {LAYOUT} {' '.join(facts)}"
