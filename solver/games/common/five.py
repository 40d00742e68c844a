"""Code that the games of pieces on 5 x 5 points share.

Points are numbered row by row from the bottom left. A state is the first player's pieces, the second's 25 bits on, and
a bit for the side to move. An action is 25 times the point moved from plus the point moved to, or 625 plus the point of
a new piece.
"""

from collections.abc import Iterator

BOARD = (1 << 25) - 1
COLUMN, ROW = 0b00001_00001_00001_00001_00001, 0b11111
BOTH = 1 | 1 << 25
# the points of each diagonal that runs up to the right, from the top left corner to the bottom right one
DIAGONALS = (0x100000, 0x208000, 0x410400, 0x820820, 0x1041041, 0x82082, 0x4104, 0x208, 0x10)


def mine(state: int) -> int:
    """The mover's pieces."""
    return state >> 25 * (state >> 50) & BOARD


def theirs(state: int) -> int:
    """The other's pieces."""
    return state >> 25 * (1 - (state >> 50)) & BOARD


def empty(state: int) -> int:
    return ~(state | state >> 25) & BOARD


def moved(state: int, action: int) -> int:
    change = 1 << action - 625 if action >= 625 else 1 << action // 25 | 1 << action % 25
    return state ^ change << 25 * (state >> 50) ^ 1 << 50


def aligned(men: int, length: int) -> bool:
    """Whether `length` of the pieces are next to each other in a line."""
    for across in range(-1, 2):
        for up in range(2):
            if up == 1 or across == 1:
                run = men
                for _ in range(length - 1):
                    run = men & step(run, across, up)
                if run:
                    return True
    return False


def step(points: int, across: int, up: int) -> int:
    """The points one step on, those that leave the board dropped."""
    if across > 0:
        points = (points & ~(COLUMN << 4)) << 1
    elif across < 0:
        points = (points & ~COLUMN) >> 1
    if up > 0:
        return points << 5 & BOARD
    return points >> 5 if up < 0 else points


def least(state: int) -> int:
    """The least of the board's eight images, the mover's pieces first and to move."""
    pair = mine(state) | theirs(state) << 25
    other = _transposed(pair)
    return min(_least_of_four(pair), _least_of_four(other))


def symmetries() -> Iterator[tuple[int, ...]]:
    """Left and right exchanged, and rows and columns."""
    yield tuple(point - point % 5 + 4 - point % 5 for point in range(25))
    yield tuple(point % 5 * 5 + point // 5 for point in range(25))


def _least_of_four(pair: int) -> int:
    mirrored = _mirrored(pair)
    return min(min(pair, mirrored), min(_flipped(pair), _flipped(mirrored)))


def _mirrored(pair: int) -> int:
    """Left and right exchanged."""
    result = 0
    for column in range(5):
        result |= (pair >> column & COLUMN * BOTH) << 4 - column
    return result


def _flipped(pair: int) -> int:
    """Top and bottom exchanged."""
    result = 0
    for row in range(5):
        result |= (pair >> 5 * row & ROW * BOTH) << 5 * (4 - row)
    return result


def _transposed(pair: int) -> int:
    """Rows and columns exchanged."""
    result = 0
    for i in range(9):
        points = pair & DIAGONALS[i] * BOTH
        result |= points >> 4 * (4 - i) if i < 4 else points << 4 * (i - 4)
    return result
