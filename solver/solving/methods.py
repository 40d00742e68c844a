"""The methods: what each refuses, which options each way of solving heeds, and how it solves.

`minimax` and `retrograde` value every reachable state, by the compiled sweep or by the plain algorithm of that name;
`alphabeta` keeps the exact entries of one search, or makes an opening book by ply. All hand over what they found in the
same shape; so does `expectiminimax` for games of chance. Which of them a game gets, `pipeline` chooses.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import BudgetExceeded, MethodError, ResourceError, UncompiledRules
from solver.base.expectations import MIDDLE, Steps, number_of
from solver.base.options import Options
from solver.base.value import WIN, Value, value_of
from solver.book.codecs import fixed
from solver.book.solution import Solved, TierCount
from solver.check.conformance import check_table
from solver.check.playouts import RandomGame, repeated
from solver.rules.game import Rules, is_built_in, is_score_game
from solver.search import Budget, alphabeta, cycle, minimax, retrograde, value_iteration
from solver.solving import opening

HEEDED = {  # the options that a way of solving heeds, of those that only some ways do
    "the sweep": {"memory", "workers", "restart", "checkpoint", "anyway"},
    "a cluster (--cluster)": {"cluster", "store", "memory", "workers", "restart", "checkpoint"},
    "--method alphabeta": {"table"},
    "an opening book (--max-ply)": {"memory", "workers", "restart", "table", "wdl"},
    "rules that run in plain Python only": {"memory"},
    "--pruned": set(),
}
KEPT_BESIDE_A_BOOK = ("restart", "checkpoint", "cluster")  # they mean nothing without one
FEW = 20_000  # nodes that plain alpha-beta looks at before a compiler is ready
Table = dict[Any, int]


class Outcome(NamedTuple):
    """A solution, the method and scope of its header, the work folder to be removed when its book is written, and what
    may mend a fault that comes to light while it is: whether it did."""

    solved: Solved
    method: str
    scope: str
    work: Any = None
    mend: Callable[[Exception], bool] | None = None


def no_chance(rules: Rules) -> str | None:
    """A reason against games in which dice or cards decide."""
    return f"{rules.name} is a game of chance: use expectiminimax" if rules.chance is not None else None


def only_chance(rules: Rules) -> str | None:
    """A reason against other games."""
    return f"{rules.name} is no game of chance: use minimax" if rules.chance is None else None


def no_scores(rules: Rules) -> str | None:
    """A reason against these and score games."""
    reason = f"{rules.name} is a score game, which retrograde analysis cannot take: use minimax"
    return no_chance(rules) or (reason if rules.scores else None)


class Method(NamedTuple):
    """What is refused (a reason, or None), as far as the rules tell it before any work is done; the plain algorithm."""

    refusal: Callable[[Rules], str | None]
    plain: Callable[..., Any]
    state_bytes: int | None = None  # of memory in plain Python; long lines of play take more


METHODS = {
    "minimax": Method(no_chance, minimax.solve, 300),
    "retrograde": Method(no_scores, retrograde.solve, 600),
    "alphabeta": Method(no_chance, alphabeta.solve),
    "expectiminimax": Method(only_chance, value_iteration.solve, 1000),
}


def refuse(rules: Rules, options: Options, keeps: bool) -> None:
    """Raise MethodError for what cannot be done, or asks for what would be ignored; `keeps`: a book is written."""
    method, max_ply = options.method, options.max_ply
    if method not in ("auto", *METHODS):
        raise MethodError(f"no method {method!r}: choose one of {', '.join(('auto', *METHODS))}")
    if max_ply is not None and method not in ("auto", "alphabeta"):
        raise MethodError(f"an opening book is made by alpha-beta: --method alphabeta, not {method}")
    some_heed = sorted(set().union(*HEEDED.values()))
    refuse_ignored(_way(rules, options), keeps, **{name: getattr(options, name) for name in some_heed})
    if options.wdl and is_score_game(rules.game):
        raise MethodError(f"the values of {rules.name} are margins, which --wdl cannot leave out: leave it out")
    if method == "auto":
        reason = None
        if max_ply is not None and rules.chance is not None:
            reason = f"{rules.name} is a game of chance, which has no opening books: leave --max-ply out"
    else:
        reason = METHODS[method].refusal(rules)
    if reason is not None:
        raise MethodError(reason)
    if rules.chance is not None and options.codec not in (None, fixed.NAME):
        raise MethodError(f"{rules.name} is a game of chance, whose books have a codec of their own: leave --codec out")


def _way(rules: Rules, options: Options) -> str:
    """Which of HEEDED holds."""
    if options.max_ply is not None:
        return "an opening book (--max-ply)"
    if options.method == "alphabeta":
        return "--method alphabeta"
    if rules.plain_only:
        return "rules that run in plain Python only"
    return "the sweep" if options.cluster is None else "a cluster (--cluster)"


def refuse_ignored(way: str, keeps: bool, **given: Any) -> None:
    """Raise MethodError if an option was given, neither None nor False, that this way of solving would ignore.

    `keeps`: whether a book is written.
    """
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = f"--{name.replace('_', '-')}"
        if name not in HEEDED[way]:
            ways = [other for other, heeded in HEEDED.items() if name in heeded]
            where = f"; it is for {' and '.join(ways)}" if ways else ""
            raise MethodError(f"{option} means nothing to {way}: leave it out{where}")
        if name in KEPT_BESIDE_A_BOOK and not keeps:
            raise MethodError(f"{option} is about what an unfinished book keeps: name one with -o, or leave it out")


def refuse_repeated(rules: Rules, games: Sequence[RandomGame]) -> None:
    """Raise MethodError, as minimax would, if states come again in games whose values are margins."""
    if rules.scores and rules.chance is None and repeated(rules, games) is not None:
        raise cycle(rules, "minimax")


def unswept(rules: Rules) -> str | None:
    """Why the compiled sweep does not take a game, as far as the rules tell it before they are compiled."""
    from solver.sweep.forward import refuse_staying

    try:
        if not rules.tiered:
            refuse_staying(rules, True, f"{rules.name} has no tier")
    except MethodError as error:
        return str(error)
    return None


def swept(rules: Rules, work: Any, states: Sequence[int], options: Options) -> Outcome | str:
    """The solution by the compiled sweep; or why only the plain algorithms may take the game."""
    from solver.sweep import exhaustive

    try:
        solved = exhaustive.solve(rules.game, work, options, states)
    except UncompiledRules as error:
        reason = str(error)
    except MethodError as error:
        if rules.chance is not None or not rules.scores:
            raise
        reason = str(error)  # scores, with moves that stay in a tier: minimax takes them if they make no cycle
    else:
        return Outcome(solved, _name(solved), "complete", work)
    work.remove()
    return reason


def clustered(rules: Rules, solve: Any, states: Sequence[int]) -> Outcome:
    """The solution by a cluster's solve, `cluster.solving.Clustered`."""
    solved = solve.solve(states)
    return Outcome(solved, _name(solved), "complete", solve, solve.mend)


