"""The classical algorithms of adversarial search, in plain Python, to be read beside the textbook.

They follow Russell and Norvig, Artificial Intelligence: A Modern Approach, chapter 6, for any game of the
protocol and any hashable states. Values are merits (see `solver.base.value`) while searching. Each algorithm is a
`Search` whose `visit` is the textbook's recursive function, but for one thing: where that calls itself, `visit` yields
the arguments and is sent the result. So the visits that wait are generators on a list, and a game may be deeper than
Python's stack. The same algorithms are the judge of the compiled kernels.
"""

from __future__ import annotations

import enum
import threading
import time
import types
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from solver.base.errors import BudgetExceeded, GameError, MethodError
from solver.base.kinds import MARGIN
from solver.base.progress import Progress, silent
from solver.base.value import Value, drop, merit_of, value_of
from solver.rules.game import Rules
from solver.rules.width import USUAL, as_integer, outside

Table = dict[Hashable, Any]
Visit = Generator[Any, Any, Any]
INFINITY = MARGIN.most
NODES_PER_CLOCK_CHECK = 1 << 16  # of a compiled search: 10 to 20 ms


class Counts(types.SimpleNamespace):
    """The work of a search: states visited, values taken from the table, and cut-offs."""

    def __init__(self, nodes: int = 0, hits: int = 0, cutoffs: int = 0) -> None:
        super().__init__(nodes=nodes, hits=hits, cutoffs=cutoffs)


class Result(NamedTuple):
    """The value of a state for the side to move, a best action, and how they were found.

    `action` is the first in the game's order among equals, None at a terminal state (or a chance node). `exact` is
    False where a cutoff decided. `table` maps canonical states to merits (expectations in a game of chance), exact
    ones only; it is empty after a search of limited depth.
    """

    value: Value
    action: int | None
    exact: bool
    counts: Counts
    table: Table


MAX_NODES = 1_000_000  # of a search that is compared
SECONDS = 5.0  # that a player may search for an answer, unless it is told otherwise


