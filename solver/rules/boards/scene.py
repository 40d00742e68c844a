"""A position as one picture: the board, its pieces, the values of moves, and lines of text below.

A move's value is a badge on the cell that the move is known by; where pieces slide, it has an arrow, too.
"""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from solver.base.value import Value
from solver.rules import notation
from solver.rules.boards import looks
from solver.rules.boards.looks import VALUES, Paint, drawn, group, kind_of_man, plain, poly, rect, words, written
from solver.rules.boards.surfaces import OWN_MEN, PAPER, SURFACES, Layout, View, layout_of
from solver.rules.boards.text import LETTERS, cell_names, cells_of_move, drawing_of, rows_at
from solver.rules.game import Rules

ARROWS = 12  # that are shown of all moves
BEST = 6  # that are shown of best ones
SHORT = {"win": "W", "loss": "L", "draw": "="}  # where a cell is too small for a word
TWO_LINE_SIZE = 86  # of a cell in which two lines fit
TEXT, PRINTED = 22, 26  # the sizes of letters: below a board, and of a board that is text
LEADING = 1.35  # lines, in sizes of their letters
WIDE = 0.54  # a letter, of its size; in a monospaced font 0.61
LISTED = 24  # moves without cells that are named below
UNCOVERED = ("dots", "bearoff", "backgammon")  # boards whose badges lie in the middle of cells
NARROW = 370  # the least width of a picture
SCALE, MIN_SCALE, MAX_SIDE = 0.7, 0.25, 640.0  # pixels of a unit, and of a longer side if that is still legible


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
    words = notation.in_words(value, rules, estimate)
    brief, kind = (words.partition(",")[0], ""), "unknown"
    if value is None:
        if brief[0] not in SHORT:
            brief = "?", "" if estimate is None else f"{estimate:+.2g}"
        if estimate is not None and not rules.scores and abs(estimate) >= 1:
            kind = "win" if estimate > 0 else "loss"
    else:
        kind = value.leaning
        if value.distance is not None:
            brief = value.outcome, str(value.distance)
        elif words.endswith("%)"):
            # An expected utility, with the winning chance
            brief = f"{50 * (1 + value.score):.1f} %", ""
        elif isinstance(value.score, float):
            brief = f"{value.score:+.2f}", ""
    return Label(name, tuple(cells), words, brief, kind, best)


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
    shapes: list[str] = []
    for (first, last), label in steps.items():
        a, b = layout.cells[first], layout.cells[last]
        length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
        dx, dy = (b.x - a.x) / length, (b.y - a.y) / length
        begin, tip = min(26, length / 4), length - min(20, length / 5)
        neck = tip - 26
        outline = (begin, -5), (neck, -5), (neck, -16), (tip, 0), (neck, 16), (neck, 5), (begin, 5)
        points = [(a.x + dx * along - dy * aside, a.y + dy * along + dx * aside) for along, aside in outline]
        if first != last:
            shapes.append(poly(points, Paint(VALUES[label.kind], "#ffffff", 2, 0.8), True))
    return shapes


def badge(layout: Layout, key: tuple[int, ...], label: Label, is_covered: bool) -> list[str]:
    """The badge of a move; on a covered cell it lies below the piece."""
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
        rim = rect(x - width / 2 - 4, y - height / 2 - 4, width + 8, height + 8, Paint("#ffffff", looks.INK, 1.5), 11)
        shapes.append(rim)
    shapes.append(rect(x - width / 2, y - height / 2, width, height, Paint(VALUES[label.kind]), 8))
    middle = (len(lines) - 1) / 2
    return shapes + [
        words(x, y + (line - middle) * 1.1 * size, line_text, size, "#ffffff") for line, line_text in enumerate(lines)
    ]


class Scene(NamedTuple):
    """A picture: its size and its shapes, the first ones lowest."""

    width: float
    height: float
    shapes: list[str]

    def svg(self, title: str) -> str:
        """Return it as SVG, the same text for the same picture; `title` is for who cannot see it."""
        scale = max(MIN_SCALE, min(SCALE, MAX_SIDE / max(self.width, self.height)))
        size = f'width="{written(self.width * scale)}" height="{written(self.height * scale)}"'
        box = f"0 0 {written(self.width)} {written(self.height)}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {size} role="img">'
        return "\n".join([head, f"<title>{plain(title, quote=False)}</title>", *self.shapes, "</svg>\n"])


