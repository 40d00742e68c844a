"""`solver.board`: a position as a picture."""

from __future__ import annotations

from solver.base.errors import PositionError
from solver.book import Source, open_source
from solver.play.analysis import Moves
from solver.play.player import Player
from solver.play.showing import Board, answered, drawn, labels_of
from solver.rules.game import Rules
from solver.rules.reading import parse_position
from solver.rules.width import as_integer


def board(source: Player | Source, position: int | str = "start", *, moves: Moves | None = None) -> Board:
    """Draw a position as SVG, for notebooks, slides and papers.

    The picture needs no fonts, styles or other files, and the same position always gives the same bytes. A game
    without `cells` is drawn as its text.

    Args:
        source: A game or its name. A book, its path or a player adds the value of every move.
        position: The moves from the start ("4453"), a state, or another position that `solver query` takes. Moves also
            tell who is to move, which a state alone may not.
        moves: The values to show: the result of `Player.analyse` for the position.

    Returns:
        The text of the SVG file, which notebooks show as a picture. `save(path)` writes it.

    Raises:
        PositionError: The position is none of this game, or the moves are those of another one.
        GameError, BookError: There is no such game or book.
    """
    if isinstance(source, Player):
        return _drawn(source.rules, source, position, moves)
    with open_source(source, shipped_book=False) as opened:
        player = None if opened.book is None else Player(opened)
        return _drawn(opened.rules, player, position, moves)


def _drawn(rules: Rules, player: Player | None, position: int | str, moves: Moves | None) -> Board:
    text = position if isinstance(position, str) else f"#{as_integer(position)}"
    parsed = parse_position(rules, text)
    if moves is None and player is not None:
        moves = player.analyse(parsed.state)
    if moves is None:
        return drawn(rules, parsed)
    if moves.state != parsed.state:
        raise PositionError(f"these are the moves of state {moves.state}: {position!r} is state {parsed.state}")
    return answered(moves.rules, parsed, moves.answer, labels_of(moves.rules, parsed, moves))
