"""The methods of solving, and the kinds of values that they find.

Kinds are outcomes (with distances to the end, to a conversion, or none), margins, nimbers, and those of `expectations`.

What one kind does otherwise than the others it says here, so that nobody need ask which it is: `rules.kind` is that of
a game's values, `header.kind` that of a book's. The arithmetic of merits is in `value`, for plain and compiled code.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import truediv
from typing import Any, NamedTuple

from solver.base.errors import MethodError, SolverError
from solver.base.value import WIN, Value, in_plies, lift, sign_of, terminal_merit, value_of

AUTO = "auto"  # in place of a method, whose name books and the command line have: the one that fits the game
Worth = tuple[int, int, Any]  # of a move or an outcome of chance: weight, group, merit
Average = Callable[[Any, int], Any]


class Facts(NamedTuple):
    """The properties of a method.

    about: What it finds, for help. Empty if `solve` does not take it by its name.
    state_bytes: The memory that a state takes in plain Python, at least. None where nothing limits the states.
    is_complete: Whether it values all states that play can reach.
    takes_cycles: Whether play may come back to a state.
    """

    about: str = ""
    state_bytes: int | None = None
    is_complete: bool = True
    takes_cycles: bool = False


class Method(enum.StrEnum):
    """A method of solving, equal to its name, and its `facts`."""

    facts: Facts

    def __new__(cls, name: str, *facts: Any) -> Method:
        """Make a method with these `Facts`."""
        method = str.__new__(cls, name)
        method._value_, method.facts = name, Facts(*facts)
        return method

    MINIMAX = "minimax", "every state", 300
    RETROGRADE = "retrograde", "every state of a game with cycles", 600, True, True
    ALPHABETA = "alphabeta", "the states that one search settles", None, False
    EXPECTIMINIMAX = "expectiminimax", "every state of a game of chance", 1000
    NIMBERS = "nimbers", "the nimber of every state of an impartial game", 300
    VALUE_ITERATION = "value-iteration", "", 1000, True, True  # for expectiminimax, in a game with cycles
    PROOF_NUMBER = "proof-number", "", None, False  # of proof books
    DROP_OUT = "drop-out", "", None, False, True  # of grown books

    @property
    def is_acyclic(self) -> bool:
        """Whether it values all states of games that always end, and of no others."""
        return self.facts.is_complete and not self.facts.takes_cycles


METHODS = (AUTO, *(method.value for method in Method if method.facts.about))


class Kind:
    """Wins, draws and losses with their distances. Subclasses are the other kinds of value.

    `unfit` has a sentence for each method, option or use that values of this kind do not fit.
    """

    name: str = "outcome"
    scores: bool = False  # merits are scores: distances mean nothing
    bare: bool = False  # outcomes without distances, as a header says by `wdl`
    reducer: str = "best"  # how a state's value follows from its moves': also "mean", over chance, and "mex"
    converts: bool = False  # distances are plies to a conversion, which arrays by number alone find
    signed: bool = False  # a player goes by the sign of a score alone
    most: int = WIN - 1  # the largest merit of an unfinished state, the negative of the smallest
    number: type = int  # what a score is, in a table
    types: tuple[type, ...] = (int,)  # what it may be in a book
    acyclic: Method = Method.MINIMAX  # the methods that find all values of a game without cycles, and with
    cyclic: Method | None = Method.RETROGRADE
    partial: Method | None = Method.ALPHABETA  # and the one that finds some
    remedy: str = "use retrograde analysis"  # of a method that cycles stop
    is_stepped: bool = False  # a book has numbers of steps for its values, and no palette
    unfit: Mapping[str, str] = {Method.EXPECTIMINIMAX: "{} is not a game of chance: use minimax"}
    silent: tuple[str, ...] = ()  # what of outcome, score and distance says nothing
    about: str = "win, draw, loss"
    mark: str = ""  # the distances that work under way looks for, where it is named
    remark: str = ""  # on the distances of a book
    counted: tuple[str, str, str] = ("wins", "draws", "losses")
    repeats: str = ": a draw"  # what it means that play comes back to a position
    step: float = 1.0  # scores are multiples of it
    error: float = 0.0  # the greatest distance of a stored score from the true one
    expectation: Any = None  # what a book's header says of these two
    estimate: Any = None  # and of values that are not exact

    @property
    def basis(self) -> Kind:
        """The kind of the rules' values, of which a book may hold estimates, or know more."""
        return self

    @property
    def palette_kind(self) -> Kind:
        """The kind of the values in a book's palette."""
        return self

    @property
    def has_distances(self) -> bool:
        """Whether a book knows how far wins and losses are from the end or from a conversion."""
        return not self.palette_kind.scores

    def measured(self, span: int, error: int) -> Kind:
        """The kind of values in a solve in which they reach so far, and are off by so many half units."""
        return self

    def in_tiers(self, method: str) -> bool:
        """Whether a method heeds tiers, where there are any: retrograde analysis takes a game as one."""
        return self.scores or method != Method.RETROGRADE

    def refusal(self, what: str, name: str) -> str | None:
        """Why values of this kind, of that name, are not for something; None if they are."""
        reason = self.unfit.get(what)
        return None if reason is None else reason.format(name)

    def refuse(self, what: str, name: str, error: type[SolverError] = MethodError) -> None:
        """Raise an error if there is a `refusal`."""
        reason = self.refusal(what, name)
        if reason is not None:
            raise error(reason)

    def value(self, merit: Any, win: int = WIN) -> Value:
        """The value that has a merit in plain searches."""
        return value_of(merit, self.scores, win)

    def value_within(self, low: Any, high: Any) -> Value | None:
        """The value whose merit in plain searches lies between bounds; None if they leave more than one."""
        return self.value(low) if low == high else None

    def kept(self, value: Value) -> Value:
        """Return the part of a value that this kind stores."""
        return value

    def fits(self, value: Value) -> bool:
        """Whether a value is of this kind."""
        score, distance = value
        return score in (-1, 1) and 0 <= distance < WIN if distance is not None else not score

    def agrees(self, merit: Any, value: Value) -> bool:
        """Return whether a value in a book may follow from its children's, which give this merit."""
        return self.value(merit) == value

    def best(self, worths: Collection[Worth], average: Average = truediv) -> Any:
        """Return a state's merit from its moves, at least one: weights, groups, and merits for its side to move.

        Moves weigh nothing. In games of chance outcomes have weights, by which they are averaged:
        `average(sum, weight)`. Of a group only the best counts.
        """
        return max(merit for _, _, merit in worths)

    def values(self, palette: Sequence[Value]) -> Sequence[Value]:
        """The values by the numbers that a book stores for them: places in its palette."""
        return palette

    def pack(self, merit: Any) -> Any:
        """Return the number that a book keeps for a merit, of the same sign. Takes arrays as well."""
        return merit

    def unpack(self, packed: int, win: int = WIN) -> Value:
        """Return the value of a packed number."""
        return self.value(packed, win)

    def listed(self, merits: Iterable[int]) -> list[int] | None:
        """Those that were found, best first, as a book's palette lists them; None where it has numbers for them."""
        return sorted(merits, reverse=True)

    def words(self, value: Value) -> str:
        """A value for the side to move: win in 5, draw; +3 or 0, if values are margins."""
        return value.words()

    def entry(self, value: Value) -> str:
        """A value in a list of those that a book has."""
        return value.words(as_number=True)

    def verdict(self, value: Value) -> str:
        """The start's value as a verdict on the game, for the side that moves first."""
        if not value.score:
            return "draw"
        winner = "first" if value.score > 0 else "second"
        return f"{winner} player wins" + ("" if value.distance is None else f" in {in_plies(value.distance)}")

    def impression(self, estimate: float) -> str:
        """Say an estimate, for the side to move, in words."""
        if abs(estimate) >= 1:
            return f"{'win' if estimate > 0 else 'loss'}, distance unknown"
        looks = "even" if abs(estimate) < 0.05 else "better" if estimate > 0 else "worse"
        return f"unknown, looks {looks} ({estimate:+.2f})"


