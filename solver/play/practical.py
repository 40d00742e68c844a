"""Choices among equally good moves: practical play, levels of strength, and moves that get somewhere.

Practical play prefers the move that gives a fallible opponent the most chances to go wrong.

The opponent is a model. It looks k plies ahead: it plays a win that it sees, avoids a loss that it sees, and otherwise
chooses at random. In games whose moves score, it takes the moves that gain most within k plies. Results count 1, 0 and
-1, or margins. A player that keeps the value of every position then has an expected result from each of them:

    player's turn      the best expectation among the moves that keep value and distance
    opponent's turn    the mean over the moves that the model may choose

A full computation needs every state. `Practical` estimates these results instead. It looks ahead by values of the
solution, two plies deeper each time, until it has looked at LOOKS moves, and at most MAX_PLIES plies. Beyond the last
ply a position counts its value. Wins for the player are not looked into: the player keeps them. A deeper look follows
one move of the player's, the best of the look before; so the opponent's replies get most of the moves. The estimates
serve to order moves: single ones may be far off. `scripts/bench_practical.py` compares them with the full computation.

A `Level` plays like such an opponent in a share of its moves: it sees wins and losses within some plies, and otherwise
moves at random. All other moves are best. So weaker players err more often and see fewer plies: deep mistakes come
first, and shallow ones only at the lowest levels.

`Leading` gets somewhere: without distances best moves may go round, where play may come back to a state. A side gains
more than endless play is worth by moves that raise the tier or end the game, conversions. Of the best moves that one is
played which gets there soonest, whatever is replied: as the book says, if it has the distances, or by a search of its
values, one ply deeper each time, as `verifying.plainly` proves them.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from solver.base.errors import MethodError
from solver.base.value import Value, merit_of
from solver.play.analysis import OPPONENT, Move, rank
from solver.rules.game import Rules

MAX_OPPONENT = 4
LOOKS = 600  # moves looked at for one choice: 1 ms on average, 7 at most
MAX_PLIES = 24
MAX_STATES = 1 << 15  # states whose moves are remembered
MAX_LEAD = 100  # plies of a way to a conversion
LEAD_LOOKS = 1 << 16  # moves looked at for one move; then any best one is played
MAX_LED = 1 << 16  # states whose ways are remembered


class Reply(NamedTuple):
    """A move, as the look ahead sees it.

    Attributes:
        action: The action.
        child: The canonical state that it leads to.
        score: Its value for the mover, as a score.
        distance: Its distance in plies. None for draws and in games without distances.
        same: Whether the same player moves again.
        gain: The points that the move scores.
        ends: Whether it ends the game.
    """

    action: Any
    child: Any
    score: float
    distance: int | None
    same: bool
    gain: float
    ends: bool


class OutOfLooks(Exception):
    """The look ahead has used up its moves."""


class Practical:
    """Estimates of the expected results against the model, from the values of a solution.

    Args:
        rules: The game's rules.
        value_of: Return the value of a canonical state for the side to move, or None if it is unknown.
        opponent: Plies that the model looks ahead, from 0 to 4.

    Raises:
        MethodError: In a game of chance, or for another number of plies.
    """

    def __init__(self, rules: Rules, value_of: Callable[[Any], Value | None], opponent: int = OPPONENT) -> None:
        if rules.chance is not None:
            raise MethodError(
                f"{rules.name} is a game of chance, which has no practical play: leave out --opponent, and --method"
                " practical"
            )
        if opponent not in range(MAX_OPPONENT + 1):
            raise MethodError(f"an opponent looks from 0 to {MAX_OPPONENT} plies ahead, not {opponent}")
        self.rules, self.opponent, self._value_of = rules, opponent, value_of
        self._replies: dict[Any, Sequence[Reply] | None] = {}
        self._seen: dict[tuple[Any, int], float] = {}
        # Threads may share a player, and take turns here
        self._lock = threading.Lock()
        # Moves that a choice may still look at
        self._left: float = math.inf
        self._counted: set[Any] = set()
        # Expectations of this look and of the last one, by state, plies and turn
        self._memo: dict[tuple[Any, int, bool], float] = {}
        self._before: dict[tuple[Any, int, bool], float] = {}

    def expectations(self, state: Any, actions: Sequence[Any]) -> list[float]:
        """Return an estimate of the expected result of each of some actions, for the side to move in `state`.

        Args:
            state: An unfinished state whose moves all have known values.
            actions: Actions that the player may choose from.
        """
        with self._lock:
            if len(self._replies) > MAX_STATES:
                self._replies.clear()
                self._seen.clear()
            replies = {reply.action: reply for reply in self.replies(state) or ()}
            chosen = [replies[action] for action in actions]
            self._left, self._counted = LOOKS, set()
            results: list[float] = [reply.score for reply in chosen]
            self._memo = {}
            # The last complete look decides: half of a deeper one would not compare the moves fairly.
            with contextlib.suppress(OutOfLooks):
                for plies in range(2, MAX_PLIES, 2):
                    self._before, self._memo = self._memo, {}
                    results = [self._after(reply, True, plies - 1) for reply in chosen]
            self._left = math.inf
            return results

    def replies(self, state: Any) -> Sequence[Reply] | None:
        """List the moves of a state with their values. None if one is unknown."""
        if state in self._replies:
            return self._replies[state]
        listed: list[Reply] = []
        rules, canonical, value_of = self.rules, self.rules.canonical, self._value_of
        for action in rules.actions(state):
            child = rules.result(state, action)
            ends = rules.is_terminal(child)
            key = child if ends else canonical(child)
            value = rules.ended(child) if ends else value_of(key)
            if value is None:
                self._replies[state] = None
                return None
            same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
            score = gain + (value.score if same else -value.score)
            distance = None if value.distance is None else value.distance + 1
            listed.append(Reply(action, key, score, distance, same, gain, ends))
        self._replies[state] = listed
        return listed

    def kept(self, replies: Sequence[Reply]) -> list[Reply]:
        """Return the best of some moves: the highest score, then the quickest win or the slowest loss."""
        top = max(reply.score for reply in replies)
        best = [reply for reply in replies if reply.score == top]
        if not self.rules.scores and top != 0 and all(reply.distance is not None for reply in best):
            distances = [reply.distance or 0 for reply in best]
            target = min(distances) if top > 0 else max(distances)
            best = [reply for reply in best if reply.distance == target]
        return best

    def choices(self, state: Any) -> Sequence[Reply] | None:
        """Return the moves of a state that the model may choose, equally probable. None if a value is unknown."""
        replies = self.replies(state)
        if not replies or self.opponent == 0:
            return replies
        sights = [self._sight(reply, self.opponent) for reply in replies]
        top = max(sights)
        return [reply for reply, sight in zip(replies, sights, strict=True) if sight == top]

    def _sight(self, reply: Reply, plies: int) -> float:
        """Return the value of a move as far as a look of some plies sees it, for its mover."""
        if not self.rules.scores and reply.distance is not None:
            return reply.score if reply.distance <= plies else 0.0
        if not self.rules.scores and reply.score == 0 and not reply.ends:
            # No win or loss can be forced, so none can be seen.
            return 0.0
        if reply.ends:
            return reply.score
        if plies <= 1:
            return reply.gain
        # The best score within the plies left, for the side to move
        key = child, left = reply.child, plies - 1
        ahead = self._seen.get(key)
        if ahead is None:
            replies = self.replies(child)
            if not replies:
                return reply.gain
            self._spend(child, len(replies))
            ahead = self._seen[key] = max(self._sight(answer, left) for answer in replies)
        return reply.gain + (ahead if reply.same else -ahead)

    def _spend(self, state: Any, looks: int) -> None:
        """Count the moves of a state once for each choice, whatever earlier choices have listed."""
        self._left -= 1 if state in self._counted else looks
        self._counted.add(state)
        if self._left < 0:
            raise OutOfLooks

    def _after(self, reply: Reply, is_own: bool, plies: int) -> float:
        """Return the player's estimated result of a move, its own or the opponent's."""
        gain = reply.gain if is_own else -reply.gain
        rest = reply.score - reply.gain
        if reply.ends:
            return gain + (rest if is_own else -rest)
        turn = reply.same == is_own
        # The value of the child for the player, where the look ends
        value = rest if is_own else -rest
        if plies <= 0 or (value > 0 and not self.rules.scores):
            return gain + value
        key = reply.child, plies, turn
        if key in self._memo:
            return gain + self._memo[key]
        replies = self.replies(reply.child)
        if replies:
            self._spend(reply.child, len(replies))
            chosen = self.kept(replies) if turn else self.choices(reply.child) or replies
            if turn and plies > 2:
                # Follow the move that the last look, two plies shorter, found best.
                before = [self._before.get((move.child, plies - 3, move.same), -math.inf) for move in chosen]
                chosen = [chosen[before.index(max(before))]]
            results = [self._after(move, turn, plies - 1) for move in chosen]
            value = max(results) if turn else sum(results) / len(results)
        self._memo[key] = value
        return gain + value


class Level(NamedTuple):
    """A strength of play.

    Attributes:
        name: Its name.
        share: The share of moves that may be mistakes.
        plies: Plies that these moves look ahead.
    """

    name: str
    share: float
    plies: int

    def slip(self, player: Any, state: int, chance: random.Random) -> int | None:
        """Return the move of a fallible player, or None if the best move is due.

        Args:
            player: The `Player` whose values the level uses.
            state: An unfinished state.
            chance: The random numbers: one for each move, one more for each slip.

        Raises:
            StateTypeError, PositionError, GameError: As `Player.analyse`.
        """
        if chance.random() >= self.share:
            return None
        actions = [move.action for move in player.analyse(state)]
        if actions and self.plies and player.rules.chance is None:
            # It sees no difference between these moves; between all, if a value is unknown
            choices = Practical(player.rules, player.knowledge.value, self.plies).choices(state)
            alike = actions if choices is None else [reply.action for reply in choices]
            actions = [action for action in actions if action in alike]
        return chance.choice(actions) if actions else None


# Neighbours are 158 to 301 Elo apart on connect-four:5,5, 80 to 220 on hexapawn:4,4 and 61 to 218 on kalah:3,3
# (`scripts/bench_practical.py --levels`).
LEVELS = {
    level.name: level
    for level in (
        Level("beginner", 1.0, 0),
        Level("easy", 1.0, 2),
        Level("medium", 0.55, 2),
        Level("hard", 0.2, 4),
        Level("perfect", 0.0, 4),
    )
}
NUMBERS = (*(name for name in LEVELS for _ in range(2)),)  # of the levels 1 to 10


def level_of(text: str) -> Level:
    """Return the level of a name, or of a number from 1 to 10: two numbers share a level, and 10 is perfect.

    Raises:
        ValueError: There is no such level.
    """
    if text.isascii() and text.isdecimal() and 1 <= int(text[:3]) <= len(NUMBERS):
        return LEVELS[NUMBERS[int(text[:3]) - 1]]
    if text not in LEVELS:
        raise ValueError(f"{text[:40]!r} is not a level: choose {', '.join(LEVELS)}, or 1 to {len(NUMBERS)}")
    return LEVELS[text]


class Leading:
    """Choose the move to play, `lead(state, moves)`, by values of canonical states that have no distances.

    `plies`, if there is one, says how far such a state is from a conversion.
    """

    def __init__(
        self, rules: Rules, find: Callable[[Any], Value | None], plies: Callable[[Any], int | None] | None = None
    ) -> None:
        self.rules, self._find, self._plies = rules, find, plies
        # Plies that it takes at most, and at least, by state
        self._soonest: dict[Any, int] = {}
        self._latest: dict[Any, int] = {}
        self._left = 0

    def __call__(self, state: Any, moves: list[Move]) -> Move:
        best = min(moves, key=rank)
        equal = [move for move in moves if rank(move) == rank(best)]
        if self.conversion(state, best) is not None:
            choose = min if best.value and best.value.score > 0 else max
            return choose(equal, key=lambda move: self.conversion(state, move) or 0)
        if not self.has_goal(state, best) or len(equal) == 1:
            return best
        if len(self._soonest) + len(self._latest) > MAX_LED:
            self._soonest.clear()
            self._latest.clear()
        self._left = LEAD_LOOKS
        for plies in range(MAX_LEAD):
            for move in equal:
                if self._gets_there(state, move.child, plies):
                    return move
            if self._left < 0:
                break
        return best

    def has_goal(self, state: Any, move: Move) -> bool:
        """Whether a best move is worth more than endless play: only then there is somewhere to get to."""
        return move.value is not None and move.value.score > self.rules.endless(state)

    def conversion(self, state: Any, move: Move) -> int | None:
        """The plies to a conversion by a move. None where no distances are known, or neither side wins."""
        if self._plies is None or move.value is None or not move.value.score:
            return None
        key = self.rules.canonical(move.child)
        if self.rules.is_terminal(move.child) or self.rules.tier(key) > self.rules.tier(state):
            return 1
        return 1 + (self._plies(key) or 0)

    def _gets_there(self, state: Any, child: Any, plies: int) -> bool:
        """Return whether a move reaches the goal immediately, or its child does within so many plies."""
        rules, key = self.rules, self.rules.canonical(child)
        self._left -= 1
        if rules.is_terminal(child) or rules.tier(key) > rules.tier(state) or plies >= self._soonest.get(key, MAX_LEAD):
            return True
        value = self._find(key)
        if value is None or plies <= self._latest.get(key, -1) or self._left < 0:
            return False
        above = value.score - rules.endless(key)
        children = []
        for action in rules.actions(key):
            after = rules.result(key, action)
            # One of the best moves has to get there, or any reply
            if above > 0:
                known = rules.ended(after) if rules.is_terminal(after) else self._find(rules.canonical(after))
                if known is None or rules.lifted(merit_of(known), key, action, after) != value.score:
                    continue
            children.append(after)
        any_or_all = any if above > 0 else all
        does = above == 0 or (plies > 0 and any_or_all(self._gets_there(key, after, plies - 1) for after in children))
        if does:
            self._soonest[key] = plies
        elif self._left >= 0:
            self._latest[key] = plies
        return does
