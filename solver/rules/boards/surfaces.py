"""Where the cells of a board lie, and the surfaces behind its pieces; boards of numbers show the pieces as well.

A page has the same cells (`web/site/layout.js`); both read `grids.js`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from solver.rules.boards import looks
from solver.rules.boards.looks import Paint, Side, circle, drawn, group, poly, rect, words

NAMED = 20  # more where rows and columns are named
LONGEST = 10  # cells of a row; longer ones of low boards go on below, as lines of text do
FOLDED = ("squares", "checks", "piles", "track")
SEEDS = 18  # that are drawn in a house; a number tells of all
GOLDEN = 2.39996  # an angle that spreads them
WOOD, FRAME, PAPER = Paint("#dcb67f"), Paint("#6b4a2f"), Paint(looks.PAPER, looks.EDGE, 2)
PIT, CARVED_LINE = Paint("#b78850", "#936d40", 3), Paint("none", looks.CARVED, 5, 0.8)
BRIGHT = "#f1e3cd"  # names on a frame
OWN_MEN = {"pits", "bearoff", "backgammon", "race", "dots"}  # boards whose surfaces draw the pieces as well


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


def layout_of(drawing: dict[str, Any], rows: Sequence[str], labels: str = "") -> Layout:
    """Place the cells of some rows, and leave room for labels: "names" of both, "columns" or "heaps" alone."""
    across, down, edge = len(rows[0]), len(rows), 0
    board = drawing.get("board", "squares")
    places = [(cell % across, cell // across) for cell in range(across * down)]
    if board == "dots":
        # Dots, edges and boxes in turns
        cells = [Cell(70 * x, 70 * y, 104 if x % 2 else 52, 104 if y % 2 else 40) for x, y in places]
        width, height, pad = 70.0 * (across - 1), 70.0 * (down - 1), 34.0
    elif board == "walls":
        # Cells and, in the gaps between them, walls
        sizes = 100, 34
        middles = [134 * (step // 2) + (117 if step % 2 else 50) for step in range(max(across, down))]
        cells = [Cell(middles[x], middles[y], sizes[x % 2], sizes[y % 2]) for x, y in places]
        width, height, pad = 67 * (across + 1) - 34, 67 * (down + 1) - 34, 14
    elif board in ("bearoff", "backgammon"):
        # The points of a home board, the second player's above, and the checkers that are off
        cells = [Cell(100 * (x + 0.5 + (x == across - 1) / 4), 350 if y else 110, 96, 210) for x, y in places]
        width, height, pad = 100 * (across + 0.3), 460, 14
    elif board == "race":
        cells, width, height, pad = [Cell(0, 0, 0, 0)] * len(places), 600, 300, 0
    else:
        # In rows, or with the centres that the rules give. The parts of heaps that are long lie together
        grid = looks.site_data("grids").get(board) or looks.site_data("grids")["squares"]
        is_given, edge = "given" in grid and "at" in drawing, grid["edge"]
        parts = math.ceil(across / LONGEST) if board in FOLDED and (down < 4 or board == "piles") else 1
        long = math.ceil(across / parts)
        centres = drawing["at"] if is_given else []
        for x, y in [] if is_given else places:
            row = y * parts + x // long if board == "piles" else x // long * (down + 0.4) + y
            column = grid["x"] + grid["dx"] * (x % long) + grid["slant"] * y
            centres.append((column, grid["y"] + grid["dy"] * row))
        right, bottom = map(max, zip(*centres, strict=True))
        cells = [Cell(100 * x, 100 * y, 100 * grid["size"], 100 * grid["size"]) for x, y in centres]
        width, height = 100 * (right + grid["right"]), 100 * (bottom + grid["bottom"])
        pad = grid["given" if is_given else "pad"]
    left = edge + (NAMED if labels in ("names", "heaps") else 0)
    below = edge + (NAMED if labels in ("names", "columns") else 0)
    cells = [cell._replace(x=cell.x + left + pad, y=cell.y + edge + pad) for cell in cells]
    width, height = width + 2 * pad + left + edge, height + 2 * pad + edge + below
    return Layout(cells, width, height, left, edge, across, down)


class View(NamedTuple):
    """A position to draw: its cells, and the facts that no cell tells.

    `gained` is the margin so far for the side to move, None where it is not known; `mover` is 0 or 1.
    """

    layout: Layout
    marks: str
    drawing: dict[str, Any]
    sides: Sequence[Side]
    mover: int
    gained: int | None

    @property
    def total(self) -> int:
        """All seeds, checkers or points that there are."""
        return int(self.drawing.get("total", 1))

    def each(self) -> Iterator[tuple[int, Cell, str]]:
        """The cells with their numbers and characters."""
        return zip(range(len(self.marks)), self.layout.cells, self.marks, strict=True)

    def cells(self, mark: str = "") -> list[Cell]:
        """The cells with a mark; without one all but spaces, which are none."""
        return [cell for _, cell, found in self.each() if (found == mark if mark else found != " ")]


def number_of(mark: str) -> int:
    """The number that a character stands for: as many places behind 0."""
    return ord(mark) - ord("0")


def _about(cell: Cell, width: float, height: float, paint: Paint, radius: float = 0.0) -> str:
    """A rectangle about a cell's centre."""
    return rect(cell.x - width / 2, cell.y - height / 2, width, height, paint, radius)


