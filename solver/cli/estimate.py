"""`solver estimate`."""

from __future__ import annotations

from typing import Any

import click

from solver.book import game_of
from solver.cli import common
from solver.estimate.planning import Cluster, parse_cluster
from solver.report import estimates
from solver.report.facts import facts_of


@click.command("estimate")
@click.argument("game")
@common.number("--max-ply", 0, 1000, "Predict an opening book up to ply N.")
@click.option(
    "--cluster",
    type=common.Text("cluster", parse_cluster),
    metavar="NODES",
    help="Predict a solve on a cluster: nodes=64,cores=32,memory=256G,network=25G, or local:2.",
)
@common.symmetry_option
@common.seconds(
    "--seconds", 1, 1e5, "Time for the estimate, without compiling. Default: 60.", metavar="S", default=60.0
)
@click.option("--memory", type=common.SIZE, metavar="SIZE", help="Memory of the solve, for example 8G.")
@click.option("--wdl", is_flag=True, help="Predict solve --wdl --codec ranked. For games all of whose positions count.")
@common.workers_option
@common.print_options
def command(
    game: str, max_ply: int | None, cluster: Cluster | None, as_json: bool, quiet: bool, **options: Any
) -> None:
    """Predict the states, time, memory and disk of a solve.

    \b
    solver estimate connect-four:6,5
    solver estimate connect-four --max-ply 8
    solver estimate teeko --memory 1G
    solver estimate nine-mens-morris --wdl
    solver estimate connect-four:7,5 --cluster nodes=64,cores=32,memory=256G,network=25G,price=1.6

    The estimate counts states for most of --seconds and extrapolates the rest from samples. With --max-ply it counts
    the plies for half of that time and searches a random sample of the deepest ply. The disk is the peak of the solve.
    A game with cycles needs several times as much if memory is short, so give solve's --memory here too. The line below
    the time of the solve is about its book: `verify`, `pack` and, for some games, `trim --wdl --codec ranked`. All this
    is rough, by rates measured on a few games.

    With --cluster it predicts the time on so many nodes, tier by tier. Give the cores and memory of a node and the bits
    a second of its network; if you know them, also the bytes a second of the store (storage=40G) and the price of a
    node for an hour (price=1.6). local:2 is this machine with two workers. It takes the nodes' cores to be as fast as
    this machine's, and needs neither Ray nor a cluster.
    """
    from solver.estimate import estimation, planning

    if cluster is not None and max_ply is not None:
        raise click.UsageError("an opening book is made on one machine: leave --cluster or --max-ply out")
    if cluster is not None or max_ply is not None:
        if options.pop("memory") is not None:
            raise click.UsageError("--memory is that of an exhaustive solve on one machine: leave it out")
        if options.pop("wdl"):
            raise click.UsageError("--wdl is for an exhaustive solve on one machine: leave it out")
    with common.loading(quiet):
        rules = game_of(game)
    with common.Bars(quiet) as bars:
        answer: Any
        if cluster is not None:
            answer, text = planning.of_cluster(rules, cluster, progress=bars, **options), estimates.plan
        elif max_ply is not None:
            answer, text = estimation.of_opening(rules, max_ply, progress=bars, **options), estimates.opening
        else:
            answer, text = estimation.of_sweep(rules, progress=bars, **options), estimates.sweep
    common.tell({"game": game, **facts_of(answer)}, text, as_json)
