"""The naive twin: all states by a search for the reachable, all values by counting unresolved children.

It is slow, obvious, right for games with and without cycles, and the judge of every other way of solving.
"""

import functools
import heapq
from types import MappingProxyType

from solver.base.value import Value
from solver.rules.game import Rules


def enumerate_states(game, symmetry=False):
    """All states that play can reach, terminal ones included."""
    return list(solve(game, symmetry))


def solve(game, symmetry=False):
    """The value of every reachable state; a state that is never resolved is a draw. Kept for other tests."""
    return _solve(game, symmetry and hasattr(game, "canonical"))


def conversions(game):
    """The plies of each decided state to a conversion: a move that raises the tier or ends the game."""
    children, values, plies = _children(game, False), solve(game), {}

    def left(state, child):
        return 0 if not children[child] or game.tier(child) > game.tier(state) else plies.get(child)

    open_states = {state for state in children if children[state] and values[state].score}
    while True:
        found = {}
        for state in open_states:
            score = values[state].score
            lefts = [left(state, child) for child, _, _ in children[state] if values[child].score == -score]
            if score > 0 and any(one is not None for one in lefts):
                found[state] = 1 + min(one for one in lefts if one is not None)
            elif score < 0 and None not in lefts:
                found[state] = 1 + max(lefts)
        if not found:
            return plies
        # Only the nearest are certain
        nearest = min(found.values())
        plies |= {state: one for state, one in found.items() if one == nearest}
        open_states -= plies.keys()


@functools.lru_cache(maxsize=128, typed=True)  # typed: named tuples of two games may be equal
def _solve(game, symmetry):
    children = _children(game, symmetry)
    return MappingProxyType(_margins(game, children) if Rules(game).scores else _outcomes(game, children))


def _children(game, symmetry):
    """state -> [(child, same mover, reward)] of all reachable states."""
    rules = Rules(game, symmetry)
    canonical, same_mover, reward = rules.canonical, rules.same_mover, rules.reward
    children = {}
    todo = [canonical(state) for state in rules.roots()]
    while todo:
        state = todo.pop()
        if state in children:
            continue
        children[state] = []
        if not game.is_terminal(state):
            for action in game.actions(state):
                child = game.result(state, action)
                gain = reward(state, action) if reward else 0
                children[state].append((canonical(child), same_mover(state, action, child), gain))
                todo.append(canonical(child))
    return children


def _outcomes(game, children):
    parents = {state: [] for state in children}
    for state in children:
        for child, same, _ in children[state]:
            parents[child].append((state, same))
    unresolved = {state: len(children[state]) for state in children}
    left = Rules(game).plies_left
    values = {state: Value(game.utility(state), left(state)) for state in children if not children[state]}
    values = {state: value if value.score else Value(0) for state, value in values.items()}
    queue = [(values[state].distance, state) for state in values if values[state].score]
    heapq.heapify(queue)
    while queue:  # in order of distance
        distance, child = heapq.heappop(queue)
        score = values[child].score
        for state, same in parents[child]:
            unresolved[state] -= 1
            seen = score if same else -score
            if state not in values and (seen == 1 or unresolved[state] == 0):
                values[state] = Value(seen, distance + 1)
                heapq.heappush(queue, (distance + 1, state))
    return {state: values.get(state, Value(0)) for state in children}


def _margins(game, children):
    """Margins without cycles; where play may come back to a state, by thresholds."""
    if not _ends(children):
        return _thresholds(game, children)
    values = {}
    stack = list(children)
    while stack:
        state = stack[-1]
        missing = [child for child, _, _ in children[state] if child not in values]
        if missing:
            stack += missing
            continue
        stack.pop()
        margins = [gain + (1 if same else -1) * values[child].score for child, same, gain in children[state]]
        values[state] = Value(max(margins) if margins else game.utility(state))
    return values


def _ends(children):
    """Whether play never comes back to a state: states can be taken away, each when all its children are gone."""
    parents, left = {state: [] for state in children}, {state: len(moves) for state, moves in children.items()}
    for state in children:
        for child, _, _ in children[state]:
            parents[child].append(state)
    gone = [state for state in left if not left[state]]
    for state in gone:
        for parent in parents[state]:
            left[parent] -= 1
            if not left[parent]:
                gone.append(parent)
    return len(gone) == len(children)


def _thresholds(game, children):
    """Tier by tier, from the last, for each margin: who can get so much more than endless play is worth, in the end."""
    rules = Rules(game)
    values = {state: Value(game.utility(state)) for state in children if not children[state]}
    for number in sorted({rules.tier(state) for state in children}, reverse=True):
        inside = {state for state in children if rules.tier(state) == number and state not in values}
        worth = {state: rules.endless(state) for state in inside}
        out = {
            state: [
                gain + (1 if same else -1) * values[child].score - worth[state]
                for child, same, gain in children[state]
                if child not in inside
            ]
            for state in inside
        }
        found = dict.fromkeys(inside, 0)
        # between two margins of moves that leave the tier nothing changes
        for margin in sorted({abs(one) for many in out.values() for one in many} - {0}):
            won, lost, before = set(), set(), -1
            while before != len(won) + len(lost):
                before = len(won) + len(lost)
                for state in inside:
                    stay = [(child, same) for child, same, _ in children[state] if child in inside]
                    if any(one >= margin for one in out[state]) or any(c in (won if s else lost) for c, s in stay):
                        won.add(state)
                    elif all(one <= -margin for one in out[state]) and all(c in (lost if s else won) for c, s in stay):
                        lost.add(state)
            found |= dict.fromkeys(won, margin) | dict.fromkeys(lost, -margin)
        values |= {state: Value(found[state] + worth[state]) for state in inside}
    return values


def perft(game, state, depth):
    """How many sequences of so many moves there are; one that ends sooner counts."""
    if depth == 0 or game.is_terminal(state):
        return 1
    return sum(perft(game, game.result(state, action), depth - 1) for action in game.actions(state))
