"""Ranks in place of states: what the rules say to a book that stores values alone (`codecs/ranked`).

A rank is looked up only if the rules have such a state, unfinished and canonical where the book is folded. So the
symbols of all other ranks are free, and no state is answered with one of those: what says which they are when a book is
written is asked again at each look-up.

The rules may also tell a state's value, or where it comes from: `outlook`, and the one reply that `replies` leaves. In
a complete book of a game whose moves all raise the tier such states need no symbol but one that says that they are
there. What is told is compared with the value when the book is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base.errors import BookError, GameError
from solver.base.value import WIN, Value, lift, merit_of, value_of
from solver.book.codecs import ranked
from solver.book.format import Header
from solver.book.solution import Part
from solver.rules.fingerprint import RANKING, fingerprint
from solver.rules.game import STATE_LIMIT, Game, Rules

TOLD = -1  # in place of the index of a value


class Ranking:
    """The ranks of the states that a book with this header may hold. Raises BookError for a game without ranks."""

    def __init__(self, rules: Rules, header: Header) -> None:
        check_ranks(rules)
        assert rules.rank is not None and rules.unrank is not None
        self.rules = rules
        self._rank, self._unrank = rules.rank, rules.unrank
        self.tells = tells(rules, header)
        self.palette = header.palette
        self._places = {value: place for place, value in enumerate(header.palette)}
        self.merits = [merit_of(value) for value in header.palette]

    def rank(self, state: Any) -> int:
        """The rank of a state that a book may hold, else -1."""
        try:
            state = operator.index(state)
        except TypeError:
            return -1
        rank = self._rank(state) if 0 <= state < STATE_LIMIT else -1
        return rank if rank >= 0 and self._is_open(state) else -1

    def state(self, rank: int) -> int:
        """The state of that rank that a book may hold, else -1."""
        state: int = self._unrank(rank) if rank < STATE_LIMIT else -1
        return state if state >= 0 and self._is_open(state) else -1

    def _is_open(self, state: int) -> bool:
        return not self.rules.is_terminal(state) and self.rules.canonical(state) == state

    def value(self, state: int, find: Callable[[int], int | None]) -> Value | None:
        """The value of a state; `find(rank)` is the index that the book has at a rank, None for a state it lacks."""
        rank = self.rank(state)
        index = find(rank) if rank >= 0 else None
        if index is None or not self.tells:
            return None if index is None else self.palette[index]
        merit, child = self._told(state)
        plies = 0
        while child is not None:
            plies += 1
            state = child
            merit, child = self._told(state)
        if merit is None:
            if plies:
                index = find(self._rank(state))
            if index is None:
                return None
            merit = self.merits[index]
        for _ in range(plies):
            merit = lift(merit, False, False)
        return value_of(merit)

    def index(self, state: int, find: Callable[[int], int | None]) -> int:
        """The palette index of a state's value, beyond the palette if it is not of it; -1 for a state without one."""
        value = self.value(state, find)
        return -1 if value is None else self._places.get(value, len(self.palette))

    def _told(self, state: int) -> tuple[int | None, int | None]:
        """The merit of a state, if the rules tell it, or the state that its only reply leads to; or neither."""
        rules = self.rules
        if not self.tells:
            return None, None
        if rules.is_terminal(state):
            return rules.end(state), None
        outlook = rules.outlook(state) if rules.outlook else 0
        if outlook:
            return (WIN - 1 if outlook > 0 else 2 - WIN), None
        choices = rules.replies(state) if rules.replies else 0
        if choices & choices - 1 or not choices:
            return None, None
        child = rules.result(state, choices.bit_length() - 1)
        return None, child if rules.is_terminal(child) else rules.canonical(child)

    def parts(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Ranks and indices in order of the ranks, BLOCK at a time, of states and indices; raises GameError."""
        table = {int(state): int(index) for part in parts for state, index in zip(*part, strict=True)}
        pairs = sorted((self._rank(state), self._kept(state, table)) for state in table)
        for begin in range(0, len(pairs), ranked.BLOCK):
            ranks, indices = zip(*pairs[begin : begin + ranked.BLOCK], strict=True)
            yield ranks, indices

    def _kept(self, state: int, table: dict[int, int]) -> int:
        """The index that is stored for a state."""
        merit, child = self._told(state)
        if child is not None:
            merit = self.rules.end(child) if self.rules.is_terminal(child) else self.merits[table[child]]
            merit = lift(merit, False, False)
        if merit is None:
            return table[state]
        if merit != self.merits[table[state]]:
            raise untrue(self.rules, state)
        return TOLD

    def states(
        self, ranks: Iterable[int], indices: Iterable[int], find: Callable[[int], int | None]
    ) -> tuple[list[int], list[int]]:
        """The states of ranks that a book holds, with their indices; the index of a rank that it lacks is -1."""
        pairs = [(self.state(rank), index) for rank, index in zip(ranks, indices, strict=True) if index >= 0]
        stored = [pair for pair in pairs if pair[0] >= 0]
        if self.tells:
            stored = [(state, self.index(state, find)) for state, _ in stored]
        return [state for state, _ in stored], [index for _, index in stored]

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """The codec's `encode_chunk`, told which ranks may be asked for."""
        return ranked.encode_chunk(ranks, indices, palette_size, index_bytes, lambda rank: self.state(rank) >= 0)


def check_ranks(rules: Rules) -> None:
    """Raise BookError for a game that does not rank its states."""
    if rules.rank is None or rules.unrank is None:
        raise BookError(
            f"{rules.name} does not number its states, rank(state) and unrank(rank): choose the codec compact"
        )


def tells(rules: Rules, header: Header) -> bool:
    """Whether the rules tell some of the values of a book: exact ones, along lines of play that end in the book."""
    exact = all(value.distance is not None or not value.score for value in header.palette)
    rises = header.scope == "complete" and header.method == "minimax"
    return exact and rises and rules.alternates and (rules.outlook is not None or rules.replies is not None)


def untrue(rules: Rules, state: int) -> GameError:
    """The error of rules that tell a wrong value."""
    return GameError(f"{rules.name}: state {state} has another value than outlook or replies tell: mend them")


def rules_of(game: Game, codec: str) -> str:
    """The fingerprint of the rules that a book in this codec depends on; if it is ranked, of their ranks as well."""
    return fingerprint(game, RANKING if codec == ranked.NAME else ())
