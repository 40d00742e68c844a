"""Where the cells of a board lie, as `web/site/layout.js` has them; both read `grids.js`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from solver.rules.boards.looks import site_data

NAMED = 20  # more where rows and columns are named
LONGEST = 10  # cells of a row; longer ones of low boards go on below, as lines of text do
FOLDED = ("squares", "checks", "piles", "track")


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


Placed = tuple[list[Cell], float, float, float]  # cells, their width and height in all, and the space around them


def layout_of(drawing: dict[str, Any], rows: Sequence[str], labels: str = "") -> Layout:
    """Place the cells of some rows, and leave room for labels: "names" of both, "columns" or "heaps" alone."""
    across, down, edge = len(rows[0]), len(rows), 0
    board = drawing.get("board", "squares")
    if board in PLACED:
        cells, width, height, pad = PLACED[board](across, down)
    else:
        grid = site_data("grids").get(board) or site_data("grids")["squares"]
        cells, width, height, pad = _spread(across, down, board, grid, drawing.get("at"))
        edge = grid["edge"]
    left = edge + (NAMED if labels in ("names", "heaps") else 0)
    below = edge + (NAMED if labels in ("names", "columns") else 0)
    cells = [cell._replace(x=cell.x + left + pad, y=cell.y + edge + pad) for cell in cells]
    width, height = width + 2 * pad + left + edge, height + 2 * pad + edge + below
    return Layout(cells, width, height, left, edge, across, down)


def _places(across: int, down: int) -> list[tuple[int, int]]:
    """Columns and rows."""
    return [(cell % across, cell // across) for cell in range(across * down)]


def _spread(across: int, down: int, board: str, grid: dict[str, float], centres_given: Any) -> Placed:
    """Cells in rows, or with the centres that the rules give. The parts of heaps that are long lie together."""
    parts = math.ceil(across / LONGEST) if board in FOLDED and (down < 4 or board == "piles") else 1
    long = math.ceil(across / parts)

    def centre(x: int, y: int) -> tuple[float, float]:
        row = y * parts + x // long if board == "piles" else x // long * (down + 0.4) + y
        return grid["x"] + grid["dx"] * (x % long) + grid["slant"] * y, grid["y"] + grid["dy"] * row

    is_given = "given" in grid and centres_given
    centres = centres_given if is_given else [centre(x, y) for x, y in _places(across, down)]
    right, bottom = map(max, zip(*centres, strict=True))
    cells = [Cell(100 * x, 100 * y, 100 * grid["size"], 100 * grid["size"]) for x, y in centres]
    pad = grid["given" if is_given else "pad"]
    return cells, 100 * (right + grid["right"]), 100 * (bottom + grid["bottom"]), pad


def _dots(across: int, down: int) -> Placed:
    """Dots, edges and boxes in turns."""
    cells = [Cell(70 * x, 70 * y, 104 if x % 2 else 52, 104 if y % 2 else 40) for x, y in _places(across, down)]
    return cells, 70 * (across - 1), 70 * (down - 1), 34


def _walls(across: int, down: int) -> Placed:
    """Cells and, in the gaps between them, walls."""
    size, gap = 100, 34

    def middle(at: int) -> float:
        return at // 2 * (size + gap) + (size + gap / 2 if at % 2 else size / 2)

    cells = [
        Cell(middle(x), middle(y), gap if x % 2 else size, gap if y % 2 else size) for x, y in _places(across, down)
    ]
    width, height = ((count + 1) / 2 * (size + gap) - gap for count in (across, down))
    return cells, width, height, 14


def _bearoff(across: int, down: int) -> Placed:
    """The points of a home board, the second player's above, and the checkers that are off."""
    off = across - 1
    cells = [Cell(100 * (x + 0.5 + (x == off) / 4), 350 if y else 110, 96, 210) for x, y in _places(across, 2)]
    return cells, 100 * (across + 0.3), 460, 14


PLACED: dict[str, Callable[[int, int], Placed]] = {
    "dots": _dots,
    "walls": _walls,
    "bearoff": _bearoff,
    "backgammon": _bearoff,
    "race": lambda across, down: ([Cell(0, 0, 0, 0)] * (across * down), 600, 300, 0),
}
