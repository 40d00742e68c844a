"""Rules of dice games written apart from the package, on tuples and sets, to hold its rules against.

Each function gives winning chances of the side that throws next, if both play best.
"""

import itertools
from fractions import Fraction
from functools import cache


@cache
def bearoff(own, other):
    """Sorted tuples of the points of each side's checkers; who throws must have some left."""
    if not other:
        return Fraction(0)
    total = Fraction(0)
    for first in range(1, 7):
        for second in range(1, 7):
            dice = [(first,) * 4] if first == second else [(first, second), (second, first)]
            ends = {end for order in dice for end in borne(own, order)}
            total += max(1 - bearoff(other, end) for end in ends)
    return total / 36


def borne(checkers, dice):
    """All that a side can be after these dice in this order."""
    found = {checkers}
    for die in dice:
        found = {after for before in found for after in after_die(before, die)}
    return found


def after_die(checkers, die):
    if not checkers:
        return {()}
    results = set()
    for place, point in enumerate(checkers):
        rest = checkers[:place] + checkers[place + 1 :]
        if point > die:
            results.add(tuple(sorted((*rest, point - die))))
        elif point == die or point == max(checkers):
            results.add(rest)
    return results


def ur(pieces, rules):
    """Of the first player, and how many states are reached in which someone throws, won ones included.

    Men stand at 0 (waiting) to the length of the path and one more (off); squares of the board are column and row.
    """
    middle = [(column, 0) for column in range(1, 9)]
    if rules == 0:
        ends = [(8, 1), (7, 1)]
    else:
        middle, ends = middle[:7], [(7, -1), (8, -1), (8, 0), (8, 1), (7, 1)]
    path = [(column, 1) for column in (4, 3, 2, 1)] + middle + ends
    off, rosettes = len(path) + 1, {(1, 1), (1, -1), (4, 0), (7, 1), (7, -1)}
    coins = [sum(faces) for faces in itertools.product((0, 1), repeat=3 if rules == 2 else 4)]
    throws = [throw or 4 if rules == 2 else throw for throw in coins]

    def moves(own, other, throw):
        """(own men, other's men, whether the mover throws again) of each move."""
        foes = {(path[man - 1][0], -path[man - 1][1]): man for man in other if 0 < man < off}
        for man in set(own):
            to = man + throw
            if throw == 0 or man == off or to > off or (to < off and to in own):
                continue
            at = path[to - 1] if to < off else None
            if at in foes and at in rosettes and rules == 0:
                continue
            left, hit = list(own), list(other)
            left[left.index(man)] = to
            if at in foes:
                hit[hit.index(foes[at])] = 0
            again = at in rosettes or (at in foes and rules == 1)
            yield tuple(sorted(left)), tuple(sorted(hit)), again

    start, choices, todo = ((0,) * pieces,) * 2, {}, [((0,) * pieces,) * 2]
    while todo:
        state = todo.pop()
        if state in choices:
            continue
        choices[state] = (
            None
            if set(state[1]) == {off}
            else [
                [((own, other) if again else (other, own), again) for own, other, again in moves(*state, throw)]
                or [(state[::-1], False)]
                for throw in throws
            ]
        )
        todo += [child for found in choices[state] or () for child, _ in found]
    values, change = dict.fromkeys(choices, 0.5), 1.0
    values |= {state: 0.0 for state, found in choices.items() if found is None}
    while change > 1e-14:
        change = 0.0
        for state, found in choices.items():
            if found is not None:
                best = [max(values[to] if again else 1 - values[to] for to, again in some) for some in found]
                worth = sum(best) / len(throws)
                change, values[state] = max(change, abs(worth - values[state])), worth
    return values[start], len(choices)


def hypergammon(checkers, most):
    """Expected points of the side that throws first, and of each side that throws next by (own, other), each counted
    from its own home, 25 the bar, 0 off: value iteration."""
    start = tuple(range(24, 24 - checkers, -1))
    values, throws, todo = {}, {}, [(start, start)]
    while todo:
        state = todo.pop()
        if state not in throws and any(state[1]):
            dice = itertools.combinations_with_replacement(range(1, 7), 2)
            throws[state] = [(1 + (one != two), hypergammon_plays(*state, one, two)) for one, two in dice]
            todo += [(other, own) for _, plays in throws[state] for own, other in plays]
    values = dict.fromkeys(throws, 0.0)

    def worth(own, other):
        if any(own):
            return -values[other, own]
        points = 1 if 0 in other else 2 if max(other) <= 18 else 3
        return min(points, most)

    change = 1
    while change > 1e-13:
        change = 0
        for state, rolls in throws.items():
            value = sum(weight * max(worth(*after) for after in plays) for weight, plays in rolls) / 36
            change = max(change, abs(value - values[state]))
            values[state] = value
    return values[start, start], values


def hypergammon_plays(own, other, one, two):
    """The two sides after each move of a throw, as sorted tuples."""
    found = {}
    for dice in [(one,) * 4] if one == two else [(one, two), (two, one)]:
        for count, first, after in _hyper_sequences(list(own), list(other), dice):
            found.setdefault(count, []).append((first, after))
    most = max(found)
    largest = max(die for die, _ in found[most])
    return {after for die, after in found[most] if most != 1 or die == largest}


def _hyper_sequences(own, other, dice):
    """(dice played, the first of them, both sides) of all ways to play dice in this order until none goes on."""
    sides = tuple(sorted(own, reverse=True)), tuple(sorted(other, reverse=True))
    if not any(own):
        yield len(dice), dice[0] if dice else 0, sides
        return
    stuck = True
    for man, source in enumerate(own) if dice else ():
        target = source - dice[0]
        behind = [at for at in own if at > source]
        if source == 0 or (25 in own and source != 25) or (target > 0 and other.count(25 - target) > 1):
            continue
        if target <= 0 and (max(own) > 6 or (target < 0 and behind)):
            continue
        stuck = False
        after = [max(target, 0) if place == man else at for place, at in enumerate(own)]
        hit = [25 if target > 0 and at == 25 - target else at for at in other]
        for count, _, end in _hyper_sequences(after, hit, dice[1:]):
            yield count + 1, dice[0], end
    if stuck:
        yield 0, 0, sides
