"""The job of a solve, its outcome, also from a table of plain Python, and the interface of a way: a file of `ways`."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from solver.base import expectations, extras, kinds, system
from solver.base.errors import GameError, SolverError, UncompiledRules
from solver.base.files import hold
from solver.base.options import Options
from solver.base.value import WIN
from solver.book.codecs import DEFAULT, codec_of
from solver.book.solution import Solved, TierCount, Trim
from solver.check.conformance import random_games
from solver.check.playouts import RandomGame
from solver.rules.fingerprint import told
from solver.rules.game import STATE_LIMIT, Rules, is_built_in

T = TypeVar("T")
Table = dict[Any, int]


@dataclass(frozen=True)
class Job:
    """The game to solve, the book, if there is to be one, and the options: `options.memory` are bytes for the states.

    `files` are those of a solution that is still to be written: whoever writes it closes them. `contents` are those of
    the rules before they ran.
    """

    rules: Rules
    target: Path | None
    options: Options
    files: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    contents: Mapping[str, str] | None = None

    def beside(self, ending: str) -> Path | None:
        """Return the path of work in progress, beside the book."""
        return None if self.target is None else self.target.with_name(self.target.name + ending)

    def lock(self) -> None:
        """Keep other processes from the same book until `files` are closed. Raises ResourceError if one has it."""
        path = self.beside(".lock")
        if path is not None and self.target is not None:
            self.files.callback(system.remove_open, path, hold(path, self.target))

    def played(self) -> list[RandomGame]:
        """Random games, which a user's rules must go through; none where the rules are the package's."""
        games = [] if is_built_in(self.rules.name) else random_games(self.rules.game, progress=self.options.progress)
        self.refuse_changed()
        return games

    def refuse_changed(self) -> None:
        """Raise GameError if the rules changed anything they name while they ran: other processes have the old one."""
        if self.contents is None:
            return
        before, after = self.contents, contents_of(self.rules, self.options)
        changed = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
        if changed:
            raise GameError(
                f"{self.rules.name}: {', '.join(changed)} changed while the rules ran, so their book would be one of"
                " other rules at once: rules may read what the file names, not change it (functools.cache may keep"
                " results)"
            )

    def compiled(self, make: Callable[[], T]) -> T | None:
        """Return the result of a compiled search. None, after saying why, if plain Python must do."""
        if self.rules.plain_only:
            return None
        reason = extras.remedy()
        if extras.has_kernels():
            try:
                return make()
            except UncompiledRules as error:
                reason = str(error)
        self.options.say_plainly(reason)
        return None


def contents_of(rules: Rules, options: Options) -> Mapping[str, str]:
    """Return the texts that the fingerprint of a job's book covers. None of the package's rules: they do not change."""
    return {} if is_built_in(rules.name) else told(rules.game, codec_of(options.codec or DEFAULT).keys.ASKED)[1]


class Outcome(NamedTuple):
    """The outcome of a solve.

    Attributes:
        solved: The solution.
        method, scope: For the header of the book.
        remove: Removes all work files once the book is written.
        trim: The side that the book serves, where it serves one.
        repair: Called with a fault that comes to light while the book is written. Returns whether it was repaired.
        start: Where play begins, if not at the game's start.
    """

    solved: Solved
    method: str
    scope: str
    remove: Callable[[], None] | None = None
    repair: Callable[[SolverError], bool] | None = None
    trim: Trim | None = None
    start: int | None = None


class Way(Protocol):
    """A way of solving.

    `heeds` are options that only some ways heed: the others mean something to all, or are refused beforehand.
    """

    name: str
    heeds: set[str]

    def refuses(self, job: Job) -> str | None:
        """Why the job cannot be done so, as far as rules and options tell it before any work is done."""

    def solve(self, job: Job) -> Outcome:
        """Solve the job. Raises as `pipeline.solve`."""


def solved_by(
    rules: Rules,
    table: Table,
    tier: Callable[[int], int] | None = None,
    units: kinds.Units | None = None,
    cyclic: bool = False,
    root: int | None = None,
) -> Solved:
    """A table of numbers of states, of merits or by `units`, sorted and tallied; by the game's tiers, or these.

    Terminal states are included; `cyclic`: some tier has moves that stay in it; `root`: the number of the start, if the
    table lacks it. Raises GameError for a tier beyond the limits.
    """
    units = units or kinds.Units(rules.kind)
    terminal = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    stored = Counter(table[state] for state in states)
    merits = units.kind.listed(stored)
    places = None if merits is None else {merit: place for place, merit in enumerate(merits)}
    index = expectations.number_of if places is None else places.__getitem__
    wins = [] if rules.scores else [merit for merit in stored if merit > 0 and not isinstance(merit, float)]
    slowest = min(wins, default=0)
    longest = (WIN - slowest, next(state for state in states if table[state] == slowest)) if slowest else None
    start = rules.game.initial()
    if root is None:
        root = rules.end(start) * units.point if rules.is_terminal(start) else table[rules.canonical(start)]
    tallies: dict[int, list[int]] = {}
    for state, number in table.items():
        tally, packed = tallies.setdefault((tier or rules.tier)(state), [0, 0, 0, 0, 0]), units.kind.pack(number)
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if packed > 0 else 4 if packed < 0 else 3] += 1
    beyond = next((number for number in tallies if not 0 <= number < STATE_LIMIT), None)
    if beyond is not None:
        raise GameError(f"{rules.name}: a state has tier {beyond}: tiers are ints, 0 <= tier < 2**63")
    return Solved(
        len(states),
        lambda: [(states, [index(table[state]) for state in states])],
        [units.value(merit) for merit in merits or ()],
        merits and [stored[merit] for merit in merits],
        [TierCount(number, *tallies[number]) for number in sorted(tallies)],
        units.value(root),
        longest,
        units.kind,
        cyclic,
    )
