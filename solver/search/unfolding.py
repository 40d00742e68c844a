"""A small game as an explicit tree, so that a search of it can be shown node by node.

The first player is MAX. A position that play reaches in several ways is a node each time: the tree has no table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from solver.base.errors import MethodError
from solver.rules.game import Rules

MOST_UNFOLDED = 3_000  # nodes of a tree
MOST_PLIES = 200  # from the root


class Unfolded(NamedTuple):
    """A game below a position.

    Attributes:
        data: The tree as nested lists, as files of trees have it.
        nodes: The position and the moves that lead to it, for each node in the order of the tree.
    """

    data: Any
    nodes: list[tuple[Any, tuple[Any, ...]]]


def unfolded(rules: Rules, state: Any, mover: int = 0) -> Unfolded:
    """Unfold a game below a position.

    Args:
        rules: The rules, which must be acyclic there.
        state: The position.
        mover: Who is to move there, 0 or 1.

    Raises:
        MethodError: Chance decides, or the tree has more than MOST_UNFOLDED nodes, as any game with cycles has.
    """
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, whose tree is not traced: write it as tree:FILE")
    nodes: list[tuple[Any, tuple[Any, ...]]] = []

    def below(state: Any, mover: int, gained: float, moves: tuple[Any, ...]) -> Any:
        nodes.append((state, moves))
        if len(nodes) > MOST_UNFOLDED or len(moves) > MOST_PLIES:
            raise MethodError(
                f"{rules.name} has more than {MOST_UNFOLDED:,} nodes, or longer play: trace a smaller game, or --from a"
                " later position"
            )
        sign = 1 if mover == 0 else -1
        if rules.is_terminal(state):
            return gained + sign * rules.ended(state).score
        children = []
        for action in rules.actions(state):
            child = rules.result(state, action)
            same = rules.same_mover(state, action, child)
            points = gained + sign * rules.gain(state, action)
            children.append(below(child, mover if same else 1 - mover, points, (*moves, action)))
        return {"MIN" if mover else "MAX": children}

    return Unfolded(below(state, mover, 0, ()), nodes)
