"""How boards look: colours, the shapes of SVG, and pieces made of them.

The colours are those of the page in its light theme; the sides' stand in `web/site/board.css` alone. Shapes have no
styles, scripts, fonts or references. A cell of a board is 100 units wide, and y grows downwards. A piece is drawn about
the middle of a cell, by `web/site/figures.js`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, NamedTuple


class Side(NamedTuple):
    """The colours of a player's pieces: the body, its rim, and the text on it."""

    body: str
    rim: str
    mark: str


SITE = resources.files("solver") / "web" / "site"
SIDE = re.compile(r"\.(?:first|second)-(\w+) { --\w+: (#\w+); --\w+-rim: (#\w+); --\w+-mark: (#\w+); }")
# those of a second player's pieces, where both players may have such
SIDE_LOOKS = {name: Side(*colours) for name, *colours in SIDE.findall((SITE / "board.css").read_text("utf-8"))}
NOBODY = Side("#cfd3d8", "#767d88", "#3d444f")
COIN = Side("#f0c14b", "#9a6f0d", "#9a6f0d")
USUAL = ("blue", "amber")  # sides of rules that name none

INK, FAINT, EDGE, PAPER = "#1c222c", "#5a6270", "#d8d4cc", "#ffffff"
# The frame of what notebooks show, as HTML.
CARD = (
    f"display:inline-block;max-width:100%;padding:0.7em 0.9em;border-radius:0.6em;background:{PAPER};color:{INK};"
    "font:14px/1.45 system-ui,'DejaVu Sans',sans-serif;text-align:left"
)
VALUES = {"win": "#007a58", "draw": "#5b6472", "loss": "#b84300", "unknown": "#7a5c99"}

TILE, CARVED, HOLE, COUNT = "#f0dcb6", "#6f4d26", "#dfe6f2", "#3d2a12"
FONTS = {
    "bold": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif" font-weight="700"',
    "plain": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif"',
    "mono": 'font-family="ui-monospace, DejaVu Sans Mono, Menlo, monospace" xml:space="preserve"',
}
CONTROLS = dict.fromkeys([*range(32), 0x7F, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")  # which no XML may hold

Point = tuple[float, float]


@functools.cache
def site_data(name: str) -> Any:
    """Return the JSON object that a script of the page exports."""
    _, _, constant = (SITE / f"{name}.js").read_text("utf-8").partition("export const ")
    return json.loads(constant.partition("=")[2].rstrip(";\n"))


class Paint(NamedTuple):
    """How a shape is filled and outlined; colours are `#rrggbb`."""

    fill: str = "none"
    stroke: str = "none"
    width: float = 0.0
    opacity: float = 1.0

    def __str__(self) -> str:
        """The attributes of a shape."""
        stroke, ends = f'stroke="{self.stroke}" stroke-width="{written(self.width)}"', 'stroke-linecap="round"'
        outline = "" if self.stroke == "none" else f' {stroke} {ends} stroke-linejoin="round"'
        return f' fill="{self.fill}"{outline}' + (f' opacity="{written(self.opacity)}"' if self.opacity < 1 else "")


def circle(x: float, y: float, radius: float, paint: Paint) -> str:
    """A circle about (x, y)."""
    return f'<circle cx="{written(x)}" cy="{written(y)}" r="{written(radius)}"{paint}/>'


def rect(x: float, y: float, width: float, height: float, paint: Paint, radius: float = 0.0) -> str:
    """A rectangle from its top left corner, with round corners of that radius."""
    size = f'width="{written(width)}" height="{written(height)}"' + (f' rx="{written(radius)}"' if radius else "")
    return f'<rect x="{written(x)}" y="{written(y)}" {size}{paint}/>'


def poly(points: Sequence[Point], paint: Paint, closed: bool = False) -> str:
    """A line with round ends through points, or a polygon if it is closed."""
    listed = " ".join(f"{written(x)},{written(y)}" for x, y in points)
    return f'<{"polygon" if closed else "polyline"} points="{listed}"{paint}/>'


def path(outline: str, paint: Paint) -> str:
    """An outline in the notation of SVG."""
    return f'<path d="{outline}"{paint}/>'


def words(x: float, y: float, text: str, size: float, fill: str, anchor: str = "middle", font: str = "bold") -> str:
    """A line of text; `anchor` is "start", "middle" or "end", and y its middle."""
    place = f'x="{written(x)}" y="{written(y + 0.35 * size)}" font-size="{written(size)}"'
    return f'<text {place} text-anchor="{anchor}" fill="{fill}" {FONTS[font]}>{plain(text, quote=False)}</text>'


def group(x: float, y: float, shapes: Sequence[str], scale: float = 1.0, mark: str = "") -> str:
    """Shapes about an origin of their own, moved to (x, y) and scaled; `mark` is the cell's character."""
    moved = f"translate({written(x)} {written(y)})" + (f" scale({written(scale)})" if scale != 1 else "")
    named = f' data-mark="{plain(mark)}"' if mark else ""
    return f'<g{named} transform="{moved}">{"".join(shapes)}</g>'


def written(number: float) -> str:
    """A number with two digits at most; there is no -0."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def plain(text: str, quote: bool = True) -> str:
    """Text as XML holds it."""
    return escape(text.translate(CONTROLS), quote)


SHAPES: dict[str, Any] = {"path": path, "circle": circle, "rect": rect}

Kind = tuple[str, int]


def kind_of_man(mark: str, men: Mapping[str, Any]) -> Kind | None:
    """Return a piece's shape and side, 2 for nobody's; None for an empty cell.

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
    """Return the shapes of a piece.

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
    """Return the shapes of pieces by their names, as the page has them."""
    shapes: dict[str, list[list[Any]]] = site_data("figures")
    return shapes


def paints_of(side: Side) -> dict[str, Paint]:
    """Return the paints for the classes of a piece's shapes."""
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
