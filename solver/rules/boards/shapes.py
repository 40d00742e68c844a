"""The shapes that pictures are made of, as SVG without styles, scripts, fonts or references.

A cell of a board is 100 units wide, and y grows downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

Point = tuple[float, float]

FONTS = {
    "bold": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif" font-weight="700"',
    "plain": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif"',
    "mono": 'font-family="ui-monospace, DejaVu Sans Mono, Menlo, monospace" xml:space="preserve"',
}
CONTROLS = dict.fromkeys([*range(32), 0x7F, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")  # which no XML may hold


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
