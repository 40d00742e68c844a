"""States that are passed through and never stored: the result of chance before the player of a position chooses.

A throw of dice is such a state: only chance leads to it, and it lasts until its player has moved. So a solve stores the
positions before the throw alone, each valued by the best of the moves of every throw. Stochastic Petri nets call such
markings vanishing, and leave them out in the same way (Ajmone Marsan, Conte and Balbo, ACM TOCS 2(2), 1984).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from solver.base.errors import GameError
from solver.rules.game import Rules

Edge = tuple[int, int, Any, Any, Any]
"""Weight, 0 of an action; group, 0 of none; the state whose action it is, or whose chance; action, None of a chance;
child."""


def edges(rules: Rules, state: Any) -> Iterator[Edge]:
    """Return the stored and finished states that may follow a state.

    This is `Rules.children`, in which a child that vanishes is replaced by its own children. These form a group, of
    which the best counts. Groups are numbered from 1 by the position of their first child, and have the weight of the
    child that vanished.

    Raises:
        GameError: The rules break the promises of `vanishing`.
    """
    vanishing = rules.vanishing
    if vanishing is None:
        for weight, action, child in rules.children(state):
            yield weight, 0, state, action, child
        return
    index = 0
    for weight, action, child in rules.children(state):
        if not vanishing(child):
            index += 1
            yield weight, 0, state, action, child
            continue
        _refuse(rules, state, action, child)
        next_index = index + 1
        for _, following, after in rules.children(child):
            if vanishing(after):
                raise GameError(f"{rules.name}: state {child} vanishes, and so does {after}, to which it leads: end it")
            index += 1
            yield weight, next_index, child, following, after
        if index < next_index:
            raise GameError(f"{rules.name}: state {child} vanishes without an action: let chance lead past it")


def best_of_groups(worths: Iterable[tuple[int, int, Any]]) -> Iterator[tuple[int, Any]]:
    """Return (weight, worth) of the best of each group, and of all that have no group."""
    groups: dict[int, tuple[int, Any]] = {}
    for weight, group, worth in worths:
        if not group:
            yield weight, worth
        elif group not in groups or worth > groups[group][1]:
            groups[group] = weight, worth
    yield from groups.values()


def _refuse(rules: Rules, state: Any, action: Any, child: Any) -> None:
    """Raise GameError unless this child of a state may vanish."""
    if action is not None:
        wrong = f"the action {action} leads there from state {state}: only chance may"
    elif rules.is_terminal(child):
        wrong = "play has ended there: what is finished is not passed through"
    elif rules.mover(child) != rules.mover(state):
        wrong = f"another player is to move there than at state {state}, where chance leads to it: let both be one"
    elif any(True for _ in rules.outcomes(child)):
        wrong = "chance decides there: only a player's choice may be passed through"
    else:
        return
    raise GameError(f"{rules.name}: state {child} vanishes, but {wrong}")
