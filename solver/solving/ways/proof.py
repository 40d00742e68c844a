"""Proof books: what one side needs to keep the value of the start against every reply, and no more.

A race of two searches finds the value of the start (`solving/racing.py`). Then the play of the book's side is followed:
the winner of the race finds the values that come up on the way, most of them in its table. So no more of the game is
looked at than these searches need.

The states that one side needs to play by a book (`needed`) are a weak solution. Play is followed ply by ply, against
every reply. Where the side is to move one of its best moves is enough: of all
that come to a ply together, as few as cover it are chosen, those with the fewest new replies first (Chvatal's greedy
cover). The states in which the side is to move are to be known; a move of its own is known by the replies to it. One
is left out where the search that goes with the book finds its value, and how to keep it, by the states known after it.
"""

from __future__ import annotations

import gc
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.kinds import AUTO, WDL
from solver.base.progress import Progress
from solver.base.value import Value, merit_of
from solver.book.codecs import DEFAULT, rules_of
from solver.book.solution import PROOF, SIDES, Trim
from solver.rules.game import Rules
from solver.search.derive import assured
from solver.solving.following import Child, Oracle
from solver.solving.job import Job, Outcome, solved_by
from solver.solving.racing import METHODS, Race

LATER = 0.3  # what a reply two plies later weighs of one now: they share more
FEW = 1 << 14  # moves of a ply: of more, replies are counted, because to look at what follows them would take hours


@dataclass
class Proving:
    """The way of solving that finds one side's play. `solve` raises the errors of `pipeline.solve`, and Unproved.

    Attributes:
        side: "first", "second" or "both": whose moves the book holds. None for the winner's, or both in a draw.
        method: One of METHODS. "auto" for the one that is done first.
        seconds: Give up after so many. None for no limit.
        position: The state where play begins. None for the game's start.
    """

    side: str | None = None
    method: str = AUTO
    seconds: float | None = None
    position: int | None = None

    name = "a proof"
    heeds = {"memory", "table", "restart", "checkpoint"}

    def refuses(self, job: Job) -> str | None:
        """Games of chance, of margins, and those whose tiers do not show that play ends."""
        if self.method not in (AUTO, *METHODS):
            return f"no method {self.method!r}: choose one of auto, {', '.join(METHODS)}"
        reason = refusal(job.rules)
        if reason is None:
            extras.require_kernels()
        return reason

    def solve(self, job: Job) -> Outcome:
        """Settle the start, then follow the play of each side."""
        job.lock()
        job.played()
        begin = None if self.position == job.rules.game.initial() else self.position
        rules = Rules(job.rules.game, job.rules.symmetry, WDL, begin)
        if rules.is_terminal(rules.first()):
            raise MethodError(f"{rules.name}: the game is over there: there is nothing to prove")
        start = rules.canonical(rules.first())
        race = Race(job, rules, METHODS if self.method == AUTO else (self.method,), self.seconds)
        winner = race.run(start)
        score = winner.score
        assert score is not None
        first = score if rules.mover(rules.first()) in (0, None) else -score
        side = self.side or ("both" if not score else "first" if first > 0 else "second")
        if first and side != ("first" if first > 0 else "second"):
            loser = "second" if first > 0 else "first"
            raise MethodError(
                f"{rules.name}: the {loser} player loses, so only the other has something to prove: omit --for"
            )
        found: dict[int, int] = {}
        if job.target is not None:
            sides = range(2) if side == "both" else (SIDES.index(side),)
            # Nothing goes round in circles there, and collections took most of the time of millions of states
            was_on = gc.isenabled()
            gc.disable()
            try:
                values = needed(race.follower(winner, start), sides, 0, job.options.progress)
            finally:
                (gc.enable if was_on else gc.disable)()
            found = {state: merit_of(value) for state, value in values.items()}
        trim = Trim(rules_of(rules.game, job.options.codec or DEFAULT), PROOF, side=side)
        solved = solved_by(rules, found, root=score)
        return Outcome(solved, winner.method, PROOF, race.remove, trim=trim, start=begin)


def refusal(rules: Rules) -> str | None:
    """Why a game cannot be proved, in a line; None if it can."""
    if rules.chance is not None or rules.margins:
        return f"{rules.name} has {'chance' if rules.chance else 'margins'}: prove is for wins, draws and losses"
    lost = rules.kind.refusal("max_ply", rules.name)
    if lost is not None:
        return lost
    if not rules.tiered:
        return f"{rules.name} has no tier(state), which says that play does not come back: add it, or solve it"
    return f"{rules.name} runs in plain Python only: solve it" if rules.plain_only else None


def needed(oracle: Oracle, sides: Iterable[int], plies: int, progress: Progress) -> dict[int, Value]:
    """The states, canonical, with their values, that a book for these sides (0, 1) must hold.

    Where its values end, play is not followed further. A search of `plies` + 1 plies that ends in these states then
    settles a move, in each position that the side comes to, which keeps its value and `covers` the replies.
    """
    rules, needed_values = oracle.rules, dict[int, Value]()
    for side in sides:
        walk = _Walk(oracle, side, plies)
        order = walk.run(progress)
        order.reverse()
        for count, (state, value) in enumerate(oracle.find(order).items()):
            if value is None or state in needed_values:
                continue
            # Without a look ahead only a state that is held is assured
            if not plies or state in walk.stored or assured(rules, state, plies, needed_values.get) is None:
                needed_values[state] = rules.kind.kept(value)
            if count % 256 == 0:
                progress("settle", count, len(order))
        progress("settle", len(order), len(order))
    return needed_values


