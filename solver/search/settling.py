"""Full-width search to a small depth: the exact value of a state where that is enough to know it.

A state beyond the depth may be worth anything, so a merit is a range, and the search goes on with both ends of it. A
value is settled where they meet: as a rule where the game ends within the depth, whatever is played, or is won at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.game import Rules
from solver.search import INFINITY, stuck
from solver.value import WIN, Value, merit_of, value_of

Find = Callable[[Any], Value | None]


def _nothing(state: Any) -> Value | None:
    return None


def settled(rules: Rules, state: Any, plies: int, find: Find = _nothing) -> Value | None:
    """The value of an unfinished state, if a search of so many plies settles it; None if not.

    It ends in finished states and in those that `find`, asked for canonical ones, knows the value of. Cost: all lines
    of play of that length. Raises GameError at a state that has no actions and is not terminal.
    """
    low, high = _range(rules, state, plies, find, most_of(rules))
    return value_of(low, rules.scores) if low == high else None


def assured(rules: Rules, state: Any, plies: int, find: Find) -> Value | None:
    """The value of an unfinished state that `find` knows; or that a search of so many plies settles, if who is to move
    can also keep it by what is known, whatever is replied: see `covers`. Else None."""
    value = find(rules.canonical(state))
    if value is not None or not plies:
        return value
    value = settled(rules, state, plies, find)
    if value is None:
        return None
    merit = merit_of(value)
    for action in rules.actions(state):
        child = rules.result(state, action)
        end = rules.is_terminal(child)
        known = value_of(rules.end(child), rules.scores) if end else find(rules.canonical(child))
        if known is None:
            known = settled(rules, child, plies - 1, find)
        keeps = known is not None and rules.lifted(merit_of(known), state, action, child) == merit
        if keeps and covers(rules, state, action, plies, find):
            return value
    return None


def covers(rules: Rules, state: Any, action: int, plies: int, find: Find) -> bool:
    """Whether an action ends the game, or leads, whatever is replied, to states whose value is `assured`.

    To those in which the player is to move again, by what is left of the plies.
    """
    child = rules.result(state, action)
    if rules.is_terminal(child):
        return True
    if rules.same_mover(state, action, child):
        return assured(rules, child, plies - 1, find) is not None
    return _are_answered(rules, child, plies - 1, find)


def _are_answered(rules: Rules, state: Any, plies: int, find: Find) -> bool:
    """Whether all replies in a state lead to assured ones; where the other is to move again it suffices to know it."""
    for action in rules.actions(state):
        child = rules.result(state, action)
        if rules.is_terminal(child):
            continue
        left = max(0, plies - 1)
        if rules.same_mover(state, action, child):
            known = find(rules.canonical(child)) is not None or (left > 0 and _are_answered(rules, child, left, find))
        else:
            known = assured(rules, child, left, find) is not None
        if not known:
            return False
    return True


def most_of(rules: Rules) -> int:
    """The largest merit that an unfinished state may have, the negative of the smallest."""
    return 1 if rules.outcomes else INFINITY if rules.scores else WIN - 1


def _range(rules: Rules, state: Any, plies: int, find: Find, most: int) -> tuple[int, int]:
    """Bounds of an unfinished state's merit."""
    if not plies:
        return -most, most
    low = high = None
    for action in rules.actions(state):
        child = rules.result(state, action)
        if rules.is_terminal(child):
            bounds = (rules.end(child),) * 2
        else:
            known = find(rules.canonical(child))
            if known is None:
                bounds = _range(rules, child, plies - 1, find, most)
            else:
                bounds = (merit_of(known),) * 2
        worst, best = sorted(rules.lifted(bound, state, action, child) for bound in bounds)
        low = worst if low is None else max(low, worst)
        high = best if high is None else max(high, best)
        if low == most:
            break
    if low is None or high is None:
        raise stuck(rules, state)
    return low, high
