"""Value iteration for games of chance with cycles, from below and from above at once.

Every state begins with the least and with the largest utility of all ends. A bound of a state follows from those of
its children as its value would, and replaces the old one where it is closer; so the bounds always hold the value, and
where play ends with probability 1 whatever the players do, they meet. What is between them when they are close enough
is the error, proved and not assumed (interval iteration: Haddad and Monmege, Theoretical Computer Science 735, 2018).
Shapley, Stochastic Games, 1953, has the equations. Tier after tier, the last first, each until no bound moves any more.

Floats round; what that adds to the error is not counted. Every state is held with its children: the 16,451 states of
nannon take 2.2 s.
"""

from __future__ import annotations

from typing import Any

from solver.errors import MethodError
from solver.game import Rules
from solver.progress import Progress, silent
from solver.search import Budget, Counts, Result, Table, best_move, roots_of, stuck
from solver.search.expectiminimax import Chance, chance_of, outcomes_of
from solver.value import Value

ERROR = 1e-12
Node = tuple[bool, list[tuple[float, Any, bool]]]
"""Whether chance decides; the children: probability (1 for moves), state, and whether the same player is to move."""
Bounds = dict[Any, tuple[float, float]]


def solve(
    game: Any,
    state: Any = None,
    *,
    error: float = ERROR,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The expectation of every state reachable from `state` (from the game's starts if None), in `table`: floats.

    None is farther from the truth than `error`. Raises MethodError without `chance`, with rewards, or where the bounds
    do not meet, GameError where weights or next states are unsound, or a player has no action, BudgetExceeded.
    """
    rules = Rules(game, symmetry)
    chance = chance_of(rules)
    if rules.reward is not None:
        raise MethodError(f"{rules.name} has rewards, which value iteration cannot bound: put them into the utility")
    counts, roots = Counts(), roots_of(rules, state)
    nodes, ends = _expanded(rules, chance, roots, counts, budget)
    bounds = _settled(rules, nodes, ends, budget, progress)
    table: Table = ends | {key: (low + high) / 2 for key, (low, high) in bounds.items()}
    widest = max((high - low for low, high in bounds.values()), default=0.0)
    if widest > 2 * error:
        raise MethodError(
            f"{rules.name}: the bounds of its values stay {widest:.1g} apart: play must end, whatever the players do"
        )
    root = roots[-1]

    def worth(action: int, alpha: float) -> float:
        child = rules.result(root, action)
        value: float = table[rules.canonical(child)]
        return value if rules.same_mover(root, action, child) else -value

    key = rules.canonical(root)
    moves = key in nodes and not nodes[key][0]
    return Result(Value(table[key], None), best_move(rules, root, worth)[1] if moves else None, True, counts, table)


def _expanded(
    rules: Rules, chance: Chance, roots: list[Any], counts: Counts, budget: Budget | None
) -> tuple[dict[Any, Node], Table]:
    """What each state leads to, and the utilities of the ends."""
    nodes: dict[Any, Node] = {}
    ends: Table = {}
    todo = [rules.canonical(root) for root in roots]
    while todo:
        state = todo.pop()
        if state in nodes or state in ends:
            continue
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if rules.is_terminal(state):
            ends[state] = rules.utility(state)
            continue
        nodes[state] = _node(rules, chance, state)
        todo += [child for _, child, _ in nodes[state][1]]
    return nodes, ends


def _node(rules: Rules, chance: Chance, state: Any) -> Node:
    canonical, same_mover = rules.canonical, rules.same_mover
    outcomes = outcomes_of(rules, chance, state)
    if outcomes:
        total = sum(weight for weight, _ in outcomes)
        return True, [(weight / total, canonical(to), same_mover(state, None, to)) for weight, to in outcomes]
    moves = [(action, rules.result(state, action)) for action in rules.actions(state)]
    if not moves:
        raise stuck(rules, state)
    return False, [(1.0, canonical(to), same_mover(state, action, to)) for action, to in moves]


def _settled(
    rules: Rules, nodes: dict[Any, Node], ends: Table, budget: Budget | None, progress: Progress
) -> Bounds:
    """The bounds of all states when none moves any more."""
    largest = max(map(abs, ends.values()), default=0)
    bounds: Bounds = dict.fromkeys(nodes, (-largest, largest)) | {key: (worth, worth) for key, worth in ends.items()}
    tiers: dict[int, list[Any]] = {}
    for key in reversed(nodes):  # what was found later mostly lies below
        tiers.setdefault(rules.tier(key), []).append(key)
    done = 0
    for tier in sorted(tiers, reverse=True):
        unsettled = True
        while unsettled:
            unsettled = False
            for key in tiers[tier]:
                if budget is not None:
                    budget.spend(nodes=0)
                found = _closer(bounds[key], nodes[key], bounds)
                if found != bounds[key]:
                    bounds[key], unsettled = found, True
        done += len(tiers[tier])
        progress("value iteration", done, len(nodes))
    return bounds


def _closer(known: tuple[float, float], node: Node, bounds: Bounds) -> tuple[float, float]:
    """The bounds of a state by those of its children, where they are closer than the known ones."""
    by_chance, children = node
    seen = []
    for share, child, same in children:
        low, high = bounds[child]
        seen.append((share * low, share * high) if same else (-share * high, -share * low))
    lows, highs = zip(*seen, strict=True)
    low, high = (sum(lows), sum(highs)) if by_chance else (max(lows), max(highs))
    return max(low, known[0]), min(high, known[1])