class _Walk:
    """Play by one side: the states where it is to move in the order that they were come to."""

    def __init__(self, oracle: Oracle, side: int, plies: int) -> None:
        self.oracle, self.side, self.plies = oracle, side, plies
        # States of the other side whose value no reply tells
        self.stored: set[int] = set()
        self.seen: set[Child] = set()
        self._width: dict[int, int] = {}  # the least number of replies to a best move of a state

    def run(self, progress: Progress) -> list[int]:
        oracle, rules, order = self.oracle, self.oracle.rules, list[int]()
        starts = [state for state in rules.roots() if not rules.is_terminal(state)]
        layer = sorted({(rules.canonical(state), rules.mover(state) == self.side) for state in starts})
        while layer:
            self.seen.update(layer)
            oracle.settle(layer)
            # A search settles a near win and all that follows
            values = oracle.find([state for state, is_own in layer if is_own])
            ours = {state: value for state, value in values.items() if not self._is_near(value, 1)}
            order += ours
            coming = self._chosen(ours)
            theirs = [child for child in layer if not child[1]]
            for (state, _), moves in zip(theirs, oracle.moves(theirs), strict=True):
                for merit, child, _ in moves:
                    # A state is stored where a move's value is unknown, and where the other moves again
                    if merit is None:
                        self.stored.add(state)
                    if child is not None and not child[1]:
                        self.stored.add(child[0])
                    if child is not None and merit is not None:
                        coming.add(child)
            order += [state for state, _ in theirs if state in self.stored]
            layer = sorted(coming - self.seen)
            progress("follow", len(self.seen), None)
        return order

    def _chosen(self, states: dict[int, Value | None]) -> set[Child]:
        """Where one best move from each of the states leads, together as few new states as can easily be found."""
        asking: dict[Any, set[int]] = {}
        left = set()
        for state, best in zip(states, self._best(states), strict=True):
            # Else the game is won, or play comes there anyhow
            if None not in best and self.seen.isdisjoint(best):
                for child in best:
                    asking.setdefault(child, set()).add(state)
                    left.add(state)
        # How many states more must be known if play comes there, and where moves are few a part of those after the best
        # answers
        theirs = [child for child in asking if not child[1]]
        costs: dict[Any, float] = {child: 1.0 for child in asking}
        if len(asking) > FEW:
            costs |= zip(theirs, self.oracle.replies([state for state, _ in theirs]), strict=True)
        else:
            self._weigh(theirs, costs)
        heap = [(costs[child] / len(asking[child]), child, len(asking[child])) for child in asking]
        heapq.heapify(heap)
        chosen = set()
        while left:
            _, child, number = heapq.heappop(heap)
            now = len(asking[child] & left)
            if now == number:
                chosen.add(child)
                left -= asking[child]
            elif now:
                heapq.heappush(heap, (costs[child] / now, child, now))
        return chosen

    def _best(self, values: dict[int, Value | None]) -> Iterator[set[Child | None]]:
        """Yield where the moves lead that are known to keep the value of each of some states of the side."""
        kept = self.oracle.rules.kind.kept
        moves = self.oracle.moves([(state, True) for state in values])
        for value, listed in zip(values.values(), moves, strict=True):
            best = None if value is None else merit_of(kept(value))
            yield {child for merit, child, _ in listed if merit is not None and merit == best}

    def _weigh(self, children: list[Child], costs: dict[Any, float]) -> None:
        """Enter what children of the other side cost: new replies, and a part of those to the best answers."""
        after: dict[Child, dict[int, Value | None]] = {}
        for child, moves in zip(children, self.oracle.moves(children), strict=True):
            replies = {reply: value for _, reply, value in moves if reply is not None and reply not in self.seen}
            after[child] = {reply[0]: value for reply, value in replies.items() if not self._is_near(value)}
        # The least number of replies, not won or lost within the plies, to a best move of each state
        values = {state: value for new in after.values() for state, value in new.items() if state not in self._width}
        best = list(self._best(values))
        following = list({child for moves in best for child in moves if child is not None})
        widths: dict[Child | None, int] = {None: 0}
        for child, moves in zip(following, self.oracle.moves(following), strict=True):
            widths[child] = sum(reply is not None and not self._is_near(value) for _, reply, value in moves)
        for state, leads in zip(values, best, strict=True):
            self._width[state] = min((widths[child] for child in leads), default=0)
        for child, new in after.items():
            costs[child] = len(new) + LATER * sum(self._width[state] for state in new)

    def _is_near(self, value: Value | None, least: int = -1) -> bool:
        """Whether the end is so near that a search settles it, with this score at least."""
        distance = None if value is None or value.score < least else value.distance
        return distance is not None and distance <= self.plies
