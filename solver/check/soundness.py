"""Check the optional methods that speed up a search, on single states. `docs/reference/rules.md` has their contracts.

`canonical`, `replies`, `bounds` and `longest` are held against values of plain searches, which ask for none of them,
`outlook` and `followup` against two plies of play. `features` are counted.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base.errors import BudgetExceeded, GameError, MethodError
from solver.base.value import Value, merit_of
from solver.rules.game import Rules, own_method
from solver.rules.loading import error_text
from solver.rules.width import USUAL
from solver.search import Budget, derive

MAX_NODES = 3_000  # of searches for the values of one play-out
SECONDS = 0.3  # for those of all
COMPARED_NODES = 3_000  # nodes for the value of a state whose symmetric twin is compared
COMPARED_EACH = 0.1  # seconds for that
COMPARED_SECONDS = 0.5  # for all of them
CLOSE = 1e-9  # expectations that are not farther apart are equal
MOST_FEATURES = 1024  # of a state
FEATURE_LIMIT = 1 << 15  # features lie between, so that a table of them is of 16 bits
Children = Iterable[tuple[Any, Any]]  # actions and the states they lead to


class Twins:
    """States held against their canonicals, whose values must be equal, until the time for it is used up."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._seconds = COMPARED_SECONDS
        self._table: dict[Any, Any] = {}

    def compare(self, path: list[Any]) -> Iterator[tuple[Any, str]]:
        """Yield states of a game, from its end back while they are quickly solved, each with its fault."""
        rules = self.rules
        for state in reversed(path) if rules.folds else ():
            twin = rules.canonical(state)
            if twin == state or rules.is_terminal(state):
                continue
            if self._seconds <= 0:
                return
            values = _tried("play below it", lambda: self._values(state, twin))  # noqa: B023, asked immediately
            if isinstance(values, str):
                yield state, values
            if values is None or isinstance(values, str):
                return
            value, twin_value = values
            if value.distance != twin_value.distance or abs(value.score - twin_value.score) > CLOSE:
                yield state, f"is worth {value}, its canonical {twin} {twin_value}: they must be equal"

    def _values(self, *states: Any) -> list[Value] | None:
        """The values of the states without symmetry; None where they take too long."""
        begun, budget = time.perf_counter(), Budget(COMPARED_NODES, COMPARED_EACH)
        plain, for_cycles = _searches(self.rules)
        solve = functools.partial(plain, self.rules.game, table=self._table, symmetry=False, budget=budget)
        try:
            with contextlib.suppress(MethodError):
                return [solve(state).value for state in states]
            solve = functools.partial(for_cycles, self.rules.game, symmetry=False, budget=budget)
            return [solve(state).value for state in states]
        except (BudgetExceeded, MethodError):
            return None
        finally:
            self._seconds -= time.perf_counter() - begun


