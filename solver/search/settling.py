"""Full-width search to a small depth: the exact value of a state where that is enough to know it.

A state beyond the depth may be worth anything, so a merit is a range, and the search goes on with both ends of it. A
value is settled where they meet: as a rule where the game ends within the depth, whatever is played, or is won at once.
So a distance is settled only if nothing that is unknown can be quicker; where a range has one sign, who wins is known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from solver.base.errors import BudgetExceeded
from solver.base.value import WIN, Value, merit_of
from solver.rules.game import Rules
from solver.search import Budget, stuck
from solver.search.derive import best_of

Find = Callable[[Any], Value | None]
Range = tuple[Any, Any]  # bounds of a merit
MOST_MOVES = 1 << 16  # that a look goes through
SLOWEST = WIN >> 1  # merit of a win that takes longer than any: of one without its distance at least


def _nothing(state: Any) -> Value | None:
    return None


def settled(rules: Rules, state: Any, plies: int, find: Find = _nothing) -> Value | None:
    """The value of an unfinished state, if a search of so many plies settles it; None if not.

    It ends in finished states and in those that `find`, asked for canonical ones, knows the value of. Cost: all lines
    of play of that length. Raises GameError at a state that has no actions and is not terminal.
    """
    return value_within(rules, range_of(rules, state, plies, find))


def value_within(rules: Rules, bounds: Range) -> Value | None:
    """The value of an unfinished state whose merit has these bounds; None where they do not meet."""
    low, high = bounds
    if low != high:
        return None
    return rules.kind.value(low)


class Ahead:
    """Looks ahead of a few plies, over the values that `find(canonical state)` knows: full-width, and cached.

    `known()` is a number that changes when `find` learns more. A look at more than MOST_MOVES moves is given up.
    """

    def __init__(self, rules: Rules, find: Find, known: Callable[[], int]) -> None:
        self.rules, self._known = rules, known
        self._anything = -rules.kind.most, rules.kind.most
        self._look = functools.lru_cache(maxsize=1 << 16)(lambda state, plies, _: self._range(state, plies, find))

    def range(self, state: Any, plies: int) -> Range:
        """Bounds of the merit of an unfinished state: of the shortest look, of so many plies at most, that tells it."""
        bounds = self._anything
        for depth in range(1, plies + 1):
            bounds = self._look(state, depth, self._known())
            if bounds[0] == bounds[1]:
                break
        return bounds

    def _range(self, state: Any, plies: int, find: Find) -> Range:
        try:
            return range_of(self.rules, state, plies, find, Budget(MOST_MOVES))
        except BudgetExceeded:
            return self._anything


def assured(rules: Rules, state: Any, plies: int, find: Find) -> Value | None:
    """Return the value of an unfinished state that `find` knows, or that a search of some plies settles.

    A search settles a value if the side to move can also keep it, by known values, against every reply: see `covers`.
    Returns None otherwise.
    """
    value = find(rules.canonical(state))
    if value is not None or not plies:
        return value
    value = settled(rules, state, plies, find)
    return None if value is None or played(rules, state, value, plies, find) is None else value


def played(rules: Rules, state: Any, value: Value, plies: int, find: Find) -> int | None:
    """The first action that is known to keep an unfinished state's value, and that `covers` the replies; or None.

    Its child is known to `find`, or settled by one ply less.
    """
    merit = merit_of(value)
    for action in rules.actions(state):
        child = rules.result(state, action)
        end = rules.is_terminal(child)
        known = rules.ended(child) if end else find(rules.canonical(child))
        if known is None:
            known = settled(rules, child, plies - 1, find)
        keeps = known is not None and rules.lifted(merit_of(known), state, action, child) == merit
        if keeps and covers(rules, state, action, plies, find):
            return action
    return None


def covers(rules: Rules, state: Any, action: int, plies: int, find: Find) -> bool:
    """Whether an action ends the game, or leads, whatever is replied, to states whose value is `assured`.

    To those in which the player is to move again, by the plies that are left.
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


def range_of(rules: Rules, state: Any, plies: int, find: Find = _nothing, budget: Budget | None = None) -> Range:
    """Bounds of an unfinished state's merit, as far as so many plies tell it; of an expectation where chance decides.

    The budget counts moves. Raises BudgetExceeded, and GameError at a state that has no actions and is not terminal.
    """
    largest = rules.kind.most
    if not plies:
        return -largest, largest
    lows, highs = [], []
    for weight, action, child in rules.children(state):
        if budget is not None:
            budget.spend()
        ends = (rules.lifted(bound, state, action, child) for bound in _bounds(rules, child, plies, find, budget))
        worst, best = sorted(ends)
        lows.append((weight, worst))
        highs.append((weight, best))
        if worst == largest and not weight:
            break
    if not lows:
        raise stuck(rules, state)
    return best_of(lows), best_of(highs)


def _bounds(rules: Rules, child: Any, plies: int, find: Find, budget: Budget | None) -> Range:
    """Bounds of the merit of a child, for its side to move."""
    if rules.is_terminal(child):
        return (rules.end(child),) * 2
    known = find(rules.canonical(child))
    if known is None:
        return range_of(rules, child, plies - 1, find, budget)
    score, distance = known
    if rules.scores:
        return score, score
    if distance is None and score:
        return sorted((score * SLOWEST, score * (WIN - 1)))  # type: ignore[return-value]
    return (merit_of(known),) * 2