def _name(solved: Solved) -> str:
    """The method that a header says for a complete solution."""
    if solved.expectation is not None:
        return "value-iteration" if solved.cyclic else "expectiminimax"
    return "retrograde" if solved.cyclic else "minimax"


def plainly(rules: Rules, method: str, found_by: Callable[[str], Any]) -> Outcome:
    """Solve by the plain algorithms: minimax, or retrograde analysis if the method is that or moves stay in a tier.

    `found_by(name)` is the result of one of METHODS, with its `table`.
    """
    if rules.chance is not None:
        solved = solved_by_chance(rules, found_by("expectiminimax"))
        return Outcome(solved, _name(solved), "complete")
    chosen = method
    if method == "auto":
        chosen = "minimax" if rules.tiered or rules.scores else "retrograde"
    try:
        table = found_by(chosen).table
        if method == "auto" and chosen == "minimax" and not rules.scores and _some_stay(rules, table):
            chosen = "retrograde"  # as the kernels would call it: the values are the same
    except MethodError:
        if method != "auto" or rules.scores or chosen == "retrograde":
            raise
        chosen = "retrograde"
        table = found_by(chosen).table
    if not is_built_in(rules.name):
        check_table(rules.game, table, rules.symmetry)
    tier = _one_tier if method == "retrograde" else rules.tier
    return Outcome(solved_by(rules, table, tier), chosen, "complete")


def known(rules: Rules, table: Table, complete: bool) -> Outcome:
    """The outcome of merits that are known already, as the method that suits them would have it."""
    if not complete:
        return Outcome(solved_by(rules, table), "alphabeta", "exact")
    rises = rules.scores or (rules.tiered and not _some_stay(rules, table))
    return Outcome(solved_by(rules, table), "minimax" if rises else "retrograde", "complete")


def _some_stay(rules: Rules, table: Table) -> bool:
    """Whether some move stays in its tier."""
    canonical, tier = rules.canonical, rules.tier
    return any(
        tier(canonical(rules.result(state, action))) == tier(state)
        for state in table
        if not rules.is_terminal(state)
        for action in rules.actions(state)
    )


