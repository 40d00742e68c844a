"""Measure a solved game: who wins between players of several strengths, and how long and how varied play is.

Each pair of players defines probabilities of moves, so play from the start is a distribution over positions. `profile`
moves this distribution on, ply by ply, until all games are over. The results are exact where play must end. With
cycles, play stops when the share of games under way is below ERROR or after MAX_PLIES plies; these games count as
draws, and `error` says how many they are.

Players: `perfect` chooses uniformly among the best moves, `random` among all. `sees k` plays a win within k plies,
avoids a loss within k plies, and is otherwise random; where moves score it takes the most points within k plies.

A game that is too large to solve is simulated instead: the players, but for the perfect one, look ahead by the rules
alone. Results come with the half width of their 95 % confidence interval. The same call plays the same games.
"""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book, Source
from solver.play.analysis import Move
from solver.play.player import Player
from solver.rules.game import GameOrName, Rules, game_text
from solver.rules.notation import format_action

PLAYERS = {"perfect": -1, "random": 0, "sees 1": 1, "sees 2": 2, "sees 3": 3}  # and the plies that they see

MAX_PLIES = 1000  # of a game, which then counts as a draw


class Outcomes(NamedTuple):
    """The games of a pair of players.

    Attributes:
        first: The name of the first player.
        second: The name of the second player.
        mean: Mean result of the first player: from -1 to 1, or a margin.
        wins: Share of games that the first player wins.
        draws: Share of drawn games.
        losses: Share of games that the second player wins.
        length: Mean number of plies.
        lengths: Share of games of 0, 1, 2, ... plies.
        lead_changes: Mean number of times that the value of the position changes its sign, or to and from 0. None in a
            simulation, which knows no values.
        error: Share of games that were still under way, and count as draws.
        interval: Half width of the 95 % confidence interval of `mean`. None if the results are computed.
    """

    first: str
    second: str
    mean: float
    wins: float
    draws: float
    losses: float
    length: float
    lengths: list[float]
    lead_changes: float | None
    error: float
    interval: float | None = None


class Ply(NamedTuple):
    """The positions of a ply that random play comes to, each weighted by how often.

    Attributes:
        ply: The ply, from 0.
        share: Share of games that come so far.
        moves: Mean number of moves.
        one_good: Share of positions in which one move alone keeps the value, among those with a choice. None in a
            simulation.
    """

    ply: int
    share: float
    moves: float
    one_good: float | None


class Profile(NamedTuple):
    """A game in numbers.

    Attributes:
        game: Its name.
        value: Value of the start, for the first player. None if it is not known.
        states: Positions, symmetric ones counted once. None in a simulation, and of a trimmed book.
        matrix: The games of each pair of players.
        plies: Play by ply.
        first_moves: Each first move with its value, None if it is not known, and its expected result between players
            that see 2 plies.
        games: Games that were simulated for each pair of players. None if the results are computed.
    """

    game: str
    value: Value | None
    states: int | None
    matrix: list[Outcomes]
    plies: list[Ply]
    first_moves: list[tuple[str, Value | None, float]]
    games: int | None = None

    @property
    def players(self) -> list[str]:
        """The names of the players."""
        return list(dict.fromkeys(outcomes.first for outcomes in self.matrix))

    def of(self, first: str, second: str) -> Outcomes:
        """Return the games of a pair of players."""
        return next(outcomes for outcomes in self.matrix if (outcomes.first, outcomes.second) == (first, second))


