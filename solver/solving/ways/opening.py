"""Opening books: every unfinished state to a ply, valued by searching the deepest ones and deriving the others.

The states first reached after exactly `max_ply` plies are searched. Neighbours in ascending order share most of the
states below them, so they are searched together. The blocks of neighbours come in random order, so that finished ones
are a sample of those left. Results go to a journal beside the book, at most two seconds of it unsynced. A solve that
was killed goes on from there, to the same bytes: an exact value does not depend on who found it, or when.

Cost: twelve plies of connect-four 7x6, 9.2 million states, are enumerated in 7 s; the search is the rest.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import random
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from solver.base import extras, system
from solver.base.errors import MethodError, ResourceError, UncompiledRules
from solver.base.extras import PLAIN_LIMIT
from solver.base.files import lock
from solver.base.kinds import AUTO, Method
from solver.base.value import WIN, Value, merit_of
from solver.book.writer import check_target
from solver.rules.game import Rules
from solver.rules.width import USUAL, words_of
from solver.search import alphabeta
from solver.solving.job import Job, Outcome, solved_by
from solver.solving.ways import plain

name = "an opening book (--max-ply)"
heeds: set[str] = {"memory", "workers", "restart", "table", "wdl"}

LAYOUT = 1  # of the journal
MARK = rb"\Asolver journal "
TAIL = 12  # bytes of a record behind the state: the merit in eight, crc32 of header, state and merit in four
SYNCED = 2.0  # seconds between two syncs of the journal
STATE_BYTES = 400  # of memory that a state takes in dictionaries; assumed
BLOCK = 4096  # states, neighbours in ascending order, that are searched one after another
Enough = Callable[[int], bool]
Holds = Callable[[int], bool]
Pairs = list[tuple[int, Value]]  # states with their values


def refuses(job: Job) -> str | None:
    """Games of chance; and what plain searches refuse."""
    chance = job.rules.kind.refusal("max_ply", job.rules.name) if job.options.method == AUTO else None
    return chance or plain.refuses(job)


def solve(job: Job) -> Outcome:
    """Solve all unfinished states up to a ply. The journal keeps finished work."""
    job.played()
    journal, scope = job.beside(".journal"), f"ply {job.options.max_ply or 0}"
    remove = None if journal is None else functools.partial(system.remove, journal)
    return Outcome(solved_by(job.rules, merits_to(job)), Method.ALPHABETA, scope, remove)


def merits_to(job: Job) -> dict[int, int]:
    """The merits of all unfinished states to `max_ply`, with `value.WIN`.

    Raises ResourceError if the journal belongs to another solve, another process is at it, or the states do not fit
    into the options' memory; MethodError, and removes the journal, if the game has cycles.
    """
    rules, options, journal, max_ply = job.rules, job.options, job.beside(".journal"), job.options.max_ply or 0

    def enough(count: int) -> bool:
        options.progress("enumerate", count, None)
        if options.memory is not None and count * STATE_BYTES > options.memory:
            raise ResourceError(
                f"the first {max_ply} plies have more than {count:,} states, which need {options.memory:,} bytes of"
                " memory: give fewer plies (--max-ply) or more --memory"
            )
        return False

    layers = plies(rules, max_ply, enough)
    try:
        with Journal(journal, header_of(rules, max_ply), options.restart, 8 * words_of(rules.bits)) as entries:
            todo = [state for state in layers[-1] if state not in entries.merits]
            blocks = [todo[begin : begin + BLOCK] for begin in range(0, len(todo), BLOCK)]
            random.Random(0).shuffle(blocks)
            for pairs, nodes in search_all(job, list(itertools.chain(*blocks))):
                entries.add(pairs)
                options.progress("search", len(entries.merits), len(layers[-1]), f"{nodes:.3g} nodes/s")
            merits = dict(entries.merits)
        derive(rules, layers, merits)
    except MethodError:
        # A refusal that will come again
        if journal is not None:
            system.remove(journal)
        raise
    return merits


def plies(
    rules: Rules, max_ply: int, enough: Enough = lambda count: False, holds: Holds | None = None
) -> list[list[int]]:
    """The unfinished states first reached after 0, 1, ... max_ply plies, each in ascending order.

    Once `enough` of the number of states so far, which is asked now and then and may raise, only the plies that are
    complete. If `holds` is given, play goes on in states that a book holds alone. Plies of PLAIN_LIMIT states are
    expanded by compiled rules, if there are any.
    """
    roots = {rules.canonical(state) for state in rules.roots() if not rules.is_terminal(state)}
    layers = [sorted(state for state in roots if holds is None or holds(state))]
    following, compiles = _plainly(rules, layers, enough, holds), holds is None and _may_compile(rules)
    while len(layers) <= max_ply:
        if compiles and len(layers[-1]) >= PLAIN_LIMIT:
            from solver.sweep.exhaustive import further

            following, compiles = further(rules, layers, enough), False
        try:
            layer = next(following, None)
        except UncompiledRules:
            # The search will say why
            following = _plainly(rules, layers, enough, holds)
            continue
        if layer is None:
            break
        layers.append(layer)
    return layers


def _plainly(rules: Rules, layers: Sequence[list[int]], enough: Enough, holds: Holds | None) -> Iterator[list[int]]:
    """The plies behind the given ones, as `sweep.exhaustive.further`."""
    canonical, layer, visited = rules.canonical, layers[-1], set().union(*layers)
    while True:
        reached = set()
        for searched, state in enumerate(layer):
            for action in rules.actions(state):
                child = canonical(rules.result(state, action))
                if child in visited or child in reached or rules.is_terminal(child):
                    continue
                if holds is None or holds(child):
                    reached.add(child)
            if searched % 256 == 0 and enough(len(visited) + len(reached)):
                return
        visited |= reached
        layer = sorted(reached)
        yield layer


def header_of(rules: Rules, max_ply: int) -> bytes:
    """The first line of a journal."""
    identity = f"{rules.name} {rules.fingerprint} ply {max_ply} {rules.symmetry}{rules.kind.mark}"
    return f"solver journal {LAYOUT} {identity}\n".encode()


def search_all(job: Job, states: list[int]) -> Iterator[tuple[Pairs, float]]:
    """Lists of states with their values, and the nodes per second so far, searched on all cores with one table."""
    started, rules, options = time.perf_counter(), job.rules, job.options

    def searchers() -> Any:
        from solver.compiled.exact.searcher import Team

        return Team(rules, outcomes=rules.kind.bare, workers=options.workers, table=options.table)

    team = job.compiled(searchers) if states else None
    if team is None:
        all_rules, table = Rules.of(rules), dict[Any, int]()
        for state in states:
            value = alphabeta.solve(all_rules, state, table=table).value
            yield [(state, rules.kind.kept(value))], 0.0
        return
    with team:
        for pairs in team.map(states):
            yield pairs, team.nodes() / (time.perf_counter() - started)


def derive(rules: Rules, layers: Sequence[list[int]], merits: dict[int, int]) -> None:
    """Add the merits of the plies that lack them, from those of their children. Raises MethodError if there are cycles.

    Compiled rules look plies of PLAIN_LIMIT states up, if any, as far as all their moves lead to the next one.
    """
    with contextlib.suppress(UncompiledRules):
        for layer, later in reversed(list(itertools.pairwise(layers))):
            if len(layer) < PLAIN_LIMIT or not _may_compile(rules):
                break
            from solver.sweep.exhaustive import merits_of

            derived = merits_of(rules, layer, later, [merits[state] for state in later])
            if derived is None:
                break
            merits.update(zip(layer, derived, strict=True))
    left = [state for layer in layers for state in layer if state not in merits]
    if left:
        # Searches count plies: what is known without distances is as if the game ended there
        all_rules, size = Rules.of(rules), WIN if rules.kind.bare else 1
        table: dict[Any, int] = {state: size * merit for state, merit in merits.items()}
        _Rest(all_rules, table=table).result(None)
        merits.update((state, merit_of(rules.kind.kept(all_rules.kind.value(table[state])))) for state in left)


class _Rest(alphabeta.Minimax):
    method = Method.ALPHABETA  # in its errors


def _may_compile(rules: Rules) -> bool:
    return not rules.plain_only and rules.bits <= USUAL and extras.has_kernels()


class Journal:
    """The work done so far: a header that identifies the job, then records, each with its own checksum.

    `size` is the bytes of a state. Without a path nothing is written.
    """

    def __init__(self, path: Path | None, header: bytes, restart: bool, size: int = 8) -> None:
        self.path, self.header, self.size = path, header, size
        self.merits: dict[int, int] = {}
        self._file: Any = None
        self._synced = time.monotonic()
        if path is None:
            return
        if restart:
            check_target(path, MARK)
        try:
            self._file = os.fdopen(system.open_descriptor(path, os.O_RDWR | os.O_CREAT), "r+b")
        except OSError as error:
            raise ResourceError(f"{path} cannot be opened ({error.strerror}): free it, or write elsewhere") from None
        try:
            lock(self._file.fileno(), path)
            if restart:
                self._file.truncate(0)
            self._read(path)
        except BaseException:
            self._file.close()
            raise

    def add(self, pairs: Pairs) -> None:
        """Keep solved states."""
        entries = [(state, merit_of(value)) for state, value in pairs]
        self.merits.update(entries)
        if self._file is None:
            return
        try:
            self._file.write(b"".join([self._packed(*pair) for pair in entries]))
            if time.monotonic() - self._synced > SYNCED:
                self._sync()
        except OSError as error:
            raise ResourceError(f"{self.path} cannot be written ({error.strerror}): free some disk") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            # What caused it is being raised
            with contextlib.suppress(OSError):
                self._sync()
            self._file.close()

    def _packed(self, state: int, merit: int) -> bytes:
        record = state.to_bytes(self.size, "little") + merit.to_bytes(8, "little", signed=True)
        return record + zlib.crc32(self.header + record).to_bytes(4, "little")

    def _sync(self) -> None:
        self._file.flush()
        system.sync(self._file.fileno())
        self._synced = time.monotonic()

    def _read(self, path: Path) -> None:
        """Take over the records of an earlier solve. All from the first damaged record on is cut off."""
        file, end, size = self._file, len(self.header), self.size + TAIL
        begin = file.read(end)
        if not self.header.startswith(begin):
            raise ResourceError(f"{path} is of another solve or version: --restart discards it, or name another book")
        # new, or killed while the header was written
        if begin != self.header:
            file.seek(0)
            file.write(self.header)
        while record := file.read(size):
            state = int.from_bytes(record[: self.size], "little")
            merit = int.from_bytes(record[self.size : -4], "little", signed=True)
            if record != self._packed(state, merit):
                break
            self.merits[state] = merit
            end += size
        file.seek(end)
        file.truncate()
        self._sync()
