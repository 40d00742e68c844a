"""Five field kono, of Korea (o-pat-ko-no): seven pieces each step diagonally to the points where the other's stood.

    o o o o o    Each player's pieces stand on the own row and on both ends of the next; on boards of three rows on the
    o . . . o    own row alone. A turn moves one piece a step diagonally, forward or back, to an empty point.
    . . . . .    Nobody takes or jumps. Who first has all his pieces where the other's began wins. Repetition is a draw.
    x . . . x    Who cannot move has a draw, or what `blocked` says: of that Culin, Korean Games, 1895, and Wikipedia
    x x x x x    have nothing, GamesmanUni has all three. A piece left at home keeps the other from winning; so with
                 `filled` it is enough that all those points are taken, by whomever, one at least by an own piece.

That and who cannot move has lost are the rules of S. Bensley's solver (github.com/stephenbensley/FiveFieldKono), by
which the game is a draw. Where a move fills both players' goals, who made it has won.

A state is the first player's pieces, point by point from the bottom left, a bit each, the second's after them, and a
bit for the side to move. An action is the point left times the number of points, plus the point entered. Pieces go back
and forth, so there is no `tier`. A piece stays on the points of one colour, as bishops do, and where left and right are
of one colour the pieces of either may be mirrored alone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of, on_points

GROUP = "race"


class FiveFieldKono(NamedTuple):
    """Step diagonally to where the other's pieces began. With `filled` it is enough that all places there are taken."""

    width: int = 5
    height: int = 5
    filled: bool = False
    blocked: int = 0  # what it is worth to be unable to move: -1, 0 or 1

    def check(self) -> None:
        grid.refuse(self.width, self.height, 31)
        limits(self, width=(2, 15), height=(3, 31), blocked=(-1, 1))
        if self.height % 2 == 0 and self.width % 2:
            raise ValueError("no man gets across: an even height takes an even width")

    def initial(self) -> int:
        return self._home(0) | self._home(1) << self._points()

    def actions(self, state: int) -> Iterator[int]:
        mine, empty = self._men(state, 0), self._empty(state)
        for source in range(self._points()):
            if mine >> source & 1:
                targets = self._near(1 << source) & empty
                for target in range(self._points()):
                    if targets >> target & 1:
                        yield source * self._points() + target

    def result(self, state: int, action: int) -> int:
        points = self._points()
        change = 1 << action // points | 1 << action % points
        return state ^ change << points * self._turn(state) ^ 1 << 2 * points

    def is_terminal(self, state: int) -> bool:
        if self._has_won(state, 1) or self._has_won(state, 0):
            return True
        return not self._near(self._men(state, 0)) & self._empty(state)

    def utility(self, state: int) -> int:
        if self._has_won(state, 1):
            return -1
        return 1 if self._has_won(state, 0) else self.blocked

    def canonical(self, state: int) -> int:
        """The first player to move, the board upside down for the second; the least of its mirror images."""
        points = self._points()
        if self._turn(state):
            board = self._men(state, 0) | self._men(state, 1) << points
            state = grid.flipped(self.width, self.height, 2, board)
        mirrored = grid.mirrored(self.width, self.height, 2, state)
        least = min(state, mirrored)
        if self.width % 2:
            light = self._light() | self._light() << points
            least = min(least, state & light | mirrored & ~light, mirrored & light | state & ~light)
        return least

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "Xo")

    def layout(self) -> tuple[str, int]:
        return "Xo", self._points() ** 2

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows, "X") | cells_of(rows, "o") << self._points() | mover << 2 * self._points()

    def place(self, state: int, action: int) -> list[int]:
        points = self._points()
        return [grid.place(self.width, self.height, point) for point in (action // points, action % points)]

    def drawing(self) -> dict[str, Any]:
        names = [grid.name(self.width, grid.place(self.width, self.height, i)) for i in range(self._points())]
        return on_points(names, lambda a, b: self._near(1 << a) >> b & 1, "black", "white")

    def _points(self) -> int:
        return self.width * self.height

    def _turn(self, state: int) -> int:
        return state >> 2 * self._points()

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> self._points() * (self._turn(state) ^ other) & grid.full(self.width, self.height)

    def _empty(self, state: int) -> int:
        return grid.full(self.width, self.height) & ~(state | state >> self._points())

    def _near(self, men: int) -> int:
        """The points a step from pieces, taken ones included."""
        left = grid.step(self.width, self.height, men, -1, 0) | grid.step(self.width, self.height, men, 1, 0)
        return grid.step(self.width, self.height, left, 0, 1) | grid.step(self.width, self.height, left, 0, -1)

    def _home(self, player: int) -> int:
        """Where a player's pieces begin."""
        men = (1 << self.width) - 1
        if self.height > 3:
            men |= (1 | 1 << self.width - 1) << self.width
        return grid.flipped(self.width, self.height, 1, men) if player else men

    def _light(self) -> int:
        """The points whose column and row are both odd or both even."""
        light = 0
        for point in range(self._points()):
            light |= (point % self.width + point // self.width + 1 & 1) << point
        return light

    def _has_won(self, state: int, other: int) -> bool:
        """Whether the mover (0) or the other (1) has got across."""
        goal, men = self._home(1 - self._turn(state) ^ other), self._men(state, other)
        if self.filled:
            return men & goal != 0 and not goal & self._empty(state)
        return men == goal
