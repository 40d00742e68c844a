"""Rules of board games written apart from the package, as slowly and plainly as can be, to hold its rules against.

A position is a game's `cells` or `show` of it, and the mover. `moves` lists the positions that may come
next, `over` says what a finished one is worth for who is to move, and None of others.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

ALL_WAYS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]


class Apart(NamedTuple):
    """Rules as `naive` takes them: an action is the position that it leads to."""

    moves: Callable
    over: Callable
    start: tuple
    more: tuple = ()

    def initial(self):
        return self.start

    def starts(self):
        return self.more

    def actions(self, state):
        return self.moves(*state)

    def result(self, state, action):
        return action

    def is_terminal(self, state):
        return self.over(*state) is not None

    def utility(self, state):
        return self.over(*state)


def grid(board):
    """The cells of rows from the top, by column and row from the bottom left."""
    return {(x, len(board) - 1 - y): mark for y, row in enumerate(board) for x, mark in enumerate(row)}


def rows(cells):
    width, height = max(x for x, _ in cells) + 1, max(y for _, y in cells) + 1
    return tuple("".join(cells[x, y] for x in range(width)) for y in reversed(range(height)))


def lost_without_moves(moves, has_won):
    """The ends of a game that the other has won, or in which the mover has no move."""

    def over(board, mover):
        return -1 if has_won(board, 1 - mover) or not moves(board, mover) else None

    return over


LINES_OF_NINE = [
    *([(x, y) for x in range(3)] for y in range(3)),
    *([(x, y) for y in range(3)] for x in range(3)),
    [(0, 0), (1, 1), (2, 2)],
    [(0, 2), (1, 1), (2, 0)],
]


def gobblet(sizes, each):
    """Stacks are words, the uppermost man last: first player's S M L, second's s m l; cells row by row from the top."""
    order = "SML"[:sizes]
    lines = [[(2 - y) * 3 + x for x, y in line] for line in LINES_OF_NINE]

    def owns(mark, player):
        return bool(mark) and mark.isupper() == (player == 0)

    def has_line(board, player):
        return any(all(owns(board[cell][-1:], player) for cell in line) for line in lines)

    def covered(board, cell, man):
        """The board with a man put on a cell, None where it does not go."""
        top = board[cell][-1:].upper()
        if top and order.index(top) >= order.index(man.upper()):
            return None
        return board[:cell] + (board[cell] + man,) + board[cell + 1 :]

    def moves(board, mover):
        found = []
        for size in order:
            man = size.lower() if mover else size
            if "".join(board).count(man) < each:
                found += [covered(board, cell, man) for cell in range(9)]
        for source in range(9):
            man = board[source][-1:]
            if owns(man, mover):
                lifted = board[:source] + (board[source][:-1],) + board[source + 1 :]
                found += [covered(lifted, cell, man) for cell in range(9) if cell != source]
        return [(after, 1 - mover) for after in found if after is not None]

    def over(board, mover):
        return 1 if has_line(board, mover) else -1 if has_line(board, 1 - mover) else None

    return Apart(moves, over, (("",) * 9, 0))


def morris(men, flying, squares=2):
    """The board is a word and how many men were placed; points clockwise, the outer square first."""
    ring = ((-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0))
    points = [(r, r * x, r * y) for r in range(squares, 0, -1) for x, y in ring]

    def joined(a, b):
        (r, x, y), (s, u, v) = points[a], points[b]
        if r == s:
            return abs(x - u) + abs(y - v) == r
        if abs(r - s) != 1:
            return False
        return 0 in (x, y) and (x > 0) - (x < 0) == (u > 0) - (u < 0) and (y > 0) - (y < 0) == (v > 0) - (v < 0)

    sides = [
        [i for i, (s, *at) in enumerate(points) if s == r and at[k] == w * r]
        for r, k, w in itertools.product(range(squares, 0, -1), (0, 1), (1, -1))
    ]
    if squares == 3:
        sides += [[middle, 8 + middle, 16 + middle] for middle in (1, 3, 5, 7)]

    def milled(word, point):
        return any(point in side and {word[i] for i in side} == {word[point]} for side in sides)

    def steps(word, mover, placing):
        mark, empty = "Xo"[mover], [i for i in range(8 * squares) if word[i] == "."]
        if placing:
            return [(None, to) for to in empty]
        own = [i for i in range(8 * squares) if word[i] == mark]
        anywhere = flying and len(own) == 3
        return [(man, to) for man in own for to in empty if anywhere or joined(man, to)]

    def moves(board, mover):
        (word, placed), found = board, []
        placing, mark, foe = placed < 2 * men, "Xo"[mover], "oX"[mover]
        for man, to in steps(word, mover, placing):
            after = list(word)
            after[to] = mark
            if man is not None:
                after[man] = "."
            foes = [i for i in range(8 * squares) if after[i] == foe]
            free = [i for i in foes if not milled(after, i)]
            victims = (free or foes) if milled(after, to) else []
            for victim in victims or [None]:
                left = "".join("." if i == victim else cell for i, cell in enumerate(after))
                found.append(((left, placed + placing), 1 - mover))
        return found

    def over(board, mover):
        word, placed = board
        if placed < 2 * men:
            return None
        if squares == 3 and word.count("oX"[mover]) < 3:
            return 1
        return -1 if word.count("Xo"[mover]) < 3 or not steps(word, mover, False) else None

    return Apart(moves, over, (("." * 8 * squares, 0), 0))


def dodgem(size):
    """Rows from the top."""

    def moves(board, mover):
        cells, found = grid(board), []
        ahead, across = [((1, 0), ((0, 1), (0, -1))), ((0, 1), ((1, 0), (-1, 0)))][mover]
        for (x, y), mark in cells.items():
            for dx, dy in (ahead, *across) if mark == "Xo"[mover] else ():
                to = (x + dx, y + dy)
                if cells.get(to) == "." or (to not in cells and (dx, dy) == ahead):
                    after = {**cells, (x, y): "."}
                    if to in cells:
                        after[to] = mark
                    found.append((rows(after), 1 - mover))
        return found

    def over(board, mover):
        return None if moves(board, mover) else 1

    start = [["X" if x == 0 and y else "o" if y == 0 and x else "." for x in range(size)] for y in range(size)]
    return Apart(moves, over, (tuple("".join(row) for row in reversed(start)), 0))


def nocca(width, height):
    """Cells row by row from the top, each a word of x and o, the uppermost last."""

    def moves(board, mover):
        found = []
        for cell, stack in enumerate(board):
            if stack[-1:] != "xo"[mover]:
                continue
            x, y = cell % width, cell // width
            left = board[:cell] + (stack[:-1],) + board[cell + 1 :]
            if y == (height - 1 if mover else 0):
                found.append((left, 1 - mover))
            for dx, dy in ALL_WAYS:
                to = (y + dy) * width + x + dx
                if 0 <= x + dx < width and 0 <= y + dy < height and len(board[to]) < 3:
                    found.append((left[:to] + (left[to] + "xo"[mover],) + left[to + 1 :], 1 - mover))
        return found

    def gone(board, player):
        return "".join(board).count("xo"[player]) < width

    start = ("o",) * width + ("",) * width * (height - 2) + ("x",) * width
    return Apart(moves, lost_without_moves(moves, gone), (start, 0))


def dao(trap):
    """Rows from the top."""
    squares = [{(x + i, y + j) for i in (0, 1) for j in (0, 1)} for x in range(3) for y in range(3)]
    lines = [{(x, i) for x in range(4)} for i in range(4)] + [{(i, y) for y in range(4)} for i in range(4)]
    made = [*squares, *lines, {(0, 0), (0, 3), (3, 0), (3, 3)}]

    def moves(board, mover):
        cells, found = grid(board), []
        for man in [at for at, mark in cells.items() if mark == "Xo"[mover]]:
            for x, y in ALL_WAYS:
                at = man
                while cells.get((at[0] + x, at[1] + y)) == ".":
                    at = (at[0] + x, at[1] + y)
                if at != man:
                    found.append((rows({**cells, man: ".", at: "Xo"[mover]}), 1 - mover))
        return found

    def over(board, mover):
        cells = grid(board)
        own, foes = ({at for at, mark in cells.items() if mark == one} for one in ("Xo"[mover], "oX"[mover]))
        if foes in made:
            return -1
        for x, y in itertools.product((0, 3), repeat=2):
            around = {(x + dx, y + dy) for dx, dy in ALL_WAYS} & cells.keys()
            if trap and (x, y) in own and around <= foes:
                return 1
        return None

    return Apart(moves, over, (("o..X", ".oX.", ".Xo.", "X..o"), 0))


def chung(passing):
    """Cells row by row from the top, two letters each: whose, and + or x."""
    lines = [[(2 - y) * 3 + x for x, y in line] for line in LINES_OF_NINE]

    def moves(board, mover):
        mark, found = "XO"[mover], []
        if sum(cell != "." for cell in board) < 6:
            found = [board[:i] + (mark + way,) + board[i + 1 :] for i in range(9) if board[i] == "." for way in "+x"]
            return [(after, 1 - mover) for after in found]
        for source in range(9):
            if board[source][0] != mark:
                continue
            way = board[source][1]
            left = board[:source] + (".",) + board[source + 1 :]
            found.append(board[:source] + (mark + "x+"["+x".index(way)],) + board[source + 1 :])
            for to in range(9):
                x, y = abs(to % 3 - source % 3), abs(to // 3 - source // 3)
                straight, aslant = (x == 0) != (y == 0), x == y != 0
                if board[to] == "." and (straight if way == "+" else aslant):
                    found += [left[:to] + (mark + turned,) + left[to + 1 :] for turned in "+x"]
        return [(after, 1 - mover) for after in [*found, *([board] if passing else [])]]

    def over(board, mover):
        foe = "OX"[mover]
        return -1 if any(all(board[i][0] == foe for i in line) for line in lines) else None

    return Apart(moves, over, ((".",) * 9, 0))


def on_points(names, lines, wins, men, jumps=False, banned=""):
    """Place men, not on `banned` points, then move them along lines, runs of neighbours; a word of all points."""
    beside = {frozenset(pair) for line in lines for pair in itertools.pairwise(line)}
    behind = {frozenset(line[i : i + 3 : 2]) for line in lines for i in range(len(line) - 2)} if jumps else set()

    def moves(word, mover):
        mark, found = "Xo"[mover], []
        for to, source in itertools.product(range(len(names)), repeat=2):
            if word[to] != ".":
                continue
            if len(names) - word.count(".") < 2 * men:
                if source == to and names[to] not in banned:
                    found.append(word[:to] + mark + word[to + 1 :])
            elif word[source] == mark and frozenset((names[source], names[to])) in beside | behind:
                after = list(word)
                after[source], after[to] = ".", mark
                found.append("".join(after))
        return [(after, 1 - mover) for after in found]

    def has_won(word, player):
        return {names[i] for i, mark in enumerate(word) if mark == "Xo"[player]} in wins

    return Apart(moves, lost_without_moves(moves, has_won), ("." * len(names), 0))


def tsoro(jumps):
    lines = ["125", "136", "147", "234", "567"]
    return on_points("1234567", lines, [set(line) for line in lines], 3, jumps)


class Scored(Apart):
    """Rules whose ends are worth margins."""

    score_game = True


def othello(width, height):
    def turned(cells, place, mover):
        """The other's discs that a man put there would turn."""
        found = []
        for across, up in ALL_WAYS:
            run, (x, y) = [], place
            while cells.get((x := x + across, y := y + up)) == "oX"[mover]:
                run.append((x, y))
            found += run if cells.get((x, y)) == "Xo"[mover] else []
        return found

    def moves(board, mover):
        cells, found = grid(board), []
        for place in [place for place, mark in cells.items() if mark == "."]:
            discs = turned(cells, place, mover)
            if discs:
                found.append((rows(cells | dict.fromkeys([*discs, place], "Xo"[mover])), 1 - mover))
        return found or [(board, 1 - mover)]

    def over(board, mover):
        if any(after != board for side in (0, 1) for after, _ in moves(board, side)):
            return None
        return sum({".": 0, "Xo"[mover]: 1, "oX"[mover]: -1}[mark] for mark in "".join(board))

    x, y = width // 2 - 1, height // 2 - 1
    cells = dict.fromkeys(itertools.product(range(width), range(height)), ".")
    cells |= {(x, y): "X", (x + 1, y + 1): "X", (x + 1, y): "o", (x, y + 1): "o"}
    return Scored(moves, over, (rows(cells), 0))


