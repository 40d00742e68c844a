"""Margins where play may come back to a state: the grounds of each value, found anew and without the solver.

That each is the best of its children's does not suffice: they may rest on each other in a circle. So what a side is
said to get beyond what endless play is worth must be got by moves that end the game or raise the tier. A state is
grounded if a move that gets it does that, or leads to a grounded one; where it is the other who gets it, if all moves
that stay in the tier lead to grounded ones. The others are gone through again, until a pass finds nothing. By induction
over tiers, and over passes within one, a side then gets it whatever is replied; that it gets no more is shown by the
other's best moves, which cost nothing if play never ends. For that endless play must be worth the same all along, and
no move that stays may score.

Cost: a pass over the moves of states that are not grounded for each move that it takes to get there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from solver.base.errors import DamagedBook
from solver.base.progress import Progress
from solver.base.value import lift, merit_of
from solver.book import Book
from solver.rules.game import Rules

UNGROUNDED, GROUNDED, SCORING, UNEVEN = range(4)
FAULTS = {
    UNGROUNDED: "has a value that rests on itself: play goes round in a circle",
    SCORING: "has a move that scores and stays in its tier, to which play may come back",
    UNEVEN: "has a move that stays in its tier and changes what endless play is worth",
}


def check(book: Book, rules: Rules, progress: Progress) -> None:
    """Hold up all values of a book that agree with their children's, in plain Python. Raises DamagedBook."""
    left = dict.fromkeys(book)
    while left:
        before = len(left)
        for state in list(left):
            is_held = _held_up(book, rules, state, left.__contains__)
            if is_held > GROUNDED:
                raise refusal(book, state, is_held)
            if is_held == GROUNDED:
                del left[state]
        if len(left) == before:
            raise refusal(book, next(iter(left)), UNGROUNDED)
        progress("ground", len(book) - len(left), len(book))


def _held_up(book: Book, rules: Rules, state: int, is_open: Callable[[int], bool]) -> int:
    score, endless = book[state].score, rules.endless(state)
    by_one, by_all = False, True
    for child_value, held in _moves(book, rules, state, endless, is_open):
        if held > GROUNDED:
            return held
        by_one |= held == GROUNDED and child_value == score
        by_all &= held == GROUNDED
    return GROUNDED if score == endless or (by_one if score > endless else by_all) else UNGROUNDED


def _moves(
    book: Book, rules: Rules, state: int, endless: int, is_open: Callable[[int], bool]
) -> Iterator[tuple[Any, int]]:
    """Yield the value of each move, and whether its child is held up, or the fault."""
    for action in rules.actions(state):
        child = rules.result(state, action)
        if rules.is_terminal(child):
            yield rules.lifted(rules.end(child), state, action, child), GROUNDED
            continue
        key, held = rules.canonical(child), GROUNDED
        if rules.tier(key) <= rules.tier(state):
            held = UNGROUNDED if is_open(key) else GROUNDED
            if rules.gain(state, action):
                held = SCORING
            elif lift(rules.endless(key), rules.same_mover(state, action, child), True) != endless:
                held = UNEVEN
        yield rules.lifted(merit_of(book[key]), state, action, child), held


def refusal(book: Book, state: int, fault: int) -> DamagedBook:
    """Return the error for a state whose value has no ground."""
    return DamagedBook(f"{book.path}: state {state} {FAULTS[fault]}: solve again")
