"""Chess endings of white pieces against the bare black king: KQK, KRK, KPK, KBBK, KBNK and the like.

The rules are those of chess, without castling and the fifty-move rule. Black to move in check without a move has lost;
without check it is a draw. A piece that was taken is gone: the game is then drawn, as is one of too few pieces to mate.
A pawn promotes to a queen, rook, bishop or knight. All legal placements with either side to move are starts, reachable
or not, pieces of one kind being alike.

A state holds the white king's square, the black king's, for each other piece its kind (3 bits) and square, and the side
to move, six bits a square, a1 = 0, b1 = 1. A move is the piece's number, 0 for the king, times 512, plus the square
times 8, plus the kind it becomes.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import chess, grid
from solver.games.common.chess import BISHOP, KNIGHT, PAWN, QUEEN, ROOK

GROUP = "endings"


class ChessEnding(NamedTuple):
    """One or two white pieces against the bare king, from every legal placement. The pieces name it: KRK, KBNK."""

    pieces: int = 5  # digits, the larger first: 1 pawn, 2 knight, 3 bishop, 4 rook, 5 queen

    def check(self) -> None:
        if not (1 <= self.pieces <= 5 or (11 <= self.pieces <= 55 and 1 <= self.pieces % 10 <= self.pieces // 10)):
            raise ValueError("pieces are one or two digits 1 to 5, the larger first: 5 is KQK, 1 KPK, 33 KBBK, 32 KBNK")

    @classmethod
    def from_text(cls, text: str) -> "ChessEnding":
        """The ending of a name: KQK, or KBNK."""
        letters = text.upper()
        if not (3 <= len(letters) <= 4 and letters[0] == letters[-1] == "K" and set(letters[1:-1]) <= set("PNBRQ")):
            raise ValueError("name the ending: KQK, KRK, KPK, KBBK, KBNK; chess-duel has those of a piece each, KRKP")
        kinds = sorted(("PNBRQ".index(letter) + 1 for letter in letters[1:-1]), reverse=True)
        return cls(int("".join(map(str, kinds))))

    def to_text(self) -> str:
        return "K" + "".join("PNBRQ"[int(digit) - 1] for digit in str(self.pieces)) + "K"

    def initial(self) -> int:
        """The first of the starts with White to move."""
        for state in self.starts():
            return state
        return 0

    def starts(self) -> Iterator[int]:
        first, second = (self.pieces, 0) if self.pieces < 10 else (self.pieces // 10, self.pieces % 10)
        for turn in range(2):
            for king in range(64):
                for other in range(64):
                    if chess.steps(king, other) > 1:
                        for one in range(64):
                            for two in range(64 if second else 1):
                                pieces = first | one << 3 | (second | two << 3) << 9
                                state = self._ordered(king | other << 6 | pieces << 12 | turn << 30)
                                if (first != second or one < two) and self._is_legal(state):
                                    yield state

    def placed(self, draw: int) -> int:
        first, second = (self.pieces, 0) if self.pieces < 10 else (self.pieces // 10, self.pieces % 10)
        king, other, one, two = draw & 63, draw >> 6 & 63, draw >> 12 & 63, draw >> 18 & 63
        pieces = first | one << 3 | (second | two << 3 if second else 0) << 9
        state = self._ordered(king | other << 6 | pieces << 12 | (draw >> 24 & 1) << 30)
        return state if chess.steps(king, other) > 1 and self._is_legal(state) else -1

    def actions(self, state: int) -> Iterator[int]:
        if state >> 30:
            for square in range(64):
                if chess.steps(self._black(state), square) == 1 and self._is_free_for_black(state, square):
                    yield square * 8
        else:
            for square in range(64):
                near = chess.steps(self._white(state), square) == 1
                if near and chess.steps(self._black(state), square) > 1 and self._kind_at(state, square) == 0:
                    yield square * 8
            for piece in range(1, 3):
                kind, at = self._kind(state, piece), self._square(state, piece)
                if kind:
                    for square in range(64):
                        if kind == PAWN:
                            if self._pawn_goes(state, at, square):
                                if square >= 56:
                                    for promoted in range(KNIGHT, QUEEN + 1):
                                        yield piece * 512 + square * 8 + promoted
                                else:
                                    yield piece * 512 + square * 8 + PAWN
                        elif self._is_empty(state, square) and self._attacks(state, kind, at, square):
                            yield piece * 512 + square * 8 + kind

    def result(self, state: int, action: int) -> int:
        piece, square = action // 512, action // 8 % 64
        if state >> 30:
            state = state & ~(63 << 6) | square << 6
            for taken in range(1, 3):
                if self._kind(state, taken) and self._square(state, taken) == square:
                    state &= ~(511 << 12 + 9 * (taken - 1))
        elif piece == 0:
            state = state & ~63 | square
        else:
            shift = 12 + 9 * (piece - 1)
            state = state & ~(511 << shift) | (action % 8 | square << 3) << shift
        return self._ordered(state) ^ 1 << 30

    def is_terminal(self, state: int) -> bool:
        if not self._can_mate(state):
            return True
        if state >> 30:
            for square in range(64):
                if chess.steps(self._black(state), square) == 1 and self._is_free_for_black(state, square):
                    return False
            return True
        for _ in self.actions(state):
            return False
        return True

    def utility(self, state: int) -> int:
        if state >> 30 and self._can_mate(state) and self._is_attacked(state, self._black(state)):
            return -1
        return 0

    def canonical(self, state: int) -> int:
        """The least of the board's eight images; with a pawn on it, of two."""
        least = min(state, self._image(state, 0))
        if self._kind(state, 1) != PAWN and self._kind(state, 2) != PAWN:
            for kind in range(1, 7):
                least = min(least, self._image(state, kind))
        return least

    def to_move(self, state: int) -> int:
        return state >> 30

    def format_end(self, state: int) -> str:
        if not self._can_mate(state):
            return "too few men to mate"
        return "checkmate" if self.utility(state) else "stalemate"

    def format_action(self, state: int, action: int) -> str:
        piece, square, kind = action // 512, action // 8 % 64, action % 8
        if piece == 0:
            return "K" + grid.name(8, square)
        if self._kind(state, piece) == PAWN:
            return grid.name(8, square) + ("" if kind == PAWN else "=" + " PNBRQ"[kind])
        return " PNBRQ"[kind] + grid.name(8, self._square(state, piece)) + grid.name(8, square)

    def parse_action(self, state: int, text: str) -> int:
        """A move as players write it: Qg7, Qd4g7, d4g7, e8=Q, e8Q, Kg3, with or without marks of check and capture.

        A small letter may be a pawn's file or a piece: what can be read as written counts first.
        """
        wanted = "".join(letter for letter in text if letter not in "+#x=-!? ")
        spellings = [(action, self._spellings(state, action)) for action in self.actions(state)]
        for fold in (str, str.lower):
            meant = [action for action, names in spellings if fold(wanted) in map(fold, names)]
            if len(meant) == 1:
                return meant[0]
        raise ValueError("no move, or one of several")

    def _spellings(self, state: int, action: int) -> list[str]:
        """Piece, nothing, a part or all of its place, and target; both squares; of a pawn the target alone."""
        piece, square, kind = action // 512, action // 8 % 64, action % 8
        target = grid.name(8, square)
        moved = self._kind(state, piece) if piece else 0
        king = self._black(state) if state >> 30 else self._white(state)
        source = grid.name(8, self._square(state, piece) if piece else king)
        if moved == PAWN:
            promoted = "" if kind == PAWN else " PNBRQ"[kind]
            return [target + promoted, source + target + promoted, "P" + target + promoted]
        letter = " PNBRQ"[moved] if moved else "K"
        return [letter + part + target for part in ("", source[0], source[1], source)] + [source + target]

    def show(self, state: int) -> str:
        return chess.shown(self.cells(state, 0), state >> 30, self.format_position(state))

    def cells(self, state: int, mover: int) -> list[str]:
        marks = ["."] * 64
        for piece in (1, 2):
            if self._kind(state, piece):
                marks[self._square(state, piece)] = " PNBRQ"[self._kind(state, piece)]
        marks[self._white(state)], marks[self._black(state)] = "K", "k"
        return grid.rows(8, 8, "".join(marks))

    def layout(self) -> tuple[str, int]:
        return chess.letters({int(digit) for digit in str(self.pieces)}) + "k", 512 * (1 + len(str(self.pieces)))

    def place(self, state: int, action: int) -> list[int]:
        piece = action // 512
        king = self._black(state) if state >> 30 else self._white(state)
        return [grid.place(8, 8, self._square(state, piece) if piece else king), grid.place(8, 8, action // 8 % 64)]

    def drawing(self) -> dict[str, Any]:
        men = {letter: [piece, 0] for letter, piece in chess.FIGURES.items()}
        return {"board": "checks", "sides": ["white", "black"], "men": men | {"k": ["king", 1]}}

    def parse_position(self, text: str) -> int | None:
        """The state of a position in FEN, whichever side has the pieces. None for other texts. `show` ends with it.

        Raises ValueError if the ending never has it.
        """
        return chess.either_way(text, self._placed_as)

    def _placed_as(self, fields: list[str]) -> int:
        """The state of the fields of a FEN. Raises ValueError."""
        return self.from_cells(chess.placed(fields[0], "k"), 1 if fields[1] == "b" else 0)

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows[::-1])
        if marks.count("K") != 1 or marks.count("k") != 1 or any(mark in "qrbnp" for mark in marks):
            raise ValueError("each side has one king, and Black nothing else")
        pieces = sorted(("PNBRQ".index(mark) + 1, square) for square, mark in enumerate(marks) if mark in "PNBRQ")
        self._check_material([kind for kind, _ in pieces])
        state = marks.index("K") | marks.index("k") << 6 | mover << 30
        for place, (kind, square) in enumerate(pieces):
            state |= (kind | square << 3) << 12 + 9 * place
        state = self._ordered(state)
        if any(kind == PAWN and not 8 <= square < 56 for kind, square in pieces):
            raise ValueError("no pawn stands on the first or the last rank")
        if chess.steps(self._white(state), self._black(state)) == 1:
            raise ValueError("the kings stand side by side")
        if not self._is_legal(state):
            raise ValueError("Black is in check, and it is White's move")
        return state

    def format_position(self, state: int) -> str:
        """The position in FEN."""
        return f"{'/'.join(map(chess.in_fen, self.cells(state, 0)))} {'b' if state >> 30 else 'w'} - - 0 1"

    def _check_material(self, kinds: list[int]) -> None:
        """Raise ValueError unless these are pieces of the ending, promoted or taken ones included."""
        left = [int(digit) for digit in str(self.pieces)]
        for kind in reversed(kinds):
            if kind not in left and PAWN not in left:
                raise ValueError(f"these pieces never stand on the board in {self.to_text()}")
            left.pop(left.index(kind if kind in left else PAWN))

    def _ordered(self, state: int) -> int:
        """The two pieces in descending order, so that equal placements are equal states; an empty place is 0."""
        one, two = state >> 12 & 511, state >> 21 & 511
        return state & (1 << 30 | 4095) | max(one, two) << 12 | min(one, two) << 21

    def _white(self, state: int) -> int:
        return state & 63

    def _black(self, state: int) -> int:
        return state >> 6 & 63

    def _kind(self, state: int, piece: int) -> int:
        return state >> 12 + 9 * (piece - 1) & 7

    def _square(self, state: int, piece: int) -> int:
        return state >> 15 + 9 * (piece - 1) & 63

    def _kind_at(self, state: int, square: int) -> int:
        """The kind of the white piece, not the king, on a square; 0 if there is none."""
        for piece in range(1, 3):
            if self._kind(state, piece) and self._square(state, piece) == square:
                return self._kind(state, piece)
        return 0

    def _is_empty(self, state: int, square: int) -> bool:
        kings = square in (self._white(state), self._black(state))
        return not kings and self._kind_at(state, square) == 0

    def _attacks(self, state: int, kind: int, at: int, square: int) -> bool:
        """Whether a piece on `at` attacks a square; the board between must be empty but for the black king."""
        across, up = square % 8 - at % 8, square // 8 - at // 8
        if across == 0 and up == 0:
            return False
        if kind == PAWN:
            return up == 1 and abs(across) == 1
        if kind == KNIGHT:
            return abs(across) * abs(up) == 2
        straight = across == 0 or up == 0
        if not straight and abs(across) != abs(up):
            return False
        if (kind == BISHOP and straight) or (kind == ROOK and not straight):
            return False
        step = (across > 0) - (across < 0) + 8 * ((up > 0) - (up < 0))
        place = at + step
        while place != square:
            if place == self._white(state) or self._kind_at(state, place):
                return False
            place += step
        return True

    def _pawn_goes(self, state: int, at: int, square: int) -> bool:
        if square == at + 8:
            return self._is_empty(state, square)
        return at < 16 and square == at + 16 and self._is_empty(state, at + 8) and self._is_empty(state, square)

    def _is_attacked(self, state: int, square: int) -> bool:
        """Whether White attacks a square. Lines go through the black king, who will have left."""
        if chess.steps(self._white(state), square) == 1:
            return True
        for piece in range(1, 3):
            kind = self._kind(state, piece)
            if kind and self._attacks(state, kind, self._square(state, piece), square):
                return True
        return False

    def _is_free_for_black(self, state: int, square: int) -> bool:
        """Whether the black king may go to a neighbouring square; taking a piece there opens the line behind it."""
        if square == self._white(state):
            return False
        for piece in range(1, 3):
            if self._kind(state, piece) and self._square(state, piece) == square:
                state &= ~(511 << 12 + 9 * (piece - 1))
        return not self._is_attacked(state, square)

    def _is_legal(self, state: int) -> bool:
        """Whether all stand on squares of their own, no pawn on a last row, the side not to move not in check."""
        for piece in range(1, 3):
            kind, square = self._kind(state, piece), self._square(state, piece)
            if kind and square in (self._white(state), self._black(state)):
                return False
            if kind == PAWN and (square < 8 or square >= 56):
                return False
        if self._kind(state, 2) and self._square(state, 1) == self._square(state, 2):
            return False
        return bool(state >> 30) or not self._is_attacked(state, self._black(state))

    def _can_mate(self, state: int) -> bool:
        one, two = self._kind(state, 1), self._kind(state, 2)
        if one == 0 and two == 0:
            return False
        if one and two:
            return True
        return max(one, two) >= ROOK or max(one, two) == PAWN

    def _image(self, state: int, kind: int) -> int:
        """An image of the board: 0 left and right exchanged, 1 to 6 the others."""
        result = state >> 30 << 30 | chess.turned(self._white(state), kind)
        result |= chess.turned(self._black(state), kind) << 6
        for piece in range(1, 3):
            if self._kind(state, piece):
                packed = self._kind(state, piece) | chess.turned(self._square(state, piece), kind) << 3
                result |= packed << 12 + 9 * (piece - 1)
        return self._ordered(result)
