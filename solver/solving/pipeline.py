"""The pipeline: from a game to its solution and its book.

It chooses the way of solving and writes the book. The compiled sweep does the work where numba is installed; the plain
algorithms of `solver.search` do the same work otherwise, to the byte. The results of the sweep lie in a work folder
beside the book until the book is complete.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from solver.base.errors import GameError, MethodError, ResourceError, SolverError
from solver.base.extras import working_memory
from solver.base.kinds import AUTO, METHODS, NIMBER, Method, kind_asked
from solver.base.options import Options
from solver.base.progress import Progress, Say, listening, quiet, silent
from solver.book import Book, Header, Source, check_codec, game_of, streaming
from solver.book.codecs import DEFAULT, codec_of, rules_of
from solver.book.format import is_name
from solver.book.solution import TRIMMED
from solver.book.writer import check_target
from solver.check import conformance
from solver.rules.game import Rules, check_parameters, game_text
from solver.rules.loading import graph_in
from solver.rules.width import USUAL, refuse_wide, words_of
from solver.search.alphabeta import check_nimbers
from solver.solving.job import Job, Outcome, Way, contents_of
from solver.solving.ways import grown, imported, opening, plain, proof, whole

WAYS: tuple[Way, ...] = (whole.SWEEP, whole.CLUSTER, whole.ENTRIES, opening, plain, whole.TABLE)
KEPT_BESIDE_A_BOOK = ("restart", "checkpoint", "cluster")  # they mean nothing without one
MOST_TIERS = 1024  # a header lists no more
MOST_VALUES = 1 << 16  # nor counts more of them


def check_game(game: Source, *, playouts: int = 100, seed: int = 0) -> list[int]:
    """Look for broken promises of the rules in random games.

    Args:
        game: A game or its name; or a book or its path, whose game is checked by the rules of today.
        playouts: How many games to play. If the rules are slow, the games of the first five seconds.
        seed: The same seed plays the same games.

    Returns:
        The states that the games came through.

    Raises:
        GameError: The rules break a promise. The message names it, and the moves that led there.
    """
    rules, options = Rules(game_of(game)), Options()
    job = Job(rules, None, options, contents=contents_of(rules, options))
    states = conformance.check_game(rules.game, playouts=playouts, seed=seed)
    job.refuse_changed()
    return states


def solve(
    game: Source,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = AUTO,
    max_ply: int | None = None,
    symmetry: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    table: int | None = None,
    restart: bool = False,
    checkpoint: float | None = None,
    anyway: bool = False,
    codec: str | None = None,
    wdl: bool = False,
    conversion: bool = False,
    cluster: str | None = None,
    store: str | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Book:
    """Solve a game and return its book, open.

    An interrupted solve continues from its last checkpoint when you call it again with the same
    arguments. The book's bytes do not depend on `workers`, `memory`, `cluster` or interruptions.
    They do not depend on the compiled kernels either, except the entries of `method="alphabeta"`.

    Args:
        game: A game, or its name, such as "connect-four:4,4" or "my_game.py::Race:30"; or a book or its path, whose
            game is solved by the rules of today.
        path: Where to write the book. None for a temporary file, which is deleted when the book is
            closed, is no longer used, or the interpreter exits.
        method: How to solve.
            "auto": the first method below that fits, except "nimbers".
            "minimax": every reachable state, tier by tier; for games without cycles inside tiers.
            "retrograde": every reachable state of a game with cycles.
            "alphabeta": the exact entries of one search; with `max_ply`, an opening book.
            "nimbers": the nimber of every reachable state of an impartial game.
        max_ply: Last ply of an opening book. It holds every unfinished state up to there.
        symmetry: Store one state of each class of symmetric states, if the rules have `canonical`.
        workers: Threads. None for all cores.
        memory: Limit for the sweep in bytes. None for a share of what is free.
        table: Size of the search's transposition table in bytes.
        restart: Discard the results of an interrupted solve.
        checkpoint: Seconds between checkpoints. None for 30, or 1 on a cluster. Passes over tiers
            with cycles wait half as long again.
        anyway: Start even if the disk looks too small.
        codec: How values are encoded.
            "instant": the default; a look-up takes 1.5 microseconds.
            "compact": a quarter of the size, ten times the time.
            "ranked": smaller again; for games that number their states.
        wdl: Find wins, draws and losses without distances, in less memory or, in an opening book, sooner.
        conversion: The same with plies to a conversion, by which players finish wins: a move that raises the tier, such
            as a capture, or ends the game. For games with cycles whose rules have `parents` and number positions.
        cluster: Solve on Ray: "local", "local:4" (workers of this machine), "auto", or an address.
        store: Where a cluster keeps its work: any fsspec URL that all nodes reach. None for a
            folder beside the book; only with "local".
        progress: Called with a pass's name, the states done, and the states in all.
        say: Called with one line about resuming, or about a solve in plain Python.

    Returns:
        The book. It knows its game, even if the rules are your own. Close it, or use `with`.

    Raises:
        GameError: The rules or the parameters are wrong.
        MethodError: The method or an option does not fit the game.
        ResourceError: Memory or disk does not suffice. The message says how much would.
    """
    options = Options(
        method=method,
        max_ply=max_ply,
        symmetry=symmetry,
        workers=workers,
        memory=memory,
        table=table,
        restart=restart,
        checkpoint=checkpoint,
        anyway=anyway,
        codec=codec,
        wdl=wdl,
        conversion=conversion,
        cluster=cluster,
        store=store,
        progress=progress,
        say=say,
    )
    job, way = _prepared(game, path, options)
    with _solved(job, way) as outcome:
        if job.target is None:
            # In a folder of its own, which goes with it
            try:
                folder = Path(tempfile.mkdtemp(prefix="solver-"))
            except OSError as error:
                reason = error.strerror
                raise ResourceError(f"no temporary file can be made ({reason}): name a path for the book") from None
            owner = os.getpid()

            def remove() -> None:
                # Not from a fork of the process that it belongs to
                if os.getpid() == owner:
                    shutil.rmtree(folder, ignore_errors=True)

            try:
                _write(folder / "book.lmdb", job, outcome)
                book = Book(folder / "book.lmdb", job.rules.game)
            except BaseException:
                remove()
                raise
            book.when_closed(remove)
            return book
        _write(job.target, job, outcome)
    return Book(job.target, job.rules.game)


def import_values(
    game: Source,
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    symmetry: bool = True,
    verified: bool = True,
    progress: Progress = silent,
) -> Header:
    """Write a book of a game from values that something else has found, lines of JSON (`imported`); its header.

    Every value is verified against those of the moves, unless `verified` is False. The book is complete if it lacks
    nothing that play can reach, else it is one of exact entries. Raises BookError for a file that is not such a table,
    DamagedBook for wrong values, MethodError, ResourceError.
    """
    options = Options(symmetry=symmetry, progress=progress)
    return run(game, path, options, imported.Values(Path(source), verified))


def prove(
    game: Source,
    path: str | os.PathLike[str],
    *,
    side: str | None = None,
    method: str = AUTO,
    seconds: float | None = None,
    symmetry: bool = True,
    memory: int | None = None,
    table: int | None = None,
    restart: bool = False,
    checkpoint: float | None = None,
    codec: str | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Book:
    """Prove who wins without solving the game, and return a book of one side's answers, open.

        with solver.prove("hex:5", "hex-5.lmdb") as book:
            book.root                       # Value(score=1, distance=None): the first player wins

    The values are wins, draws and losses without distances. The same arguments give the same bytes.

    Args:
        game: A game, or its name; it has tiers, and neither chance nor margins.
        path: Where to write the book.
        side: Whose answers it holds: "first", "second" or "both". None for the winner's, or both in a draw.
        method: "alphabeta", "proof-number", or "auto" for a race of both, in a thread each.
        seconds: Give up after so many. None for no limit.
        symmetry: Fold positions that are equal by symmetry, if the rules have `canonical`.
        memory: Limit in bytes. None for a share of what is free.
        table: Size of the searches' tables in bytes. None for 1 GiB.
        restart: Discard the work of an interrupted proof.
        checkpoint: Seconds between checkpoints. None for 120.
        codec: How values are encoded, as for `solve`.
        progress: Called with a pass's name, the nodes or states done, and a note.
        say: Called with one line of text now and then.

    Returns:
        The book. Close it, or use `with`.

    Raises:
        GameError: The rules or the parameters are wrong.
        MethodError: The game cannot be proved so, or the side has nothing to prove.
        Unproved: The time is up. The same call goes on.
        ResourceError: Memory or disk does not suffice.
    """
    options = Options(
        symmetry=symmetry,
        memory=memory,
        table=table,
        restart=restart,
        checkpoint=checkpoint,
        codec=codec,
        progress=progress,
        say=say,
    )
    run(game, check_target(path), options, proof.Proving(side, method, seconds))
    return Book(path, game_of(game))


def grow(game: Source, path: str | os.PathLike[str], way: grown.Growing, options: Options) -> Header:
    """Write a grown book, or let the one at `path` grow further (`ways.grown`); its header as it is in the end.

    It is written now and then, too, so that an interrupted run goes on there. Raises the errors of `solve`, BookError
    and ForeignBook where the book cannot grow, PositionError for games that are none; and leaves the book as it was.
    """
    job, _ = _prepared(game, path, options._replace(method=Method.ALPHABETA), way)
    with job.files, _blaming():
        for outcome in way.stages(job):
            assert job.target is not None
            header = _write(job.target, job, outcome)
    return header


def run(game: Source, path: str | os.PathLike[str] | None, options: Options, way: Way | None = None) -> Header:
    """Solve a game as `solve` does, or in a `way` of one's own, but write no book without a path.

    Returns:
        The book's header. It has no digest if no book was written.
    """
    job, way = _prepared(game, path, options, way)
    with _solved(job, way) as outcome:
        return _header(job, outcome) if job.target is None else _write(job.target, job, outcome)


def _prepared(
    source: Source, path: str | os.PathLike[str] | None, options: Options, way: Way | None = None
) -> tuple[Job, Way]:
    """Return a checked job and the way to solve it. Raises as `solve`."""
    with listening(options.progress, options.say, options.memory):
        game = game_of(source)
    check_parameters(game)
    if not is_name(game_text(game)):
        raise GameError(f"{game_text(game)[:80]!r} is not a valid game name: rename the file, in printable characters")
    kind = kind_asked(options.method, options.wdl, options.conversion)
    rules = Rules(game, options.symmetry, kind)
    job = Job(rules, None if path is None else check_target(path), options)
    way = way or way_of(job)
    refuse(job, way)
    if options.codec is not None:
        is_pruned = options.method == Method.ALPHABETA and options.max_ply is None
        check_codec(options.codec, rules, "exact" if is_pruned else "")
    before = contents_of(rules, options)
    options = options._replace(memory=working_memory(options.memory))
    return Job(rules, job.target, options, contents=before), way


def way_of(job: Job) -> Way:
    """The way that rules and options ask for."""
    options = job.options
    if options.max_ply is not None:
        return opening
    if options.method == Method.ALPHABETA:
        return whole.ENTRIES
    if graph_in(job.rules.game) is not None and job.rules.chance and not job.rules.margins:
        return whole.TABLE
    if job.rules.plain_only:
        return plain
    return whole.SWEEP if options.cluster is None else whole.CLUSTER


def refuse(job: Job, way: Way) -> None:
    """Raise MethodError if this way cannot do the job, or would ignore one of its options."""
    rules, options = job.rules, job.options
    if options.method not in METHODS:
        raise MethodError(f"no method {options.method!r}: choose one of {', '.join(METHODS)}")
    if options.cluster is not None:
        from solver.cluster import on_ray

        on_ray.refuse_address(options.cluster)
    if options.max_ply is not None and options.method not in (AUTO, Method.ALPHABETA):
        raise MethodError(f"an opening book is made by alpha-beta: --method alphabeta, not {options.method}")
    if rules.kind is NIMBER:
        check_nimbers(rules)
    some_heed = sorted(set().union(*(each_way.heeds for each_way in WAYS)))
    refuse_ignored(way.name, way.heeds, job.target is not None, {name: getattr(options, name) for name in some_heed})
    reason = way.refuses(job)
    if reason is not None:
        raise MethodError(reason)
    if way in (whole.SWEEP, whole.CLUSTER, plain):
        remedy = "an opening book by alpha-beta, --max-ply N, or solver grow take them"
        refuse_wide(rules.name, rules.bits, way.name, remedy)
    if rules.kind.is_stepped:
        refuse_wide(rules.name, rules.bits, "a book of expectations", "live search takes them")
        if not codec_of(options.codec or DEFAULT).takes_all:
            rules.kind.refuse("codec", rules.name)


def refuse_ignored(name: str, heeds: set[str], keeps: bool, options_given: Mapping[str, Any]) -> None:
    """Raise MethodError for an option that was given, neither None nor False, but would be ignored.

    `name` is that of the way, and `keeps` says whether a book is written.
    """
    for option_name, value in options_given.items():
        if value is None or value is False:
            continue
        option = f"--{option_name.replace('_', '-')}"
        if option_name == "cluster" and option_name not in heeds:
            raise MethodError(f"{option} has no effect with {name}, which runs on one machine: omit it")
        if option_name not in heeds:
            ways = [each_way.name for each_way in WAYS if option_name in each_way.heeds]
            where = f"; it is for {' and '.join(ways)}" if ways else ""
            raise MethodError(f"{option} has no effect with {name}: omit it{where}")
        if option_name in KEPT_BESIDE_A_BOOK and not keeps:
            raise MethodError(f"{option} needs a book: add -o BOOK, or omit {option}")


@contextlib.contextmanager
def _solved(job: Job, way: Way) -> Iterator[Outcome]:
    """Yield the solution while its files are open. They are removed unless an error is raised meanwhile."""
    with job.files:
        with _blaming():
            outcome = way.solve(job)
        yield outcome
        if outcome.remove is not None:
            outcome.remove()


@contextlib.contextmanager
def _blaming() -> Iterator[None]:
    """Turn an error of a user's rules, wherever it is raised, into a line that names the state."""
    try:
        yield
    except SolverError:
        raise
    except (Exception, SystemExit) as error:
        fault = conformance.blamed(error)
        if fault is None:
            raise
        raise fault from error


