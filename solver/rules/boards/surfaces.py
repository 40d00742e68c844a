"""The surfaces of boards: the shapes behind the men, and on boards of numbers the men as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from solver.rules.boards import looks
from solver.rules.boards.layout import Cell, Layout
from solver.rules.boards.looks import Side
from solver.rules.boards.men import drawn
from solver.rules.boards.shapes import Paint, circle, group, poly, rect, words

SEEDS = 18  # that are drawn in a house; a number tells of all
GOLDEN = 2.39996  # an angle that spreads them
OWN_MEN = {"pits", "bearoff", "backgammon", "race", "dots"}  # boards whose surfaces draw the men as well


class View(NamedTuple):
    """A position to draw: its cells, and the facts that no cell tells.

    `gained` is the margin so far for the side to move, None where it is not known; `mover` is 0 or 1.
    """

    layout: Layout
    marks: str
    drawing: dict[str, Any]
    sides: tuple[Side, Side]
    mover: int
    gained: int | None

    @property
    def total(self) -> int:
        """All seeds, checkers or points that there are."""
        return int(self.drawing.get("total", 1))

    def each(self) -> Iterator[tuple[int, Cell, str]]:
        """The cells with their numbers and characters."""
        for number, (cell, mark) in enumerate(zip(self.layout.cells, self.marks, strict=True)):
            yield number, cell, mark


def number_of(mark: str) -> int:
    """The number that a character stands for: as many places behind 0."""
    return ord(mark) - ord("0")


def _about(cell: Cell, width: float, height: float, paint: Paint, radius: float = 0.0) -> str:
    """A rectangle about a cell's centre."""
    return rect(cell.x - width / 2, cell.y - height / 2, width, height, paint, radius)


def _whole(view: View, colour: str, stroke: str = "none") -> str:
    return rect(0, 0, view.layout.width, view.layout.height, Paint(colour, stroke, 2), 16)


def _tiles(view: View, gap: float, colour: str) -> list[str]:
    paint = Paint(colour)
    return [
        _about(cell, cell.width - 2 * gap, cell.height - 2 * gap, paint, 12)
        for _, cell, mark in view.each()
        if mark != " "
    ]


def _squares(view: View) -> list[str]:
    return [_whole(view, looks.WOOD), *_tiles(view, 3, looks.TILE)]


