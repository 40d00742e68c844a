"""Games that their books keep: graphs, whose positions and moves no name tells; their module is loaded late."""

from __future__ import annotations

from typing import Any

from solver.base.errors import GameError
from solver.base.shown import reason, shortened

HOME = "solver.games.graph"


def kept_game(game: Any) -> bytes:
    """Return the record of a game for its book. Empty if the name says it all."""
    return bytes(game.to_bytes()) if type(game).__module__ == HOME else b""


def game_kept(text: str, data: bytes) -> Any:
    """Return the game of a name and a book's record. Raises GameError."""
    from solver.games.graph import Graph

    name, _, source = text.partition(":")
    if name != "graph":
        raise GameError(f"{shortened(text)} is not a graph, and a book stores only graphs")
    try:
        return Graph.from_bytes(source, data)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise GameError(f"its game is malformed ({reason(error)})") from None


def graph_in(game: Any) -> Any:
    """The arrays of a game that is a graph (`games.common.nodes.Nodes`); None for others."""
    return game.nodes if type(game).__module__ == HOME else None
