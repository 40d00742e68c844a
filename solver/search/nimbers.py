"""Nimbers of impartial games: the size of the heap of nim that a position is worth (Sprague 1935, Grundy 1939).

In a game in which both sides have the same moves and who cannot move loses, a position's nimber is the least number
that none of its moves leads to (mex); it is lost for the side to move if that is 0. A sum of such games, in which each
move is made in one of them, has the exclusive or of their nimbers, as heaps of nim have (Bouton 1901).
"""

from __future__ import annotations

from typing import Any

from solver.base.errors import BudgetExceeded, GameError
from solver.base.kinds import LOST
from solver.base.methods import Method
from solver.base.progress import Progress, silent
from solver.rules.game import Rules
from solver.search import Budget, Result, Search, Table, Visit, roots_of

MAX_NODES = 100_000


def solve(rules: Rules, *, budget: Budget | None = None, progress: Progress = silent) -> Result:
    """Return the nimbers of all states; `table` has their merits.

    Raises as `nimber`, and BudgetExceeded.
    """
    check(rules)
    search = _Nimbers(rules, None, budget, progress)
    for root in roots_of(rules, None):
        search.merit_of(root)
    table = {state: merit or LOST for state, merit in search.table.items()}
    return Result(rules.kind.value(table[rules.canonical(root)]), None, True, search.counts, table)


def nimber(rules: Rules, state: Any, table: Table, nodes: int = MAX_NODES) -> int | None:
    """The nimber of a state; None if more new states than that are needed.

    `table` is extended in place: canonical states to nimbers. Raises GameError if the game is not impartial,
    MethodError if it has cycles.
    """
    check(rules)
    try:
        merit: int = _Nimbers(rules, table, Budget(nodes)).merit_of(state)
    except BudgetExceeded:
        return None
    return merit


def check(rules: Rules) -> None:
    """Raise GameError if a game has no nimbers."""
    if not rules.impartial:
        raise GameError(
            f"{rules.name} has no nimbers: set impartial = True if both sides have the same moves and the last mover"
            " wins"
        )
    if not rules.alternates or rules.chance is not None or rules.margins:
        raise GameError(
            f"{rules.name} says impartial = True and has to_move, again, chance or margins: leave one out, nimbers are"
            " for games in which both sides have the same moves and who cannot move loses"
        )


class _Nimbers(Search):
    method = Method.NIMBERS

    def visit(self, state: Any, key: Any) -> Visit:
        """The nimber of a state."""
        self.count()
        rules, table = self.rules, self.table
        if rules.is_terminal(state):
            if rules.utility(state) != -1:
                raise GameError(
                    f"{rules.name} says impartial = True, and state {state} is an end that is not lost for the side to"
                    " move: leave it out"
                )
            table[key] = 0
            return 0
        self.enter(key)
        reached = set()
        for action in rules.actions(state):
            child = rules.result(state, action)
            child_key = rules.canonical(child)
            reached.add(table[child_key] if child_key in table else (yield child, child_key))
        self.path.remove(key)
        table[key] = next(number for number in range(len(reached) + 1) if number not in reached)
        return table[key]
