"""Animal shogi (dobutsu shogi) on 3 x 4: Lion, Giraffe, Elephant and Chick a side, captured ones are dropped again.

The Lion steps to any neighbouring square, the Giraffe along rows and columns, the Elephant diagonally, the Chick one
square ahead. A Chick that steps onto the last row becomes a Hen, which goes anywhere but diagonally back. A captured
piece changes sides, a Hen as a Chick, and may be dropped on any empty square in place of a move. Who takes the Lion
wins, or who brings the own one to the far rank and does not lose it there immediately. Repetition is a draw.

A game is over when the mover can take the Lion, a win in one ply, and when the other's Lion stands on the mover's home
rank, a loss (Tanaka, An analysis of the game of Dobutsu shogi, IPSJ SIG-GI 22, 2009). With `immediate` it is over as
soon as the mover has any winning move, be it to take the Lion or to bring the own one safely to the far rank.

A state is seen by its mover, whose home rank is row 1. Four planes of 12 bits, cell by cell from the bottom left:
three for the kind, one for "the other's", then six counts of two bits: Chicks, Giraffes and Elephants in the mover's
hand and in the other's. An action is 12 times the cell moved from plus the cell moved to, or 144 plus 12 times the
dropped kind (0 Chick, 1 Giraffe, 2 Elephant) plus the cell. Captured pieces come back, so there is no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import between_hands, cased, shown_with_hands, text_with_hands, tray

GROUP = "capture"
PLANE = 0o7777
LEFT, MIDDLE, RIGHT = 0o1111, 0o2222, 0o4444  # columns
HOME, FAR = 0o0007, 0o7000  # rows
PLANES = 1 | 1 << 12 | 1 << 24 | 1 << 36
LETTERS = " CGELH"
NAMES = {"C": "chick", "G": "giraffe", "E": "elephant", "L": "lion", "H": "hen"}
NAMES |= {"P": "chick 2", "Q": "giraffe 2", "R": "elephant 2"}


class AnimalShogi(NamedTuple):
    """Take the Lion, or bring your own to the far rank; immediate: a game with a winning move is over."""

    immediate: bool = False

    layout = "CEGHLPQRceghlpqr", 180
    drawing = tray(3, 4, NAMES, "green", "sky") | {"turns": True}

    def initial(self) -> int:
        elephant, lion, giraffe, chick = 1, 2, 4, 0o20
        mine = self._planes(chick, giraffe, elephant, lion)
        return mine | self._turned(mine) | self._half_turned(elephant | lion | giraffe | chick) << 36

    def actions(self, state: int) -> Iterator[int]:
        mine = self._mine(state)
        men = mine
        while men:
            cell = (men & -men).bit_length() - 1
            men &= men - 1
            targets = self._targets(self._kind(state, cell), cell) & ~mine
            while targets:
                yield 12 * cell + (targets & -targets).bit_length() - 1
                targets &= targets - 1
        for kind in range(3):
            if state >> 48 + 2 * kind & 3:
                empty = PLANE & ~self._occupied(state)
                while empty:
                    yield 144 + 12 * kind + (empty & -empty).bit_length() - 1
                    empty &= empty - 1

    def result(self, state: int, action: int) -> int:
        if action >= 144:
            kind, target = (action - 144) // 12 + 1, action % 12
            state -= 1 << 46 + 2 * kind
        else:
            cell, target = action // 12, action % 12
            kind, taken = self._kind(state, cell), self._kind(state, target)
            if kind == 1 and 1 << target & FAR:
                kind = 5
            if taken:
                state += 1 << (48 if taken == 5 else 46 + 2 * taken)
            state &= ~(PLANES << cell | PLANES << target)
        state |= (kind & 1) << target | (kind >> 1 & 1) << 12 + target | (kind >> 2) << 24 + target
        hands = state >> 48
        board = state & (1 << 48) - 1
        board ^= self._occupied(board) << 36
        return self._turned(board) | (hands >> 6 | (hands & 63) << 6) << 48

    def is_terminal(self, state: int) -> bool:
        if self._attackers(state, self._lions(state) & ~self._mine(state)):
            return True
        if self.immediate:
            return self._can_try(state)
        return self._lions(state) & ~self._mine(state) & HOME != 0

    def utility(self, state: int) -> int:
        if self.immediate or self._attackers(state, self._lions(state) & ~self._mine(state)):
            return 1
        return -1

    def plies_left(self, state: int) -> int:
        return 1 if self.utility(state) > 0 else 0

    def digits(self) -> Iterator[int]:
        """Cell by cell a kind and whose it is, then the hands."""
        for cell in range(12):
            yield PLANES << cell
        for hand in range(6):
            yield 3 << 48 + 2 * hand

    def scan(self, place: int, memo: int, digit: int) -> int:
        """Two bits each count Chicks, Giraffes and Elephants, of which there are two; a bit each stands for a Lion."""
        kind = place % 3 + 1 if place >= 12 else digit & 7
        if place < 12 and kind == 4:
            lion = 64 << (digit >> 3)
            return -1 if memo & lion else memo | lion
        if place < 12 and (kind > 5 or digit == 8):
            return -1
        if digit:
            shift = 0 if kind == 5 else 2 * kind - 2
            some = digit if place >= 12 else 1
            if (memo >> shift & 3) + some > 2:
                return -1
            memo += some << shift
        return memo if place < 17 or memo == 0b11101010 else -1

    def canonical(self, state: int) -> int:
        """The lesser of the state and its mirror image."""
        board = state & (1 << 48) - 1
        return min(board, self._mirrored(board)) | state >> 48 << 48

    def format_action(self, state: int, action: int) -> str:
        target = grid.name(3, action % 12)
        if action >= 144:
            return "CGE"[(action - 144) // 12] + "*" + target
        return grid.name(3, action // 12) + target

    def format_end(self, state: int) -> str:
        if self._attackers(state, self._lions(state) & ~self._mine(state)):
            return "the Lion is taken with the next move"
        return "the Lion reaches the last row" + (" with the next move" if self.immediate else "")

    def parse_action(self, state: int, text: str) -> int:
        """A move with the letter of its piece before it: Lb1a2."""
        letter, rest = text.strip()[:1].upper(), text.strip()[1:].lower().replace("-", "")
        for action in self.actions(state):
            named = action < 144 and LETTERS[self._kind(state, action // 12)] == letter
            if named and self.format_action(state, action) == rest:
                return action
        raise ValueError("no such move")

    def parse_position(self, text: str) -> int | None:
        """The board and both hands, as `view` prints them; of `show` the side to move is the first player."""
        shown = shown_with_hands(text, "CGE", "PQR", 4)
        return None if shown is None else self.from_cells(*shown)

    def show(self, state: int) -> str:
        return self._board(state, 0, "the side to move", "the other")

    def view(self, state: int, mover: int) -> str:
        """The first player below, in capitals. Squares have the names that they have for the mover."""
        if mover:
            return self._board(state, 1, "the first", "the second player, to move")
        return self._board(state, 0, "the first player, to move", "the second")

    def cells(self, state: int, mover: int) -> list[str]:
        """The second player's hand, the board from its home rank on, and the first player's hand."""
        mine, board = self._mine(state), []
        for cell in range(12):
            letter = LETTERS[self._kind(state, cell)].replace(" ", ".")
            board.append(cased(letter, mover if mine >> cell & 1 else 1 - mover))
        below = [cased(self._held(state, 0, kind), mover) for kind in range(3)]
        above = [cased(self._held(state, 6, kind), 1 - mover) for kind in range(3)]
        return between_hands(3, board, below, above, mover)

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows)
        if mover:
            marks = marks[::-1]
        state, lions = 0, 0
        for place in range(18):
            mark = marks[place]
            letter, owner = mark.upper(), (0 if mark == mark.upper() else 1) ^ mover
            if place < 3 or place >= 15:
                kind = (2 - place) if place < 3 else place - 15
                held = (".", "CGE"[kind], "PQR"[kind]).index(letter)
                state |= held << 48 + (6 if place < 3 else 0) + 2 * kind
            elif mark != ".":
                kind, cell = LETTERS.index(letter), 3 * (3 - (place - 3) // 3) + (place - 3) % 3
                state |= (
                    (kind & 1) << cell | (kind >> 1 & 1) << 12 + cell | (kind >> 2) << 24 + cell | owner << 36 + cell
                )
                lions += letter == "L"
        if lions != 2:
            raise ValueError("each side has one Lion")
        return state

    def place(self, state: int, action: int) -> list[int]:
        """The cells as the mover sees them, its hand below."""
        target = action % 12
        source = 15 + (action - 144) // 12 if action >= 144 else 12 - action // 36 * 3 + action // 12 % 3
        return [source, 12 - target // 3 * 3 + target % 3]

    def _held(self, state: int, hand: int, kind: int) -> str:
        """A mark for no piece, one or two of a kind in a hand."""
        return (".", "CGE"[kind], "PQR"[kind])[state >> 48 + hand + 2 * kind & 3]

    def _board(self, state: int, turned: int, capitals: str, small: str) -> str:
        return text_with_hands(self.cells(state, turned), turned, "CGE", "PQR", capitals, small)

    def _planes(self, chicks: int, giraffes: int, elephants: int, lions: int) -> int:
        return chicks | elephants | (giraffes | elephants) << 12 | lions << 24

    def _occupied(self, state: int) -> int:
        return (state | state >> 12 | state >> 24) & PLANE

    def _mine(self, state: int) -> int:
        return self._occupied(state) & ~(state >> 36)

    def _lions(self, state: int) -> int:
        return state >> 24 & ~state & PLANE

    def _kind(self, state: int, cell: int) -> int:
        """0 empty, 1 Chick, 2 Giraffe, 3 Elephant, 4 Lion, 5 Hen."""
        return state >> cell & 1 | (state >> 12 + cell & 1) << 1 | (state >> 24 + cell & 1) << 2

    def _targets(self, kind: int, cell: int) -> int:
        """The cells that the mover's piece of that kind attacks."""
        man = 1 << cell
        if kind == 1:
            return man << 3 & PLANE
        if kind == 2:
            return self._straight(man)
        if kind == 3:
            return self._ahead(man) | self._behind(man)
        if kind == 4:
            return self._straight(man) | self._ahead(man) | self._behind(man)
        return self._straight(man) | self._ahead(man)

    def _straight(self, men: int) -> int:
        return (men << 3 | men >> 3 | (men & ~LEFT) >> 1 | (men & ~RIGHT) << 1) & PLANE

    def _ahead(self, men: int) -> int:
        """Diagonally forward, from the mover's side."""
        return ((men & ~LEFT) << 2 | (men & ~RIGHT) << 4) & PLANE

    def _behind(self, men: int) -> int:
        return (men & ~LEFT) >> 4 | (men & ~RIGHT) >> 2

    def _attackers(self, state: int, cells: int) -> int:
        """The mover's pieces that attack one of the cells."""
        first, second, third = state & PLANE, state >> 12 & PLANE, state >> 24 & PLANE
        straight, ahead, behind = self._straight(cells), self._ahead(cells), self._behind(cells)
        chicks = first & ~second & ~third & cells >> 3
        giraffes = second & ~first & straight
        elephants = first & second & (ahead | behind)
        lions = third & ~first & (straight | ahead | behind)
        hens = third & first & (straight | behind)
        return (chicks | giraffes | elephants | lions | hens) & self._mine(state)

    def _can_try(self, state: int) -> bool:
        """Whether the mover's Lion can step onto the far rank where nothing of the other's takes it."""
        lion = self._lions(state) & self._mine(state)
        steps = (self._straight(lion) | self._ahead(lion)) & FAR & ~self._mine(state)
        while steps:
            step = steps & -steps
            steps -= step
            after = self.result(state, 12 * (lion.bit_length() - 1) + step.bit_length() - 1)
            if not self._attackers(after, self._lions(after) & ~self._mine(after)):
                return True
        return False

    def _mirrored(self, board: int) -> int:
        """Left and right exchanged, in all planes."""
        return (board & LEFT * PLANES) << 2 | board >> 2 & LEFT * PLANES | board & MIDDLE * PLANES

    def _turned(self, board: int) -> int:
        """All planes turned by 180 degrees."""
        board = self._mirrored(board)
        home, second = HOME * PLANES, 0o70 * PLANES
        return (board & home) << 9 | (board & second) << 3 | board >> 3 & second | board >> 9 & home

    def _half_turned(self, plane: int) -> int:
        return self._turned(plane) & PLANE
