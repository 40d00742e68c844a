"""`solver play`."""

from __future__ import annotations

import random
from typing import Any

import click

from solver.base.errors import MissingState, PositionError
from solver.cli import common
from solver.play.analysis import OPPONENT, nearly_best
from solver.play.live import SHORT
from solver.play.player import METHODS, Player
from solver.play.practical import LEVELS, Level, level_of
from solver.rules import notation, reading
from solver.rules.game import game_text
from solver.search import heuristic

WHITE = " \t\r\n\ufeff"  # moves may come from a file with a byte-order mark
COMMANDS = "hint, undo, swap (sides), help, quit"


@click.command("play")
@click.argument("source", metavar="BOOK|GAME")
@common.flag("--second", "Let the computer move first.")
@click.option("--from", "start", default="start", metavar="POSITION", help="Start from this position.")
@common.budget_option
@common.choice(
    "--method",
    ["best", "practical", "heuristic", "negamax"],
    "best: book and exact search. practical: of equal moves the hardest to answer. heuristic, negamax: the"
    " textbook's searches of limited depth.",
    default="best",
)
@common.number("--depth", 1, 100, "Depth of heuristic and negamax. Default: 4.", metavar="PLIES", default=4)
@common.opponent_option
@click.option(
    "--level",
    type=common.Text("level", level_of),
    default="perfect",
    metavar="LEVEL",
    help=f"Strength: {', '.join(LEVELS)}, or 1 to 10. A weaker computer errs more often, and sees fewer plies.",
)
@common.seconds(
    "--variety",
    0,
    1e6,
    "Choose at random among moves that give away at most V: a share of a win, or points.",
    metavar="V",
    default=0.0,
)
@click.option("--seed", type=int, metavar="N", help="Repeat the same dice and the same random choices.")
@common.evaluate_option
@common.module_option
@common.live_option
@common.game_option
@common.quiet_option
def play_command(
    source: str,
    second: bool,
    start: str,
    method: str,
    depth: int,
    opponent: int | None,
    level: Level,
    variety: float,
    seed: int | None,
    live: bool,
    own: str | None,
    quiet: bool,
    **search: Any,
) -> None:
    """Play against a book, or against a live search.

    \b
    solver play connect-four-5x5.lmdb
    solver play tic-tac-toe --second
    solver play othello:6,4 --method heuristic --depth 6

    Type a move as the game writes it, or hint, undo, swap, help, quit. A GAME uses the book that comes with the
    package. If no book knows the position, the computer searches within the budget, and says if it does not see the
    end. It throws dice and draws cards for both sides.
    """
    if search["evaluate"] is not None and method == "negamax":
        raise click.UsageError("negamax asks the rules' own evaluate: --evaluate goes with --method best or heuristic")
    opened = common.open_source(source, own, live=live, quiet=quiet)
    if opponent is not None and method != "practical":
        raise click.UsageError("--opponent is whom practical play expects: add --method practical")
    player = Player(
        opened,
        method="practical" if method == "practical" else "best",
        opponent=OPPONENT if opponent is None else opponent,
        **search,
    )
    if variety and method != "best":
        raise click.UsageError("--variety is among moves that are all valued: it goes with --method best")
    chance = random.Random(seed)
    computer = Opponent(player, method, depth, level, variety, chance)
    table = Table(player, computer, start, computer=0 if second else 1, dice=chance)
    # Most others have cycles
    if method in METHODS and search["seconds"] > SHORT and player.rules.tiered:
        player.prepare(wait=False)
    # Who plays, how strong, and which input is expected
    how = f"level {level.name}" + (", practical" if method == "practical" else "")
    if method not in METHODS:
        how += f", {method} of depth {depth}"
        how += f" by {player.foresight.name}" if player.foresight.evaluation is not None else ""
    else:
        how += f", from {opened.book.path}" if opened.book is not None else ""
        how += f", searching live, {search['seconds']:g} s at most a move" if player.live else ""
    sides = "you begin" if table.mover != table.computer else "the computer begins"
    click.echo(f"{game_text(table.game)}: {sides} ({how})\nType a move{table.such_as()}, or {COMMANDS}.\n")
    table.play()


class Opponent:
    """How the computer chooses its moves."""

    def __init__(
        self, player: Player, method: str, depth: int, level: Level, variety: float, chance: random.Random
    ) -> None:
        self.player, self.method, self.depth, self.level = player, method, depth, level
        self.variety, self.chance = variety, chance
        if method == "heuristic" and player.foresight.name is None:
            heuristic.estimates_of(player.rules)  # raises without any

    def choose(self, state: int) -> tuple[int, bool]:
        """An action, and whether it is known to be as good as can be, or chosen as it should. Raises MissingState."""
        slip = self.level.slip(self.player, state, self.chance)
        if slip is not None:
            return slip, True
        if self.variety:
            move = self.chance.choice(nearly_best(self.player.analyse(state), self.variety))
            return move.action, move.value is not None or move.estimate is not None
        if self.method in METHODS:
            move = self.player.choose(state)
            return move.action, move.best or (move.value is not None and move.value.score > 0)
        if self.method == "heuristic":
            result = self.player.foresight.search(state, self.depth)
        else:
            result = heuristic.negamax(self.player.game, state, depth=self.depth)
        assert result.action is not None
        return result.action, True


