"""Searches of limited depth by the compiled alpha-beta: of one state, within a budget, or of many on all cores.

    ahead = Lookahead(load_game("connect-four"))
    ahead.search(state, depth=12)                  what `search.heuristic` finds, some thousand times as fast
    Chooser(game).choose(states, 6).actions        the best moves of many states at once

By the rules' own `evaluate`, without which every state is taken for even, or by a learned model. A table is kept from
one search to the next: its bounds are those of a state and a depth, whatever was asked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from solver.base.errors import MethodError, UncompiledRules
from solver.base.parallel import Workers
from solver.base.system import cores
from solver.check.conformance import OTHERWISE, check_game
from solver.compiled import agreement
from solver.compiled.binding import compiling
from solver.compiled.exact.table import new_table
from solver.compiled.lookahead import deepening
from solver.compiled.lookahead.depth import Field, Frame, Model, Move, Window, list_moves_of, new_model, new_path
from solver.compiled.states import Words, doubled, more_of, packed, read_state, write_state
from solver.rules.game import Game, Rules, is_built_in
from solver.search import Budget, Counts, Result, SearchStatus, heuristic, refuse_chance, stuck

TABLE_BYTES = 32 << 20  # bytes, of a search of one state
SMALL_TABLE_BYTES = 1 << 20  # bytes for each thread of searches of many
STATES_PER_TASK = 256  # states that a thread takes at a time


class Choices(NamedTuple):
    """For each of many states: the first best action and its place among all (int64), and the merit, float64.

    A merit is a margin, an estimate, or +-(`value.WIN` - distance).
    """

    actions: Words
    places: Words
    merits: Any


class Lookahead:
    """Searches of one game by one evaluation, in one thread. Raises MethodError for a game with chance."""

    def __init__(
        self, game: Game, *, model: Model | None = None, symmetry: bool = True, table: int = TABLE_BYTES
    ) -> None:
        self.rules: Rules = Rules(game, symmetry)
        refuse_chance(self.rules, "a search of limited depth")
        with compiling(game):
            # Kept, so that its address stays valid
            self._list_moves, address = list_moves_of(self.rules)
        self._more = extra_words = more_of(self.rules.bits)
        self._asked = address, self.rules.scores, *extra_words
        bounds = new_table(table)
        self._memory = bounds, bounds.view(np.float64)
        self._path = new_path(extra_words)
        self.nodes: int = 0
        self.use(model)

    def use(self, model: Model | None) -> None:
        """Evaluate by another model, or by the rules. Results of the one before are forgotten."""
        self._model = new_model() if model is None else model.copy()
        self._memory[0][:] = 0

    def search(self, state: int, *, depth: int, budget: Budget | None = None) -> Result:
        """The value as `heuristic.search` finds it, and the first best action in the game's order; deepened ply by ply.

        Raises MethodError for a depth below 1, GameError where an estimate is out of bounds, UncompiledRules where the
        compiled rules cannot tell, BudgetExceeded.
        """
        heuristic.check_depth(depth)
        before, result = self.nodes, self.look(state, 1, budget=budget)
        for deeper in range(2, depth + 1):
            if result.exact:
                break
            result = self.look(state, deeper, result.action, budget)
        return result._replace(counts=Counts(self.nodes - before))

    def look(self, state: int, depth: int, first_action: int | None = None, budget: Budget | None = None) -> Result:
        """Search at one depth at once, after shallower depths were searched. `first_action` is tried first."""
        rules, before = self.rules, self.nodes
        if rules.is_terminal(state):
            return heuristic.ended(rules, state)
        self._set_out(depth, first_action)
        with compiling(rules.game):
            deepening.begin(self._path, depth)
            write_state(self._path.frames, Frame.STATE, state, self._more)
        self._run(lambda allowance: deepening.look(*self._work(), allowance), budget)
        frames, windows, _, search = self._path
        merit, action, is_cut = float(windows[0, Window.BEST]), int(search[Field.CHOICE]), bool(frames[0, Frame.CUT])
        return heuristic.looked(rules, depth, merit, action, is_cut, self.nodes - before)

    def choose(self, states: Words, depth: int, found: Choices) -> None:
        """Search unfinished states, an array of them, each deepened to `depth`, into `found`."""
        self._set_out(depth, None)
        self._path.frames[0, Frame.LEFT] = self._path.search[Field.PLACE] = 0
        self._run(lambda allowance: deepening.choose(*self._work(), states, depth, tuple(found), allowance), None)

    def _work(self) -> tuple[Any, ...]:
        return self._asked, self._memory, self._path, self._model

    def _set_out(self, depth: int, first_action: int | None) -> None:
        heuristic.check_depth(depth)
        if depth > deepening.DEPTH_BITS:
            raise MethodError(f"a search of depth {depth} is too deep: look at most {deepening.DEPTH_BITS} plies ahead")
        while depth + 2 > len(self._path.frames):
            self._path = self._path._replace(frames=doubled(self._path.frames), windows=doubled(self._path.windows))
        self._path.search[Field.CHOICE] = -1 if first_action is None else first_action

    def _run(self, ask: Callable[[int], int], budget: Budget | None) -> None:
        """Ask until there is an answer. Raises as `search`."""
        budget = budget or Budget()
        while True:
            before = int(self._path.search[Field.COUNT])
            with compiling(self.rules.game):
                status = ask(max(1, budget.allowance()))
            spent = int(self._path.search[Field.COUNT]) - before
            self.nodes += spent
            budget.take(spent)
            if status == SearchStatus.DONE:
                return
            if status == SearchStatus.NO_ROOM:
                self._path = self._path._replace(moves=doubled(self._path.moves))
            elif status in (SearchStatus.OUTSIDE, SearchStatus.STUCK):
                path, culprit = self._path, int(self._path.search[Field.CULPRIT])
                # Of a wide state the row
                if self._more and culprit < 0:
                    culprit = read_state(path.frames, int(path.search[Field.PLY]), Frame.STATE, self._more)
                elif self._more:
                    culprit = read_state(path.moves, culprit, Move.CHILD, self._more)
                raise self._refused(status, culprit)
            else:
                budget.check()

    def _refused(self, status: int, state: int) -> Exception:
        """Return the error that plain Python finds at a state, or UncompiledRules if it finds none."""
        rules = self.rules
        if status == SearchStatus.STUCK and not any(True for _ in rules.actions(state)):
            return stuck(rules, state)
        if status == SearchStatus.OUTSIDE and not rules.is_terminal(state) and not len(self._model.shape):
            try:
                heuristic.checked(rules, state, 0 if rules.evaluate is None else rules.evaluate(state))
            except Exception as error:
                return error
        return UncompiledRules(
            f"{rules.name}: what state {state} is worth does not fit the compiled search of limited depth: margins are"
            f" below 2**53, estimates within bounds, features as many for each state, or {OTHERWISE}"
        )

    def warm(self) -> None:
        """Compile, or load from the cache, all that a search needs; hold a user's rules against plain Python.

        Raises GameError if those break the protocol, UncompiledRules if they compile to something else.
        """
        self.look(self.rules.game.initial(), 2)
        if is_built_in(self.rules.name):
            return
        # Both searches by the rules' own `evaluate`
        states, (model, self._model) = check_game(self.rules.game), (self._model, new_model())
        options: Any = {"evaluate": self.rules.evaluate or heuristic.even, "symmetry": self.rules.symmetry}

        # Value and action; the rest of a result counts nodes
        def plain(depth: int, state: int, budget: Budget) -> Any:
            return heuristic.search(self.rules.game, state, depth=depth, budget=budget, **options)[:2]

        def compiled(depth: int, state: int) -> Any:
            return self.look(state, depth)[:2]

        for depth in (1, 2):
            asked = functools.partial(plain, depth), functools.partial(compiled, depth)
            agreement.compare_values(self.rules, states, *asked, f"value and move {depth} plies ahead: ")
        self.use(model)


class Chooser:
    """The best moves of many states at once, by one evaluation, on all cores: the same for any number of workers."""

    def __init__(
        self,
        game: Game,
        *,
        model: Model | None = None,
        symmetry: bool = True,
        workers: int | None = None,
    ) -> None:
        self._more = more_of(Rules(game).bits)
        self.members: list[Lookahead] = [
            Lookahead(game, model=model, symmetry=symmetry, table=SMALL_TABLE_BYTES) for _ in range(workers or cores())
        ]

    def choose(self, states: Sequence[int] | Words, depth: int) -> Choices:
        """Search unfinished states (n,) int64, each to `depth`. Raises as `Lookahead.search`."""
        packed_states = packed(states, self._more)
        count = len(packed_states)
        choices = Choices(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.float64))
        idle = list(self.members)

        def search(begin: int) -> None:
            # There are as many as threads
            member = idle.pop()
            try:
                chunk = slice(begin, begin + STATES_PER_TASK)
                member.choose(packed_states[chunk], depth, Choices._make(array[chunk] for array in choices))
            finally:
                idle.append(member)

        with Workers(len(self.members)) as workers:
            list(workers.map(search, range(0, count, STATES_PER_TASK)))
        return choices
