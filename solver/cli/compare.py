"""`solver compare`."""

from __future__ import annotations

import click

from solver.base.errors import PositionError
from solver.base.kinds import WDL
from solver.book import game_of
from solver.cli.common import Bars, loading, number, print_options, tell, try_out
from solver.report import comparisons
from solver.rules.game import Rules
from solver.rules.reading import parse_position
from solver.search.comparison import MAX_NODES, compare
from solver.search.deepening import looks


@click.command("compare")
@click.argument("game")
@click.argument("position", default="start", metavar="[POSITION]")
@number("--depth", 1, 100, "Search 1 to N plies deep, by the rules' evaluate.")
@number("--nodes", 1, 10**9, f"Stop a search after this many nodes. Default: {MAX_NODES:,}.", default=MAX_NODES)
@print_options
def command(game: str, position: str, depth: int | None, nodes: int, as_json: bool, quiet: bool) -> None:
    """Compare the searches of the textbook on a game: nodes, tables, time.

    \b
    solver compare tic-tac-toe
    solver compare coins:15
    solver compare tree:exercise.json
    solver compare tic-tac-toe "b2 a2" --depth 5

    Minimax and alpha-beta search to the end of the game: without a table, with a table, and with equal positions by
    symmetry as one; with moves as they come, worst first and best first. Leaves are finished positions. Cuts are
    positions at which some moves were skipped. Values are wins, draws and losses, or margins, without distances.

    With --depth each search looks 1, 2, 3, ... plies ahead and evaluates the positions at which it stops. "deepening"
    is alpha-beta that tries the best move of the search before first, and counts all depths so far.
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
        answer = {"game": game, "position": position, "searches": comparisons.tallies(tallied)}
        tell(answer, lambda _: comparisons.compared(Rules(loaded, kind=WDL), tallied, nodes), as_json)
        return
    if not looked:
        raise click.UsageError(f"not even 1 ply is seen with {nodes} nodes: raise --nodes")
    answer = {"game": game, "position": position, "depths": comparisons.looks(rules, looked, state)}
    tell(answer, lambda _: comparisons.deepened(rules, looked, state, nodes), as_json)
