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

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book, Source
from solver.play.player import Player
from solver.play.practical import Practical, Reply
from solver.rules.game import GameOrName, Rules, game_text
from solver.rules.notation import format_action

PLAYERS = ("perfect", "random", "sees 1", "sees 2", "sees 3")
ERROR = 1e-6  # share of games under way at which play stops
MAX_PLIES = 1000  # of a game, which then counts as a draw
MOST_UNFOLDED = 200_000  # positions that are counted one by one to know what symmetry saves


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
        unfolded: Positions, symmetric ones counted each. None if the game has no symmetry, or above MOST_UNFOLDED.
        matrix: The games of each pair of players.
        plies: Play by ply.
        first_moves: Each first move with its value, None if it is not known, and its expected result between players
            that see 2 plies.
        games: Games that were simulated for each pair of players. None if the results are computed.
    """

    game: str
    value: Value | None
    states: int | None
    unfolded: int | None
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
    measure = _Measure(player)
    if rules.is_terminal(measure.start):
        raise MethodError(f"{rules.name} is over at the start, with no moves to measure: choose other parameters")
    matrix = []
    for index, (first, second) in enumerate((first, second) for first in PLAYERS for second in PLAYERS):
        matrix.append(measure.outcomes(first, second, measure.start))
        progress("profile", index + 1, len(PLAYERS) ** 2)
    value = player.value(player.game.initial()).value
    assert value is not None
    # How many positions play can reach, symmetric ones counted each
    seen = dict.fromkeys(rules.roots() if rules.folds else ())
    for state in (waiting := list(seen)):
        if rules.is_terminal(state):
            continue
        new = [child for _, _, child in rules.children(state) if child not in seen]
        seen.update(dict.fromkeys(new))
        waiting.extend(dict.fromkeys(new))
        if len(seen) > MOST_UNFOLDED:
            break
    return Profile(
        game_text(player.game),
        value,
        book.states or (len(book) if book.header.trim is None else None),
        len(seen) if 0 < len(seen) <= MOST_UNFOLDED else None,
        matrix,
        measure.plies(),
        measure.first_moves(),
    )


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
        plies, signs = [len(moves) for moves in played.moves], [_lead(result) for result in played.results]
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
    return Profile(game_text(player.game), answer.value, None, None, matrix, branching, rated, games)


def refuse_chance(rules: Rules) -> None:
    """Raise MethodError for a game of chance."""
    if rules.chance is not None:
        raise MethodError(f"{rules.name} is a game of chance, which has no profile: players see moves, not dice")


class _Measure:
    """Play of a game as a distribution over positions."""

    def __init__(self, player: Player) -> None:
        self.player, self.rules = player, player.rules
        self.looks = {
            name: Practical(player.rules, player.knowledge.value, plies) for plies, name in enumerate(PLAYERS[1:])
        }
        self.look = self.looks["random"]
        self.start = player.rules.canonical(player.game.initial())
        self._chosen: dict[tuple[str, Any], Sequence[Reply]] = {}

    def _choices(self, name: str, state: Any) -> Sequence[Reply]:
        """Return the moves that a player chooses from in a state, kept from pair to pair."""
        choices = self._chosen.get((name, state))
        if choices is None:
            replies = self.look.replies(state) or ()
            choices = self.look.kept(replies) if name == "perfect" else self.looks[name].choices(state) or ()
            self._chosen[name, state] = choices
        return choices

    def outcomes(self, first: str, second: str, state: Any, mover: int = 0, gained: float = 0.0) -> Outcomes:
        """Play all games of a pair of players from a state, where the first one has gained so many points."""
        names, positions = (first, second), {(state, mover): [(1.0, gained)]}
        # A position with its mover has its share of games, and the points that the first player has gained in them.
        mean = wins = draws = losses = length = changes = 0.0
        lengths = [0.0]
        for ply in range(1, MAX_PLIES + 1):
            following: dict[tuple[Any, int], dict[float, float]] = {}
            lengths.append(0.0)
            for (state, mover), games in positions.items():
                replies = self._choices(names[mover], state)
                sign = 1 if mover == 0 else -1
                top = _lead(max(reply.score for reply in self.look.replies(state) or ()))
                for share, gained in games:
                    weight = share / len(replies)
                    for reply in replies:
                        changes += weight * (_lead(reply.score) != top)
                        points = gained + sign * reply.gain
                        if reply.ends:
                            result = gained + sign * reply.score
                            mean, length = mean + weight * result, length + weight * ply
                            lengths[ply] += weight
                            wins, losses = wins + weight * (result > 0), losses + weight * (result < 0)
                            draws += weight * (result == 0)
                        else:
                            key = reply.child, mover if reply.same else 1 - mover
                            by_points = following.setdefault(key, {})
                            by_points[points] = by_points.get(points, 0.0) + weight
            positions = {key: [(share, points) for points, share in games.items()] for key, games in following.items()}
            left = sum(share for games in positions.values() for share, _ in games)
            if left <= ERROR:
                break
        return Outcomes(*names, mean, wins, draws + left, losses, length + left * ply, lengths, changes, left)

    def plies(self) -> list[Ply]:
        """Follow random play, and measure the positions of each ply."""
        positions: dict[Any, float] = {self.start: 1.0}
        plies: list[Ply] = []
        while positions and len(plies) < MAX_PLIES:
            share = sum(positions.values())
            if share <= ERROR:
                break
            moves = choice = one_good = 0.0
            following: dict[Any, float] = {}
            for state, weight in positions.items():
                replies = self.look.replies(state) or ()
                top = max(reply.score for reply in replies)
                moves += weight * len(replies)
                choice += weight * (len(replies) > 1)
                one_good += weight * (len(replies) > 1 and sum(reply.score == top for reply in replies) == 1)
                for reply in replies:
                    if not reply.ends:
                        following[reply.child] = following.get(reply.child, 0.0) + weight / len(replies)
            plies.append(Ply(len(plies), share, moves / share, one_good / choice if choice else 0.0))
            positions = following
        return plies

    def first_moves(self) -> list[tuple[str, Value | None, float]]:
        """Return each first move with its value, and its expected result between players that see 2 plies."""
        start = self.player.game.initial()
        rated: list[tuple[str, Value | None, float]] = []
        for move in self.player.analyse(start):
            assert move.value is not None
            reply = next(reply for reply in self.look.replies(start) or () if reply.action == move.action)
            if reply.ends:
                expected = float(reply.score)
            else:
                mover = 0 if reply.same else 1
                expected = self.outcomes("sees 2", "sees 2", reply.child, mover, float(reply.gain)).mean
            rated.append((format_action(self.player.game, start, move.action), move.value, expected))
        return rated


def _lead(score: float) -> int:
    return (score > 0) - (score < 0)


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
        self._seen: dict[tuple[Any, int], float] = {}

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
        if len(self._seen) > MAX_STATES:
            self._seen.clear()
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
            key = rules.canonical(child), plies - 1
            seen = self._seen.get(key)
            if seen is None:
                seen = max(self._sight(child, reply, plies - 1) for reply in rules.actions(child))
                self._seen[key] = seen
            ahead = seen
        gain = float(rules.gain(state, action))
        return gain + (ahead if rules.same_mover(state, action, child) else -ahead)
