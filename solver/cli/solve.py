"""`solver solve`, `check`, `estimate`, `prove`, `grow`, `cluster` and `compare`: games searched."""

from __future__ import annotations

import functools
from typing import Any

import click

from solver import search
from solver.base import extras
from solver.base.errors import GameError, PositionError, UncompiledRules
from solver.base.kinds import AUTO, METHODS, WDL, Method
from solver.base.options import Options
from solver.book import game_of
from solver.book.solution import SIDES
from solver.check import conformance, playouts
from solver.cli import common
from solver.estimate import estimation, planning
from solver.report import searches
from solver.report.facts import facts_of
from solver.rules.game import Rules, game_text
from solver.rules.reading import parse_position
from solver.rules.width import USUAL
from solver.search import comparison, heuristic
from solver.solving import pipeline
from solver.solving.job import Job, contents_of
from solver.solving.ways import grown, plain, proof, whole


@click.command("solve")
@click.argument("game")
@common.output("book", "Write the book here.", required=False)
@common.choice(
    "--method",
    METHODS,
    "; ".join(f"{method}: {method.facts.about}" for method in Method if method.facts.about)
    + ". Default: the first that fits, but nimbers.",
    default=AUTO,
)
@common.number("--max-ply", 0, 1000, "Make an opening book: all unfinished states up to ply N.")
@common.flag("--wdl", "Omit distances: a smaller book, found in less memory. Opening books are found faster.")
@common.flag(
    "--conversion",
    "As --wdl, but keep the plies to the next capture, or other move that raises the tier. A player"
    " finishes wins by them. For games with cycles whose rules give unmoves (`parents`).",
)
@common.symmetry_option
@common.memory_option
@common.size("--table", "Memory of alpha-beta's transposition table. Default: 64M. Larger is not always faster.")
@common.flag("--restart", "Discard the work of an interrupted solve.")
@common.seconds(
    "--checkpoint",
    0,
    86_400,
    "Seconds between checkpoints; longer if a checkpoint takes long. Default: 30; 45 in passes over games with"
    " cycles; 1 on a cluster.",
    metavar="S",
)
@common.flag("--anyway", "Solve even if the disk seems too small.")
@common.codec_option
@common.workers_option
@click.option(
    "--cluster",
    metavar="WHERE",
    help="Solve on Ray: local or local:N workers of this machine, auto, host:6379 or ray://host:10001.",
)
@click.option("--store", metavar="URL", help="Folder or URL for the work of a cluster; all its nodes must reach it.")
@common.flag("--pruned", "For a tree: print the leaves that alpha-beta never looks at.")
@common.flag("--trace", "Print every node as alpha-beta comes to it, and the tree. For trees and small games.")
@click.option("--from", "start", metavar="POSITION", help="With --trace: begin at this position of a game.")
@common.number("--depth", 1, 100, "With --trace: look N plies ahead in a game, and stop by the rules' evaluate.")
@common.file("--plot", "With --trace: draw the tree, .png or .svg.")
@common.print_options
def solve_command(
    game: str,
    book: str | None,
    pruned: bool,
    trace: bool,
    start: str | None,
    depth: int | None,
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
    bars, say = common.Bars(quiet), functools.partial(common.note, quiet=quiet)
    options = Options(progress=bars, say=say, **raw_options)
    for option, value in {"--plot": plot, "--from": start, "--depth": depth}.items():
        if value is not None and not trace:
            raise click.UsageError(f"{option} belongs to --trace: give both, or omit {option}")
    if pruned or trace:
        # No book is made, and a tree is searched
        given = {"output": book} | options._asdict() | {"no_symmetry": not options.symmetry}
        given["method"] = options.method not in (AUTO, Method.ALPHABETA)
        pipeline.refuse_ignored("--trace" if trace else "--pruned", {"symmetry", "progress", "say"}, False, given)
        _print_visit(game_of(game), trace, plot, as_json, start, depth)
        return
    if options.codec is not None and book is None:
        raise click.UsageError("--codec is how a book is written: name one with -o, or leave it out")
    with bars:
        header = pipeline.run(game, book, options)
    common.report(header, book, bars, as_json)


def _print_visit(
    game: Any, traced: bool, plot: str | None, as_json: bool, start: str | None, depth: int | None
) -> None:
    """Print the nodes that left-to-right alpha-beta visits in a tree, step by step if `traced`, and those it skips."""
    from solver.games.tree import Tree
    from solver.report import charts, trees
    from solver.rules.notation import names_of

    names, rules, name = None, Rules(game, symmetry=False), game_text(game)
    if isinstance(game, Tree) and (start or depth):
        raise click.UsageError("--from and --depth are for games: a tree is traced from its root to its leaves")
    if not isinstance(game, Tree):
        if not traced:
            raise GameError("--pruned is for explicit trees: tree:exercise.json")
        position = parse_position(game, start or "start")
        mover = rules.mover(position.state) if position.mover is None else position.mover
        data, nodes = comparison.unfolded(rules, position.state, mover, depth)
        game = Tree.from_lists(data, file=name)
        names = [[*names_of(rules, position.state, moves)] for _, moves in nodes]
    if traced:
        trees.check_steps(game)
    visit_trace = comparison.trace(game, game.payoff)
    facts = trees.facts(game, visit_trace, traced, names)
    if plot is not None:
        charts.draw_tree(game, visit_trace, plot)
    lines = [*trees.steps(game, visit_trace, names), "", *trees.drawing(game, visit_trace), ""] if traced else []
    if names is not None:
        lines += trees.boards(rules, nodes, visit_trace, names)
    lines += [*trees.text(facts), *([] if traced else trees.unseen(facts))]
    common.tell(facts, lambda _: "\n".join(lines), as_json)


@click.command("check")
@click.argument("game")
@click.option("--seed", type=int, default=0, metavar="N", help="Choose other random games. Default: 0.")
@common.flag("--quick", "Play random games only; solve and compile nothing.")
@common.flag("--show boards", "Print one of the random games, board by board.")
@common.print_options
def check_command(game: str, seed: int, quick: bool, boards: bool, as_json: bool, quiet: bool) -> None:
    """Check rules before you solve the game.

    \b
    solver check my_game.py
    solver check my_game.py::Hexapawn:4,4 --show

    The check plays random games and finds broken promises. Then it does what solve does first: it solves a game that
    takes plain Python less than a second, and compiles the rules of larger ones and compares them with plain Python.
    If something is wrong, you get the state and exit code 2. docs/reference/rules.md tells how to write rules.
    """
    if boards and as_json:
        raise click.UsageError("--show prints boards: leave --json out")
    with common.loading(quiet):
        rules = Rules(game_of(game))
    with common.Bars(quiet) as progress:
        # wide states are in opening books alone
        options = Options(progress=progress, max_ply=1 if rules.bits > USUAL else None)
        job = Job(rules, None, options, contents=contents_of(rules, options))
        pipeline.refuse(job, pipeline.way_of(job))
        games = conformance.random_games(rules.game, seed=seed, progress=progress)
        plain.refuse_repeated(rules, games)
        # The first steps of a solve: values in plain Python, or the rules compiled
        facts = searches.check_facts(rules, games) | {"solved": None, "compiled": None, "reason": "--quick"}
        outcome = None if quick or rules.bits > USUAL else plain.tried(job)
        if outcome is not None:
            facts["solved"] = sum(tier.states for tier in outcome.solved.tiers)
            facts["reason"] = "so small a game is solved in plain Python"
        elif not quick:
            progress("compile", 0, 0)
            facts["compiled"], facts["reason"] = False, "the game says so" if rules.plain_only else None
            if not rules.plain_only and not extras.has_kernels():
                facts["reason"] = "pip install 'solverbook[solve]' to compile"
            elif not rules.plain_only:
                from solver.compiled import agreement

                try:
                    agreement.compare(rules.game, playouts.states_of(games))
                    facts["compiled"] = True
                except UncompiledRules as error:
                    facts["reason"] = str(error)
        job.refuse_changed()
    common.tell(facts, searches.check_text, as_json)
    if boards:
        click.echo(searches.boards(rules, games))
    common.note(playouts.endless(games), quiet)


@click.command("estimate")
@click.argument("game")
@common.number("--max-ply", 0, 1000, "Predict an opening book up to ply N.")
@click.option(
    "--cluster",
    type=common.Text("cluster", planning.parse_cluster),
    metavar="NODES",
    help="Predict a solve on a cluster: nodes=64,cores=32,memory=256G,network=25G, or local:2.",
)
@common.symmetry_option
@common.seconds(
    "--seconds", 1, 1e5, "Time for the estimate, without compiling. Default: 60.", metavar="S", default=60.0
)
@click.option("--memory", type=common.SIZE, metavar="SIZE", help="Memory of the solve, for example 8G.")
@common.flag("--wdl", "Predict solve --wdl --codec ranked. For games all of whose positions count.")
@common.workers_option
@common.print_options
def estimate_command(
    game: str, max_ply: int | None, cluster: planning.Cluster | None, as_json: bool, quiet: bool, **options: Any
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
    the time of the solve has the times of `verify`, `pack` and, for some games, `trim --wdl --codec ranked`. All this
    is rough: it rests on rates measured on a few games.

    With --cluster it predicts the time on so many nodes, tier by tier. Give the cores and memory of a node and the bits
    a second of its network; if you know them, also the bytes a second of the store (storage=40G) and the price of a
    node for an hour (price=1.6). local:2 is this machine with two workers. It takes the nodes' cores to be as fast as
    this machine's, and needs neither Ray nor a cluster.
    """
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
            answer, text = planning.of_cluster(rules, cluster, progress=bars, **options), searches.plan_text
        elif max_ply is not None:
            answer, text = estimation.of_opening(rules, max_ply, progress=bars, **options), searches.opening_text
        else:
            answer, text = estimation.of_sweep(rules, progress=bars, **options), searches.sweep_text
    common.tell({"game": game, **facts_of(answer)}, text, as_json)


@click.command("prove")
@click.argument("game")
@common.output("book", "Write the proof book here.", required=False)
@click.option("--from", "position", metavar="POSITION", help="Prove this position. Default: the start.")
@common.choice("--for side", SIDES, "Whose moves the book holds. Default: the winner's; in a draw, both players'.")
@common.choice(
    "--method",
    [AUTO, Method.ALPHABETA.value, Method.PROOF_NUMBER.value],
    "auto: both search in turns, until one of them has proved it.",
    default=AUTO,
)
@click.option("--time", "seconds", type=common.DURATION, metavar="TIME", help="Give up after this time: 2h, 30m, 90s.")
@click.option("--table", type=common.SIZE, metavar="SIZE", help="Memory of the searches' tables. Default: 1G.")
@common.memory_option
@common.flag("--restart", "Discard the work of an interrupted proof.")
@common.seconds("--checkpoint", 0, 86_400, "Seconds between checkpoints of the search. Default: 120.", metavar="S")
@common.symmetry_option
@common.codec_option
@common.print_options
def prove_command(game: str, book: str | None, position: str | None, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Prove who wins a game that is too large to solve, and write one side's answers.

    \b
    solver prove hex:5 -o hex-5.lmdb
    solver prove connect-four:6,5 -o c4-6x5.lmdb
    solver prove connect-four:6,5 --for first -o c4-6x5-first.lmdb
    solver prove domineering:7,7 --time 2h -o domineering-7x7.lmdb
    solver prove connect-four:6,5 --from 33 -o c4-33.lmdb

    The book holds an answer to every reply of the other side, and little else. Values are win, draw or loss, without
    distances. `solver verify BOOK --play` proves the book by the rules alone. `query`, `play` and `export` take it like
    any book that leaves positions out.

    For games with tiers and without chance or margins. The same command gives the same bytes; another --table may give
    other moves. If the search is interrupted, or out of --time (exit code 7), the same command goes on: its work is in
    BOOK.proof.
    """
    bars = common.Bars(quiet)
    way = {name: asked.pop(name) for name in ("side", "method", "seconds")}
    options = Options(progress=bars, say=functools.partial(common.note, quiet=quiet), **asked)
    played = None if position is None else parse_position(game_of(game), position)
    with bars:
        header = pipeline.run(game, book, options, proof.Proving(position=played and played.state, **way))
    if book is not None:
        common.report(header, book, bars, as_json)
        return
    verdict = header.kind.verdict(header.root) if played is None else f"{header.root.leaning} for the side to move"
    seconds = bars.seconds
    facts = {"game": header.game, "method": header.method, "score": header.root.score, "seconds": seconds}
    common.tell(facts, lambda _: f"{header.game}: {verdict}, by {header.method} in {seconds:.1f} s", as_json)


@click.command("grow")
@click.argument("game")
@common.output("book", "Write the book here, or let it grow.")
@common.number("--positions", 1, 10**9, "Stop at this number of positions.")
@click.option("--time", "seconds", type=common.DURATION, metavar="TIME", help="Stop after this time: 2h, 30m, 90s.")
@common.number("--depth", 1, 99, "Depth of the searches that estimate. Default: 8.")
@common.number("--exact", 1, 10**12, "Nodes of each exact search. Default: 32,768.")
@common.evaluate_option
@common.file("--add", "Add the positions of these games first.", type=common.EXISTING)
@common.choice("--for side", ["first", "second"], "Expand only the best moves of this side.")
@common.seconds("--error", 0, 1e6, "Follow moves that lose at most this. Default: 0.1; of margins 1.", metavar="E")
@common.symmetry_option
@common.flag("--restart", "Begin anew, even if the file has a book.")
@common.seconds("--checkpoint", 0, 86_400, "Seconds between two writes of the book. Default: 30.", metavar="S")
@common.codec_option
@common.workers_option
@common.print_options
def grow_command(game: str, book: str, add: str | None, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Grow an opening book of a game that is too large to solve.

    \b
    solver grow connect-four -o c4.lmdb --positions 10000
    solver grow othello:6,6 -o othello.lmdb --evaluate othello.eval --time 2h --depth 10
    solver grow breakthrough:5,6 -o bt.lmdb --add games.txt --for first --positions 50000

    It expands first the positions that best play reaches, then those of moves that cost little. A value is exact if a
    search comes to the end of the game. Otherwise it is an estimate, by a search of --depth plies; each value says
    which. If exact search soon ends in your game, give it more: with --exact 4000000 nodes, at most a second of one
    core, it solves most positions of connect-four six plies from the start.

    An existing book grows further, and an interrupted one goes on. The same command gives the same bytes for any
    --workers, except with --time.
    """
    if asked["positions"] is None and asked["seconds"] is None:
        raise click.UsageError("give a limit: --positions N, --time 2h, or both")
    bars, say = common.Bars(quiet), functools.partial(common.note, quiet=quiet)
    games = () if add is None else tuple(common.games_of(add))
    way = grown.Growing(
        games=games, **{name: asked.pop(name) for name in grown.Growing.__annotations__ if name in asked}
    )
    options = Options(progress=bars, say=say, **asked)
    with bars:
        header = pipeline.grow(game, book, way, options)
    if way.positions is not None and header.stored < way.positions and way.seconds is None:
        common.note("all play within --error is in the book, or known: allow more", quiet)
    common.report(header, book, bars, as_json)


@click.group("cluster")
def cluster_command() -> None:
    """Look after the nodes of a cluster, for solve --cluster.

    \b
    solver cluster check head:6379 --store /shared/solves
    solver cluster check auto my_game.py::Hexapawn:4,5 --store s3://bucket/solves
    """


@cluster_command.command("check")
@click.argument("address")
@click.argument("game", required=False)
@click.option("--store", required=True, metavar="URL", help="Folder or URL for the work of the solve.")
@common.json_option
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

    found = whole.look(address, store, game)
    common.tell(facts_of(found) if as_json else found, lambda all_nodes: "\n".join(map(nodes.line, all_nodes)), as_json)
    nodes.refuse(found)


@click.command("compare")
@click.argument("game")
@click.argument("position", default="start", metavar="[POSITION]")
@common.number("--depth", 1, 100, "Search 1 to N plies deep, by the rules' evaluate.")
@common.number(
    "--nodes",
    1,
    10**9,
    f"Stop a search after this many nodes. Default: {search.MAX_NODES:,}.",
    default=search.MAX_NODES,
)
@common.print_options
def compare_command(game: str, position: str, depth: int | None, nodes: int, as_json: bool, quiet: bool) -> None:
    """Compare the searches of the textbook on a game: nodes, tables, time.

    \b
    solver compare tic-tac-toe
    solver compare coins:15
    solver compare tree:exercise.json
    solver compare tic-tac-toe "b2 a2" --depth 5

    Minimax and alpha-beta search to the end of the game: without a transposition table, with one, and with symmetric
    positions as one; with moves as the rules list them, worst first and best first. Nodes are the positions visited; a
    value taken from the table does not count. Leaves are finished positions. Cuts are positions at which some moves
    were skipped. Values are wins, draws and losses, or margins, without distances.

    With --depth each search looks 1, 2, 3, ... plies ahead and evaluates the positions at which it stops. "deepening"
    is alpha-beta that tries first the best move of the previous depth. Its count is of all depths so far.
    """
    with common.loading(quiet):
        rules = Rules(game_of(game))
    common.try_out(game, rules.game)
    state = parse_position(rules.game, position).state
    if rules.is_terminal(state):
        raise PositionError(f"{position}: the game is over there: name a position with moves")
    with common.Bars(quiet) as bars:
        if depth is None:
            tallied = list(comparison.compare(rules.game, state, nodes=nodes, progress=bars))
        else:
            looked = list(heuristic.looks(rules.game, state, depth=depth, nodes=nodes, progress=bars))
    if depth is None:
        answer = {"game": game, "position": position, "searches": searches.tallies(tallied)}
        common.tell(answer, lambda _: searches.compared(Rules(rules.game, kind=WDL), tallied, nodes), as_json)
        return
    if not looked:
        raise click.UsageError(f"not even 1 ply is seen with {nodes} nodes: raise --nodes")
    answer = {"game": game, "position": position, "depths": searches.looks(rules, looked, state)}
    common.tell(answer, lambda _: searches.deepened(rules, looked, state, nodes), as_json)
