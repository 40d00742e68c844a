"""Puzzles as a page to print: boards with their tasks, and the solutions on a sheet of their own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from solver.play.showing import drawn
from solver.puzzles import Puzzle
from solver.report.puzzles import GOALS
from solver.rules.boards.cells import drawing_of, is_drawn
from solver.rules.boards.reading import mover_of
from solver.rules.game import Rules, game_text
from solver.rules.notation import Position, first_position, show, summary_of

MARK = '<meta name="generator" content="solver puzzles">'  # by which its files are known
STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; color: #111; background: #fff; margin: 1.5rem auto; max-width: 60rem;
  padding: 0 1rem; }
.puzzles { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.5rem; }
.puzzle { break-inside: avoid; } .puzzle svg { width: 100%; height: auto; max-height: 20rem; }
.puzzle p { margin: .4rem 0; } pre { font-size: 1rem; }
.solutions { break-before: page; } .solutions ol { columns: 16rem; }
.solutions li { break-inside: avoid; margin-bottom: .3rem; }
@media print { body { margin: 0; max-width: none; } }
"""


def sheet(rules: Rules, puzzles: Sequence[Puzzle]) -> str:
    """Return the page. It holds no scripts and needs no other files; the same puzzles give the same bytes."""
    name = escape(game_text(rules.game))
    about = escape(summary_of(rules.game))
    cards = []
    for number, puzzle in enumerate(puzzles, 1):
        position = first_position(rules, puzzle.state)._replace(mover=mover_of(rules, puzzle.state))
        cards.append(
            f'<section class="puzzle"><h2>{number}</h2>{_board(rules, position)}'
            f"<p>{_side(rules, position)} to move. One move {_task(puzzle)}.</p></section>"
        )
    solutions = "".join(
        f"<li>{escape(' '.join(puzzle.line) or puzzle.move)} <small>#{puzzle.state}</small></li>" for puzzle in puzzles
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{MARK}\n<title>{name}: puzzles</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}: puzzles</h1>\n"
        f'<p>{about}</p>\n<div class="puzzles">\n' + "\n".join(cards) + "\n</div>\n"
        f'<div class="solutions">\n<h1>Solutions</h1>\n<ol>{solutions}</ol>\n</div>\n</body>\n</html>\n'
    )


def _board(rules: Rules, position: Position) -> str:
    if not is_drawn(rules.game):
        return f"<pre>{escape(show(rules.game, position.state))}</pre>"
    return str(drawn(rules, position))


def _task(puzzle: Puzzle) -> str:
    """What the one good move reaches."""
    plies = "" if puzzle.distance is None else " plies"
    return f"{GOALS[puzzle.goal].format(puzzle.distance)}{plies}"


def _side(rules: Rules, position: Position) -> str:
    """The side to move, by the colour that the picture gives it."""
    sides = drawing_of(rules.game).get("sides")
    return "You are" if position.mover is None or sides is None else f"{str(sides[position.mover]).capitalize()} is"