def profile(
    source: Source, game: GameOrName | None = None, *, games: int | None = None, progress: Progress = silent
) -> Profile:
    """Measure a game by its complete book, or by simulation.

    Args:
        source: A complete book, its path, or a game whose book comes with the package. To simulate, any game.
        game: The rules, if the book is of your own game.
        games: Games to simulate for each pair of players, for a game without a complete book.
        progress: Called after each pair of players.

    Raises:
        MethodError: The book is not complete, or chance decides in the game, or it has no moves.
    """
    if games is not None:
        return _simulated(Player(source, game), games, progress)
    player = Player(source, game, live=False)
    rules, book = player.rules, player.solution
    refuse_chance(rules)
    if not isinstance(book, Book) or not book.header.is_gapless or book.header.estimate is not None:
        raise MethodError(
            f"{rules.name}: a profile needs a complete book: solver solve {rules.name} -o BOOK, name that; or simulate:"
            " --games 200"
        )
    if rules.is_terminal(rules.first()):
        raise MethodError(f"{rules.name} is over at the start, with no moves to measure: choose other parameters")
    extras.require_kernels("a profile takes arrays, and ")
    from solver.profiling.exact import Games, Run

    exact, start = Games(player, book, progress), player.game.initial()
    runs: dict[Run, tuple[str, str]] = {
        (PLAYERS[first], PLAYERS[second], exact.start, 0): (first, second) for first in PLAYERS for second in PLAYERS
    }
    # The positions after the first moves, None after one that ends the game
    after: list[tuple[Move, Run | None]] = []
    for move in player.analyse(start):
        same, gain = rules.same_mover(start, move.action, move.child), rules.gain(start, move.action)
        key, points = rules.canonical(move.child), float(gain if same else -gain)
        after.append((move, None if rules.is_terminal(key) else (2, 2, exact.place(key, points), int(not same))))
    todo, played = list(dict.fromkeys([*runs, *(run for _, run in after if run is not None)])), {}
    with Workers() as team:
        for run, result in zip(todo, team.map(exact.play, todo), strict=True):
            played[run] = result
            progress("profile", len(played) * len(book), len(todo) * len(book))
    matrix = [_outcomes(*names, *played[run]) for run, names in runs.items()]
    rated = list[tuple[str, Value | None, float]]()
    for move, following in after:
        assert move.value is not None
        expected = float(move.value.score) if following is None else float(played[following][0][:, 1].sum())
        rated.append((format_action(player.game, start, move.action), move.value, expected))
    return Profile(
        game_text(player.game),
        player.value(start).value,
        book.states or (len(book) if book.header.trim is None else None),
        matrix,
        [
            Ply(ply, share, moves / share, one_good / choice if choice else 0.0)
            for ply, (share, moves, choice, one_good) in enumerate(played[0, 0, exact.start, 0][0][:, 5:].tolist())
        ],
        rated,
    )


def _outcomes(first: str, second: str, rows: Any, left: float) -> Outcomes:
    """The games of two players, by the rows that `Games.play` returns."""
    ends, mean, wins, losses, changes = rows.sum(axis=0)[:5].tolist()
    lengths = [0.0, *rows[:, 0].tolist()]
    length = sum(ply * share for ply, share in enumerate(lengths)) + left * len(rows)
    draws = ends - wins - losses + left
    return Outcomes(first, second, mean, wins, draws, losses, length, lengths, changes, left)


def _simulated(player: Player, games: int, progress: Progress) -> Profile:
    """Play games between players that look ahead, and count."""
    rules, start = player.rules, player.game.initial()
    refuse_chance(rules)
    if games < 1:
        raise MethodError(f"{games} games tell nothing: simulate one or more")
    simulation = Simulation(rules, games)
    players = [name for name in PLAYERS if name != "perfect"]
    matrix, branching = [], list[Ply]()
    for index, (first, second) in enumerate((first, second) for first in players for second in players):
        played = simulation.play(start, 0, 0.0, (first, second))
        plies = [len(moves) for moves in played.moves]
        signs = [(result > 0) - (result < 0) for result in played.results]
        counts = Counter(plies)
        lengths = [counts[length] / games for length in range(max(plies) + 1)]
        wins, draws, losses = (signs.count(sign) / games for sign in (1, 0, -1))
        length, error = sum(plies) / games, played.unfinished / games
        matrix.append(
            Outcomes(first, second, played.mean, wins, draws, losses, length, lengths, None, error, played.interval)
        )
        if first == second == "random":
            for ply in range(max(plies)):
                choices = [moves[ply] for moves in played.moves if len(moves) > ply]
                branching.append(Ply(ply, len(choices) / games, sum(choices) / len(choices), None))
        progress("profile", index + 1, len(players) ** 2)
    answer, moves = player.examine(start)
    rated = []
    for move in moves:
        child = rules.result(start, move.action)
        mover = 0 if rules.same_mover(start, move.action, child) else 1
        expected = simulation.play(child, mover, float(rules.gain(start, move.action)), ("sees 2", "sees 2")).mean
        rated.append((format_action(player.game, start, move.action), move.value, expected))
    return Profile(game_text(player.game), answer.value, None, matrix, branching, rated, games)


