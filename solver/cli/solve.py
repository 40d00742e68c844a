"""`solver solve`."""

from __future__ import annotations

import functools
import json
from typing import Any

import click

from solver.base.errors import GameError
from solver.base.kinds import AUTO, METHODS, Method
from solver.book import game_of
from solver.cli import common
from solver.cli.info import report


@click.command("solve")
@click.argument("game")
@common.output("book", "Write the book here.", required=False)
@common.choice(
    "--method",
    METHODS,
    "; ".join(f"{method}: {method.facts.about}" for method in Method if method.facts.about) + ".",
    default=AUTO,
)
@common.number("--max-ply", 0, 1000, "Make an opening book: all unfinished states up to ply N.")
@click.option(
    "--wdl", is_flag=True, help="Omit distances: a smaller book, found in less memory. Opening books are found faster."
)
@click.option(
    "--conversion",
    is_flag=True,
    help="As --wdl, but keep the plies to the next capture, or other move that raises the tier: by them a player"
    " finishes wins. For games with cycles whose rules take moves back.",
)
@common.symmetry_option
@common.memory_option
@click.option(
    "--table",
    type=common.SIZE,
    metavar="SIZE",
    help="Memory of alpha-beta's table. Default: 64M. Larger is not always faster.",
)
@click.option("--restart", is_flag=True, help="Discard the work of an interrupted solve.")
@common.seconds(
    "--checkpoint",
    0,
    86_400,
    "Seconds between checkpoints; longer if a checkpoint takes long. Default: 30; 45 in passes over games with"
    " cycles; 1 on a cluster.",
    metavar="S",
)
@click.option("--anyway", is_flag=True, help="Solve even if the disk seems too small.")
@common.codec_option
@common.workers_option
@click.option(
    "--cluster",
    metavar="WHERE",
    help="Solve on Ray: local or local:N workers of this machine, auto, host:6379 or ray://host:10001.",
)
@click.option("--store", metavar="URL", help="Folder or URL for the work of a cluster; all its nodes must reach it.")
@click.option("--pruned", is_flag=True, help="For a tree: print the leaves that alpha-beta never looks at.")
@click.option(
    "--trace", is_flag=True, help="Print every node as alpha-beta comes to it, and the tree. For trees and small games."
)
@click.option("--from", "start", default="start", metavar="POSITION", help="With --trace: begin at this position.")
@click.option("--plot", type=click.Path(), metavar="FILE", help="With --trace: draw the tree, .png or .svg.")
@common.print_options
def command(
    game: str,
    book: str | None,
    pruned: bool,
    trace: bool,
    start: str,
    plot: str | None,
    as_json: bool,
    quiet: bool,
    **raw_options: Any,
) -> None:
    """Solve a game and write its book.

    \b
    solver solve connect-four:5,5 -o connect-four-5x5.lmdb
    solver solve connect-four:5,5 --codec compact -o connect-four-5x5.lmdb
    solver solve connect-four --method alphabeta --max-ply 8 -o c4-8.lmdb
    solver solve my_game.py::Hexapawn:4,4 -o hexapawn.lmdb
    solver solve connect-four:6,5 --cluster auto --store s3://bucket/solves -o c4-6x5.lmdb
    solver solve tree:exercise.json --trace --plot exercise.svg

    If a solve is interrupted, killed or out of disk, the same command goes on. Its work lies in BOOK.work until the
    book is complete. With --cluster it lies under --store, or in BOOK.shards.
    """
    from solver.base.options import Options

    bars, say = common.Bars(quiet), functools.partial(common.note, quiet=quiet)
    options = Options(progress=bars, say=say, **raw_options)
    if plot is not None and not trace:
        raise click.UsageError("--plot draws the numbers of --trace: give both, or omit --plot")
    if start != "start" and not trace:
        raise click.UsageError("--from is where --trace begins: give both, or omit --from")
    if pruned or trace:
        from solver.solving.pipeline import refuse_ignored

        # No book is made, and a tree is searched
        given = {"output": book} | options._asdict() | {"no_symmetry": not options.symmetry}
        given["method"] = options.method not in (AUTO, Method.ALPHABETA)
        refuse_ignored("--trace" if trace else "--pruned", {"symmetry", "progress", "say"}, False, given)
        _print_visit(game_of(game), trace, plot, as_json, start)
        return
    if options.codec is not None and book is None:
        raise click.UsageError("--codec is how a book is written: name one with -o, or leave it out")
    from solver.solving.pipeline import run

    with bars:
        header = run(game, book, options)
    report(header, book, bars.seconds, as_json)


def _print_visit(game: Any, traced: bool, plot: str | None, as_json: bool, start: str) -> None:
    """Print the nodes that left-to-right alpha-beta visits in a tree, step by step if `traced`, and those it skips."""
    from solver.games.tree import Tree
    from solver.report import trees
    from solver.rules.game import Rules, game_text
    from solver.rules.reading import parse_position
    from solver.search.trace import trace, unfolded

    unfolding, rules, name = None, Rules(game, symmetry=False), game_text(game)
    if isinstance(game, Tree) and start != "start":
        raise click.UsageError("--from is for games: a tree is traced from its root")
    if not isinstance(game, Tree):
        if not traced:
            raise GameError("--pruned is for explicit trees: tree:exercise.json")
        position = parse_position(game, start)
        unfolding = unfolded(
            rules, position.state, rules.mover(position.state) if position.mover is None else position.mover
        )
        game = Tree.from_lists(unfolding.data, file=name)
    if traced:
        trees.check_steps(game)
    visit_trace = trace(game, game.payoff)
    facts = trees.facts(game, visit_trace, traced)
    if plot is not None:
        from solver.report.charts import draw_tree

        draw_tree(game, visit_trace, plot)
    if as_json:
        click.echo(json.dumps(facts))
        return
    lines = [*trees.steps(game, visit_trace), "", *trees.drawing(game, visit_trace), ""] if traced else []
    if unfolding is not None:
        lines = [*trees.boards(rules, unfolding, visit_trace), *lines]
    click.echo("\n".join([*lines, *trees.text(facts), *([] if traced else trees.unseen(facts))]))
