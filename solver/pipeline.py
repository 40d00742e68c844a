"""The pipeline: from a game to its solution and its book.

It chooses the method, tallies what was found, and writes the book. The compiled sweep does the work where numba is
installed; the plain algorithms of `solver.search` do the same work otherwise, to the byte. What the sweep has done lies
in a work folder beside the book until the book is complete.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from solver import extras, opening
from solver.book import Header, check_target, write_book
from solver.conformance import SLOW, blamed, check_game, check_table, impatient
from solver.errors import BudgetExceeded, GameError, MethodError, ResourceError, SolverError, UncompiledRules
from solver.fingerprint import fingerprint
from solver.game import Game, Rules, game_text, is_built_in, load_game, validate
from solver.memory import working_memory
from solver.progress import Progress, silent
from solver.search import Budget, alphabeta, minimax, retrograde
from solver.solved import Solved, TierCount
from solver.value import WIN, Value, value_of

METHODS = ("auto", "minimax", "alphabeta", "retrograde")
MOST_TIERS = 1024  # a header lists no more
MOST_VALUES = 1 << 16  # nor counts more of them
SMALL = 20_000  # states that plain Python solves before a compiler is ready
SMALL_SECONDS = 1.0
LITTLE = 2_000  # states that it solves before compiled kernels are loaded
CHECKPOINT = 30.0  # seconds
PLAINLY = "in plain Python, some sixty times slower, on one core and without checkpoints"
PLAIN_BYTES = {"minimax": 300, "retrograde": 600}  # of memory a state in plain Python; long lines of play take more
OPTIONS = {  # those that a way of solving heeds, of those that only some ways do
    "the sweep": {"memory", "workers", "restart", "checkpoint", "anyway"},
    "--method alphabeta": {"table"},
    "an opening book (--max-ply)": {"memory", "workers", "restart", "table"},
    "rules that run in plain Python only": {"memory"},
    "--pruned": set(),
}
KEPT_BESIDE_A_BOOK = ("restart", "checkpoint")  # they mean nothing without one
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "minimax": minimax.solve,
    "alphabeta": alphabeta.solve,
    "retrograde": retrograde.solve,
}
Say = Callable[[str], None]


def quiet(message: str) -> None:
    """Say nothing."""


class Summary(NamedTuple):
    """What `solve` did: the header of the book (its digest empty if none was written), where, how long, and a note."""

    header: Header
    path: Path | None
    seconds: float
    note: str | None


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
    progress: Progress = silent,
    say: Say = quiet,
) -> Summary:
    """Solve a game, or the one that a string names, and write its book to `path` (or only solve it).

    `method`: "minimax" values every reachable state by tiers, "retrograde" those of a game with cycles, "alphabeta"
    keeps the exact entries of one search or, with `max_ply`, makes an opening book of all unfinished states to that
    ply; "auto" takes the first that fits. `memory` bounds the bytes of the sweep (a share of what is free if
    None), `table` those of the search's table. A solve that was stopped goes on from its last checkpoint, unless
    `restart`; they are `checkpoint` seconds apart (CHECKPOINT if None), half as much again inside a pass over a tier
    with cycles; `say` gets a line about that, and about a solve in plain Python. A game that the disk cannot hold is
    refused, after a few seconds of counting if that shows it, unless `anyway`. The book is the same, byte for byte,
    whatever `workers` and `memory`, interrupted or not; and with or without the compiled kernels, but for alpha-beta's
    exact entries.

    Raises GameError (bad rules or parameters), MethodError (the method does not fit), ResourceError (memory, disk).
    """
    started = time.perf_counter()
    game = load_game(game) if isinstance(game, str) else game
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None
    rules = Rules(game, symmetry)
    if method not in METHODS:
        raise MethodError(f"no method {method!r}: choose one of {', '.join(METHODS)}")
    if max_ply is not None and method not in ("auto", "alphabeta"):
        raise MethodError(f"an opening book is made by alpha-beta: --method alphabeta, not {method}")
    refuse_ignored(
        _way(rules, method, max_ply),
        path is not None,
        memory=memory,
        table=table,
        workers=workers,
        restart=restart,
        checkpoint=checkpoint,
        anyway=anyway,
    )
    budget = working_memory(memory)
    target = check_target(path) if path is not None else None
    journal = None if target is None or max_ply is None else target.with_name(target.name + ".journal")
    plain = _Plain(say)
    with contextlib.ExitStack() as stack:
        options = _Options(workers, budget, table, anyway, progress, say, plain)
        if max_ply is None:
            with _blaming():
                outcome = _solve(rules, method, _Files(stack, target, restart, checkpoint), options)
        else:
            with _blaming():
                if not is_built_in(game_text(game)) and not opening.is_begun(journal, game, max_ply, symmetry):
                    check_game(game)
                merits = opening.solve(
                    game,
                    journal,
                    max_ply=max_ply,
                    symmetry=symmetry,
                    workers=workers,
                    memory=options.memory,
                    table=table,
                    restart=restart,
                    progress=progress,
                    plain=plain.because,
                )
                outcome = _Outcome(_from_table(rules, merits), "alphabeta", f"ply {max_ply}")
        header = _header(rules, outcome)
        if target is not None:
            header = _write(target, header, outcome.solved, workers, progress)
            if outcome.work is not None:
                outcome.work.remove()
    if journal is not None:
        journal.unlink(missing_ok=True)
    return Summary(header, target, time.perf_counter() - started, plain.note)


def _way(rules: Rules, method: str, max_ply: int | None) -> str:
    """Which of OPTIONS holds."""
    if max_ply is not None:
        return "an opening book (--max-ply)"
    if method == "alphabeta":
        return "--method alphabeta"
    return "rules that run in plain Python only" if rules.plain_only else "the sweep"


def refuse_ignored(way: str, book: bool, **given: Any) -> None:
    """Raise MethodError if an option was given, neither None nor False, that this way of solving would ignore.

    `book`: whether one is written.
    """
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        if name not in OPTIONS[way]:
            ways = [other for other, heeded in OPTIONS.items() if name in heeded]
            where = f"; it is for {' and '.join(ways)}" if ways else ""
            raise MethodError(f"{option} means nothing to {way}: leave it out{where}")
        if name in KEPT_BESIDE_A_BOOK and not book:
            raise MethodError(f"{option} is about what an unfinished book keeps: name one with -o, or leave it out")


def work_folder(target: Path) -> Path:
    """Where the unfinished solve of a book lies."""
    return target.with_name(target.name + ".work")


class _Files(NamedTuple):
    """What is needed to open the work folder, if kernels are to work in it; `stack` closes it."""

    stack: contextlib.ExitStack
    target: Path | None
    restart: bool
    checkpoint: float | None

    def are_there(self) -> bool:
        """Whether an earlier solve has left its work folder."""
        return self.target is not None and work_folder(self.target).exists()

    def open(self, rules: Rules, method: str) -> Any:
        from solver.store.work import Work

        identity = f"{rules.name} {fingerprint(rules.game)} {method} symmetry {rules.symmetry}"
        folder = None if self.target is None else work_folder(self.target)
        every = CHECKPOINT if self.checkpoint is None else self.checkpoint
        return self.stack.enter_context(Work(folder, identity, restart=self.restart, every=every))


class _Plain:
    """Why a game is solved in plain Python, said when that begins and kept as the summary's note."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.reason: str | None = None

    def because(self, reason: str) -> None:
        self.reason = reason
        self._say(f"{PLAINLY}: {reason}")

    @property
    def note(self) -> str | None:
        return self.reason and f"{PLAINLY}: {self.reason}"