class Table:
    """One game in the terminal: the positions so far and who moves for whom."""

    def __init__(self, player: Player, opponent: Opponent, start: str, computer: int, dice: random.Random) -> None:
        self.player = player
        self.opponent = opponent
        self.game = player.game
        position, rules = reading.parse_position(self.game, start), player.rules
        # Unknown facts about the moves before count as none
        mover = rules.mover(position.state) if position.mover is None else position.mover
        gained = 0 if position.gained is None and rules.reward is not None else position.gained
        self.positions: list[notation.Position] = [position._replace(mover=mover, gained=gained)]
        player.check(self.state)
        self.computer: int = computer
        self.dice = dice
        self._owned_up = False

    def play(self) -> None:
        """Until the game is over or the person has had enough."""
        self._show()
        while not self.game.is_terminal(self.state):
            outcomes, faces = notation.chances(self.game, self.state), list[str]()
            if outcomes:
                faces = notation.faces(self.game, len(outcomes))
                (number,) = self.dice.choices(range(len(outcomes)), [weight for weight, _ in outcomes])
                name = notation.format_action(self.game, self.state, number)
                suffix = f" ({faces[number]})" if faces and faces[number] != name else ""
                click.echo(f"\nchance: {name} of {len(outcomes)}{suffix}")
                self._apply(number)
            elif self.mover == self.computer:
                state = self.state
                try:
                    with common.thinking(self.player.seconds or 0.0, quiet=self.opponent.method not in METHODS):
                        action, known = self.opponent.choose(state)
                    remark = "the computer does not see the end from here"
                except MissingState:
                    action, known = random.choice(list(self.game.actions(state))), False
                    remark = "the computer sees nothing that decides the game, and moves at random"
                click.echo(f"\ncomputer: {notation.format_action(self.game, state, action)}")
                if not (known or self._owned_up):
                    self._owned_up = True
                    click.echo(f"({remark}: more --budget, or a book: solver solve {game_text(self.game)} -o BOOK)")
                self._apply(action)
            elif not self._person_moves():
                return
        margin = self.game.utility(self.state) + (self.positions[-1].gained or 0)
        winner = self.mover if margin > 0 else 1 - self.mover
        by = f" by {abs(margin)}" if self.player.rules.margins else ""
        result = f"{'the computer wins' if winner == self.computer else 'you win'}{by}" if margin else "draw"
        how = notation.format_end(self.game, self.state)
        click.echo(result + (f": {how}" if how else ""))

    @property
    def state(self) -> int:
        """Where play stands."""
        return self.positions[-1].state

    @property
    def mover(self) -> int:
        """Who is to move there, 0 or 1."""
        return self.positions[-1].mover or 0

    def such_as(self) -> str:
        """An example of a move at this point."""
        state = self.state
        if self.game.is_terminal(state) or notation.chances(self.game, state):
            return ""
        return f" such as {notation.format_action(self.game, state, next(iter(self.game.actions(state))))}"

    def _show(self) -> None:
        click.echo(notation.show(self.game, self.state, self.mover))
        gained = self.positions[-1].gained
        if gained is not None:
            leader = self.mover if gained > 0 else 1 - self.mover
            who = "the computer is" if leader == self.computer else "you are"
            click.echo(f"{who} {abs(gained)} ahead" if gained else "level so far")

    def _apply(self, action: int) -> None:
        self.positions.append(notation.next_position(self.player.rules, self.positions[-1], action))
        self._show()

    def _person_moves(self) -> bool:
        """One command of the person; False to leave."""
        try:
            words = click.prompt("\nyour move", prompt_suffix="> ").strip(WHITE)
        except UnicodeDecodeError:
            raise PositionError("standard input is not UTF-8: save the file as UTF-8") from None
        except click.Abort:  # end of input
            click.echo("\nbye")
            return False
        command = words.lower()
        if command in ("quit", "q", "exit"):
            click.echo("bye")
            return False
        state = self.state
        if command == "hint":
            with common.thinking(self.player.seconds or 0.0):
                moves = self.player.analyse(state)
            for move in moves:
                mark = "*" if move.best else " "
                words = notation.in_words(move.value, self.player.rules, move.estimate)
                common.echo_values(f"{mark} {notation.format_action(self.game, state, move.action):6} {words}")
        elif command == "undo":
            # Back to the person's last decision
            earlier = [
                index
                for index, position in enumerate(self.positions[:-1])
                if position.mover != self.computer and not notation.chances(self.game, position.state)
            ]
            if earlier:
                del self.positions[earlier[-1] + 1 :]
                self._show()
            else:
                click.echo("nothing to take back")
        elif command == "swap":
            self.computer = 1 - self.computer
        elif command in ("help", "?"):
            click.echo(f"a move{self.such_as()}, or {COMMANDS}")
        else:
            try:
                self._apply(notation.parse_action(self.game, state, words))
            except PositionError as error:
                click.echo(str(error))
        return True
