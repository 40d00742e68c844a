"""Positions by number: how many a game's `scan` lets through, the number of each, and the position of a number.

A state is read digit by digit, as `digits()` cuts it up, and `scan(place, memo, digit)` returns the memory of the
digits read so far, or -1 where no position goes on so. Digits that leave the same memo go on alike, so positions are
the paths of a small diagram: dead ends are pruned, nodes with the same arcs are one, and each arc knows how many
paths come before it. The number of a position is that of the paths before its own: those of lesser last memos, then
those of lesser digits, of which the first decides (S. Yamamoto and K. Hoki, Game Programming Workshop 2022).

Cost, CPU: breakthrough 4x6, 10,137,590,988 positions, 2,595 nodes in 35 ms; a number takes 2 to 4 us, 0.1 us compiled.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from solver.base.errors import GameError

MOST_BITS = 16  # of a digit
MOST_ARCS = 1 << 21  # some 200 bytes each

Node = dict[int, tuple[int, int]]  # of the bits of each digit: the positions before it, and the node that it leads to
Read = list[dict[int, dict[int, int]]]  # place by place, of each memo and the bits of a digit: the memo after it


class Diagram(NamedTuple):
    """Where all positions are numbered.

    Attributes:
        masks: The bits of the digits as they are read. If last memos differ, all digits are there twice: the first time
            to find that memo.
        nodes: The last one is where reading begins.
        firsts, roots: Of each last memo, ascending, the number of its first position, and the node where its digits
            are read.
        size: How many positions there are.
        others: The bits that no digit has.
    """

    masks: list[int]
    nodes: list[Node]
    firsts: list[int]
    roots: list[int]
    size: int
    others: int


class Numbers:
    """The numbers of a game's positions, from what its rules say of them. Raises GameError when first asked.

    Attributes:
        game: The game.
        size: How many numbers there are.
        firsts: Ascending, the first number of each part; the positions of a part are of one tier.
        FUNCTIONS: `rank`, `unrank` and `is_own_image`, of a game and a state or a number, and functions that these
            call. They run over lists as they are, over arrays compiled, and translated in a page.
        constants: What they name: numbers, and lists of them.
        LACKING: The fault of a position without a number.
    """

    FUNCTIONS: tuple[Any, ...]
    LACKING: str
    constants: Any
    size: int
    firsts: list[int]

    def __init__(self, game: Any) -> None:
        self.game = game

    @functools.cached_property
    def functions(self) -> dict[str, types.FunctionType]:
        """FUNCTIONS by name."""
        return together(self.FUNCTIONS, self.constants)

    def rank(self, state: int) -> int:
        """Return the number of a position, from 0; -1 if it has none, or another position stands for it."""
        number: int = self.functions["rank"](self.game, state)
        return number

    def unrank(self, number: int) -> int:
        """Return the position of a number; -1 if there is none."""
        state: int = self.functions["unrank"](self.game, number)
        return state

    def images(self, state: int) -> list[int]:
        """A position and those that symmetries make of it, each once, as far as the numbers know them."""
        return [state]


@functools.lru_cache(maxsize=16, typed=True)  # typed: named tuples of two games may be equal
def numbers_of(make: type[Numbers], game: Any) -> Numbers:
    """The numbers of a game, made once."""
    return make(game)


def together(functions: tuple[Any, ...], constants: dict[str, Any]) -> dict[str, types.FunctionType]:
    """Copies of the functions of a module, by name, that have these globals and call each other."""
    scope = {**functions[0].__globals__, **constants}
    copies = {one.__name__: types.FunctionType(one.__code__, scope, one.__name__) for one in functions}
    scope.update(copies)
    return copies


def bound(function: Any, constants: dict[str, Any]) -> types.FunctionType:
    """A copy of a function that has these globals."""
    return together((function,), constants)[function.__name__]


def within(self: Any, number: Any) -> Any:
    """The number of a state of a game with `size`, and the state of a number: itself; -1 if it is none."""
    return number if 0 <= number < self.size() else -1


# The globals of bound functions: the fields of a diagram, and its arcs, those of node i from STARTS[i] on
MASKS: Any = ()
FIRSTS = ROOTS = BITS = BEFORE = CHILDREN = STARTS = MASKS
SIZE = OTHERS = 0


def rank(self: Any, state: Any) -> Any:
    """Return the number of a state, or -1 if it has none. Plainly `Numbering.rank` takes half the time."""
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


def is_own_image(self: Any, state: Any) -> Any:
    """Whether a symmetry may leave a state as it is: a diagram knows none of them."""
    return True


class Numbering(Numbers):
    """Numbers by a diagram of `digits` and `scan`."""

    FUNCTIONS = rank, unrank, is_own_image
    LACKING = "is refused by scan, or has bits that are in none of digits()"

    @functools.cached_property
    def diagram(self) -> Diagram:
        return diagram_of(self.game)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.diagram.size

    @property
    def firsts(self) -> list[int]:  # type: ignore[override]
        return self.diagram.firsts

    @functools.cached_property
    def constants(self) -> dict[str, Any]:
        masks, nodes, firsts, roots, size, others = self.diagram
        arcs = [(bits, *arc) for node in nodes for bits, arc in node.items()]
        return {
            **{"MASKS": masks, "FIRSTS": firsts, "ROOTS": roots, "SIZE": size, "OTHERS": others},
            **{name: [arc[column] for arc in arcs] for column, name in enumerate(("BITS", "BEFORE", "CHILDREN"))},
            "STARTS": [*itertools.accumulate(map(len, nodes), initial=0)],
        }

    def rank(self, state: int) -> int:
        diagram = self.diagram
        if state & diagram.others:
            return -1
        nodes, number = diagram.nodes, 0
        node = nodes[-1]
        for mask in diagram.masks:
            arc = node.get(state & mask)
            if arc is None:
                return -1
            number += arc[0]
            node = nodes[arc[1]]
        return number


def diagram_of(game: Any) -> Diagram:
    """The diagram of a game with `digits` and `scan`. Raises GameError for digits or memos that cannot be."""
    masks = list(game.digits())
    read = _read(type(game).__name__, masks, game.scan)
    shared = _Shared()
    # The memos that are left when all digits have been read
    memos = (memo for arcs in read[-1].values() for memo in arcs.values()) if read else (0,)
    after: dict[int, dict[int, int]] = {memo: {memo: 0} for memo in memos}
    for level in reversed(read):
        joined: dict[int, dict[int, int]] = {}
        for memo, arcs in level.items():
            # Of each last memo that these arcs lead to, the node of its own
            children: dict[int, list[tuple[int, int]]] = {}
            for bits, following in arcs.items():
                for last, child in after[following].items():
                    children.setdefault(last, []).append((bits, child))
            joined[memo] = {last: shared.node(edges) for last, edges in children.items()}
        after = joined
    nodes, firsts, roots, size = shared.nodes, [], [], 0
    for _, root in sorted(after.get(0, {}).items()):
        firsts.append(size)
        roots.append(root)
        size += shared.counts[root]
    rounds = 2 if len(roots) > 1 else 1
    # The last memo must be known first: nodes that lead to its first number and its root
    if rounds == 2:
        places = dict(zip(sorted(after[0]), zip(firsts, roots, strict=True), strict=True))
        for level in reversed(read):
            earlier = {}
            for memo, arcs in level.items():
                node = {bits: places[following] for bits, following in arcs.items() if following in places}
                if node:
                    earlier[memo] = 0, len(nodes)
                    nodes.append(node)
            places = earlier
    else:
        nodes.append(nodes[roots[0]] if roots else {})
    return Diagram(masks * rounds, nodes, firsts, roots, size, ~sum(masks))


class _Shared:
    """Nodes, of which none has the arcs of another, and how many paths each has to the end; node 0 is the end."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [{}]
        self.counts = [1]
        self._known: dict[tuple[tuple[int, int], ...], int] = {}

    def node(self, arcs: list[tuple[int, int]]) -> int:
        """The node with arcs of these bits to these nodes."""
        key = tuple(arcs)
        if key not in self._known:
            total, node = 0, {}
            for bits, child in arcs:
                node[bits] = total, child
                total += self.counts[child]
            self._known[key] = len(self.nodes)
            self.nodes.append(node)
            self.counts.append(total)
        return self._known[key]


def _read(name: str, masks: list[int], scan: Callable[[int, int, int], int]) -> Read:
    """The memory of the rules, place by place."""
    sizes = [mask.bit_count() for mask in masks]
    if not 0 < min(sizes, default=1) <= max(sizes, default=1) <= MOST_BITS or sum(sizes) != sum(masks).bit_count():
        raise GameError(f"{name}: digits() must yield bits that no other digit has, 1 to {MOST_BITS} of them each")
    read: Read = []
    memos = {0}
    arcs = 0
    for bit, mask in enumerate(masks):
        level: dict[int, dict[int, int]] = {}
        # All numbers of its bits alone, ascending: those of the digits 0, 1, 2, ...
        values, left = [0], mask
        while left:
            low = left & -left
            values += [value | low for value in values]
            left ^= low
        for memo in sorted(memos):
            after = ((bits, scan(bit, memo, digit)) for digit, bits in enumerate(values))
            level[memo] = {bits: target for bits, target in after if target >= 0}
            arcs += len(level[memo])
        memos = {memo for targets in level.values() for memo in targets.values()}
        if arcs > MOST_ARCS:
            raise GameError(f"{name}: scan() keeps {len(memos):,} memos apart at place {bit}, too many: keep fewer")
        read.append(level)
    return read
