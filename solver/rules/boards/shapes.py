"""The shapes that pictures are made of. A cell of a board is 100 units wide, and y grows downwards."""

from __future__ import annotations

from typing import NamedTuple

Point = tuple[float, float]


class Paint(NamedTuple):
    """How a shape is filled and outlined; colours are `#rrggbb`."""

    fill: str = "none"
    stroke: str = "none"
    width: float = 0.0
    opacity: float = 1.0


class Circle(NamedTuple):
    """A circle about (x, y)."""

    x: float
    y: float
    radius: float
    paint: Paint


class Rect(NamedTuple):
    """A rectangle from its top left corner, with round corners of that radius."""

    x: float
    y: float
    width: float
    height: float
    paint: Paint
    radius: float = 0.0


class Poly(NamedTuple):
    """A line with round ends through points, or a polygon if it is closed."""

    points: tuple[Point, ...]
    paint: Paint
    closed: bool = False


class Path(NamedTuple):
    """An outline in the notation of SVG."""

    outline: str
    paint: Paint


class Words(NamedTuple):
    """A line of text; `anchor` is "start", "middle" or "end", and y its middle."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "middle"
    font: str = "bold"


class Group(NamedTuple):
    """Shapes about an origin of their own, moved to (x, y) and scaled; `mark` is the cell's character."""

    x: float
    y: float
    shapes: tuple[Shape, ...]
    scale: float = 1.0
    mark: str = ""


Shape = Circle | Rect | Poly | Path | Words | Group
