"""`solver play`."""

from __future__ import annotations

import random
import threading
from typing import Any

import click

from solver.cli.common import Seconds, game_option, in_words, open_source
from solver.errors import MissingState, PositionError
from solver.game import is_score_game
from solver.notation import format_action, parse_action, parse_position, show
from solver.player import SECONDS, Player

HELP = "a move, or: hint, undo, swap (sides), help, quit"


@click.command("play")
@click.argument("source", metavar="BOOK|GAME")
@click.option("--second", is_flag=True, help="Let the computer begin.")
@click.option("--from", "start", default="start", metavar="POSITION", help="Play from here.")
@click.option(
    "--budget", type=Seconds(0.001, 1e6), default=SECONDS, metavar="SECONDS", help="For each live search; 5."
)
@click.option(
    "--method",
    type=click.Choice(["best", "heuristic", "negamax"]),
    default="best",
    help="How the computer thinks: book and exact search, or the textbook's searches of limited depth.",
)
@click.option("--depth", type=click.IntRange(1, 100), default=4, metavar="PLIES", help="For heuristic, negamax; 4.")
@click.option(
    "--level",
    type=click.IntRange(1, 10),
    default=10,
    metavar="1..10",
    help="Below 10 it plays a second-best move now and then: nine times in ten at 1.",
)
@game_option
def command(
    source: str,
    second: bool,
    start: str,
    budget: float,
    method: str,
    depth: int,
    level: int,
    game_text: str | None,
) -> None:
    """Play against a book, or against a live search of a game.

    At the prompt: a move in the game's notation, or hint, undo, swap, help, quit.

    \b
    solver play connect-four-5x5.lmdb
    solver play tic-tac-toe --second
    solver play othello:6,4 --method heuristic --depth 6
    """
    book, game = open_source(source, game_text)
    player = Player(book if book is not None else game, game, seconds=budget)
    opponent = Opponent(player, method, depth, level)
    if method == "best":
        threading.Thread(target=player.prepare, daemon=True).start()
    Table(player, opponent, start, computer=0 if second else 1).play()


class Opponent:
    """How the computer chooses its moves."""

    def __init__(self, player: Player, method: str, depth: int, level: int) -> None:
        self.player, self.method, self.depth, self.level = player, method, depth, level
        if method == "heuristic":
            self.choose(player.game.initial())  # refuses a game without `evaluate` before the first move

    def choose(self, state: int) -> int:
        """An action. Raises MissingState, MethodError."""
        if self.level < 10 and random.random() * 10 < 10 - self.level:
            second_best = [move.action for move in self.player.analyse(state) if not move.best]
            if second_best:
                return second_best[0]
        if self.method == "best":
            return self.player.best(state)
        from solver.search import heuristic, negamax

        search: Any = heuristic.search if self.method == "heuristic" else negamax.search
        action: int = search(self.player.game, state, depth=self.depth).action
        return action


class Table:
    """One game in the terminal: the states so far and who moves for whom."""

    def __init__(self, player: Player, opponent: Opponent, start: str, computer: int) -> None:
        self.player = player
        self.opponent = opponent
        self.game = player.game
        first = parse_position(self.game, start)
        self.states = [first.state]
        self.movers = [self._mover(first.state, (first.ply or 0) % 2)]
        self.computer = computer

    def play(self) -> None:
        """Until the game is over or the person has had enough."""
        click.echo(show(self.game, self.states[-1]))
        while not self.game.is_terminal(self.states[-1]):
            if self.movers[-1] == self.computer:
                self._computer_moves()
            elif not self._person_moves():
                return
        click.echo(self._result())

    def _mover(self, state: int, otherwise: int) -> int:
        return self.game.to_move(state) if hasattr(self.game, "to_move") else otherwise

    def _apply(self, action: int) -> None:
        state = self.game.result(self.states[-1], action)
        self.movers.append(self._mover(state, 1 - self.movers[-1]))
        self.states.append(state)
        click.echo(show(self.game, state))

    def _computer_moves(self) -> None:
        state = self.states[-1]
        try:
            action = self.opponent.choose(state)
        except MissingState:
            action = next(iter(self.game.actions(state)))
            click.echo("the computer does not know what is best here: more --budget, or a book")
        click.echo(f"\ncomputer: {format_action(self.game, state, action)}")
        self._apply(action)

    def _person_moves(self) -> bool:
        """One command of the person; False to leave."""
        try:
            words = click.prompt("\nyour move", prompt_suffix="> ").strip()
        except click.Abort:  # end of input
            click.echo("\nbye")
            return False
        if words in ("quit", "q", "exit"):
            click.echo("bye")
            return False
        if words == "hint":
            self._hint()
        elif words == "undo":
            self._undo()
        elif words == "swap":
            self.computer = 1 - self.computer
        elif words in ("help", "?"):
            click.echo(HELP)
        else:
            self._try(words)
        return True

    def _try(self, text: str) -> None:
        try:
            self._apply(parse_action(self.game, self.states[-1], text))
        except PositionError as error:
            click.echo(str(error))

    def _hint(self) -> None:
        state = self.states[-1]
        for move in self.player.analyse(state):
            mark = "*" if move.best else " "
            words = in_words(move.value, is_score_game(self.game))
            click.echo(
                f"{mark} {format_action(self.game, state, move.action):6} {words}{'' if move.exact else ', not exact'}"
            )

    def _undo(self) -> None:
        """Back to the person's last decision."""
        person = 1 - self.computer
        earlier = [place for place, mover in enumerate(self.movers[:-1]) if mover == person]
        if not earlier:
            click.echo("nothing to take back")
            return
        del self.states[earlier[-1] + 1 :], self.movers[earlier[-1] + 1 :]
        click.echo(show(self.game, self.states[-1]))

    def _result(self) -> str:
        state = self.states[-1]
        utility = self.game.utility(state)
        if utility == 0:
            return "draw"
        winner = self.movers[-1] if utility > 0 else 1 - self.movers[-1]
        by = f" by {abs(utility)}" if is_score_game(self.game) else ""
        return f"{'the computer wins' if winner == self.computer else 'you win'}{by}"