def baghchal(goats, captures, tigers):
    def ways(x, y):
        return [way for way in ALL_WAYS if 0 in way or (x + y) % 2 == 0]

    def moves(board, mover):
        cells, found = grid(board), []
        for (x, y), mark in cells.items():
            if mark != "gT"[mover]:
                continue
            for across, up in ways(x, y):
                near, far = (x + across, y + up), (x + 2 * across, y + 2 * up)
                if cells.get(near) == ".":
                    found.append(cells | {(x, y): ".", near: mark})
                elif mark == "T" and cells.get(near) == "g" and cells.get(far) == ".":
                    found.append(cells | {(x, y): ".", near: ".", far: mark})
        return [(rows(after), 1 - mover) for after in found]

    def has_won(board, player):
        return player == 1 and goats - "".join(board).count("g") >= captures

    corners = [0, 4, 20, 24]
    others = [*(i for i in range(25) if i not in [*corners, 12]), 12, *corners]
    first = corners[:tigers]
    word = ["."] * 25
    for i in first:
        word[i] = "T"
    for i in [i for i in others if i not in first][:goats]:
        word[i] = "g"
    start = tuple("".join(word[5 * y : 5 * y + 5]) for y in reversed(range(5)))
    return Apart(moves, lost_without_moves(moves, has_won), (start, 0))


