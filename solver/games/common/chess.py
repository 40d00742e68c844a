"""Squares and FEN, as the endings of chess have them: a1 = 0, b1 = 1."""

import contextlib
import re
from collections.abc import Callable

PAWN, KNIGHT, BISHOP, ROOK, QUEEN = range(1, 6)
LETTERS = " PNBRQ"
OPCODE = re.compile("[A-Za-z]\\w*")  # of an operation of EPD
FIGURES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}
MEN = {letter: [figure, 0] for letter, figure in FIGURES.items()}
MEN |= {letter.lower(): [figure, 1] for letter, figure in FIGURES.items()}


def letters(kinds: set[int]) -> str:
    """The letters of the king, these pieces, and those that a pawn becomes, in the order of the alphabet."""
    return "".join(sorted("K" + ("PNBRQ" if PAWN in kinds else "".join([LETTERS[kind] for kind in kinds]))))


def shown(rows: list[str], turn: int, notation: str) -> str:
    """A board with White below, who is to move, and the position in a notation of the game's own."""
    lines = [f"{len(rows) - i} " + " ".join(row) for i, row in enumerate(rows)]
    side = "black" if turn else "white"
    return "\n".join([*lines, f"  {' '.join('abcdefgh'[: len(rows)])}   {side} to move", notation])


def in_fen(rank: str) -> str:
    """A rank with the length of each run of empty squares instead of its dots."""
    return re.sub(r"\.+", lambda run: str(len(run[0])), rank)


def placed(placement: str, black: str) -> list[str]:
    """The ranks from the top, a character a square, of the first field of FEN; `black` are the pieces that Black may
    have. Raises ValueError."""
    ranks = [re.sub("[1-8]", lambda run: "." * int(run[0]), rank) for rank in placement.split("/")]
    if len(ranks) != 8 or any(len(rank) != 8 for rank in ranks):
        raise ValueError("FEN is 8 ranks of 8 squares with / between them")
    for mark in "".join(ranks):
        if mark not in "KQRBNPkqrbnp.":
            raise ValueError(f"no piece is written {mark!r}: K Q R B N P and, for Black, {' '.join(black)}")
    return ranks


def either_way(text: str, state_of: Callable[[list[str]], int]) -> int | None:
    """The state of the fields of a FEN in the last line; if they have none, of those with the colours exchanged and the
    board turned. None for other texts."""
    text = text.rpartition("\n")[2]
    if "/" not in text or "." in text.partition(" ")[0]:
        return None
    placement, side, *rest = found = fields(text)
    try:
        return state_of(found)
    except ValueError:
        rest[1:2] = [square.translate({ord("3"): "6", ord("6"): "3"}) for square in rest[1:2]]  # en passant
        with contextlib.suppress(ValueError):
            ranks = reversed(placement.swapcase().split("/"))
            return state_of(["/".join(ranks), "b" if side == "w" else "w", *rest])
        raise


def steps(one: int, two: int) -> int:
    """King's steps between two squares."""
    return max(abs(one % 8 - two % 8), abs(one // 8 - two // 8))


def turned(square: int, kind: int) -> int:
    """A square on an image of the board: 0 left and right exchanged, 1 to 6 the others."""
    column, row = square % 8, square // 8
    if kind == 0 or kind == 2 or kind == 5 or kind == 6:
        column = 7 - column
    if kind == 1 or kind == 2 or kind == 4 or kind == 6:
        row = 7 - row
    return column + 8 * row if kind < 3 else row + 8 * column


def fields(text: str) -> list[str]:
    """The fields of a FEN, or of an EPD: operations such as `bm Kd5; id "KPK.1";` or `; dm 10` are left out.

    Raises ValueError.
    """
    position, has_operations, _ = text.partition(";")
    found = position.replace("_", " ").split()
    if has_operations and OPCODE.fullmatch("".join(found[4:5])):
        found = found[:4]  # the first operation, whose text may hold anything
    if found[1:2] not in (["w"], ["b"]) or len(found) > 6:
        raise ValueError("FEN is the ranks from 8 to 1, then w or b for the side to move")
    if found[2:3] not in ([], ["-"]):
        raise ValueError("nobody castles in these endings: write - for the castling rights")
    return found
