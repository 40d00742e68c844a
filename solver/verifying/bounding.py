"""How far the values of a complete book of expectations are from the truth: bounds from both sides, found anew.

Errors that each ply admits add up, so that values may agree with their children's and be far off all the same. So
intervals that hold the truth are narrowed, in Python and from the rules alone, in units of 2**-32 of the book's steps:
a state's by those of its children; of states that play may come back from, a strongly connected component (Tarjan,
Depth-First Search and Linear Graph Algorithms, SIAM J. Computing 1(2), 1972), round after round, from the least and the
most that play may be worth in the end. All is rounded outward.

Cost: a kilobyte a state and a microsecond a move and round; a book of more states is solved anew by the compiled sweep,
whose error is known, and compared number by number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from operator import floordiv
from typing import NamedTuple

from solver.base import extras
from solver.base.errors import DamagedBook, MethodError, UncompiledRules
from solver.base.extras import PLAIN_LIMIT
from solver.base.options import Options
from solver.base.progress import Progress
from solver.book import Book
from solver.rules.game import Rules, is_built_in
from solver.search.derive import edges

FINE = 32  # bits of a step
MAX_GAP = 1 << 8  # units between bounds that are near enough
MOST_VISITS = 1 << 24  # moves and states looked at, all rounds together
STATE_BYTES = 4096  # of memory, about
FINISHED = -1  # what a move leads to


class Move(NamedTuple):
    """A move for bounding.

    Attributes:
        weight: Weight of an outcome of chance. 0 for a player's move.
        group: Group of which the best counts (`edges`). 0 for none.
        child: Number of the child, or FINISHED.
        sign: The child's value times `sign`, plus `constant`, is the value of the move.
        constant: In units.
    """

    weight: int
    group: int
    child: int
    sign: int
    constant: int


def bound(book: Book, rules: Rules, options: Options, *, compiled: bool = True) -> tuple[Fraction | None, str | None]:
    """Bound how far a value is from the truth.

    Args:
        compiled: Solve a large book anew with kernels, where they are at hand.

    Returns:
        The bound, and why plain Python found it although the book is large. Or None, and why no bound is known.

    Raises:
        DamagedBook: A value is farther from the truth than the header claims.
    """
    needed, reason = STATE_BYTES * len(book), None
    fits = options.memory is None or needed <= options.memory
    if compiled and len(book) > PLAIN_LIMIT and not rules.plain_only and extras.has_kernels():
        from solver.sweep import exhaustive

        try:
            worst = exhaustive.compare(book, rules, options)
            if worst.off - worst.error > book.header.kind.error:
                raise farther(book, worst.state, worst.off - worst.error)
            return Fraction(worst.off) + Fraction(worst.error), None
        except MethodError as error:
            return None, str(error)
        except UncompiledRules as error:
            reason = str(error)
        except DamagedBook as error:
            if is_built_in(rules.name) or not fits:
                raise
            reason = f"as compiled, {error}"
    if not fits:
        return None, reason or f"that takes about {needed:,} bytes: more --memory"
    return _Intervals(book, rules, options.progress).off(), reason


def farther(book: Book, state: int, off: float) -> DamagedBook:
    """The error of a value that is farther from the truth than the header claims."""
    return DamagedBook(
        f"{book.path}: the value of state {state} is off by {off:.2g} or more, its header claims"
        f" {book.header.kind.error:.2g} at most: solve again"
    )


class _Intervals:
    """Intervals of all states of a book, by number in their order."""

    def __init__(self, book: Book, rules: Rules, progress: Progress) -> None:
        self.book, self.rules, self.progress = book, rules, progress
        self.step = Fraction(book.header.kind.step)
        self.claim = Fraction(book.header.kind.error) / self.step * (1 << FINE)
        self.point = round(1 / self.step) << FINE
        self.states = list(book)
        self.lows = [0] * len(self.states)
        self.highs = [0] * len(self.states)
        self.visits = self.done = 0
        numbers = {state: number for number, state in enumerate(self.states)}
        self.moves = [self._moves(state, numbers) for state in self.states]

    def off(self) -> Fraction:
        """How far a value is from the truth at most."""
        largest = Fraction(0)
        for component in components([[move.child for move in moves] for moves in self.moves]):
            self._narrow(component)
            largest = max(largest, *map(self._off, component))
            self.done += len(component)
            self.progress("bound", self.done, len(self.states))
        return largest * self.step / (1 << FINE)

    def _off(self, number: int) -> Fraction:
        """The units that a value may be off. Raises DamagedBook if they are more than is claimed for sure."""
        state = self.states[number]
        value = round(Fraction(self.book[state].score) / self.step) << FINE
        below, above = self.lows[number] - value, value - self.highs[number]
        if max(below, above) > self.claim:
            raise farther(self.book, state, float(max(below, above) * self.step / (1 << FINE)))
        return Fraction(max(self.highs[number] - value, value - self.lows[number]))

    def _moves(self, state: int, numbers: dict[int, int]) -> list[Move]:
        rules, moves = self.rules, []
        for weight, group, parent, action, child in edges(rules, state):
            sign = 1 if rules.same_mover(parent, action, child) else -1
            gain = 0 if action is None else rules.gain(parent, action)
            if rules.is_terminal(child):
                constant = (sign * rules.utility(child) + gain) * self.point
                moves.append(Move(weight, group, FINISHED, sign, constant))
            else:
                moves.append(Move(weight, group, numbers[rules.canonical(child)], sign, gain * self.point))
        return moves

    def _narrow(self, component: list[int]) -> None:
        """Find the intervals of states whose other children have theirs, as near as they come."""
        inside = set(component)
        moves = [move for number in component for move in self.moves[number]]
        if not any(move.child in inside for move in moves):
            self.lows[component[0]], self.highs[component[0]] = self._seen(component[0])
            return
        if any(move.child in inside and move.constant for move in moves):
            raise DamagedBook(
                f"{self.book.path}: moves score where play comes back to state {self.states[component[0]]}, which"
                f" {self.book.header.method} does not solve: solve again"
            )
        # The most that a move may be worth to either side if it ends play among the states under way
        most = [0 if move.child == FINISHED else max(-self.lows[move.child], self.highs[move.child]) for move in moves]
        largest = max(worth + abs(move.constant) for worth, move in zip(most, moves, strict=True))
        for number in component:
            self.lows[number], self.highs[number] = -largest, largest
        for order in itertools.cycle((component, component[::-1])):
            moved = False
            for number in order:
                low, high = self._seen(number)
                if low > self.lows[number] or high < self.highs[number]:
                    moved = True
                    self.lows[number] = max(low, self.lows[number])
                    self.highs[number] = min(high, self.highs[number])
            gap = max(self.highs[number] - self.lows[number] for number in component)
            self.visits += len(moves) + len(component)
            if gap <= MAX_GAP or not moved or self.visits > MOST_VISITS:
                return
            self.progress("bound", self.done, len(self.states), f"{float(gap * self.step / (1 << FINE)):.1e} apart")

    def _seen(self, number: int) -> tuple[int, int]:
        """A state's interval by those of its children."""
        lows, highs = [], []
        for weight, group, child, sign, constant in self.moves[number]:
            low = high = 0
            if child != FINISHED:
                low, high = self.lows[child], self.highs[child]
            if sign < 0:
                low, high = -high, -low
            lows.append((weight, group, low + constant))
            highs.append((weight, group, high + constant))
        best = self.rules.kind.best
        return best(lows, floordiv), best(highs, lambda total, weight: -(-total // weight))


def components(children: list[list[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, each after those that its states lead to.

    Negative children stand for none.
    """
    index, lowest = [-1] * len(children), [0] * len(children)
    # States whose component is not complete
    under_way: list[int] = []
    open_states, count = bytearray(len(children)), 0
    for root in range(len(children)):
        path = [(root, iter(children[root]))] if index[root] < 0 else []
        while path:
            state, left = path[-1]
            if index[state] < 0:
                index[state] = lowest[state] = count
                count += 1
                under_way.append(state)
                open_states[state] = True
            for child in left:
                if child >= 0 and index[child] < 0:
                    path.append((child, iter(children[child])))
                    break
                if child >= 0 and open_states[child]:
                    lowest[state] = min(lowest[state], lowest[child])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[state])
                if lowest[state] == index[state]:
                    component = list[int]()
                    while open_states[state]:
                        component.append(under_way.pop())
                        open_states[component[-1]] = False
                    yield component
