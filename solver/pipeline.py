"""The pipeline: from a game to its solution and its book.

It chooses the method, tallies what was found, and writes the book. The compiled sweep does the work where numba is
installed and the game has tiers; the plain algorithms of `solver.search` do the same work otherwise, to the byte.
"""

from __future__ import annotations

import contextlib
import os
import time
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from solver import extras, opening
from solver.book import Header, check_target, write_book
from solver.conformance import check_game
from solver.errors import GameError, MethodError, UncompiledRules
from solver.fingerprint import fingerprint
from solver.game import Game, canonical_of, game_text, is_built_in, is_score_game, validate
from solver.progress import Progress, silent
from solver.solved import Solved, TierCount
from solver.value import WIN, Value, terminal_merit, value_of

METHODS = ("auto", "minimax", "alphabeta", "retrograde")
MOST_TIERS = 1024  # a header lists no more


class Summary(NamedTuple):
    """What `solve` did: the header of the book (its digest empty if none was written), where, how long, and a note."""

    header: Header
    path: Path | None
    seconds: float
    note: str | None


def solve(
    game: Game,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = "auto",
    max_ply: int | None = None,
    symmetry: bool = True,
    workers: int | None = None,
    memory: int | None = None,
    table: int | None = None,
    restart: bool = False,
    progress: Progress = silent,
) -> Summary:
    """Solve a game and write its book to `path` (or only solve it).

    `method`: "minimax" values every reachable state by tiers, "retrograde" those of a game with cycles, "alphabeta"
    keeps the exact entries of one search or, with `max_ply`, makes an opening book of all unfinished states to that
    ply; "auto" takes the first that fits. `memory` bounds the bytes of the sweep, `table` those of the search's
    table. An opening book goes on where an earlier try was stopped, unless `restart`. The book is the same, byte for
    byte, whatever `workers`; and with or without the compiled kernels, but for alpha-beta's exact entries.

    Raises GameError (bad rules or parameters), MethodError (the method does not fit), ResourceError (memory, disk).
    """
    started = time.perf_counter()
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None
    if not is_built_in(game_text(game)):
        check_game(game)
    if method not in METHODS:
        raise MethodError(f"no method {method!r}: choose one of {', '.join(METHODS)}")
    target = check_target(path) if path is not None else None
    journal = None if target is None or max_ply is None else target.with_name(target.name + ".journal")
    if max_ply is None:
        outcome = _solve(game, method, symmetry, workers, memory, table, progress)
    elif method in ("auto", "alphabeta"):
        merits = opening.solve(
            game,
            journal,
            max_ply=max_ply,
            symmetry=symmetry,
            workers=workers,
            table=table,
            restart=restart,
            progress=progress,
        )
        outcome = _Outcome(_from_table(game, merits), "alphabeta", f"ply {max_ply}", None)
    else:
        raise MethodError(f"an opening book is made by alpha-beta: --method alphabeta, not {method}")
    header = _header(game, outcome, symmetry)
    if target is not None:
        header = _write(target, header, outcome.solved, workers, progress)
    if journal is not None:
        journal.unlink(missing_ok=True)
    return Summary(header, target, time.perf_counter() - started, outcome.note)


class _Outcome(NamedTuple):
    solved: Solved
    method: str
    scope: str
    note: str | None


def _solve(
    game: Game,
    method: str,
    symmetry: bool,
    workers: int | None,
    memory: int | None,
    table: int | None,
    progress: Progress,
) -> _Outcome:
    """Solve by the first method that fits."""
    note = None
    if method in ("auto", "minimax") and hasattr(game, "tier"):
        if getattr(game, "plain_only", False):
            pass
        elif not extras.has_kernels():
            note = "solved in plain Python: pip install 'solverbook[solve]' makes it a hundred times faster"
        else:
            from solver.kernels import sweep

            try:
                solved = sweep.solve(game, symmetry=symmetry, workers=workers, memory=memory, progress=progress)
                return _Outcome(solved, "minimax", "complete", None)
            except UncompiledRules as error:
                note = f"solved in plain Python: {error}"
            except MethodError as error:
                if method == "minimax":
                    raise
                method, note = "retrograde", f"solved by retrograde analysis: {error}"
    if method == "auto":
        method = "minimax" if hasattr(game, "tier") or is_score_game(game) else "retrograde"
    if method == "retrograde" and extras.has_kernels() and not getattr(game, "plain_only", False):
        from solver.kernels import retrograde

        try:
            found = retrograde.solve(game, symmetry=symmetry, workers=workers, memory=memory, progress=progress)
            return _Outcome(found, method, "complete", note)
        except UncompiledRules as error:
            note = f"solved in plain Python: {error}"
    if method == "alphabeta":
        return _Outcome(_from_table(game, _alphabeta(game, symmetry, table, progress)), method, "exact", None)
    return _Outcome(_from_table(game, _plain(method, game, symmetry, progress)), method, "complete", note)


