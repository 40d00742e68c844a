"""Numbers of positions, compiled: those of `rules.numbering`, from arrays that are constants of the code.

Cost: 0.1 us for a number of twenty digits.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from solver.rules.numbering import Numbering

# of the copies: the arrays of a diagram, arcs of node i from STARTS[i] on
MASKS = BITS = BEFORE = CHILDREN = STARTS = FIRSTS = ROOTS = np.zeros(1, np.int64)
SIZE = OTHERS = 0


def rank(self: Any, state: Any) -> Any:
    """Return the number of a state, or -1 if it has none."""
    if state & OTHERS:
        return -1
    number = 0
    node = len(STARTS) - 2
    for index in range(len(MASKS)):
        bits = state & MASKS[index]
        arc = STARTS[node]
        while arc < STARTS[node + 1] and BITS[arc] != bits:
            arc += 1
        if arc == STARTS[node + 1]:
            return -1
        number += BEFORE[arc]
        node = CHILDREN[arc]
    return number


def unrank(self: Any, rank: int) -> Any:
    """Return the state with a number, or -1 if there is none."""
    if rank < 0 or rank >= SIZE:
        return -1
    low_index, after = 0, len(FIRSTS)
    while after - low_index > 1:
        middle = (low_index + after) // 2
        if FIRSTS[middle] <= rank:
            low_index = middle
        else:
            after = middle
    node = ROOTS[low_index]
    rank -= FIRSTS[low_index]
    state = 0
    while STARTS[node] < STARTS[node + 1]:
        arc = STARTS[node + 1] - 1
        while BEFORE[arc] > rank:
            arc -= 1
        rank -= BEFORE[arc]
        state |= BITS[arc]
        node = CHILDREN[arc]
    return state


class Compiled:
    """In place of a method of a class of rules, for the compiler: made when it is first asked for.

    `constants` are the arrays that the function names, by the numbering.
    """

    def __init__(
        self, numbering: Any, function: types.FunctionType, constants: Callable[[Any], dict[str, Any]]
    ) -> None:
        self.numbering, self.function, self.constants = numbering, function, constants

    def __get__(self, instance: Any, cls: type) -> Any:
        return self.method

    @functools.cached_property
    def method(self) -> Any:
        scope = {**self.function.__globals__, **self.constants(self.numbering)}
        return types.FunctionType(self.function.__code__, scope, self.function.__name__)


def constants(numbering: Numbering) -> dict[str, Any]:
    """The arrays of a diagram, as `rank` and `unrank` name them."""
    diagram = numbering.diagram
    arcs = [(bits, *arc) for node in diagram.nodes for bits, arc in node.items()]
    columns = np.array(arcs, np.int64).reshape(-1, 3).T.copy()
    return {
        **dict(zip(("BITS", "BEFORE", "CHILDREN"), columns, strict=True)),
        "STARTS": np.cumsum([0, *map(len, diagram.nodes)]),
        "MASKS": np.array(diagram.masks, np.int64),
        "FIRSTS": np.array(diagram.firsts, np.int64),
        "ROOTS": np.array(diagram.roots, np.int64),
        "SIZE": diagram.size,
        "OTHERS": ~diagram.bits,
    }


METHODS = {function.__name__: function for function in (rank, unrank)}