class _Bare(Kind):
    """Outcomes that say who wins, not how soon."""

    scores = True
    bare = True
    mark: str = " wdl"
    remark: str = ", without distances"


class _Wdl(_Bare):
    """Wins, draws and losses alone."""

    name = "wdl"
    most = 1

    def kept(self, value: Value) -> Value:
        return sign_of(value)

    def fits(self, value: Value) -> bool:
        return value.distance is None and abs(value.score) <= 1


class Margins(Kind):
    """Whole numbers, as many as the better side is ahead in the end."""

    name = "margin"
    scores = True
    most = 1 << 60  # above every margin: of a state, an end, a move and endless play
    beyond: Mapping[str, str] = {  # what is wrong with a state of which a rule gives a larger one
        "utility": "is terminal with a margin of 2**60 or more: utilities must be smaller",
        "reward": "has a move that scores 2**60 or more: rewards must be smaller",
        "endless": "has a margin of 2**60 or more for endless play: endless must be smaller",
    }
    unfit: Mapping[str, str] = {
        **Kind.unfit,
        "wdl": "the values of {} are margins, which --wdl cannot leave out: leave it out",
        "outlook": "has an outlook, which speaks of wins and losses: leave it out of a score game",
    }
    silent: tuple[str, ...] = ("distance",)
    about = "score"

    def holds(self, margin: Any) -> bool:
        """Whether a margin is within the limits of all ways of solving, plain and compiled."""
        return bool(-self.most < margin < self.most)

    def fits(self, value: Value) -> bool:
        return value.distance is None and self.holds(value.score)

    def words(self, value: Value) -> str:
        return f"{value.score:+g}" if value.score else "0"

    def verdict(self, value: Value) -> str:
        if not value.score:
            return "tie"
        return f"{'first' if value.score > 0 else 'second'} player wins by {abs(value.score)}"

    def impression(self, estimate: float) -> str:
        return f"unknown, about {estimate:+.3g}" if estimate else "unknown, about even"