def refuse_chance(rules: Rules) -> None:
    """Raise MethodError for a game of chance."""
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, which has no profile: players see moves, not dice")


MAX_STATES = 1 << 18  # states whose looks are remembered
LEVEL = 1.96  # standard deviations of the mean on each side: 95 % of a normal distribution


class Simulated(NamedTuple):
    """Games of a pair of players.

    Attributes:
        results: The result of each game for the first player: 1, 0, -1, or a margin.
        moves: The number of moves at each ply of each game.
        unfinished: How many games were stopped.
    """

    results: list[float]
    moves: list[list[int]]
    unfinished: int

    @property
    def mean(self) -> float:
        """Mean result of the first player."""
        return sum(self.results) / len(self.results)

    @property
    def interval(self) -> float:
        """Half width of the confidence interval of the mean.

        A sample without any spread still leaves the chance of 3 in n that was not seen (the rule of three).
        """
        games, mean = len(self.results), self.mean
        variance = sum((result - mean) ** 2 for result in self.results) / max(1, games - 1)
        return LEVEL * math.sqrt(variance / games) if variance else 3 / games


class Simulation:
    """Players that look ahead by the rules, and the games between them.

    Args:
        rules: The rules of a game without chance.
        games: Games to play for each pair of players.
    """

    def __init__(self, rules: Rules, games: int) -> None:
        self.rules, self.games = rules, games
        self._look = functools.lru_cache(maxsize=MAX_STATES)(self._best)

    def play(self, start: Any, mover: int, gained: float, names: tuple[str, str]) -> Simulated:
        """Play games from a state, with the player to move and the points that the first player has."""
        rules, chance = self.rules, random.Random(f"{start} {names}")
        played = Simulated([], [], 0)
        for _ in range(self.games):
            state, turn, points = start, mover, gained
            moves: list[int] = []
            while not rules.is_terminal(state) and len(moves) < MAX_PLIES:
                actions = list(rules.actions(state))
                moves.append(len(actions))
                action = chance.choice(self._choices(names[turn], state, actions))
                child = rules.result(state, action)
                points += rules.gain(state, action) * (1 if turn == 0 else -1)
                turn = turn if rules.same_mover(state, action, child) else 1 - turn
                state = child
            if rules.is_terminal(state):
                points += rules.ended(state).score * (1 if turn == 0 else -1)
            else:
                played = played._replace(unfinished=played.unfinished + 1)
            played.results.append(points)
            played.moves.append(moves)
        return played

    def _choices(self, name: str, state: Any, actions: list[Any]) -> list[Any]:
        """Return the moves that a player chooses from."""
        if name == "random":
            return actions
        plies = int(name.rpartition(" ")[2])
        sights = [self._sight(state, action, plies) for action in actions]
        top = max(sights)
        return [action for action, sight in zip(actions, sights, strict=True) if sight == top]

    def _sight(self, state: Any, action: Any, plies: int) -> float:
        """Return the result that a look of some plies sees after a move, for its mover; 0 beyond the last ply."""
        rules = self.rules
        child = rules.result(state, action)
        if rules.is_terminal(child):
            ahead = float(rules.ended(child).score)
        elif plies == 1:
            ahead = 0.0
        else:
            ahead = self._look(rules.canonical(child), plies - 1)
        gain = float(rules.gain(state, action))
        return gain + (ahead if rules.same_mover(state, action, child) else -ahead)

    def _best(self, state: Any, plies: int) -> float:
        """Return the best result that a look of some plies sees, for the side to move."""
        return max(self._sight(state, action, plies) for action in self.rules.actions(state))
