"""The value of a state from its children, in plain Python: the best move, or the mean over the outcomes of chance.

The caller gives the value of a child for its side to move, by a table, a book or a search: a merit, or an expectation
in units of his own. This module counts moves again, the score of a move and the ply that passes. Of the textbook's
algorithms those that a lesson compares with the book (minimax, alpha-beta, expectiminimax) do so in words of their own.

A full-width search to a small depth, `settled`, finds the exact value of a state where that is enough to know it. A
state beyond the depth may be worth anything, so a merit is a range, and the search goes on with both ends of it. A
value is settled where they meet: as a rule where the game ends within the depth, whatever is played, or is won
immediately. So a distance is settled only if nothing that is unknown can be quicker; where a range has one sign, who
wins is known.

Some states are passed through and never stored: the result of chance before the player of a position chooses.
A throw of dice is such a state: only chance leads to it, and it lasts until its player has moved. So a solve stores the
positions before the throw alone, each valued by the best of the moves of every throw. Stochastic Petri nets call such
markings vanishing, and leave them out in the same way (Ajmone Marsan, Conte and Balbo, ACM TOCS 2(2), 1984).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from operator import truediv
from typing import Any, NamedTuple

from solver.base.errors import BudgetExceeded, GameError
from solver.base.expectations import mean_of_best
from solver.base.kinds import Average
from solver.base.value import WIN, Value, merit_of
from solver.rules.game import Rules
from solver.search import Budget, stuck

Merit = Any  # an int, a float or a fraction
Lifted = Callable[[Merit, Any, Any, Any], Merit]
Edge = tuple[int, int, Any, Any, Any]
"""Weight, 0 of an action; group, 0 of none; the state whose action it is, or whose chance; action, None of a chance;
child."""
Find = Callable[[Any], Value | None]
Range = tuple[Any, Any]  # bounds of a merit
MOST_MOVES = 1 << 16  # that a look goes through
SLOWEST = WIN >> 1  # merit of a win that takes longer than any: of one without its distance at least


class Step(NamedTuple):
    """A move of a player.

    Attributes:
        child: The canonical state that it leads to. Of no use if that is finished.
        end: Merit of the child for who moves there, if it is finished.
        same: Whether the same player moves again.
        gain: The score of the move.
    """

    child: Any
    end: Any
    same: bool
    gain: int


def steps_of(rules: Rules, state: Any) -> list[Step]:
    """The moves of a state in which a player decides."""
    steps = []
    for action in rules.actions(state):
        child = rules.result(state, action)
        end = rules.end(child) if rules.is_terminal(child) else None
        same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
        steps.append(Step(rules.canonical(child) if end is None else None, end, same, gain))
    return steps


def derived(
    rules: Rules,
    state: Any,
    merit_of: Callable[[Any], Merit | None],
    *,
    lifted: Lifted | None = None,
    average: Average = truediv,
) -> tuple[Merit | None, list[Any]]:
    """The merit that an unfinished state's children give it, None without any; and those whose merit is not known.

    `merit_of(child)` is asked of each child in the game's order, in place of one that vanishes of its own, and says
    None where it does not know: the merit is then that of the others. `lifted`, if not the rules', makes it one for who
    moves from the state; `average` as in `Kind.best`.
    """
    lifted = lifted or rules.lifted
    worths, unknown = [], []
    for weight, group, parent, action, child in edges(rules, state):
        merit = merit_of(child)
        if merit is None:
            unknown.append(child)
        else:
            worths.append((weight, group, lifted(merit, parent, action, child)))
    return rules.kind.best(worths, average) if worths else None, unknown


def conversion_of(rules: Rules, state: Any, score: int, worth: Callable[[Any], tuple[int, int]]) -> int | None:
    """The plies in which the side that wins at a state can force a conversion, and the other cannot avoid one.

    A conversion is a move that raises the tier or ends the game. Only for games in which players alternate.

    Args:
        rules: The rules.
        state: An unfinished state.
        score: 1 if it is won, -1 if it is lost.
        worth: Of a folded unfinished child its score for who moves there, and its distance to a conversion.

    Returns:
        None if no move has that score.
    """
    plies = []
    for key, end, _, _ in steps_of(rules, state):
        child_score, further = worth(key) if end is None else ((end > 0) - (end < 0), 0)
        if -child_score == score:
            plies.append(1 if end is not None or rules.tier(key) > rules.tier(state) else 1 + further)
    return (min if score > 0 else max)(plies, default=None)


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


def _nothing(state: Any) -> Value | None:
    return None


def settled(rules: Rules, state: Any, plies: int, find: Find = _nothing) -> Value | None:
    """The value of an unfinished state, if a search of so many plies settles it; None if not.

    It ends in finished states and in those that `find`, asked for canonical ones, knows the value of. Cost: all lines
    of play of that length. Raises GameError at a state that has no actions and is not terminal.
    """
    return rules.kind.value_within(*range_of(rules, state, plies, find))


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
        lows.append((weight, 0, worst))
        highs.append((weight, 0, best))
        if worst == largest and not weight:
            break
    if not lows:
        raise stuck(rules, state)
    return mean_of_best(lows), mean_of_best(highs)


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
