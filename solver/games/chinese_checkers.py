"""Chinese checkers for two on a diamond: step, or hop over single pieces, again and again, into the corner opposite.

The board is a rhombus of `size` x `size` hexagons, each with six neighbours. Each player's `men` stand in the own
corner: the tip alone, or the cells next to it as well (with four pieces, the one between them behind). A turn is a step
to an empty neighbour, or any number of hops, each over a neighbour of either side to the empty cell behind it in line.
Who fills the corner opposite wins: all its cells are taken, by whomever, and one at least by an own piece. Nobody may
make the other win so. Who cannot move has lost. Repetition is a draw.

Sturtevant, On Strongly Solving Chinese Checkers, Advances in Computer Games 2019, has these rules, and counts all
placements in which the mover has not won already: `everything` solves from all of them.

A state holds the cells of the first player's pieces in ascending order, those of the second's, and a bit for the side
to move; cells are numbered row by row from the first player's tip, and take as many bits as the last needs. An action
is the cell moved from, times the number of cells, plus the cell moved to. Pieces go back and forth, so there is no
`tier`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of

GROUP = "race"
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))


class ChineseCheckers(NamedTuple):
    """Step and hop across a diamond into the corner opposite. With `everything` all placements are starts."""

    size: int = 4
    men: int = 2
    everything: bool = False

    def check(self) -> None:
        limits(self, men=(1, 4), size=(3 if self.men < 4 else 4, 7))

    def initial(self) -> int:
        return self._state(self._corner(0), self._corner(1))

    def starts(self) -> Iterator[int]:
        yield self.initial()
        if self.everything:
            own = (1 << self.men) - 1
            while own < 1 << self._cells():
                other = (1 << self.men) - 1
                while other < 1 << self._cells():
                    if not own & other and not self._has_won(own, own | other, 1):
                        yield self._state(own, other)
                    other = self._following(other)
                own = self._following(own)

    def actions(self, state: int) -> Iterator[int]:
        mine = self._men(state, 0)
        for source in range(self._cells()):
            if mine >> source & 1:
                targets = self._targets(state, source)
                for target in range(self._cells()):
                    if targets >> target & 1 and not self._gives(state, source, target):
                        yield source * self._cells() + target

    def result(self, state: int, action: int) -> int:
        mine = self._men(state, 0) ^ 1 << action // self._cells() ^ 1 << action % self._cells()
        theirs = self._men(state, 1)
        if self._turn(state):
            return self._state(theirs, mine)
        return self._state(mine, theirs) | 1 << 2 * self._side()

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just moved, has filled its corner, or the mover cannot move."""
        mine, theirs = self._men(state, 0), self._men(state, 1)
        if self._has_won(theirs, mine | theirs, self._turn(state)):
            return True
        for _ in self.actions(state):
            return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """The first player to move, the board turned for the second; the lesser of it and its mirror image."""
        mine, theirs = self._men(state, 0), self._men(state, 1)
        if self._turn(state):
            mine, theirs = self._half_turned(mine), self._half_turned(theirs)
        board = self._state(mine, theirs)
        if self.men == 2:
            return board
        return min(board, self._state(self._mirrored(mine), self._mirrored(theirs)))

    def cells(self, state: int, mover: int) -> list[str]:
        both = self._mask(state, 0) | self._mask(state, 1) << self._cells()
        return grid.board(self.size, self.size, both, "Xo")[::-1]

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = cells_of(rows[::-1], "X"), cells_of(rows[::-1], "o")
        if first.bit_count() != self.men or second.bit_count() != self.men:
            raise ValueError(f"each has {self.men} men, all of the time")
        return self._state(first, second) | mover << 2 * self._side()

    def layout(self) -> tuple[str, int]:
        return "Xo", self._cells() ** 2

    def place(self, state: int, action: int) -> list[int]:
        return [action // self._cells(), action % self._cells()]

    def drawing(self) -> dict[str, Any]:
        names = [grid.name(self.size, cell) for cell in range(self._cells())]
        places = [(i % self.size, i // self.size) for i in range(self._cells())]
        at = [[self.size / 2 + 0.5 + (x - y) / 2, 0.5 + 0.866 * (2 * self.size - 2 - x - y)] for x, y in places]
        lines = [[a, b] for a in range(self._cells()) for b in range(a) if self._near(a) >> b & 1]
        return {"board": "points", "at": at, "lines": lines, "sides": ["red", "blue"], "names": names}

    def _cells(self) -> int:
        return self.size * self.size

    def _bits(self) -> int:
        """Bits of a cell."""
        return (self.size * self.size - 1).bit_length()

    def _side(self) -> int:
        """Bits of a player's pieces."""
        return self.men * self._bits()

    def _turn(self, state: int) -> int:
        return state >> 2 * self._side()

    def _mask(self, state: int, player: int) -> int:
        """A player's pieces, a bit a cell."""
        cells = 0
        for man in range(self.men):
            cells |= 1 << (state >> player * self._side() + man * self._bits() & (1 << self._bits()) - 1)
        return cells

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return self._mask(state, self._turn(state) ^ other)

    def _state(self, first: int, second: int) -> int:
        state, place = 0, 0
        for player in range(2):
            men = second if player else first
            while men:
                state |= ((men & -men).bit_length() - 1) << place
                place += self._bits()
                men &= men - 1
        return state

    def _corner(self, player: int) -> int:
        """The cells where the player's pieces start."""
        n = self.size
        cells = 1 if self.men == 1 else 1 | 1 << n if self.men == 2 else 1 | 2 | 1 << n
        if self.men == 4:
            cells |= 2 << n
        return self._half_turned(cells) if player else cells

    def _has_won(self, men: int, taken: int, corner: int) -> bool:
        goal = self._corner(corner)
        return taken & goal == goal and men & goal != 0

    def _gives(self, state: int, source: int, target: int) -> bool:
        """Whether a move would make the other win."""
        theirs = self._men(state, 1)
        mine = self._men(state, 0) ^ 1 << source ^ 1 << target
        return self._has_won(theirs, mine | theirs, self._turn(state))

    def _to(self, cell: int, way: int, steps: int) -> int:
        """The cell so many steps on, -1 off the board."""
        x, y = cell % self.size + steps * WAYS[way][0], cell // self.size + steps * WAYS[way][1]
        return y * self.size + x if 0 <= x < self.size and 0 <= y < self.size else -1

    def _near(self, cell: int) -> int:
        cells = 0
        for way in range(6):
            to = self._to(cell, way, 1)
            if to >= 0:
                cells |= 1 << to
        return cells

    def _targets(self, state: int, source: int) -> int:
        """Where a step or hops may end. Hops may cross the cell that the piece has left, but not end there."""
        taken = (self._men(state, 0) | self._men(state, 1)) & ~(1 << source)
        hopped = todo = 1 << source
        while todo:
            cell = (todo & -todo).bit_length() - 1
            todo &= todo - 1
            for way in range(6):
                over, to = self._to(cell, way, 1), self._to(cell, way, 2)
                if to >= 0 and taken >> over & 1 and not (taken | hopped) >> to & 1:
                    hopped |= 1 << to
                    todo |= 1 << to
        return (hopped | self._near(source) & ~taken) & ~(1 << source)

    def _half_turned(self, cells: int) -> int:
        turned = 0
        for cell in range(self._cells()):
            turned |= (cells >> cell & 1) << self._cells() - 1 - cell
        return turned

    def _mirrored(self, cells: int) -> int:
        """Rows and columns exchanged."""
        mirrored = 0
        for cell in range(self._cells()):
            mirrored |= (cells >> cell & 1) << cell % self.size * self.size + cell // self.size
        return mirrored

    def _following(self, men: int) -> int:
        """The next larger number of as many ones."""
        lowest = men & -men
        carried = men + lowest
        return carried | (men ^ carried) // lowest >> 2
