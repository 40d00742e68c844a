"""Random games: their course, and the facts about the rules that they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from solver.rules.game import Rules

MOST_MOVES = 500  # of one game, which may go in circles


class RandomGame(NamedTuple):
    """A game of random moves.

    Attributes:
        states: The states, from a start on.
        actions: The actions between them. None where chance decided.
        worth: Value of the end for the first player. None if the game did not end.
    """

    states: list[int]
    actions: list[int | None]
    worth: int | None

    @property
    def plies(self) -> int:
        """How many actions it took."""
        return len(self.actions) - self.actions.count(None)


def worth_of(rules: Rules, states: Sequence[int], actions: Sequence[int | None]) -> int | None:
    """Return the value of a game's end for the player who began it. None if its last state is not an end."""
    if not rules.is_terminal(states[-1]):
        return None
    worth: int = rules.utility(states[-1])
    for state, action, child in reversed([*zip(states, actions, states[1:], strict=False)]):
        gain = 0 if action is None else rules.gain(state, action)
        worth = (worth if rules.same_mover(state, action, child) else -worth) + gain
    return worth


def states_of(games: Iterable[RandomGame]) -> list[int]:
    """The states of random games, sorted, each once."""
    return sorted({state for game in games for state in game.states})


def endless(games: Sequence[RandomGame]) -> str | None:
    """Return the message for games none of which ended, unless the time limit ended them."""
    if not games or any(game.worth is not None or len(game.actions) < MOST_MOVES for game in games):
        return None
    return (
        f"none of {len(games)} random games has ended within {MOST_MOVES} moves: where is_terminal is never true, a"
        " solve finds that out only when it has met all states"
    )


def repeated(rules: Rules, games: Iterable[RandomGame]) -> int | None:
    """A state that came again in one of the games, or one that symmetry makes equal to it; None if none did."""
    for game in games:
        visited = set()
        for key in map(rules.canonical, game.states):
            if key in visited:
                return int(key)
            visited.add(key)
    return None


def is_one_sided(rules: Rules, games: Iterable[RandomGame]) -> bool:
    """Whether the same player moves again after every move, as where the rules forget to pass the turn on."""
    again = [
        rules.same_mover(state, action, child)
        for game in games
        for state, action, child in zip(game.states, game.actions, game.states[1:], strict=False)
        if not rules.is_terminal(child)
    ]
    return bool(again) and all(again)


def summary(games: Sequence[RandomGame]) -> dict[str, Any]:
    """Count the games. Of those that ended, summarize their plies and the first player's results."""
    ended = [game for game in games if game.worth is not None]
    plies = [game.plies for game in ended]
    signs = [(game.worth > 0) - (game.worth < 0) for game in ended if game.worth is not None]
    return {
        "played": len(games),
        "ended": len(ended),
        "plies": {"shortest": min(plies), "mean": sum(plies) / len(plies), "longest": max(plies)} if plies else None,
        "first_player": {"win": signs.count(1), "draw": signs.count(0), "loss": signs.count(-1)},
    }