class _Options(NamedTuple):
    workers: int | None
    memory: int  # bytes that the states may take
    table: int | None
    anyway: bool
    progress: Progress
    say: Say
    plain: _Plain


class _Outcome(NamedTuple):
    solved: Solved
    method: str
    scope: str
    work: Any = None  # to be removed when the book is written


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


def _solve(rules: Rules, method: str, files: _Files, options: _Options) -> _Outcome:
    """Solve by the first way that fits: small games plainly, others by kernels, plainly where those do not do."""
    own = not is_built_in(rules.name)
    if method == "alphabeta":
        if own:
            check_game(rules.game)
        return _Outcome(_from_table(rules, _alphabeta(rules, options)), method, "exact")
    compiles = not rules.plain_only
    begun = compiles and files.are_there() and extras.has_kernels()
    work = files.open(rules, method) if begun else None
    states: list[int] = []
    if work is None or work.resumed is None:
        states = check_game(rules.game) if own else []
        outcome = _small(rules, method)
        if outcome is not None:
            return outcome._replace(work=work)
    if compiles:
        if extras.has_kernels():
            work = work or files.open(rules, method)
            outcome = _swept(rules, method, work, states, options)
            if outcome is not None:
                return outcome
        else:
            options.plain.because(extras.remedy())
    return _plainly(rules, method, lambda algorithm: _plain(algorithm, rules, options))


