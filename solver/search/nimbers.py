"""Nimbers of impartial games: the size of the heap of nim that a position is worth (Sprague 1935, Grundy 1939).

In a game in which both sides have the same moves and who cannot move loses, a position's nimber is the least number
that none of its moves leads to (mex); it is lost for the side to move if that is 0. A sum of such games, in which each
move is made in one of them, has the exclusive or of their nimbers, as heaps of nim have (Bouton 1901).
"""

from __future__ import annotations

from typing import Any

from solver.base.errors import BudgetExceeded, GameError
from solver.base.kinds import LOST, NIMBER, Method
from solver.rules.game import Rules
from solver.search import Budget, Result, Table
from solver.search.alphabeta import Minimax

MAX_NODES = 100_000


def solve(rules: Rules, **options: Any) -> Result:
    """Return the nimbers of all states; `table` has their merits.

    Raises as `nimber`, and BudgetExceeded.
    """
    check(rules)
    return _Nimbers(rules, **options).result(None)


def nimber(rules: Rules, state: Any, table: Table, nodes: int = MAX_NODES) -> int | None:
    """The nimber of a state; None if more new states than that are needed.

    `table` is extended in place: canonical states to merits. Raises GameError if the game is not impartial,
    MethodError if it has cycles.
    """
    check(rules)
    search = _Nimbers(Rules(rules.game, rules.symmetry, NIMBER), table, Budget(nodes))
    try:
        merit: int = search.merit_of(state)
    except BudgetExceeded:
        return None
    return max(merit, 0)


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


class _Nimbers(Minimax):
    method = Method.NIMBERS

    def end(self, state: Any) -> Any:
        if self.rules.utility(state) != LOST:
            raise GameError(
                f"{self.rules.name} says impartial = True, and state {state} is an end that is not lost for the side to"
                " move: leave it out"
            )
        return LOST
