"""Tables of merits, as plain Python finds them, in the shape in which all ways hand over what they found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from solver.base.expectations import MIDDLE, Steps, number_of
from solver.base.value import WIN, Value, value_of
from solver.book.solution import Solved, TierCount
from solver.rules.game import Rules
from solver.search.value_iteration import Expectations

Table = dict[Any, int]


def solved_by(rules: Rules, table: Table, tier: Callable[[int], int] | None = None) -> Solved:
    """A table of merits of states, terminal ones included, sorted and tallied; by the game's tiers, or these."""
    terminal = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    stored = Counter(table[state] for state in states)
    merits = sorted(stored, reverse=True)
    index = {merit: place for place, merit in enumerate(merits)}
    slowest = min((merit for merit in merits if merit > 0), default=None)
    longest = None
    if slowest is not None and not rules.scores:
        longest = WIN - slowest, next(state for state in states if table[state] == slowest)
    return Solved(
        len(states),
        lambda: [(states, [index[table[state]] for state in states])],
        [value_of(merit, rules.scores) for merit in merits],
        [stored[merit] for merit in merits],
        _tallied(table, terminal, tier or rules.tier),
        _root(rules, table),
        longest,
    )


def solved_by_chance(rules: Rules, found: Expectations) -> Solved:
    """`solved_by` of a game of chance."""
    table = found.table
    ended = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in ended)
    steps = Steps(found.expectation.step)
    signs = {state: number_of(value) - MIDDLE for state, value in table.items()}
    return Solved(
        len(states),
        lambda: [(states, [number_of(table[state]) for state in states])],
        [],
        [],
        _tallied(signs, ended, rules.tier),
        steps[number_of(table[rules.canonical(rules.game.initial())])],
        None,
        found.cyclic,
        found.expectation,
    )


def _tallied(table: Table, terminal: set[int], tier: Callable[[int], int]) -> list[TierCount]:
    """The states of each tier, counted."""
    tallies: dict[int, list[int]] = {}
    for state, merit in table.items():
        tally = tallies.setdefault(tier(state), [0, 0, 0, 0, 0])
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if merit > 0 else 4 if merit < 0 else 3] += 1
    return [TierCount(number, *tallies[number]) for number in sorted(tallies)]


def _root(rules: Rules, table: Table) -> Value:
    """The value of the start."""
    state = rules.game.initial()
    merit = rules.end(state) if rules.is_terminal(state) else table[rules.canonical(state)]
    return value_of(merit, rules.scores)
