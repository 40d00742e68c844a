"""Where the cells of a board lie, as `web/site/layout.js` has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

MARGIN = 14  # around the cells of a grid
NAMES = 34  # the same where rows and columns are named


class Cell(NamedTuple):
    """A cell: its centre and its extent."""

    x: float
    y: float
    width: float
    height: float


class Layout(NamedTuple):
    """The cells of a board, the size of its picture, and where the cells begin."""

    cells: list[Cell]
    width: float
    height: float
    left: float
    top: float
    across: int
    down: int


Placed = tuple[list[Cell], float, float]


def layout_of(drawing: dict[str, Any], rows: Sequence[str], named: bool = False) -> Layout:
    """Place the cells of some rows; `named` leaves room for the names of rows and columns."""
    across, down = len(rows[0]), len(rows)
    board = drawing.get("board", "squares")
    cells, width, height = LAYOUTS.get(board, _grid)(across, down, drawing)
    edge = 0 if board in LAYOUTS else MARGIN
    left = edge + (NAMES - MARGIN if named else 0)
    cells = [cell._replace(x=cell.x + left, y=cell.y + edge) for cell in cells]
    return Layout(cells, width + left + edge, height + edge + left, left, edge, across, down)


def _square(x: float, y: float, width: float = 1, height: float | None = None) -> Cell:
    return Cell(100 * x, 100 * y, 100 * width, 100 * (width if height is None else height))


def _places(across: int, down: int) -> list[tuple[int, int]]:
    """Columns and rows."""
    return [(cell % across, cell // across) for cell in range(across * down)]


def _grid(across: int, down: int, drawing: dict[str, Any], size: float = 1) -> Placed:
    return [_square(x + 0.5, y + 0.5, size) for x, y in _places(across, down)], 100 * across, 100 * down


def _given(drawing: dict[str, Any], size: float) -> Placed:
    """Cells whose centres the rules give."""
    at = drawing["at"]
    right, bottom = (max(point[way] for point in at) + 0.5 for way in (0, 1))
    return [_square(x, y, size) for x, y in at], 100 * right, 100 * bottom


def _padded(placed: Placed, edge: float) -> Placed:
    cells, width, height = placed
    moved = [cell._replace(x=cell.x + edge, y=cell.y + edge) for cell in cells]
    return moved, width + 2 * edge, height + 2 * edge


def _points(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    if "at" in drawing:
        return _padded(_given(drawing, 0.94), 24)
    return _padded(_grid(across, down, drawing, 0.94), 6)


def _tray(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    return _padded(_given(drawing, 1) if "at" in drawing else _grid(across, down, drawing), 8)


def _hexagons(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    """A rhombus of hexagons, each as wide as a cell."""
    cells = [_square(x + 0.5 + y / 2, y * 0.866 + 0.577, 0.86) for x, y in _places(across, down)]
    return _padded((cells, 100 * (across + (down - 1) / 2), 100 * ((down - 1) * 0.866 + 1.155)), 22)


def _dots(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    """Dots, edges and boxes in turns."""
    cells = [Cell(70 * x, 70 * y, 104 if x % 2 else 52, 104 if y % 2 else 40) for x, y in _places(across, down)]
    return _padded((cells, 70 * (across - 1), 70 * (down - 1)), 34)


def _pits(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    """Two rows of houses, and a store at either end."""
    cells = [_square(x + 1.6, y * 1.1 + 0.55, 0.98) for x, y in _places(across, 2)]
    return _padded((cells, 100 * (across + 2.2), 220), 16)


def _bearoff(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    """The points of a home board, the second player's above, and the checkers that are off."""
    off = across - 1
    cells = [Cell(100 * (x + 0.5 + (x == off) / 4), 350 if y else 110, 96, 210) for x, y in _places(across, 2)]
    return _padded((cells, 100 * (across + 0.3), 460), 14)


def _race(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    return [Cell(0, 0, 0, 0)] * (across * down), 600, 300


def _track(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    cells, width, _ = _grid(across, 1, drawing)
    return _padded(([cell._replace(y=60) for cell in cells], width, 132), 16)


def _piles(across: int, down: int, drawing: dict[str, Any]) -> Placed:
    cells = [_square(x * 0.9 + 0.45, y * 1.15 + 0.57, 0.88) for x, y in _places(across, down)]
    return _padded((cells, 90 * across, 115 * down), 14)


LAYOUTS: dict[str, Callable[[int, int, dict[str, Any]], Placed]] = {
    "points": _points, "tray": _tray, "hexagons": _hexagons, "dots": _dots, "pits": _pits, "bearoff": _bearoff,
    "backgammon": _bearoff, "race": _race, "track": _track, "piles": _piles,
}  # fmt: skip