def _alphabeta(game: Game, symmetry: bool, table: int | None, progress: Progress) -> dict[Any, int]:
    """The exact entries of one search from all starts: compiled if that can be."""
    if extras.has_kernels() and not getattr(game, "plain_only", False):
        from solver.kernels.searcher import TABLE, Searcher

        with contextlib.suppress(UncompiledRules):
            return Searcher(game, symmetry=symmetry, table=table or TABLE).entries(progress)
    return _plain("alphabeta", game, symmetry, progress)


def _plain(method: str, game: Game, symmetry: bool, progress: Progress) -> dict[Any, int]:
    """The table of merits of a plain algorithm."""
    from solver.search import alphabeta, minimax, retrograde

    algorithm: Callable[..., Any] = {"minimax": minimax, "alphabeta": alphabeta, "retrograde": retrograde}[method].solve
    table: dict[Any, int] = algorithm(game, symmetry=symmetry, progress=progress).table
    return table


def _from_table(game: Game, table: dict[Any, int]) -> Solved:
    """A table of merits of all states, terminal ones included, sorted and tallied."""
    score_game = is_score_game(game)
    tier: Callable[[int], int] = getattr(game, "tier", lambda state: 0)
    terminal = {state for state in table if game.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    merits = sorted({table[state] for state in states}, reverse=True)
    index = {merit: place for place, merit in enumerate(merits)}
    tallies: dict[int, list[int]] = {}
    for state, merit in table.items():
        tally = tallies.setdefault(tier(state), [0, 0, 0, 0, 0])
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if merit > 0 else 4 if merit < 0 else 3] += 1
    indices = [index[table[state]] for state in states]
    return Solved(
        states,
        indices,
        [value_of(merit, score_game) for merit in merits],
        [states[indices.index(place)] for place in range(len(merits))],
        [TierCount(number, *tallies[number]) for number in sorted(tallies)],
    )


def _header(game: Game, outcome: _Outcome, symmetry: bool) -> Header:
    """The header of a solution: who it belongs to, how complete it is, and its counts."""
    solved = outcome.solved
    tiers = solved.tiers
    complete = outcome.scope == "complete"
    return Header(
        game=game_text(game),
        rules=fingerprint(game),
        method=outcome.method,
        scope=outcome.scope,
        symmetry=symmetry and hasattr(game, "canonical"),
        score_game=is_score_game(game),
        palette=solved.palette,
        states=sum(tier.states for tier in tiers) if complete else None,
        terminal=sum(tier.terminal for tier in tiers) if complete else None,
        stored=len(solved.states),
        counts={name: sum(getattr(tier, name) for tier in tiers) for name in ("win", "draw", "loss")},
        tiers=tiers if complete and hasattr(game, "tier") and len(tiers) <= MOST_TIERS else None,
        root=_root(game, solved, symmetry),
        longest=_longest(solved),
    )


def _root(game: Game, solved: Solved, symmetry: bool) -> Value:
    """The value of the start."""
    state = game.initial()
    if game.is_terminal(state):
        score_game = is_score_game(game)
        return value_of(terminal_merit(game.utility(state), score_game, WIN), score_game)
    place = bisect_left(solved.states, canonical_of(game, symmetry)(state))
    return solved.palette[solved.indices[place]]


def _longest(solved: Solved) -> tuple[int, int] | None:
    """The longest win's distance and the smallest state that has it."""
    wins = [
        (value.distance, state) for value, state in zip(solved.palette, solved.examples, strict=True) if value.score > 0
    ]
    longest = max((distance for distance, _ in wins if distance is not None), default=None)
    return next(((distance, state) for distance, state in wins if distance == longest), None) if longest else None


def _write(target: Path, header: Header, solved: Solved, workers: int | None, progress: Progress) -> Header:
    """Write the book, on all cores where the kernels are at hand."""
    if isinstance(solved.states, list):
        return write_book(target, header, solved.states, solved.indices, progress=progress)
    from solver.kernels import pack
    from solver.kernels.parallel import Workers

    with Workers(workers) as team:
        return write_book(
            target, header, solved.states, solved.indices, encode=pack.encode_chunk, map=team.map, progress=progress
        )