def _small(rules: Rules, method: str) -> _Outcome | None:
    """The outcome for a game of few states, by the plain algorithms; None if it is not small."""
    from solver.kernels.identity import are_cached

    most = min(SMALL, LITTLE) if are_cached(rules, method != "retrograde") else SMALL
    if sum(1 for _ in itertools.islice(rules.starts(), most + 1)) > most:
        return None
    budget = Budget(most, SMALL_SECONDS)

    def table(algorithm: str) -> dict[Any, int]:
        found: dict[Any, int] = ALGORITHMS[algorithm](rules.game, symmetry=rules.symmetry, budget=budget).table
        return found

    slow = f"{rules.name}: its rules take more than {SLOW:g} seconds for a state: they must end"
    try:
        with impatient(SLOW + SMALL_SECONDS, slow):
            return _plainly(rules, method, table)
    except BudgetExceeded:
        return None


def _plainly(rules: Rules, method: str, table_by: Callable[[str], dict[Any, int]]) -> _Outcome:
    """Solve by the plain algorithms: minimax, or retrograde analysis if the method is that or moves stay in a tier."""
    scores = rules.scores
    tiers = method != "retrograde"  # which takes a game as one tier
    chosen = method
    if method == "auto":
        chosen = "minimax" if rules.tiered or scores else "retrograde"
    try:
        table = table_by(chosen)
        if method == "auto" and chosen == "minimax" and not scores and _some_stay(rules, table):
            chosen = "retrograde"  # as the kernels would call it: the values are the same
    except MethodError:
        if method != "auto" or scores or chosen == "retrograde":
            raise
        chosen = "retrograde"
        table = table_by(chosen)
    if not is_built_in(rules.name):
        check_table(rules.game, table, rules.symmetry)
    return _Outcome(_from_table(rules, table, tiers), chosen, "complete")


def _some_stay(rules: Rules, table: dict[Any, int]) -> bool:
    """Whether some move stays in its tier."""
    canonical, tier = rules.canonical, rules.tier
    return any(
        tier(canonical(rules.result(state, action))) == tier(state)
        for state in table
        if not rules.is_terminal(state)
        for action in rules.actions(state)
    )


def _swept(rules: Rules, method: str, work: Any, states: list[int], options: _Options) -> _Outcome | None:
    """The compiled solution; None, having said why, if only the plain algorithms may take the game."""
    from solver.sweep import exhaustive

    try:
        solved = exhaustive.solve(
            rules.game,
            work,
            symmetry=rules.symmetry,
            tiers=method != "retrograde",
            cycles=method != "minimax",
            workers=options.workers,
            memory=options.memory,
            anyway=options.anyway,
            progress=options.progress,
            say=options.say,
            states=states,
        )
    except UncompiledRules as error:
        reason = str(error)
    except MethodError as error:
        if method == "retrograde" or not rules.scores or rules.chance is not None:
            raise
        reason = str(error)  # scores, with moves that stay in a tier: minimax takes them if they make no cycle
    else:
        return _Outcome(solved, "retrograde" if solved.cyclic else "minimax", "complete", work)
    work.remove()
    options.plain.because(reason)
    return None