def _checks(view: View) -> list[str]:
    across, down = view.layout.across, view.layout.down
    paints = [Paint(colour) for colour in looks.CHECKS]
    squares = [
        _about(cell, 100, 100, paints[(number // across + number % across + down) % 2])
        for number, cell, _ in view.each()
    ]
    return [_whole(view, looks.FRAME), *squares]


def _ruled(view: View, first_line: int, gap: float, paint: Paint) -> list[str]:
    """Lines between the cells; with `first_line` 0 around them, too."""
    across, down, left, top = view.layout.across, view.layout.down, view.layout.left, view.layout.top
    upright = [left + 100 * column for column in range(first_line, across + 1 - first_line)]
    level = [top + 100 * row for row in range(first_line, down + 1 - first_line)]
    lines = [((x, top + gap), (x, top + 100 * down - gap)) for x in upright]
    lines += [((left + gap, y), (left + 100 * across - gap, y)) for y in level]
    return [poly(line, paint) for line in lines]


def _grid(view: View) -> list[str]:
    return [_whole(view, looks.PAPER, looks.EDGE), *_ruled(view, 1, 6, Paint("none", looks.FAINT, 6, 0.55))]


def _felt(view: View) -> list[str]:
    layout = view.layout
    felt = rect(layout.left, layout.top, 100 * layout.across, 100 * layout.down, Paint(looks.FELT))
    return [_whole(view, looks.FRAME), felt, *_ruled(view, 0, 0, Paint("none", looks.FELT_LINE, 2.5))]


def _plate(view: View) -> list[str]:
    holes = [circle(cell.x, cell.y, 40, Paint(looks.HOLE, "#1d4489", 3)) for cell in view.layout.cells]
    return [_whole(view, looks.PLATE), *holes]


def _points(view: View) -> list[str]:
    cells, lines = view.layout.cells, view.drawing.get("lines", ())
    paint = Paint("none", looks.CARVED, 5, 0.8)
    carved = [poly(((cells[a].x, cells[a].y), (cells[b].x, cells[b].y)), paint) for a, b in lines]
    radius = 13 if lines else 20
    points = [circle(cell.x, cell.y, radius, Paint(looks.CARVED)) for _, cell, mark in view.each() if mark != " "]
    return [_whole(view, looks.WOOD), *carved, *points]


def _cubes(view: View) -> list[str]:
    top = Paint(looks.CUBE)
    cubes = [rect(cell.x - 45, cell.y - 47, 90, 88, top, 12) for cell in view.layout.cells]
    return [_whole(view, looks.FRAME), *_tiles(view, 2, looks.CUBE_SIDE), *cubes]


def _tray(view: View) -> list[str]:
    paints = [Paint(looks.TILE)] * len(view.marks)
    if "at" in view.drawing:
        paints[:3] = paints[-3:] = [Paint(looks.HAND)] * 3
    cells = [_about(cell, 94, 94, paints[number], 10) for number, cell, _ in view.each()]
    return [_whole(view, looks.WOOD), *cells]


def _walls(view: View) -> list[str]:
    across = view.layout.across
    shapes: list[str] = [_whole(view, looks.WOOD)]
    tile, wall = Paint(looks.TILE), Paint(looks.WALL)
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
    paint = Paint(looks.HEXAGON, looks.HEXAGON_EDGE, 2.5)
    return shapes + [poly(tuple(_corner(cell, turn) for turn in range(6)), paint, True) for cell in cells]


def _dots(view: View) -> list[str]:
    across = view.layout.across
    shapes: list[str] = [_whole(view, looks.PAPER, looks.EDGE)]
    box = Paint("#8a93a3", opacity=0.33)
    shapes += [_about(cell, 124, 124, box, 6) for _, cell, mark in view.each() if mark == "#"]
    for number, cell, mark in view.each():
        if (number // across + number % across) % 2:
            x, y = (70, 0) if cell.width > cell.height else (0, 70)
            paint = Paint("none", looks.EDGE, 3) if mark == "." else Paint("none", looks.INK, 9)
            shapes.append(poly(((cell.x - x, cell.y - y), (cell.x + x, cell.y + y)), paint))
    return shapes + [circle(cell.x, cell.y, 8, Paint(looks.INK)) for _, cell, mark in view.each() if mark == "+"]


def _seeds(x: float, y: float, count: int, radius: float) -> list[str]:
    """So many seeds within a circle; the wide ones of a store are narrowed."""
    shown = min(count, SEEDS)
    seeds: list[str] = []
    for seed in range(shown):
        away = radius * math.sqrt((seed + 0.5) / max(shown, 7))
        across = away * (0.45 if radius > 40 else 1) * math.cos(seed * GOLDEN)
        paint = Paint(looks.SEEDS[seed % 3], "#9a7440", 1.5)
        seeds.append(circle(x + across, y + away * math.sin(seed * GOLDEN), 8, paint))
    return seeds


def _pits(view: View) -> list[str]:
    layout, paint = view.layout, Paint(looks.PIT, "#936d40", 3)
    counts = [number_of(mark) for mark in view.marks]
    stored = view.total - sum(counts)
    middle = layout.height / 2
    shapes: list[str] = [_whole(view, looks.WOOD)]
    lead = -(view.gained or 0) if view.mover else view.gained or 0
    is_known = view.gained is not None and (stored + lead) % 2 == 0
    for side, x in enumerate((layout.width - 66, 66)):
        shapes.append(rect(x - 42, 28, 84, layout.height - 56, paint, 42))
        if is_known:
            count = (stored - lead if side else stored + lead) // 2
            number = words(x, 50 if side else layout.height - 50, str(count), 30, looks.COUNT)
            shapes += [*_seeds(x, middle, count, 66), number]
    for (_, cell, _), count in zip(view.each(), counts, strict=True):
        number = words(cell.x, cell.y - 33, str(count), 20, looks.COUNT)
        shapes += [circle(cell.x, cell.y, 45, paint), *_seeds(cell.x, cell.y + 4, count, 27), number]
    if not is_known:
        shapes.append(words(layout.width / 2, middle, f"{stored} in the stores", 24, looks.COUNT))
    return shapes


def _piles(view: View) -> list[str]:
    spots = [circle(cell.x, cell.y, 8, Paint(looks.EDGE)) for _, cell, mark in view.each() if mark == "."]
    return [_whole(view, looks.PAPER, looks.EDGE), *spots]


def _track(view: View) -> list[str]:
    cells = view.layout.cells
    line = poly(tuple((cell.x, cell.y) for cell in cells), Paint("none", looks.CARVED, 5, 0.8))
    pits = [circle(cell.x, cell.y, 44, Paint(looks.PIT, "#936d40", 3)) for cell in cells]
    return [_whole(view, looks.WOOD), line, *pits]


def _bearoff(view: View) -> list[str]:
    across = view.layout.across
    names = [str(across - 1 - point) for point in range(across - 1)] + ["off"]
    stacks = [(int(number < across), number_of(mark)) for number, mark in enumerate(view.marks)]
    return [_whole(view, looks.WOOD), *_stacks(view, names * 2, stacks)]


def _backgammon(view: View) -> list[str]:
    above, below = [str(point) for point in range(13, 25)], [str(point) for point in range(12, 0, -1)]
    names = [*above[:6], "bar", *above[6:], "off", *below[:6], "bar", *below[6:], "off"]
    stacks = [(int(ord(mark) >= ord("@")), ord(mark) & 15) for mark in view.marks]
    return [_whole(view, looks.WOOD), *_stacks(view, names, stacks)]


def _stacks(view: View, names: list[str], stacks: list[tuple[int, int]]) -> list[str]:
    """Two rows of points with the men on them, on the bar and off; `stacks` are the side and number of those."""
    across = view.layout.across
    shapes: list[str] = []
    pit = Paint(looks.PIT, "#936d40", 3)
    for number, cell, _ in view.each():
        direction = 1 if number < across else -1
        if names[number] in ("off", "bar"):
            shapes.append(_about(cell, 88 if names[number] == "off" else 60, 210, pit, 10))
        else:
            wedge = (
                (cell.x - 46, cell.y - 105 * direction),
                (cell.x + 46, cell.y - 105 * direction),
                (cell.x, cell.y + 85 * direction),
            )
            shapes.append(poly(wedge, Paint(looks.WEDGES[number % across % 2]), True))
        shapes += _stack(view, cell, direction, names[number] == "off", *stacks[number])
        shapes.append(words(cell.x, cell.y + 106 * direction, names[number], 20, looks.COUNT))
    return shapes


def _stack(view: View, cell: Cell, direction: int, is_off: bool, side: int, count: int) -> list[str]:
    step = min(30, 190 / view.total) if is_off else min(62, 150 / max(1, count - 1))
    places = [cell.y + direction * (man * step - (88 if is_off else 68)) for man in range(count)]
    if is_off:
        paint = Paint(view.sides[side].body, view.sides[side].rim, 2)
        return [rect(cell.x - 34, y - 11, 68, 20, paint, 6) for y in places]
    man = drawn(("disc", side), view.sides)
    return [group(cell.x, y, man, 0.84) for y in places]


def _race(view: View) -> list[str]:
    across = view.layout.across
    shapes: list[str] = [_whole(view, looks.PAPER, looks.EDGE)]
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


SURFACES: dict[str, Callable[[View], list[str]]] = {
    "squares": _squares,
    "walls": _walls,
    "checks": _checks,
    "grid": _grid,
    "felt": _felt,
    "plate": _plate,
    "points": _points,
    "cubes": _cubes,
    "tray": _tray,
    "hexagons": _hexagons,
    "dots": _dots,
    "pits": _pits,
    "piles": _piles,
    "track": _track,
    "bearoff": _bearoff,
    "backgammon": _backgammon,
    "race": _race,
}
