"""The view of a player's answers in notebooks: boards as SVG, and tables of moves as HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from solver.base.errors import MethodError
from solver.base.files import write_whole
from solver.book.writer import check_target
from solver.rules.boards import looks, scene, text
from solver.rules.boards.scene import Label, label_of
from solver.rules.game import Rules, game_text
from solver.rules.notation import Position, board_of, first_position, format_action, in_full

BOARD = rb"<title>[^<]*, state [0-9]+"  # what all boards bear
CHIP = "display:inline-block;padding:0.05em 0.55em;border-radius:0.5em;color:#ffffff;font-weight:600;background:"


class Board(str):
    """A picture of a position: the text of an SVG file, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a `.svg` file, whole or not at all, and return its path.

        Raises:
            MethodError: The name does not end in `.svg`.
            BookError: No file can be there.
            ResourceError: The disk is full, or fails.
        """
        target = checked_svg(path)
        write_whole(target, self.encode())
        return target


def checked_svg(path: str | os.PathLike[str]) -> Path:
    """Return the path of an SVG file to write. Raises as `Board.save`."""
    target = check_target(path, BOARD)
    if target.suffix.lower() != ".svg":
        raise MethodError(f"{path}: a board is written as SVG: name a .svg file")
    return target


def drawn(rules: Rules, position: Position, labels: Sequence[Label] = (), caption: str = "") -> Board:
    """Draw a position with the values of moves, best first, and a line of text below."""
    title = f"{game_text(rules.game)}, state {position.state}{f': {caption}' if caption else ''}"
    return Board(scene.scene(rules, position, labels, [caption] if caption else []).svg(title))


def labelled(rules: Rules, position: Position, moves: Iterable[tuple[int, Any, Any, bool]]) -> list[Label]:
    """Return the labels of moves, each given by its action, value, estimate and whether it is best."""
    game, state = rules.game, position.state
    board = board_of(game, state, int(position.mover or 0))
    labels = []
    for action, value, estimate, best in moves:
        name, cells = str(format_action(game, state, action)), text.cells_of_move(game, state, action, board)
        labels.append(label_of(name, cells, rules, value, estimate, best))
    return labels


def labels_of(rules: Rules, position: Position, moves: Iterable[Any]) -> list[Label]:
    """Return the labels of a player's `Move`s."""
    return labelled(rules, position, ((move.action, move.value, move.estimate, move.best) for move in moves))


def answered(rules: Rules, position: Position, answer: Any, labels: Sequence[Label] = ()) -> Board:
    """Draw a position with an `Answer` as its caption and the labels of its moves."""
    over = answer.source == "terminal"
    caption = in_full(rules, position.mover, position.gained, answer.value, answer.estimate, over=over)
    return drawn(rules, position, labels, caption)


def html_of_moves(rules: Rules, state: int, answer: Any, moves: Sequence[Any]) -> str:
    """Return a board with the value of every move, and beside it a table of the moves."""
    position = first_position(rules, state)
    labels = labels_of(rules, position, moves)
    board = answered(rules, position, answer, labels)
    cell = "padding:0.1em 0.6em;text-align:left;border:0;background:none"
    rows = [
        f'<tr style="background:none"><td style="{cell}">{"&#9733;" if label.best else ""}</td>'
        f'<td style="{cell}">{escape(label.name)}</td>'
        f'<td style="{cell}"><span style="{CHIP}{looks.VALUES[label.kind]}">{escape(label.words)}</span></td>'
        f'<td style="{cell};color:{looks.FAINT}">{escape(move.source)}</td></tr>'
        for label, move in zip(labels, moves, strict=True)
    ]
    style = f"border-collapse:collapse;color:{looks.INK};margin:0"
    table = f'<table style="{style}">{"".join(rows)}</table>' if rows else ""
    flex = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    side = "max-height:26em;overflow:auto"
    return (
        f'<div style="{looks.CARD}"><div style="{flex}"><div>{board}</div><div style="{side}">{table}</div></div></div>'
    )
