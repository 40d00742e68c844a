"""By the plain algorithms: small games, rules that run in plain Python only, and games that the compiled sweep leaves.

`minimax` and `retrograde` value every reachable state; so do `expectiminimax` in games of chance, and `nimbers` in
impartial ones.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from solver.base.errors import BudgetExceeded, MethodError, ResourceError
from solver.base.extras import PLAIN_LIMIT
from solver.base.kinds import AUTO, WDL, Method
from solver.base.signals import impatient
from solver.check.conformance import SLOW, check_table
from solver.check.playouts import MOST_MOVES, RandomGame, endless, repeated
from solver.rules.game import Rules, is_built_in
from solver.search import Budget, alphabeta, retrograde, value_iteration
from solver.solving.job import Job, Outcome, Table, solved_by

name = "rules that run in plain Python only"
heeds: set[str] = {"memory"}

SMALL_SECONDS = 1.0
LITTLE = 2_000  # states that it solves before compiled kernels are loaded
LITTLE_SECONDS = 0.1
TIER_SECONDS = 350e-6  # that the kernels take for a tier, however few states it has
MANY_TIERS = 300  # of a game: for fewer a second try would be too short
THIN_SECONDS = 30.0  # of a game of thin tiers: plain Python keeps no checkpoint

METHODS: dict[str, Callable[..., Any]] = {
    Method.MINIMAX: alphabeta.minimax,
    Method.RETROGRADE: retrograde.solve,
    Method.ALPHABETA: alphabeta.solve,
    Method.EXPECTIMINIMAX: value_iteration.solve,
    Method.NIMBERS: alphabeta.nimbers,
}


def refuses(job: Job) -> str | None:
    """Refuse games that the method cannot take, in whatever way, and --wdl where values have no distances."""
    kind, name = job.rules.kind, job.rules.name
    bare = kind.refusal("wdl", name) if job.options.wdl else None
    return bare or kind.refusal(job.options.method, name)


def solve(job: Job) -> Outcome:
    """Solve a game whole."""
    return tried(job, job.played()) or solved(job)


def tried(job: Job, games: Sequence[RandomGame] = (), cached: bool = False) -> Outcome | None:
    """The outcome for a game of few states; None if it is not small, after a remark if no random game has ended.

    `cached`: the sweep's kernels need not be compiled. Raises the errors of `solve`.
    """
    rules = job.rules
    states, seconds = (min(PLAIN_LIMIT, LITTLE), LITTLE_SECONDS) if cached else (PLAIN_LIMIT, SMALL_SECONDS)
    if sum(1 for _ in itertools.islice(rules.starts(), states + 1)) <= states:
        with contextlib.suppress(BudgetExceeded):
            return solved(job, Budget(states, seconds))
        # The kernels pay for every tier, plain Python for every state. So it gets the time of theirs for the tiers.
        tiers = tiers_of_one_game(rules) if rules.tiered else 0
        if tiers > MANY_TIERS:
            with contextlib.suppress(BudgetExceeded):
                return solved(
                    job, Budget(_most_states(job, rules.kind.acyclic), min(THIN_SECONDS, TIER_SECONDS * tiers))
                )
    remark = endless(games)
    if remark is not None:
        job.options.say(remark)
    return None


def tiers_of_one_game(rules: Rules) -> int:
    """The tiers that a random game passes through: in a game of thin tiers a good part of them all."""
    chance, state, tiers = random.Random(0), rules.game.initial(), set[int]()
    ply = 0
    while True:
        tiers.add(rules.tier(rules.canonical(state)))
        children = [] if rules.is_terminal(state) else [child for _, _, child in rules.children(state)]
        if not children or ply > MOST_MOVES + 2 * len(tiers):
            return len(tiers)
        state, ply = chance.choice(children), ply + 1


def solved(job: Job, budget: Budget | None = None, reason: str | None = None) -> Outcome:
    """Solve a game, of any size where there is no budget: then plain Python takes it for that reason.

    By minimax, or by retrograde analysis if the method is that or moves stay in a tier; by value iteration. Raises
    BudgetExceeded, and ResourceError if there are more states than memory holds.
    """
    rules, method = job.rules, job.options.method
    chosen = Method(method) if method != AUTO else Method.RETROGRADE
    if method == AUTO and (rules.tiered or rules.scores):
        chosen = rules.kind.acyclic
    slow = f"{rules.name}: its rules take more than {SLOW:g} seconds for a state: they must end"
    seconds = None if budget is None else budget.seconds_left

    def progress(step: str, done: int, total: int | None, note: str = "") -> None:
        state_limit = _most_states(job, chosen)
        if budget is not None:
            job.options.progress("plain Python", done, None)
        elif state_limit is not None and done > state_limit:
            why = f" ({reason})" if reason else ""
            raise ResourceError(
                f"more than {state_limit:,} states are too many for plain Python{why}: raise --memory, or"
                " choose a smaller game"
            )
        else:
            job.options.progress(step, done, total, note)

    with contextlib.nullcontext() if seconds is None else impatient(SLOW + seconds, slow):
        if budget is not None:
            progress("plain Python", 0, None)
        try:
            result = METHODS[chosen](rules, budget=budget, progress=progress)
        except MethodError:
            if method != AUTO or rules.kind.cyclic != Method.RETROGRADE or chosen == Method.RETROGRADE:
                raise
            chosen = Method.RETROGRADE
            result = METHODS[chosen](rules, budget=budget, progress=progress)
        table = result.table
        if isinstance(result, value_iteration.Expectations):
            solved = solved_by(rules, table, rules.tier, result.units, result.cyclic)
            return Outcome(solved, solved.method, "complete")
        if chosen == Method.ALPHABETA:
            return Outcome(solved_by(rules, table), chosen, "exact")
        # The kernels' name of the method, where some move stays in its tier: the values are the same
        is_cyclic = chosen == Method.RETROGRADE or (
            method == AUTO and chosen == Method.MINIMAX and some_stay(rules, table)
        )
        if not is_built_in(rules.name):
            check_table(rules.game, table, rules.symmetry)
        # Plain searches find distances, too
        if rules.kind is WDL:
            table = {state: (merit > 0) - (merit < 0) for state, merit in table.items()}
        tier = rules.tier if rules.kind.in_tiers(method) else lambda state: 0
        solved = solved_by(rules, table, tier, cyclic=is_cyclic)
        return Outcome(solved, solved.method, "complete")


def _most_states(job: Job, method: Method) -> int | None:
    """How many states the memory holds in plain Python; None where nothing limits them."""
    state_bytes, memory = method.facts.state_bytes, job.options.memory
    return memory // state_bytes if memory and state_bytes else None


def some_stay(rules: Rules, table: Table) -> bool:
    """Whether the kernels would take retrograde analysis: some move stays in its tier, and none such scores."""
    if rules.kind.cyclic != Method.RETROGRADE:
        return False
    canonical, tier, stays = rules.canonical, rules.tier, False
    for state in table:
        for action in () if rules.is_terminal(state) else rules.actions(state):
            child = rules.result(state, action)
            if tier(canonical(child)) == tier(state):
                stays = True
                if rules.gain(state, action) and not rules.is_terminal(child):
                    return False
    return stays


def refuse_repeated(rules: Rules, games: Sequence[RandomGame]) -> None:
    """Raise MethodError, as solving would, if states come again in games, and moves between such score."""
    if rules.reward is None or rules.chance is not None or repeated(rules, games) is None:
        return
    for game in games:
        for state, action, child in zip(game.states, game.actions, game.states[1:], strict=False):
            stays = rules.tier(rules.canonical(child)) <= rules.tier(state) and not rules.is_terminal(child)
            if stays and rules.gain(state, action):
                raise retrograde.scoring(rules, state)
