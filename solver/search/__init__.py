"""The classical algorithms of adversarial search, in plain Python, to be read beside the textbook.

They follow Russell and Norvig, Artificial Intelligence: A Modern Approach, chapter 6, for any game of the protocol and
any hashable states. Values are merits (see `solver.value`) while searching. There is no recursion: an algorithm is a
generator that yields the child whose merit it needs, and `run` keeps the generators on a stack. The same algorithms
are the judge of the compiled kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from solver.errors import BudgetExceeded, MethodError
from solver.game import game_text
from solver.value import Value, value_of

Table = dict[Hashable, Any]
Visit = Generator[Any, Any, Any]
INFINITY = 1 << 60


@dataclass
class Counts:
    """What a search did: states visited, values taken from the table, and cut-offs."""

    nodes: int = 0
    hits: int = 0
    cutoffs: int = 0


class Result(NamedTuple):
    """The value of a state for the side to move, a best action (None at a terminal state), and how it was found.

    `exact` is False where an estimate decided. `table` maps canonical states to merits: exact ones only.
    """

    value: Value
    action: int | None
    exact: bool
    counts: Counts
    table: Table


class Budget:
    """A limit on nodes and seconds; `spend` raises BudgetExceeded once it is used up. The time starts at once."""

    def __init__(self, nodes: int | None = None, seconds: float | None = None) -> None:
        self.nodes_left = nodes
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self._unchecked = 0

    def spend(self) -> None:
        """Count one node; the clock is read every 256 nodes."""
        if self.nodes_left is not None:
            self.nodes_left -= 1
            if self.nodes_left < 0:
                raise BudgetExceeded("the search has used up its nodes")
        self._unchecked += 1
        if self._unchecked & 255 == 0 and self.deadline is not None and time.monotonic() > self.deadline:
            raise BudgetExceeded("the search has used up its time")


def run(visit: Callable[..., Visit], *root: Any) -> Any:
    """What `visit(*root)` returns; a visit asks for another's result by yielding its arguments as a tuple."""
    stack = [visit(*root)]
    answer = None
    while stack:
        try:
            wanted = stack[-1].send(answer)
        except StopIteration as end:
            stack.pop()
            answer = end.value
        else:
            stack.append(visit(*wanted))
            answer = None
    return answer


def ordered_actions(game: Any) -> Callable[[Any], Any]:
    """`ordered(state)`: the legal actions, the most promising first where the game has `promise`."""
    promise = getattr(game, "promise", None)
    if promise is None:
        actions: Callable[[Any], Any] = game.actions
        return actions
    return lambda state: sorted(game.actions(state), key=lambda action: -promise(state, action))


def cycle(game: Any, method: str) -> MethodError:
    """The refusal of a game in which a state comes again."""
    return MethodError(f"{game_text(game)} has cycles, which {method} cannot solve: use retrograde analysis")


class _TableSolution(Mapping[Any, Value]):
    """A table of merits, seen as values."""

    def __init__(self, table: Mapping[Any, int], score_game: bool) -> None:
        self._table = table
        self._score_game = score_game

    def __getitem__(self, state: Any) -> Value:
        return value_of(self._table[state], self._score_game)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def solution_of(table: Mapping[Any, int], score_game: bool = False) -> Mapping[Any, Value]:
    """A read-only view of a table of merits as a Solution."""
    return _TableSolution(table, score_game)
