"""The pipeline: from a game to its solution and its book.

It chooses the way of solving and writes the book. The compiled sweep does the work where numba is installed; the plain
algorithms of `solver.search` do the same work otherwise, to the byte. What the sweep has done lies in a work folder
beside the book until the book is complete.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import BudgetExceeded, GameError, MethodError, ResourceError, SolverError
from solver.base.memory import working_memory
from solver.base.options import Options, Say, quiet
from solver.base.patience import impatient
from solver.base.progress import Progress, silent
from solver.book import DEFAULT, Book, Header, check_codec, check_target, packing, streaming
from solver.book.codecs import fixed
from solver.book.ranking import rules_of
from solver.check.conformance import SLOW, blamed, check_game, random_games
from solver.check.playouts import endless, states_of
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Game, Rules, game_text, is_built_in, is_score_game, load_game, validate
from solver.search import Budget
from solver.solving import methods, opening
from solver.solving.methods import Outcome

MOST_TIERS = 1024  # a header lists no more
MOST_VALUES = 1 << 16  # nor counts more of them
SMALL = 20_000  # states that plain Python solves before a compiler is ready
SMALL_SECONDS = 1.0
LITTLE = 2_000  # states that it solves before compiled kernels are loaded
LITTLE_SECONDS = 0.1
CHECKPOINT = 30.0  # seconds


def solve(
    game: Game | str,
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
    """Solve a game, or the one that a string names: its book, open, written to `path`.

    Without a path the book lies in a temporary file, which is removed when the book is closed, or no longer used, or
    at the interpreter's end. The book knows the game, one of your own as well.

    `method`: "minimax" values every reachable state by tiers, "retrograde" those of a game with cycles, "alphabeta"
    keeps the exact entries of one search or, with `max_ply`, makes an opening book of all unfinished states to that
    ply; "auto" takes the first that fits. `memory` bounds the bytes of the sweep (a share of what is free if
    None), `table` those of the search's table. A solve that was stopped goes on from its last checkpoint, unless
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
    options = Options(
        method, max_ply, symmetry, workers, memory, table, restart, checkpoint, anyway, codec, wdl, cluster, store,
        progress, say,
    )  # fmt: skip
    job = _prepared(game, path, options)
    with _solving(job) as outcome:
        if job.target is None:
            return _temporary(job, outcome)
        _write(job.target, job, outcome)
    return Book(job.target, job.rules.game)


def import_values(
    game: Game,
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    symmetry: bool = True,
    verified: bool = True,
    progress: Progress = silent,
) -> Header:
    """Write a book of a game from values that something else has found, lines of JSON (`importing`); its header.

    Every value is verified against those of the moves, unless `verified` is False. The book is complete if it lacks
    nothing that play can reach, else it is one of exact entries. Raises BookError for what is no such file, DamagedBook
    for wrong values, MethodError, ResourceError.
    """
    from solver.solving import importing

    job = _prepared(game, path, Options(symmetry=symmetry, progress=progress))
    assert job.target is not None and job.options.memory is not None
    table = importing.table_of(job.rules, Path(source), job.options.memory, progress)
    with _blaming():
        complete = importing.complete(job.rules, table, Path(source), verified, progress)
        return _write(job.target, job, methods.known(job.rules, table, complete))


def run(game: Game, path: str | os.PathLike[str] | None, options: Options) -> Header:
    """Solve a game as `solve` does, but write no book without a path: then the header has no digest."""
    job = _prepared(game, path, options)
    with _solving(job) as outcome:
        return _header(job, outcome) if job.target is None else _write(job.target, job, outcome)


