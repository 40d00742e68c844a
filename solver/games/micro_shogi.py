"""Micro shogi (gofun maka shogi) on 4 x 5: pieces turn over when they take; captured ones are dropped, either face up.

Each side has a King, a Pawn in front of it and, in this order, a Gold, a Silver and a Bishop beside it. `kinds` says
how many of these it begins with: 1 is King and Pawn, 2 adds the Gold, 4 is the whole game. A piece that takes is turned
over, every time. The faces of one piece are Pawn and Knight, Gold and Rook, Silver and Lance, or Bishop and Tokin,
which goes like a Gold. All go as in shogi. A captured piece may be dropped on any empty square with either face up.
Pieces may stand where they cannot move, two Pawns on one file, and a drop may be mate. Who takes the King wins. Who
cannot move loses. Repetition is a draw. A game is over when the mover can take the King, a win in one ply.

Oyama Yasuharu invented the game. The rules are those of Wikipedia, Micro shogi, as Brian Liou reads them, who solved
King and Pawn, and King, Gold and Pawn: github.com/brianhliou/micro-shogi, 2026.

A state is seen by its mover, whose home rank is row 1. Five bits each for the cells of the mover's King and of the
other's, a1 first, b1 next; then for every kind 13 bits for its two pieces, 82 times the greater plus the lesser. A
piece is four times its cell, 2 if it is the other's, 1 if it is turned over; 80 in the mover's hand, 81 in the other's.
An action is 20 times the cell left plus the cell entered, or 400 plus 40 times the dropped kind, plus 20 if it is
turned over, plus the cell. Captured pieces come back, so there is no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.animal_shogi import AnimalShogi
from solver.games.common import grid, like, limits
from solver.games.common.boards import between_hands, cased, shown_with_hands, text_with_hands, tray

GROUP = "capture"
BOARD = (1 << 20) - 1
LEFT, RIGHT = 0x11111, 0x88888  # columns
HAND = 80
PAWN, GOLD, SILVER, BISHOP, KING = range(5)
LETTERS = "PNGRSLBT"  # a kind's two faces
DOUBLED = "QMHJ"  # two pieces of a kind in a hand
NAMES = {mark: mark for mark in LETTERS + "K"} | {DOUBLED[kind]: LETTERS[2 * kind] + " 2" for kind in range(4)}


@like(AnimalShogi, "show", "view")
class MicroShogi(NamedTuple):
    """Take the King with pieces that turn over as they take; kinds: 1 King, Pawn, 2 Gold, 3 Silver, 4 Bishop, too."""

    kinds: int = 4

    drawing = tray(4, 5, NAMES, "green", "sky") | {"turns": True}

    def check(self) -> None:
        limits(self, kinds=(1, 4))

    def initial(self) -> int:
        state = 3 | 16 << 5
        for kind in range(self.kinds):
            cell = 7 if kind == PAWN else (0, 1, 0, 2)[kind]  # d2; b1, a1 and c1
            state |= self._pair(4 * cell, 4 * (19 - cell) + 2) << 10 + 13 * kind
        return state

    def actions(self, state: int) -> Iterator[int]:
        mine = self._side(state, 0)
        occupied = mine | self._side(state, 1)
        king = state & 31
        targets = self._targets(2 * KING, king, occupied) & ~mine
        while targets:
            yield 20 * king + (targets & -targets).bit_length() - 1
            targets &= targets - 1
        for place in range(2 * self.kinds):
            man = self._man(state, place)
            if man < HAND and not man & 2:
                targets = self._targets(place & ~1 | man & 1, man >> 2, occupied) & ~mine
                while targets:
                    yield 20 * (man >> 2) + (targets & -targets).bit_length() - 1
                    targets &= targets - 1
        for kind in range(self.kinds):
            if HAND in (self._man(state, 2 * kind), self._man(state, 2 * kind + 1)):
                empty = BOARD & ~occupied
                while empty:
                    cell = (empty & -empty).bit_length() - 1
                    yield 400 + 40 * kind + cell
                    yield 420 + 40 * kind + cell
                    empty &= empty - 1

    def result(self, state: int, action: int) -> int:
        source, target, kind = action // 20, action % 20, 4
        turned = self._side(state, 1) >> target & 1  # a piece that takes is
        if action >= 400:
            kind, turned = (action - 400) // 40, action // 20 & 1
        king = target if source == state & 31 else state & 31
        after = 19 - (state >> 5 & 31) | 19 - king << 5
        for one in range(self.kinds):
            greater, less = self._man(state, 2 * one), self._man(state, 2 * one + 1)
            if one == kind and less == HAND:
                less = 4 * target | turned
            elif one == kind:
                greater = 4 * target | turned
            else:
                greater = self._moved(greater, source, target, turned)
                less = self._moved(less, source, target, turned)
            after |= self._pair(self._passed(greater), self._passed(less)) << 10 + 13 * one
        return after

    def is_terminal(self, state: int) -> bool:
        if self._takes_the_king(state):
            return True
        if self.kinds <= 2:
            return False  # too few pieces to shut a king in that cannot move themselves
        for _ in self.actions(state):
            return False
        return True

    def utility(self, state: int) -> int:
        return 1 if self._takes_the_king(state) else -1

    def plies_left(self, state: int) -> int:
        return 1 if self._takes_the_king(state) else 0

    def canonical(self, state: int) -> int:
        """The lesser of the state and its mirror image."""
        image = state & 1023 ^ 0b00011_00011
        for kind in range(self.kinds):
            greater, less = self._man(state, 2 * kind), self._man(state, 2 * kind + 1)
            image |= self._pair(greater ^ (greater < HAND) * 12, less ^ (less < HAND) * 12) << 10 + 13 * kind
        return min(state, image)

    def format_end(self, state: int) -> str:
        return "the King is taken with the next move" if self._takes_the_king(state) else "no move is left"

    def format_action(self, state: int, action: int) -> str:
        target = grid.name(4, action % 20)
        if action >= 400:
            return LETTERS[(action - 400) // 20] + "*" + target
        return grid.name(4, action // 20) + target

    def parse_position(self, text: str) -> int | None:
        """The board and both hands, as `view` prints them; of `show` the side to move is the first player."""
        shown = shown_with_hands(text, LETTERS[::2], DOUBLED, 5)
        return None if shown is None else self.from_cells(*shown)

    def cells(self, state: int, mover: int) -> list[str]:
        """The second player's hand, the board from its home rank on, and the first player's hand."""
        board = ["."] * 20
        board[state & 31], board[state >> 5 & 31] = cased("K", mover), cased("K", 1 - mover)
        for place in range(2 * self.kinds):
            man = self._man(state, place)
            if man < HAND:
                board[man >> 2] = cased(LETTERS[place & ~1 | man & 1], mover ^ man >> 1 & 1)
        below = [self._held(state, 0, kind, mover) for kind in range(4)]
        above = [self._held(state, 1, kind, 1 - mover) for kind in range(4)]
        return between_hands(4, board, below, above, mover)

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows)
        if mover:
            marks = marks[::-1]
        kings = [-1, -1]
        men: list[list[int]] = [[] for _ in range(4)]
        for place in range(28):
            mark = marks[place]
            letter, owner = mark.upper(), (0 if mark == mark.upper() else 1) ^ mover
            if mark != "." and (place < 4 or place >= 24):
                kind = 3 - place if place < 4 else place - 24
                men[kind] += [HAND + (1 if place < 4 else 0)] * (2 if letter == DOUBLED[kind] else 1)
            elif mark != ".":
                cell = 4 * (4 - (place - 4) // 4) + (place - 4) % 4
                if letter == "K":
                    kings[owner] = cell
                else:
                    face = LETTERS.index(letter)
                    men[face // 2].append(4 * cell | 2 * owner | face % 2)
        if min(kings) < 0 or [len(two) for two in men] != [2] * self.kinds + [0] * (4 - self.kinds):
            raise ValueError("each side has one King, and there are two men of every other kind")
        pairs = [self._pair(two[0], two[1]) for two in men[: self.kinds]]
        return kings[0] | kings[1] << 5 | sum(pair << 10 + 13 * kind for kind, pair in enumerate(pairs))

    def layout(self) -> tuple[str, int]:
        letters = "K" + LETTERS[: 2 * self.kinds] + DOUBLED[: self.kinds]
        return "".join(sorted(letters + letters.lower())), 400 + 40 * self.kinds

    def place(self, state: int, action: int) -> list[int]:
        """The cells as the mover sees them, its hand below."""
        source = 24 + (action - 400) // 40 if action >= 400 else 4 + grid.place(4, 5, action // 20)
        return [source, 4 + grid.place(4, 5, action % 20)]

    def _man(self, state: int, place: int) -> int:
        """One of the two pieces of a kind, the greater first: places 0 and 1 are Pawns, 2 and 3 Golds."""
        pair = state >> 10 + 13 * (place >> 1) & 8191
        return pair % 82 if place & 1 else pair // 82

    def _pair(self, one: int, other: int) -> int:
        return 82 * max(one, other) + min(one, other)

    def _moved(self, man: int, source: int, target: int, taking: int) -> int:
        """The piece after a move."""
        if man < HAND and man & 2 and man >> 2 == target:
            return HAND
        if man < HAND and not man & 2 and man >> 2 == source:
            return 4 * target | man & 1 ^ taking
        return man

    def _passed(self, man: int) -> int:
        """A piece as the other player sees it."""
        return man ^ 1 if man >= HAND else 4 * (19 - (man >> 2)) | man & 3 ^ 2

    def _side(self, state: int, other: int) -> int:
        """The cells of the mover's pieces, or of the other's."""
        cells = 1 << (state >> 5 * other & 31)
        for place in range(2 * self.kinds):
            man = self._man(state, place)
            if man < HAND and man >> 1 & 1 == other:
                cells |= 1 << (man >> 2)
        return cells

    def _takes_the_king(self, state: int) -> bool:
        """Whether a piece of the mover's attacks the other's King."""
        occupied, king = self._side(state, 0) | self._side(state, 1), 1 << (state >> 5 & 31)
        if self._targets(2 * KING, state & 31, occupied) & king:
            return True
        for place in range(2 * self.kinds):
            man = self._man(state, place)
            if man < HAND and not man & 2 and self._targets(place & ~1 | man & 1, man >> 2, occupied) & king:
                return True
        return False

    def _targets(self, face: int, cell: int, occupied: int) -> int:
        """The cells that the mover's piece attacks; a face is twice its kind, plus 1 if it is turned over."""
        man = 1 << cell
        middle, right = man & ~LEFT, man & ~RIGHT
        ahead, straight = middle << 3 | right << 5, man << 4 | man >> 4 | middle >> 1 | right << 1
        if face == 2 * PAWN:
            return man << 4 & BOARD
        if face == 2 * PAWN + 1:  # Knight
            return (middle << 7 | right << 9) & BOARD
        if face in (2 * GOLD, 2 * BISHOP + 1):  # or Tokin
            return (straight | ahead) & BOARD
        if face == 2 * SILVER:
            return (man << 4 | ahead | middle >> 5 | right >> 3) & BOARD
        if face == 2 * KING:
            return (straight | ahead | middle >> 5 | right >> 3) & BOARD
        if face == 2 * SILVER + 1:  # Lance
            return self._ray(cell, 0, 1, occupied)
        if face == 2 * GOLD + 1:  # Rook
            lines = self._ray(cell, 0, 1, occupied) | self._ray(cell, 0, -1, occupied)
            return lines | self._ray(cell, 1, 0, occupied) | self._ray(cell, -1, 0, occupied)
        lines = self._ray(cell, 1, 1, occupied) | self._ray(cell, 1, -1, occupied)
        return lines | self._ray(cell, -1, 1, occupied) | self._ray(cell, -1, -1, occupied)

    def _ray(self, cell: int, across: int, up: int, occupied: int) -> int:
        """The cells of a line up to the first piece, its own among them."""
        column, row, cells = cell % 4 + across, cell // 4 + up, 0
        while 0 <= column < 4 and 0 <= row < 5:
            cells |= 1 << 4 * row + column
            if occupied >> 4 * row + column & 1:
                break
            column, row = column + across, row + up
        return cells

    def _held(self, state: int, other: int, kind: int, player: int) -> str:
        """A mark for no piece, one or two of a kind in the mover's hand, or in the other's."""
        men = [self._man(state, 2 * kind), self._man(state, 2 * kind + 1)]
        return cased((".", LETTERS[2 * kind], DOUBLED[kind])[men.count(HAND + other)], player)

    def _board(self, state: int, turned: int, capitals: str, small: str) -> str:
        return text_with_hands(self.cells(state, turned), turned, LETTERS[::2], DOUBLED, capitals, small)
