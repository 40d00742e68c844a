"""Code that hexapawn and breakthrough share: two boards of pawns, the first player's moving to higher rows.

A state is the first player's board, the second's, and a bit for the side to move. An action is the cell moved from
times 3, plus 0, 1 or 2 for a step to the left, straight or right, as the board is printed.
"""

from collections.abc import Iterator

from solver.games.common.boards import cells_of


def initial(width: int, height: int, rows: int) -> int:
    cells = width * height
    home = (1 << width * rows) - 1
    return home | home << cells - width * rows << cells


def mine(width: int, height: int, state: int) -> int:
    """The mover's pawns."""
    cells = width * height
    return state >> (state >> 2 * cells) * cells & (1 << cells) - 1


def theirs(width: int, height: int, state: int) -> int:
    """The other's pawns."""
    cells = width * height
    return state >> (1 - (state >> 2 * cells)) * cells & (1 << cells) - 1


def stepped(width: int, height: int, state: int, pawns: int, side: int) -> int:
    """Where the mover's pawns arrive one row on, to the side -1, 0 or 1."""
    cells = width * height
    first_column = ((1 << cells) - 1) // ((1 << width) - 1)
    if side < 0:
        pawns &= ~first_column
    if side > 0:
        pawns &= ~(first_column << width - 1)
    if state >> 2 * cells:
        return pawns >> width - side
    return pawns << width + side & (1 << cells) - 1


def targets(width: int, height: int, state: int, side: int, diagonal: bool) -> int:
    """Cells that the mover may enter by a step to the side; `diagonal` if empty cells may be entered sideways."""
    others = theirs(width, height, state)
    empty = (1 << width * height) - 1 & ~(others | mine(width, height, state))
    if side == 0:
        return empty
    return others | empty if diagonal else others


def moved(width: int, height: int, state: int, action: int) -> int:
    cells = width * height
    turn = state >> 2 * cells
    pawn = 1 << action // 3
    arrived = stepped(width, height, state, pawn, action % 3 - 1)
    own = mine(width, height, state) ^ pawn | arrived
    others = theirs(width, height, state) & ~arrived
    return own << turn * cells | others << (1 - turn) * cells | (1 - turn) << 2 * cells


def is_over(width: int, height: int, state: int, diagonal: bool) -> bool:
    """Whether the other has reached the last row or the mover cannot move: the mover has lost."""
    cells = width * height
    goal = (1 << width) - 1
    if state >> 2 * cells == 1:
        goal <<= cells - width
    if theirs(width, height, state) & goal:
        return True
    pawns = mine(width, height, state)
    for side in (-1, 0, 1):
        if stepped(width, height, state, pawns, side) & targets(width, height, state, side, diagonal):
            return False
    return True


def mirrored(width: int, height: int, state: int) -> int:
    cells = width * height
    columns = ((1 << 2 * cells) - 1) // ((1 << width) - 1)
    result = state >> 2 * cells << 2 * cells
    for i in range(width):
        result |= (state >> i & columns & (1 << 2 * cells) - 1) << width - 1 - i
    return result


def faced(width: int, height: int, state: int) -> int:
    """The position as if the first player were to move: of the second's turn the board upside down, sides exchanged."""
    cells = width * height
    if state >> 2 * cells == 0:
        return state
    row = (1 << width) - 1
    result = 0
    for i in range(height):
        result |= (state >> cells + i * width & row | (state >> i * width & row) << cells) << (height - 1 - i) * width
    return result


def advanced(width: int, height: int, state: int) -> int:
    """A number that grows with every move: what pawns have advanced, and more for pawns taken."""
    cells = width * height
    first, second = state & (1 << cells) - 1, state >> cells & (1 << cells) - 1
    total = 0
    for row in range(height):
        line = (1 << width) - 1 << row * width
        total += row * (first & line).bit_count() + (height - 1 - row) * (second & line).bit_count()
    return total - (height - 1) * (first | second).bit_count()


def balance(width: int, height: int, state: int) -> int:
    """The mover's pawns and the rows they have gone, less the other's; a pawn counts as a board's height of rows."""
    cells = width * height
    turn = state >> 2 * cells
    own, others = mine(width, height, state), theirs(width, height, state)
    total = height * (own.bit_count() - others.bit_count())
    for row in range(height):
        line = (1 << width) - 1 << row * width
        gone = height - 1 - row if turn else row
        total += gone * (own & line).bit_count() - (height - 1 - gone) * (others & line).bit_count()
    return total


def turned(width: int, height: int, state: int) -> int:
    """The state with the other to move."""
    return state ^ 1 << 2 * width * height


def chances(width: int, height: int, state: int, other: int, diagonal: bool) -> Iterator[int]:
    """The moves of one side, mover or other: straight on and aside, captures, pawns that are attacked, and
    those of them that are covered; the rows that its first pawn has gone, and the pawns without another in their way.
    """
    if other:
        state = turned(width, height, state)
    own, others = mine(width, height, state), theirs(width, height, state)
    against = turned(width, height, state)
    reached = stepped(width, height, state, own, -1) | stepped(width, height, state, own, 1)
    attacked = stepped(width, height, against, others, -1) | stepped(width, height, against, others, 1)
    empty = targets(width, height, state, 0, False)
    yield (stepped(width, height, state, own, 0) & empty).bit_count()
    yield (reached & empty).bit_count() if diagonal else 0
    yield (reached & others).bit_count()
    yield (own & attacked).bit_count()
    yield (own & attacked & reached).bit_count()
    yield furthest(width, height, state)
    yield (own & ~in_the_way(width, height, against, others)).bit_count()


def in_the_way(width: int, height: int, state: int, pawns: int) -> int:
    """The cells before pawns of the mover, those aside included, which a pawn of the other cannot pass unseen."""
    cells = 0
    for _ in range(height - 1):
        aside = stepped(width, height, state, pawns, -1) | stepped(width, height, state, pawns, 1)
        pawns = aside | stepped(width, height, state, pawns, 0)
        cells |= pawns
    return cells


def furthest(width: int, height: int, state: int) -> int:
    """The rows that the mover's first pawn has gone."""
    own, turn = mine(width, height, state), state >> 2 * width * height
    most = 0
    for gone in range(height):
        row = height - 1 - gone if turn else gone
        if own >> row * width & (1 << width) - 1:
            most = gone
    return most


def count(width: int, height: int, pawns: int, row: int, column: int, upwards: bool) -> int:
    """Pawns in this cell and its mirror image, the row as their owner counts, who moves upwards or not."""
    line = pawns >> (row if upwards else height - 1 - row) * width
    return (line & (1 << column | 1 << width - 1 - column)).bit_count()


def from_cells(rows: list[str], mover: int, most: int) -> int:
    """The state of a board, of at most so many pawns a side."""
    white, black = cells_of(rows, "W"), cells_of(rows, "b")
    if white.bit_count() > most or black.bit_count() > most:
        raise ValueError("a side never has more pawns than at the start")
    cells = len(rows) * len(rows[0])
    return white | black << cells | mover << 2 * cells
