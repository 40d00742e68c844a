"""Code that col and snort share: players colour cells, each in an own colour, and some neighbours are forbidden.

A state is the first player's cells, and the second's above them; their number tells who is to move. An action is the
cell.
"""

from solver.games.common import grid


def second(state: int) -> int:
    """Whether the second player is to move."""
    return state.bit_count() % 2


def stones(width: int, height: int, state: int, player: int) -> int:
    """A player's cells."""
    return state >> player * width * height & grid.full(width, height)


def allowed(width: int, height: int, state: int, near: int) -> int:
    """The free cells beside none of those of player `near`."""
    forbidden = grid.beside(width, height, stones(width, height, state, near))
    return grid.full(width, height) & ~(state | state >> width * height | forbidden)


def marked(width: int, height: int, state: int, action: int) -> int:
    return state | 1 << action + second(state) * width * height
