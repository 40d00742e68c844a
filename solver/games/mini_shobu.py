"""Mini-Shobu: two boards of 3 x 3; a quiet move on one, then the same, which may push, on the other.

Each player has `men` pieces on the own edge of both boards. Shobu is by Manolis Vranas and Jamie Sajdak, 2019, on four
boards of 4 x 4. The left board is the first player's home, the right one the second's. A turn is two moves in the same
direction, any of eight, and of the same length, one step or two. The first moves a piece at home over empty cells to an
empty cell. The second moves a piece on the other board. It may push one piece of the other side, which then stands one
cell further on, or is off the board. It cannot push two, or one of its own side. Who has no piece left on a board has
lost, and so has who has no turn left. Repetition is a draw.

jh85, smallgames, 2026, published 22,439,236 positions of `mini-shobu:3`, which the first player wins in 17 plies, and
1,963,316 of `mini-shobu:2`, won in 11.

A state is four planes of nine bits, cell by cell from the bottom left: the left board's pieces of the first player and
of the second, the right board's likewise, then a bit for the side to move. An action is the cell moved from at home,
plus 9 times that on the other board, plus 81 times the direction, plus 648 for two steps. Pieces go back and forth, so
there is no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, limits, nine
from solver.games.common.boards import cells_of

GROUP = "capture"
PLANES = 1 | 1 << 9 | 1 << 18 | 1 << 27
WAYS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


class MiniShobu(NamedTuple):
    """Two moves alike a turn, the second pushes; clear a board of the other's pieces; `men` a side and board."""

    men: int = 2

    layout = "Xo", 2 * 648
    drawing = {"board": "squares", "sides": ["black", "white"]}

    def check(self) -> None:
        limits(self, men=(1, 3))

    def initial(self) -> int:
        row = (1 << self.men) - 1
        board = row | row << 6 + 9
        return board | board << 18

    def actions(self, state: int) -> Iterator[int]:
        turn = state >> 36
        for steps in range(1, 3):
            for way in range(8):
                quiet = self._movable(state, turn, way, steps, False)
                pushing = self._movable(state, 1 - turn, way, steps, True)
                for man in range(9):
                    if quiet >> man & 1:
                        for other in range(9):
                            if pushing >> other & 1:
                                yield man + 9 * other + 81 * way + 648 * (steps - 1)

    def result(self, state: int, action: int) -> int:
        turn, way, steps = state >> 36, action // 81 % 8, action // 648 + 1
        state = self._after(state, turn, action % 9, way, steps)
        return self._after(state, 1 - turn, action // 9 % 9, way, steps) ^ 1 << 36

    def is_terminal(self, state: int) -> bool:
        if self._is_cleared(state):
            return True
        turn = state >> 36
        for steps in range(1, 3):
            for way in range(8):
                if self._movable(state, turn, way, steps, False) and self._movable(state, 1 - turn, way, steps, True):
                    return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """The least of the boards' eight images, both alike, the mover's home and pieces first and to move."""
        planes = state & (1 << 36) - 1
        if state >> 36:
            planes = planes >> 27 | (planes >> 18 & 511) << 9 | (planes >> 9 & 511) << 18 | (planes & 511) << 27
        return nine.least(planes, PLANES)

    def format_action(self, state: int, action: int) -> str:
        """Both moves, as a1a2+b1b2, that at home first."""
        return "+".join([grid.name(3, man) + grid.name(3, target) for man, target in self._moves(action)])

    def cells(self, state: int, mover: int) -> list[str]:
        """The first player's home, on the left, and the second's."""
        boards = [grid.board(3, 3, state >> 18 * board, "Xo") for board in (0, 1)]
        return [f"{boards[0][row]} {boards[1][row]}" for row in range(3)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        left, right = [row[:3] for row in rows], [row[4:] for row in rows]
        planes = [cells_of(left, "X"), cells_of(left, "o"), cells_of(right, "X"), cells_of(right, "o")]
        for plane in planes:
            if plane.bit_count() > self.men:
                raise ValueError(f"each has at most {self.men} men on a board")
        return planes[0] | planes[1] << 9 | planes[2] << 18 | planes[3] << 27 | mover << 36

    def place(self, state: int, action: int) -> list[int]:
        cells = []
        for second, ends in enumerate(self._moves(action)):
            for cell in ends:
                cells.append((2 - cell // 3) * 7 + cell % 3 + 4 * (state >> 36 ^ second))
        return cells

    def _plane(self, state: int, board: int, player: int) -> int:
        return state >> 18 * board + 9 * player & 511

    def _is_cleared(self, state: int) -> bool:
        """Whether the mover has no piece left on a board."""
        turn = state >> 36
        return self._plane(state, 0, turn) == 0 or self._plane(state, 1, turn) == 0

    def _step(self, cells: int, way: int) -> int:
        """The cells one step on, those that leave the board dropped."""
        across, up = WAYS[way]
        if across > 0:
            cells = (cells & 0o333) << 1
        elif across < 0:
            cells = cells >> 1 & 0o333
        if up > 0:
            return cells << 3 & 511
        return cells >> 3 if up < 0 else cells

    def _movable(self, state: int, board: int, way: int, steps: int, pushes: bool) -> int:
        """The mover's pieces of a board that may move so far, over at most one of the other's, with none behind it."""
        turn = state >> 36
        mine, theirs = self._plane(state, board, turn), self._plane(state, board, 1 - turn)
        movable = 0
        for man in range(9):
            if mine >> man & 1:
                here, met, blocked = 1 << man, 0, False
                for _ in range(steps):
                    here = self._step(here, way)
                    blocked = blocked or here == 0 or here & mine != 0
                    met += 1 if here & theirs else 0
                behind = self._step(here, way) & (mine | theirs) & ~(1 << man)
                if not blocked and (met == 0 or (pushes and met == 1 and behind == 0)):
                    movable |= 1 << man
        return movable

    def _after(self, state: int, board: int, man: int, way: int, steps: int) -> int:
        """The boards when the mover's piece of one has moved."""
        turn = state >> 36
        theirs, here, pushed = self._plane(state, board, 1 - turn), 1 << man, False
        for _ in range(steps):
            here = self._step(here, way)
            pushed = pushed or here & theirs != 0
            theirs &= ~here
        if pushed:
            theirs |= self._step(here, way)
        mine = self._plane(state, board, turn) ^ 1 << man | here
        kept = state & ~((1 << 18) - 1 << 18 * board)
        return kept | mine << 18 * board + 9 * turn | theirs << 18 * board + 9 * (1 - turn)

    def _moves(self, action: int) -> list[tuple[int, int]]:
        """The cells that both moves leave and enter, that at home first."""
        across, up = WAYS[action // 81 % 8]
        step = (action // 648 + 1) * (across + 3 * up)
        return [(man, man + step) for man in (action % 9, action // 9 % 9)]
