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

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.kinds import AUTO, WDL
from solver.base.progress import Progress
from solver.base.value import Value, merit_of
from solver.book.codecs import DEFAULT, rules_of
from solver.book.solution import PROOF, SIDES, Trim
from solver.rules.game import Rules
from solver.search.derive import assured
from solver.solving.job import Job, Outcome, solved_by
from solver.solving.racing import METHODS, Race

Find = Callable[[int], Value | None]
LATER = 0.3  # what a reply two plies later weighs of one now: they share more
FEW = 1 << 14  # moves of a ply: of more, nobody looks at the replies two plies later, which would take hours
Settle = Callable[[int, bool, int], None]
Child = tuple[int, bool]  # a canonical state, and whether the side is to move there


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
            follower = race.follower(winner, start)
            values = needed(rules, follower.find, sides, 0, job.options.progress, follower.settle)
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


def needed(
    rules: Rules,
    find: Find,
    sides: Iterable[int],
    plies: int,
    progress: Progress,
    settle: Settle = lambda state, is_own, width: None,
) -> dict[int, Value]:
    """The states, canonical, with their values, that a book for these sides (0, 1) must hold.

    `find` knows the values, perhaps not those of all states: where it ends, play is not followed further. A search of
    `plies` + 1 plies that ends in these states then settles a move, in each position that the side comes to, which
    keeps its value and `covers` the replies. `settle(state, is_own, width)` is called before `find` is asked about a
    state and about its moves: it may search for their values, unless all are known. `is_own`: the side is to move
    there. `width`: how many states the ply has.
    """
    needed_values: dict[int, Value] = {}
    for side in sides:
        walk = _Walk(rules, find, side, plies, settle)
        order = walk.run(progress)
        for count, state in enumerate(reversed(order)):
            value = find(state)
            if value is None or state in needed_values:
                continue
            if state in walk.stored or assured(rules, state, plies, needed_values.get) is None:
                needed_values[state] = rules.kind.kept(value)
            if count % 256 == 0:
                progress("settle", count, len(order))
        progress("settle", len(order), len(order))
    return needed_values


class _Move(NamedTuple):
    """The value of a move for its player, None if that is not known; where it leads, None if the game is over there."""

    merit: int | None
    child: Child | None


class _Walk:
    """Play by one side: the states where it is to move in the order that they were come to."""

    def __init__(self, rules: Rules, find: Find, side: int, plies: int, settle: Settle) -> None:
        self.rules, self.find, self.side, self.plies, self.settle = rules, find, side, plies, settle
        # States of the other side whose value no reply tells
        self.stored: set[int] = set()
        self.seen: set[Child] = set()
        self._width: dict[int, int] = {}  # see `_least`

    def run(self, progress: Progress) -> list[int]:
        rules, order = self.rules, []
        starts = [state for state in rules.roots() if not rules.is_terminal(state)]
        layer = {(rules.canonical(state), rules.mover(state) == self.side) for state in starts}
        while layer:
            self.seen |= layer
            for state, is_own in sorted(layer):
                self.settle(state, is_own, len(layer))
            # A search settles a near win and all that follows
            ours = sorted(state for state, is_own in layer if is_own and not self._is_near(state, 1))
            order += ours
            coming = self._chosen(ours)
            for state, is_own in sorted(layer):
                if is_own:
                    continue
                moves = self._moves((state, False))
                # A state is stored where a move's value is unknown, and where the other moves again
                if any(move.merit is None for move in moves):
                    self.stored.add(state)
                self.stored.update(move.child[0] for move in moves if move.child is not None and not move.child[1])
                coming.update(move.child for move in moves if move.child is not None and move.merit is not None)
            order += [state for state, is_own in sorted(layer) if not is_own and state in self.stored]
            layer = coming - self.seen
            progress("follow", len(self.seen), None)
        return order

    def _merit(self, state: int) -> int | None:
        value = self.find(state)
        return None if value is None else merit_of(self.rules.kind.kept(value))

    def _moves(self, child: Child) -> list[_Move]:
        rules = self.rules
        state, is_own = child
        moves = []
        for action in rules.actions(state):
            result = rules.result(state, action)
            if rules.is_terminal(result):
                moves.append(_Move(rules.lifted(rules.end(result), state, action, result), None))
                continue
            key = rules.canonical(result)
            merit = self._merit(key)
            if merit is not None:
                merit = rules.lifted(merit, state, action, result)
            moves.append(_Move(merit, (key, is_own == rules.same_mover(state, action, result))))
        return moves

    def _chosen(self, states: list[int]) -> set[Child]:
        """Where one best move from each of the states leads, together as few new states as can easily be found."""
        asking: dict[Child, set[int]] = {}
        left = set()
        for state in states:
            moves = self._moves((state, True))
            merit = self._merit(state)
            best = {move.child for move in moves if move.merit is not None and move.merit == merit}
            children = {child for child in best if child is not None}
            if len(children) < len(best) or not self.seen.isdisjoint(children):
                # The game is won, or play comes there anyhow
                continue
            for child in children:
                asking.setdefault(child, set()).add(state)
                left.add(state)
        # How many states more must be known if play comes there, and where moves are few a part of those after the best
        # answers
        later = LATER if len(asking) <= FEW else 0
        costs = dict[Child, float]()
        for child in asking:
            replies = {move.child for move in self._moves(child) if move.child is not None} if not child[1] else ()
            new = [reply for reply, is_own in replies if (reply, is_own) not in self.seen and not self._is_near(reply)]
            costs[child] = float(child[1]) + sum(1 + later * self._least(reply) if later else 1 for reply in new)
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

    def _least(self, state: int) -> int:
        """The least number of replies, not won or lost within the plies, to a best move of the side."""
        known = self._width.get(state)
        if known is None:
            merit, widths = self._merit(state), list[int]()
            for move in self._moves((state, True)) if merit is not None else ():
                if move.merit == merit:
                    replies = [] if move.child is None else self._moves(move.child)
                    children = (reply.child for reply in replies if reply.child is not None)
                    widths.append(sum(not self._is_near(child) for child, _ in children))
            known = self._width[state] = min(widths, default=0)
        return known

    def _is_near(self, state: int, least: int = -1) -> bool:
        """Whether the end is so near that a search settles it, with this score at least."""
        value = self.find(state)
        is_near = value is not None and value.distance is not None and value.distance <= self.plies
        return is_near and value is not None and value.score >= least
