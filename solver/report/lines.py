"""The best play from a position to the end."""

from __future__ import annotations

import contextlib
from typing import Any

from solver.base.errors import MissingState
from solver.base.value import in_plies
from solver.book import Book
from solver.play.player import Player
from solver.rules.game import Game, game_text
from solver.rules.notation import format_end, in_all, in_words, names_of, show
from solver.rules.reading import parse_position


def facts(player: Player, position: str, max_moves: int = 1000) -> dict[str, Any]:
    """Return the facts of a line: its moves, where it ends, and how.

    Raises:
        MissingState: if the position's value is not known.
        PositionError: if it is no legal position, or one that play cannot reach.
    """
    game = player.game
    parsed = parse_position(game, position)
    state = parsed.state
    value = player.value(state).value
    if value is None:
        raise MissingState(f"{position} is not known: {_remedy(player)}")
    line: list[tuple[int, int]] = []
    known = False
    with contextlib.suppress(MissingState):
        line.extend(player.line(state, max_moves))
        known = True
    states = [state, *(child for _, child in line)]
    if not known:
        value_text = in_words(player.value(states[-1]).value, player.rules)
        whose = "the book ends here" if isinstance(player.solution, Book) else "no more is known"
        ending = f"{whose}: {value_text} for the side to move; {_remedy(player)}"
    elif game.is_terminal(states[-1]):
        how = format_end(game, states[-1])
        ending = f"the game is over: {how}" if how else "the game is over"
    elif states[-1] in states[:-1]:
        ending = "the position repeats" + player.rules.kind.repeats
    else:
        ending = f"cut off after {in_plies(max_moves)}, the most that was asked for"
    return {
        "position": position,
        "state": state,
        "score": value.score,
        "distance": value.distance,
        "words": in_all(value, player.rules, parsed.gained),
        "moves": [*names_of(player.rules, state, (action for action, _ in line))],
        "end": states[-1],
        "ending": ending,
    }


def text(game: Game, line: dict[str, Any]) -> str:
    """The facts for people: where it begins, its moves, ten in a row, and where it ends."""
    moves = line["moves"]
    rows = [f"{index + 1:4}  " + " ".join(moves[index : index + 10]) for index in range(0, len(moves), 10)]
    begun, ended = show(game, line["state"]), show(game, line["end"])
    return "\n".join([f"{begun}\n\n{line['words']} for the side to move", *rows, f"\n{ended}\n\n{line['ending']}"])


def _remedy(player: Player) -> str:
    """How to know more than the player does."""
    solve = f"solver solve {game_text(player.game)} -o BOOK"
    if player.live:
        return f"more --budget than {player.seconds:g} s a move, or {solve}"
    if "live" in player.rules.kind.unfit:
        return f"{solve} knows all"
    return f"--budget SECONDS searches on, {solve} knows all"
