"""A game that somebody has as a graph: a table of positions and moves, or rules of others, explored.

`graph:moves.csv` is the table of a file (`common.table`), `graph:rules.kif` a game in the game description language
(`common.described`), `graph:openspiel:breakthrough(rows=4,columns=4)` one of OpenSpiel (`common.exploration`). A state
is the number of a position, in the order in which it was met; the texts of all positions and moves are kept, so that
positions are asked for by them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from solver.base.errors import printable
from solver.games import DESCRIPTIONS, OPENSPIEL
from solver.games.common.nodes import Nodes, unpacked

GROUP = "files"


class Graph(NamedTuple):
    """Any finite game of two players as a graph, from a table of its moves, a `.kif` or OpenSpiel.

    A state is a position's number.
    """

    source: str
    nodes: Nodes

    plain_only = True

    @classmethod
    def from_text(cls, text: str) -> Graph:
        """The graph of `moves.csv`, `rules.kif` or `openspiel:tic_tac_toe`. Raises ValueError."""
        if text.startswith(OPENSPIEL):
            from solver.games.common.exploration import explored

            return graph_of(text, explored(text.removeprefix(OPENSPIEL)))
        if not text:
            raise ValueError("name the file of the table: graph:moves.csv")
        if text.lower().endswith(DESCRIPTIONS):
            from solver.games.common.described import described as read
        else:
            from solver.games.common.table import read
        try:
            return graph_of(os.path.basename(text), read(text))
        except OSError as error:
            raise ValueError(f"{text} cannot be read: {error.strerror}") from None

    @classmethod
    def from_bytes(cls, source: str, data: bytes) -> Graph:
        """The graph that a book keeps. Raises ValueError."""
        return graph_of(source, unpacked(data))

    def to_text(self) -> str:
        return self.source

    def to_bytes(self) -> bytes:
        """The bytes that a book of the graph keeps of it, for `from_bytes`."""
        return self.nodes.packed

    def initial(self) -> int:
        return 0

    def starts(self) -> Iterator[int]:
        """All positions: those that play does not reach are solved as well."""
        yield from range(len(self.nodes.texts))

    def actions(self, state: int) -> Iterator[int]:
        yield from range(self.nodes.begins[state + 1] - self.nodes.begins[state])

    def result(self, state: int, action: int) -> int:
        return self.nodes.children[self.nodes.begins[state] + action]

    def is_terminal(self, state: int) -> bool:
        return self.nodes.begins[state] == self.nodes.begins[state + 1]

    def utility(self, state: int) -> int:
        return self.nodes.worths[state]

    def show(self, state: int) -> str:
        """The position's text, which may come from a book of anybody."""
        return self.nodes.shown(state)

    def layout(self) -> tuple[str, int]:
        return "", max(end - begin for begin, end in pairwise(self.nodes.begins))

    def parse_position(self, text: str) -> int | None:
        """The position of a text."""
        return self.nodes.find(text)

    def format_action(self, state: int, action: int) -> str:
        return printable(self.nodes.names[self.nodes.labels[self.nodes.begins[state] + action]])


class _Turns:
    """Of a graph that says who moves."""

    nodes: Nodes

    def to_move(self, state: int) -> int:
        return self.nodes.movers[state]


class _Scores:
    """Of a graph whose values are margins: it has no cycles."""

    nodes: Nodes
    score_game = True

    def reward(self, state: int, action: int) -> int:
        return self.nodes.rewards[self.nodes.begins[state] + action] if self.nodes.rewards else 0

    def tier(self, state: int) -> int:
        return self.nodes.tiers[state]


class _Throws:
    """Of a graph in which chance has a part."""

    nodes: Nodes

    def actions(self, state: int) -> Iterator[int]:
        for place in self.nodes.moves(state):
            if not self.nodes.weights[place]:
                yield place - self.nodes.begins[state]

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        for place in self.nodes.moves(state):
            if self.nodes.weights[place]:
                yield self.nodes.weights[place], self.nodes.children[place]


class TurnGraph(_Turns, Graph):
    """A graph that says who moves."""


class ScoreGraph(_Scores, Graph):
    """A graph of margins."""


class TurnScoreGraph(_Turns, _Scores, Graph):
    """A graph of margins that says who moves."""


class ChanceGraph(_Turns, _Throws, Graph):
    """A graph with chance."""


class ChanceScoreGraph(_Turns, _Throws, _Scores, Graph):
    """A graph of margins with chance."""


def graph_of(source: str, nodes: Nodes) -> Graph:
    """The game of a graph. Raises ValueError for margins with cycles, and for chance where nobody says who moves."""
    if nodes.scores:
        nodes.tiers  # noqa: B018  (raises)
    if nodes.weights and not nodes.movers:
        raise ValueError("it has a weight and no player: say who moves in a column player")
    kinds = {
        (False, False): TurnGraph if nodes.movers else Graph,
        (True, False): TurnScoreGraph if nodes.movers else ScoreGraph,
        (False, True): ChanceGraph,
        (True, True): ChanceScoreGraph,
    }
    return kinds[nodes.scores, bool(nodes.weights)](source, nodes)  # type: ignore[call-arg]
