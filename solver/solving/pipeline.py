"""The pipeline: from a game to its solution and its book.

It chooses the way of solving and writes the book. The compiled sweep does the work where numba is installed; the plain
algorithms of `solver.search` do the same work otherwise, to the byte. What the sweep has done lies in a work folder
beside the book until the book is complete.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from solver.base.errors import GameError, ResourceError, SolverError
from solver.base.kinds import NIMBER
from solver.base.loading import listening
from solver.base.memory import working_memory
from solver.base.options import Options, Say, quiet
from solver.base.progress import Progress, silent
from solver.book import Book, Header, check_codec, check_target, streaming
from solver.book.codecs import codec_of, rules_of
from solver.book.codecs.wide import NAME as WIDE
from solver.book.doors import Source, game_of
from solver.check.conformance import blamed
from solver.rules.game import Rules, game_text, validate
from solver.rules.width import words_of
from solver.solving.choosing import refuse, way_of
from solver.solving.job import Job, Outcome, Way
from solver.solving.ways import grown, imported
from solver.solving.ways.grown import Plan

MOST_TIERS = 1024  # a header lists no more
MOST_VALUES = 1 << 16  # nor counts more of them


def solve(
    game: Source,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = "auto",
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
    cluster: str | None = None,
    store: str | None = None,
    progress: Progress = silent,
    say: Say = quiet,
) -> Book:
    """Solve a game, or the one that a name, a book or its path stands for: its book, open, written to `path`.

    Without a path the book lies in a temporary file, which is removed when the book is closed, or no longer used, or
    at the interpreter's end. The book knows the game, one of your own as well.

    `method`: "minimax" values every reachable state by tiers, "retrograde" those of a game with cycles, "alphabeta"
    keeps the exact entries of one search or, with `max_ply`, makes an opening book of all unfinished states to that
    ply; "nimbers" finds those of every reachable state of an impartial game; "auto" takes the first that fits, but not
    that. `memory` bounds the bytes of the sweep (a share of what is free if None), `table` those of the search's
    table. A solve that was stopped goes on from its last checkpoint, unless
    `restart`; they are `checkpoint` seconds apart (CHECKPOINT if None; 1 on a cluster), half as much again
    inside a pass over a tier with cycles; `say` gets a line about that, and about a solve in plain Python. A game that
    the disk cannot hold is refused, after a few seconds of counting if that shows it, unless `anyway`. `codec` is
    "instant" (if None), whose look-ups take 1.5 microseconds, "compact", a quarter of the size in ten times the time,
    or "ranked", smaller again, for games that number their states. `wdl` makes an opening book of wins, draws and
    losses without their distances, which are found sooner. `cluster` solves on Ray: "local" or "local:4" workers of
    this machine, "auto", or an address; what is done is kept under `store`, any URL of fsspec that all nodes reach
    (beside the book if None, for "local" alone). The book is the same, byte for byte, whatever `workers`, `memory` and
    `cluster`, interrupted or not; and with or without the compiled kernels, but for alpha-beta's exact entries.

    Raises GameError (bad rules or parameters), MethodError (the method does not fit), ResourceError (memory, disk).
    """
    options = Options._make(map(locals().__getitem__, Options._fields))
    job, way = _prepared(game, path, options)
    with _solved(job, way) as outcome:
        if job.target is None:
            return _temporary(job, outcome)
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
    nothing that play can reach, else it is one of exact entries. Raises BookError for what is no such file, DamagedBook
    for wrong values, MethodError, ResourceError.
    """
    values, options = imported.Values(Path(source), verified), Options(symmetry=symmetry, progress=progress)
    job, way = _prepared(game, path, options, values)
    assert job.target is not None
    with _solved(job, way) as outcome:
        return _write(job.target, job, outcome)