class _Job(NamedTuple):
    """What is to be solved, for which book, if it is to stay, and how: `options.memory` are bytes for the states."""

    rules: Rules
    target: Path | None
    options: Options

    @property
    def journal(self) -> Path | None:
        """Where an unfinished opening book lies."""
        return None if self.target is None else self.target.with_name(self.target.name + ".journal")

    @property
    def folder(self) -> Path | None:
        """Where any other unfinished solve lies."""
        return None if self.target is None else self.target.with_name(self.target.name + ".work")

    def open_work(self, stack: contextlib.ExitStack) -> Any:
        """The work folder, which `stack` closes."""
        from solver.store.work import Work

        rules, options = self.rules, self.options
        identity = f"{rules.name} {fingerprint(rules.game)} {options.method} symmetry {rules.symmetry}"
        every = CHECKPOINT if options.checkpoint is None else options.checkpoint
        return stack.enter_context(Work(self.folder, identity, restart=options.restart, every=every))


def _prepared(game: Game | str, path: str | os.PathLike[str] | None, options: Options) -> _Job:
    """A job that nothing is known to stand against. Raises what `solve` does."""
    game = load_game(game) if isinstance(game, str) else game
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None
    rules = Rules(game, options.symmetry, options.wdl)
    methods.refuse(rules, options, path is not None)
    if options.codec is not None:
        check_codec(options.codec)
        packing.check_ranked(
            options.codec, rules, "exact" if options.method == "alphabeta" and options.max_ply is None else ""
        )
    options = options._replace(memory=working_memory(options.memory))
    return _Job(rules, None if path is None else check_target(path), options)


@contextlib.contextmanager
def _solving(job: _Job) -> Iterator[Outcome]:
    """The solution, while its files are open. What was kept of it is removed if nothing is raised meanwhile."""
    with contextlib.ExitStack() as stack:
        with _blaming():
            outcome = _opening_book(job) if job.options.max_ply is not None else _chosen(job, stack)
        yield outcome
        if outcome.work is not None:
            outcome.work.remove()
    if job.journal is not None and job.options.max_ply is not None:
        job.journal.unlink(missing_ok=True)


@contextlib.contextmanager
def _blaming() -> Iterator[None]:
    """What a user's rules raise, wherever they do, in a line that names the state."""
    try:
        yield
    except SolverError:
        raise
    except (Exception, SystemExit) as error:
        fault = blamed(error)
        if fault is None:
            raise
        raise fault from error


def _opening_book(job: _Job) -> Outcome:
    rules, max_ply = job.rules, job.options.max_ply or 0
    if not is_built_in(rules.name) and not opening.is_begun(job.journal, rules, max_ply):
        check_game(rules.game)
    return methods.opening_book(rules, job.journal, max_ply, job.options)


def _chosen(job: _Job, stack: contextlib.ExitStack) -> Outcome:
    """Solve by the first way that fits: small games plainly, others by kernels, plainly where those do not do."""
    rules, options = job.rules, job.options
    if options.method == "alphabeta":
        if not is_built_in(rules.name):
            check_game(rules.game)
        return methods.exact_entries(rules, options)
    if rules.plain_only:
        return _small_or_swept(job, stack, None)
    if options.cluster is not None:
        return _clustered(job, stack)
    from solver.sweep.ahead import compiled_ahead

    with compiled_ahead(rules, options.method != "retrograde") as ahead:
        return _small_or_swept(job, stack, ahead)


def _clustered(job: _Job, stack: contextlib.ExitStack) -> Outcome:
    """Solve a game whole on a cluster."""
    rules, options, target = job.rules, job.options, job.target
    if not extras.has_cluster():
        raise MethodError(f"--cluster: {extras.cluster_remedy()}")
    from solver.cluster import on_ray, solving

    assert options.cluster is not None and target is not None
    if options.store is not None:
        url = solving.url_of(rules, options.store)
    elif options.cluster.partition(":")[0] == "local":
        url = str(target.with_name(target.name + ".shards").absolute())
    else:
        raise MethodError("a cluster keeps what is done where all its nodes reach it: name a folder or URL, --store")
    states = [] if is_built_in(rules.name) else check_game(rules.game)
    engine = stack.enter_context(on_ray.connect(options.cluster, options.memory))
    solve = solving.Clustered(rules, url, engine, options)
    stack.callback(solve.close)
    return methods.clustered(rules, solve, states)


