"""Values from elsewhere: lines of JSON or a CSV, as `solver export` writes them: state, score and distance.

They are verified in plain Python, as `verification` does it with books: values that all follow from those of the moves
are those of perfect play.
"""

from __future__ import annotations

import itertools
import json
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solver.base.errors import BookError, DamagedBook, MethodError, ResourceError, SolverError, excerpt
from solver.base.kinds import Method
from solver.base.progress import Progress
from solver.base.text import TextError, fields_of, file_lines, table_rows
from solver.base.value import Value, merit_of
from solver.rules.game import Rules
from solver.search.derive import derived, steps_of
from solver.solving.job import Job, Outcome, solved_by
from solver.solving.ways import plain

STATE_BYTES = 300  # of memory for each state, finished ones that it leads to included
MOST_DIGITS = 160  # of a state, as of those that are typed
STEP = 1024  # states between two reports

Table = dict[int, int]


@dataclass
class Values:
    """The way of taking the values in a file, each value `verified` against those of the moves or not."""

    source: Path
    verified: bool

    name = "values from elsewhere"
    heeds = set[str]()

    def refuses(self, job: Job) -> str | None:
        """Games of chance."""
        return job.rules.kind.refusal("import", job.rules.name)

    def solve(self, job: Job) -> Outcome:
        """The method is that which suits values of all that play can reach; others are exact entries."""
        rules, options = job.rules, job.options
        assert options.memory is not None
        table = table_of(rules, self.source, options.memory, options.progress)
        if not complete(rules, table, self.source, self.verified, options.progress):
            return Outcome(solved_by(rules, table), Method.ALPHABETA, "exact")
        rises = rules.scores or (rules.tiered and not plain.some_stay(rules, table))
        return Outcome(solved_by(rules, table), Method.MINIMAX if rises else Method.RETROGRADE, "complete")


def table_of(rules: Rules, path: Path, memory: int, progress: Progress) -> Table:
    """The merits of the states of a file; of states that the rules fold together the canonical one.

    Raises BookError, DamagedBook where a state has two values, ResourceError.
    """
    table: Table = {}
    try:
        for entries, (number, fields) in enumerate(_records(file_lines(path)), 1):
            if not isinstance(fields, dict) or not {"state", "score"} <= fields.keys():
                raise TextError(f"line {number}: no state and score")
            state, score, distance = fields["state"], fields["score"], fields.get("distance")
            if isinstance(state, str) and state.isdecimal() and state.isascii() and len(state) <= rules.bits:
                # JavaScript writes the state like this
                state = int(state)
            if type(state) is not int or not 0 <= state < 1 << rules.bits:
                raise TextError(f"line {number}: {excerpt(state)} is not a state")
            are_whole = type(score) is int and (distance is None or type(distance) is int)
            if not are_whole or distance == 0 or not rules.kind.fits(Value(score, distance)):
                far = "" if distance is None else f" with distance {excerpt(distance)}"
                raise TextError(f"line {number}: score {excerpt(score)}{far} is not a value")
            try:
                canonical = rules.canonical(state)
                is_finished = rules.is_terminal(canonical)
            except Exception as error:
                # Rules need not bear numbers that are not states
                kind = type(error).__name__
                raise TextError(f"line {number}: {state} is not a state of {rules.name} ({kind})") from None
            if is_finished:
                raise TextError(f"line {number}: state {state} is finished, its value is known")
            state, merit = canonical, merit_of(Value(score, distance))
            if table.setdefault(state, merit) != merit:
                raise DamagedBook(f"{path}, line {number}: state {state}, or its image, has another value before")
            if entries % STEP == 0:
                progress("read", entries, None)
                if len(table) * STATE_BYTES > memory:
                    raise ResourceError(f"{path} has more than {len(table):,} states: free some memory, then again")
    except BookError:
        raise
    except TextError as error:
        raise BookError(f"{path}, {error}: give state, score and distance, as export does") from None
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}): name a file of lines of JSON, or CSV") from None
    return table


