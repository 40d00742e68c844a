"""The moves of many states at once, the value of each one ply ahead, and games between players.

In `play` many games make their next move together, from openings by random play.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError, UncompiledRules
from solver.base.progress import Progress, silent
from solver.base.value import WIN
from solver.book import Book
from solver.book.streaming import pieces
from solver.compiled.binding import bind, compiling
from solver.compiled.edges import NOT_TERMINAL, CompiledMoves
from solver.compiled.lookahead import depth as kernels
from solver.compiled.lookahead.evaluation import Evaluation, estimates
from solver.compiled.states import more_of, packed, unpacked
from solver.play.lookahead import features_of
from solver.rules.game import Rules

STATES_PER_CALL = 1 << 17  # states of a book whose moves are listed at a time
SOLVE_IT = "solve it and play from its book"  # what to do with games of chance
COMPARED = 64  # states whose compiled features are held against the plain ones
States = NDArray[Any]  # int64; of a game whose states are wide Python's ints
Worths = NDArray[np.float64]
MOST_PLIES = 2000  # of a game, which is drawn then
FEWEST_PLIES = 2  # of an opening
MOST_OPENING = 40
FORFEIT = -1  # in place of a move
WALKS = 8  # random openings that are tried for each that is wanted
Numbers = NDArray[np.int64]
Guess = Callable[[States], Worths]
"""What unfinished states (n,) are thought to be worth for the side to move: from -1 to 1, in a score game margins."""


class Children(NamedTuple):
    """The moves of some states, state by state, each state's in the order of its actions; arrays (moves,).

    `parents` are places among the states; `states` the child of each move; `ended` whether that is finished, and
    `worths` then the value of the move, 1 for an immediate win, in a score game the margin. `same` says whether the
    player moves again, `rewards` the score of the move.
    """

    parents: NDArray[np.int64]
    states: States
    ended: NDArray[np.bool_]
    worths: Worths
    same: NDArray[np.bool_]
    rewards: Worths


class Board:
    """The compiled rules of a game as learning needs them; `symmetry` folds the children that `children` lists."""

    def __init__(self, rules: Rules, symmetry: bool = False) -> None:
        self.rules = rules
        self.unit: float = 1.0 if rules.scores else float(WIN)
        self._moves = CompiledMoves(Rules(rules.game, symmetry), tiers=False)
        self._own = bind(kernels, rules.game)
        self._more = more_of(rules.bits)
        # The dtype of arrays of states
        self.dtype: Any = np.dtype(object if self._more else np.int64)
        self.features: int = len(features_of(rules, rules.game.initial()))

    def _packed(self, states: States) -> NDArray[np.int64]:
        """States as compiled code takes them."""
        return packed(states.tolist(), self._more) if self._more else states

    def tabulate(self, states: States) -> NDArray[np.int16]:
        """The features of unfinished states, (n, features). Raises UncompiledRules where Python yields others."""
        table = np.zeros((len(states), self.features), np.int16)
        with compiling(self.rules.game):
            whole = self._own.tabulate(self._packed(states), table)
        if not whole:
            raise UncompiledRules(f"{self.rules.name}: features are not as many for every state: run `solver check`")
        return table

    def compare(self, states: States) -> None:
        """Raise UncompiledRules if compiled features of the first few of the states are others than plain ones."""
        rules, some = Rules(self.rules.game), states[:COMPARED]
        for state, row in zip(some.tolist(), self.tabulate(some).tolist(), strict=True):
            if features_of(rules, state) != row:
                raise UncompiledRules(
                    f"{self.rules.name}: features({state}) differ where compiled: see docs/reference/rules.md"
                )

    def tiers(self, states: States) -> States:
        """The tier of each state."""
        tiers = np.zeros(len(states), np.int64)
        with compiling(self.rules.game):
            self._own.list_tiers(self._packed(states), tiers)
        return tiers

    def guesses(self, states: States) -> Worths:
        """The rules' own `evaluate` of each, 0 without it."""
        found = np.zeros(len(states))
        with compiling(self.rules.game):
            self._own.guess(self._packed(states), found)
        return found

    def children(self, states: States) -> Children:
        """The moves of unfinished states."""
        with compiling(self.rules.game):
            keys, _, owners, merits, rewards, _ = self._moves.listed(self._packed(states))
        keys = np.array(unpacked(keys), object) if self._more else keys
        ended, same = merits != NOT_TERMINAL, owners & 1 == 1
        worths = np.where(ended, merits / self.unit, 0.0).astype(np.float64)
        return Children(owners >> 1, keys, ended, worths, same, rewards.astype(np.float64))

    def worths(self, children: Children, guess: Guess) -> Worths:
        """The value of each move to its player: its end, or the `guess` at its child."""
        worths = children.worths.copy()
        left = ~children.ended
        guessed = guess(children.states[left])
        worths[left] = np.where(children.same[left], guessed, -guessed) + children.rewards[left]
        return worths


