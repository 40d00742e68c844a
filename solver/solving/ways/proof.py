"""Proof books: what one side needs to keep the value of the start against every reply, and no more.

A race of two searches finds the value of the start (`solving/racing.py`). Then the play of the book's side is followed:
the winner of the race finds the values that come up on the way, most of them in its table. So no more of the game is
looked at than these searches need.
"""

from __future__ import annotations

from dataclasses import dataclass

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.kinds import WDL
from solver.base.methods import AUTO
from solver.base.value import merit_of
from solver.book.codecs import codec_of, rules_of
from solver.book.solution import PROOF, SIDES, Trim
from solver.rules.game import Rules
from solver.solving.job import Job, Outcome, solved_by
from solver.solving.racing import METHODS, Race
from solver.solving.strategy import needed


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
        trim = Trim(rules_of(rules.game, codec_of(rules, job.options.codec)), PROOF, side=side)
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
