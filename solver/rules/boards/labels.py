"""The values of moves on a board: a badge on the cell that a move is known by, and arrows where men slide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from solver.base.value import Value
from solver.rules.boards.layout import Cell, Layout
from solver.rules.boards.looks import INK, VALUES
from solver.rules.boards.shapes import Paint, Point, poly, rect, words
from solver.rules.game import Rules
from solver.rules.notation import in_words

ARROWS = 12  # that are shown of all moves
BEST = 6  # that are shown of best ones
SHORT = {"win": "W", "loss": "L", "draw": "=", "tie": "="}  # where a cell is too small for a word
TWO_LINE_SIZE = 86  # of a cell in which two lines fit


class Label(NamedTuple):
    """A move to show on a board: its name, the cells that are chosen for it, and its value.

    `brief` is a word and a number, "win" and "5", both empty for a move without a value; `kind` is win, draw, loss or
    unknown.
    """

    name: str
    cells: tuple[int, ...] = ()
    words: str = ""
    brief: tuple[str, str] = ("", "")
    kind: str = "unknown"
    best: bool = False


def label_of(
    name: str, cells: Sequence[int], rules: Rules, value: Value | None, estimate: float | None, best: bool
) -> Label:
    """Return the label of a move with its value, or its estimate."""
    words = in_words(value, rules, estimate)
    return Label(name, tuple(cells), words, _brief(value, words, estimate), _kind(value, rules, estimate), best)


def _brief(value: Value | None, words: str, estimate: float | None) -> tuple[str, str]:
    if value is None:
        sure = words.partition(",")[0]
        return (sure, "") if sure in SHORT else ("?", "" if estimate is None else f"{estimate:+.2g}")
    if value.distance is not None:
        return value.outcome, str(value.distance)
    # An expected utility, with the winning chance
    if words.endswith("%)"):
        return f"{50 * (1 + value.score):.1f} %", ""
    return (f"{value.score:+.2f}" if isinstance(value.score, float) else words.partition(",")[0]), ""


def _kind(value: Value | None, rules: Rules, estimate: float | None) -> str:
    if value is not None:
        return value.leaning
    if estimate is None or rules.scores or abs(estimate) < 1:
        return "unknown"
    return "win" if estimate > 0 else "loss"


class Marks(NamedTuple):
    """The marks on a board: labels by the place of their badges, and those that have arrows."""

    badges: Mapping[tuple[int, ...], Label]
    arrows: list[Label]


def marks_of(labels: Sequence[Label], free: int = 0) -> Marks:
    """Choose the badges and arrows of moves, best first.

    If all moves end in cells of their own, badges lie there; otherwise a badge lies where moves begin, and tells of the
    best of them. Where cells may be chosen in any order (`free`), dominoes have theirs in the middle, and larger moves
    on each of their cells.
    """
    placed = [label for label in labels if label.cells and label.brief[0]]
    by_end = len({label.cells[-1] for label in placed}) == len(placed)
    badges: dict[tuple[int, ...], Label] = {}
    for label in placed:
        keys = [label.cells[-1:] if by_end else label.cells[:1]]
        if free == 2 == len(label.cells):
            keys = [tuple(sorted(label.cells))]
        elif free:
            keys = [(cell,) for cell in label.cells[:free]]
        for key in keys:
            badges.setdefault(key, label)
    slides = [label for label in placed if len(label.cells) > 1 and not free]
    best = [label for label in slides if label.best]
    if by_end and len(slides) <= ARROWS:
        return Marks(badges, slides)
    return Marks(badges, best if len(best) <= BEST else [])


def arrows(layout: Layout, labels: Sequence[Label]) -> list[str]:
    """Arrows from cell to cell; where several share a step, the best one's."""
    steps: dict[tuple[int, int], Label] = {}
    for label in labels:
        for step in zip(label.cells, label.cells[1:], strict=False):
            steps.setdefault(step, label)
    return [_arrow(layout.cells[a], layout.cells[b], VALUES[label.kind]) for (a, b), label in steps.items() if a != b]


def _arrow(a: Cell, b: Cell, colour: str) -> str:
    dx, dy = b.x - a.x, b.y - a.y
    length = math.hypot(dx, dy) or 1.0
    dx, dy = dx / length, dy / length
    begin, tip = min(26, length / 4), length - min(20, length / 5)
    neck = tip - 26
    outline = (begin, -5), (neck, -5), (neck, -16), (tip, 0), (neck, 16), (neck, 5), (begin, 5)
    points: list[Point] = [(a.x + dx * along - dy * aside, a.y + dy * along + dx * aside) for along, aside in outline]
    return poly(tuple(points), Paint(colour, "#ffffff", 2, 0.8), True)


def badge(layout: Layout, key: tuple[int, ...], label: Label, is_covered: bool) -> list[str]:
    """The badge of a move; on a covered cell it lies below the man."""
    cells = [layout.cells[cell] for cell in key]
    x, y = (sum(cell[axis] for cell in cells) / len(cells) for axis in (0, 1))
    width, height = (min(cell[axis] for cell in cells) for axis in (2, 3))
    word, number = label.brief
    if len(cells) > 1:
        width, height = 52, 40
    two_lines = bool(number) and min(width, height) >= TWO_LINE_SIZE and not is_covered
    if width < TWO_LINE_SIZE or (is_covered and number):
        word = SHORT.get(word, word)
    lines = [word, number] if two_lines else [f"{word} {number}".strip()]
    letters = 0.56 * max(map(len, lines)) + 0.6
    size = min(22 if width >= TWO_LINE_SIZE else 19, (width - 6) / letters)
    if is_covered and height >= TWO_LINE_SIZE:
        y += height / 2 - 16
    width, height = max(letters, 1.4) * size, (1.15 * len(lines) + 0.25) * size
    shapes: list[str] = []
    if label.best:
        rim = rect(x - width / 2 - 4, y - height / 2 - 4, width + 8, height + 8, Paint("#ffffff", INK, 1.5), 11)
        shapes.append(rim)
    shapes.append(rect(x - width / 2, y - height / 2, width, height, Paint(VALUES[label.kind]), 8))
    middle = (len(lines) - 1) / 2
    return shapes + [
        words(x, y + (line - middle) * 1.1 * size, line_text, size, "#ffffff") for line, line_text in enumerate(lines)
    ]