def valued(board: Board, book: Book, states: States) -> tuple[Children, Worths, Numbers]:
    """The moves of states in a complete book, with their values for who moves.

    Args:
        board: The game, folded as the book is.
        book: A book without gaps that leaves no state out.
        states: (n,) states of the book.

    Returns:
        The moves; their scores, points that they gain included; and their distances in plies, -1 where there is none.

    Raises:
        UncompiledRules: The rules do not compile.
        MissingState: The book lacks a child.
    """
    children = board.children(states)
    scores, distances = children.worths, np.full(len(children.worths), -1)
    if not board.rules.scores:
        # Exact: a worth is a merit over a power of two
        distances = np.where(scores != 0, WIN - np.abs(scores * WIN).astype(np.int64), -1)
        scores = np.sign(scores)
    left = ~children.ended
    found = book.lookup(children.states[left])
    known = np.sign(found.scores) if book.header.kind.signed else found.scores
    scores[left] = np.where(children.same[left], known, -known) + children.rewards[left]
    distances[left] = found.distances + (found.distances >= 0)
    return children, scores, distances


def graph(rules: Rules, book: Book, progress: Progress = silent) -> tuple[States, Sequence[NDArray[Any]]]:
    """All moves of a complete book that leaves no state out.

    Returns:
        The states (n,), ascending. Where the moves of each begin (n + 1,). Of each move: the place of its child, -1 if
        it ends the game; score and distance, as of `valued`; whether the player moves again; the points that it gains.

    Raises:
        UncompiledRules, MissingState: As `valued`.
    """
    states = np.concatenate([np.array(some, np.int64) for some, _ in pieces(book, progress)])
    board, parts = Board(rules, rules.symmetry), []
    for begin in range(0, len(states), STATES_PER_CALL):
        some = states[begin : begin + STATES_PER_CALL]
        children, scores, distances = valued(board, book, some)
        places = np.where(children.ended, -1, np.searchsorted(states, children.states))
        parts.append((begin + children.parents, places, scores, distances, children.same, children.rewards))
        progress("moves", begin + len(some), len(states))
    parents, *columns = map(np.concatenate, zip(*parts, strict=True))
    return states, (first_moves(parents, len(states)), *columns)


def single_moves(rules: Rules, book: Book, states: Sequence[int], look: int, progress: Progress) -> Iterator[Any]:
    """Yield those of some states of a book, that leaves none out, in which one of several moves alone keeps the value.

    For each the state, the distance of that move, and how many others do not lose within `look` plies. Raises
    UncompiledRules before the first.
    """
    board = Board(rules, rules.symmetry)
    for begin in range(0, len(states), STATES_PER_CALL):
        some = np.array(states[begin : begin + STATES_PER_CALL], board.dtype)
        children, scores, distances = valued(board, book, some)
        parents, begins = children.parents, first_moves(children.parents, len(some))
        best = scores == np.maximum.reduceat(scores, begins[:-1])[parents]
        tempting = np.bincount(parents, ~best & ((scores >= 0) | (distances < 0) | (distances > look)))
        single = (np.bincount(parents, best) == 1) & (np.diff(begins) > 1)
        steps = np.flatnonzero(best & single[parents])
        progress("rank", begin + len(some), len(states))
        columns = some[single], distances[steps], tempting[single].astype(int)
        yield from zip(*(column.tolist() for column in columns), strict=True)


def first_moves(parents: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """Where each state's moves begin, and the end: (states + 1,)."""
    return np.searchsorted(parents, np.arange(states + 1))


def best_moves(parents: NDArray[np.int64], worths: Worths, states: int) -> NDArray[np.int64]:
    """The place of each state's best move, the first of equals: (states,)."""
    begins = first_moves(parents, states)[:-1]
    best = np.maximum.reduceat(worths, begins)
    places = np.where(worths == best[parents], np.arange(len(worths)), len(worths))
    return np.minimum.reduceat(places, begins)


def guess_of(board: Board, evaluation: Evaluation) -> Guess:
    """The guess that a learned evaluation makes."""

    def guess(states: States) -> Worths:
        return estimates(evaluation, board.tabulate(states)).astype(np.float32).astype(np.float64) * evaluation.scale

    return guess


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
            state, played = rules.game.initial(), list[int]()
            while len(played) < count and not rules.is_terminal(state):
                played.append(draw.choice(list(rules.actions(state))))
                state = rules.result(state, played[-1])
            if not rules.is_terminal(state):
                found.setdefault(rules.canonical(state), Opening(state, tuple(played)))
            if len(found) == number:
                return list(found.values())
        if len(found) > len(best):
            best = list(found.values())
        if not found:
            break
    if not best:
        raise MethodError(f"{rules.name} is over within {plies or FEWEST_PLIES} plies: take shorter openings, --plies")
    return best


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
                places = (chosen - turn.begins).tolist()
                for game, state, place in zip(games.tolist(), turn.states.tolist(), places, strict=True):
                    actions[game] += [list(board.rules.actions(state))[place]] if place >= 0 else []
            # The states of finished games become -1
            lost = chosen == FORFEIT
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
