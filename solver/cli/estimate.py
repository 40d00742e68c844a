"""`solver estimate`."""

from __future__ import annotations

from typing import Any

import click

from solver.book.doors import game_of
from solver.cli.common import SIZE, Bars, Seconds, Text, loading, print_options, tell, workers_option
from solver.estimate.phases import Cluster, parse_cluster
from solver.report import estimates
from solver.report.facts import facts_of


@click.command("estimate")
@click.argument("game")
@click.option("--max-ply", type=click.IntRange(0, 1000), metavar="N", help="Of an opening book to ply N.")
@click.option(
    "--cluster",
    type=Text("cluster", parse_cluster),
    metavar="NODES",
    help="On a cluster: nodes=64,cores=32,memory=256G,network=25G, or local:2.",
)
@click.option("--no-symmetry", is_flag=True, help="Keep symmetric states apart.")
@click.option("--seconds", type=Seconds(1, 1e5), default=60.0, metavar="S", help="To spend on it, compiling apart; 60.")
@click.option("--memory", type=SIZE, metavar="SIZE", help="Of a solve with this: 8G.")
@workers_option
@print_options
def command(
    game: str,
    max_ply: int | None,
    cluster: Cluster | None,
    no_symmetry: bool,
    seconds: float,
    memory: int | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say beforehand how many states, how long, how much memory and disk solving a game will take.

    With --max-ply the plies are enumerated for half the given time and a random sample of the deepest is searched.
    Without it the states are counted for most of the time, and what is left is estimated from samples. Disk is what
    the solve takes at its peak: of a game with cycles several times as much where memory is short, so give the same
    --memory as to solve. The line below the time of the solve is for work on its book: `verify`, `pack` and, if the
    game has such a book, `trim --wdl --codec ranked`. These are rough, by rates measured on a few games.

    With --cluster it is the time of a solve on so many nodes, tier by tier: cores and memory of a node, the bits a
    second of its network, and if they are given the bytes a second of the store (storage=40G) and the price of a node
    for an hour (price=1.6). local:2 is this machine with two workers. The nodes' cores are taken to be as quick as this
    machine's. Neither Ray nor a cluster is needed for it.

    \b
    solver estimate connect-four --max-ply 8
    solver estimate connect-four:6,5
    solver estimate teeko --memory 1G
    solver estimate connect-four:7,5 --cluster nodes=64,cores=32,memory=256G,network=25G,price=1.6
    """
    from solver.estimate import estimation, planning

    if cluster is not None and max_ply is not None:
        raise click.UsageError("an opening book is made on one machine: leave --cluster or --max-ply out")
    if memory is not None and (cluster is not None or max_ply is not None):
        raise click.UsageError("--memory is that of an exhaustive solve on one machine: leave it out")
    with loading(quiet):
        rules = game_of(game)
    with Bars(quiet) as bars:
        options: dict[str, Any] = {
            "symmetry": not no_symmetry,
            "workers": workers,
            "seconds": seconds,
            "progress": bars,
        }
        if cluster is not None:
            found, text = facts_of(planning.of_cluster(rules, cluster, **options)), estimates.plan
        elif max_ply is not None:
            found, text = facts_of(estimation.of_opening(rules, max_ply, **options)), estimates.opening
        else:
            found, text = facts_of(estimation.of_sweep(rules, memory=memory, **options)), estimates.sweep
    tell({"game": game, **found}, text, as_json)
