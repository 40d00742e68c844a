"""The textbook's searches side by side: the savings of pruning, of the order of moves and of a table, in nodes.

Each `Trial` is one search for the value of one state. Values are utilities alone, as in Russell and Norvig, chapter 6:
how soon a win comes is not asked, so that searches prune as much as they do there. A table holds for each state a lower
and an upper bound of its merit: "exact" keeps those that meet, "bounds" also the bounds that a cut-off leaves,
without which alpha-beta searches such states anew each time (Knuth and Moore 1975; Slate and Atkin 1977).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from solver.base.errors import BudgetExceeded
from solver.base.kinds import WDL
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.search import INFINITY, Budget, Search, Visit, ordered_actions, plain_state, refuse_chance, stuck, window

MAX_NODES = 1_000_000


class Trial(NamedTuple):
    """A variant of the search.

    Attributes:
        prune: Alpha-beta if True, otherwise minimax.
        table: "" for no table, "exact" or "bounds".
        symmetry: Whether symmetric states share an entry.
        order: Order of moves: "given", "promise", "best" or "worst".
    """

    prune: bool
    table: str = ""
    symmetry: bool = False
    order: str = "given"

    @property
    def name(self) -> str:
        """The trial's name in a list: alpha-beta, best moves first."""
        order = {"best": ", best moves first", "worst": ", worst moves first", "promise": ", the rules' promise first"}
        table = {"exact": ", table of exact values", "bounds": ", table with bounds"}.get(self.table, "")
        table = table if self.prune else ", table" * bool(self.table)
        searched = ("alpha-beta" if self.prune else "minimax") + order.get(self.order, "")
        return searched + table + ", symmetric states as one" * self.symmetry


class Tally(NamedTuple):
    """The cost of a trial.

    Attributes:
        trial: The variant.
        value: The value it found. None if the search was given up.
        nodes: States visited, finished ones included.
        leaves: Finished states visited.
        refuted: States at which some move reached beta, so that no other need be searched.
        at_once: Those at which the first move did: the measure of an order of moves.
        cutoffs: States at which some moves were skipped.
        hits: Values taken from the table.
        entries: Entries of the table.
        seconds: Processor time.
    """

    trial: Trial
    value: Value | None
    nodes: int
    leaves: int
    refuted: int
    at_once: int
    cutoffs: int
    hits: int
    entries: int
    seconds: float


WITHOUT_TABLE = Trial(False)
MINIMAX = Trial(False, "exact")
TRIALS = (
    WITHOUT_TABLE,
    MINIMAX,
    Trial(False, "exact", symmetry=True),
    Trial(True, order="worst"),
    Trial(True),
    Trial(True, order="promise"),
    Trial(True, order="best"),
    Trial(True, "exact"),
    Trial(True, "bounds"),
    Trial(True, "bounds", symmetry=True),
    Trial(True, "bounds", order="best"),
)


def compare(game: Any, state: Any = None, *, nodes: int = MAX_NODES, progress: Progress = silent) -> Iterator[Tally]:
    """Carry out the TRIALS that a game allows on `state`, the start if None, each giving up after so many nodes.

    Moves come best or worst first by the values of all states, where minimax with a table finds them. Then the nodes of
    minimax without a table are counted, not visited: each state has the nodes of its children and one more. If even
    minimax with a table gives up, so would the one without, which visits no fewer states: it is not tried. Raises
    MethodError on a game with chance or where play comes back to a state.
    """
    plain, folded = (Rules(game, symmetry, WDL) for symmetry in (False, True))
    refuse_chance(plain, "alpha-beta")
    state = game.initial() if state is None else plain_state(state)
    truth: dict[Any, tuple[int, int]] = {}
    tally, value = run_trial(MINIMAX, plain, state, plain.actions, nodes, progress)
    if tally.value is not None:
        truth = value
    for trial in TRIALS:
        if trial == MINIMAX:
            yield tally
            continue
        if trial == WITHOUT_TABLE:
            yield _counted(plain, state, truth, tally)
            continue
        if (trial.symmetry and not folded.folds) or (trial.order == "promise" and plain.promise is None):
            continue
        if trial.order in ("best", "worst") and not truth:
            continue
        rules = folded if trial.symmetry else plain
        yield run_trial(trial, rules, state, order_of(trial, rules, truth), nodes, progress)[0]


