"""Puzzles as facts, for people, as rows of a table, as a page to print, and as tasks for language models."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from solver.play.showing import drawn
from solver.puzzles import Puzzle
from solver.report.facts import filled
from solver.rules.boards.text import drawing_of, is_drawn, mover_of
from solver.rules.game import Rules, game_text
from solver.rules.notation import Position, first_position, format_action, show, summary_of

MARK = '<meta name="generator" content="solver puzzles">'  # by which its sheets are known
COLUMNS = ("position", "goal", "distance", "move", "line", "tempting", "difficulty")
GOALS = {"win": "wins in {}", "draw": "holds the draw", "margin": "keeps the best margin"}


def facts(puzzle: Puzzle) -> dict[str, Any]:
    """Return the facts of a puzzle."""
    return {"position": f"#{puzzle.state}", **{name: getattr(puzzle, name) for name in COLUMNS[1:]}}


def row(puzzle: Puzzle) -> list[Any]:
    """Return the columns of a puzzle, those of COLUMNS."""
    return [" ".join(value) if isinstance(value, list) else value for value in facts(puzzle).values()]


def text(rules: Rules, puzzle: Puzzle, number: int) -> str:
    """Return a puzzle for people: the board, the task, and the solution below it."""
    task = GOALS[puzzle.goal].format(puzzle.distance)
    return (
        f"{number}. One move {task}. #{puzzle.state}, difficulty {puzzle.difficulty}\n\n"
        f"{show(rules.game, puzzle.state)}\n\nsolution: {' '.join(puzzle.line)}\n"
    )


def task(rules: Rules, puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as a task for a language model: a prompt, the legal answers and the right one.

    `solver.score_answer(book, state, answer)` scores an answer.
    """
    legal = [format_action(rules.game, puzzle.state, action) for action in rules.actions(puzzle.state)]
    about = " ".join((type(rules.game).__doc__ or "").split())
    prompt = (
        f"This is a position of the game {game_text(rules.game)}. {about}\n\n{show(rules.game, puzzle.state)}\n\n"
        f"It is your turn. One move {GOALS[puzzle.goal].format(puzzle.distance)}. Legal moves: {', '.join(legal)}."
        " Answer with one move."
    )
    return {
        "game": game_text(rules.game),
        "state": puzzle.state,
        "prompt": prompt,
        "legal": legal,
        "answer": puzzle.move,
        "difficulty": puzzle.difficulty,
    }


def sheet(rules: Rules, puzzles: Sequence[Puzzle]) -> str:
    """Return puzzles as a page: boards with their tasks, and the solutions on a sheet of their own.

    It holds no scripts and needs no other files; the same puzzles give the same bytes.
    """
    cards = []
    for number, puzzle in enumerate(puzzles, 1):
        position = first_position(rules, puzzle.state)._replace(mover=mover_of(rules.game, puzzle.state))
        plies = "" if puzzle.distance is None else " plies"
        cards.append(
            f'<section class="puzzle"><h2>{number}</h2>{_board(rules, position)}<p>{_side(rules, position)} to move.'
            f" One move {GOALS[puzzle.goal].format(puzzle.distance)}{plies}.</p></section>"
        )
    solutions = "".join(
        f"<li>{escape(' '.join(puzzle.line) or puzzle.move)} <small>#{puzzle.state}</small></li>" for puzzle in puzzles
    )
    return filled(
        "puzzles.html",
        mark=MARK,
        name=escape(game_text(rules.game)),
        about=escape(summary_of(rules.game)),
        cards=cards,
        solutions=solutions,
    )


def _board(rules: Rules, position: Position) -> str:
    if not is_drawn(rules.game):
        return f"<pre>{escape(show(rules.game, position.state))}</pre>"
    return str(drawn(rules, position))


def _side(rules: Rules, position: Position) -> str:
    """The side to move, by the colour that the picture gives it."""
    sides = drawing_of(rules.game).get("sides")
    return "You are" if position.mover is None or sides is None else f"{str(sides[position.mover]).capitalize()} is"
