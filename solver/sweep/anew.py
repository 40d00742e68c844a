"""A book of expectations against its game, solved anew."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook
from solver.base.expectations import MIDDLE
from solver.base.options import Options
from solver.book import Book
from solver.book.codecs.reading import read_parts
from solver.rules.game import Rules
from solver.store.work import Work
from solver.sweep import exhaustive


class Apart(NamedTuple):
    """The state whose value is farthest from that found anew, by how much, and how far that may be from the truth."""

    state: int
    off: float
    error: float


def compare(book: Book, rules: Rules, options: Options) -> Apart:
    """Solve the game of a complete book and compare every value.

    Raises DamagedBook if it has other states; what `exhaustive.solve` does.
    """
    with Work() as work:
        solved = exhaustive.solve(rules, work, options)
        steps, mine = (book.header.kind.step, solved.kind.step), _Numbers(solved.parts())
        worst = Apart(-1, 0.0, solved.kind.error)
        for states, numbers in read_parts(book, options.progress):
            known, found = mine.take(len(states))
            if not np.array_equal(known, states):
                raise DamagedBook(f"{book.path}: it has other states than play reaches: solve again")
            off = np.abs((numbers - MIDDLE) * steps[0] - (found - MIDDLE) * steps[1])
            place = int(off.argmax())
            if off[place] > worst.off:
                worst = worst._replace(state=int(states[place]), off=float(off[place]))
    return worst


class _Numbers:
    """States and their numbers, in parts, of which as many as are wanted are taken at a time."""

    def __init__(self, parts: Iterable[Any]) -> None:
        self.parts = iter(parts)
        self.states, self.numbers = np.empty(0, np.int64), np.empty(0, np.int64)

    def take(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """So many of the next states, with their numbers; fewer at the end."""
        while len(self.states) < count:
            part = next(self.parts, None)
            if part is None:
                break
            self.states = np.concatenate([self.states, part[0]])
            self.numbers = np.concatenate([self.numbers, np.asarray(part[1], np.int64)])
        taken = self.states[:count], self.numbers[:count]
        self.states, self.numbers = self.states[count:], self.numbers[count:]
        return taken
