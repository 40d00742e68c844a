"""`solver cluster`."""

from __future__ import annotations

import click

from solver.cli.common import json_option, tell


@click.group("cluster")
def command() -> None:
    """Look after the nodes of a cluster, for solve --cluster.

    \b
    solver cluster check head:6379 --store /shared/solves
    solver cluster check auto my_game.py::Hexapawn:4,5 --store s3://bucket/solves
    """


@command.command("check")
@click.argument("address")
@click.argument("game", required=False)
@click.option("--store", required=True, metavar="URL", help="Folder or URL for the work of the solve.")
@json_option
def check(address: str, game: str | None, store: str, as_json: bool) -> None:
    """Check that every node can take part in a solve.

    \b
    solver cluster check head:6379 --store /shared/solves
    solver cluster check auto my_game.py::Hexapawn:4,5 --store s3://bucket/solves

    On each node a task reports the version of solverbook, the free memory and the clock. It reads a file that this
    machine writes to the store, and writes one itself. With GAME it also compares the rules. A solve does the same when
    it starts. If a node cannot take part, the exit code is 6.
    """
    from solver.cluster import nodes
    from solver.report.facts import facts_of
    from solver.solving.ways.whole import look

    found = look(address, store, game)
    tell(facts_of(found) if as_json else found, lambda all_nodes: "\n".join(map(nodes.line, all_nodes)), as_json)
    nodes.refuse(found)
