"""Proof books: what one side needs to keep the value of the start against every reply, and no more.

Values are found by search as the walk over the side's play asks for them, so no more of the game is ever looked at than
the searches need. Most come out of the table of the search that settled the start. Where the rules tell forced moves
alpha-beta does it; elsewhere proof-number search, which needs no order of moves.
"""

from __future__ import annotations

import abc
import dis
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from solver.base import extras, system
from solver.base.errors import BudgetExceeded, MethodError, ResourceError, Unproved
from solver.base.methods import AUTO, Method
from solver.base.progress import Progress
from solver.base.value import Value, merit_of
from solver.book.codecs import codec_of, rules_of
from solver.book.trim import PROOF, SIDES, Trim
from solver.rules.game import Rules, game_text
from solver.solving.job import Job, Outcome
from solver.solving.strategy import needed
from solver.solving.tables import solved_by

TABLE = 1 << 30  # bytes of the search's table
STATE_BYTES = 600  # of memory that a state of the book takes while it is found; assumed
CHECKPOINT_SECONDS = 120.0
SPARING = 20.0  # times what a checkpoint took: the least between two
METHODS = (Method.ALPHABETA, Method.PROOF_NUMBER)
Child = tuple[int, int]  # 1 if the same side moves there, else -1; and the canonical state


class Plan(NamedTuple):
    """What is to be proved.

    Attributes:
        side: "first", "second" or "both": whose moves the book holds. None for the winner's, or both in a draw.
        method: One of METHODS. "auto" for the one that fits the rules.
        seconds: Give up after so many. None for no limit.
        position: The state where play begins. None for the game's start.
    """

    side: str | None = None
    method: str = AUTO
    seconds: float | None = None
    position: int | None = None


class Proving:
    """The way of solving that finds one side's play. `solve` raises as `pipeline.solve`, and Unproved."""

    name = "a proof"
    heeds: set[str] = {"memory", "table", "restart", "checkpoint", "wdl"}

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def refuses(self, job: Job) -> str | None:
        """Games of chance, of margins, and those whose tiers do not show that play ends."""
        rules, plan = job.rules, self.plan
        lost = rules.kind.refusal("max_ply", rules.name)
        if rules.chance is not None or rules.margins:
            return f"{rules.name} has {'chance' if rules.chance else 'margins'}: prove is for wins, draws and losses"
        if lost is not None:
            return lost
        if not rules.tiered:
            return f"{rules.name} has no tier(state), which says that play does not come back: add it, or solve it"
        if plan.method not in (AUTO, *METHODS):
            return f"no method {plan.method!r}: choose one of auto, {', '.join(METHODS)}"
        if rules.plain_only:
            return f"{rules.name} runs in plain Python only: solve it"
        return None if extras.has_kernels() else extras.remedy()

    def solve(self, job: Job) -> Outcome:
        """Settle the start, then follow the play of each side."""
        plan, progress = self.plan, job.options.progress
        job.checked()
        begin = None if plan.position == job.rules.game.initial() else plan.position
        rules = Rules(job.rules.game, job.rules.symmetry, wdl=True, start=begin)
        method = plan.method if plan.method != AUTO else method_for(rules)
        if rules.is_terminal(rules.first()):
            raise MethodError(f"{rules.name}: the game is over there: there is nothing to prove")
        search = SEARCHES[method](job, rules, plan.seconds)
        score = search.start(rules.canonical(rules.first()))
        first = score if rules.mover(rules.first()) in (0, None) else -score
        side = plan.side or ("both" if not score else "first" if first > 0 else "second")
        if first and side != ("first" if first > 0 else "second"):
            loser = "second" if first > 0 else "first"
            raise MethodError(
                f"{rules.name}: the {loser} player loses, so only the other has something to prove: omit --for"
            )
        found: dict[int, int] = {}
        if job.target is not None:
            sides = range(2) if side == "both" else (SIDES.index(side),)
            values = needed(rules, search.find, sides, 0, progress, search.settle)
            found = {state: merit_of(value) for state, value in values.items()}
        trim = Trim(rules_of(rules.game, codec_of(rules, job.options.codec)), PROOF, side=side)
        solved = solved_by(rules, found, root=score)
        return Outcome(solved, method, PROOF, search.remove, trim=trim, start=begin)


def method_for(rules: Rules) -> Method:
    """Alpha-beta where the rules tell forced moves, which cut its tree; proof-number search elsewhere."""
    return Method.ALPHABETA if rules.replies is not None else Method.PROOF_NUMBER


def is_decisive(game: Any) -> bool:
    """Whether a game has no draws, as its `utility` shows that returns the same number everywhere."""
    function = type(game).utility
    plain = {"RESUME", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "UNARY_NEGATIVE", "LOAD_SMALL_INT", "NOT_TAKEN"}
    return {step.opname for step in dis.get_instructions(function)} <= plain and function(game, 0) in (-1, 1)


