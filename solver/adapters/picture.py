"""A position as pixels, drawn from the shapes that also make its SVG (`solver.rules.boards`).

Every shape is a distance from a centre, a line or an outline, smoothed over one pixel, so NumPy is enough. The ground
of a board and each kind of man do not change between positions, and are painted once.
"""

from __future__ import annotations

import cmath
import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.rules.boards.scene import scene
from solver.rules.boards.shapes import Circle, Group, Paint, Path, Point, Poly, Rect, Shape, Words
from solver.rules.game import Rules
from solver.rules.notation import Position

CELL = 48  # pixels of a cell
SCALE = CELL / 100
STAMP = 60  # units around the middle of a cell that a man may fill
CURVE = 6  # straight pieces of a curve
Pixels = NDArray[np.uint8]
Layers = NDArray[np.float32]  # red, green, blue, and how much is covered
Rings = tuple[tuple[Point, ...], ...]

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
    "\u2605": "085c3e5c08", "\u2620": "264d794d26", "\u2013": "0808080808", ".": "0000400000", ":": "0000240000",
    "\u25a0": "7f7f7f7f7f", "\u25a1": "7f4141417f", "\u25aa": "0038383800", "\u25ab": "0038283800",
    "\u25cf": "1c3e7f3e1c", "\u25cb": "1c2241221c", "\u2022": "0010381000", "\u25e6": "0010281000",
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
    drawn = scene(Rules(game), Position(state, None, mover), bare=True)
    ground = tuple(shape for shape in drawn.shapes if not isinstance(shape, Group))
    layers = _ground(drawn.width, drawn.height, ground).copy()
    for shape in drawn.shapes:
        if isinstance(shape, Group):
            _stamp_on(layers, shape)
    return np.rint(layers[..., :3]).astype(np.uint8)


@functools.lru_cache(maxsize=4)
def _ground(width: float, height: float, shapes: tuple[Shape, ...]) -> Layers:
    layers = np.zeros((round(height * SCALE), round(width * SCALE), 4), np.float32)
    layers[:] = (255, 255, 255, 1)
    _Canvas(layers, 0, 0, SCALE).draw(shapes)
    return layers


@functools.lru_cache(maxsize=256)
def _stamp(shapes: tuple[Shape, ...], scale: float) -> Layers:
    middle = math.ceil(STAMP * scale)
    layers = np.zeros((2 * middle, 2 * middle, 4), np.float32)
    _Canvas(layers, middle, middle, scale).draw(shapes)
    return layers


def _stamp_on(layers: Layers, man: Group) -> None:
    """Lay a man over the picture. Its middle goes to a whole pixel."""
    stamp = _stamp(man.shapes, man.scale * SCALE)
    middle = len(stamp) // 2
    left, top = round(man.x * SCALE) - middle, round(man.y * SCALE) - middle
    region = layers[max(0, top) : top + 2 * middle, max(0, left) : left + 2 * middle]
    stamp = stamp[max(0, -top) :, max(0, -left) :][: region.shape[0], : region.shape[1]]
    region *= 1 - stamp[..., 3:]
    region += stamp


class _Canvas:
    """Layers that shapes are laid over: their origin in pixels, and the pixels of a unit."""

    def __init__(self, layers: Layers, x: float, y: float, scale: float) -> None:
        self.layers, self.x, self.y, self.scale = layers, x, y, scale

    def draw(self, shapes: Iterable[Shape]) -> None:
        """Lay shapes over each other, the first ones lowest."""
        for shape in shapes:
            if isinstance(shape, Circle):
                x, y, radius, paint = shape
                self._lay((x - radius, y - radius, x + radius, y + radius), paint, _disc(x, y, radius))
            elif isinstance(shape, Rect):
                x, y, width, height, paint, radius = shape
                self._lay((x, y, x + width, y + height), paint, _box(x, y, width, height, radius))
            elif isinstance(shape, Poly):
                points = (*shape.points, shape.points[0]) if shape.closed else shape.points
                self._outline((points,), shape.paint)
            elif isinstance(shape, Path):
                self._outline(flatten(shape.outline), shape.paint)
            elif isinstance(shape, Words):
                self._words(shape)

    def _outline(self, rings: Rings, paint: Paint) -> None:
        points = np.array([point for ring in rings for point in ring])
        self._lay((*points.min(0), *points.max(0)), paint, _area(rings))

    def _lay(self, box: tuple[float, ...], paint: Paint, inside: Callable[[Any, Any], Any]) -> None:
        """Paint where `inside(x, y)`, a distance to the edge, is positive, and its edge; half a pixel is mixed."""
        edge = paint.width / 2 if paint.stroke != "none" else 0.0
        corners = np.reshape(box, (2, 2)) * self.scale + (self.x, self.y)
        around = edge * self.scale + 1
        (left, top), (right, bottom) = np.maximum(0, np.rint(corners + [[-around], [around]])).astype(int).tolist()
        region = self.layers[top:bottom, left:right]
        if not region.size:
            return
        x = (np.arange(left, left + region.shape[1], dtype=np.float32) + 0.5 - self.x) / self.scale
        y = (np.arange(top, top + region.shape[0], dtype=np.float32)[:, None] + 0.5 - self.y) / self.scale
        far = inside(x, y)
        if paint.fill != "none":
            self._mix(region, paint.fill, far, paint.opacity)
        if edge:
            self._mix(region, paint.stroke, edge - np.abs(far), paint.opacity)

    def _mix(self, region: Layers, colour: str, far: Any, opacity: float) -> None:
        share = (np.clip(far * self.scale + 0.5, 0, 1) * opacity)[..., None]
        region += (_layers_of(colour) - region) * share

    def _words(self, words: Words) -> None:
        """Draw letters of 5 x 7 dots. A character that the font lacks becomes a question mark."""
        dot = words.size / 10
        width = dot * (6 * len(words.text) - 1)
        left = words.x - {"start": 0.0, "middle": width / 2, "end": width}[words.anchor]
        for index, letter in enumerate(words.text):
            columns = bytes.fromhex(FONT.get(letter) or FONT.get(letter.upper(), FONT["?"])) if letter != " " else b""
            for column, bits in enumerate(columns):
                for row in range(7):
                    if bits >> row & 1:
                        x, y = left + (6 * index + column) * dot, words.y + (row - 3.5) * dot
                        self.draw([Rect(x, y, dot * 1.1, dot * 1.1, Paint(words.fill))])