def picaria(points):
    rows = ["abc", "def", "ghi", "adg", "beh", "cfi"]
    if points == 9:
        slides = [*rows, "aei", "ceg", "bd", "bf", "hd", "hf"]
        return on_points("abcdefghi", slides, [set(line) for line in (*rows, "aei", "ceg")], 3, banned="e")
    slides = [*rows, "awezi", "cxeyg", "bwd", "bxf", "hyd", "hzf"]  # w x y z: the points inside
    wins = [set(line[i : i + 3]) for line in slides for i in range(len(line) - 2)]
    return on_points("abcwxdefyzghi", slides, wins, 3, banned="e")


def rota(rim):
    through = [f"{i}c{i + 4}" for i in range(1, 5)]
    around = ["12345678"[i] + "23456781"[i] + "34567812"[i] for i in range(8)]
    return on_points("12345678c", through + around, [set(line) for line in through + (around if rim else [])], 3)


def chopsticks(fingers, wrapping):
    """Each player's hands in ascending order, the mover's first; nobody is named."""

    def added(own, other):
        total = own + other
        return total if total < fingers else total - fingers if wrapping else 0

    def moves(hands, mover):
        (own, other), found = hands, set()
        for mine, (tapped, kept) in itertools.product(own, (other, other[::-1])):
            if mine and tapped:
                found.add((tuple(sorted((added(mine, tapped), kept))), own))
        for shifted in range(-9, 10):
            after = tuple(sorted((own[0] + shifted, own[1] - shifted)))
            if after != own and after[0] > 0 and after[1] < fingers:
                found.add((other, after))
        return [(after, 0) for after in found]

    def over(hands, mover):
        return -1 if hands[0] == (0, 0) else None

    return Apart(moves, over, (((1, 1), (1, 1)), 0))