class _Search(abc.ABC):
    """The values of states, -1, 0 or 1, found by search when they are first asked for."""

    def __init__(self, job: Job, rules: Rules, seconds: float | None) -> None:
        self.rules, self.job = rules, job
        self.scores: dict[int, int] = {}
        self._path: Path | None = None
        self._decisive = is_decisive(rules.game)
        self._deadline = None if seconds is None else time.monotonic() + seconds
        memory = job.options.memory
        self.table = job.options.table or TABLE
        if memory is not None and self.table > memory:
            raise ResourceError(f"the table takes {self.table:,} bytes of memory, {memory:,} are there: give --table")
        self._limit = None if memory is None else max(1, (memory - self.table) // STATE_BYTES)

    @property
    @abc.abstractmethod
    def nodes(self) -> int:
        """The nodes that were searched so far."""

    def start(self, state: int) -> int:
        """The score of the start."""
        return self._score(state)

    def find(self, state: int) -> Value | None:
        """The value of a canonical, unfinished state, if it is known without a search."""
        score = self.scores.get(state)
        score = self._told(state) if score is None else score
        return None if score is None else Value(score)

    def settle(self, state: int, is_own: bool) -> None:
        """Find the values that the walk wants: of the side's states a move that keeps the value, else all replies'."""
        if self._limit is not None and len(self.scores) > self._limit:
            raise ResourceError(
                f"more than {self._limit:,} states are needed, which memory does not hold: more --memory"
            )
        if not is_own:
            for _, key in self._children(state):
                self._score(key)
            return
        score = self._score(state)
        if not self._ends(state, score):
            self._settle_moves(list(self._children(state)), score)

    def remove(self) -> None:
        """Remove the file of the search, if it has one."""
        if self._path is not None:
            system.remove(self._path)

    def _told(self, state: int) -> int | None:
        """The score of a state, if it is known from searches of others."""
        return None

    @abc.abstractmethod
    def _settle_moves(self, children: list[Child], score: int) -> None:
        """Find moves that keep a score which no move exceeds: one, or all."""

    @abc.abstractmethod
    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        """`_is_worth`, of a bound that is 0 or 1."""

    def _children(self, state: int) -> Iterator[Child]:
        """Yield of each unfinished child 1 if the same side moves there, else -1, and its canonical state."""
        rules = self.rules
        for action in rules.actions(state):
            child = rules.result(state, action)
            if not rules.is_terminal(child):
                yield (1 if rules.same_mover(state, action, child) else -1), rules.canonical(child)

    def _ends(self, state: int, score: int) -> bool:
        """Whether a move ends the game and is worth so much for who moves."""
        rules = self.rules
        results = ((action, rules.result(state, action)) for action in rules.actions(state))
        ends = ((action, child) for action, child in results if rules.is_terminal(child))
        return any(rules.lifted(rules.end(child), state, action, child) == score for action, child in ends)

    def _score(self, state: int) -> int:
        if state not in self.scores:
            if self._decisive:
                self.scores[state] = 1 if self._is_worth(state, 1, True) else -1
            elif self._is_worth(state, 1, True):
                self.scores[state] = 1
            else:
                self.scores[state] = 0 if self._is_worth(state, 0, True) else -1
        return self.scores[state]

    def _is_worth(self, state: int, bound: int, searched: bool) -> bool | None:
        """Whether a state is worth at least `bound`; None if only a search would tell, and it is not `searched`."""
        return bound < 0 or (bound <= 1 and self._answer(state, bound, searched))

    def _unproved(self, rest: str) -> Unproved:
        return Unproved(f"{game_text(self.rules.game)} is not proved after {self.nodes:,} nodes{rest}")


class _AlphaBeta(_Search):
    """By alpha-beta, which finds the score itself."""

    def __init__(self, job: Job, rules: Rules, seconds: float | None) -> None:
        from solver.compiled.exact.searcher import Searcher

        super().__init__(job, rules, seconds)
        self._searcher = Searcher(rules, symmetry=rules.symmetry, outcomes=True, table=self.table)
        self._searcher.warm()

    @property
    def nodes(self) -> int:
        return self._searcher.nodes

    def _settle_moves(self, children: list[Child], score: int) -> None:
        """All: few of its searches are long, and a choice between moves makes a smaller book."""
        for _, key in children:
            self._score(key)

    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        if not searched:
            return None
        seconds = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        try:
            return bool(self._searcher.value(state, seconds=seconds).score >= bound)
        except BudgetExceeded:
            raise self._unproved("") from None


class _ProofNumbers(_Search):
    """By proof numbers: its table tells much that nobody asked for. The search of the start is kept in a file."""

    def __init__(self, job: Job, rules: Rules, seconds: float | None) -> None:
        from solver.compiled.exact.prover import Prover

        super().__init__(job, rules, seconds)
        self._path = job.beside(".proof")
        self._question: int | None = None  # which of the start's bounds a file has a search for
        self._saved, self._took = time.monotonic(), 0.0
        self._prover = Prover(rules, self.table)
        self._prover.warm()

    @property
    def nodes(self) -> int:
        return self._prover.nodes

    def start(self, state: int) -> int:
        """The score of the start, by a search that goes on from its file."""
        if self._path is not None:
            if self.job.options.restart:
                self.remove()
            bounds = (1,) if self._decisive else (1, 0)
            self._question = next((one for one in bounds if self._prover.load(self._path, self._facts(one))), None)
            if self._question is None and self._path.exists():
                raise ResourceError(
                    f"{self._path} belongs to another proof: --restart discards it, or name another book"
                )
        return super().start(state)

    def _settle_moves(self, children: list[Child], score: int) -> None:
        """All that the table knows; or else the first that a search finds."""
        kept = [self._keeps(key, sign, score, searched=False) for sign, key in children]
        if not any(kept):
            any(self._keeps(key, sign, score, searched=True) for sign, key in children)

    def _keeps(self, key: int, sign: int, score: int, searched: bool) -> bool:
        """Whether a move to a state keeps a score that no move exceeds; note its value if it does."""
        if key not in self.scores:
            if sign > 0:
                worth = self._is_worth(key, score, searched)
            else:
                above = self._is_worth(key, 1 - score, searched) if score > -1 else False
                worth = None if above is None else not above
            if not worth:
                return False
            self.scores[key] = sign * score
        return self.scores[key] == sign * score

    def _told(self, state: int) -> int | None:
        wins = self._is_worth(state, 1, False)
        if wins:
            return 1
        if self._decisive:
            return None if wins is None else -1
        holds = self._is_worth(state, 0, False)
        return -1 if holds is False else 0 if holds and wins is False else None

    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        # Without draws both bounds ask the same
        for asked in (bound, 1 - bound) if self._decisive else (bound,):
            told = self._prover.answer(state, asked)
            if told is not None:
                return told
        if not searched:
            return None
        try:
            if self._question == bound:
                self._question = None
                return self._prover.resume(self._watched(bound))
            return self._prover.is_worth(state, bound, self._watched(bound))
        except BaseException as error:
            # What a signal raises is no Exception
            if not isinstance(error, Exception) and not self.scores:
                self._keep(bound)
            raise

    def _watched(self, bound: int) -> Callable[[Any], None]:
        """Called now and then in a search: say how far it is, keep it in a file, end it when the time is up."""
        is_start, begun = not self.scores, (time.monotonic(), self._prover.nodes)
        every = self.job.options.checkpoint if self.job.options.checkpoint is not None else CHECKPOINT_SECONDS
        progress: Progress = self.job.options.progress

        def watch(prover: Any) -> None:
            proof, refutation = prover.root_numbers
            question = ("at least a draw", "a win")[bound]
            rate = (prover.nodes - begun[1]) / max(1e-9, time.monotonic() - begun[0])
            note = f"{question}? proof {proof:,}, disproof {refutation:,}, {rate:.3g} nodes/s"
            progress("prove" if is_start else "follow", prover.nodes if is_start else len(self.scores), None, note)
            if self._deadline is not None and time.monotonic() > self._deadline:
                kept = self._keep(bound) if is_start else ""
                raise self._unproved(
                    f", {question} has proof number {proof:,} and disproof number {refutation:,}{kept}"
                )
            if (
                is_start
                and self._path is not None
                and time.monotonic() - self._saved > max(every, SPARING * self._took)
            ):
                self._keep(bound)

        return watch

    def _keep(self, bound: int) -> str:
        """Write the search into its file."""
        if self._path is None:
            return ""
        began = time.monotonic()
        self._prover.save(self._path, self._facts(bound))
        self._saved = time.monotonic()
        self._took = self._saved - began
        return "; the same command goes on from here"

    def _facts(self, bound: int) -> str:
        rules = self.rules
        facts: tuple[Any, ...] = rules.name, rules.fingerprint, rules.symmetry, bound, len(self._prover.table)
        facts += () if rules.start is None else (f"from {rules.start}",)
        return f"solver proof 1 {' '.join(map(str, facts))}"


SEARCHES: dict[str, Callable[[Job, Rules, float | None], _Search]] = {
    Method.ALPHABETA: _AlphaBeta,
    Method.PROOF_NUMBER: _ProofNumbers,
}
