"""The judge of games of chance: exact values by components, without anything of the package that solves.

All reachable states are cut into strongly connected components (Tarjan, SIAM Journal on Computing 1(2), 1972), valued
last first. One state alone has its value from those below. In a component with cycles a choice is fixed in each
state, the linear equations of its chance nodes are solved, by fractions where they are few, and the choices that this
shows to be better are changed until none is: then the values satisfy the optimality equations, and where play ends
with probability 1 whatever the players do, which `ends_surely` says, nothing else does (Condon, The Complexity of
Stochastic Games, 1992).
"""

from fractions import Fraction

from solver.rules.game import Rules

FEW = 40  # equations that are solved by fractions
SURE = 1e-13  # by that a choice must be better, in floats


class Node:
    """One state: `kind` is "end", "chance" or "choice"; `children` are (weight or action, sign, gain, key).

    Weights are fractions that add up to 1; the sign is 1 where the same player is to move in the child, else -1.
    """

    def __init__(self, kind, children=(), worth=None):
        self.kind, self.children, self.worth = kind, children, worth


def nodes_of(game, symmetry=False):
    """state -> Node of all reachable states, folded by `canonical` with symmetry."""
    rules = Rules(game, symmetry)
    nodes, todo = {}, [rules.canonical(state) for state in rules.roots()]
    while todo:
        state = todo.pop()
        if state not in nodes:
            nodes[state] = _node(game, rules, state)
            todo += [key for *_, key in nodes[state].children]
    return nodes


def _node(game, rules, state):
    if game.is_terminal(state):
        return Node("end", worth=game.utility(state))

    def child(share, to, gain):
        return share, 1 if game.to_move(to) == game.to_move(state) else -1, gain, rules.canonical(to)

    outcomes = list(game.chance(state))
    if outcomes:
        total = sum(weight for weight, _ in outcomes)
        return Node("chance", [child(Fraction(weight, total), to, 0) for weight, to in outcomes])
    moves = game.actions(state)
    return Node("choice", [child(action, game.result(state, action), rules.gain(state, action)) for action in moves])


def ends_surely(nodes):
    """Whether play ends with probability 1 whatever both players do.

    It does unless some states are closed: a choice in each that stays, and all that chance does stays.
    """
    closed = {state for state in nodes if nodes[state].kind != "end"}
    parents = {state: [] for state in nodes}
    left = {}
    for state in closed:
        left[state] = len(nodes[state].children)
        for *_, key in nodes[state].children:
            parents[key].append(state)
    leaving = [state for state in nodes if state not in closed]
    while leaving:
        for parent in parents[leaving.pop()]:
            left[parent] -= 1
            if parent in closed and (nodes[parent].kind == "chance" or left[parent] == 0):
                closed.remove(parent)
                leaving.append(parent)
    return not closed


def solve(game, symmetry=False):
    """The expectation of every reachable state: fractions where all that it follows from are, floats elsewhere."""
    nodes = nodes_of(game, symmetry)
    assert ends_surely(nodes)
    values = {}
    for component in _components(nodes):
        state = component[0]
        node = nodes[state]
        if node.kind == "end":
            values[state] = Fraction(node.worth)
        elif len(component) > 1 or any(key == state for *_, key in node.children):
            _solve_component(nodes, component, values)
        elif node.kind == "chance":
            values[state] = sum(share * sign * values[key] for share, sign, _, key in node.children)
        else:
            values[state] = max(gain + sign * values[key] for _, sign, gain, key in node.children)
    return values


def _components(nodes):
    """Strongly connected components, each after all that it leads to."""
    number, low, open_states, stacked = {}, {}, [], set()
    for root in nodes:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_states.append(root)
        stacked.add(root)
        work = [(root, iter(nodes[root].children))]
        while work:
            state, children = work[-1]
            for *_, key in children:
                if key not in number:
                    number[key] = low[key] = len(number)
                    open_states.append(key)
                    stacked.add(key)
                    work.append((key, iter(nodes[key].children)))
                    break
                if key in stacked:
                    low[state] = min(low[state], number[key])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == number[state]:
                    component = []
                    while not component or component[-1] != state:
                        component.append(open_states.pop())
                        stacked.remove(component[-1])
                    yield component


def _solve_component(nodes, component, values):
    """Add the values of a component with cycles to those below it."""
    unknown = [state for state in component if nodes[state].kind == "chance"]
    choices = {state: nodes[state].children[0] for state in component if nodes[state].kind == "choice"}
    below = [values[key] for state in component for *_, key in nodes[state].children if key in values]
    exact = len(unknown) <= FEW and all(isinstance(value, Fraction) for value in below)
    for _ in range(100):
        found = _evaluate(nodes, unknown, choices, values, exact)

        def worth(child, found=found):
            _, sign, gain, key = child
            return gain + sign * _followed(key, choices, values, found)

        better = {}
        for state, chosen in choices.items():
            best = max(nodes[state].children, key=worth)
            if worth(best) > worth(chosen) + (0 if exact else SURE):
                better[state] = best
        if not better:
            values.update(found)
            values.update({state: worth(chosen) for state, chosen in choices.items()})
            return
        choices.update(better)
    raise AssertionError("the choices go in circles")


def _traced(key, choices):
    """Where fixed choices lead from a state: sign, gain for who moves there, and the first state without a choice."""
    sign, gain = 1, 0
    while key in choices:
        _, turn, more, key = choices[key]
        gain += sign * more
        sign *= turn
    return sign, gain, key


def _followed(key, choices, values, found):
    sign, gain, end = _traced(key, choices)
    return gain + sign * (found[end] if end in found else values[end])


def _evaluate(nodes, unknown, choices, values, exact):
    """The values of the chance nodes if these choices are made."""
    rows = {}
    for state in unknown:
        row, constant = {state: 1}, 0
        for share, sign, gain, key in nodes[state].children:
            turn, more, end = _traced(key, choices)
            constant += share * (gain + sign * more)
            if end in values:
                constant += share * sign * turn * values[end]
            else:
                row[end] = row.get(end, 0) - share * sign * turn
        rows[state] = row, constant
    return _eliminated(unknown, rows) if exact else _by_numpy(unknown, rows)


def _eliminated(unknown, rows):
    """Gauss and Jordan, with fractions."""
    for pivot in unknown:
        row, constant = rows[pivot]
        scale = row[pivot]
        row, constant = {key: share / scale for key, share in row.items() if share}, constant / scale
        rows[pivot] = row, constant
        for state, (other, other_constant) in rows.items():
            factor = other.get(pivot, 0)
            if state != pivot and factor:
                for key, share in row.items():
                    other[key] = other.get(key, 0) - factor * share
                rows[state] = other, other_constant - factor * constant
    return {state: Fraction(rows[state][1]) for state in unknown}


def _by_numpy(unknown, rows):
    import numpy as np

    place = {state: number for number, state in enumerate(unknown)}
    matrix, constants = np.zeros((len(unknown), len(unknown))), np.zeros(len(unknown))
    for state, (row, constant) in rows.items():
        constants[place[state]] = float(constant)
        for key, share in row.items():
            matrix[place[state], place[key]] = float(share)
    return dict(zip(unknown, np.linalg.solve(matrix, constants).tolist(), strict=True))
