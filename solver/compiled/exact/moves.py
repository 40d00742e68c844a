"""The questions that alpha-beta asks the rules: values that need no search, and the children of a state.

The optional methods of the rules: `replies` and `outlook` (forced moves, quick ends), `followup`, `promise` (order),
`bounds`, `longest`. Single replies are played on immediately.
"""

from __future__ import annotations

from typing import Any

from solver.base import value
from solver.compiled.binding import inlined, kernel
from solver.compiled.exact.table import LIMIT, WIN
from solver.store.shared import part

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = PROMISES = REPLIES = OUTLOOK = FOLLOWUP = BOUNDS = LONGEST = False

lift = part(value.lift)
drop = part(value.drop)

FORCED = 64  # single replies that are played on at most, lest a game with cycles goes on for ever
FAR = 1 << 30  # what stands for a merit outside -WIN..WIN
SLOW = 1 << 22  # above the plies that an ended game may still take, and the plies of a path


@inlined
def key_of(state: Any) -> Any:
    """The state that stands for its symmetric ones in the table."""
    return game.canonical(state) if FOLDS else state


@inlined
def end_merit(state: Any) -> Any:
    """A terminal state's merit, or FAR."""
    utility = game.utility(state)
    if SCORES:
        return utility if -WIN <= utility <= WIN else FAR
    left = game.plies_left(state)
    return utility * (WIN - left) if -1 <= utility <= 1 and 0 <= left < SLOW else FAR


@inlined
def lifted(merit: int, sign: int, away: int) -> Any:
    """A merit as an earlier state sees it: `sign` is 1 if the same player moves there, else -1.

    away: the plies between; in a score game that player's gain on the way.
    """
    if not SCORES:
        return lift(merit, sign > 0, False, away)
    merit = sign * merit + away
    return FAR if REWARD and not -WIN <= merit <= WIN else merit


@inlined
def dropped(bound: int, sign: int, away: int) -> Any:
    """Return the bound to ask of a state, so that its lifted merit is at least `bound`."""
    if not SCORES:
        return drop(bound, True, False, away) if sign > 0 else drop(bound, False, False, away) + 1
    return bound - away if sign > 0 else away - bound + 1


@inlined
def settle(state: Any, bound: int, foreseen: Any) -> tuple[Any, Any]:
    """Return a bound on a state's merit that answers whether it is at least `bound`, without search.

    FAR if the rules fail; LIMIT if a search is needed, followed by the replies. `foreseen`: a reply led here.
    """
    if REWARD and not -WIN < bound <= WIN:
        return FAR, 0
    if not (REPLIES and OUTLOOK) and game.is_terminal(state):
        return end_merit(state), 0
    choices = 0
    if OUTLOOK:
        outlook = game.followup(state) if FOLLOWUP and foreseen else game.outlook(state)
        if outlook > 0:
            return 1 if SCORES else WIN - 1, 0
        if outlook < 0:
            return -1 if SCORES else 2 - WIN, 0
    if REPLIES:
        choices = game.replies(state)
        # A draw: wins and losses were foreseen
        if OUTLOOK and choices == 0 and game.is_terminal(state):
            return end_merit(state), 0
    # What the static look-ahead leaves open
    most = WIN if SCORES else WIN - 3 if OUTLOOK else WIN - 1
    least = -WIN if SCORES else 4 - WIN if OUTLOOK else 1 - WIN
    if bound > most:
        return most, 0
    if bound <= least:
        return least, 0
    if BOUNDS:
        lower, upper = game.bounds(state)
        # A win is worth at least the slowest
        if not SCORES:
            slowest = WIN - game.longest(state) if LONGEST else 0
            lower = slowest if lower > 0 else 0 if lower == 0 else -WIN
            upper = -slowest if upper < 0 else 0 if upper == 0 else WIN
        if lower >= bound:
            return lower if lower <= WIN else FAR, 0
        if upper < bound:
            return upper if upper >= -WIN else FAR, 0
    return LIMIT, choices


@kernel
def settle_first(state: Any, bound: int) -> Any:
    """`settle` for the state that is asked about."""
    return settle(state, bound, False)


@inlined
def sign_of(state: Any, action: Any, child: Any) -> Any:
    """1 if the same player moves again, else -1."""
    if AGAIN:
        return 1 if game.again(state, action) else -1
    if ALTERNATES:
        return -1
    return 1 if game.to_move(child) == game.to_move(state) else -1


@inlined
def gained(state: Any, action: Any) -> Any:
    """Return the plies that an action takes, or in a score game the points it scores. FAR if the rules fail."""
    if not REWARD:
        return 0 if SCORES else 1
    gain = game.reward(state, action)
    return gain if -WIN <= gain <= WIN else FAR


@inlined
def look_at(state: Any, action: Any, bound: int) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
    """The merit that an action gives a state, where its child is settled, or FAR; else LIMIT. Then what `moves` holds.

    That is the child, its replies, sign, away, and the bound asked of it. Where only one reply is left, the child is
    the state after it.
    """
    child = game.result(state, action)
    sign = sign_of(state, action, child)
    away = gained(state, action)
    if REWARD and away == FAR:
        return FAR, child, 0, sign, away, bound, 0
    asked_bound = dropped(bound, sign, away)
    merit, choices = settle(child, asked_bound, True)
    promise = game.promise(state, action) if PROMISES else 0
    if REPLIES:
        played = 1
        while merit == LIMIT and choices & choices - 1 == 0 and played < FORCED:
            reply = choices.bit_length() - 1
            after = game.result(child, reply)
            away += sign * gained(child, reply) if SCORES else 1
            sign *= sign_of(child, reply, after)
            child = after
            if REWARD and not -WIN <= away <= WIN:
                return FAR, child, 0, sign, away, bound, 0
            asked_bound = dropped(bound, sign, away)
            merit, choices = settle(child, asked_bound, True)
            played += 1
    if merit != LIMIT and merit != FAR:
        merit = lifted(merit, sign, away)
    return merit, child, choices, sign, away, asked_bound, promise
