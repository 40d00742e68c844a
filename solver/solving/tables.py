"""Tables of merits, as plain Python makes them, in the form that all ways hand over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from solver.base.errors import GameError
from solver.base.expectations import number_of
from solver.base.kinds import Units
from solver.base.value import WIN
from solver.book.solution import Solved, TierCount
from solver.rules.game import STATE_LIMIT, Rules

Table = dict[Any, int]


def solved_by(
    rules: Rules,
    table: Table,
    tier: Callable[[int], int] | None = None,
    units: Units | None = None,
    cyclic: bool = False,
    root: int | None = None,
) -> Solved:
    """A table of numbers of states, of merits or by `units`, sorted and tallied; by the game's tiers, or these.

    Terminal states are included; `cyclic`: some tier has moves that stay in it; `root`: the number of the start, if the
    table lacks it.
    """
    units = units or Units(rules.kind)
    terminal = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    stored = Counter(table[state] for state in states)
    merits = units.kind.listed(stored)
    index = number_of if merits is None else {merit: place for place, merit in enumerate(merits)}.__getitem__
    slowest = min((merit for merit in stored if merit > 0 and not isinstance(merit, float)), default=None)
    longest = None
    if slowest is not None and not rules.scores:
        longest = WIN - slowest, next(state for state in states if table[state] == slowest)
    start = rules.game.initial()
    if root is None:
        root = rules.end(start) * units.point if rules.is_terminal(start) else table[rules.canonical(start)]
    return Solved(
        len(states),
        lambda: [(states, [index(table[state]) for state in states])],
        [units.value(merit) for merit in merits or ()],
        merits and [stored[merit] for merit in merits],
        _tallied(rules, table, terminal, tier or rules.tier, units.kind.pack),
        units.value(root),
        longest,
        units.kind,
        cyclic,
    )


def _tallied(
    rules: Rules, table: Table, terminal: set[int], tier: Callable[[int], int], pack: Callable[[int], int]
) -> list[TierCount]:
    """Count the states of each tier by their packed numbers. Raises GameError for a tier beyond the limits."""
    tallies: dict[int, list[int]] = {}
    for state, number in table.items():
        tally, packed = tallies.setdefault(tier(state), [0, 0, 0, 0, 0]), pack(number)
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if packed > 0 else 4 if packed < 0 else 3] += 1
    beyond = next((number for number in tallies if not 0 <= number < STATE_LIMIT), None)
    if beyond is not None:
        raise GameError(f"{rules.name}: a state has tier {beyond}: tiers are ints, 0 <= tier < 2**63")
    return [TierCount(number, *tallies[number]) for number in sorted(tallies)]