def _counted(rules: Rules, state: Any, truth: dict[Any, tuple[int, int]], tally: Tally) -> Tally:
    """Return what minimax without a table costs, given the states of minimax with one, children before parents."""
    if tally.value is None:
        return Tally(WITHOUT_TABLE, None, tally.nodes, 0, 0, 0, 0, 0, 0, 0.0)
    started = time.process_time()
    below: dict[Any, tuple[int, int]] = {}
    for other in truth:
        if rules.is_terminal(other):
            below[other] = 1, 1
            continue
        nodes, leaves = 1, 0
        for action in rules.actions(other):
            of_child = below[rules.result(other, action)]
            nodes, leaves = nodes + of_child[0], leaves + of_child[1]
        below[other] = nodes, leaves
    return Tally(WITHOUT_TABLE, tally.value, *below[state], 0, 0, 0, 0, 0, time.process_time() - started)


def order_of(trial: Trial, rules: Rules, truth: dict[Any, tuple[int, int]]) -> Callable[[Any], Iterable[int]]:
    """The moves of a state in a trial's order; `truth`: the merits of all states, twice each."""
    if trial.order == "promise":
        return ordered_actions(rules)
    if trial.order == "given":
        return rules.actions

    def worth(state: Any, action: int) -> int:
        child = rules.result(state, action)
        return rules.lifted(truth[child][0], state, action, child)

    # Equal ones stay as they come
    reverse = trial.order == "best"
    return lambda state: sorted(rules.actions(state), key=lambda action: worth(state, action), reverse=reverse)


def run_trial(
    trial: Trial, rules: Rules, state: Any, ordered: Callable[[Any], Iterable[int]], nodes: int, progress: Progress
) -> tuple[Tally, dict[Any, tuple[int, int]]]:
    """Run a trial. Returns its cost and its table."""
    search = _Compared(rules, trial, ordered, Budget(nodes), progress)
    started, value = time.process_time(), None
    with contextlib.suppress(BudgetExceeded):
        value = rules.kind.value(search.run(search.visit(state, rules.canonical(state), -INFINITY, INFINITY)))
    counts, seconds = search.counts, time.process_time() - started
    figures = (
        counts.nodes,
        search.leaves,
        search.refuted,
        search.at_once,
        counts.cutoffs,
        counts.hits,
        len(search.bounds),
    )
    return Tally(trial, value, *figures, seconds), search.bounds


class _Compared(Search):
    """A trial under way; `bounds` is its table."""

    method = "alpha-beta"

    def __init__(
        self, rules: Rules, trial: Trial, ordered: Callable[[Any], Iterable[int]], budget: Budget, progress: Progress
    ) -> None:
        super().__init__(rules, budget=budget, progress=progress)
        self.trial, self.ordered = trial, ordered
        self.bounds: dict[Any, tuple[int, int]] = {}
        self.leaves = self.refuted = self.at_once = 0

    def visit(self, state: Any, key: Any, alpha: int, beta: int) -> Visit:
        """The merit of a state, exact inside the window, a bound outside; without pruning the window stays open."""
        self.count()
        rules, prune = self.rules, self.trial.prune
        if rules.is_terminal(state):
            self.leaves += 1
            merit = rules.end(state)
            self.keep(key, merit, merit)
            return merit
        self.enter(key)
        best, floor = -INFINITY, alpha
        moves = iter(self.ordered(state))
        for number, action in enumerate(moves):
            best = max(best, (yield from self.worth(state, action, floor, beta)))
            if prune:
                floor = max(floor, best)
                if best >= beta:
                    self.refuted += 1
                    self.at_once += number == 0
                    self.counts.cutoffs += next(moves, None) is not None
                    break
        if best == -INFINITY:
            raise stuck(rules, state)
        self.path.remove(key)
        self.keep(key, -INFINITY if best <= alpha else best, INFINITY if best >= beta else best)
        return best

    def worth(self, state: Any, action: int, alpha: int, beta: int) -> Visit:
        """Return the merit of an action, or a bound that suffices, from the table or from a visit."""
        rules = self.rules
        child = rules.result(state, action)
        key = rules.canonical(child)
        low, high = window(rules, state, action, child, alpha, beta)
        lower, upper = self.bounds.get(key, (-INFINITY, INFINITY))
        if lower == upper or lower >= high or upper <= low:
            self.counts.hits += 1
            merit = upper if upper <= low else lower
        else:
            merit = yield child, key, low, high
        return rules.lifted(merit, state, action, child)

    def keep(self, key: Any, lower: int, upper: int) -> None:
        """Note that a state's merit lies between these, if the table has room for such."""
        if not self.trial.table or (self.trial.table == "exact" and lower != upper):
            return
        low, high = self.bounds.get(key, (-INFINITY, INFINITY))
        self.bounds[key] = max(low, lower), min(high, upper)
