"""Men as shapes, each about the middle of a cell: those of `web/site/figures.js`, in colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from solver.rules.boards.looks import COIN, INK, NOBODY, Side, site_data
from solver.rules.boards.shapes import Paint, circle, path, rect, words

SHAPES: dict[str, Any] = {"path": path, "circle": circle, "rect": rect}

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


def drawn(kind: Kind, sides: Sequence[Side], letter: str = "") -> tuple[str, ...]:
    """Return the shapes of a man.

    Args:
        kind: its shape, perhaps with a number to show beside it, and its side.
        sides: the players' colours.
        letter: the text on a disc.
    """
    name, _, count = kind[0].partition(" ")
    side = COIN if name == "coin" else [*sides, NOBODY][kind[1]]
    paints, shapes = paints_of(side), list[str]()
    for shape, *arguments in figures().get(name) or figures()["tile"]:
        if shape == "words":
            x, y, text, size, _ = arguments
            shapes.append(words(x, y, text or name, size, side.mark))
            continue
        # The target of an animal's step
        if kind[1] == 1 and arguments[-1] == "emblem step":
            arguments[1] = -arguments[1]
        shapes.append(SHAPES[shape](*(paints.get(argument, argument) for argument in arguments)))
    if letter and name == "disc":
        shapes.append(words(0, 2, letter, 34, side.mark))
    if count:
        shapes += [circle(32, -32, 15, Paint(INK)), words(32, -31, count, 22, "#ffffff")]
    return tuple(shapes)


def figures() -> dict[str, list[list[Any]]]:
    """Return the shapes of men by their names, as the page has them."""
    shapes: dict[str, list[list[Any]]] = site_data("figures")
    return shapes


def paints_of(side: Side) -> dict[str, Paint]:
    """Return the paints for the classes of a man's shapes."""
    emblem = Paint(side.mark)
    return {
        "body": Paint(side.body, side.rim, 3),
        "stroke": Paint("none", side.body, 15),
        "line": Paint("none", side.mark, 3),
        "groove": Paint("none", side.rim, 2.5, 0.45),
        "ear": Paint(side.rim),
        "eye": Paint("#1c1a18"),
        "cheek": Paint("#fff4e6"),
        "shade": Paint("#000000", opacity=0.33),
        **dict.fromkeys(("emblem", "emblem letter", "emblem step"), emblem),
    }
