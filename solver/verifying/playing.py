"""Exhaustive play: the result that a player gets from the start with a book, whatever the other plays.

The player's moves are those of `Player.choose`, the other's are all. So the game that is left is small; it is solved by
the plain algorithms, and its values are what the player gets at least. They rest on the rules alone: the book is
asked only for the player's moves, and its values are compared with the result. Both sides together prove the value of
the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.base import errors, kinds
from solver.base.progress import Progress, silent
from solver.base.value import Value, merit_of, value_of
from solver.book import Book
from solver.play.player import Player
from solver.rules.game import Rules
from solver.rules.notation import format_action
from solver.search import alphabeta, best_action, retrograde

PLAYERS = ("first", "second")


class Proof(NamedTuple):
    """A proof by play: the sides it is for, and the number of different positions in which they were to move."""

    sides: tuple[str, ...]
    positions: int


def prove(book: Book, game: Any, progress: Progress = silent, *, live: bool = True) -> Proof:
    """Play a book against every reply, for the sides that it serves, from each start; not `live` by the book alone.

    Raises DamagedBook with the moves that show it, if the player gets less than what the book says of the start or of
    any position in which the player came to move; MissingState if the book alone does not know how to go on.
    """
    book.header.kind.refuse("play", book.header.game)
    served = book.header.trim.side if book.header.trim is not None else None
    sides = PLAYERS if served in (None, "both") else (str(served),)
    player, positions = Player(book, game, seconds=None, live=live), 0
    rules = Rules(player.game, player.rules.symmetry, start=book.header.start)
    for side in sides:
        played = _Played(player, rules, PLAYERS.index(side), progress)
        table: Any
        try:
            table = alphabeta.minimax(played).table
        except errors.MethodError:
            table = retrograde.solve(played).table
        for node, merit in table.items():
            position, is_own = node
            stated = book.find(player.canonical(position)) if is_own else None
            if node == played.initial():
                stated = book.header.root
            if stated is None or player.rules.is_terminal(position):
                continue
            got = book.header.kind.kept(value_of(merit, played.score_game))
            less = merit_of(got) < merit_of(stated)
            if less if is_own else merit_of(got) > merit_of(stated):
                raise errors.DamagedBook(_shown(book, played, table, node, stated, got))
        positions += len(played.chosen)
    return Proof(sides, positions)


class _Played:
    """The game in which one side has the player's moves only; a state is that of the game and whether it is its turn.

    To be solved by the plain algorithms, which take any hashable states.
    """

    def __init__(self, player: Player, rules: Rules, side: int, progress: Progress) -> None:
        self.player, self.rules, self.side, self.progress = player, rules, side, progress
        self.score_game = self.rules.scores
        if self.rules.kind is kinds.MARGIN:
            self.endless = lambda state: self.rules.endless(state[0])
        self.chosen: dict[Any, int] = {}
        if self.rules.reward is not None:
            self.reward = lambda state, action: self.rules.gain(state[0], action)

    def _node(self, state: int) -> tuple[int, bool]:
        return state, self.rules.mover(state) == self.side

    def initial(self) -> tuple[int, bool]:
        return self._node(self.rules.first())

    def starts(self) -> Iterator[tuple[int, bool]]:
        yield from map(self._node, self.rules.roots())

    def actions(self, state: tuple[int, bool]) -> Iterator[int]:
        position, is_own = state
        if not is_own:
            yield from self.rules.actions(position)
            return
        action = self.chosen.get(position)
        if action is None:
            action = self.chosen[position] = self.player.best(position)
            self.progress("play", len(self.chosen), None)
        yield action

    def result(self, state: tuple[int, bool], action: int) -> tuple[int, bool]:
        position, is_own = state
        child = self.rules.result(position, action)
        return child, is_own == self.rules.same_mover(position, action, child)

    def is_terminal(self, state: tuple[int, bool]) -> bool:
        return self.rules.is_terminal(state[0])

    def utility(self, state: tuple[int, bool]) -> int:
        return int(self.rules.utility(state[0]))

    def plies_left(self, state: tuple[int, bool]) -> int:
        return self.rules.plies_left(state[0])

    def to_move(self, state: tuple[int, bool]) -> int:
        return int(state[1])

    def tier(self, state: tuple[int, bool]) -> int:
        return self.rules.tier(state[0])


def _shown(book: Book, played: _Played, table: Any, node: Any, stated: Value, got: Value) -> str:
    """Moves from the start to the position in which the player gets less than the book says, and on to the end."""
    game = played.rules.game
    before: dict[Any, tuple[Any, int]] = {}
    todo = [played.initial(), *played.starts()]
    roots = set(todo)
    # Breadth first: the list grows
    for state in todo:
        if state == node:
            break
        if not played.is_terminal(state):
            for action in played.actions(state):
                child = played.result(state, action)
                if child not in before and child not in roots:
                    before[child] = state, action
                    todo.append(child)
    line: list[str] = []
    state = node
    while state in before:
        state, action = before[state]
        line.append(format_action(game, state[0], action))
    start = "" if state == played.initial() else f" from #{state[0]}"
    line.reverse()
    # The player's moves and the best replies to them, to the end of the game or to where it repeats
    rules, after, visited = Rules(played), list[str](), set[Any]()
    while node not in visited and (action := best_action(rules, node, table.__getitem__)) is not None:
        visited.add(node)
        after.append(format_action(game, node[0], action))
        node = played.result(node, action)
    moves_text = " ".join(line) or "the start"
    return (
        f"{book.path}: played by the {PLAYERS[played.side]} player{start}, {moves_text} is said to be {stated.words()}"
        f" for the side to move, but becomes {got.words()} by {' '.join(after)}: solve again"
    )
