"""Chess on 3 x 3 squares: all positions, or those of an ending, from every placement of its pieces.

The rules are those of chess without castling, two steps of a pawn, en passant and the fifty-move rule. White's pawns
stand on the first two ranks and Black's on the last two. They step one square, take diagonally, and promote to a queen,
rook, bishop or knight where the board ends. Who cannot move has lost if in check; otherwise it is a draw. Repetition is
a draw, too. No position is the beginning, so all legal placements of the pieces with either side to move are starts,
reachable or not: each side has a king, the kings do not touch, and the side that is not to move is not in check.

These are the rules of Kirill Kryukov, who solved the game in 2004: kirill-kryukov.com/chess/3x3-chess. Positions are
written as there: w or b for the side to move, then the squares a3, b3, c3, a2 to c1, small letters for Black, a dot
for none.

A state has four bits a square, a1 first, b1 next: 0, or 1 to 6 for pawn, knight, bishop, rook, queen and king, and 8
more for Black's; then a bit for Black to move: wk..Q..K.. is 6 | 5 << 12 | 14 << 24. An action is 54 times the square
left, plus 6 times the square entered, plus the kind of a promotion. The tier grows as pieces are taken, pawns advance
and promote, and has cycles.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import chess, grid
from solver.games.common.chess import BISHOP, KNIGHT, LETTERS, PAWN, QUEEN, ROOK

GROUP = "endings"
KING, BLACK = 6, 8
MARKS = ".PNBRQK..pnbrqk"
ONES = 0x111111111  # the lowest bit of every square
RANK = 0xFFF
EVERY = 0x777770 | 0x77777 << 36  # seven pieces of each kind
FULL = 0x564 | 0xDEC << 24  # rook, king and queen on either side


class Minichess(NamedTuple):
    """Chess on 3 x 3 squares from every placement of pieces. These name it: KQK, KRPKR, or all."""

    pieces: int = 4104  # digits, White's, 0, Black's: 1 pawn, 2 knight, 3 bishop, 4 rook, 5 queen; 0 is all pieces

    def check(self) -> None:
        white, zero, black = str(self.pieces).partition("0")
        men = white + black
        if self.pieces and not (white and zero and len(men) <= 7 and set(men) <= set("12345")):
            raise ValueError("pieces are up to seven digits 1 to 5, White's, 0 and Black's: 4104 is KRPKR, 0 all men")

    @classmethod
    def from_text(cls, text: str) -> "Minichess":
        """The ending of a name: KQK, KRPKR; or all positions."""
        name = text.upper() or "KRPKR"
        if name == "ALL":
            return cls(0)
        if name[0] != "K" or name.count("K") != 2 or not 3 <= len(name) <= 9 or not set(name) <= set("KPNBRQ"):
            raise ValueError("name three to nine men, a king first on each side: KQK, KRPKR; or all")
        sides = ["".join(sorted((str(LETTERS.index(man)) for man in men), reverse=True)) for men in name[1:].split("K")]
        return cls(int("0".join(sides if sides[0] else sides[::-1])))

    def to_text(self) -> str:
        return "".join("KPNBRQ"[int(digit)] for digit in f"0{self.pieces}") if self.pieces else "all"

    def initial(self) -> int:
        """The first of the starts where White can move; of all pieces rook, king and queen on either side."""
        if self.pieces == 0:
            return FULL
        for state in self.starts():
            if state >> 36 == 0 and not self.is_terminal(state):
                return state
        return 0

    def starts(self) -> Iterator[int]:
        for kings in range(81):
            white, black = kings // 9, kings % 9
            board = KING << 4 * white | (KING | BLACK) << 4 * black
            if white != black and not self._is_attacked(board, white, 1):
                left, free = self._to_place(), self._free(board)
                depth = code = 0
                while depth >= 0:
                    if depth == 7:
                        if self.pieces == 0 or left == 0:
                            for turn in range(2):
                                if not self._is_attacked(board, white if turn else black, turn):
                                    yield board | turn << 36
                        code = 14
                    if code == 14:  # all was tried on this square: back to the one before
                        depth -= 1
                        if depth >= 0:
                            code = board >> (free >> 4 * depth & 15) * 4 & 15
                            board ^= code << (free >> 4 * depth & 15) * 4
                            left += 1 << 4 * code if code else 0
                            code += 1
                    elif code == 0 or (left >> 4 * code & 15 and self._may_stand(code, free >> 4 * depth & 15)):
                        board |= code << (free >> 4 * depth & 15) * 4
                        left -= 1 << 4 * code if code else 0
                        depth, code = depth + 1, 0
                    else:
                        code += 1

    def placed(self, draw: int) -> int:
        turn, draw, board, free = draw & 1, draw >> 1, 0, list(range(9))
        white, _, black = str(self.pieces).partition("0") if self.pieces else ("", "", "")
        men = [KING, KING | BLACK, *map(int, white), *(int(digit) | BLACK for digit in black)]
        squares: list[int] = []
        while len(squares) < len(men):
            draw, at = divmod(draw, len(free))
            squares.append(free.pop(at))
        for square in () if self.pieces else free:
            draw, kind = divmod(draw, 2 * KING - 1)  # none, five of White's, five of Black's
            men.append(kind if kind < KING else kind - KING + 1 | BLACK)
            squares.append(square)
        for man, square in zip(men, squares, strict=True):
            board |= man << 4 * square
        stand = all(self._may_stand(man, square) for man, square in zip(men, squares, strict=True))
        king = squares[1 - turn]
        return board | turn << 36 if stand and not self._is_attacked(board, king, turn) else -1

    def actions(self, state: int) -> Iterator[int]:
        turn = state >> 36
        for source in range(9):
            kind = (state >> 4 * source & 15) - BLACK * turn
            if 1 <= kind <= KING:
                for target in range(9):
                    action = 54 * source + 6 * target
                    if self._goes(state, kind, source, target) and self._is_safe(state, action):
                        if kind == PAWN and target // 3 == 2 - 2 * turn:
                            for promoted in range(KNIGHT, QUEEN + 1):
                                yield action + promoted
                        else:
                            yield action

    def result(self, state: int, action: int) -> int:
        source, target = action // 54, action // 6 % 9
        man = state >> 4 * source & 15
        if action % 6:
            man = man & BLACK | action % 6
        state &= ~(15 << 4 * source | 15 << 4 * target)
        return (state | man << 4 * target) ^ 1 << 36

    def is_terminal(self, state: int) -> bool:
        for _ in self.actions(state):
            return False
        return True

    def utility(self, state: int) -> int:
        turn = state >> 36
        return -1 if self._is_attacked(state, self._king(state, turn), 1 - turn) else 0

    def tier(self, state: int) -> int:
        """16 for each piece that is gone, 2 for each piece but kings, 1 for each pawn that has stepped."""
        men, pawns = self._men(state).bit_count(), self._pawns(state)
        return 16 * (9 - men) + 2 * (men - 2 - pawns.bit_count()) + (pawns & RANK << 12).bit_count()

    def canonical(self, state: int) -> int:
        """White to move, and the least of the board's eight images; with a pawn on it, of two."""
        if state >> 36:
            state = self._upside_down(state ^ 1 << 36)
            state ^= self._men(state) << 3
        least = min(state, self._mirrored(state))
        if not self._pawns(state):
            for _ in range(3):
                state = self._mirrored(self._turned(state))  # a quarter turn
                least = min(least, min(state, self._mirrored(state)))
        return least

    def format_end(self, state: int) -> str:
        return "checkmate" if self.utility(state) else "stalemate"

    def format_action(self, state: int, action: int) -> str:
        kind = MARKS[state >> 4 * (action // 54) & 7].replace("P", "")
        promoted = "=" + LETTERS[action % 6] if action % 6 else ""
        return kind + grid.name(3, action // 54) + grid.name(3, action // 6 % 9) + promoted

    def show(self, state: int) -> str:
        return chess.shown(self.cells(state, 0), state >> 36, self.format_position(state))

    def cells(self, state: int, mover: int) -> list[str]:
        marks = "".join(MARKS[state >> 4 * square & 15] for square in range(9))
        return grid.rows(3, 3, marks)

    def layout(self) -> tuple[str, int]:
        letters = chess.letters({int(digit) for digit in str(self.pieces or PAWN)} - {0})  # all pieces, too, have pawns
        return letters + letters.lower(), 486

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(3, 3, square) for square in (action // 54, action // 6 % 9)]

    def drawing(self) -> dict[str, Any]:
        return {"board": "checks", "sides": ["white", "black"], "men": chess.MEN}

    def format_position(self, state: int) -> str:
        return "wb"[state >> 36] + "".join(self.cells(state, 0))

    def parse_position(self, text: str) -> int | None:
        """The state of a position such as wk..Q..K.., alone or below its board; None for other texts, or ValueError."""
        text = text.rpartition("\n")[2]
        if len(text) != 10 or text[0] not in "wb" or not set(text[1:]) <= set(MARKS):
            return None
        return self.from_cells([text[1:4], text[4:7], text[7:]], "wb".index(text[0]))

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows[::-1])
        men = [MARKS.index(mark) if mark in MARKS else 0 for mark in marks]
        state = mover << 36 | sum(man << 4 * square for square, man in enumerate(men))
        if marks.count("K") != 1 or marks.count("k") != 1:
            raise ValueError("each side has one king")
        if not all(self._may_stand(man, square) for square, man in enumerate(men)):
            raise ValueError("a pawn is on the rank where it promotes")
        if self._is_attacked(state, self._king(state, 1 - mover), mover):
            raise ValueError("who is not to move is in check")
        return state

    def _to_place(self) -> int:
        """How many pieces of each kind are to be placed, four bits each."""
        left, digits, side = 0 if self.pieces else EVERY, self.pieces, BLACK
        while digits:
            if digits % 10:
                left += 1 << 4 * (side + digits % 10)
            else:
                side = 0
            digits //= 10
        return left

    def _free(self, board: int) -> int:
        """The squares without a piece, four bits each."""
        free = 0
        for square in range(8, -1, -1):
            if not board >> 4 * square & 15:
                free = free << 4 | square
        return free

    def _may_stand(self, man: int, square: int) -> bool:
        """Whether it is not a pawn on the rank where it promotes."""
        return not (man == PAWN and square >= 6) and not (man == PAWN | BLACK and square < 3)

    def _king(self, state: int, side: int) -> int:
        square = 0
        while state >> 4 * square & 15 != KING + BLACK * side:
            square += 1
        return square

    def _men(self, state: int) -> int:
        """A bit for each square with a piece, four apart."""
        return (state | state >> 1 | state >> 2) & ONES

    def _pawns(self, state: int) -> int:
        return state & ~(state >> 1) & ~(state >> 2) & ONES

    def _attacks(self, state: int, kind: int, side: int, source: int, target: int) -> bool:
        """Whether a piece there attacks a square. A piece between bars a line."""
        across, up = target % 3 - source % 3, target // 3 - source // 3
        far = max(abs(across), abs(up))
        if kind == PAWN:
            return up == 1 - 2 * side and abs(across) == 1
        if kind == KNIGHT:
            return abs(across * up) == 2
        if far == 0 or abs(across * up) == 2 or (kind == KING and far > 1):
            return False
        if (kind == BISHOP and across * up == 0) or (kind == ROOK and across * up != 0):
            return False
        return far == 1 or state >> 4 * ((source + target) // 2) & 15 == 0

    def _goes(self, state: int, kind: int, source: int, target: int) -> bool:
        """Whether the mover's piece may go there, whatever comes of the king."""
        turn, there = state >> 36, state >> 4 * target & 15
        if there and there // BLACK == turn:
            return False
        if kind == PAWN and (target == source + 3 - 6 * turn or not there):
            return not there and target == source + 3 - 6 * turn
        return self._attacks(state, kind, turn, source, target)

    def _is_attacked(self, state: int, square: int, by: int) -> bool:
        for source in range(9):
            kind = (state >> 4 * source & 15) - BLACK * by
            if 1 <= kind <= KING and self._attacks(state, kind, by, source, square):
                return True
        return False

    def _is_safe(self, state: int, action: int) -> bool:
        """Whether a move leaves the mover's king unattacked."""
        turn, child = state >> 36, self.result(state, action)
        return not self._is_attacked(child, self._king(child, turn), 1 - turn)

    def _mirrored(self, state: int) -> int:
        """Left and right exchanged."""
        return (state & 0x00F00F00F) << 8 | state & 0x0F00F00F0 | state >> 8 & 0x00F00F00F

    def _upside_down(self, state: int) -> int:
        return (state & RANK) << 24 | state & RANK << 12 | state >> 24

    def _turned(self, state: int) -> int:
        """Rows and columns exchanged."""
        near = (state & 0xF000F0) << 8 | state >> 8 & 0xF000F0
        return state & 0xF000F000F | near | (state & 0xF00) << 16 | state >> 16 & 0xF00