def _alphabeta(rules: Rules, options: _Options) -> dict[Any, int]:
    """The exact entries of one search from all starts: compiled if that can be."""
    if not rules.plain_only:
        reason = extras.remedy()
        if extras.has_kernels():
            from solver.kernels.searcher import TABLE, Searcher

            try:
                searcher = Searcher(rules.game, symmetry=rules.symmetry, table=options.table or TABLE)
                return searcher.entries(options.progress)
            except UncompiledRules as error:
                reason = str(error)
        options.plain.because(reason)
    return _plain("alphabeta", rules, options)


def _plain(method: str, rules: Rules, options: _Options) -> dict[Any, int]:
    """The table of merits of a plain algorithm. Raises ResourceError if it has more states than the memory holds."""
    most = options.memory // PLAIN_BYTES[method] if method in PLAIN_BYTES else None

    def progress(step: str, done: int, total: int | None, note: str = "") -> None:
        if most is not None and done > most:
            why = f" ({options.plain.reason})" if options.plain.reason else ""
            raise ResourceError(
                f"more than {most:,} states are too many for plain Python{why}: raise --memory, or take a smaller game"
            )
        options.progress(step, done, total, note)

    table: dict[Any, int] = ALGORITHMS[method](rules.game, symmetry=rules.symmetry, progress=progress).table
    return table


def _from_table(rules: Rules, table: dict[Any, int], tiers: bool = True) -> Solved:
    """A table of merits of all states, terminal ones included, sorted and tallied, by the game's `tiers` if so."""
    score_game = rules.scores
    tier = rules.tier if tiers else _one_tier
    terminal = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    stored = Counter(table[state] for state in states)
    merits = sorted(stored, reverse=True)
    index = {merit: place for place, merit in enumerate(merits)}
    tallies: dict[int, list[int]] = {}
    for state, merit in table.items():
        tally = tallies.setdefault(tier(state), [0, 0, 0, 0, 0])
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if merit > 0 else 4 if merit < 0 else 3] += 1
    slowest = min((merit for merit in merits if merit > 0), default=None)
    longest = None
    if slowest is not None and not score_game:
        longest = WIN - slowest, next(state for state in states if table[state] == slowest)
    return Solved(
        len(states),
        lambda: [(states, [index[table[state]] for state in states])],
        [value_of(merit, score_game) for merit in merits],
        [stored[merit] for merit in merits],
        [TierCount(number, *tallies[number]) for number in sorted(tallies)],
        _root(rules, table),
        longest,
    )


def _one_tier(state: int) -> int:
    return 0


def _root(rules: Rules, table: dict[Any, int]) -> Value:
    """The value of the start."""
    state = rules.game.initial()
    merit = rules.end(state) if rules.is_terminal(state) else table[rules.canonical(state)]
    return value_of(merit, rules.scores)


def _header(rules: Rules, outcome: _Outcome) -> Header:
    """The header of a solution: who it belongs to, how complete it is, and its counts."""
    solved = outcome.solved
    tiers = solved.tiers
    complete = outcome.scope == "complete"
    return Header(
        game=rules.name,
        rules=fingerprint(rules.game),
        method=outcome.method,
        scope=outcome.scope,
        symmetry=rules.folds,
        score_game=rules.scores,
        palette=solved.palette,
        states=sum(tier.states for tier in tiers) if complete else None,
        terminal=sum(tier.terminal for tier in tiers) if complete else None,
        stored=solved.stored,
        counts={name: sum(getattr(tier, name) for tier in tiers) for name in ("win", "draw", "loss")},
        tiers=tiers if complete and 1 < len(tiers) <= MOST_TIERS else None,
        root=solved.root,
        longest=solved.longest,
        numbers=solved.numbers if len(solved.numbers) <= MOST_VALUES else None,
    )


def _write(target: Path, header: Header, solved: Solved, workers: int | None, progress: Progress) -> Header:
    """Write the book, on all cores where the kernels are at hand."""
    if solved.stored <= SMALL or not extras.has_kernels():
        return write_book(target, header, solved.parts(), progress=progress)
    from solver.parallel import Workers
    from solver.sweep import pack

    parts: Any = (pack.as_arrays(*part) for part in solved.parts())
    with Workers(workers) as team:
        return write_book(target, header, parts, encode=pack.encode_chunk, map=team.map, progress=progress)
