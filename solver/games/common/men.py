"""Code that the games of a few pieces on nine points share: placing, sliding, three in a row.

Points are numbered row by row from the bottom left. A state is the first player's pieces, the second's nine bits on,
and a bit for the side to move. An action is 9 times the point moved from plus the point moved to, or 81 plus the point
of a new piece. `slides`: 0 along rows and columns, 1 also between the centre and the corners, 2 to all neighbours, 3 to
any point. The games have cycles; repetition is a draw.
"""

from collections.abc import Iterator
from typing import Any

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)  # rows, columns, diagonals


def mine(state: int) -> int:
    """The mover's pieces."""
    return state >> 9 * (state >> 18) & 511


def theirs(state: int) -> int:
    """The other's pieces."""
    return state >> 9 * (1 - (state >> 18)) & 511


def has_line(men: int, lines: int) -> bool:
    """Three in a row: the first 6 lines are rows and columns, all 8 have the diagonals."""
    for line in range(lines):
        if men & LINES[line] == LINES[line]:
            return True
    return False


def near(point: int, slides: int) -> int:
    """The points to which a piece may go from a point, occupied ones included."""
    if slides == 3:
        return 511 & ~(1 << point)
    points = 0
    for other in range(9):
        across, up = abs(other % 3 - point % 3), abs(other // 3 - point // 3)
        if across + up == 1 or (across == 1 and up == 1 and (slides == 2 or (slides == 1 and 4 in (point, other)))):
            points |= 1 << other
    return points


def is_placing(state: int, men: int) -> bool:
    """Whether pieces are still to be placed, `men` of each player in all."""
    return (state & (1 << 18) - 1).bit_count() < 2 * men


def targets(state: int, point: int, slides: int) -> int:
    """The empty points to which the mover's piece of a point may go."""
    return near(point, slides) & ~(mine(state) | theirs(state))


def can_move(state: int, slides: int) -> bool:
    """Whether the mover can move a piece."""
    for point in range(9):
        if mine(state) >> point & 1 and targets(state, point, slides):
            return True
    return False


def actions(state: int, men: int, slides: int) -> Iterator[int]:
    """The actions of a state: players place pieces until each has `men`, then they move them."""
    placing = is_placing(state, men)
    for point in range(9):
        if placing and not (state | state >> 9) >> point & 1:
            yield 81 + point
        if not placing and mine(state) >> point & 1:
            ends = targets(state, point, slides)
            for end in range(9):
                if ends >> end & 1:
                    yield 9 * point + end


def moved(state: int, action: int) -> int:
    turn = state >> 18
    change = 1 << action - 81 if action >= 81 else 1 << action // 9 | 1 << action % 9
    return state ^ change << 9 * turn ^ 1 << 18


def mirrored(state: int) -> int:
    """Left and right exchanged."""
    left, middle = 0o111 | 0o111 << 9, 0o222 | 0o222 << 9
    return state & (1 << 18 | middle) | (state & left) << 2 | state >> 2 & left


def turned(state: int) -> int:
    """A quarter turn."""
    result = state & 1 << 18
    for point in range(9):
        to = point % 3 * 3 + 2 - point // 3
        result |= (state >> point & (1 | 1 << 9)) << to
    return result


def least(state: int) -> int:
    """The least of the board's eight images."""
    best = min(state, mirrored(state))
    for _ in range(3):
        state = turned(state)
        best = min(best, min(state, mirrored(state)))
    return best


def drawing(slides: int) -> dict[str, Any]:
    """Points, and lines where pieces may slide; none where they may go anywhere."""
    lines = [] if slides == 3 else [[a, b] for a in range(9) for b in range(a) if near(a, slides) >> b & 1]
    return {"board": "points", "lines": lines, "sides": ["black", "white"]}