@functools.lru_cache(maxsize=64)
def _layers_of(colour: str) -> Layers:
    return np.array([*bytes.fromhex(colour[1:]), 1], np.float32)


def _disc(x: float, y: float, radius: float) -> Callable[[Any, Any], Any]:
    return lambda right, down: radius - np.hypot(right - x, down - y)


def _box(x: float, y: float, width: float, height: float, radius: float) -> Callable[[Any, Any], Any]:
    radius = min(radius, width / 2, height / 2)

    def inside(right: Any, down: Any) -> Any:
        across = np.abs(right - x - width / 2) - (width / 2 - radius)
        along = np.abs(down - y - height / 2) - (height / 2 - radius)
        outside = np.hypot(np.maximum(across, 0), np.maximum(along, 0))
        return radius - outside - np.minimum(np.maximum(across, along), 0)

    return inside


def _area(rings: Rings) -> Callable[[Any, Any], Any]:
    """How far points lie within outlines; those of an open line lie outside of it."""

    def inside(right: Any, down: Any) -> Any:
        nearest, is_in = np.inf, np.zeros(np.broadcast(right, down).shape, bool)
        for ring in rings:
            for (ax, ay), (bx, by) in zip(ring, ring[1:], strict=False):
                dx, dy = bx - ax, by - ay
                along = np.clip(((right - ax) * dx + (down - ay) * dy) / (dx * dx + dy * dy or 1.0), 0, 1)
                nearest = np.minimum(nearest, np.hypot(right - ax - along * dx, down - ay - along * dy))
                if ring[0] == ring[-1] and dy:
                    is_in ^= ((ay > down) != (by > down)) & (right < ax + dx * (down - ay) / dy)
        return np.where(is_in, nearest, -nearest)

    return inside


@functools.lru_cache(maxsize=64)
def flatten(outline: str) -> Rings:
    """The outline of a path as straight lines. Of SVG's commands those that the figures of men have."""
    rings: list[list[complex]] = [[]]
    control = 0j
    for command, numbers in _steps(outline):
        ring = rings[-1]
        pen = ring[-1] if ring else 0j
        start = pen if command.islower() else 0j
        kind = command.lower()
        if kind == "z":
            ring.append(ring[0])
            rings.append([])
        elif kind in "hv":
            moved = start + (numbers[0] if kind == "h" else 1j * numbers[0])
            ring.append(complex(moved.real, pen.imag) if kind == "h" else complex(pen.real, moved.imag))
        elif kind == "m":
            rings.append([complex(*numbers)])
        elif kind == "l":
            ring.append(start + complex(*numbers))
        elif kind == "a":
            ring += _arc(pen, start + complex(*numbers[5:]), numbers[0], numbers[3] > 0)
        else:
            control = start + complex(*numbers[:2]) if kind == "q" else 2 * pen - control
            ring += _curve(pen, control, start + complex(*numbers[-2:]))
    return tuple(tuple((point.real, point.imag) for point in ring) for ring in rings if len(ring) > 1)


def _steps(outline: str) -> Iterator[tuple[str, list[float]]]:
    """The commands of a path, each with its numbers."""
    counts = {"m": 2, "l": 2, "h": 1, "v": 1, "q": 4, "t": 2, "a": 7, "z": 0}
    for command, numbers_text in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", outline):
        numbers = [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", numbers_text)]
        count = counts[command.lower()]
        for offset in range(0, len(numbers), count) if count else (0,):
            # Further points of a move are lines
            is_more = offset and command.lower() == "m"
            yield ("l" if command == "m" else "L") if is_more else command, numbers[offset : offset + count]


def _curve(a: complex, control: complex, b: complex) -> list[complex]:
    shares = [step / CURVE for step in range(1, CURVE + 1)]
    return [(1 - t) ** 2 * a + 2 * t * (1 - t) * control + t * t * b for t in shares]


def _arc(a: complex, b: complex, radius: float, is_long: bool) -> list[complex]:
    """A circle's arc from a to b, clockwise on the screen."""
    half = abs(b - a) / 2
    away = math.sqrt(max(0.0, radius * radius - half * half)) / (2 * half) * (-1 if is_long else 1)
    centre = (a + b) / 2 + away * 1j * (b - a)
    begin, end = cmath.phase(a - centre), cmath.phase(b - centre)
    turn = (end - begin) % math.tau
    steps = 2 * CURVE
    return [centre + cmath.rect(radius, begin + turn * step / steps) for step in range(1, steps + 1)]