def chess(length):
    """A row of letters."""
    leaps = {"K": (1, -1), "N": (2, -2)}

    def ends(row, at):
        if row[at].upper() in leaps:
            return [at + step for step in leaps[row[at].upper()] if 0 <= at + step < length]
        found = []
        for step in (1, -1):
            to = at + step
            while 0 <= to < length:
                found.append(to)
                if row[to] != ".":
                    break
                to += step
        return found

    def is_checked(row, side):
        king = row.index("kK"[side == 0])
        foes = [at for at in range(length) if row[at].isalpha() and row[at].isupper() != (side == 0)]
        return any(king in ends(row, at) for at in foes)

    def moves(row, mover):
        found = []
        own = [at for at in range(length) if row[at].isalpha() and row[at].isupper() == (mover == 0)]
        for at in own:
            for to in ends(row, at):
                if to not in own:
                    after = list(row)
                    after[to], after[at] = row[at], "."
                    if not is_checked("".join(after), mover):
                        found.append(("".join(after), 1 - mover))
        return found

    def over(row, mover):
        return None if moves(row, mover) else -1 if is_checked(row, mover) else 0

    return Apart(moves, over, ("KNR" + "." * (length - 6) + "rnk", 0))


def quoridor(width, height, walls):
    """Rows from the top with walls between cells, and the walls that each has left."""
    wide, high = 2 * width - 1, 2 * height - 1
    goals = [high - 1, 0]

    def beside(cells, at):
        """The neighbours of a cell that no wall shuts off, by the way to them."""
        ways = [(x, y) for x, y in ALL_WAYS if 0 in (x, y)]
        open_ways = [(x, y) for x, y in ways if cells.get((at[0] + x, at[1] + y)) == " "]
        return {(x, y): (at[0] + 2 * x, at[1] + 2 * y) for x, y in open_ways}

    def steps(cells, mover):
        own, foe = (next(at for at, mark in cells.items() if mark == one) for one in ("Xo"[mover], "oX"[mover]))
        found = set()
        for way, to in beside(cells, own).items():
            if to != foe:
                found.add(to)
            elif way in beside(cells, foe):
                found.add(beside(cells, foe)[way])
            else:
                found |= {at for aside, at in beside(cells, foe).items() if (aside[0] == 0) != (way[0] == 0)}
        return own, found

    def has_way(cells, player):
        seen = todo = {at for at, mark in cells.items() if mark == "Xo"[player]}
        while todo:
            todo = {to for at in todo for to in beside(cells, at).values()} - seen
            seen = seen | todo
        return any(y == goals[player] for _, y in seen)

    def moves(board, mover):
        lines, left = board
        cells = grid(lines)
        own, ends = steps(cells, mover)
        found = [((rows({**cells, own: ".", to: "Xo"[mover]}), left), 1 - mover) for to in ends]
        fewer = tuple(number - (player == mover) for player, number in enumerate(left))
        for x, y in itertools.product(range(1, wide, 2), range(1, high, 2)) if left[mover] else ():
            for mark, parts in (("-", [(x - 1, y), (x, y), (x + 1, y)]), ("|", [(x, y - 1), (x, y), (x, y + 1)])):
                walled = {**cells, **dict.fromkeys(parts, mark)}
                if all(cells[part] == " " for part in parts) and has_way(walled, 0) and has_way(walled, 1):
                    found.append(((rows(walled), fewer), 1 - mover))
        return found

    def over(board, mover):
        if "oX"[mover] in board[0][0 if mover else -1]:
            return -1
        return None if moves(board, mover) else 0

    middle = 2 * ((width - 1) // 2)
    marks = {(x, y): "." if x % 2 == y % 2 == 0 else " " for x in range(wide) for y in range(high)}
    marks |= {(middle, 0): "X", (wide - 1 - middle, high - 1): "o"}
    return Apart(moves, over, ((rows(marks), (walls, walls)), 0))


def placements(symmetries):
    """By numbers of either side's men: how many positions there are up to symmetry.

    Burnside's lemma: the mean, over all symmetries, of how many positions each keeps. It keeps those whose men fill
    whole cycles of points.
    """
    group = new = {tuple(range(len(symmetries[0])))}
    while new:
        new = {tuple(one[point] for point in other) for one in new for other in symmetries} - group
        group = group | new
    totals = Counter()
    for symmetry in group:
        kept, points = Counter({(0, 0): 1}), set(range(len(symmetry)))
        while points:
            cycle, point = 0, next(iter(points))
            while point in points:
                points.remove(point)
                cycle, point = cycle + 1, symmetry[point]
            before = kept.copy()
            for (mine, theirs), count in before.items():
                kept[mine + cycle, theirs] += count
                kept[mine, theirs + cycle] += count
        totals += kept
    assert all(total % len(group) == 0 for total in totals.values())
    return {men: total // len(group) for men, total in totals.items()}


def perft(game, state, depth):
    if depth == 0 or game.is_terminal(state):
        return 1
    return sum(perft(game, game.result(state, action), depth - 1) for action in game.actions(state))