def scene(
    rules: Rules,
    position: notation.Position,
    labels: Sequence[Label] = (),
    caption: Sequence[str] = (),
    *,
    bare: bool = False,
) -> Scene:
    """Draw a position of a game.

    Args:
        rules: The game's rules. A game without `cells` is drawn as its text.
        position: The state, and who is to move if that is known.
        labels: Moves to show with their values, best first.
        caption: Lines of text to put below the board.
        bare: Whether the names of rows and columns, and the dice, are left out.
    """
    board = notation.board_of(rules.game, position.state, int(position.mover or 0))
    if isinstance(board, str):
        lines = board.split("\n")
        width, height = 0.61 * PRINTED * max(map(len, lines)) + 40, LEADING * PRINTED * len(lines) + 32
        shapes = [rect(0, 0, width, height, PAPER, 16), *_lines(lines, 20, 16, PRINTED, "mono")]
        return _below(Scene(width, height, shapes), caption, [one for one in labels if one.brief[0]])
    drawing = drawing_of(rules.game)
    kind = drawing.get("board", "squares")
    kind = kind if kind in SURFACES else "squares"
    names = names_of(rules.game) if not bare and kind not in (*OWN_MEN, "track") else ""
    # Names without colours are nobody's
    sides = [looks.SIDE_LOOKS.get(name, looks.NOBODY) for name in drawing.get("sides", looks.USUAL)]
    layout = layout_of(drawing, board, names)
    view = View(layout, "".join(board), drawing, sides, int(position.mover or 0), position.gained)
    if drawing.get("turns") and position.mover:
        last_mark = len(view.marks) - 1
        labels = [one._replace(cells=tuple(last_mark - cell for cell in one.cells)) for one in labels]
    marks = marks_of(labels, drawing.get("free", 0))
    men = drawing.get("men", {})
    covered = {cell for cell, mark in enumerate(view.marks) if kind not in UNCOVERED and kind_of_man(mark, men)}
    surface = SURFACES[kind]
    shapes = [rect(0, 0, layout.width, layout.height, surface.ground, 16)] if surface.ground else []
    shapes += surface.upon(view)
    if kind not in OWN_MEN:
        kinds = {mark: found for mark in set(view.marks) if (found := kind_of_man(mark, men))}
        several = [sum(kind[1] == side for kind in kinds.values()) > 1 for side in range(3)]
        letters = {mark: mark.upper() if several[kind[1]] and not men else "" for mark, kind in kinds.items()}
        figures = {mark: drawn(kind, sides, letters[mark]) for mark, kind in kinds.items()}
        for number, cell, mark in view.each():
            # Those on valued cells make room for a badge
            valued = (number,) in marks.badges
            if mark in figures:
                shapes.append(group(cell.x, cell.y - 12 * valued, figures[mark], 0.8 if valued else 1.0, mark))
    shapes += _names(view, names, kind) + arrows(layout, marks.arrows)
    for key, label in marks.badges.items():
        shapes += badge(layout, key, label, len(key) == 1 and key[0] in covered)
    legend: list[str] = []
    if rules.chance and not bare:
        # The lines of a board's text that say more than its cells do, of a throw: no rows, nor letters below them
        rows = ["".join(row.split()).lower() for row in board] + [LETTERS[: len(board[0])]]
        for line in notation.show(rules.game, position.state, position.mover).split("\n"):
            text = "".join(line.split()).lower()
            if not any(text.endswith(row) and len(text) <= len(row) + 2 for row in rows):
                legend.append(" ".join(line.split()))
    off_board = [one for one in labels if one.brief[0] and not one.cells]
    return _below(Scene(layout.width, layout.height, shapes), [*caption, *legend], off_board)