class Hints:
    """The hints that a game gives besides its rules, checked until the time for it is used up."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._outlook: Callable[[Any], int] = rules.outlook or (lambda state: 0)
        self._followup, self._longest = own_method(rules.game, "followup"), own_method(rules.game, "longest")
        self._feature_count: int | None = None
        self._speak_of_values = bool(self.rules.replies or self.rules.bounds or self._longest)
        self._seconds = SECONDS
        self._table: dict[Any, int] = {}

    def look(self, state: Any, children: Children) -> str | None:
        """Return the fault in an unfinished state's hints about the next plies, or None."""
        fault: str | None = _tried("what the rules say of it", lambda: self._look(state, list(children)))
        return fault

    def passed(self, state: Any) -> str | None:
        """Return the fault in states that vanish at an unfinished state or behind it, or None. Raises GameError."""
        rules, vanishing = self.rules, self.rules.vanishing
        if vanishing is None:
            return None
        if bool(vanishing(state)) != bool(vanishing(rules.canonical(state))):
            return f"vanishes or not unlike its canonical {rules.canonical(state)}"
        fault = _tried("what follows by chance", lambda: [] if vanishing(state) else list(derive.edges(rules, state)))
        return fault if isinstance(fault, str) else None

    def compare(self, path: list[Any]) -> Iterator[tuple[Any, str]]:
        """Yield states of a game, from its end back, each with the fault in the hints about its value."""
        begun, budget, rules = time.perf_counter(), Budget(MAX_NODES, self._seconds), self.rules
        if not self._speak_of_values or self._seconds <= 0:
            return
        plain, _ = _searches(rules)
        solve = functools.partial(plain, rules.game, table=self._table, symmetry=False, budget=budget)
        with contextlib.suppress(BudgetExceeded, MethodError):
            for state in reversed(path):
                if rules.is_terminal(state) or any(True for _ in rules.outcomes(state)):
                    continue
                evaluated: Value = solve(state).value
                score, distance = evaluated.score, evaluated.distance
                low, high = rules.bounds(state) if rules.bounds is not None else (score, score)
                if not low <= score <= high:
                    yield state, f"is worth {score}, its bounds are {(low, high)}: they must hold it"
                elif self._longest is not None and distance is not None and distance > self._longest(state):
                    longest = self._longest(state)
                    yield state, f"ends after {distance} plies, longest is {longest}: it must not be less"
                elif rules.replies is not None and not self._outlook(state):
                    children = [(action, rules.result(state, action)) for action in rules.actions(state)]
                    replies, merits = self._replying(state, children), list[int]()
                    for action, child in replies:
                        merit = rules.end(child) if rules.is_terminal(child) else merit_of(solve(child).value)
                        merits.append(rules.lifted(merit, state, action, child))
                    if not merits or max(merits) != merit_of(evaluated):
                        actions = [action for action, _ in replies]
                        yield state, f"is worth {evaluated}, more than its replies {actions}: add a best reply"
        self._seconds -= time.perf_counter() - begun

    def _look(self, state: Any, children: list[tuple[Any, Any]]) -> str | None:
        hints = {"outlook": self.rules.outlook, "followup": self._followup, "replies": self.rules.replies}
        for name, method in hints.items():
            if method is not None and name in self.rules.kind.unfit:
                return self.rules.kind.unfit[name]
        if self._followup is not None and self.rules.outlook is None:
            return "has followup without outlook, which it stands for: name it outlook"
        outlook = self._outlook(state)
        value = None if self.rules.outlook is None else derive.settled(self.rules, state, 2)
        foreseen = 1 if value == Value(1, 1) else -1 if value == Value(-1, 2) else 0
        if self.rules.outlook is not None and outlook != foreseen:
            return f"has outlook {outlook}, by two plies of play {foreseen}: they must be equal"
        if self.rules.features is not None:
            features = list(self.rules.features(state))
            count = self._feature_count = self._feature_count or len(features)
            if not 0 < len(features) == count <= MOST_FEATURES:
                return (
                    f"has {len(features)} features, others {count}: as many for each state, from 1 to {MOST_FEATURES}"
                )
            for number in features:
                if type(number) is not int or not -FEATURE_LIMIT <= number < FEATURE_LIMIT:
                    return f"has the feature {number!r}: features are whole numbers from -32768 to 32767"
            if list(self.rules.features(state)) != features:
                return "has features that differ from call to call: rules must be deterministic"
        if outlook:
            return None
        replies = self._replying(state, children)
        if not replies:
            return "has no legal replies: their bits must hold a best action wherever outlook is 0"
        # Only where outlook is 0, it and its companions make promises for the states that replies lead to
        for action, child in replies if self.rules.outlook is not None else ():
            over = self.rules.is_terminal(child)
            if over and self.rules.lifted(self.rules.end(child), state, action, child) < 0:
                return f"has outlook 0, its reply {action} loses immediately: leave it out of replies"
            if over and self.rules.replies is not None and (self._outlook(child) or self.rules.replies(child)):
                return f"leads to the draw {child}, where outlook and replies must be 0"
            if self._followup is not None and self._followup(child) != self._outlook(child):
                return f"leads to {child}, whose followup is not its outlook: they must be equal after a reply"
        return None

    def _replying(self, state: Any, children: Children) -> list[tuple[Any, Any]]:
        """Those of the children that `replies` names, or all; none where it names illegal actions."""
        if self.rules.replies is None:
            return list(children)
        bits, max_bits = self.rules.replies(state), max(USUAL, self.rules.bits)
        named = [(action, child) for action, child in children if action < max_bits and bits >> action & 1]
        return named if sum(1 << action for action, _ in named) == bits else []


def _tried(what: str, ask: Callable[[], Any]) -> Any:
    """Return the answer of the rules, or a text that says that they fail."""
    try:
        return ask()
    except (GameError, MemoryError):
        raise
    except Exception as error:
        return f"{what} fails: {error_text(error)}"


def _searches(rules: Rules) -> tuple[Any, Any]:
    """The plain search for a value of the kind, and the one that cycles do not stop."""
    from solver.search import alphabeta, retrograde, value_iteration

    by_method = {
        "minimax": (alphabeta.solve, retrograde.solve),
        "expectiminimax": (alphabeta.expectiminimax, value_iteration.solve),
    }
    return by_method[rules.kind.acyclic]
