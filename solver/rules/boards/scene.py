"""A position as one picture: the board, its men, the values of moves, and lines of text below."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from solver.rules.boards import looks
from solver.rules.boards.labels import Label, arrows, badge, marks_of
from solver.rules.boards.layout import layout_of
from solver.rules.boards.men import drawn, kind_of_man
from solver.rules.boards.shapes import Paint, group, plain, rect, words, written
from solver.rules.boards.surfaces import OWN_MEN, PAPER, SURFACES, View
from solver.rules.boards.text import LETTERS, cell_names, cells_of_move, drawing_of, rows_at
from solver.rules.game import Rules
from solver.rules.notation import Position, board_of, chances, first_position, format_action, next_position, show

TEXT, PRINTED = 22, 26  # the sizes of letters: below a board, and of a board that is text
LEADING = 1.35  # lines, in sizes of their letters
WIDE = 0.54  # a letter, of its size; in a monospaced font 0.61
LISTED = 24  # moves without cells that are named below
UNCOVERED = ("dots", "bearoff", "backgammon")  # boards whose badges lie in the middle of cells
NARROW = 370  # the least width of a picture
SCALE, MIN_SCALE, MAX_SIDE = 0.7, 0.25, 640.0  # pixels of a unit, and of a longer side if that is still legible


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
    rules: Rules, position: Position, labels: Sequence[Label] = (), caption: Sequence[str] = (), *, bare: bool = False
) -> Scene:
    """Draw a position of a game.

    Args:
        rules: The game's rules. A game without `cells` is drawn as its text.
        position: The state, and who is to move if that is known.
        labels: Moves to show with their values, best first.
        caption: Lines of text to put below the board.
        bare: Whether the names of rows and columns, and the dice, are left out.
    """
    board = board_of(rules.game, position.state, int(position.mover or 0))
    if isinstance(board, str):
        return _below(_text(board.split("\n")), caption, [one for one in labels if one.brief[0]])
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
    shapes = SURFACES[kind].drawn(view)
    shapes += [] if kind in OWN_MEN else _men(view, {key[0] for key in marks.badges if len(key) == 1})
    shapes += _names(view, names, kind) + arrows(layout, marks.arrows)
    for key, label in marks.badges.items():
        shapes += badge(layout, key, label, len(key) == 1 and key[0] in covered)
    legend = _legend(show(rules.game, position.state, position.mover), board) if rules.chance and not bare else []
    off_board = [one for one in labels if one.brief[0] and not one.cells]
    return _below(Scene(layout.width, layout.height, shapes), [*caption, *legend], off_board)


def _men(view: View, valued: set[int]) -> list[str]:
    """The men; those on valued cells make room for a badge."""
    men: dict[str, Any] = view.drawing.get("men", {})
    kinds = {mark: kind_of_man(mark, men) for mark in set(view.marks)}
    several = [sum(kind is not None and kind[1] == side for kind in kinds.values()) > 1 for side in range(3)]
    figures = {
        mark: drawn(kind, view.sides, mark.upper() if several[kind[1]] and not men else "")
        for mark, kind in kinds.items()
        if kind is not None
    }
    return [
        group(cell.x, cell.y - (12 if number in valued else 0), figures[mark], 0.8 if number in valued else 1.0, mark)
        for number, cell, mark in view.each()
        if mark in figures
    ]


@functools.lru_cache(maxsize=64, typed=True)  # by type: named tuples of two games may be equal
def names_of(game: Any) -> str:
    """The text on a board: "names" of rows and columns, numbers of "columns", letters of "heaps", or names of "cells".

    Empty if there is none. As a page finds it: by the moves at the start.
    """
    rules = Rules(game)
    position = first_position(rules)
    for _ in range(8):
        if not rules.is_terminal(position.state) and chances(game, position.state):
            position = next_position(rules, position, 0)
    board = rows_at(game, position.state, int(position.mover or 0))
    if rules.is_terminal(position.state):
        return ""
    drawing, across, down = drawing_of(game), len(board[0]), len(board)
    if drawing.get("heaps"):
        return "heaps"
    if drawing.get("board") == "points" and "names" in drawing:
        return "cells"
    moves = [
        (format_action(game, position.state, action), cells_of_move(game, position.state, action, board))
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


def _text(lines: Sequence[str]) -> Scene:
    """Lines of text, for rules that draw no board."""
    width, height = 0.61 * PRINTED * max(map(len, lines)) + 40, LEADING * PRINTED * len(lines) + 32
    return Scene(width, height, [rect(0, 0, width, height, PAPER, 16), *_lines(lines, 20, 16, PRINTED, "mono")])


def _lines(lines: Sequence[str], x: float, top: float, size: float, font: str) -> list[str]:
    return [
        words(x, top + LEADING * size * (row + 0.5), line, size, looks.INK, "start", font)
        for row, line in enumerate(lines)
    ]


def _legend(text: str, rows: Sequence[str]) -> list[str]:
    """The lines of a board's text that say more than its cells do, of a throw: no rows, nor letters below them."""
    drawn_rows = ["".join(row.split()).lower() for row in rows] + [LETTERS[: len(rows[0])]]
    lines = [" ".join(line.split()) for line in text.split("\n")]
    bare = ["".join(line.split()).lower() for line in lines]
    repeats = [any(line.endswith(row) and len(line) <= len(row) + 2 for row in drawn_rows) for line in bare]
    return [line for line, is_repeated in zip(lines, repeats, strict=True) if not is_repeated]


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
