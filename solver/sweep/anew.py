"""A book of expectations against its game, solved anew."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from solver.base.errors import DamagedBook
from solver.base.expectations import MIDDLE
from solver.base.options import Options
from solver.book import Book
from solver.book.codecs.arrays import parts, read_parts
from solver.rules.game import Rules
from solver.store.work import Work
from solver.sweep import exhaustive

NO_ENTRIES = np.empty(0, np.int64), np.empty(0, np.int64)


class Apart(NamedTuple):
    """The state whose value is farthest from that found anew, by how much, and how far that may be from the truth."""

    state: int
    off: float
    error: float


def compare(book: Book, rules: Rules, options: Options) -> Apart:
    """Solve the game of a complete book and compare every value.

    Raises DamagedBook if it has other states, and as `exhaustive.solve`.
    """
    with Work() as work:
        solved = exhaustive.solve(rules, work, options)
        steps, worst = (book.header.kind.step, solved.kind.step), Apart(-1, 0.0, solved.kind.error)
        pairs = zip_longest(parts(read_parts(book, options.progress)), parts(solved.parts()), fillvalue=NO_ENTRIES)
        for (states, numbers), (known, found) in pairs:
            if not np.array_equal(known, states):
                raise DamagedBook(f"{book.path}: it has other states than play reaches: solve again")
            if not len(states):
                continue
            off = np.abs((numbers - MIDDLE) * steps[0] - (found.astype(np.int64) - MIDDLE) * steps[1])
            index = int(off.argmax())
            if off[index] > worst.off:
                worst = worst._replace(state=int(states[index]), off=float(off[index]))
    return worst
