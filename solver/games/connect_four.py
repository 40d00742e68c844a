"""Connect-four on width x height, `connect` in a row wins.

Players drop stones in turn into columns that are not full; a stone falls onto the topmost one, or to the bottom. Who
first has so many stones next to each other in a row, a column or a diagonal wins. A full board without a line is a
draw.

A state gives each column height + 1 bits, bottom first. Its highest set bit is a guard just above the top stone; below
it a bit is set where the stone belongs to the side to move (the encoding of John Tromp and Pascal Pons). Worked
position, 4 wide and 4 high after the moves 2 2 3, second player to move:

    column                     1      2      3      4
    stones, bottom to top      -      X O    X      -
    bits, highest row first    00001  00110  00010  00001
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import limits
from solver.games.common.boards import cells_of, check_turns, stacked
from solver.games.common.choices import choice_at, choose, fillings, place_of

GROUP = "alignment"


class ConnectFour(NamedTuple):
    """Drop stones into columns; `connect` in a row, column or diagonal wins; a full board is a draw."""

    width: int = 7
    height: int = 6
    connect: int = 4

    drawing = {"board": "plate", "sides": ["red", "yellow"]}

    def check(self) -> None:
        limits(self, width=(1, 125), height=(1, 249), connect=(2, 62))
        if self.width * (self.height + 1) > 250:
            raise ValueError("width * (height + 1) must be at most 250")

    def bits(self) -> int:
        return max(63, self.width * (self.height + 1) + 1)

    def initial(self) -> int:
        return self._bottom()

    def actions(self, state: int) -> Iterator[int]:
        occupied = self._occupied(state)
        top = 1 << self.height - 1
        for column in range(self.width):
            if not occupied & top:
                yield column
            top <<= self.height + 1

    def result(self, state: int, action: int) -> int:
        occupied = self._occupied(state)
        guards = occupied + self._bottom()
        return (occupied & ~state) + guards + (guards & self._column(action))

    def is_terminal(self, state: int) -> bool:
        occupied = self._occupied(state)
        return occupied == self._bottom() * ((1 << self.height) - 1) or self._has_line(occupied & ~state)

    def utility(self, state: int) -> int:
        return -1 if self._has_line(self._occupied(state) & ~state) else 0

    def tier(self, state: int) -> int:
        return self._occupied(state).bit_count()

    def canonical(self, state: int) -> int:
        mirrored = 0
        column = (1 << self.height + 1) - 1
        apart = (self.width - 1) * (self.height + 1)  # bits from a column to its image
        while apart > 0:
            mirrored |= (state & column) << apart | state >> apart & column
            column <<= self.height + 1
            apart -= 2 * (self.height + 1)
        if apart == 0:
            mirrored |= state & column
        return min(state, mirrored)

    def longest(self, state: int) -> int:
        return self.width * self.height - self._occupied(state).bit_count()

    def rank(self, state: int) -> int:
        """Ply by ply, then by the heights of the columns, the last one first, then by the mover's stones.

        Of these the highest row decides first: stones below others matter less, so neighbours have equal values. Boards
        with a line have no rank, and leave gaps: no play goes on from them.
        """
        occupied = self._occupied(state)
        stones = occupied.bit_count()
        mine = state & occupied
        if state & ~occupied != occupied + self._bottom() or mine.bit_count() != stones // 2:
            return -1
        if self._has_line(mine) or self._has_line(occupied & ~mine):
            return -1
        shape = 0
        left = stones
        for column in range(self.width - 1, -1, -1):
            height = (occupied & self._column(column)).bit_count()
            for lower in range(height):
                shape += fillings(left - lower, column, self.height)
            left -= height
        rank = shape * choose(stones, stones // 2) + place_of(self._by_rows(mine), self._by_rows(occupied))
        for fewer in range(stones):
            rank += fillings(fewer, self.width, self.height) * choose(fewer, fewer // 2)
        return rank

    def unrank(self, rank: int) -> int:
        """The state of that rank; -n, if boards of n ranks from this one on have the same line."""
        stones = 0
        states = 1
        while rank >= states:
            rank -= states
            stones += 1
            if stones > self.width * self.height:
                return -1
            states = fillings(stones, self.width, self.height) * choose(stones, stones // 2)
        ways = choose(stones, stones // 2)
        shape = rank // ways
        guards = 0
        left = stones
        for column in range(self.width - 1, -1, -1):
            guard = 1 << column * (self.height + 1)
            lower = fillings(left, column, self.height)
            while shape >= lower:
                shape -= lower
                guard <<= 1
                left -= 1
                lower = fillings(left, column, self.height)
            guards |= guard
        occupied = guards - self._bottom()
        cells = self._by_rows(occupied)
        chosen = choice_at(rank % ways, stones // 2, cells)
        mine = self._by_columns(chosen)
        theirs = occupied & ~mine
        if not self._has_line(mine) and not self._has_line(theirs):
            return guards | mine
        # The line stays, whoever has the lowest cells that it does without
        free = 0
        cell = 1
        while self._has_line(mine & ~cell) or self._has_line(theirs & ~cell):
            mine &= ~cell
            theirs &= ~cell
            free += 1
            cell = 1 << free % self.width * (self.height + 1) + free // self.width
        lower = (1 << free) - 1
        ways = choose((cells & lower).bit_count(), (chosen & lower).bit_count())
        return place_of(chosen & lower, cells & lower) - ways

    def bounds(self, state: int) -> tuple[int, int]:
        """The result that a player can hold by answering every stone on top of it (Allis 1988, claimeven).

        Columns with an odd number of empty cells are paired by their next cells. If their number is even, it is the
        player who moves second who can answer always; if it is odd, the mover after a stone in one of them. The other
        player gets at most those next cells, and the lower cell of each two that are left in a column; all others are
        the holder's in the end.
        """
        occupied = self._occupied(state)
        empty = ~occupied & self._bottom() * ((1 << self.height) - 1)
        lower = self._bottom() * self._alternate(self.height - 2)
        odd = occupied + self._bottom() & self._bottom() * self._alternate(self.height - 1)
        reach = empty & lower | odd
        mover_holds = odd.bit_count() & 1 == 1
        mine, theirs = state & occupied, occupied & ~state
        if self._has_line((theirs if mover_holds else mine) | reach):
            return -1, 1
        wins = self._has_line((mine if mover_holds else theirs) | empty & ~reach)
        if mover_holds:
            return (1 if wins else 0), 1
        return -1, (-1 if wins else 0)

    def outlook(self, state: int) -> int:
        occupied = self._occupied(state)
        if self._wins(state & occupied, occupied) & self._playable(occupied):
            return 1
        return self.followup(state)

    def followup(self, state: int) -> int:
        """The outlook of a state that a reply led to: who moves there cannot win immediately."""
        occupied = self._occupied(state)
        playable = self._playable(occupied)
        threats = self._wins(occupied & ~state, occupied)
        forced = threats & playable
        safe = playable & ~(threats >> 1)  # not just below a cell where the other wins
        if forced:
            return 0 if forced & forced - 1 == 0 and forced & safe else -1
        return 0 if safe or not playable else -1

    def replies(self, state: int) -> int:
        occupied = self._occupied(state)
        playable = self._playable(occupied)
        threats = self._wins(occupied & ~state, occupied)
        forced = threats & playable
        cells = playable & ~(threats >> 1)
        if forced:
            cells &= forced
        columns = 0
        for column in range(self.width):
            if cells & self._column(column):
                columns |= 1 << column
        return columns

    def promise(self, state: int, action: int) -> int:
        """Winning cells after the move, those that can be next twice, then nearness to the middle.

        A cell just above one where the other wins is never come to.
        """
        before = self._occupied(state)
        child = self.result(state, action)
        occupied = self._occupied(child)
        wins = self._wins(occupied & ~child, occupied) & ~(self._wins(before & ~state, before) << 1)
        soon = wins & self._playable(occupied) << 1
        return (wins.bit_count() + soon.bit_count()) * 2 * self.width - abs(2 * action - self.width + 1)

    def evaluate(self, state: int) -> float:
        """Cells where the mover would win less those where the other would, as a part of all cells."""
        occupied = self._occupied(state)
        mine = self._wins(state & occupied, occupied).bit_count()
        theirs = self._wins(occupied & ~state, occupied).bit_count()
        return (mine - theirs) / (self.width * self.height + 1)

    def features(self, state: int) -> Iterator[int]:
        """Who moves and what is left, what the next plies bring, threats by row, open lines, and the stones' balance.

        Threats, empty cells that complete a line, are told apart by whether the mover is the first player: who comes
        to a row's cells first depends on that (Allis 1988). Columns count as their mirror images.
        """
        occupied = self._occupied(state)
        mine, theirs = state & occupied, occupied & ~state
        playable = self._playable(occupied)
        wins, losses = self._wins(mine, occupied), self._wins(theirs, occupied)
        first = 1 - occupied.bit_count() % 2
        lower, upper = self.bounds(state)
        yield first
        yield occupied.bit_count()
        yield lower
        yield upper
        yield 1 if wins & playable else 0
        yield -1 if self.followup(state) < 0 else 0
        yield (playable & ~(losses >> 1)).bit_count()  # cells that can be taken without giving away the one above
        yield (playable & ~(wins >> 1)).bit_count()
        yield (losses & playable).bit_count()
        yield (wins & wins << 1).bit_count()
        yield (losses & losses << 1).bit_count()
        for row in range(self.height):
            cells = (self._bottom() << row) & ~playable
            yield first * (wins & cells).bit_count()
            yield first * (losses & cells).bit_count()
            yield (1 - first) * (wins & cells).bit_count()
            yield (1 - first) * (losses & cells).bit_count()
        for direction in range(3):
            own, others = self._open_lines(mine, theirs, direction), self._open_lines(theirs, mine, direction)
            for missing in range(3):
                yield own >> 8 * missing & 255
                yield others >> 8 * missing & 255
        for column in range((self.width + 1) // 2):
            for row in range(self.height):
                cell = 1 << column * (self.height + 1) + row
                cell |= 1 << (self.width - 1 - column) * (self.height + 1) + row
                yield (mine & cell).bit_count() - (theirs & cell).bit_count()

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def cells(self, state: int, mover: int) -> Iterator[str]:
        occupied = self._occupied(state)
        mine, theirs = "Xo" if occupied.bit_count() % 2 == 0 else "oX"
        for row in reversed(range(self.height)):
            cells = [column * (self.height + 1) + row for column in range(self.width)]
            yield "".join((mine if state >> cell & 1 else theirs) if occupied >> cell & 1 else "." for cell in cells)

    def layout(self) -> tuple[str, int]:
        return "Xo", self.width

    def from_cells(self, rows: list[str], mover: int) -> int:
        columns = stacked(rows)
        boards = [cells_of(columns, "X"), cells_of(columns, "o")]
        check_turns(boards[0].bit_count(), boards[1].bit_count(), mover, self._has_line(boards[mover]))
        return boards[0] + boards[1] + self._bottom() | boards[mover]

    def place(self, state: int, action: int) -> Iterator[int]:
        stones = (self._occupied(state) & self._column(action)).bit_count()
        yield (self.height - 1 - stones) * self.width + action

    def _by_rows(self, stones: int) -> int:
        """Stones with the bits of a row side by side, the lowest row first."""
        rows = 0
        for row in range(self.height):
            for column in range(self.width):
                rows |= (stones >> column * (self.height + 1) + row & 1) << row * self.width + column
        return rows

    def _by_columns(self, rows: int) -> int:
        """The stones of which these are the rows."""
        stones = 0
        for row in range(self.height):
            for column in range(self.width):
                stones |= (rows >> row * self.width + column & 1) << column * (self.height + 1) + row
        return stones

    def _bottom(self) -> int:
        """The lowest cell of each column."""
        return ((1 << self.width * (self.height + 1)) - 1) // ((1 << self.height + 1) - 1)

    def _alternate(self, row: int) -> int:
        """The cells of one column in this row, and in every second row below it."""
        cells = 0
        while row >= 0:
            cells |= 1 << row
            row -= 2
        return cells

    def _occupied(self, state: int) -> int:
        """All stones: the bits below the guards."""
        bottom = self._bottom()
        height = self.height
        step = 1
        while step <= height:
            state |= state >> step & bottom * ((1 << height + 1 - step) - 1)
            step *= 2
        return state >> 1 & bottom * ((1 << height) - 1)

    def _column(self, column: int) -> int:
        """A column's cells and its guard."""
        return (1 << self.height + 1) - 1 << column * (self.height + 1)

    def _playable(self, occupied: int) -> int:
        """The cells where a stone can land."""
        return occupied + self._bottom() & self._bottom() * ((1 << self.height) - 1)

    def _wins(self, stones: int, occupied: int) -> int:
        """The empty cells that would complete a line of these stones."""
        cells = -1  # on top of a column
        for place in range(1, self.connect):
            cells &= stones << place
        for step in (self.height, self.height + 1, self.height + 2):
            for gap in range(self.connect if self._fits(step) else 0):
                before = after = -1
                for place in range(1, gap + 1):
                    before &= stones << place * step
                for place in range(1, self.connect - gap):
                    after &= stones >> place * step
                cells |= before & after
        return cells & self._bottom() * ((1 << self.height) - 1) & ~occupied

    def _open_lines(self, stones: int, others: int, direction: int) -> int:
        """Lines of a direction, upright, level or slanting both ways, of these stones and one, two or three empty
        cells: three numbers of eight bits."""
        lines = 0
        for slant in range(2 if direction == 2 else 1):
            step = (1, self.height + 1, self.height + 2 * slant)[direction]
            if self._fits(step):
                lines += self._open_along(stones, others, step)
        return lines

    def _open_along(self, stones: int, others: int, step: int) -> int:
        free = self._bottom() * ((1 << self.height) - 1) & ~others
        lines = free
        one = two = three = four = 0  # lines with at least so many empty cells
        for place in range(self.connect):
            lines &= free >> place * step
            empty = (free & ~stones) >> place * step
            four |= three & empty
            three |= two & empty
            two |= one & empty
            one |= empty
        counted = (lines & three & ~four).bit_count() << 16 | (lines & two & ~three).bit_count() << 8
        return counted | (lines & one & ~two).bit_count()

    def _fits(self, step: int) -> bool:
        """Whether a line has room on the board. If not, nothing is shifted: a shift by 64 bits has no meaning."""
        return (self.connect - 1) * step < self.width * (self.height + 1)

    def _has_line(self, stones: int) -> bool:
        for step in (1, self.height, self.height + 1, self.height + 2):
            run = stones & stones >> step if self._fits(step) else 0
            length = 2
            while run and length < self.connect:
                more = length if 2 * length <= self.connect else self.connect - length
                run &= run >> more * step
                length += more
            if run:
                return True
        return False
