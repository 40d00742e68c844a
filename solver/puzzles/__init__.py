"""Puzzles from a book: positions in which one move alone is good, ranked by difficulty and proved by the rules."""

from solver.puzzles.finding import Puzzle, find_puzzles, score_answer

__all__ = ["Puzzle", "find_puzzles", "score_answer"]
