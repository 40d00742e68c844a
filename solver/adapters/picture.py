"""A position as pixels, drawn from the cells and the `drawing` that make the board of a page.

Cells lie where a page has them, boards are made of the same few materials, and men have their sides' colours. A page
draws men as outlines; here they are discs, rings, crosses, blocks, and tiles with a letter. Every shape is a distance
from a centre or a line, smoothed over one pixel, so that numpy is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.export.records import board_of
from solver.rules.game import own_method

CELL = 48  # pixels of a cell
EDGE = 0.25  # cells of a margin around them
SEEDS = 9  # that are drawn in a house; more are told by their number
Colour = tuple[int, int, int]
Point = tuple[float, float]
Pixels = NDArray[np.uint8]

INK: Colour = (58, 55, 47)
NOBODY: Colour = (207, 211, 216)
COIN: Colour = (240, 193, 75)
SEED: Colour = (120, 88, 50)
SIDES: dict[str, Colour] = {  # as in solver/web/site/board.css
    "black": (43, 49, 64), "white": (251, 248, 240), "red": (216, 58, 52), "blue": (47, 111, 208),
    "yellow": (246, 197, 44), "amber": (229, 138, 31), "green": (207, 229, 185), "sky": (191, 220, 242),
    "fox": (229, 118, 42), "hare": (216, 185, 138), "hounds": (141, 153, 171), "south": (63, 127, 214),
    "north": (217, 87, 74),
}  # fmt: skip
USUAL = ("blue", "red")  # sides of rules that name none
GROUNDS: dict[str, Colour] = {
    "felt": (46, 125, 80), "plate": (38, 84, 170), "grid": (250, 249, 245), "dots": (250, 249, 245),
    "piles": (250, 249, 245), "race": (250, 249, 245),
}  # fmt: skip
WOOD: Colour = (222, 190, 140)
TILE: Colour = (240, 219, 180)
CARVED: Colour = (130, 96, 54)
CHECKS: tuple[Colour, Colour] = ((240, 219, 180), (181, 136, 99))
STACKS = ("bearoff", "backgammon")
NUMBERS = ("pits", *STACKS, "race")  # boards whose characters are numbers
SOLID = ("disc", "crowned", "coin")

# 5 x 7 letters, five columns of seven bits each, the lowest bit on top
FONT = {
    "0": "3e5149453e", "1": "00427f4000", "2": "4261514946", "3": "2141454b31", "4": "1814127f10", "5": "2745454539",
    "6": "3c4a494930", "7": "0171090503", "8": "3649494936", "9": "064949291e", "A": "7e1111117e", "B": "7f49494936",
    "C": "3e41414122", "D": "7f4141221c", "E": "7f49494941", "F": "7f09090901", "G": "3e4149497a", "H": "7f0808087f",
    "I": "00417f4100", "J": "2040413f01", "K": "7f08142241", "L": "7f40404040", "M": "7f020c027f", "N": "7f0408107f",
    "O": "3e4141413e", "P": "7f09090906", "Q": "3e4151215e", "R": "7f09192946", "S": "4649494931", "T": "01017f0101",
    "U": "3f4040403f", "V": "1f2040201f", "W": "3f4038403f", "X": "6314081463", "Y": "0708700807", "Z": "6151494543",
    "+": "08083e0808", "-": "0808080808", "?": "0201510906", "*": "14083e0814", "^": "0402010204", "<": "0814224100",
    ">": "0041221408", "|": "00007f0000", "#": "147f147f14", "\u00d7": "2214081422", "v": "1c2040201c",
}  # fmt: skip


def picture(game: Any, state: int, mover: int) -> Pixels:
    """Draw a position.

    Args:
        game: its rules. Those without `cells` have their text in place of a board.
        state: the position.
        mover: who moves there, 0 or 1, where states do not tell.

    Returns:
        Pixels, (height, width, 3) of uint8. All positions of one game that has cells have the same size.
    """
    rows = board_of(game, state, mover)
    drawing = own_method(game, "drawing")
    if isinstance(rows, str):
        return _text(rows.split("\n"))
    return _Board(rows, {} if drawing is None else drawing()).pixels()


class _Canvas:
    """Pixels that shapes are laid over; lengths are in cells, from the top left."""

    def __init__(self, width: float, height: float, ground: Colour) -> None:
        self.pixels: NDArray[np.float32] = np.empty((round(height * CELL), round(width * CELL), 3), np.float32)
        self.pixels[:] = ground

    def _lay(self, box: tuple[float, float, float, float], colour: Colour, inside: Callable[[Any, Any], Any]) -> None:
        """Paint where `inside(x, y)`, a distance to the edge, is positive; half a pixel on its either side is mixed."""
        left, top = (max(0, math.floor(side * CELL) - 1) for side in box[:2])
        right, bottom = (max(0, math.ceil(side * CELL) + 1) for side in box[2:])
        part = self.pixels[top:bottom, left:right]
        y, x = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]].astype(np.float32)
        share = np.clip(inside((x + 0.5) / CELL, (y + 0.5) / CELL) * CELL + 0.5, 0, 1)[..., None]
        part += (np.array(colour, np.float32) - part) * share

    def disc(self, x: float, y: float, radius: float, colour: Colour, width: float = 0.0) -> None:
        """A disc, or with a `width` a ring of that radius."""
        far = radius + width
        if width:
            self._lay(
                (x - far, y - far, x + far, y + far), colour,
                lambda right, down: width / 2 - np.abs(np.hypot(right - x, down - y) - radius),
            )  # fmt: skip
        else:
            box = (x - far, y - far, x + far, y + far)
            self._lay(box, colour, lambda right, down: radius - np.hypot(right - x, down - y))

    def rect(self, x: float, y: float, width: float, height: float, colour: Colour) -> None:
        """A rectangle about a centre."""
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        self._lay(
            box, colour,
            lambda right, down: np.minimum(width / 2 - np.abs(right - x), height / 2 - np.abs(down - y)),
        )  # fmt: skip

    def line(self, begin: Point, end: Point, width: float, colour: Colour) -> None:
        """A line with round ends."""
        (ax, ay), (bx, by) = begin, end
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy or 1.0
        box = (min(ax, bx) - width, min(ay, by) - width, max(ax, bx) + width, max(ay, by) + width)

        def inside(right: Any, down: Any) -> Any:
            along = np.clip(((right - ax) * dx + (down - ay) * dy) / length, 0, 1)
            return width / 2 - np.hypot(right - ax - along * dx, down - ay - along * dy)

        self._lay(box, colour, inside)

    def words(self, x: float, y: float, text: str, size: float, colour: Colour) -> None:
        """Letters of that height about a centre. What the font lacks is a question mark."""
        dot = size / 7
        left = x - dot * (6 * len(text) - 1) / 2
        for place, letter in enumerate(text):
            columns = bytes.fromhex(FONT.get(letter) or FONT.get(letter.upper(), FONT["?"]))
            for column, bits in enumerate(columns):
                for row in range(7):
                    if bits >> row & 1:
                        at = left + (6 * place + column + 0.5) * dot, y + (row - 3) * dot
                        self.rect(*at, dot * 1.1, dot * 1.1, colour)


class _Board:
    """One board: where its cells lie, and the canvas."""

    def __init__(self, rows: Sequence[str], drawing: dict[str, Any]) -> None:
        self.marks, self.drawing = "".join(rows), drawing
        self.across, self.down = len(rows[0]), len(rows)
        self.kind = drawing.get("board", "squares")
        self.sides = [SIDES.get(name, NOBODY) for name in drawing.get("sides", USUAL)]
        self.cells = [(x + EDGE, y + EDGE) for x, y in self._centres()]
        width, height = (max(cell[way] for cell in self.cells) + 0.5 + EDGE for way in (0, 1))
        if self.kind == "pits":  # the stores are on either end
            width += 1.1
        self.canvas = _Canvas(width, height, GROUNDS.get(self.kind, WOOD))

    def _centres(self) -> list[Point]:
        """The cells' centres, as `layout.js` has them."""
        if "at" in self.drawing:
            return [(float(x), float(y)) for x, y in self.drawing["at"]]
        places = [(cell % self.across, cell // self.across) for cell in range(self.across * self.down)]
        if self.kind == "hexagons":
            return [(column + 0.5 + row / 2, row * 0.866 + 0.577) for column, row in places]
        if self.kind == "dots":
            return [(0.7 * column + 0.3, 0.7 * row + 0.3) for column, row in places]
        if self.kind == "pits":
            return [(column + 1.6, 1.1 * row + 0.55) for column, row in places]
        if self.kind in STACKS:
            return [(column + 0.5, 2.4 * row + 1.2) for column, row in places]
        if self.kind == "race":
            return [(1.5 * column + 3.0, row + 0.5) for column, row in places]
        return [(column + 0.5, row + 0.5) for column, row in places]

    def pixels(self) -> Pixels:
        """The board with its men."""
        for begin, end in self.drawing.get("lines", ()) if self.kind == "points" else ():
            self.canvas.line(self.cells[begin], self.cells[end], 0.06, CARVED)
        for cell, ((x, y), mark) in enumerate(zip(self.cells, self.marks, strict=True)):
            if self.kind in NUMBERS:
                self._number(cell, x, y, mark)
            elif self.kind == "dots":
                self._edge(cell, x, y, mark)
            else:
                self._ground(cell, x, y, mark)
                if mark not in ". ":
                    self._man(x, y, mark)
        if self.kind == "grid":
            self._rulers()
        return np.rint(self.canvas.pixels).astype(np.uint8)

    def _ground(self, cell: int, x: float, y: float, mark: str) -> None:
        """What lies under a man."""
        canvas = self.canvas
        if mark == " " and self.kind != "checks":
            return
        if self.kind == "checks":
            is_dark = (cell // self.across + cell % self.across + self.down) % 2
            canvas.rect(x, y, 1, 1, CHECKS[is_dark])
        elif self.kind in ("plate", "track"):
            canvas.disc(x, y, 0.42, (228, 232, 240) if self.kind == "plate" else TILE)
        elif self.kind == "points":
            canvas.disc(x, y, 0.13, CARVED)
        elif self.kind == "hexagons":
            canvas.disc(x, y, 0.48, TILE)
        elif self.kind == "piles":
            canvas.disc(x, y, 0.08, NOBODY)
        elif self.kind == "felt":
            canvas.rect(x, y, 0.97, 0.97, (56, 142, 92))
        elif self.kind != "grid":
            canvas.rect(x, y, 0.94, 0.94, TILE)

    def _rulers(self) -> None:
        """The lines between the cells of a grid."""
        right, bottom = self.across + EDGE, self.down + EDGE
        for column in range(1, self.across):
            self.canvas.line((column + EDGE, EDGE), (column + EDGE, bottom), 0.05, CARVED)
        for row in range(1, self.down):
            self.canvas.line((EDGE, row + EDGE), (right, row + EDGE), 0.05, CARVED)

    def _man(self, x: float, y: float, mark: str) -> None:
        shape, side = self._kind_of(mark)
        name, _, count = shape.partition(" ")
        colour = self.sides[side] if side < 2 else COIN if name == "coin" else NOBODY
        if name == "cross":
            self.canvas.line((x - 0.27, y - 0.27), (x + 0.27, y + 0.27), 0.15, colour)
            self.canvas.line((x - 0.27, y + 0.27), (x + 0.27, y - 0.27), 0.15, colour)
        elif name == "ring":
            self.canvas.disc(x, y, 0.28, colour, 0.15)
        elif name == "block":
            self.canvas.rect(x, y, 0.94, 0.94, colour)
        elif name in SOLID:
            self.canvas.disc(x, y, 0.38, _rim(colour))
            self.canvas.disc(x, y, 0.34, colour)
            if name == "crowned" or self._has_letters():
                self.canvas.words(x, y, "K" if name == "crowned" else mark, 0.34, _mark(colour))
        elif name:
            self.canvas.rect(x, y, 0.78, 0.78, _rim(colour))
            self.canvas.rect(x, y, 0.7, 0.7, colour)
            self.canvas.words(x, y, _letter(name), 0.44, _mark(colour))
        if count:
            self.canvas.disc(x + 0.3, y - 0.3, 0.15, INK)
            self.canvas.words(x + 0.3, y - 0.3, count, 0.2, (255, 255, 255))

    def _kind_of(self, mark: str) -> tuple[str, int]:
        """A man's shape and side: as `men` says, else capitals are the first player's discs."""
        men = self.drawing.get("men", {})
        if mark in men:
            shape, side = men[mark]
            return str(shape), int(side)
        is_letter = mark.lower() != mark.upper()
        return "disc" if is_letter else mark, 2 if not is_letter else int(mark != mark.upper())

    def _has_letters(self) -> bool:
        """Whether discs are of several kinds that the rules do not name."""
        return "men" not in self.drawing and "sides" not in self.drawing

    def _edge(self, cell: int, x: float, y: float, mark: str) -> None:
        """A dot, an edge or a box."""
        row, column = divmod(cell, self.across)
        reach = (0.7, 0.0) if column % 2 else (0.0, 0.7)
        if mark == "#":
            self.canvas.rect(x, y, 1.2, 1.2, NOBODY)
        elif (row + column) % 2 and mark != ".":
            self.canvas.line((x - reach[0], y - reach[1]), (x + reach[0], y + reach[1]), 0.09, INK)
        elif row % 2 == column % 2 == 0:
            self.canvas.disc(x, y, 0.08, INK)

    def _number(self, cell: int, x: float, y: float, mark: str) -> None:
        """A house with its seeds, a point with its men, or a score."""
        number = ord(mark) - ord("0")
        if self.kind == "pits":
            self.canvas.disc(x, y, 0.45, CARVED)
            for seed in range(min(number, SEEDS)):
                away, turn = 0.27 * math.sqrt((seed + 0.5) / SEEDS), 2.39996 * seed
                self.canvas.disc(x + away * math.cos(turn), y + away * math.sin(turn), 0.08, TILE)
            self.canvas.words(x, y - 0.33, str(number), 0.2, TILE)
        elif self.kind == "race":
            said = "-" if mark == "?" else str(number)
            self.canvas.rect(x, y, 1.3, 0.8, self.sides[cell // self.across])
            self.canvas.words(x, y, said, 0.4, _mark(self.sides[cell // self.across]))
        else:
            self._stack(cell, x, y, ord(mark))

    def _stack(self, cell: int, x: float, y: float, code: int) -> None:
        """The men on a point."""
        is_second = code >= ord("@") if self.kind == "backgammon" else cell < self.across
        count = code & 15 if self.kind == "backgammon" else code - ord("0")
        colour = self.sides[int(is_second)]
        self.canvas.rect(x, y, 0.9, 2.2, TILE)
        for man in range(count):
            place = y + (man - (count - 1) / 2) * min(0.62, 1.4 / max(1, count - 1))
            self.canvas.disc(x, place, 0.34, _rim(colour))
            self.canvas.disc(x, place, 0.3, colour)


def _letter(name: str) -> str:
    """What is written on a tile: the pieces of chess by their usual letters, longer names by their first one."""
    return "N" if name == "knight" else name if len(name) == 1 else name[0].upper()


def _rim(colour: Colour) -> Colour:
    red, green, blue = (shade * 11 // 20 for shade in colour)
    return red, green, blue


def _mark(colour: Colour) -> Colour:
    """Ink on light men, white on dark ones."""
    return INK if sum(colour) > 384 else (255, 255, 255)


def _text(lines: Sequence[str]) -> Pixels:
    """Lines of text, for rules that draw no board."""
    width = max(map(len, lines)) or 1
    canvas = _Canvas(0.3 * width + 2 * EDGE, 0.5 * len(lines) + 2 * EDGE, GROUNDS["grid"])
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            if not letter.isspace() and letter != ".":
                canvas.words(0.3 * (column + 0.5) + EDGE, 0.5 * (row + 0.5) + EDGE, letter, 0.32, INK)
            elif letter == ".":
                canvas.disc(0.3 * (column + 0.5) + EDGE, 0.5 * (row + 0.5) + EDGE + 0.14, 0.03, INK)
    return np.rint(canvas.pixels).astype(np.uint8)
