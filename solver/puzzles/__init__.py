"""Puzzles from a book: positions in which one move alone is good, ranked by difficulty and proved by the rules.

A puzzle is a position in which one move alone reaches the goal:

    win      the only winning move
    draw     the only move that does not lose, in a drawn position
    margin   the only move of the best margin, in games whose moves score

`unique="all"` asks more of a win: after each of the longest defences, too, one move alone wins, up to the end.

Puzzles are ranked by difficulty: the plies to the win, and two more for each wrong move that a look of LOOK plies
does not refute. No two puzzles are alike: the book has one of symmetric states, and a position within two plies of a
puzzle that was chosen is passed over, as is the same board with colours exchanged. The same book and options give
the same puzzles. The rules alone prove each win before it is returned: the solution forces the win in its plies, and
no other move wins as soon. A win whose proof needs more than MOST_CHECKED states is left out. Draws and margins rest
on the book.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple, cast

from solver.base import extras
from solver.base.errors import DamagedBook, MethodError, MissingState, PositionError, UncompiledRules
from solver.base.extras import PLAIN_LIMIT
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book, Source
from solver.book.streaming import lists
from solver.play.analysis import Move
from solver.play.player import Player
from solver.rules.game import GameOrName
from solver.rules.notation import board_of, format_action, names_of, parse_action

GOALS = ("win", "draw", "margin")
LOOK = 4  # plies within which a wrong move is plainly wrong
MOST_CHECKED = 1 << 20  # states that the proof of one puzzle may visit


class Puzzle(NamedTuple):
    """A position with one good move.

    Attributes:
        state: The position.
        goal: "win", "draw" or "margin".
        distance: Plies to the win. None for other goals.
        solution: The action that reaches the goal.
        move: The same in the game's notation.
        line: The solution and best play after it, in the game's notation.
        tempting: Wrong moves that a short look does not refute.
        difficulty: A number to rank puzzles of one game by; larger is harder.
        values: Each move with its value.
    """

    state: int
    goal: str
    distance: int | None
    solution: int
    move: str
    line: list[str]
    tempting: int
    difficulty: int
    values: dict[str, Value]


def find_puzzles(
    source: Source,
    number: int = 10,
    *,
    goal: str = "win",
    win_in: tuple[int, int] | None = None,
    unique: str = "first",
    varied: bool = False,
    game: GameOrName | None = None,
    progress: Progress = silent,
) -> list[Puzzle]:
    """Find the hardest puzzles of a book.

        find_puzzles("connect-four:4,4", 5, win_in=(7, 9), unique="all")

    Args:
        source: A complete book, its path, or a game whose book comes with the package.
        number: How many puzzles to return at most.
        goal: "win", "draw" or "margin".
        win_in: The least and the greatest distance of a win in plies. None for any from 3.
        unique: "first": one winning move now. "all": one all along the longest defences.
        varied: Take wins of each length in turn, from the longest to the shortest and again.
        game: The rules, if the book is of your own game.
        progress: Called as the book is read.

    Returns:
        The puzzles, the hardest first, or of each length if `varied`. Fewer than `number`, perhaps none, if the book
        has no more.

    Raises:
        MethodError: The goal does not suit the game, or the book is not complete.
        DamagedBook: A puzzle contradicts the rules.
    """
    player = Player(source, game, live=False)
    rules, book = player.rules, player.solution
    if not isinstance(book, Book) or not book.header.is_gapless:
        raise MethodError(f"{rules.name}: puzzles need a complete book: solver solve {rules.name} -o BOOK, name that")
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, which has no puzzles: no play proves a mean")
    if goal not in GOALS:
        raise MethodError(f"no goal {goal!r}: choose {', '.join(GOALS)}")
    if rules.scores != (goal == "margin"):
        fit = "margin" if rules.scores else "win or draw"
        raise MethodError(f"values of {rules.name} have no {goal}: choose the goal {fit}")
    if goal != "win" and (win_in is not None or unique != "first"):
        raise MethodError(f"a {goal} has no distance: leave out --win-in and --unique all")
    if goal == "win" and book.header.kind.bare:
        raise MethodError(f"{book.path.name} lacks distances of wins: solve without --wdl or --method nimbers")
    shortest, longest = win_in or (3, 1 << 30)
    ranked = sorted(_ranked(player, list(_candidates(book, goal, shortest, longest, progress)), goal, progress))
    if varied:
        # The hardest of each length come first, then the second of each
        turns = defaultdict[int, Iterator[int]](count)
        ranked.sort(key=lambda entry: next(turns[entry[2]]))
    # The first that are not alike, proved and with their lines
    chosen, near = list[Puzzle](), set[Any]()
    for puzzle in filter(None, (_puzzle(player, state, goal, unique) for _, state, _ in ranked)):
        if len(chosen) == number:
            break
        around = _around(player, puzzle)
        if near.isdisjoint(around) and _is_proved(player, puzzle):
            near |= around
            child = player.game.result(puzzle.state, puzzle.solution)
            line = () if rules.is_terminal(child) else player.line(child, (puzzle.distance or 12) - 1)
            names = names_of(rules, child, (action for action, _ in line))
            chosen.append(puzzle._replace(line=[puzzle.move, *names]))
            progress("prove", len(chosen), number)
    return chosen


def _candidates(book: Book, goal: str, shortest: int, longest: int, progress: Progress) -> Iterator[int]:
    """Yield the states whose value suits the goal, in the order of the book."""
    if goal == "win":
        fits = [value.score > 0 and shortest <= (value.distance or 0) <= longest for value in book.header.values]
    else:
        fits = [goal == "margin" or value.score == 0 for value in book.header.values]
    for states, indices in lists(book, progress):
        for state, index in zip(states, indices, strict=True):
            if fits[index]:
                yield state


def _ranked(player: Player, states: list[int], goal: str, progress: Progress) -> Iterator[tuple[int, int, int]]:
    """Yield minus the difficulty, the state and its distance, where one move alone keeps the value."""
    rules, book = player.rules, cast(Book, player.solution)
    if len(states) > PLAIN_LIMIT // 10 and not (rules.plain_only or book.trim) and extras.has_kernels():
        from solver.learning.moves import single_moves

        with contextlib.suppress(UncompiledRules):
            for state, distance, tempting in single_moves(rules, book, states, LOOK, progress):
                yield -(distance if goal == "win" else 0) - 2 * tempting, state, distance
            return
    for number, state in enumerate(states, 1):
        puzzle = _puzzle(player, state, goal, "first")
        if puzzle is not None:
            yield -puzzle.difficulty, state, puzzle.distance or 0
        if number % 1024 == 0:
            progress("rank", number, len(states))


def _keepers(moves: list[Move]) -> list[Move]:
    """Return the moves that keep the value."""
    top = max(move.value.score for move in moves if move.value is not None)
    return [move for move in moves if move.value is not None and move.value.score == top]


def _puzzle(player: Player, state: int, goal: str, unique: str) -> Puzzle | None:
    """Return the puzzle of a state, or None if more than one move is good."""
    moves = player.knowledge.moves(state)
    keepers = _keepers(moves)
    if len(keepers) != 1 or len(moves) < 2:
        return None
    solution = keepers[0]
    if unique == "all" and not _unique(player, state, is_winner=True):
        return None
    value = solution.value
    assert value is not None
    values = {format_action(player.game, state, move.action): move.value for move in moves if move.value is not None}
    wrong = [move.value for move in moves if move is not solution and move.value is not None]
    # Of these a short look does not show that they lose
    tempting = sum(value.score >= 0 or value.distance is None or value.distance > LOOK for value in wrong)
    distance = value.distance if goal == "win" else None
    name, difficulty = format_action(player.game, state, solution.action), (distance or 0) + 2 * tempting
    return Puzzle(state, goal, distance, solution.action, name, [], tempting, difficulty, values)


def _unique(player: Player, state: int, is_winner: bool) -> bool:
    """Whether one move alone wins, now and after each of the longest defences.

    Args:
        player: Who knows the values.
        state: A position on the way to the win.
        is_winner: Whether the side that wins is to move there.
    """
    if player.game.is_terminal(state):
        return True
    moves = player.knowledge.moves(state)
    if is_winner:
        chosen = _keepers(moves)
    else:
        longest = max(move.value.distance or 0 for move in moves if move.value is not None)
        chosen = [move for move in moves if move.value is not None and (move.value.distance or 0) == longest]
    if is_winner and len(chosen) != 1:
        return False
    same_mover = player.rules.same_mover
    return all(_unique(player, move.child, is_winner == same_mover(state, move.action, move.child)) for move in chosen)


def _around(player: Player, puzzle: Puzzle) -> set[Any]:
    """Return a puzzle's state, and the states that its solution and each reply lead to, folded by symmetry.

    If the rules draw the side to move as the first player, its board is among them: with colours exchanged it is alike.
    """
    rules, game = player.rules, player.game
    child = game.result(puzzle.state, puzzle.solution)
    around = {puzzle.state, rules.canonical(child)}
    if rules.to_move is None:
        around.add(str(board_of(game, puzzle.state, 0)))
    if not game.is_terminal(child):
        around |= {rules.canonical(game.result(child, action)) for action in game.actions(child)}
    return around


def _is_proved(player: Player, puzzle: Puzzle) -> bool:
    """Whether the rules alone prove, within MOST_CHECKED states, that the solution wins and no other move wins as soon.

    The values that the player knows say at most which move is tried first.

    Draws and margins have no bounded proof: they rest on the book. Raises DamagedBook if the rules contradict it.
    """
    if puzzle.distance is None:
        return True
    known: dict[tuple[Any, int], bool] = {}
    for action in player.game.actions(puzzle.state):
        wins = _settles(player, puzzle.state, action, puzzle.distance, 1, known)
        if len(known) > MOST_CHECKED:
            return False
        if wins != (action == puzzle.solution):
            raise DamagedBook(f"state {puzzle.state} is not a puzzle by its rules: solver verify the book")
    return True


def _settles(
    player: Player, state: Any, action: Any, plies: int, sign: int, known: dict[tuple[Any, int], bool]
) -> bool:
    """Whether a move wins (`sign` 1) or loses (-1) for its side within some plies, itself included."""
    rules, knowledge = player.rules, player.knowledge
    child = rules.result(state, action)
    child_sign = sign if rules.same_mover(state, action, child) else -sign
    if rules.is_terminal(child):
        return child_sign * rules.ended(child).score > 0
    if plies <= 1 or len(known) > MOST_CHECKED:
        return False
    key = rules.canonical(child), child_sign * (plies - 1)
    if key not in known:
        # One move is enough to win; who loses does so whatever the move. So the best move is tried first
        any_or_all, replies = any if child_sign > 0 else all, list(rules.actions(child))
        value = knowledge.value(key[0]) if plies > 4 else None
        if value is not None and (child_sign * value.score > 0 and (value.distance or 0) < plies) == (child_sign > 0):
            best = knowledge.best_action(child)
            replies.sort(key=lambda reply: reply != best)
        known[key] = any_or_all(_settles(player, child, reply, plies - 1, child_sign, known) for reply in replies)
    return known[key]


def score_answer(source: Source | Player, state: int, answer: str) -> float:
    """Score an answer to a position, such as a language model's: 1 if the move keeps the value, else less.

    Args:
        source: A book, its path, a game, or a player: the judge.
        state: The position.
        answer: A move in the game's notation. Spaces around it do not matter.

    Returns:
        1.0 for a move that keeps the value, 0.0 for one that gives all away and for text that is not legal. Between
        them the part of the value that is kept: 0.5 for a draw instead of a win.

    Raises:
        PositionError: `state` is not a position of the game.
        MissingState: The value of the move is not known.
    """
    player = Player.of(source)
    moves = player.analyse(state)
    try:
        action = parse_action(player.game, state, answer.strip())
    except PositionError:
        return 0.0
    scores = {move.action: move.value.score for move in moves if move.value is not None}
    if len(scores) < len(moves):
        raise MissingState(f"not all moves of state {state} have known values: use a complete book")
    span = 2.0 if not player.rules.scores else float(max(scores.values()) - min(scores.values())) or 1.0
    return 1.0 - (max(scores.values()) - scores[action]) / span
