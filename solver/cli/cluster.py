"""`solver cluster`."""

from __future__ import annotations

import click

from solver.cli.common import json_option, tell


@click.group("cluster")
def command() -> None:
    """Look after the cluster that solve --cluster uses."""


@command.command("check")
@click.argument("address")
@click.argument("game", required=False)
@click.option("--store", required=True, metavar="URL", help="Where the solve keeps what is done.")
@json_option
def check(address: str, game: str | None, store: str, as_json: bool) -> None:
    """Say of each node whether it can take part in a solve, and what is wrong.

    A task on each node says its version of solverbook, its free memory and its clock, reads a file that this machine
    writes to the store, and writes one itself. With GAME it also compares the rules. A solve does the same when it
    starts. Exit code 6 if a node cannot take part.

    \b
    solver cluster check head:6379 --store /shared/solves
    solver cluster check auto my_game.py::Hexapawn:4,5 --store s3://bucket/solves
    """
    from solver.cluster import nodes
    from solver.report.facts import facts_of
    from solver.solving.ways.cluster import look

    found = look(address, store, game)
    tell(facts_of(found) if as_json else found, lambda all_nodes: "\n".join(map(nodes.line, all_nodes)), as_json)
    nodes.refuse(found)
