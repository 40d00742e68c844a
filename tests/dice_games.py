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


def nannon(spots, checkers, sides):
    """Of the winner of the opening throw, and of each side that throws next by (own, other): value iteration.

    Checkers stand at 0 (home) to spots + 1 (safe), each side counting from its own home.
    """
    start = (0, *range(1, checkers))
    values, throws = {}, {}
    todo = [(start, start)]
    while todo:
        state = todo.pop()
        if state not in throws:
            throws[state] = [nannon_moves(*state, die, spots) for die in range(1, sides + 1)]
            todo += [(other, own) for moves in throws[state] for own, other in moves if set(own) != {spots + 1}]

    def worth(own, other):
        return 1 if set(own) == {spots + 1} else 1 - values[other, own]

    values = dict.fromkeys(throws, 0.5)
    change = 1
    while change > 1e-13:
        change = 0
        for state, rolls in throws.items():
            value = sum(max(worth(*after) for after in moves) for moves in rolls) / sides
            change = max(change, abs(value - values[state]))
            values[state] = value
    opening = [(sides - die, max(worth(*after) for after in throws[start, start][die - 1])) for die in range(1, sides)]
    return sum(share * value for share, value in opening) / sum(share for share, _ in opening), values


def nannon_moves(own, other, die, spots):
    """The two sides after each move of a throw; as they are where no checker can move."""
    theirs = {spots + 1 - place for place in other if 0 < place <= spots}
    results = []
    for place in set(own) - {spots + 1}:
        target = min(place + die, spots + 1)
        in_prime = target in theirs and theirs & {target - 1, target + 1}
        if target <= spots and (target in own or in_prime):
            continue
        rest = list(own)
        rest.remove(place)
        hit = [0 if spots + 1 - them == target and 0 < them <= spots else them for them in other]
        results.append((tuple(sorted((*rest, target))), tuple(sorted(hit))))
    return results or [(own, other)]


def einstein(size, stones):
    """Of the first player from the fixed start: stones lie on squares (x, y), the first player's go up to the right."""
    corner = [(d - y, y) for d in range(size) for y in range(d + 1)][:stones]
    first = tuple(corner)
    second = tuple((size - 1 - x, size - 1 - y) for x, y in corner)
    return _einstein(first, second, size)


@cache
def _einstein(own, other, size):
    total = Fraction(0)
    alive = [number for number, square in enumerate(own) if square]
    for thrown in range(len(own)):
        below = [number for number in alive if number <= thrown]
        above = [number for number in alive if number >= thrown]
        movable = {thrown} if own[thrown] else {*below[-1:], *above[:1]}
        best = Fraction(0)
        for number in movable:
            for across, up in ((1, 0), (0, 1), (1, 1)):
                square = own[number][0] + across, own[number][1] + up
                if max(square) < size:
                    best = max(best, _after_step(own, other, number, square, size))
        total += best
    return total / len(own)


def _after_step(own, other, number, square, size):
    mine = tuple(square if i == number else None if one == square else one for i, one in enumerate(own))
    others = tuple(None if one == square else one for one in other)
    if square == (size - 1, size - 1) or not any(others):
        return Fraction(1)

    def turned(side):
        return tuple(one and (size - 1 - one[0], size - 1 - one[1]) for one in side)

    return 1 - _einstein(turned(others), turned(mine), size)


def shut_the_box(tiles, dice):
    """Of the first player, a draw for one half."""
    throws = [sum(faces) for faces in itertools.product(range(1, 7), repeat=dice)]

    @cache
    def best(left, limit):
        """The result of a player from open tiles: the second's worth against `limit`, the first's if that is None."""
        if not left or (limit is not None and sum(left) < limit):
            return Fraction(1)
        total = Fraction(0)
        for throw in throws:
            rests = [rest for size in range(len(left)) for rest in itertools.combinations(left, size)]
            rests = [rest for rest in rests if sum(left) - sum(rest) == throw]
            if rests:
                total += max(best(rest, limit) for rest in rests)
            elif limit is None:
                total += 1 - best(everything, sum(left))
            else:
                total += Fraction(sum(left) == limit, 2)
        return total / len(throws)

    everything = tuple(range(1, tiles + 1))
    return best(everything, None)


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