def _spots(view: View, radius: float, paint: Paint, mark: str = "") -> list[str]:
    return [circle(cell.x, cell.y, radius, paint) for cell in view.cells(mark)]


def _checks(view: View) -> list[str]:
    across, down = view.layout.across, view.layout.down
    paints = Paint("#f0dfc0"), Paint("#b58a5e")
    return [
        _about(cell, 100, 100, paints[(number // across + number % across + down) % 2])
        for number, cell, _ in view.each()
    ]


def _ruled(view: View, first_line: int, gap: float, paint: Paint) -> list[str]:
    """Lines between the cells; with `first_line` 0 around them, too."""
    across, down, left, top = view.layout.across, view.layout.down, view.layout.left, view.layout.top
    upright = [left + 100 * column for column in range(first_line, across + 1 - first_line)]
    level = [top + 100 * row for row in range(first_line, down + 1 - first_line)]
    lines = [((x, top + gap), (x, top + 100 * down - gap)) for x in upright]
    lines += [((left + gap, y), (left + 100 * across - gap, y)) for y in level]
    return [poly(line, paint) for line in lines]


def _felt(view: View) -> list[str]:
    layout = view.layout
    felt = rect(layout.left, layout.top, 100 * layout.across, 100 * layout.down, Paint("#2d8a57"))
    return [felt, *_ruled(view, 0, 0, Paint("none", "#0b3d23", 2.5))]


def _points(view: View) -> list[str]:
    cells, lines = view.layout.cells, view.drawing.get("lines", ())
    carved = [poly(((cells[a].x, cells[a].y), (cells[b].x, cells[b].y)), CARVED_LINE) for a, b in lines]
    return carved + _spots(view, 13 if lines else 20, Paint(looks.CARVED))


def _tray(view: View) -> list[str]:
    paints = [Paint(looks.TILE)] * len(view.marks)
    if "at" in view.drawing:
        paints[:3] = paints[-3:] = [Paint("#c49a61")] * 3
    return [_about(cell, 94, 94, paints[number], 10) for number, cell, _ in view.each()]


def _walls(view: View) -> list[str]:
    across = view.layout.across
    shapes: list[str] = []
    tile, wall = Paint(looks.TILE), Paint("#5b3a1e")
    for number, cell, mark in view.each():
        if (number // across | number % across) % 2 == 0:
            shapes.append(_about(cell, cell.width - 2, cell.height - 2, tile, 8))
        elif mark in "-|":
            shapes.append(_about(cell, cell.width + (mark == "-"), cell.height + (mark == "|"), wall))
    return shapes


def _corner(cell: Cell, turn: int) -> tuple[float, float]:
    angle = turn * math.pi / 3
    return cell.x + 57.7 * math.sin(angle), cell.y - 57.7 * math.cos(angle)


def _hexagons(view: View) -> list[str]:
    cells, across = view.layout.cells, view.layout.across
    rims = (
        (cells[:across], (-1, 0), 1, 0),
        (cells[-across:], (-2, 3), 2, 0),
        (cells[::across], (-1, -2), -3, 1),
        (cells[across - 1 :: across], (1, 2), 2, 1),
    )
    shapes: list[str] = []
    for rim_cells, turns, end, side in rims:
        points = [_corner(cell, turn) for cell in rim_cells for turn in turns] + [_corner(rim_cells[-1], end)]
        shapes.append(poly(tuple(points), Paint("none", view.sides[side].body, 22)))
    paint = Paint("#f6f1e6", "#9c937f", 2.5)
    return shapes + [poly(tuple(_corner(cell, turn) for turn in range(6)), paint, True) for cell in cells]


def _dots(view: View) -> list[str]:
    across = view.layout.across
    shapes = [_about(cell, 124, 124, Paint("#8a93a3", opacity=0.33), 6) for cell in view.cells("#")]
    for number, cell, mark in view.each():
        if (number // across + number % across) % 2:
            x, y = (70, 0) if cell.width > cell.height else (0, 70)
            paint = Paint("none", looks.EDGE, 3) if mark == "." else Paint("none", looks.INK, 9)
            shapes.append(poly(((cell.x - x, cell.y - y), (cell.x + x, cell.y + y)), paint))
    return shapes + _spots(view, 8, Paint(looks.INK), "+")


def _seeds(x: float, y: float, count: int, radius: float) -> list[str]:
    """So many seeds within a circle; the wide ones of a store are narrowed."""
    shown = min(count, SEEDS)
    seeds: list[str] = []
    for seed in range(shown):
        away = radius * math.sqrt((seed + 0.5) / max(shown, 7))
        across = away * (0.45 if radius > 40 else 1) * math.cos(seed * GOLDEN)
        paint = Paint(("#f3ead8", "#c9ced6", "#e9d3a4")[seed % 3], "#9a7440", 1.5)
        seeds.append(circle(x + across, y + away * math.sin(seed * GOLDEN), 8, paint))
    return seeds


def _pits(view: View) -> list[str]:
    layout = view.layout
    counts = [number_of(mark) for mark in view.marks]
    stored = view.total - sum(counts)
    middle = layout.height / 2
    shapes: list[str] = []
    lead = -(view.gained or 0) if view.mover else view.gained or 0
    is_known = view.gained is not None and (stored + lead) % 2 == 0
    for side, x in enumerate((layout.width - 66, 66)):
        shapes.append(rect(x - 42, 28, 84, layout.height - 56, PIT, 42))
        if is_known:
            count = (stored - lead if side else stored + lead) // 2
            number = words(x, 50 if side else layout.height - 50, str(count), 30, looks.COUNT)
            shapes += [*_seeds(x, middle, count, 66), number]
    for (_, cell, _), count in zip(view.each(), counts, strict=True):
        number = words(cell.x, cell.y - 33, str(count), 20, looks.COUNT)
        shapes += [circle(cell.x, cell.y, 45, PIT), *_seeds(cell.x, cell.y + 4, count, 27), number]
    if not is_known:
        shapes.append(words(layout.width / 2, middle, f"{stored} in the stores", 24, looks.COUNT))
    return shapes


def _stacks(view: View) -> list[str]:
    """Two rows of points with the pieces on them, on the bar and off."""
    across = view.layout.across
    # The sides and numbers of pieces
    if view.drawing["board"] == "bearoff":
        names = [*map(str, range(across - 1, 0, -1)), "off"] * 2
        stacks = [(int(number < across), number_of(mark)) for number, mark in enumerate(view.marks)]
    else:
        sides = [*map(str, range(13, 25))], [*map(str, range(12, 0, -1))]
        names = [name for points in sides for name in (*points[:6], "bar", *points[6:], "off")]
        stacks = [(int(ord(mark) >= ord("@")), ord(mark) & 15) for mark in view.marks]
    shapes: list[str] = []
    for number, cell, _ in view.each():
        name, (side, count), direction = names[number], stacks[number], 1 if number < across else -1
        if name in ("off", "bar"):
            shapes.append(_about(cell, 88 if name == "off" else 60, 210, PIT, 10))
        else:
            corners = (-46, -105), (46, -105), (0, 85)
            wedge = tuple((cell.x + x, cell.y + y * direction) for x, y in corners)
            shapes.append(poly(wedge, Paint(("#a8743a", "#f3e0bd")[number % across % 2]), True))
        if name == "off":
            paint, step = Paint(view.sides[side].body, view.sides[side].rim, 2), min(30, 190 / view.total)
            places = [cell.y + direction * (man * step - 88) for man in range(count)]
            shapes += [rect(cell.x - 34, y - 11, 68, 20, paint, 6) for y in places]
        else:
            man, step = drawn(("disc", side), view.sides), min(62, 150 / max(1, count - 1))
            places = [cell.y + direction * (at * step - 68) for at in range(count)]
            shapes += [group(cell.x, y, man, 0.84) for y in places]
        shapes.append(words(cell.x, cell.y + 106 * direction, name, 20, looks.COUNT))
    return shapes


def _race(view: View) -> list[str]:
    across = view.layout.across
    shapes: list[str] = []
    for side, y in enumerate((30, 170)):
        row = view.marks[side * across : (side + 1) * across]
        colour, scale = view.sides[side].body, 540 / view.total
        shapes.append(rect(30, y + 38, 540, 34, Paint(looks.EDGE), 10))
        text = "\u2013"
        if row[0] != "?":
            score, turn = number_of(row[0]), number_of(row[1])
            text = f"{score} + {turn}" if turn else str(score)
            shapes.append(rect(30, y + 38, max(score * scale, 8 if score else 0), 34, Paint(colour), 10))
            shapes.append(rect(30 + score * scale, y + 38, turn * scale, 34, Paint(colour, opacity=0.45), 10))
        name = str(view.drawing.get("sides", looks.USUAL)[side]).capitalize()
        shapes.append(words(30, y + 16, name, 24, looks.INK, "start"))
        shapes.append(words(570, y + 16, f"{text} of {view.total}", 24, looks.INK, "end"))
    return shapes


class Surface(NamedTuple):
    """What lies beneath the pieces: the ground, the shapes upon it, and the colour of names."""

    ground: Paint | None
    upon: Callable[[View], list[str]]
    names: str = looks.CARVED


SURFACES = {
    "squares": Surface(WOOD, lambda view: [_about(cell, 94, 94, Paint(looks.TILE), 12) for cell in view.cells()]),
    "walls": Surface(WOOD, _walls),
    "checks": Surface(FRAME, _checks, BRIGHT),
    "grid": Surface(PAPER, lambda view: _ruled(view, 1, 6, Paint("none", looks.FAINT, 6, 0.55)), looks.FAINT),
    "felt": Surface(FRAME, _felt, BRIGHT),
    "plate": Surface(Paint("#2a62c4"), lambda view: _spots(view, 40, Paint(looks.HOLE, "#1d4489", 3)), "#dfe8fa"),
    "points": Surface(WOOD, _points),
    "cubes": Surface(
        FRAME,
        lambda view: (
            [_about(cell, 96, 96, Paint("#b98f58"), 12) for cell in view.cells()]
            + [rect(cell.x - 45, cell.y - 47, 90, 88, Paint("#f3e2c1"), 12) for cell in view.cells()]
        ),
        BRIGHT,
    ),
    "tray": Surface(WOOD, _tray),
    "hexagons": Surface(None, _hexagons, looks.FAINT),
    "dots": Surface(PAPER, _dots),
    "pits": Surface(WOOD, _pits),
    "piles": Surface(PAPER, lambda view: _spots(view, 8, Paint(looks.EDGE), ".")),
    "track": Surface(
        WOOD, lambda view: [poly([cell[:2] for cell in view.layout.cells], CARVED_LINE), *_spots(view, 44, PIT)]
    ),
    "bearoff": Surface(WOOD, _stacks),
    "backgammon": Surface(WOOD, _stacks),
    "race": Surface(PAPER, _race),
}