class Nimbers(_Bare):
    """Nimbers: the size of the heap of nim that a position of an impartial game is worth (Sprague 1935, Grundy 1939).

    The score is the nimber, and -1 in place of 0: such a position is lost, all others are won.
    """

    name = "nimber"
    reducer = "mex"
    signed = True
    acyclic: Method = Method.NIMBERS
    cyclic: Method | None = None
    partial: Method | None = None
    remedy: str = "nimbers are for games that end"
    about = "nimber"
    unfit: Mapping[str, str] = {
        **Kind.unfit,
        **dict.fromkeys(("trim", "wdl", "merge", "learn"), "{} holds nimbers: solve it without --method nimbers"),
        "play": "nimbers tell sums of games apart, which no single play shows: leave out --play",
    }
    silent: tuple[str, ...] = ("distance",)

    def best(self, worths: Collection[Worth], average: Average = truediv) -> int:
        """The least nimber that no move leads to (mex)."""
        reached = {max(-merit, 0) for _, _, merit in worths}
        return next(number for number in range(len(reached) + 1) if number not in reached) or LOST

    def fits(self, value: Value) -> bool:
        return value.distance is None and (value.score == LOST or 0 < value.score < 1 << 32)

    def words(self, value: Value) -> str:
        return f"{value.outcome}, {self.entry(value)}"

    def entry(self, value: Value) -> str:
        return f"nimber {nimber_of(value)}"

    def verdict(self, value: Value) -> str:
        return f"{'first' if value.score > 0 else 'second'} player wins, {self.entry(value)}"


LOST = -1  # the score of the nimber 0
OUTCOME, WDL, MARGIN, NIMBER = Kind(), _Wdl(), Margins(), Nimbers()


class _Conversion(_Wdl):
    """Wins, draws and losses, in a book with the plies to a conversion: a move that raises the tier or ends the game.

    The side that wins can force one in so many plies, and the other side cannot avoid one for longer.
    """

    name = "conversion"
    basis = WDL
    palette_kind = OUTCOME
    converts = True
    mark = " conversion"
    remark = ", distances to a conversion"
    unfit: Mapping[str, str] = {
        **Kind.unfit,
        "merge": "{} has distances to a conversion, so it is complete: nothing is to be merged",
    }

    def values(self, palette: Sequence[Value]) -> Sequence[Value]:
        return list(map(sign_of, palette))


CONVERSION = _Conversion()
OF_OUTCOMES = {kind.name: kind for kind in (OUTCOME, WDL, CONVERSION, NIMBER)}  # that a solve of such a game may find


def nimber_of(value: Value) -> int:
    """The nimber that a value of that kind stands for."""
    return max(int(value.score), 0)


def kind_asked(method: str, wdl: bool, conversion: bool) -> Kind:
    """The kind of values that options ask for in a game of wins, draws and losses, or a header tells of one."""
    if method == NIMBER.acyclic:
        return NIMBER
    return CONVERSION if conversion else WDL if wdl else OUTCOME


class Units(NamedTuple):
    """The meaning of the whole numbers in a solve.

    Attributes:
        kind: The kind of value.
        win: Merit of an immediate win.
        point: Units of a margin of 1.
        error: How many half units a number may be off.
    """

    kind: Kind
    win: int = WIN
    point: int = 1
    error: int = 0

    def end(self, utility: int, left: int) -> int:
        """The number of a finished state of this utility, whose outcome still takes `left` plies."""
        return terminal_merit(utility, left, self.kind.scores, self.win) * self.point

    def lift(self, number: int, same_mover: bool, gain: int) -> int:
        """A state's number as one ply earlier, whose move scores that, sees it."""
        return lift(number, same_mover, self.kind.scores) + gain * self.point

    def agrees(self, stored: int, derived: int) -> bool:
        """Return whether a stored number may follow from the children's."""
        return abs(stored - derived) <= self.error

    def value(self, number: int) -> Value:
        """The value that a book has for a number."""
        return self.kind.unpack(self.kind.pack(number), self.win)