def _small_or_swept(job: _Job, stack: contextlib.ExitStack, ahead: Any) -> Outcome:
    """Solve a game whole; `ahead` compiles meanwhile, and is None for rules that may not be compiled."""
    rules, options = job.rules, job.options
    own = not is_built_in(rules.name)
    begun = ahead is not None and job.folder is not None and job.folder.exists() and extras.has_kernels()
    work = job.open_work(stack) if begun else None
    states: list[int] = []
    if work is None or work.resumed is None:
        games = random_games(rules.game, progress=options.progress) if own else []
        outcome = tried(rules, options.method, ahead is not None and ahead.cached, options.progress)
        if outcome is not None:
            return outcome._replace(work=work)
        states, remark = states_of(games), endless(games)
        if remark is not None:
            options.say(remark)
    reason = None
    if ahead is not None:
        reason = methods.unswept(rules) if extras.has_kernels() else extras.remedy()
        if reason is None:
            options.progress("compile", 0, 0)
            ahead.wait()
            found = methods.swept(rules, work or job.open_work(stack), states, options)
            if not isinstance(found, str):
                return found
            reason = found
        options.say_plainly(reason)
    return methods.plainly(
        rules, options.method, functools.partial(methods.found_by, rules=rules, options=options, reason=reason)
    )


def tried(rules: Rules, method: str = "auto", cached: bool = False, progress: Progress = silent) -> Outcome | None:
    """The outcome for a game of few states, by the plain algorithms; None if it is not small.

    `cached`: the sweep's kernels need not be compiled. Raises what `solve` does.
    """
    most, seconds = (min(SMALL, LITTLE), LITTLE_SECONDS) if cached else (SMALL, SMALL_SECONDS)
    if sum(1 for _ in itertools.islice(rules.starts(), most + 1)) > most:
        return None
    budget = Budget(most, seconds)

    def states(step: str, done: int, total: int | None, note: str = "") -> None:
        progress("plain Python", done, None)

    def found(name: str) -> Any:
        states("", 0, None)
        return methods.METHODS[name].plain(rules.game, symmetry=rules.symmetry, budget=budget, progress=states)

    slow = f"{rules.name}: its rules take more than {SLOW:g} seconds for a state: they must end"
    try:
        with impatient(SLOW + seconds, slow):
            return methods.plainly(rules, method, found)
    except BudgetExceeded:
        return None


def _header(job: _Job, outcome: Outcome) -> Header:
    """The header of a solution: who it belongs to, how complete it is, and its counts."""
    rules, solved = job.rules, outcome.solved
    codec = job.options.codec or DEFAULT if solved.expectation is None else fixed.NAME
    tiers = solved.tiers
    complete = outcome.scope == "complete"
    return Header(
        game=rules.name,
        rules=rules_of(rules.game, codec),
        method=outcome.method,
        scope=outcome.scope,
        symmetry=rules.folds,
        score_game=is_score_game(rules.game),
        palette=solved.palette,
        states=sum(tier.states for tier in tiers) if complete else None,
        terminal=sum(tier.terminal for tier in tiers) if complete else None,
        stored=solved.stored,
        counts={name: sum(getattr(tier, name) for tier in tiers) for name in ("win", "draw", "loss")},
        tiers=tiers if complete and 1 < len(tiers) <= MOST_TIERS else None,
        root=solved.root,
        longest=solved.longest,
        codec=codec,
        numbers=solved.numbers if solved.expectation is None and len(solved.numbers) <= MOST_VALUES else None,
        wdl=rules.outcomes,
        expectation=solved.expectation,
    )


def _write(target: Path, job: _Job, outcome: Outcome) -> Header:
    """Write the book, on all cores where the kernels are at hand."""
    options = job.options
    while True:
        try:
            return streaming.write(
                target, _header(job, outcome), outcome.solved.parts(), job.rules,
                workers=options.workers, progress=options.progress,
            )  # fmt: skip
        except SolverError as error:
            if outcome.mend is None or not outcome.mend(error):
                raise


def _temporary(job: _Job, outcome: Outcome) -> Book:
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
