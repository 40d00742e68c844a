"""Positions, moves, boards and values as text, with the defaults for games that bring none of their own.

`rules.reading` reads positions.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from solver.base.errors import GameError, PositionError, excerpt
from solver.base.value import Value
from solver.rules.game import GameOrName, Rules, at_hand, own_method, own_value

SEPARATORS = str.maketrans("", "", " \t-:")


class Position(NamedTuple):
    """A state and how it came about.

    `ply` counts the moves from the start, None if only the state is known. `mover` is the side to move, 0 or 1, None
    where neither moves nor the state tell. `gained` is the score of that side's moves less the other's, None
    where no moves are known or the game has no `reward`.
    """

    state: int
    ply: int | None
    mover: int | None = None
    gained: int | None = None


def first_position(rules: Rules, state: int | None = None) -> Position:
    """The start of the game, or a state of which no more is known."""
    ply, gained = (None, None) if state is not None else (0, None if rules.reward is None else 0)
    state = rules.game.initial() if state is None else state
    mover = rules.to_move(state) if rules.to_move is not None else None if ply is None else 0
    return Position(state, ply, mover, gained)


def next_position(rules: Rules, position: Position, action: int) -> Position:
    """The position after a legal action, or the outcome of that number, from 0 on, where chance decides."""
    state, ply, mover, gained = position
    decides = [] if rules.chance is None else list(rules.chance(state))
    child = decides[action][1] if decides else rules.result(state, action)
    same = not rules.alternates and rules.same_mover(state, action, child)
    if mover is not None and not same:
        mover = 1 - mover
    if gained is not None:
        gained += 0 if decides else rules.gain(state, action)
        gained = gained if same else 0 - gained
    return Position(child, None if ply is None else ply + 1, mover, gained)


def chances(game: Any, state: int) -> list[tuple[int, int]]:
    """List the outcomes of chance at an unfinished state, (weight, next state) each. Empty if a player decides."""
    chance = own_method(game, "chance")
    return list(chance(state)) if chance else []


def faces(game: Any, outcomes: int) -> list[str]:
    """The faces of dice or coins at each of so many outcomes of chance, if the rules' `drawing` tells: `6-5`."""
    dice = (own_value(game, "drawing") or {}).get("dice", [])
    return ["-".join(map(str, throw)) for throw in dice] if len(dice) == outcomes else []


def format_action(game: GameOrName, state: int, action: int) -> str:
    """Return an action in the game's own notation, else by the cells to choose or by its number, as `namer` does.

    An outcome of chance has its number from 1 on.

    Args:
        game: A game or its name.
        state: Where the action is played.
        action: The action, as the game numbers it.
    """
    found: Any = at_hand(game)
    return str(action + 1) if chances(found, state) else namer(found)(state, action)


@functools.lru_cache(maxsize=16, typed=True)  # games of equal parameters are equal
def namer(game: Any) -> Callable[[int, int], str]:
    """Return what names the actions of a state: the rules' own notation, else the cells to choose, else the number.

    Where two moves choose the same cells, or cells beside the board, the moves of that state go by their numbers.
    """
    own_format, place = own_method(game, "format_action"), own_method(game, "place")
    if own_format is not None:
        return lambda state, action: str(own_format(state, action))
    from solver.rules.boards.text import cell_names

    names = [] if place is None else cell_names(game)

    @functools.lru_cache(maxsize=1 << 9)
    def names_at(state: int) -> dict[int, str]:
        cells = {action: tuple(place(state, action)) for action in game.actions(state)}
        is_clear = len({*cells.values()}) == len(cells) and {*itertools.chain(*cells.values())} <= {*range(len(names))}
        return {action: "".join([names[cell] for cell in cells[action]]) or "pass" for action in cells if is_clear}

    return lambda state, action: names_at(state).get(action, str(action)) if names else str(action)


def format_end(game: Any, state: int) -> str:
    """How a finished game ended, as the rules say it: "checkmate"; nothing where they do not."""
    own_format = own_method(game, "format_end")
    return "" if own_format is None else str(own_format(state))


def names_of(rules: Rules, state: int, actions: Iterable[int]) -> Iterator[str]:
    """Yield the names of actions, or numbers of outcomes, that are played one after another from a state."""
    for action in actions:
        yield format_action(rules.game, state, action)
        state = next_position(rules, Position(state, None), action).state


