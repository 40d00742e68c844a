"""The value of a state from its children, in plain Python: the best move, or the mean over the outcomes of chance.

The caller gives the value of a child for its side to move, by a table, a book or a search: a merit, or an expectation
in units of his own. This module counts moves again, the score of a move and the ply that passes. Of the textbook's
algorithms those that a lesson compares with the book (minimax, alpha-beta, expectiminimax) do so in words of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from solver.rules.game import Rules
from solver.rules.vanishing import best_of_groups, edges

Merit = Any  # an int, a float or a fraction
Lifted = Callable[[Merit, Any, Any, Any], Merit]
Average = Callable[[Merit, int], Merit]


def derived(
    rules: Rules,
    state: Any,
    merit_of: Callable[[Any], Merit | None],
    *,
    lifted: Lifted | None = None,
    average: Average = operator.truediv,
) -> tuple[Merit | None, list[Any]]:
    """The merit that an unfinished state's children give it, None without any; and those whose merit is not known.

    `merit_of(child)` is asked of each child in the game's order, in place of one that vanishes of its own, and says
    None where it does not know: the merit is then that of the others. `lifted`, if not the rules', makes it one for who
    moves from the state; see `best_of`.
    """
    lifted = lifted or rules.lifted
    worths, unknown = [], []
    for weight, group, parent, action, child in edges(rules, state):
        merit = merit_of(child)
        if merit is None:
            unknown.append(child)
        else:
            worths.append((weight, group, lifted(merit, parent, action, child)))
    if rules.chance is not None:
        return best_of(best_of_groups(worths), average), unknown
    return rules.kind.best([merit for _, _, merit in worths]) if worths else None, unknown


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
    for action in rules.actions(state):
        child = rules.result(state, action)
        key = rules.canonical(child)
        is_over = rules.is_terminal(child)
        child_score, further = (int(rules.utility(child)), 0) if is_over else worth(key)
        if -child_score == score:
            plies.append(1 if is_over or rules.tier(key) > rules.tier(state) else 1 + further)
    return (min if score > 0 else max)(plies, default=None)


def best_of(worths: Iterable[tuple[int, Merit]], average: Average = operator.truediv) -> Merit | None:
    """The best of merits that weigh nothing, as moves do; the `average(sum, weight)` of those that do; None of none."""
    best, total, weights = None, 0, 0
    for weight, merit in worths:
        if weight:
            total, weights = total + weight * merit, weights + weight
        elif best is None or merit > best:
            best = merit
    return average(total, weights) if weights else best
