"""OpenSpiel's own games as players of ours know them: how a state of theirs is found, and which move is which.

A game that was explored as `openspiel:NAME` knows positions by their texts. Four games that both have are known by
their moves: `SHARED` gives for each the name of ours and our names of its moves. The moves of a state's history lead to
the same position here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import pyspiel

from solver.base.errors import ForeignBook, PositionError
from solver.games import OPENSPIEL
from solver.games.common.exploration import SECOND
from solver.play.player import Player
from solver.rules.game import Rules, game_text, load_game, own_method
from solver.rules.notation import legal_actions

EXPLORED = f"graph:{OPENSPIEL}"  # how the name of an explored game begins


class Reader(Protocol):
    """How a player of ours reads the states of one game of OpenSpiel."""

    def number(self, state: Any) -> int:
        """The player's state. Raises PositionError where there is none."""

    def actions(self, state: Any) -> dict[int, int]:
        """OpenSpiel's legal actions in its order, each with the player's."""

    def mover(self, state: Any) -> int:
        """Who is to move, 0 or 1."""


def reader_of(player: Player, game: Any) -> Reader:
    """Return how a player reads one of OpenSpiel's own games. Raises ForeignBook for a player of another game."""
    name, short = game_text(player.game), game.get_type().short_name
    if name.startswith(EXPLORED):
        if _spelled(name.removeprefix(EXPLORED)) == str(game):
            return _Explored(player)
    elif short in SHARED:
        ours = _rules(SHARED[short].name(game.get_parameters()))
        player.rules.check_same("the player", ours, f"take a player of {ours.name}", f"{game} is played by")
        return _Replayed(player.rules, SHARED[short])
    raise ForeignBook(f"the player is of {name}, the state of {game}: solve {OPENSPIEL}{game}")


@functools.lru_cache(maxsize=64)
def _rules(name: str) -> Rules:
    return Rules(load_game(name))


@functools.lru_cache(maxsize=64)
def _spelled(text: str) -> str:
    """A game of OpenSpiel as it writes it itself."""
    return str(pyspiel.load_game(text))


class _Explored:
    """By the texts of positions."""

    def __init__(self, player: Player) -> None:
        self.rules, self.find = player.rules, own_method(player.game, "parse_position")

    def number(self, state: Any) -> int:
        text = str(state)
        node = self.find(text + SECOND) if state.current_player() == 1 else None
        node = self.find(text) if node is None else node
        if node is None:
            raise PositionError(f"{text[:60]!r} is not a position of the player's book: solve {self.rules.name}")
        return int(node)

    def actions(self, state: Any) -> dict[int, int]:
        return {action: index for index, action in enumerate(state.legal_actions())}

    def mover(self, state: Any) -> int:
        player = state.current_player()
        return int(player) if player >= 0 else self.rules.mover(self.number(state))


class Shared(NamedTuple):
    """A game that both have: ours by OpenSpiel's parameters, and our name of a move by theirs."""

    name: Callable[[dict[str, Any]], str]
    move: Callable[[str, int], str]  # of their name, and the number of rows


def _turned(move: str, rows: int) -> str:
    """Squares with their rows counted from the other edge: theirs begins at the top."""
    squares = move.removesuffix("*")
    if squares == "pass":
        return squares
    pairs = zip(squares[::2], squares[1::2], strict=True)
    return "".join(f"{column}{rows + 1 - int(row)}" for column, row in pairs)


def _breakthrough(options: dict[str, Any]) -> str:
    return f"breakthrough:{options['columns']},{options['rows']},{2 if options['rows'] >= 6 else 1}"


SHARED = {
    "connect_four": Shared(
        lambda said: f"connect-four:{said['columns']},{said['rows']},{said.get('x_in_row', 4)}",
        lambda move, rows: str(int(move[1:]) + 1),  # x0
    ),
    "tic_tac_toe": Shared(
        lambda said: "tic-tac-toe",
        lambda move, rows: f"{'abc'[int(move[4])]}{3 - int(move[2])}",  # x(0,1)
    ),
    "breakthrough": Shared(_breakthrough, _turned),  # a7b6, a7b6* if it takes
    "othello": Shared(lambda said: "othello:8,8", _turned),  # d3, pass
}


class _Replayed:
    """By the moves of a state's history."""

    def __init__(self, rules: Rules, shared: Shared) -> None:
        self.rules, self.shared = rules, shared

    def number(self, state: Any) -> int:
        state_there, number = state.get_game().new_initial_state(), self.rules.game.initial()
        for action in state.history():
            number = self.rules.result(number, self._ours(state_there, number)[action])
            state_there.apply_action(action)
        if str(state_there) != str(state):
            raise PositionError("the state did not come from the start by its moves: play it from there")
        return int(number)

    def actions(self, state: Any) -> dict[int, int]:
        return self._ours(state, self.number(state))

    def mover(self, state: Any) -> int:
        return int(state.current_player())

    def _ours(self, state: Any, number: int) -> dict[int, int]:
        """OpenSpiel's legal actions, each with ours, at the same position."""
        rows, ours = state.get_game().get_parameters().get("rows", 8), legal_actions(self.rules, number)
        names = {action: self.shared.move(state.action_to_string(action), rows) for action in state.legal_actions()}
        return {action: ours[name] for action, name in names.items()}
