"""Puzzles as facts, for people, as rows of a table, and as tasks for language models."""

from __future__ import annotations

from typing import Any

from solver.puzzles import Puzzle
from solver.rules.game import Rules, game_text
from solver.rules.notation import format_action, show

COLUMNS = ("position", "goal", "distance", "move", "line", "tempting", "difficulty")
GOALS = {"win": "wins in {}", "draw": "holds the draw", "margin": "keeps the best margin"}


def facts(puzzle: Puzzle) -> dict[str, Any]:
    """Return the facts of a puzzle."""
    return {
        "position": f"#{puzzle.state}",
        "goal": puzzle.goal,
        "distance": puzzle.distance,
        "move": puzzle.move,
        "line": puzzle.line,
        "tempting": puzzle.tempting,
        "difficulty": puzzle.difficulty,
    }


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
