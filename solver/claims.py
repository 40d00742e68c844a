"""Books that are not complete: what they claim, and what proves it.

A stored value whose children are all known follows from them, as in a complete book: those that are finished, stored,
or settled by the few plies that go with a trimmed book. The others, and a start that is not stored, are left to a
search. What a book says that it keeps must be there: all that play comes to within a number of plies, or in the first
tiers, but for what those few plies settle; in one for a side all that the side comes to which plays by it.
"""

from __future__ import annotations

import functools
from array import array
from collections import ChainMap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from solver import proving
from solver.book import Book
from solver.errors import DamagedBook, MethodError, MissingState
from solver.game import Rules
from solver.progress import Progress
from solver.search.settling import settled
from solver.searching import Search
from solver.value import Value

SETTLED = 1 << 16  # states whose values by a few plies are kept
STATE_BYTES = 150  # of memory for a state that play was seen to reach

Settle = Callable[[int, int], Value | None]


class Means(NamedTuple):
    """What may be spent on a proof: seconds of searching, workers, bytes of memory."""

    search: float
    workers: int | None
    memory: int


class Found(NamedTuple):
    """Whether all that a book claims is proved, in words by what; of how many of the values that only a search proves
    it did; and what was played out."""

    proved: bool
    basis: str
    by_search: int
    to_search: int
    played: proving.Proof | None


def judge(book: Book, rules: Rules, unproved: array[int], means: Means, progress: Progress) -> Found:
    """Prove what is left of a book whose values agree with their children's: `unproved` lack some of those.

    Raises DamagedBook that names a state which is missing, or whose value is another.
    """
    start = _start(book, rules)
    played, unlooked = None, None
    if book.trim is not None and book.trim.side is not None:
        played = _played(book, progress)
    elif not _has_no_gaps(book, rules, means.memory, progress):
        unlooked = "; more states can be reached than memory holds, so gaps were not looked for (--memory)"
    unproved.extend(start)
    values: Any = ChainMap(start, book)  # type: ignore[arg-type]
    search = Search(book.path, rules, values, means.search, means.memory)
    search.run(unproved, means.workers, progress)
    found, asked = search.proved, len(unproved)
    basis = f"{found:,} of {asked:,} values proved by search"
    if found < asked:
        basis += f" in {means.search:g} s (--search)"
    if asked < len(book):
        basis += ", the others follow from their children"
    if not asked:
        basis = "every value follows from its children"
    return Found(found == asked and unlooked is None, basis + (unlooked or ""), found, asked, played)


def settling(book: Book, rules: Rules, by_distance: bool) -> Settle | None:
    """`settle(state, child)`: the value of a child that is not stored, by the plies that go with a trimmed book.

    Without distances it rests on stored states of higher tiers than the state's alone. None for a book that is whole.
    """
    trim = book.trim
    if trim is None or not trim.depth:
        return None
    if by_distance:
        ahead = functools.lru_cache(SETTLED)(
            functools.partial(settled, rules, plies=trim.depth, find=book.get)
        )
        return lambda state, child: ahead(child)

    def settle(state: int, child: int) -> Value | None:
        floor = rules.tier(state)
        return settled(rules, child, trim.depth, lambda key: book.get(key) if rules.tier(key) > floor else None)

    return settle


def _has_no_gaps(book: Book, rules: Rules, memory: int, progress: Progress) -> bool:
    """Look for what a book says that it keeps and lacks, and for what it stores that play does not come to.

    False if memory did not suffice for it. Raises DamagedBook that names a state.
    """
    trim = book.trim
    scope = book.scope if trim is None else trim.scope
    if scope == "exact":
        return True  # whatever it holds
    limits = [int(scope.removeprefix("ply "))] if scope.startswith("ply ") else []
    last = None
    if trim is not None:
        limits += [] if trim.max_ply is None else [trim.max_ply]
        last = None if trim.max_bytes is None else max(map(rules.tier, book), default=0)
    seen: set[int] = set()
    for done in _reach(rules, min(limits, default=None), last, seen):
        if len(seen) * STATE_BYTES > memory:
            return False
        if done % 1024 == 0:
            progress("follow", done, None)
    lacking = seen.difference(book)
    for state in lacking:
        if not _may_lack(book, rules, state, last):
            raise DamagedBook(f"{book.path} lacks state {state}, which by its header it keeps: solve again")
    if len(seen) - len(lacking) < len(book):
        stray = next(state for state in book if state not in seen)
        raise DamagedBook(f"{book.path}: play does not come to state {stray}, or not so soon: solve again")
    return True


def _may_lack(book: Book, rules: Rules, state: int, last: int | None) -> bool:
    """Whether a trimmed book says that it leaves a state out; `last` is the tier in which it was cut off."""
    if book.trim is None:
        return False
    late = last is not None and rules.tier(state) >= last
    return late or (book.trim.plies > 0 and settled(rules, state, book.trim.plies) is not None)


def _reach(rules: Rules, limit: int | None, last: int | None, seen: set[int]) -> Iterator[int]:
    """Add the unfinished states that play comes to, within so many plies and in tiers to that, if these are given.

    Yields how many were followed.
    """
    layer = dict.fromkeys(rules.canonical(state) for state in rules.roots() if not rules.is_terminal(state))
    seen.update(layer)
    ply = done = 0
    while layer:
        following: dict[int, None] = {}
        for state in layer:
            yield done
            done += 1
            for _, _, child in rules.children(state) if ply != limit else ():
                key = rules.canonical(child)
                if key in seen or rules.is_terminal(child) or (last is not None and rules.tier(key) > last):
                    continue
                seen.add(key)
                following[key] = None
        layer, ply = following, ply + 1


def _played(book: Book, progress: Progress) -> proving.Proof | None:
    """The sides of a book are played out by it alone; None where it ends before the game does, or play may not end."""
    if book.trim is None or book.trim.scope != "complete" or (book.trim.max_ply, book.trim.max_bytes) != (None, None):
        return None
    try:
        return proving.prove(book, book.game, progress, live=False)
    except MissingState as error:
        raise DamagedBook(f"{book.path} lacks what its side needs: {error}") from None
    except MethodError:  # margins whose play goes round in circles
        return None


def _start(book: Book, rules: Rules) -> dict[int, Value]:
    """The start with the value that the header says of it, if nothing in the book proves that yet.

    Raises DamagedBook if it is another.
    """
    state, said, trim = rules.canonical(rules.game.initial()), book.root, book.trim
    if rules.is_terminal(state) or state in book:
        return {}  # looked at as any other
    found = None if trim is None else settled(rules, state, trim.depth, book.get)
    if found is None:
        return {state: said}
    if found != said:
        raise DamagedBook(f"{book.path}: the header says {said} of the start, the book {found}: solve again")
    return {}
