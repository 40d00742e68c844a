"""The check of a game's rules against the protocol, by random play-outs: run it before a long solve.

Every fault is a GameError that names the state and the moves that lead to it. A play-out cannot prove rules right,
it finds the usual slips in a second; the kernels check again what they must rely on.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from solver.errors import BudgetExceeded, GameError, MethodError
from solver.game import REQUIRED, STATE_LIMIT, check_signatures, game_text, is_score_game, starts_of, validate

MOST_ACTIONS = 1 << 16  # of one state
MOST_PLIES = 500  # of one play-out, which may go in circles
COMPARED = 20  # states whose symmetric twins are solved
COMPARED_NODES = 3_000  # nodes for each, or a tenth of a second


def check_game(game: Any, *, playouts: int = 100, seed: int = 0) -> None:
    """Raise GameError if the rules break the protocol anywhere in `playouts` random games."""
    check_signatures(type(game))
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None
    chance = random.Random(seed)
    inspector = _Inspector(game)
    starts = inspector.call("initial"), *starts_of(game)
    for _ in range(playouts):
        inspector.play_out(chance.choice(starts), chance)


class _Inspector:
    """Looks at states along random games; remembers the moves for its messages."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.name = game_text(game)
        self.moves: list[int] = []
        self.compared = 0

    def play_out(self, state: int, chance: random.Random) -> None:
        self.moves = []
        self.check_number(state, "the start")
        while True:
            actions = self.inspect(state)
            if not actions or len(self.moves) >= MOST_PLIES:
                return
            action = chance.choice(actions)
            child = self.call("result", state, action)
            self.check_number(child, f"result({state}, {action})")
            if child != self.call("result", state, action):
                raise self.fault(
                    state, f"result({state}, {action}) differs from call to call: rules must be deterministic"
                )
            self.check_tier(state, child)
            self.moves.append(action)
            state = child

    def inspect(self, state: int) -> list[int]:
        """Check all that one state says; its actions, none if it is terminal."""
        self.check_canonical(state)
        if self.call("is_terminal", state):
            self.check_utility(state)
            return []
        actions = self.actions(state)
        if not actions:
            raise self.fault(state, "has no actions and is not terminal: is_terminal must say so")
        for action in actions:
            if type(action) is not int or action < 0:
                raise self.fault(state, f"has the action {action!r}: actions are ints >= 0")
        if len(set(actions)) < len(actions):
            raise self.fault(state, "has an action twice")
        return actions

    def actions(self, state: int) -> list[int]:
        """The actions of a state, which must end."""
        found: list[int] = []
        try:
            for action in self.game.actions(state):
                found.append(action)
                if len(found) > MOST_ACTIONS:
                    raise self.fault(state, f"has more than {MOST_ACTIONS} actions: actions must end")
        except GameError:
            raise
        except Exception as error:
            raise self.fault(state, f"actions fails: {type(error).__name__}: {error}") from error
        return found

    def check_number(self, state: Any, what: str) -> None:
        if type(state) is not int:
            raise self.fault(state, f"{what} is {type(state).__name__}: states are plain ints")
        if not 0 <= state < STATE_LIMIT:
            raise self.fault(state, f"{what} is outside [0, 2**63): states are non-negative 63-bit integers")

    def check_utility(self, state: int) -> None:
        utility = self.call("utility", state)
        if type(utility) is not int:
            raise self.fault(state, f"is terminal, its utility is {utility!r}: it must be a whole number")
        if not is_score_game(self.game) and utility not in (-1, 0, 1):
            raise self.fault(state, f"has utility {utility}: -1, 0 or 1, or say score_game = True in the class")
        left = self.call("plies_left", state) if hasattr(self.game, "plies_left") else 0
        if type(left) is not int or not 0 <= left < 1000:
            raise self.fault(state, f"is terminal with {left!r} plies left: it must be a small whole number")

    def check_tier(self, state: int, child: int) -> None:
        if not hasattr(self.game, "tier"):
            return
        tier, child_tier = self.call("tier", state), self.call("tier", child)
        if type(tier) is not int or tier < 0:
            raise self.fault(state, f"has tier {tier!r}: tiers are ints >= 0")
        if child_tier < tier:
            raise self.fault(state, f"is in tier {tier}, its child {child} in {child_tier}: tier must never decrease")

    def check_canonical(self, state: int) -> None:
        if not hasattr(self.game, "canonical"):
            return
        twin = self.call("canonical", state)
        self.check_number(twin, f"canonical({state})")
        if self.call("canonical", twin) != twin:
            raise self.fault(state, f"canonical({state}) is {twin}, whose canonical is another: it must be idempotent")
        if bool(self.call("is_terminal", state)) != bool(self.call("is_terminal", twin)):
            raise self.fault(state, f"is terminal or not unlike its canonical {twin}")
        if twin != state and self.compared < COMPARED:
            self.compare(state, twin)

    def compare(self, state: int, twin: int) -> None:
        """Solve both without symmetry, if that is quickly done: their values must be equal."""
        from solver.search import Budget, alphabeta, retrograde

        self.compared += 1
        for algorithm in (alphabeta, retrograde):
            try:
                values = [
                    algorithm.solve(self.game, one, symmetry=False, budget=Budget(COMPARED_NODES, 0.1)).value
                    for one in (state, twin)
                ]
            except BudgetExceeded:
                self.compared += 2  # each costs time and says nothing
                return
            except MethodError:
                continue
            except Exception as error:
                raise self.fault(state, f"play below it fails: {type(error).__name__}: {error}") from error
            if values[0] != values[1]:
                raise self.fault(state, f"is worth {values[0]}, its canonical {twin} {values[1]}: they must be equal")
            return

    def call(self, name: str, *arguments: int) -> Any:
        """A rule's answer; what it raises becomes a GameError."""
        method: Callable[..., Any] = getattr(self.game, name)
        try:
            return method(*arguments)
        except Exception as error:
            call = f"{name}({', '.join(map(str, arguments))})"
            kind = "a legal action's result" if name == "result" else "the rule" if name in REQUIRED else "the method"
            raise self.fault(
                arguments[0] if arguments else 0, f"{kind} {call} fails: {type(error).__name__}: {error}"
            ) from error

    def fault(self, state: Any, what: str) -> GameError:
        path = " after the moves " + " ".join(map(str, self.moves[-20:])) if self.moves else ""
        return GameError(f"{self.name}: state {state}{path}: {what}")