def parse_action(game: GameOrName | Rules, state: int, text: str) -> int:
    """Return the legal action that a text names, of an outcome of chance its number or its dice, `6-5`.

    Args:
        game: A game or its name.
        state: Where the action is played.
        text: Its name.

    Raises:
        PositionError: No action is meant, or more than one. The message lists the legal ones.
    """
    rules = Rules.of(game)
    legal = legal_actions(rules, state)
    action = legal.get(text.strip())
    if action is not None:
        return action
    # Dice or the game's own way, then a like name
    outcomes, meant = len(chances(rules.game, state)), list[int | None]()
    if outcomes and "-" in text:
        shown = {tuple(sorted(face.split("-"))): number for number, face in enumerate(faces(rules.game, outcomes))}
        meant.append(shown.get(tuple(sorted(text.strip().split("-")))))
    parse = own_method(rules.game, "parse_action")
    if parse is not None and not outcomes:
        with contextlib.suppress(ValueError, KeyError, IndexError):
            meant.append(parse(state, text))
    like = [action for name, action in legal.items() if _bare(name) == _bare(text)]
    meant += like if len(like) == 1 else []
    action = next((action for action in meant if action in legal.values()), None)
    if action is None:
        choices = f"choose one of {', '.join([*legal][:40])}{', ...' if len(legal) > 40 else ''}"
        raise PositionError(f"{excerpt(text, 60)} is not a legal move here: {choices if legal else 'the game is over'}")
    return action


def _bare(text: str) -> str:
    """Return a move in lower case and without separators: spaces, hyphens and colons. `-3` keeps its sign."""
    text = text.strip().casefold()
    return text[:1] + text[1:].translate(SEPARATORS)


def show(game: GameOrName, state: int, mover: int | None = None) -> str:
    """Return the board as text, or the state's number.

    Args:
        game: A game or its name.
        state: The state to show.
        mover: The side to move, 0 or 1. Then the board is always seen from the same side.

    Raises:
        PositionError: The rules cannot show this number.
        GameError: Their `cells`, `drawing` or `layout` make no board.
    """
    game = at_hand(game)
    try:
        view, own = own_method(game, "view"), own_method(game, "show")
        if mover is not None and view:
            return str(view(state, mover))
        if own:
            return str(own(state))
        if own_method(game, "cells"):
            from solver.rules.boards.text import printed

            return printed(game, state, mover)
        return f"#{state}"
    except GameError:
        raise
    except Exception as error:
        # Rules need not bear numbers that are not states
        raise PositionError(f"#{state} cannot be shown as a state of this game: {type(error).__name__}") from None


def board_of(game: Any, state: int, mover: int) -> list[str] | str:
    """Return rows of one character a cell if the rules say how cells are drawn, else text.

    Raises:
        GameError: The rows are empty or differ in length.
    """
    from solver.rules.boards.text import is_drawn, rows_at

    return rows_at(game, state, mover) if is_drawn(game) else show(game, state, mover)


def legal_actions(rules: Rules, state: int) -> dict[str, int]:
    """The actions of a state by their names; none where the game is over."""
    if rules.is_terminal(state):
        return {}
    if outcomes := chances(rules.game, state):
        return {str(number + 1): number for number in range(len(outcomes))}
    name = namer(rules.game)
    return {name(state, action): action for action in rules.actions(state)}


def in_words(value: Value | None, rules: Rules, estimate: float | None = None) -> str:
    """Say a value for the side to move: win in 5, +3, draw. Say the estimate if the value is not known."""
    if value is None:
        return "unknown" if estimate is None else rules.kind.impression(estimate)
    return rules.kind.words(value)


def in_all(value: Value | None, rules: Rules, gained: int | None, estimate: float | None = None) -> str:
    """`in_words` of a position: where moves score, the score still to come, and the score `gained` before, if any."""
    words = in_words(value, rules, estimate)
    if rules.reward is None:
        return words
    if not gained:
        return f"{words} still to come"
    both = f"margin so far {gained:+d}, still to come {words}"
    return both if value is None else f"{rules.kind.words(Value(gained + value.score))}: {both}"


def in_full(
    rules: Rules,
    mover: int | None,
    gained: int | None,
    value: Value | None,
    estimate: float | None = None,
    *,
    over: bool = False,
) -> str:
    """A position's value as a sentence that says whose it is: draw for the side to move."""
    # No board can tell
    side = "the side to move" if rules.again is None or mover is None else f"player {mover + 1}"
    if over:
        result = in_words(value, rules)
        if rules.reward is not None:
            # The margin that moves made, if they are known
            result = (
                "margin not known" if gained is None or value is None else rules.kind.words(Value(gained + value.score))
            )
        return f"the game is over: {result}{f' for {side}' if rules.again is not None else ''}"
    return f"{in_all(value, rules, gained, estimate)} for {side}"


def summary_of(game: Any) -> str:
    """The first sentence of a game's docstring, with numbers in place of the parameters that it names in backticks.

    A clause behind a parameter's name, "wins (misere: loses)" or "; rim: also", is kept where the parameter is true.
    """
    paragraph = " ".join((inspect.getdoc(type(game)) or "").partition("\n\n")[0].split())
    text = re.split(r"(?<=[.!?]) ", paragraph)[0]
    for name, value in zip(game._fields, game, strict=True):
        if isinstance(value, bool):
            text = re.sub(rf"(\w+) \({name}: ([^)]*)\)", r"\2" if value else r"\1", text)
            text = re.sub(rf"; {name}: ([^;.]*)", r"; \1" if value else "", text)
        elif isinstance(value, int):
            text = text.replace(f"`{name}`", str(value))
    return text.replace("`", "")
