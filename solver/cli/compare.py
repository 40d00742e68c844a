"""`solver compare`."""

from __future__ import annotations

import click

from solver.base.errors import PositionError
from solver.book.doors import game_of
from solver.cli.common import Bars, loading, print_options, tell, try_out
from solver.report import comparisons
from solver.rules.game import Rules
from solver.rules.notation import parse_position
from solver.search.comparison import NODES, compare
from solver.search.deepening import looks


@click.command("compare")
@click.argument("game")
@click.argument("position", default="start", metavar="[POSITION]")
@click.option(
    "--depth", type=click.IntRange(1, 100), metavar="N", help="Searches 1 to N plies deep, by the rules' evaluate."
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 10**9),
    default=NODES,
    metavar="N",
    help=f"Give a search up after so many; {NODES:,}.",
)
@print_options
def command(game: str, position: str, depth: int | None, nodes: int, as_json: bool, quiet: bool) -> None:
    """Compare the textbook's searches on a game: nodes, tables, time.

    To the end of the game: minimax and alpha-beta, without a table, with one, with symmetric states as one in it; moves
    as they come, the worst first, the best first. Leaves are the positions looked at in which the game is over, cuts
    those of which moves were left out. Values are wins, draws and losses, or margins; how soon is not asked.

    With --depth: what a search sees 1, 2, 3 plies ahead, where it is cut off and how the rules evaluate what is there.
    "deepening" is alpha-beta that tries first what was best one ply before, all depths so far together.

    \b
    solver compare tic-tac-toe
    solver compare coins:15
    solver compare tree:exercise.json
    solver compare tic-tac-toe "b2 a2" --depth 5
    """
    with loading(quiet):
        loaded = game_of(game)
    try_out(game, loaded)
    rules = Rules(loaded)
    state = parse_position(loaded, position).state
    if rules.is_terminal(state):
        raise PositionError(f"{position}: the game is over there: name a position with moves")
    with Bars(quiet) as bars:
        if depth is None:
            tallied = list(compare(loaded, state, nodes=nodes, progress=bars))
        else:
            looked = list(looks(loaded, state, depth=depth, nodes=nodes, progress=bars))
    if depth is None:
        told = {"game": game, "position": position, "searches": comparisons.tallies(tallied)}
        tell(told, lambda _: comparisons.compared(Rules(loaded, wdl=True), tallied, nodes), as_json)
        return
    if not looked:
        raise click.UsageError(f"not even 1 ply is seen with {nodes} nodes: raise --nodes")
    told = {"game": game, "position": position, "depths": comparisons.looks(rules, looked, state)}
    tell(told, lambda _: comparisons.deepened(rules, looked, state, nodes), as_json)
