"""Plies as arrays, for opening books of more states than plain Python goes through quickly.

Forward, a span of a ply is expanded, its children are sorted and freed of doubles, and states of earlier plies are
left out; backward, a ply's merits come from those of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from solver.base.value import WIN
from solver.compiled import agreement
from solver.compiled.binding import compiling
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, is_built_in
from solver.store.directory import lookup_of
from solver.store.packed import LAST
from solver.store.runs import united, without
from solver.sweep import backward
from solver.sweep.batch import FINE
from solver.sweep.expansion import Expansion

STATES_PER_CHECK = 1 << 16  # states expanded between two looks at the clock and at the memory
INSPECTED = 16  # states of a ply of a user's game, about, that are held against the plain rules
States = NDArray[np.int64]


def further(rules: Rules, layers: Sequence[list[int]], enough: Callable[[int], bool]) -> Iterator[list[int]]:
    """The plies behind the given ones, one by one, each sorted, until `enough` of the number of states so far.

    Raises GameError where the rules break the protocol, UncompiledRules where they cannot be compiled or say something
    else then.
    """
    with compiling(rules.game):
        expansion = Expansion(CompiledMoves(rules, tiers=False))
        known = [np.array(layer, np.int64) for layer in layers]
        while True:
            count, last_ply, reached = sum(map(len, known)), known[-1], np.empty(0, np.int64)
            if not is_built_in(rules.name):
                inspected = last_ply[:: max(1, len(last_ply) // INSPECTED)].tolist()
                agreement.compare(rules.game, inspected, symmetry=rules.symmetry, tiers=False)
            for begin in range(0, len(last_ply), STATES_PER_CHECK):
                if enough(count + len(reached)):
                    return
                children = expansion.expand(0, last_ply[begin : begin + STATES_PER_CHECK], closing=True)
                new = united([run for _, run in children.runs])
                for states in (*known, reached):
                    new = without(new, states)
                reached = united([reached, expansion.keep(new)[0]])
            known.append(reached)
            yield reached.tolist()


def merits_of(rules: Rules, states: list[int], later: list[int], merits: list[int]) -> list[int] | None:
    """The merits of a ply's states, with `value.WIN`, by those of the next ply's, `later`; both plies are sorted.

    None if a state has an unfinished child that is not in the next ply, or no children.
    """
    states_array, following = np.array(states, np.int64), np.array(later, np.int64)
    known = lookup_of([(-1, states_array), (0, following)], np.array(merits, np.int64))
    best = np.full(len(states_array), -LAST, np.int64)
    with compiling(rules.game):
        moves = CompiledMoves(rules, tiers=False).valued(WIN)
        fault, _ = backward.evaluate(moves, known, 0, len(states_array), 0, LAST, best)
    return best.tolist() if fault == FINE else None
