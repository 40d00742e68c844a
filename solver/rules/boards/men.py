"""Men as shapes, each about the middle of a cell. The outlines are those of `web/site/men.js`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from solver.rules.boards.looks import BADGE, CHEEK, COIN, EYE, NOBODY, Side
from solver.rules.boards.shapes import Circle, Paint, Path, Rect, Shape, Words

BASE = "M-27 37v-6q0-6 7-7h40q7 1 7 7v6z"
PIECES = {  # bodies, and the line upon them
    "pawn": (
        "M0-31a12 12 0 0 1 7.5 21.5q10 4 11 9.5h-9.5q1 13 9 24h-36q8-11 9-24h-9.5q1-5.5 11-9.5a12 12 0 0 1 7.5-21.5z",
        "",
    ),
    "rook": ("M-25-33h11v7h8v-7h12v7h8v-7h11v16l-8 7 3 34h-40l3-34-8-7z", ""),
    "bishop": (
        "M0-41a5 5 0 0 1 3 9q17 12 16 27-1 9-8 13l4 16h-30l4-16q-7-4-8-13-1-15 16-27a5 5 0 0 1 3-9z",
        "M0-20v14M-7-13h14",
    ),
    "queen": (
        "M-34-22q7-2 8 3l8 12 3-23q-3-8 3-8t4 6l8 20 8-20q-2-6 4-6t3 8l3 23 8-12q1-5 8-3l-11 46h-46z",
        "M-20 12q20-6 40 0",
    ),
    "king": (
        "M-3-45h6v7h7v6h-7v8q27-9 27 8 0 13-12 22l2 18h-40l2-18q-12-9-12-22 0-17 27-8v-8h-7v-6h7z",
        "M-18 8q18-6 36 0M0-22v22",
    ),
    "knight": ("M-19 24q-1-15 10-24-9 0-15 8-6 2-10-5 1-16 15-25l3-13 9 7q22 1 28 22 5 16 1 30z", "M-9-16l1 1"),
}  # fmt: skip
CROWN = "M-16 12l-4-24 11 9 9-15 9 15 11-9-4 24z"
FOX = "M-36-34q14 2 20 12 16-5 32 0 6-10 20-12 3 22-3 34-8 22-33 36-25-14-33-36-6-12-3-34z"
FOX_CHEEKS = "M-33 0q16-2 22 12 5 12 11 24-25-14-33-36zM33 0q-16-2-22 12-5 12-11 24 25-14 33-36z"
HOUND = "M-20-28q20-10 40 0 12 10 10 30-2 26-30 34-28-8-30-34-2-20 10-30z"
HOUND_EARS = "M-22-28q-18 2-17 24 1 15 10 17 5-8 5-20 0-12 2-21zM22-28q18 2 17 24-1 15-10 17-5-8-5-20 0-12-2-21z"
HOUND_NOSE = "M-9 12q9-6 18 0-2 10-9 10t-9-10z"
HARE = "M-18-4q-12-36 0-40 12 2 14 34h8q2-32 14-34 12 4 0 40 12 8 10 22-4 20-28 20t-28-20q-2-14 10-22z"
HARE_CHEEKS = "M-13-14q-4-20 0-24 5 4 6 24zM13-14q4-20 0-24-5 4-6 24z"
HARE_NOSE = "M-5 19h10l-5 6z"
STAR = "\u2605"

STRAIGHT = ((0, -1), (-1, 0), (1, 0), (0, 1))
SLANTED = ((-1, -1), (1, -1), (-1, 1), (1, 1))
STEPS = {  # where an animal may go, ahead being up
    "chick": STRAIGHT[:1], "hen": (*STRAIGHT, *SLANTED[:2]), "giraffe": STRAIGHT, "elephant": SLANTED,
    "lion": (*STRAIGHT, *SLANTED),
}  # fmt: skip
SHADE = Paint("#000000", opacity=0.33)

Kind = tuple[str, int]


def kind_of_man(mark: str, men: Mapping[str, Any]) -> Kind | None:
    """Return a man's shape and side, 2 for nobody's; None for an empty cell.

    `men` is that of the drawing. Without an entry capitals are the first player's discs.
    """
    if mark in ". ":
        return None
    if mark in men:
        shape, side = men[mark]
        return (str(shape), int(side)) if shape and shape != "dot" else None
    if mark.lower() == mark.upper():
        return mark, 2
    return "disc", int(mark != mark.upper())


def drawn(kind: Kind, sides: tuple[Side, Side], letter: str = "") -> tuple[Shape, ...]:
    """Return the shapes of a man.

    Args:
        kind: its shape, perhaps with a number to show beside it, and its side.
        sides: the players' colours.
        letter: what is written on a disc.
    """
    name, _, count = kind[0].partition(" ")
    side = COIN if name == "coin" else sides[kind[1]] if kind[1] < 2 else NOBODY
    shapes = _man(name, kind[1], side)
    if letter and name == "disc":
        shapes.append(Words(0, 2, letter, 34, side.mark))
    if count:
        shapes += [Circle(32, -32, 15, Paint(BADGE)), Words(32, -31, count, 22, "#ffffff")]
    return tuple(shapes)


def _man(name: str, player: int, side: Side) -> list[Shape]:
    body, stroke = Paint(side.body, side.rim, 3), Paint("none", side.body, 15)
    if name in PIECES:
        outline, line = PIECES[name]
        pieces: list[Shape] = [Path(outline, body), Path(BASE, body)]
        return [*pieces, Path(line, Paint("none", side.mark, 3))] if line else pieces
    if name in ("disc", "crowned", "coin"):
        radius = 36 if name == "coin" else 38
        groove = Paint("none", side.rim, 2.5, 0.45)
        disc: list[Shape] = [Circle(0, 3, radius, SHADE), Circle(0, 0, radius, body), Circle(0, 0, 27, groove)]
        emblem: dict[str, Shape] = {"crowned": Path(CROWN, Paint(side.mark)), "coin": Words(0, 1, STAR, 30, side.mark)}
        return [*disc, emblem[name]] if name in emblem else disc
    if name == "cross":
        return [Path("M-27-27L27 27M27-27L-27 27", stroke)]
    if name == "ring":
        return [Circle(0, 0, 28, stroke)]
    if name == "block":
        return [Rect(-47, -47, 94, 94, body, 10)]
    if name in ("fox", "hound", "hare"):
        return _animal(name, body, side)
    return _tile(name, player, body, side)


def _animal(name: str, body: Paint, side: Side) -> list[Shape]:
    eye, cheek = Paint(EYE), Paint(CHEEK)
    if name == "fox":
        return [Path(FOX, body), Path(FOX_CHEEKS, cheek), *_eyes(14, -4), Circle(0, 29, 5.5, eye)]
    if name == "hound":
        line = Path("M0 21v6", Paint("none", side.mark, 3))
        return [Path(HOUND, body), Path(HOUND_EARS, Paint(side.rim)), *_eyes(12, -6), Path(HOUND_NOSE, eye), line]
    return [Path(HARE, body), Path(HARE_CHEEKS, cheek), *_eyes(11, 8), Path(HARE_NOSE, eye)]


def _eyes(x: float, y: float) -> list[Shape]:
    return [Circle(-x, y, 4.5, Paint(EYE)), Circle(x, y, 4.5, Paint(EYE))]


def _tile(name: str, player: int, body: Paint, side: Side) -> list[Shape]:
    """A tile with a letter; one of animal shogi has dots where it may go."""
    if name not in STEPS:
        return [Rect(-38, -35, 76, 76, SHADE, 16), Rect(-38, -38, 76, 76, body, 16), Words(0, 2, name, 46, side.mark)]
    ahead = -1 if player else 1
    dots = [Circle(32 * x, 32 * y * ahead, 5, Paint(side.mark)) for x, y in STEPS[name]]
    letter = Words(0, 2, name[0].upper(), 42, side.mark)
    return [Rect(-42, -39, 84, 84, SHADE, 14), Rect(-42, -42, 84, 84, body, 14), *dots, letter]
