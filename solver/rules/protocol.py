"""The names of a game's methods and of their parameters: required ones, optional ones, and near misses."""

from __future__ import annotations

import inspect
import types

from solver.base.errors import GameError

REQUIRED = {
    "initial": (),
    "actions": ("state",),
    "result": ("state", "action"),
    "is_terminal": ("state",),
    "utility": ("state",),
}
"""Method: its parameters after `self`. The names are part of the contract: Numba matches them."""

# Optional methods, by what an edit of them changes: the fingerprints of books and of compiled code follow from it
RULES = {
    "starts": (),  # yields the states to solve from besides `initial()`
    "to_move": ("state",),  # 0 or 1; without it, and without `again`, players strictly alternate
    "again": ("state", "action"),  # whether who plays it moves again, where states do not say who is to move
    "reward": ("state", "action"),  # what who plays it scores immediately; values then are margins still to come
    "canonical": ("state",),  # one of the states equivalent by symmetry; without it no symmetry saving
    "tier": ("state",),  # an int >= 0 that never decreases along a move; without it plain retrograde analysis
    "chance": ("state",),  # yields (weight, next state) where dice or cards decide, nothing elsewhere; wants `to_move`
    "vanishing": ("state",),  # whether it is a throw before its player's choice, never stored; without it all are
    "plies_left": ("state",),  # of a terminal state: plies that its outcome still takes; 0 without it
    "endless": ("state",),  # the margin that play without end is worth from there on; 0 without it
}
"""They decide values, or which positions a book stores: the fingerprint of every book covers them."""

NUMBERS = {
    "rank": ("state",),  # a number >= 0 for each state, without large gaps; -1 for what is none: ranked books
    "unrank": ("rank",),  # the state of that rank; -1 if none has it, -n if n from it on have none; with `rank`
    "digits": (),  # yields the bits of each digit of a state, as `scan` reads them; goes with it
    "scan": ("place", "memo", "digit"),  # what to remember of the digits so far, -1 for none: numbers states
    "symmetries": (),  # yields where each point goes; with `tables` numbers positions up to symmetry
    "tables": (),  # yields (rest, mine, theirs): the bits above the pieces', and how many pieces either has, by tiers
    "size": (),  # every state is below it; then the solver may use arrays by state
}
"""They number positions: the fingerprint of a ranked book covers them."""

HINTS = {
    "parents": ("state",),  # yields all states of its tier with a move to it: cycles are solved in little memory
    "bounds": ("state",),  # (lower, upper) static bounds of the score; without it fewer cuts
    "longest": ("state",),  # the most plies that the game can still take; without it quick wins are found less quickly
    "outlook": ("state",),  # 1: wins with this move; -1: loses in 2 plies; 0: neither, and no reply loses in one
    "replies": ("state",),  # bits of actions, one of them best, where outlook is 0; without it all are searched
    "followup": ("state",),  # `outlook` where a reply led, perhaps cheaper: who moves there cannot win immediately
    "promise": ("state", "action"),  # larger is searched earlier; without it moves are searched as they come
    "evaluate": ("state",),  # estimate for the side to move, |evaluate| < |utility|; without it no heuristic play
    "features": ("state",),  # yields small ints for the side to move, as many for every state: learned evaluations
    "placed": ("draw",),  # a start for a random number below 2**62, -1 for none; without it play begins at `initial()`
}
"""They make searches quicker, or estimates and samples better. They change no value."""

OUTSIDE = {
    "show": ("state",),  # the board as text; without it `cells` are printed, or the number
    "view": ("state", "mover"),  # the board from one side, 0 or 1 to move; without it `show`, which may turn round
    "cells": ("state", "mover"),  # the board as rows of characters, for a page; without it `view` or `show`
    "from_cells": ("rows", "mover"),  # the state of such rows, or ValueError; without it pages set up by moves alone
    "place": ("state", "action"),  # the cells to choose for it, one after the other; without it moves by their names
    "layout": (),  # the characters of `cells` for pieces, and all actions, or their count from 0: learners' arrays
    "drawing": (),  # how a page draws the cells (`docs/reference/rules.md`); without it squares and discs
    "parse_position": ("text",),  # the state of a notation of the game's own, None if it is none; or ValueError
    "parse_action": ("state", "text"),  # without it the legal action whose text this is
    "format_action": ("state", "action"),  # the game's own notation; without it the cells of `place`, or the number
    "format_end": ("state",),  # how a finished game ended: "checkmate"; "" for what goes without saying
    "check": (),  # raises ValueError if the parameters make no game
    "to_text": (),  # with a classmethod from_text(text): parameters in a form of the game's own
}
"""Text, boards and parameters: they never compile, and no fingerprint covers them."""

# A value of that type may stand in the place of these methods
VALUES = {"layout": tuple, "drawing": dict}

OPTIONAL = {**RULES, **NUMBERS, **HINTS, **OUTSIDE}

# Class attributes: `score_game = True` says that utilities are margins and distances mean nothing, `impartial = True`
# that both move alike and the last mover wins, `everywhere = True` that all positions of `tables` are starts; `bits`,
# which may be a method, too, is how wide states are (`width`).
ATTRIBUTES = ("score_game", "plain_only", "bits", "impartial", "everywhere")


def check_signatures(cls: type) -> None:
    """Raise GameError unless the class is a NamedTuple with the protocol's methods and parameter names."""
    if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        raise GameError(
            f"{cls.__name__} must be a typing.NamedTuple of its parameters: class {cls.__name__}(NamedTuple)"
        )
    for name, expected in {**REQUIRED, **OPTIONAL}.items():
        method = getattr(cls, name, None)
        if method is None and name in REQUIRED:
            raise lacking(cls, name)
        if method is None or name in cls._fields or (name in VALUES and not callable(method)):
            continue
        if not callable(method):
            raise GameError(f"{cls.__name__}.{name} is {method!r}: make it a method, or give it another name")
        parameters = tuple(inspect.signature(method).parameters)[1:]
        if parameters != expected:
            raise GameError(
                f"{cls.__name__}.{name} takes ({', '.join(parameters)}): name its parameters ({', '.join(expected)})"
            )


def lacking(cls: type, name: str) -> GameError:
    """The error of a class without a required method."""
    meant = [member for member, meant_name in near_misses(cls).items() if meant_name == name]
    remedy = f"rename {meant[0]}" if meant else "add it"
    return GameError(f"{cls.__name__} has no method {name}({', '.join(('self', *REQUIRED.get(name, ())))}): {remedy}")


def near_misses(cls: type) -> dict[str, str | None]:
    """Return public methods of a class, and near misses of the protocol's names, that nothing uses.

    Returns:
        For each name the one of the protocol that was probably meant, None for a method that resembles none.
    """
    import difflib

    from solver.rules.sources import inner, names_in

    members = {name: member for base in cls.__mro__[-2::-1] if base is not tuple for name, member in vars(base).items()}
    codes = [inner(member).__code__ for member in members.values() if isinstance(inner(member), types.FunctionType)]
    known = [*REQUIRED, *OPTIONAL, *ATTRIBUTES]
    used = {"from_text", *known, *getattr(cls, "_fields", ()), *(name for code in codes for name in names_in(code))}
    strange = [name for name in members if not name.startswith("_") and name not in used]
    missing = [name for name in known if name not in members]
    meant = {name: next(iter(difflib.get_close_matches(name, missing, 1, 0.8)), None) for name in strange}
    is_own = not cls.__module__.startswith("solver.")
    return {
        name: meant[name]
        for name in strange
        if meant[name] or (is_own and isinstance(inner(members[name]), types.FunctionType))
    }
