"""The textbook's searches side by side, in nodes, and alpha-beta on a tree, node by node.

`compare` shows the savings of pruning, of the order of moves and of a table.

Each `Trial` is one search for the value of one state. Values are utilities alone, as in Russell and Norvig, chapter 6:
how soon a win comes is not asked, so that searches prune as much as they do there. A table holds for each state a lower
and an upper bound of its merit: "exact" keeps those that meet, "bounds" also the bounds that a cut-off leaves,
without which alpha-beta searches such states anew each time (Knuth and Moore 1975; Slate and Atkin 1977).

`trace` has the values that a student writes beside a tree: ALPHA-BETA-SEARCH of Russell and Norvig, section 6.2.3, with
MAX and MIN as they have them: all values are worth so much to MAX. A chance node (EXPECTIMINIMAX, section 6.5) is worth
the mean of its children, which are searched within a window of their own, open on both sides: a mean wants exact
values. Numbers are exact, fractions too. A small game is `unfolded` into such a tree, with the first player as MAX. A
position that play reaches in several ways is a node each time: the tree has no table.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from solver import search
from solver.base.errors import BudgetExceeded, MethodError
from solver.base.kinds import WDL
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.search import INFINITY, Budget, Search, Visit, ordered_actions, plain_state, refuse_chance, stuck, window
from solver.search.heuristic import checked, estimates_of


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
        seconds: Processor time. None if the nodes were counted and nothing ran.
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
    seconds: float | None


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


def compare(
    game: Any, state: Any = None, *, nodes: int = search.MAX_NODES, progress: Progress = silent
) -> Iterator[Tally]:
    """Carry out the TRIALS that a game allows on `state`, the start if None, each giving up after so many nodes.

    Moves come best or worst first by the values of all states, where minimax with a table finds them. Then the nodes of
    minimax without a table are counted, not visited: each state has the nodes of its children and one more. If even
    minimax with a table gives up, so would the one without, which visits no fewer states: it is not tried. Raises
    MethodError on a game with chance or where play comes back to a state.
    """
    plain, folded = (Rules(game, symmetry, WDL) for symmetry in (False, True))
    refuse_chance(plain, "alpha-beta")
    state = game.initial() if state is None else plain_state(state)
    tally, bounds = run_trial(MINIMAX, plain, state, plain.actions, nodes, progress)
    truth = {} if tally.value is None else bounds
    for trial in TRIALS:
        if trial == MINIMAX:
            yield tally
            continue
        if trial == WITHOUT_TABLE:
            below = dict[Any, tuple[int, int]]()
            # Children come before parents
            for other in truth:
                children = () if plain.is_terminal(other) else plain.actions(other)
                counts = [below[plain.result(other, action)] for action in children]
                below[other] = 1 + sum(nodes for nodes, _ in counts), sum(leaves for _, leaves in counts) or 1
            work = (*below[state], 0, 0, 0, 0, 0) if truth else (tally.nodes, 0, 0, 0, 0, 0, 0)
            yield Tally(trial, tally.value, *work, None)
            continue
        if (trial.symmetry and not folded.folds) or (trial.order == "promise" and plain.promise is None):
            continue
        if trial.order in ("best", "worst") and not truth:
            continue
        rules = folded if trial.symmetry else plain
        yield run_trial(trial, rules, state, order_of(trial, rules, truth), nodes, progress)[0]


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
    counts, seconds = search.counts, round(time.process_time() - started, 6)
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


FULL_WINDOW = (-math.inf, math.inf)
MOST_UNFOLDED = 3_000  # nodes of a tree
MOST_PLIES = 200  # from the root
Nodes = list[tuple[Any, tuple[Any, ...]]]
"""The position and the moves that lead to it, for each node in the order of the tree."""


@dataclass
class Node:
    """A node that was looked at: where it is, its window (alpha, beta) before and after, and its value.

    `number` is that of the move that leads there from `parent`, from 1 on; `depth` counts such moves from the root.
    `player` is MAX, MIN or CHANCE, "leaf" of a leaf. The true value lies between `low` and `high`; `value` is the
    result of the search, one of them. `best` is the state that the best move leads to; `cut` are the states that were
    not looked at, since `value` lies outside the window; `share` is the probability of a chance node's child.
    """

    state: Any
    parent: Node | None
    number: int
    depth: int
    player: str
    before: tuple[Any, Any]
    after: tuple[Any, Any]
    value: Any = None
    low: Any = -math.inf
    high: Any = math.inf
    best: Any = None
    cut: tuple[Any, ...] = ()
    share: Fraction | None = None

    @property
    def path(self) -> list[int]:
        """The moves that lead there from the root. Each node holds its own alone: trees may be of any depth."""
        moves: list[int] = []
        node = self
        while node.parent is not None:
            moves.append(node.number)
            node = node.parent
        return moves[::-1]


@dataclass
class Trace:
    """The nodes by their states, in the order of the visit, and the steps: (node, whether it is entered or left)."""

    nodes: dict[Any, Node]
    steps: list[tuple[Node, bool]]


def trace(game: Any, payoff: Callable[[Any], Any]) -> Trace:
    """The visit of a tree from its root; `payoff(state)` is the value of a leaf to MAX.

    Raises GameError at a node that is not a leaf and has no children.
    """
    search = _Traced(Rules(game, symmetry=False), payoff)
    search.run(search.visit(game.initial(), None, 0, *FULL_WINDOW))
    return search.found


class _Traced(Search):
    method = "alpha-beta"

    def __init__(self, rules: Rules, payoff: Callable[[Any], Any]) -> None:
        super().__init__(rules)
        self.payoff = payoff
        self.found = Trace({}, [])

    def visit(self, state: Any, parent: Node | None, number: int, alpha: Any, beta: Any) -> Visit:
        """The node of a state, with its value."""
        self.count()
        depth = 0 if parent is None else parent.depth + 1
        node = Node(state, parent, number, depth, self.player(state), (alpha, beta), (alpha, beta))
        self.found.nodes[state] = node
        self.found.steps.append((node, True))
        if node.player == "leaf":
            node.value = node.low = node.high = self.payoff(state)
            return node
        yield from self.chance(node) if node.player == "CHANCE" else self.decision(node)
        self.found.steps.append((node, False))
        return node

    def player(self, state: Any) -> str:
        """Who decides at a state."""
        rules = self.rules
        if rules.is_terminal(state):
            return "leaf"
        if any(True for _ in rules.outcomes(state)):
            return "CHANCE"
        return "MIN" if rules.mover(state) else "MAX"

    def decision(self, node: Node) -> Visit:
        """Value a node of MAX or MIN: the children from the left, until the rest cannot matter."""
        better = max if node.player == "MAX" else min
        examined = []
        alpha, beta = node.before
        below = [child for _, _, child in self.rules.children(node.state)]
        for number, state in enumerate(below, 1):
            child = yield state, node, number, alpha, beta
            examined.append(child)
            if node.value is None or better(child.value, node.value) != node.value:
                node.value, node.best = child.value, state
            alpha, beta = (max(alpha, node.value), beta) if better is max else (alpha, min(beta, node.value))
            if alpha >= beta:
                node.cut = tuple(below[number:])
                break
        if not examined:
            raise stuck(self.rules, node.state)
        lows, highs = [child.low for child in examined], [child.high for child in examined]
        # Nothing is known about unseen nodes
        if node.cut:
            (highs if better is max else lows).append(math.inf if better is max else -math.inf)
        node.after, node.low, node.high = (alpha, beta), better(lows), better(highs)

    def chance(self, node: Node) -> Visit:
        """Value a chance node: the mean of its children, by their weights."""
        outcomes = list(self.rules.outcomes(node.state))
        mean, weights = Fraction(0), sum(weight for weight, _ in outcomes)
        for number, (weight, state) in enumerate(outcomes, 1):
            child = yield state, node, number, *FULL_WINDOW
            child.share = Fraction(weight, weights)
            mean += child.share * child.value
        node.value = node.low = node.high = int(mean) if mean.denominator == 1 else mean


def unfolded(rules: Rules, state: Any, mover: int = 0, depth: int | None = None) -> tuple[Any, Nodes]:
    """Unfold a game below a position.

    Args:
        rules: The rules, which must be acyclic there, or have `evaluate`.
        state: The position.
        mover: Who is to move there, 0 or 1.
        depth: The ply at which positions become leaves, worth their `evaluate` to two decimals. None for no limit.

    Returns:
        The tree as nested lists, as files of trees have it, and its nodes.

    Raises:
        MethodError: Chance decides, the rules have no `evaluate` for `depth`, or the tree has more than
            MOST_UNFOLDED nodes, as any game with cycles has.
    """
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, whose tree is not traced: write it as tree:FILE")
    nodes: Nodes = []
    evaluate = estimates_of(rules) if depth else None

    def below(state: Any, mover: int, gained: float, moves: tuple[Any, ...]) -> Any:
        nodes.append((state, moves))
        if len(nodes) > MOST_UNFOLDED or len(moves) > MOST_PLIES:
            raise MethodError(
                f"{rules.name} has more than {MOST_UNFOLDED:,} nodes, or longer play: add --depth N, or --from a later"
                " position"
            )
        sign = 1 if mover == 0 else -1
        if rules.is_terminal(state):
            return gained + sign * rules.ended(state).score
        if evaluate and len(moves) == depth:
            return round(gained + sign * checked(rules, state, evaluate(state)), 2)
        children = []
        for action in rules.actions(state):
            child = rules.result(state, action)
            same = rules.same_mover(state, action, child)
            points = gained + sign * rules.gain(state, action)
            children.append(below(child, mover if same else 1 - mover, points, (*moves, action)))
        return {"MIN" if mover else "MAX": children}

    return below(state, mover, 0, ()), nodes