def _header(job: Job, outcome: Outcome) -> Header:
    """The header of a solution: who it belongs to, how complete it is, and its counts. Raises GameError."""
    job.refuse_changed()
    rules, solved = job.rules, outcome.solved
    codec = job.options.codec or DEFAULT
    tiers = solved.tiers
    complete = outcome.scope == "complete"
    return Header(
        game=rules.name,
        rules=rules_of(rules.game, codec),
        method=outcome.method,
        scope=outcome.scope if outcome.trim is None else TRIMMED,
        trim=outcome.trim,
        symmetry=rules.folds,
        score_game=rules.margins,
        palette=solved.palette,
        states=sum(tier.states for tier in tiers) if complete else None,
        terminal=sum(tier.terminal for tier in tiers) if complete else None,
        stored=solved.stored,
        counts={name: sum(getattr(tier, name) for tier in tiers) for name in ("win", "draw", "loss")},
        tiers=tiers if complete and 1 < len(tiers) <= MOST_TIERS else None,
        root=solved.root,
        longest=solved.longest,
        codec=codec,
        numbers=solved.numbers if len(solved.numbers or ()) <= MOST_VALUES else None,
        start=outcome.start,
        # States of 64 bits are not taken for those of 63
        state_bytes=8 * max(2, words_of(rules.bits)) if rules.bits > USUAL else 0,
    ).of_kind(solved.kind)


def _write(target: Path, job: Job, outcome: Outcome) -> Header:
    """Write the book, on all cores where the kernels are at hand."""
    options = job.options
    while True:
        try:
            return streaming.write(
                target,
                _header(job, outcome),
                outcome.solved.parts(),
                job.rules,
                encoded=outcome.solved.encoded,
                ranked=outcome.solved.ranked,
                workers=options.workers,
                progress=options.progress,
            )
        except SolverError as error:
            if outcome.repair is None or not outcome.repair(error):
                raise
