"""Alpha-beta on a tree, node by node: the values that a student writes beside it.

ALPHA-BETA-SEARCH of Russell and Norvig, section 6.2.3, with MAX and MIN as they have them: all values are worth so much
to MAX. A chance node (EXPECTIMINIMAX, section 6.5) is worth the mean of its children, which are searched within a
window of their own, open on both sides: a mean wants exact values. Numbers are exact, fractions too.

A small game is `unfolded` into such a tree, with the first player as MAX. A position that play reaches in several ways
is a node each time: the tree has no table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from solver.base.errors import MethodError
from solver.rules.game import Rules
from solver.search import Search, Visit, stuck

FULL_WINDOW = (-math.inf, math.inf)
MOST_UNFOLDED = 3_000  # nodes of a tree
MOST_PLIES = 200  # from the root


@dataclass
class Node:
    """A node that was looked at: where it is, its window (alpha, beta) before and after, and its value.

    `number` is that of the move that leads there from `parent`, from 1 on; `depth` counts such moves from the root.
    `player` is MAX, MIN or CHANCE, "leaf" of a leaf. The true value lies between `low` and `high`; `value` is the
    result of the search, one of them. `best` is the state that the best move leads to; `cut` are the states that were
    not looked at, since `value` lies outside the window; `share` is the probability of a chance node's child.
    """

    state: Any
    parent: Node | None
    number: int
    depth: int
    player: str
    before: tuple[Any, Any]
    after: tuple[Any, Any]
    value: Any = None
    low: Any = -math.inf
    high: Any = math.inf
    best: Any = None
    cut: tuple[Any, ...] = ()
    share: Fraction | None = None

    @property
    def path(self) -> list[int]:
        """The moves that lead there from the root. Each node holds its own alone: trees may be of any depth."""
        moves: list[int] = []
        node = self
        while node.parent is not None:
            moves.append(node.number)
            node = node.parent
        return moves[::-1]


@dataclass
class Trace:
    """The nodes by their states, in the order of the visit, and the steps: (node, whether it is entered or left)."""

    nodes: dict[Any, Node]
    steps: list[tuple[Node, bool]]


def trace(game: Any, payoff: Callable[[Any], Any]) -> Trace:
    """The visit of a tree from its root; `payoff(state)` is the value of a leaf to MAX.

    Raises GameError at a node that is no leaf and has no children.
    """
    search = _Traced(Rules(game, symmetry=False), payoff)
    search.run(search.visit(game.initial(), None, 0, *FULL_WINDOW))
    return search.found


class _Traced(Search):
    method = "alpha-beta"

    def __init__(self, rules: Rules, payoff: Callable[[Any], Any]) -> None:
        super().__init__(rules)
        self.payoff = payoff
        self.found = Trace({}, [])

    def visit(self, state: Any, parent: Node | None, number: int, alpha: Any, beta: Any) -> Visit:
        """The node of a state, with its value."""
        self.count()
        depth = 0 if parent is None else parent.depth + 1
        node = Node(state, parent, number, depth, self.player(state), (alpha, beta), (alpha, beta))
        self.found.nodes[state] = node
        self.found.steps.append((node, True))
        if node.player == "leaf":
            node.value = node.low = node.high = self.payoff(state)
            return node
        yield from self.chance(node) if node.player == "CHANCE" else self.decision(node)
        self.found.steps.append((node, False))
        return node

    def player(self, state: Any) -> str:
        """Who decides at a state."""
        rules = self.rules
        if rules.is_terminal(state):
            return "leaf"
        if any(True for _ in rules.outcomes(state)):
            return "CHANCE"
        return "MIN" if rules.mover(state) else "MAX"

    def decision(self, node: Node) -> Visit:
        """Value a node of MAX or MIN: the children from the left, until the rest cannot matter."""
        better = max if node.player == "MAX" else min
        examined = []
        alpha, beta = node.before
        below = [child for _, _, child in self.rules.children(node.state)]
        for number, state in enumerate(below, 1):
            child = yield state, node, number, alpha, beta
            examined.append(child)
            if node.value is None or better(child.value, node.value) != node.value:
                node.value, node.best = child.value, state
            alpha, beta = (max(alpha, node.value), beta) if better is max else (alpha, min(beta, node.value))
            if alpha >= beta:
                node.cut = tuple(below[number:])
                break
        if not examined:
            raise stuck(self.rules, node.state)
        lows, highs = [child.low for child in examined], [child.high for child in examined]
        # Nothing is known about unseen nodes
        if node.cut:
            (highs if better is max else lows).append(math.inf if better is max else -math.inf)
        node.after, node.low, node.high = (alpha, beta), better(lows), better(highs)

    def chance(self, node: Node) -> Visit:
        """Value a chance node: the mean of its children, by their weights."""
        outcomes = list(self.rules.outcomes(node.state))
        mean, weights = Fraction(0), sum(weight for weight, _ in outcomes)
        for number, (weight, state) in enumerate(outcomes, 1):
            child = yield state, node, number, *FULL_WINDOW
            child.share = Fraction(weight, weights)
            mean += child.share * child.value
        node.value = node.low = node.high = int(mean) if mean.denominator == 1 else mean


class Unfolded(NamedTuple):
    """A game below a position.

    Attributes:
        data: The tree as nested lists, as files of trees have it.
        nodes: The position and the moves that lead to it, for each node in the order of the tree.
    """

    data: Any
    nodes: list[tuple[Any, tuple[Any, ...]]]


def unfolded(rules: Rules, state: Any, mover: int = 0) -> Unfolded:
    """Unfold a game below a position.

    Args:
        rules: The rules, which must be acyclic there.
        state: The position.
        mover: Who is to move there, 0 or 1.

    Raises:
        MethodError: Chance decides, or the tree has more than MOST_UNFOLDED nodes, as any game with cycles has.
    """
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, whose tree is not traced: write it as tree:FILE")
    nodes: list[tuple[Any, tuple[Any, ...]]] = []

    def below(state: Any, mover: int, gained: float, moves: tuple[Any, ...]) -> Any:
        nodes.append((state, moves))
        if len(nodes) > MOST_UNFOLDED or len(moves) > MOST_PLIES:
            raise MethodError(
                f"{rules.name} has more than {MOST_UNFOLDED:,} nodes, or longer play: trace a smaller game, or --from a"
                " later position"
            )
        sign = 1 if mover == 0 else -1
        if rules.is_terminal(state):
            return gained + sign * rules.ended(state).score
        children = []
        for action in rules.actions(state):
            child = rules.result(state, action)
            same = rules.same_mover(state, action, child)
            points = gained + sign * rules.gain(state, action)
            children.append(below(child, mover if same else 1 - mover, points, (*moves, action)))
        return {"MIN" if mover else "MAX": children}

    return Unfolded(below(state, mover, 0, ()), nodes)
