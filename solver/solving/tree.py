"""The tree of a grown book: the known values of its states, and the choice of the next to expand.

A graph rather, without cycles: symmetric states are one, and so are those that moves reach in another order. A state is
expanded when all its unfinished children are in the tree; then its value is the best that they make of it (negamax),
until it is exact. Nothing depends on the order in which states came: a tree that is read from a book grows on as it
would have. Some 2 KB of memory a state.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Any, NamedTuple

from solver.base.estimates import Estimate
from solver.rules.game import Rules
from solver.search import cycle, stuck

PLIES = 4.0  # that a move which loses as much as may be lost counts for


class Move(NamedTuple):
    """A move of the tree.

    Attributes:
        child: The canonical state that it leads to.
        end: Merit of the child if it is finished.
        same: Whether the same player moves again.
        gain: The score of the move.
    """

    child: Any
    end: Any
    same: bool
    gain: int


class Tree:
    """States with their merits, floats where they are estimates (`Estimate`)."""

    def __init__(self, rules: Rules, kind: Estimate) -> None:
        self.rules, self.kind = rules, kind
        self.merits: dict[Any, Any] = {}
        self._moves: dict[Any, list[Move]] = {}
        # Children that are not in the tree
        self._missing: dict[Any, int] = {}
        # Parents of states in the tree, and of missing ones
        self._parents: dict[Any, list[Any]] = {}
        # What is to be valued anew, the last tier first
        self._stale: list[tuple[int, Any]] = []

    def add(self, values: Iterable[tuple[Any, Any]]) -> None:
        """Add states with their merits, and value all that depends on them again. Raises MethodError for cycles."""
        for state, merit in values:
            if state not in self.merits:
                self._add(state, merit)
        while self._stale:
            _, state = heapq.heappop(self._stale)
            # Since it was marked
            if self.is_exact(state):
                continue
            before, merit = self.merits[state], self.kind.backed_up([self._made(move) for move in self._moves[state]])
            if merit != before or type(merit) is not type(before):
                self.merits[state] = merit
                for parent in self._parents.get(state, ()):
                    self._mark(parent)

    def _add(self, state: Any, merit: Any) -> None:
        self.merits[state], self._moves[state] = merit, self._listed(state)
        children = self.children(state)
        self._missing[state] = sum(child not in self.merits for child in children)
        for child in children:
            self._parents.setdefault(child, []).append(state)
        for parent in self._parents.get(state, ()):
            self._missing[parent] -= 1
            self._mark(parent)
        self._check_acyclic(state)
        self._mark(state)

    def _listed(self, state: Any) -> list[Move]:
        rules, moves = self.rules, []
        for action in rules.actions(state):
            child = rules.result(state, action)
            end = rules.end(child) if rules.is_terminal(child) else None
            same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
            moves.append(Move(rules.canonical(child) if end is None else None, end, same, gain))
        if not moves:
            raise stuck(rules, state)
        return moves

    def children(self, state: Any) -> list[Any]:
        """The unfinished children of a state of the tree, each once."""
        return list(dict.fromkeys(move.child for move in self._moves[state] if move.end is None))

    def is_expanded(self, state: Any) -> bool:
        """Whether all children of a state of the tree are in it."""
        return self._missing[state] == 0

    def is_exact(self, state: Any) -> bool:
        """Whether the value of a state of the tree is known."""
        return not isinstance(self.merits[state], float)

    def _check_acyclic(self, state: Any) -> None:
        """Raise MethodError if play comes back to a new state, by states of its tier that are in the tree."""
        tier = self.rules.tier
        level, visited = tier(state), {state}
        todo = [state]
        while todo:
            for child in self.children(todo.pop()):
                if child == state:
                    raise cycle(self.rules, "growing a book")
                if child in self.merits and child not in visited and tier(child) <= level:
                    visited.add(child)
                    todo.append(child)

    def _mark(self, state: Any) -> None:
        if self._missing[state] == 0 and not self.is_exact(state):
            heapq.heappush(self._stale, (-self.rules.tier(state), state))

    def _made(self, move: Move) -> Any:
        """Return the merit that a move gives its state."""
        return self.kind.lifted(self.merits[move.child] if move.end is None else move.end, move.same, move.gain)

    def leaves(self, limit: int, error: float, side: int | None) -> list[Any]:
        """The states to expand next, so many at most: those to which play is likeliest to come.

        That is the smallest sum over the path of a ply a move and of the loss of the moves against the best, in PLIES
        to an `error`; a move that loses more is not followed, nor one of `side`, 0 or 1, that loses anything. States
        whose value is exact come when there are no others: it tells no move.
        """
        return self._likeliest(limit, error, side, False) or self._likeliest(limit, error, side, True)

    def _likeliest(self, limit: int, error: float, side: int | None, exact: bool) -> list[Any]:
        """`leaves`, among states whose value is `exact`, too, or without them."""
        rules = self.rules
        leaves: list[Any] = []
        queue = []
        for state in dict.fromkeys(map(rules.canonical, rules.roots())):
            queue.append((0.0, state, rules.mover(state)))
        heapq.heapify(queue)
        visited = set()
        while queue and len(leaves) < limit:
            cost, state, mover = heapq.heappop(queue)
            if state in visited or rules.is_terminal(state) or (not exact and self.is_exact(state)):
                continue
            visited.add(state)
            if not self.is_expanded(state):
                leaves.append(state)
                continue
            worths = [self.kind.worth(self._made(move)) for move in self._moves[state]]
            best = max(worths)
            for move, worth in zip(self._moves[state], worths, strict=True):
                lost = best - worth
                if move.end is None and move.child not in visited and lost <= (0 if mover == side else error):
                    further = cost + 1 + (PLIES * lost / error if lost else 0)
                    heapq.heappush(queue, (further, move.child, mover if move.same else 1 - mover))
        return leaves