@functools.lru_cache(maxsize=64, typed=True)  # by type: named tuples of two games may be equal
def names_of(game: Any) -> str:
    """The text on a board: "names" of rows and columns, numbers of "columns", letters of "heaps", or names of "cells".

    Empty if there is none. As a page finds it: by the moves at the start.
    """
    rules = Rules(game)
    position = notation.first_position(rules)
    for _ in range(8):
        if not rules.is_terminal(position.state) and notation.chances(game, position.state):
            position = notation.next_position(rules, position, 0)
    board = rows_at(game, position.state, int(position.mover or 0))
    if rules.is_terminal(position.state):
        return ""
    drawing, across, down = drawing_of(game), len(board[0]), len(board)
    if drawing.get("heaps"):
        return "heaps"
    if drawing.get("board") == "points" and "names" in drawing:
        return "cells"
    moves = [
        (notation.format_action(game, position.state, action), cells_of_move(game, position.state, action, board))
        for action in rules.actions(position.state)
    ]
    names, is_named = cell_names(game), "names" not in drawing or drawing.get("board") in ("walls", "hexagons")
    if is_named and names and any(names[cells[-1]] in name for name, cells in moves if cells):
        return "names"
    columns = {cells[0] % across for _, cells in moves if len(cells) == 1}
    falls = down > 1 and len(moves) > 1 and len(columns) == len(moves) and drawing.get("board") not in ("pits", "piles")
    return "columns" if falls else ""


def _names(view: View, names: str, kind: str) -> list[str]:
    layout, places = view.layout, list[tuple[float, float, str]]()
    # Between cells with walls there are gaps, which have no names
    step = 2 if kind == "walls" else 1
    below, beside = layout.cells[-layout.across :: step], layout.cells[:: layout.across][::step]
    if names == "cells":
        named = zip(layout.cells, view.drawing["names"], strict=True)
        places += [(cell.x + 44, cell.y - 40, name) for cell, name in named]
    if names in ("names", "columns"):
        files = LETTERS if names == "names" else [str(column + 1) for column in range(len(below))]
        under = layout.height - 16 - layout.cells[-1].y
        places += [(cell.x, cell.y + under, files[column % len(files)]) for column, cell in enumerate(below)]
    if names in ("names", "heaps"):
        ranks = LETTERS if names == "heaps" else [str(row + 1) for row in range(len(beside))]
        ranks = ranks if names == "heaps" or kind == "hexagons" else ranks[::-1]
        left = [cell.x - cell.width / 2 - 30 if kind == "hexagons" else layout.left / 2 for cell in beside]
        places += [(x, cell.y, rank) for x, cell, rank in zip(left, beside, ranks, strict=False)]
    size = max(14.0, layout.width / 32)
    return [words(x, y, name, size, SURFACES[kind].names) for x, y, name in places]


def _lines(lines: Sequence[str], x: float, top: float, size: float, font: str) -> list[str]:
    return [
        words(x, top + LEADING * size * (row + 0.5), line, size, looks.INK, "start", font)
        for row, line in enumerate(lines)
    ]


def _below(board: Scene, caption: Sequence[str], moves: Sequence[Label]) -> Scene:
    """Put lines of text below a board, and the moves that it does not show."""
    lines = [*caption]
    if moves:
        rest_text = "" if len(moves) <= LISTED else f" and {len(moves) - LISTED} more"
        lines.append(", ".join(f"{move.name}: {move.words}" for move in moves[:LISTED]) + rest_text)
    if not lines:
        return board
    margin = 14
    inner = max(board.width, NARROW)
    letters = int((inner - 8) / (WIDE * TEXT))
    wrapped = [part for line in lines for part in textwrap.wrap(line, letters) or [""]]
    width, top = inner + 2 * margin, board.height + 2 * margin
    height = top + LEADING * TEXT * len(wrapped) + margin - 4
    ground = rect(0, 0, width, height, Paint("#f4f2ee"), 16)
    inside = group(margin + (inner - board.width) / 2, margin, tuple(board.shapes))
    return Scene(width, height, [ground, inside, *_lines(wrapped, margin + 4, top - 4, TEXT, "plain")])
