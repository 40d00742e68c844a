"""`solver.board`: a position as a picture."""

from __future__ import annotations

import os

from solver.base.errors import PositionError
from solver.book.reader import Book
from solver.play.analysis import Moves
from solver.play.player import Player
from solver.play.showing import Board, answered, drawn
from solver.rules.game import Game, Rules, load_game
from solver.rules.notation import parse_position
from solver.rules.width import as_integer


def board(
    game: Game | str | os.PathLike[str] | Book | Player, position: int | str = "start", *, moves: Moves | None = None
) -> Board:
    """Draw a position as SVG, for notebooks, slides and papers.

    The picture needs no fonts, styles or other files, and the same position always gives the same bytes. A game
    without `cells` is drawn as its text.

    Args:
        game: A game or its name. An open book or a player adds the value of every move.
        position: The moves from the start ("4453"), a state, or what `solver query` takes otherwise. Moves also tell
            who is to move, which a state alone may not.
        moves: The values to show: what `Player.analyse` returned for the position.

    Returns:
        The text of the SVG file, which notebooks show as a picture. `save(path)` writes it.

    Raises:
        PositionError: The position is none of this game, or the moves are those of another one.
    """
    player = game if isinstance(game, Player) else Player(game) if isinstance(game, Book) else None
    rules = Rules(load_game(game)) if player is None else player.rules  # type: ignore[arg-type]
    text = position if isinstance(position, str) else f"#{as_integer(position)}"
    parsed = parse_position(rules, text)
    if moves is None and player is not None:
        moves = player.analyse(parsed.state)
    if moves is None:
        return drawn(rules, parsed)
    if moves.state != parsed.state:
        raise PositionError(f"these are the moves of state {moves.state}: {position!r} is state {parsed.state}")
    return answered(moves.rules, parsed, moves.answer, moves)
