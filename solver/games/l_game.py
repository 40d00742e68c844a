"""The L-game of Edward de Bono: move your L on 4 x 4, then perhaps one of two neutral pieces; who cannot loses.

Each player has one L of four cells; at the start they lie in the middle, heads together, and the neutral pieces in two
corners. A turn lifts the own L and puts it down, turned or turned over as one likes, on four empty cells that are not
all those where it was. Then one neutral piece may be moved to any empty cell. Repetition is a draw.

A state is the cells of the first player's L, of the second's 16 bits on, of the neutral pieces 32 bits on, and a bit
for the side to move; cells are numbered row by row from the bottom left. An action is 33 times the new place of the L,
plus 0, or 1 plus 16 times which neutral piece (0 the lower) plus its new cell.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import cells_of

GROUP = "blocking"
MEN = {"X": ["block", 0], "o": ["block", 1], "*": ["disc", 2]}

# an L of three cells and one: lying (3 x 2 cells) four ways, then standing (2 x 3)
SHAPES = (0x0017, 0x0047, 0x0071, 0x0074, 0x0113, 0x0311, 0x0223, 0x0322)


class LGame(NamedTuple):
    """Move your L, then perhaps a neutral piece; who cannot move the L loses."""

    layout = "*Xo", 33 * 48
    drawing = {"board": "squares", "sides": ["red", "blue"], "men": MEN, "free": 4}

    def initial(self) -> int:
        first, second, neutral = 0x6440, 0x0226, 0x1008
        return first | second << 16 | neutral << 32

    def actions(self, state: int) -> Iterator[int]:
        mine, others = self._mine(state), self._others(state)
        for place in range(48):
            shape = self._shape(place)
            if not shape & others and shape != mine:
                yield 33 * place
                empty = ~(shape | others) & 0xFFFF
                for cell in range(16):
                    if empty >> cell & 1:
                        yield 33 * place + 1 + cell
                        yield 33 * place + 17 + cell

    def result(self, state: int, action: int) -> int:
        turn, neutral = state >> 48, state >> 32 & 0xFFFF
        theirs = state >> 16 * (1 - turn) & 0xFFFF
        option = action % 33
        if option:
            lower = neutral & -neutral
            neutral ^= lower if option < 17 else neutral ^ lower
            neutral |= 1 << (option - 1) % 16
        return self._shape(action // 33) << 16 * turn | theirs << 16 * (1 - turn) | neutral << 32 | (1 - turn) << 48

    def is_terminal(self, state: int) -> bool:
        mine, others = self._mine(state), self._others(state)
        for place in range(48):
            shape = self._shape(place)
            if not shape & others and shape != mine:
                return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """The least of the board's eight images, the mover's L first and to move."""
        turn = state >> 48
        boards = self._mine(state) | (state >> 16 * (1 - turn) & 0xFFFF) << 16 | (state >> 32 & 0xFFFF) << 32
        best = min(boards, self._mirrored(boards))
        for _ in range(3):
            boards = self._turned(boards)
            best = min(best, min(boards, self._mirrored(boards)))
        return best

    def format_action(self, state: int, action: int) -> str:
        names = [grid.name(4, cell) for cell in self._chosen(state, action)]
        return "".join(names[:4]) + ("/" + "".join(names[4:]) if action % 33 else "")

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(4, 4, state, "Xo*")

    def from_cells(self, rows: list[str], mover: int) -> int:
        shapes = [cells_of(rows, "X"), cells_of(rows, "o")]
        neutral, places = cells_of(rows, "*"), [self._shape(place) for place in range(48)]
        if shapes[0] not in places or shapes[1] not in places or neutral.bit_count() != 2:
            raise ValueError("there are two L of four cells each, and two neutral men")
        return shapes[0] | shapes[1] << 16 | neutral << 32 | mover << 48

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(4, 4, cell) for cell in self._chosen(state, action)]

    def _chosen(self, state: int, action: int) -> list[int]:
        """The cells of the L, in any order, and of a neutral piece that moves."""
        shape, option = self._shape(action // 33), action % 33
        cells = [cell for cell in range(16) if shape >> cell & 1]
        if option:
            neutral = state >> 32 & 0xFFFF
            man = (neutral & -neutral).bit_length() - 1 if option < 17 else neutral.bit_length() - 1
            cells += [man, (option - 1) % 16]
        return cells

    def _mine(self, state: int) -> int:
        return state >> 16 * (state >> 48) & 0xFFFF

    def _others(self, state: int) -> int:
        """All cells but the mover's and the empty ones."""
        return (state >> 16 * (1 - (state >> 48)) | state >> 32) & 0xFFFF

    def _shape(self, place: int) -> int:
        """The cells of an L in one of its 48 places: eight shapes, six shifts each."""
        shape, shift = place // 6, place % 6
        if shape < 4:
            return SHAPES[shape] << shift % 2 + 4 * (shift // 2)
        return SHAPES[shape] << shift % 3 + 4 * (shift // 3)

    def _mirrored(self, boards: int) -> int:
        result = 0
        for column in range(4):
            result |= (boards >> column & 0x1111_1111_1111) << 3 - column
        return result

    def _turned(self, boards: int) -> int:
        result = 0
        for cell in range(16):
            result |= (boards >> cell & 0x1_0001_0001) << cell % 4 * 4 + 3 - cell // 4
        return result