class Budget:
    """A limit on nodes and seconds, which run from now; `spend` raises BudgetExceeded once it is used up.

    `stop()` is asked as often as the clock and ends the search like it, also that of every part.
    """

    def __init__(
        self, nodes: int | None = None, seconds: float | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        self.nodes_left = nodes
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self._stop = stop
        self._unchecked = 0
        self._whole: Budget | None = None

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the deadline, not below 0."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def part(self, share: float, nodes: int | None = None, stop: Callable[[], bool] | None = None) -> Budget:
        """Return a share of the budget left, at most `nodes`. Its nodes are spent from the whole as well."""
        left, seconds = self.nodes_left, self.seconds_left
        limits = [*([] if left is None else [int(share * left)]), *([] if nodes is None else [nodes])]
        share_budget = Budget(min(limits, default=None), None if seconds is None else share * seconds, stop)
        share_budget._whole = self
        return share_budget

    def take(self, nodes: int) -> None:
        """Count nodes, also of the whole that this is a part of."""
        if self.nodes_left is not None:
            self.nodes_left -= nodes
            if self._whole is not None:
                self._whole.take(nodes)

    def extend(self, seconds: float) -> None:
        """Move the deadline back, and that of the whole: the time was not spent on search."""
        if self.deadline is not None:
            self.deadline += seconds
        if self._whole is not None:
            self._whole.extend(seconds)

    def is_used_up(self) -> bool:
        """Whether nothing is left, or `stop` says so."""
        return (self.nodes_left is not None and self.nodes_left <= 0) or self.seconds_left == 0 or self.is_stopped()

    def can_stop(self) -> bool:
        """Whether there is a `stop` to be asked."""
        return self._stop is not None or (self._whole is not None and self._whole.can_stop())

    def is_stopped(self) -> bool:
        """Whether `stop` says so, or that of the whole."""
        return (self._stop is not None and self._stop()) or (self._whole is not None and self._whole.is_stopped())

    def allowance(self) -> int:
        """Nodes that a compiled search may spend before it looks at the clock again."""
        return NODES_PER_CLOCK_CHECK if self.nodes_left is None else min(NODES_PER_CLOCK_CHECK, self.nodes_left)

    def check(self) -> None:
        """Raise BudgetExceeded if it is used up."""
        if self.is_used_up():
            raise BudgetExceeded("the search has used up its budget: allow more nodes or seconds")

    def spend(self, nodes: int = 1) -> None:
        """Count nodes (none: a step that only takes time); the clock is read every 16 steps."""
        if self.nodes_left is not None:
            self.take(nodes)
            if self.nodes_left < 0:
                raise BudgetExceeded("the search has used up its nodes: allow more")
        self._unchecked += 1
        if self._unchecked & 15 == 0:
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise BudgetExceeded("the search has used up its time: allow more seconds")
            if self.is_stopped():
                raise BudgetExceeded("the search was stopped: start it again")


class Search:
    """One search: the rules, the merits known by canonical state, the states being visited, and the work so far.

    An algorithm defines `visit(state, ...)`, the merit of a state, which yields the arguments of each visit whose merit
    it needs; and its own name for messages.
    """

    method = ""
    visit: Callable[..., Visit]

    def __init__(
        self, rules: Rules, table: Table | None = None, budget: Budget | None = None, progress: Progress = silent
    ) -> None:
        self.rules = rules
        self.table: Table = {} if table is None else table
        self.path: set[Hashable] = set()
        self.counts: Counts = Counts()
        self._budget = budget
        self._progress = progress

    def run(self, step: Visit) -> Any:
        """Return the result of a visit, or of a part of one."""
        waiting = [step]
        answer = None
        while waiting:
            try:
                wanted = waiting[-1].send(answer)
            except StopIteration as end:
                waiting.pop()
                answer = end.value
            else:
                waiting.append(self.visit(*wanted))
                answer = None
        return answer

    def merit_of(self, state: Any, *window: int) -> Any:
        """The merit of a state, from the table or from a visit."""
        key = self.rules.canonical(state)
        return self.table[key] if key in self.table else self.run(self.visit(state, key, *window))

    def count(self) -> None:
        """Count a visit. Raises BudgetExceeded."""
        counts = self.counts
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            self._progress(self.method, counts.nodes, None)
        if self._budget is not None:
            self._budget.spend()

    def enter(self, key: Hashable) -> None:
        """Put a state on the path. Raises MethodError where it is there already: it comes again below itself."""
        if key in self.path:
            raise cycle(self.rules, self.method)
        self.path.add(key)


def plain_state(state: Any) -> Any:
    """Return a state as rules take it: of integers, NumPy's as well, Python's own. Other objects stay."""
    return as_integer(state) if hasattr(state, "__index__") else state


def roots_of(rules: Rules, state: Any) -> list[Any]:
    """The states to search from; the last is the one asked for: `state`, or the start where it is None."""
    if state is not None:
        return [plain_state(state)]
    start, *other_roots = rules.roots()
    return [*other_roots, start]


def ordered_actions(rules: Rules) -> Callable[[Any], Iterable[int]]:
    """`ordered(state)`: the legal actions, the most promising first where the game has `promise`."""
    actions, promise = rules.actions, rules.promise
    if promise is None:
        return actions
    return lambda state: sorted(actions(state), key=lambda action: -promise(state, action))


def best_move(rules: Rules, state: Any, worth: Callable[[int, Any], Any], floor: Any = -INFINITY) -> tuple[Any, int]:
    """The merit of a state's best action above `floor`, and the first such action in the game's order.

    `worth(action, alpha)` is the action's merit, exact if it lies above alpha. Actions are tried in the order of
    `promise`; only one that the game lists before the best so far must show whether it is as good.
    """
    action_index = {action: number for number, action in enumerate(rules.actions(state))}
    best, choice = floor, None
    for action in ordered_actions(rules)(state):
        earlier = choice is not None and action_index[action] < action_index[choice]
        merit = worth(action, best - 1 if earlier else best)
        if merit > best or (earlier and merit == best):
            best, choice = merit, action
    if choice is None:
        raise stuck(rules, state)
    return best, choice


def best_action(rules: Rules, state: Any, merit_of: Callable[[Any], Any]) -> int | None:
    """The first of a state's best actions, by the merits of its children; None at an end and where chance decides."""
    if rules.is_terminal(state) or any(True for _ in rules.outcomes(state)):
        return None

    def worth(action: int, alpha: Any) -> Any:
        child = rules.result(state, action)
        return rules.lifted(merit_of(child), state, action, child)

    return best_move(rules, state, worth)[1]


def window(rules: Rules, state: Any, action: int, child: Any, alpha: Any, beta: Any) -> tuple[Any, Any]:
    """The window (alpha, beta) on a state's merit, as one on that of the child to which an action leads.

    A bound between -1 and 1 is a draw or an estimate, which no ply changes but for its sign.
    """
    same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
    low, high = (drop(bound, same, rules.scores or -1 < bound < 1) for bound in (alpha - gain, beta - gain))
    return (low, high) if same else (high, low)


def refuse_chance(rules: Rules, method: str, remedy: str = "use expectiminimax") -> None:
    """Raise MethodError if dice or cards decide in this game."""
    if rules.chance is not None:
        raise MethodError(f"{rules.name} has chance nodes, which {method} cannot take: {remedy}")


def require_chance(rules: Rules) -> None:
    """Raise MethodError if a game has no chance."""
    if rules.chance is None:
        raise MethodError(f"{rules.name} has no chance(state): use minimax or alpha-beta")


def check_outcomes(rules: Rules, state: Any) -> None:
    """Raise GameError unless weights and next states of a chance node are sound."""
    for weight, child in rules.outcomes(state):
        if type(weight) is not int or weight < 1:
            raise GameError(
                f"{rules.name}: chance({state}) has the weight {weight!r}: weights are whole numbers from 1 on, of"
                " which each one's share in their sum is its probability"
            )
        if isinstance(child, int) and not 0 <= child < 1 << rules.bits:
            raise GameError(f"{rules.name}: chance({state}) leads to {child}: it {outside(rules.bits)}")


def cycle(rules: Rules, method: str) -> MethodError:
    """The refusal of a game in which a state comes again."""
    remedy = rules.kind.remedy if rules.bits <= USUAL else "states so wide are searched live alone"
    return MethodError(f"{rules.name} has cycles, which {method} cannot solve: {remedy}")


def stuck(rules: Rules, state: Any) -> GameError:
    """The error of rules that neither end the game nor let it go on, or whose margins no merit can hold."""
    if any(True for _ in rules.actions(state)):
        return GameError(f"{rules.name}: state {state} leads to margins of 2**60 or more: utilities must be smaller")
    return GameError(f"{rules.name}: state {state} has no actions: is_terminal must be true for it")


def solution_of(table: Mapping[Any, int], score_game: bool) -> dict[Any, Value]:
    """Return the values of a table of merits, of margins in a score game."""
    return {state: value_of(merit, score_game) for state, merit in table.items()}


class SearchStatus(enum.IntEnum):
    """The status at the end of a call. Modules of WebAssembly return the numbers.

    The last two occur within a search alone: moves of a state are left, or one must be searched again.
    """

    PAUSED = 0  # the call has spent its nodes: call again
    DONE = 1
    NO_ROOM = 2  # the arrays of the path have too few rows: call again with more
    OUTSIDE = 3  # a state is worth more than the search can hold
    STUCK = 4  # a state has no moves
    OPENED = 5
    BETTER = 6


class ExactSearch:
    """Exact values of single states, from a search that finds a merit between two bounds.

    A search defines `_merit(state, low, high, budget)`: the merit if it lies within low..high, else a bound of it on
    that side.

    Attributes:
        rules: The rules of the game.
        win: The merit of a win now.
        scores: Whether a merit is a score, without a distance.
    """

    rules: Rules
    win: int
    scores: bool
    _merit: Callable[[int, int, int, Budget], int]

    def value(
        self,
        state: int,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Value:
        """Return the value of a state.

        Raises:
            BudgetExceeded: After that many nodes or seconds, or once `stop` is set. The result is kept.
            UncompiledRules: The search cannot hold the value, or play is too long for it.
        """
        budget = Budget(nodes, seconds, None if stop is None else stop.is_set)
        return value_of(self._merit(state, *self._range(state), budget), self.scores, self.win)

    def reaches(
        self,
        state: int,
        value: Value,
        *,
        strictly: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Tell whether a state is worth at least that much (`strictly`: more), by one question. Raises as `value`."""
        bound: int = merit_of(value, self.win) + strictly
        return self._merit(state, bound - 1, bound, Budget(nodes, seconds)) >= bound

    def _range(self, state: int) -> tuple[int, int]:
        """Merits between which a state's lies."""
        if not (self.rules.scores and self.rules.bounds):
            return -self.win, self.win
        low, high = self.rules.bounds(state)
        # What lies beyond is found out where it is met
        return max(low, -self.win), min(high, self.win)
