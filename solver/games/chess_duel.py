"""Chess endings of one piece or pawn on each side: KPKP, KRKP, KQKP, KQKR and the like.

The rules are those of chess, with en passant, without castling and the fifty-move rule. Who cannot move has lost if in
check; otherwise it is a draw. A king alone cannot mate, nor can a king with one knight or bishop against a king alone.
If neither side can mate, the game is drawn. A pawn promotes to a queen, rook, bishop or knight. All legal placements
with either side to move are starts, reachable or not. In none of them can a pawn be taken en passant.

A state holds the white king's square, the black king's, for the white and then the black piece its kind (3 bits, 0 for
none) and square, a bit for a pawn that may be taken en passant, the other side's, and the side to move; six bits a
square, a1 = 0, b1 = 1. A move is 512 for the piece, 0 for the king, plus the square times 8, plus the kind it becomes.
The tier grows as pawns advance, promote and are taken, and has cycles.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.chess_ending import ChessEnding
from solver.games.common import chess, grid, like
from solver.games.common.chess import BISHOP, KNIGHT, LETTERS, PAWN, QUEEN, ROOK

GROUP = "endings"


@like(ChessEnding, "format_end", "parse_position")
class ChessDuel(NamedTuple):
    """A piece or pawn on each side, from every legal placement; the pieces name it: KPKP, KRKP, KQKR."""

    pieces: int = 54  # digits, White's and Black's: 1 pawn, 2 knight, 3 bishop, 4 rook, 5 queen

    def check(self) -> None:
        if not (11 <= self.pieces <= 55 and 1 <= self.pieces % 10 <= 5):
            raise ValueError("pieces are two digits 1 to 5, White's and Black's: 54 is KQKR, 41 KRKP, 11 KPKP")

    @classmethod
    def from_text(cls, text: str) -> "ChessDuel":
        """The ending of a name: KQKR, or KPKP."""
        letters = text.upper() or "KQKR"
        if not (len(letters) == 4 and letters[::2] == "KK" and set(letters[1::2]) <= set(LETTERS[1:])):
            raise ValueError("name the ending: KPKP, KRKP, KQKP, KQKR")
        return cls(10 * LETTERS.index(letters[1]) + LETTERS.index(letters[3]))

    def to_text(self) -> str:
        return "K" + LETTERS[self.pieces // 10] + "K" + LETTERS[self.pieces % 10]

    def initial(self) -> int:
        """White to move, the kings where a game begins, White's piece on a2 and Black's on h7."""
        return 4 | 60 << 6 | (self.pieces // 10 | 8 << 3) << 12 | (self.pieces % 10 | 55 << 3) << 21

    def starts(self) -> Iterator[int]:
        kinds = self.pieces // 10 << 12 | self.pieces % 10 << 21
        for turn in range(2):
            for white in range(64):
                for black in range(64):
                    if chess.steps(white, black) > 1:
                        for one in range(64):
                            for two in range(64):
                                state = white | black << 6 | kinds | one << 15 | two << 24 | turn << 31
                                if self._is_legal(state):
                                    yield state

    def placed(self, draw: int) -> int:
        kinds = self.pieces // 10 << 12 | self.pieces % 10 << 21
        squares = draw & 4095 | (draw >> 12 & 63) << 15 | (draw >> 18 & 63) << 24
        state = squares | kinds | (draw >> 24 & 1) << 31
        return state if chess.steps(draw & 63, draw >> 6 & 63) > 1 and self._is_legal(state) else -1

    def actions(self, state: int) -> Iterator[int]:
        turn = state >> 31
        own, kind = self._king(state, turn), self._kind(state, turn)
        for square in range(max(own - 9, 0), min(own + 10, 64)):
            if chess.steps(own, square) == 1 and self._may_enter(state, square) and self._is_safe(state, square * 8):
                yield square * 8
        if kind == PAWN:
            for square in range(64):
                if self._pawn_goes(state, square) and self._is_safe(state, 512 + square * 8 + PAWN):
                    if square < 8 or square >= 56:
                        for promoted in range(KNIGHT, QUEEN + 1):
                            yield 512 + square * 8 + promoted
                    else:
                        yield 512 + square * 8 + PAWN
        elif kind:
            for square in range(64):
                action = 512 + square * 8 + kind
                aims = self._may_enter(state, square) and self._attacks(state, turn, square)
                if aims and self._is_safe(state, action):
                    yield action

    def result(self, state: int, action: int) -> int:
        turn, square = state >> 31, action // 8 % 64
        other, shift = 1 - turn, 12 + 9 * turn
        foe = self._square(state, other) if self._kind(state, other) else -1
        if foe == square or (foe >= 0 and action >= 512 and self._is_en_passant(state, square)):
            state &= ~(511 << 12 + 9 * other)
            foe = -1
        state = (state & ~(1 << 30)) ^ 1 << 31
        if action < 512:
            return state & ~(63 << 6 * turn) | square << 6 * turn
        at = self._square(state, turn)
        two_steps = action % 8 == PAWN and abs(square - at) == 16
        if two_steps and self._kind(state, other) == PAWN and foe // 8 == square // 8 and abs(foe - square) == 1:
            state |= 1 << 30
        return state & ~(511 << shift) | (action % 8 | square << 3) << shift

    def is_terminal(self, state: int) -> bool:
        if not self._can_mate(state):
            return True
        for _ in self.actions(state):
            return False
        return True

    def utility(self, state: int) -> int:
        turn = state >> 31
        return -1 if self._can_mate(state) and self._is_attacked(state, 1 - turn, self._king(state, turn)) else 0

    def tier(self, state: int) -> int:
        """How far both sides' pieces have come: a pawn its rows, a piece 6, nothing 7."""
        total = 0
        for side in range(2):
            kind, row = self._kind(state, side), self._square(state, side) // 8
            total += 7 if kind == 0 else 6 if kind > PAWN else 6 - row if side else row - 1
        return total

    def canonical(self, state: int) -> int:
        """White to move, and the least of the board's eight images; with a pawn on it, of two."""
        if state >> 31:
            state = self._exchanged(state)
        least = min(state, self._image(state, 0))
        if self._kind(state, 0) != PAWN and self._kind(state, 1) != PAWN:
            for image in range(1, 7):
                least = min(least, self._image(state, image))
        return least

    def format_action(self, state: int, action: int) -> str:
        turn, target, kind = state >> 31, grid.name(8, action // 8 % 64), action % 8
        if action < 512:
            return "K" + target
        if self._kind(state, turn) > PAWN:
            return LETTERS[kind] + target
        source = self._square(state, turn)
        taking = grid.name(8, source)[0] + "x" if (action // 8 - source) % 8 else ""
        return taking + target + ("" if kind == PAWN else "=" + LETTERS[kind])

    def show(self, state: int) -> str:
        return chess.shown(self.cells(state, 0), state >> 31, self.format_position(state))

    def cells(self, state: int, mover: int) -> list[str]:
        marks = ["."] * 64
        for side in range(2):
            if self._kind(state, side):
                marks[self._square(state, side)] = (LETTERS, LETTERS.lower())[side][self._kind(state, side)]
            marks[self._king(state, side)] = "Kk"[side]
        return grid.rows(8, 8, "".join(marks))

    def layout(self) -> tuple[str, int]:
        letters = chess.letters({self.pieces // 10, self.pieces % 10})
        return letters + letters.lower(), 1024

    def place(self, state: int, action: int) -> list[int]:
        turn = state >> 31
        source = self._square(state, turn) if action >= 512 else self._king(state, turn)
        return [grid.place(8, 8, square) for square in (source, action // 8 % 64)]

    def drawing(self) -> dict[str, Any]:
        return {"board": "checks", "sides": ["white", "black"], "men": chess.MEN}

    def _placed_as(self, fields: list[str]) -> int:
        """The state of the fields of a FEN. Raises ValueError."""
        state = self.from_cells(chess.placed(fields[0], "k q r b n p"), 1 if fields[1] == "b" else 0)
        if fields[3:4] not in ([], ["-"]):
            marked = state | 1 << 30
            if [grid.name(8, square) for square in range(64) if self._is_en_passant(marked, square)] != fields[3:4]:
                raise ValueError(f"no pawn takes another on {fields[3]} en passant: write - for that field")
            state = marked
        return state

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows[::-1])
        state = mover << 31
        for side, letters in enumerate(("KPNBRQ", "kpnbrq")):
            found = [(letters.index(mark), square) for square, mark in enumerate(marks) if mark in letters]
            kinds = [kind for kind, _ in found]
            if kinds.count(0) != 1 or len(found) > 2:
                raise ValueError("each side has one king, and one piece or none")
            digit = self.pieces // 10 if side == 0 else self.pieces % 10
            if sum(kinds) not in (0, digit) and digit != PAWN:
                raise ValueError(f"these pieces never stand on the board in {self.to_text()}")
            for kind, square in found:
                state |= square << 6 * side if kind == 0 else (kind | square << 3) << 12 + 9 * side
        if chess.steps(self._king(state, 0), self._king(state, 1)) == 1:
            raise ValueError("the kings stand side by side")
        if not self._is_legal(state):
            raise ValueError("a pawn is on the first or the last rank, or who is not to move is in check")
        return state

    def format_position(self, state: int) -> str:
        """The position in FEN."""
        targets = [grid.name(8, square) for square in range(64) if self._is_en_passant(state, square)]
        rows = "/".join(map(chess.in_fen, self.cells(state, 0)))
        return f"{rows} {'b' if state >> 31 else 'w'} - {(targets or ['-'])[0]} 0 1"

    def _king(self, state: int, side: int) -> int:
        return state >> 6 * side & 63

    def _kind(self, state: int, side: int) -> int:
        return state >> 12 + 9 * side & 7

    def _square(self, state: int, side: int) -> int:
        return state >> 15 + 9 * side & 63

    def _may_enter(self, state: int, square: int) -> bool:
        """Whether the mover may go there if he gets there: no king and none of his own is on the square."""
        turn = state >> 31
        if square == self._king(state, 0) or square == self._king(state, 1):
            return False
        return self._kind(state, turn) == 0 or square != self._square(state, turn)

    def _is_empty(self, state: int, square: int) -> bool:
        other = 1 - (state >> 31)
        stands = self._kind(state, other) != 0 and square == self._square(state, other)
        return self._may_enter(state, square) and not stands

    def _is_safe(self, state: int, action: int) -> bool:
        """Whether a move leaves the mover's king unattacked."""
        turn, child = state >> 31, self.result(state, action)
        return not self._is_attacked(child, 1 - turn, self._king(child, turn))

    def _pawn_goes(self, state: int, square: int) -> bool:
        """Whether the mover's pawn goes there, or takes there."""
        turn = state >> 31
        at, up = self._square(state, turn), 8 - 16 * turn
        if square == at + up:
            return self._is_empty(state, square)
        if square == at + 2 * up:
            return at // 8 == 1 + 5 * turn and self._is_empty(state, at + up) and self._is_empty(state, square)
        taken = self._kind(state, 1 - turn) and self._square(state, 1 - turn) == square
        return self._attacks(state, turn, square) and (taken or self._is_en_passant(state, square))

    def _is_en_passant(self, state: int, square: int) -> bool:
        """Whether the mover's pawn takes the other's by going there, past which that has just gone."""
        turn = state >> 31
        aims = self._kind(state, turn) == PAWN and self._attacks(state, turn, square)
        return aims and state >> 30 & 1 == 1 and square == self._square(state, 1 - turn) + 8 - 16 * turn

    def _attacks(self, state: int, side: int, square: int) -> bool:
        """Whether a side's piece attacks a square."""
        kind, at = self._kind(state, side), self._square(state, side)
        across, up = square % 8 - at % 8, square // 8 - at // 8
        if kind == 0 or (across == 0 and up == 0):
            return False
        if kind == PAWN:
            return up == 1 - 2 * side and abs(across) == 1
        if kind == KNIGHT:
            return abs(across) * abs(up) == 2
        straight, slanting = across * up == 0, abs(across) == abs(up)
        if not (straight and kind != BISHOP) and not (slanting and kind != ROOK):
            return False
        step = (across > 0) - (across < 0) + 8 * ((up > 0) - (up < 0))
        place = at + step
        while place != square:
            if not self._is_empty(state, place):
                return False
            place += step
        return True

    def _is_attacked(self, state: int, side: int, square: int) -> bool:
        """Whether a side attacks a square."""
        return chess.steps(self._king(state, side), square) == 1 or self._attacks(state, side, square)

    def _is_legal(self, state: int) -> bool:
        """Whether all stand on squares of their own, no pawn on a last row, the side not to move not in check."""
        turn = state >> 31
        for side in range(2):
            kind, square = self._kind(state, side), self._square(state, side)
            if kind and (square == self._king(state, 0) or square == self._king(state, 1)):
                return False
            if kind == PAWN and (square < 8 or square >= 56):
                return False
        if self._kind(state, 0) and self._kind(state, 1) and self._square(state, 0) == self._square(state, 1):
            return False
        return not self._is_attacked(state, turn, self._king(state, 1 - turn))

    def _can_mate(self, state: int) -> bool:
        white, black = self._kind(state, 0), self._kind(state, 1)
        return (white > 0 and black > 0) or max(white, black) >= ROOK or max(white, black) == PAWN

    def _exchanged(self, state: int) -> int:
        """The sides exchanged, the board upside down."""
        kings = (state >> 6 & 63 ^ 56) | (state & 63 ^ 56) << 6
        pieces = state >> 21 & 511 | (state >> 12 & 511) << 9
        if pieces & 7:
            pieces ^= 56 << 3
        if pieces >> 9 & 7:
            pieces ^= 56 << 12
        return (state & 1 << 30 | kings | pieces << 12) | (state >> 31 ^ 1) << 31

    def _image(self, state: int, image: int) -> int:
        """An image of the board, as `chess.turned` numbers them."""
        result = state & 3 << 30
        for side in range(2):
            result |= chess.turned(self._king(state, side), image) << 6 * side
            if self._kind(state, side):
                packed = self._kind(state, side) | chess.turned(self._square(state, side), image) << 3
                result |= packed << 12 + 9 * side
        return result
