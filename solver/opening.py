"""Opening books: every unfinished state to a ply, valued by searching the deepest ones and deriving the others.

The states first reached after exactly `max_ply` plies are searched, in ascending order, so that neighbours share the
table; each that is done goes to a journal beside the book, at most two seconds of it unsynced. A solve that was
killed goes on from there, to the same bytes: an exact value does not depend on who found it, or when.

Cost: the plies are enumerated in plain Python, in connect-four at 4 microseconds a move; the search is the rest.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from solver import extras
from solver.errors import GameError, MethodError, ResourceError, UncompiledRules
from solver.files import lock
from solver.fingerprint import fingerprint
from solver.game import Rules
from solver.options import Options
from solver.progress import Progress, silent
from solver.search import cycle, refuse_chance
from solver.value import Value, merit_of, sign_of

RECORD = struct.Struct("<QqI")  # state, merit, crc32 of both and of the header
SYNCED = 2.0  # seconds between two syncs of the journal
STATE_BYTES = 400  # of memory that a state takes in dictionaries; assumed
Find = Callable[[int], Value]
Plain = Callable[[str], None]


def plies(
    rules: Rules,
    max_ply: int,
    progress: Progress = silent,
    *,
    memory: int | None = None,
    deadline: float | None = None,
) -> list[list[int]]:
    """The unfinished states first reached after 0, 1, ... max_ply plies, each in ascending order.

    After the `deadline` on `time.monotonic` only the plies that are complete. Raises ResourceError if the states do not
    fit into `memory`.
    """
    canonical = rules.canonical
    layer = {canonical(state) for state in rules.roots() if not rules.is_terminal(state)}
    seen = set(layer)
    layers = [sorted(layer)]
    for _ in range(max_ply):
        reached = set()
        for done, state in enumerate(layers[-1]):
            for action in rules.actions(state):
                child = canonical(rules.result(state, action))
                if child not in seen and child not in reached and not rules.is_terminal(child):
                    reached.add(child)
            if done % 256 == 0:
                count = len(seen) + len(reached)
                progress("enumerate", count, None)
                if memory is not None and count * STATE_BYTES > memory:
                    raise ResourceError(
                        f"the first {max_ply} plies have more than {count:,} states, which need {memory:,} bytes of"
                        " memory: give fewer plies (--max-ply) or more --memory"
                    )
                if deadline is not None and time.monotonic() > deadline:
                    return layers
        seen |= reached
        layers.append(sorted(reached))
    return layers


def solve(rules: Rules, journal: Path | None, max_ply: int, options: Options) -> dict[int, int]:
    """The merits of all unfinished states to `max_ply`, with `value.WIN`.

    `journal` keeps what is done until the caller removes it. Raises ResourceError if it belongs to another solve,
    another process is at it, or the states do not fit into the options' memory; MethodError, and removes the journal,
    if the game has cycles.
    """
    refuse_chance(rules, "alpha-beta")
    layers = plies(rules, max_ply, options.progress, memory=options.memory)
    try:
        with Journal(journal, header_of(rules, max_ply), options.restart) as done:
            todo = [state for state in layers[-1] if state not in done.merits]
            total = len(layers[-1])
            found = search_all(
                rules, todo, workers=options.workers, table=options.table, plain=options.say_plainly
            )
            for state, value, nodes in found:
                done.add(state, merit_of(value))
                options.progress("search", len(done.merits), total, f"{nodes:.3g} nodes/s")
            merits = dict(done.merits)
        derive(rules, layers[:-1], merits)
    except MethodError:
        if journal is not None:  # a refusal that will come again
            journal.unlink(missing_ok=True)
        raise
    return merits


def is_begun(journal: Path | None, rules: Rules, max_ply: int) -> bool:
    """Whether a journal of this very solve is there, of which the rules were checked."""
    if journal is None or not journal.is_file():
        return False
    header = header_of(rules, max_ply)
    with open(journal, "rb") as file:
        return file.read(len(header)) == header


def header_of(rules: Rules, max_ply: int) -> bytes:
    """The first line of a journal."""
    kind = " wdl" if rules.outcomes else ""
    return f"solver journal 1 {rules.name} {fingerprint(rules.game)} ply {max_ply} {rules.symmetry}{kind}\n".encode()


def search_all(
    rules: Rules,
    states: list[int],
    *,
    workers: int | None,
    table: int | None,
    plain: Plain = lambda reason: None,
) -> Iterator[tuple[int, Value, float]]:
    """Each state with its value and the nodes per second so far, searched on all cores with one table."""
    started = time.perf_counter()
    team = _compiled_team(rules, workers, table, plain) if states else None
    if team is None:
        find = _plain(rules)
        for state in states:
            yield state, find(state), 0.0
        return
    with team:
        for state, value in team.map(states):
            yield state, value, team.nodes() / (time.perf_counter() - started)


def derive(rules: Rules, layers: list[list[int]], merits: dict[int, int]) -> None:
    """Add the merits of the shallower plies, from those of their children. Raises MethodError if there are cycles."""
    canonical, lifted, end = rules.canonical, rules.lifted, rules.end
    stack = [state for layer in layers for state in layer]
    path: set[int] = set()  # states whose children are on the stack
    while stack:
        state = stack[-1]
        if state in merits:
            stack.pop()
            continue
        best: int | None = None
        missing = []
        for action in rules.actions(state):
            child = rules.result(state, action)
            if rules.is_terminal(child):
                merit = end(child)
            elif canonical(child) in merits:
                merit = merits[canonical(child)]
            else:
                missing.append(canonical(child))
                continue
            merit = lifted(merit, state, action, child)
            best = merit if best is None else max(best, merit)
        if not path.isdisjoint(missing) or state in missing:
            raise cycle(rules, "alpha-beta")
        if missing:
            path.add(state)
            stack += missing
        elif best is None:
            raise GameError(f"{rules.name}: state {state} has no actions and is not terminal")
        else:
            merits[state] = best
            path.discard(state)
            stack.pop()


def _plain(rules: Rules) -> Find:
    from solver.search import alphabeta

    table: dict[Any, int] = {}

    def find(state: int) -> Value:
        value = alphabeta.solve(rules.game, state, table=table, symmetry=rules.symmetry).value
        return sign_of(value) if rules.outcomes else value

    return find


def _compiled_team(rules: Rules, workers: int | None, table: int | None, plain: Plain) -> Any:
    """Searchers for all cores; None, having said why, where plain Python must search."""
    if rules.plain_only:
        return None
    reason = extras.remedy()
    if extras.has_kernels():
        from solver.kernels.searcher import Team

        try:
            return Team(
                rules.game, symmetry=rules.symmetry, outcomes=rules.outcomes, workers=workers, table=table
            )
        except UncompiledRules as error:
            reason = str(error)
    plain(reason)
    return None


class Journal:
    """What is solved so far: a header that says of what, then records, each with a checksum of its own."""

    def __init__(self, path: Path | None, header: bytes, restart: bool) -> None:
        self.path = path
        self.header = header
        self.seed = zlib.crc32(header)
        self.merits: dict[int, int] = {}
        self.resumed = 0
        self._file: Any = None
        self._synced = time.monotonic()
        if path is not None:
            self._open(path, restart)

    def add(self, state: int, merit: int) -> None:
        """Keep a solved state."""
        self.merits[state] = merit
        if self._file is None:
            return
        self._file.write(RECORD.pack(state, merit, self._sum(state, merit)))
        if time.monotonic() - self._synced > SYNCED:
            self._sync()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # what caused it is being raised
                self._sync()
            self._file.close()

    def _sum(self, state: int, merit: int) -> int:
        return zlib.crc32(struct.pack("<Qq", state, merit), self.seed)

    def _sync(self) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise ResourceError(f"{self.path} cannot be written ({error.strerror}): free some disk") from None
        self._synced = time.monotonic()

    def _open(self, path: Path, restart: bool) -> None:
        try:
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
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

    def _read(self, path: Path) -> None:
        """Take over the records of an earlier solve; what follows the first damaged one is cut off."""
        begin = self._file.read(len(self.header))
        if begin and begin != self.header[: len(begin)]:
            raise ResourceError(f"{path} belongs to another solve: --restart discards it, or name another book")
        end = len(self.header)
        if len(begin) == end:
            for record in iter(lambda: self._file.read(RECORD.size), b""):
                if len(record) < RECORD.size:
                    break
                state, merit, found = RECORD.unpack(record)
                if found != self._sum(state, merit):
                    break
                self.merits[state] = merit
                end += RECORD.size
            self._file.seek(end)
        else:  # new, or killed while the header was written
            self._file.seek(0)
            self._file.write(self.header)
        self._file.truncate()
        self._sync()
        self.resumed = len(self.merits)