def found_by(name: str, rules: Rules, options: Options, reason: str | None = None) -> Any:
    """What a plain algorithm finds, which was taken for that reason.

    Raises ResourceError if there are more states than the memory holds.
    """
    method = METHODS[name]
    most = options.memory // method.state_bytes if options.memory and method.state_bytes else None

    def progress(step: str, done: int, total: int | None, note: str = "") -> None:
        if most is not None and done > most:
            why = f" ({reason})" if reason else ""
            raise ResourceError(
                f"more than {most:,} states are too many for plain Python{why}: raise --memory, or take a smaller game"
            )
        options.progress(step, done, total, note)

    return method.plain(rules.game, symmetry=rules.symmetry, progress=progress)


def exact_entries(rules: Rules, options: Options) -> Outcome:
    """The exact entries of one alpha-beta search from all starts: plain while it is small, compiled if that can be."""
    found: Table | None = None
    if not rules.plain_only and options.table is None:
        with contextlib.suppress(BudgetExceeded):  # by nodes, not by time: the same book everywhere
            found = alphabeta.solve(rules.game, symmetry=rules.symmetry, budget=Budget(nodes=FEW)).table
    if found is None and not rules.plain_only:
        found = _compiled_entries(rules, options)
    if found is None:
        found = found_by("alphabeta", rules, options).table
    return Outcome(solved_by(rules, found), "alphabeta", "exact")


def _compiled_entries(rules: Rules, options: Options) -> Table | None:
    """Those that the compiled search finds; None, having said why, if it cannot run."""
    reason = extras.remedy()
    if extras.has_kernels():
        from solver.compiled.exact.searcher import TABLE, Searcher

        try:
            searcher = Searcher(rules.game, symmetry=rules.symmetry, table=options.table or TABLE)
            found: Table = searcher.entries(options.progress)
            return found
        except UncompiledRules as error:
            reason = str(error)
    options.say_plainly(reason)
    return None


def opening_book(rules: Rules, journal: Path | None, max_ply: int, options: Options) -> Outcome:
    """All unfinished states to a ply, those of the deepest valued by alpha-beta; `journal` keeps what is done."""
    merits = opening.solve(rules, journal, max_ply, options)
    return Outcome(solved_by(rules, merits), "alphabeta", f"ply {max_ply}")


def solved_by(rules: Rules, table: Table, tier: Callable[[int], int] | None = None) -> Solved:
    """A table of merits of states, terminal ones included, sorted and tallied; by the game's tiers, or these."""
    terminal = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in terminal)
    stored = Counter(table[state] for state in states)
    merits = sorted(stored, reverse=True)
    index = {merit: place for place, merit in enumerate(merits)}
    slowest = min((merit for merit in merits if merit > 0), default=None)
    longest = None
    if slowest is not None and not rules.scores:
        longest = WIN - slowest, next(state for state in states if table[state] == slowest)
    return Solved(
        len(states),
        lambda: [(states, [index[table[state]] for state in states])],
        [value_of(merit, rules.scores) for merit in merits],
        [stored[merit] for merit in merits],
        _tallied(table, terminal, tier or rules.tier),
        _root(rules, table),
        longest,
    )


def solved_by_chance(rules: Rules, found: value_iteration.Expectations) -> Solved:
    """`solved_by` of a game of chance."""
    table = found.table
    ended = {state for state in table if rules.is_terminal(state)}
    states = sorted(state for state in table if state not in ended)
    steps = Steps(found.expectation.step)
    signs = {state: number_of(value) - MIDDLE for state, value in table.items()}
    return Solved(
        len(states),
        lambda: [(states, [number_of(table[state]) for state in states])],
        [],
        [],
        _tallied(signs, ended, rules.tier),
        steps[number_of(table[rules.canonical(rules.game.initial())])],
        None,
        found.cyclic,
        found.expectation,
    )


def _tallied(table: Table, terminal: set[int], tier: Callable[[int], int]) -> list[TierCount]:
    """The states of each tier, counted."""
    tallies: dict[int, list[int]] = {}
    for state, merit in table.items():
        tally = tallies.setdefault(tier(state), [0, 0, 0, 0, 0])
        tally[0] += 1
        tally[1] += state in terminal
        tally[2 if merit > 0 else 4 if merit < 0 else 3] += 1
    return [TierCount(number, *tallies[number]) for number in sorted(tallies)]


def _one_tier(state: int) -> int:
    return 0


def _root(rules: Rules, table: Table) -> Value:
    """The value of the start."""
    state = rules.game.initial()
    merit = rules.end(state) if rules.is_terminal(state) else table[rules.canonical(state)]
    return value_of(merit, rules.scores)
