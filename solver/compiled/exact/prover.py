"""Proof-number search from Python: yes or no, whether states are worth at least a draw, or a win.

    prover = Prover(Rules(load_game("hex:4"), kind=WDL))
    prover.is_worth(0, 1)              True: the first player wins

The table is kept between questions, and states of a search that ended can be asked for at once.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import BudgetExceeded, MethodError, UncompiledRules
from solver.check.conformance import OTHERWISE, check_game
from solver.compiled import agreement
from solver.compiled.binding import bind, compiling
from solver.compiled.exact import proof
from solver.compiled.exact.proof import FIELDS, SURE, Field, Frame
from solver.compiled.exact.table import new_table
from solver.compiled.states import columns, doubled, more_of, packed, read_state, write_state
from solver.rules.game import Rules, is_built_in
from solver.search import SearchStatus, alphabeta

CALL = 1 << 20  # nodes of a call: about a second
Watch = Callable[["Prover"], None]


class Prover:
    """Proof-number search for one game, in one thread. `nodes` counts the visits to states."""

    def __init__(self, rules: Rules, table: int, bounds: bool = True) -> None:
        """Make a prover with an empty table.

        Args:
            rules: Rules without distances, of a game without cycles, chance and margins.
            table: The bytes that the table may take, at most.
            bounds: Whether to ask the rules' `bounds`.
        """
        self.rules = rules
        unasked = {"PROMISES": False} if bounds else {"PROMISES": False, "BOUNDS": False}
        self._kernels = bind(sys.modules[proof.__name__], rules.game, rules.symmetry, True, **unasked)
        self._more = more_of(rules.bits)
        self.table = new_table(table)
        self.frames = np.zeros((128, columns(len(Frame), self._more)), np.int64)
        self.moves = np.zeros((4096, columns(8, self._more)), np.int64)
        self.numbers = np.zeros((4096, 2), np.int64)
        self.search = np.zeros(FIELDS, np.int64)
        self.nodes: int = 0

    def warm(self) -> None:
        """Compile, or load from the cache, what a search needs; hold a user's rules against plain Python.

        Raises GameError if those break the protocol, UncompiledRules if they compile to something else.
        """
        with compiling(self.rules.game):
            if is_built_in(self.rules.name):
                self.answer(self.rules.game.initial(), 1)
                return
            states = check_game(self.rules.game)
            agreement.compare(self.rules.game, states, symmetry=self.rules.symmetry)
            for state, budget in agreement.sampled(states):
                with contextlib.suppress(BudgetExceeded):
                    score = alphabeta.solve(self.rules, state, budget=budget).value.score
                    if [self.is_worth(state, bound) for bound in (0, 1)] != [score >= 0, score >= 1]:
                        raise UncompiledRules(
                            f"{self.rules.name}: state {state} has the score {score} in plain Python, another compiled:"
                            f" bounds, replies or outlook are unsound, or {OTHERWISE}"
                        )

    def answer(self, state: int, bound: int) -> bool | None:
        """Whether an unfinished state is worth at least `bound`, 0 or 1; None if no search has told."""
        told = self._kernels.answer(self.table, packed([state], self._more), bound)
        return None if told < 0 else told == 1

    def is_worth(self, state: int, bound: int, watch: Watch = lambda prover: None) -> bool:
        """Whether an unfinished state is worth at least `bound`, 0 or 1, by a search of whatever length.

        `watch` is called about once a second, and may raise an error.
        """
        self.begin(state, bound)
        while (result := self.advance(CALL)) is None:
            watch(self)
        return result

    def begin(self, state: int, bound: int) -> None:
        """Set out to find whether an unfinished state is worth at least `bound`, 0 or 1."""
        self.search[:] = 0
        self.search[Field.IS_NEW] = 1
        write_state(self.frames, 0, Frame.STATE, state, self._more)
        for field in (Frame.CHOICES, Frame.FIRST, Frame.END):
            self.frames[0, field] = 0
        self.frames[0, Frame.BOUND] = bound
        self.frames[0, Frame.PROOF] = self.frames[0, Frame.REFUTATION] = SURE

    def advance(self, nodes: int) -> bool | None:
        """Search on for so many nodes; the answer, if there is one by then."""
        stop = int(self.search[Field.COUNT]) + nodes
        while (left := stop - int(self.search[Field.COUNT])) > 0:
            with compiling(self.rules.game):
                status = self._kernels.search_on(self.table, self.frames, self.moves, self.numbers, self.search, left)
            self.nodes += int(self.search[Field.COUNT]) - (stop - left)
            if status == SearchStatus.DONE:
                return bool(self.search[Field.PROOF] == 0)
            if status == SearchStatus.OUTSIDE:
                state = read_state(self.frames, int(self.search[Field.PLY]), Frame.STATE, self._more)
                raise UncompiledRules(f"{self.rules.name} has a utility other than -1, 0 and 1 near state {state}")
            if status == SearchStatus.STUCK:
                raise MethodError(f"{self.rules.name} has cycles, and a proof may never end there: solve it")
            if status == SearchStatus.NO_ROOM:
                # Twice the rows for the path and its moves
                self.frames, self.moves, self.numbers = map(doubled, (self.frames, self.moves, self.numbers))
        return None

    @property
    def arrays(self) -> list[NDArray[np.int64]]:
        """All that the search goes on from. To be set to the same later."""
        return [np.array([self.nodes]), self.search, self.frames, self.moves, self.numbers, self.table]

    @arrays.setter
    def arrays(self, arrays: list[NDArray[np.int64]]) -> None:
        nodes, self.search, self.frames, self.moves, self.numbers, self.table = arrays
        self.nodes = int(nodes[0])

    @property
    def bound(self) -> int:
        """That of the question which is searched."""
        return int(self.frames[0, Frame.BOUND])

    @property
    def root_numbers(self) -> tuple[int, int]:
        """The proof and disproof number of the state that is searched, as its moves tell them."""
        first, end = int(self.frames[0, Frame.FIRST]), int(self.frames[0, Frame.END])
        rows = self.numbers[first:end]
        if not len(rows):
            return 1, 1
        return int(rows[:, 0].min()), int(min(rows[:, 1].sum(), SURE))
