"""Ranks in place of states: what the rules say to a book that stores values alone (`codecs/ranked`).

A rank is looked up only if the rules have such a state, unfinished and canonical where the book is folded. So the
symbols of all other ranks are free, and no state is answered with one of those: what says which they are when a book is
written is asked again at each look-up.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from solver.book.codecs import ranked
from solver.errors import BookError
from solver.fingerprint import RANKING, fingerprint
from solver.game import STATE_LIMIT, Game, Rules
from solver.solved import Part


class Ranking:
    """The ranks of the states that a book may hold. Raises BookError for a game that does not rank its states."""

    def __init__(self, rules: Rules) -> None:
        if rules.rank is None or rules.unrank is None:
            raise BookError(
                f"{rules.name} does not number its states, rank(state) and unrank(rank): choose the codec compact"
            )
        self.rules = rules
        self._rank, self._unrank = rules.rank, rules.unrank

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

    def holds(self, rank: int) -> bool:
        """Whether a book may hold the state of that rank."""
        return self.state(rank) >= 0

    def parts(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Ranks and indices in order of the ranks, BLOCK at a time, of states and indices."""
        pairs = sorted((self._rank(state), index) for part in parts for state, index in zip(*part, strict=True))
        for begin in range(0, len(pairs), ranked.BLOCK):
            ranks, indices = zip(*pairs[begin : begin + ranked.BLOCK], strict=True)
            yield ranks, indices

    def states(self, ranks: Iterable[int], indices: Iterable[int]) -> tuple[list[int], list[int]]:
        """The states of ranks that a book holds, with their indices; the index of a rank that it lacks is -1."""
        pairs = [(self.state(rank), index) for rank, index in zip(ranks, indices, strict=True) if index >= 0]
        stored = [pair for pair in pairs if pair[0] >= 0]
        return [state for state, _ in stored], [index for _, index in stored]

    def encode(self, ranks: Any, indices: Any, palette_size: int, index_bytes: int) -> Any:
        """The codec's `encode_chunk`, told which ranks may be asked for."""
        return ranked.encode_chunk(ranks, indices, palette_size, index_bytes, self.holds)


def rules_of(game: Game, codec: str) -> str:
    """The fingerprint of the rules that a book in this codec depends on; if it is ranked, of their ranks as well."""
    return fingerprint(game, RANKING if codec == ranked.NAME else ())
