"""Games between players, many at once: all of them make their next move together, from openings by random play."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.learning.moves import Board, Children, States, Worths, first_moves
from solver.rules.game import Rules

MOST_PLIES = 2000  # of a game, which is drawn then
FEWEST_PLIES = 2  # of an opening
MOST_OPENING = 40
FORFEIT = -1  # in place of a move
WALKS = 8  # random openings that are tried for each that is wanted
Numbers = NDArray[np.int64]


class Turn(NamedTuple):
    """The states (n,) in which a player is to move, their moves, the numbers of the games, and the ply.

    `movers` are the places of the player among all, where one chooser plays for several. `lines` are the actions from
    the start of the game, each game's, where games are recorded.
    """

    states: States
    children: Children
    games: Numbers
    movers: Numbers
    ply: int
    lines: Sequence[Sequence[int]] = ()

    @property
    def begins(self) -> Numbers:
        """Where the moves of each state begin among the children: (n,)."""
        return first_moves(self.children.parents, len(self.states))[:-1]


class Chooser(Protocol):
    """Who plays: `choose(turn)` gives for each state the place of the chosen move among the children, (n,) int64.

    FORFEIT in its place ends the game, lost by rule: in a score game by one.
    """

    def choose(self, turn: Turn) -> Numbers: ...


class Opening(NamedTuple):
    """A state, and the actions that lead there from the start."""

    state: int
    actions: tuple[int, ...]


class Played(NamedTuple):
    """The results of some games.

    Attributes:
        scores: (n,) float64, for the player who moved first from the opening. Margins in a score game.
        actions: Each game's actions from the start, if they were recorded.
    """

    scores: Worths
    actions: list[list[int]]


def openings(rules: Rules, number: int, plies: int | None = None, seed: int = 0) -> list[Opening]:
    """So many unfinished states, distinct up to symmetry, by random moves; fewer where the game has no more.

    With `plies` moves each, or as few as give enough of them. Raises MethodError where there are none.
    """
    draw = random.Random(seed)
    best: list[Opening] = []
    for count in (plies,) if plies is not None else range(FEWEST_PLIES, MOST_OPENING):
        found: dict[int, Opening] = {}
        for _ in range(WALKS * number):
            opening = _walk(rules, count, draw)
            if opening is not None:
                found.setdefault(rules.canonical(opening.state), opening)
            if len(found) == number:
                return list(found.values())
        if len(found) > len(best):
            best = list(found.values())
        if not found:
            break
    if not best:
        raise MethodError(f"{rules.name} is over within {plies or FEWEST_PLIES} plies: take shorter openings, --plies")
    return best


def _walk(rules: Rules, plies: int, draw: random.Random) -> Opening | None:
    state, played = rules.game.initial(), []
    for _ in range(plies):
        if rules.is_terminal(state):
            return None
        action = draw.choice(list(rules.actions(state)))
        state = rules.result(state, action)
        played.append(action)
    return None if rules.is_terminal(state) else Opening(state, tuple(played))


def play(
    board: Board,
    starts: States,
    seats: Numbers,
    players: Sequence[Chooser],
    *,
    lines: Sequence[Sequence[int]] | None = None,
    progress: Progress = silent,
) -> Played:
    """Play a game from each of the unfinished states `starts` (n,); to record them, `lines` that lead there.

    `seats` (n, 2) int64 are places among the players: who is to move at the start, and the other. A chooser that is
    there several times is asked once a ply.
    """
    asked = np.array([next(i for i, one in enumerate(players) if one is player) for player in players])
    states, live = starts.copy(), np.arange(len(starts))
    seat = np.zeros(len(starts), np.int64)
    scores = np.zeros(len(starts))
    actions = [list(line) for line in lines or ()]
    for ply in range(MOST_PLIES):
        if not len(live):
            break
        movers = seats[live, seat[live]]
        for player in np.unique(asked[movers]).tolist():
            own = asked[movers] == player
            games = live[own]
            so_far = [actions[game] for game in games.tolist()] if actions else ()
            turn = Turn(states[games], board.children(states[games]), games, movers[own], ply, so_far)
            chosen = players[player].choose(turn)
            if actions:
                _record(board.rules, turn, chosen, actions)
            _move(turn, chosen, states, seat, scores)
        live = live[states[live] >= 0]
        progress("playing", len(starts) - len(live), len(starts))
    return Played(scores, actions)


def both_colours(
    board: Board, starts: States, players: tuple[Chooser, Chooser], **options: Any
) -> tuple[list[tuple[float, float]], Played]:
    """Play two games from each start, in the second of which the second player begins.

    Returns:
        The two scores of each start for the first player, and the games. `options` are those of `play`.
    """
    seats = np.tile([[0, 1], [1, 0]], (len(starts), 1))
    played = play(board, np.repeat(starts, 2), seats, players, **options)
    scores = played.scores.reshape(-1, 2) * [1, -1]
    return [(one, other) for one, other in scores.tolist()], played


def _move(turn: Turn, chosen: Numbers, states: States, seat: Numbers, scores: Worths) -> None:
    """Make the chosen moves; the states of finished games become -1."""
    games, lost = turn.games, chosen == FORFEIT
    if lost.any():
        scores[games[lost]] = np.where(seat[games[lost]] == 0, -1, 1)
        states[games[lost]] = -1
        games, chosen = games[~lost], chosen[~lost]
    children = turn.children
    ended = children.ended[chosen]
    gain = np.where(ended, children.worths[chosen], children.rewards[chosen])
    scores[games] += np.where(seat[games] == 0, gain, -gain)
    seat[games] ^= ~children.same[chosen]
    states[games] = np.where(ended, -1, children.states[chosen])


def _record(rules: Rules, turn: Turn, chosen: Numbers, actions: list[list[int]]) -> None:
    places = (chosen - turn.begins).tolist()
    for game, state, place in zip(turn.games.tolist(), turn.states.tolist(), places, strict=True):
        if place >= 0:
            actions[game].append(list(rules.actions(state))[place])