def grow(
    game: Source, path: str | os.PathLike[str], plan: Plan, options: Options
) -> Header:
    """Write a grown book, or let the one at `path` grow further (`ways.grown`); its header as it is in the end.

    It is written now and then, too, so that what is interrupted goes on there. Raises what `solve` does, BookError and
    ForeignBook where the book cannot grow, PositionError for games that are none; and leaves the book as it was.
    """
    way = grown.Growing(plan)
    job, _ = _prepared(game, path, options._replace(method="alphabeta"), way)
    with _blaming():
        for outcome in way.stages(job):
            assert job.target is not None
            header = _write(job.target, job, outcome)
    return header


def run(game: Source, path: str | os.PathLike[str] | None, options: Options) -> Header:
    """Solve a game as `solve` does, but write no book without a path: then the header has no digest."""
    job, way = _prepared(game, path, options)
    with _solved(job, way) as outcome:
        return _header(job, outcome) if job.target is None else _write(job.target, job, outcome)


def _prepared(
    source: Source, path: str | os.PathLike[str] | None, options: Options, way: Way | None = None
) -> tuple[Job, Way]:
    """A job that nothing is known to stand against, and the way to do it. Raises what `solve` does."""
    with listening(options.progress, options.say, options.memory):
        game = game_of(source)
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None
    rules = Rules(game, options.symmetry, options.wdl, options.method == NIMBER.acyclic)
    job = Job(rules, None if path is None else Path(path), options)
    way = way or way_of(job)
    refuse(job, way)
    if options.codec is not None:
        few = options.method == "alphabeta" and options.max_ply is None
        check_codec(options.codec, rules, "exact" if few else "")
    options = options._replace(memory=working_memory(options.memory))
    return Job(rules, None if path is None else check_target(path), options), way


@contextlib.contextmanager
def _solved(job: Job, way: Way) -> Iterator[Outcome]:
    """The solution, while its files are open. What was kept of it is removed if nothing is raised meanwhile."""
    with job.files:
        with _blaming():
            outcome = way.solve(job)
        yield outcome
        if outcome.remove is not None:
            outcome.remove()


@contextlib.contextmanager
def _blaming() -> Iterator[None]:
    """Make of what a user's rules raise, wherever they do, a line that names the state."""
    try:
        yield
    except SolverError:
        raise
    except (Exception, SystemExit) as error:
        fault = blamed(error)
        if fault is None:
            raise
        raise fault from error


def _header(job: Job, outcome: Outcome) -> Header:
    """The header of a solution: who it belongs to, how complete it is, and its counts."""
    rules, solved = job.rules, outcome.solved
    codec = codec_of(rules, job.options.codec)
    tiers = solved.tiers
    complete = outcome.scope == "complete"
    return Header(
        game=rules.name,
        rules=rules_of(rules.game, codec),
        method=outcome.method,
        scope=outcome.scope,
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
        wdl=rules.wdl,
        expectation=solved.kind.expectation,
        estimate=solved.kind.estimate,
        state_bytes=8 * words_of(rules.bits) if codec == WIDE else 0,
    )


def _write(target: Path, job: Job, outcome: Outcome) -> Header:
    """Write the book, on all cores where the kernels are at hand."""
    options = job.options
    while True:
        try:
            return streaming.write(
                target, _header(job, outcome), outcome.solved.parts(), job.rules,
                encoded=outcome.solved.encoded, workers=options.workers, progress=options.progress,
            )  # fmt: skip
        except SolverError as error:
            if outcome.mend is None or not outcome.mend(error):
                raise


def _temporary(job: Job, outcome: Outcome) -> Book:
    """The book in a folder of its own, which goes with it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="solver-"))
    except OSError as error:
        raise ResourceError(f"no temporary file can be made ({error.strerror}): name a path for the book") from None
    remove = functools.partial(_remove, folder, os.getpid())
    try:
        _write(folder / "book.lmdb", job, outcome)
        book = Book(folder / "book.lmdb", job.rules.game)
    except BaseException:
        remove()
        raise
    book.when_closed(remove)
    return book


def _remove(folder: Path, owner: int) -> None:
    """Remove a temporary book, but not from a fork of the process that it belongs to."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