def _records(lines: Iterator[str]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the contents of each line that holds values. Raises TextError."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    first_line = next(numbered, None)
    if first_line is None:
        return
    begin, header = first_line
    if not header.lstrip().startswith("{"):
        # A CSV, whose header this is
        rows = filter(
            operator.itemgetter(1), table_rows(itertools.chain(itertools.repeat("", begin - 1), [header], lines))
        )
        names = [name.strip().casefold() for name in next(rows)[1]]
        if not {"state", "score"} <= {*names}:
            raise TextError(f"line {begin}: neither a JSON object nor names of columns, state and score among them")
        for number, row in rows:
            if len(row) != len(names):
                raise TextError(f"line {number}: {len(row)} fields under {len(names)} columns")
            fields: dict[str, Any] = dict(zip(names, row, strict=True))
            for name in {"score", "distance"} & fields.keys():
                # The whole number that a cell holds, None of an empty one; any other text as it is
                cell = fields[name].strip()
                fields[name] = int(cell) if re.fullmatch("-?[0-9]{1,20}", cell, re.ASCII) else cell or None
            yield number, fields
        return
    for number, line in itertools.chain([first_line], numbered):
        try:
            yield number, json.loads(line, object_pairs_hook=fields_of, parse_int=_integer)
        except json.JSONDecodeError as error:
            raise TextError(f"line {number}: no JSON from character {error.pos + 1} on") from None
        except RecursionError:
            raise TextError(f"line {number}: brackets nested too deep") from None
        except ValueError as error:
            raise TextError(f"line {number}: {error}") from None


def _integer(text: str) -> int:
    """A whole number of JSON. Raises ValueError for one that is longer than any state."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def complete(rules: Rules, table: Table, path: Path, verified: bool, progress: Progress) -> bool:
    """Whether a table holds exactly the states that play can reach; finished states are added to one that does.

    Raises DamagedBook, if values are to be `verified`, where one does not follow from those of the moves; where some of
    these are not known, if one of the others is better. Raises BookError if the start is missing.
    """
    starts = [rules.canonical(state) for state in rules.roots()]
    if starts[0] not in table:
        raise BookError(f"{path} lacks the start, state {starts[0]}: a book needs the value of its start")
    reached, finished, missing = set(starts), Table(), False

    def known(child: int) -> int | None:
        """A child's merit; notes where play comes to."""
        key = rules.canonical(child)
        reached.add(key)
        if key not in table and rules.is_terminal(child):
            finished[key] = rules.end(child)
        return table.get(key, finished.get(key))

    for completed, (state, merit) in enumerate(table.items()):
        try:
            best, unknown = derived(rules, state, known)
            # Where a margin might follow from itself, that it does proves nothing
            steps = steps_of(rules, state) if verified and rules.scores else ()
            if any(step.end is None and rules.tier(step.child) <= rules.tier(state) for step in steps):
                raise MethodError(
                    f"margins of {rules.name} cannot be verified, since a move from state {state} stays in its tier:"
                    " --no-verify takes them as they are"
                )
        except Exception as error:
            # Rules need not bear numbers that are not states
            if isinstance(error, SolverError):
                raise
            kind = type(error).__name__
            raise BookError(f"{path}: {state} is not a state of {rules.name} ({kind}): leave it out") from None
        missing |= bool(unknown)
        if verified and (best is not None and best > merit if unknown else best != merit):
            raise DamagedBook(f"{path}: state {state} has another value than its moves give it: it was solved wrongly")
        if completed % STEP == 0:
            progress("verify", completed, len(table))
    progress("verify", len(table), len(table))
    missing |= any(state not in table and not rules.is_terminal(state) for state in starts)
    if missing or not reached >= table.keys():
        return False
    table.update(finished)
    return True
