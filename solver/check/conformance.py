"""The check of a game's rules against the protocol, by random play-outs: run it before a long solve.

Every fault is a GameError that names the state and the moves that lead to it. A play-out cannot prove rules right,
it finds the usual slips in a second; the kernels check their own assumptions again. What a game has and what it lacks
is looked at here in the game itself, not by `game.Rules`, which fills the gaps: that is this room's duty.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from solver.base.errors import GameError, ResourceError, SolverError, UncompiledRules
from solver.base.kinds import MARGIN
from solver.base.progress import Progress, silent
from solver.base.signals import impatient, not_yet
from solver.check.playouts import MOST_MOVES, RandomGame, states_of, worth_of
from solver.check.soundness import Hints, Twins
from solver.rules.game import STATE_LIMIT, Rules, check_parameters, game_text, own_method
from solver.rules.loading import error_text
from solver.rules.notation import format_action
from solver.rules.protocol import check_signatures
from solver.rules.width import USUAL, outside
from solver.search.derive import derived

MOST_ACTIONS = 1 << 16  # of one state
GAMES = 100  # play-outs
PLAYED_SECONDS = 5.0  # of all of them
STARTS = 10_000  # from which play-outs begin
PLACED = 100  # draws of further ones
SLOW = 10.0  # seconds of computing for what one state says
MOST_THROWS = 100  # chance nodes in a row
OTHERWISE = "numbers beyond 64 bits, an index out of range, or what else Numba does otherwise than Python"
UNSOUND = "canonical must keep values, they must be equal"
LOOKED_AT = 20_000  # states of a table
FOLDING_SECONDS = 1.0


def check_game(game: Any, *, playouts: int = GAMES, seed: int = 0) -> list[int]:
    """Raise GameError if the rules break the protocol anywhere in `playouts` random games; the states looked at.

    It ends after PLAYED_SECONDS, since rules may be slow.
    """
    return states_of(random_games(game, playouts=playouts, seed=seed))


def random_games(game: Any, *, playouts: int = GAMES, seed: int = 0, progress: Progress = silent) -> list[RandomGame]:
    """The games that `check_game` looks at. Raises GameError."""
    check_signatures(type(game))
    check_parameters(game)
    chance = random.Random(seed)
    inspector = _Inspector(game)
    with impatient(SLOW, f"{game_text(game)}: its rules take more than {SLOW:g} seconds for a state: they must end"):
        starts = inspector.starts()
        deadline = time.monotonic() + PLAYED_SECONDS
        games: list[RandomGame] = []
        visited_count = 0
        while len(games) < playouts and time.monotonic() < deadline:
            games.append(inspector.play_out(chance.choice(starts), chance, deadline))
            visited_count += len(games[-1].states)
            progress("random games", visited_count, None)
    return games


def check_table(game: Any, table: Mapping[Any, int], symmetry: bool) -> None:
    """Raise GameError if the states of a complete table of merits break the protocol, or folding has changed values.

    All numbers are looked at, of the rest what about LOOKED_AT states say.
    """
    inspector = _Inspector(game)
    for number, state in enumerate(table):
        inspector.check_number(state, "a state")
        if number % (len(table) // LOOKED_AT + 1) == 0:
            inspector.check_mover(state)
            inspector.check_tier(state, state)
            if inspector.call("is_terminal", state):
                inspector.check_utility(state)
    if not (symmetry and own_method(game, "canonical")):
        return
    # Of states as they are, not folded, each value must follow from the children's. If all do, the folded table has the
    # values of the whole game, by induction from its ends.
    rules = inspector.rules
    canonical, value_of = rules.canonical, rules.kind.value
    todo = inspector.starts()[:LOOKED_AT]
    visited = set(todo)

    def known(child: Any) -> int | None:
        """A child's merit; it is to be looked at as well."""
        if child not in visited:
            visited.add(child)
            todo.append(child)
        return table.get(canonical(child))

    deadline = time.perf_counter() + FOLDING_SECONDS
    while todo and time.perf_counter() < deadline:
        state = todo.pop()
        merit = table.get(canonical(state))
        state_value, unknown = (rules.end(state), []) if rules.is_terminal(state) else derived(rules, state, known)
        if unknown:
            raise inspector.fault(state, f"has the child {unknown[0]}, whose canonical was not reached: {UNSOUND}")
        if merit != state_value:
            worth = "unknown" if merit is None else value_of(merit)
            raise inspector.fault(
                state, f"is worth {value_of(state_value or 0)}, its canonical {canonical(state)} {worth}: {UNSOUND}"
            )


def check_parents(game: Any, states: Iterable[int], seconds: float) -> None:
    """Raise GameError if parents and moves of some states do not agree, as far as the time goes."""
    inspector, deadline = _Inspector(game), time.monotonic() + seconds
    rules = inspector.rules
    for state in states:
        if time.monotonic() > deadline:
            return
        inspector.check_parents(state, [rules.result(state, action) for action in rules.actions(state)])


def confirmed(game: Any, states: Iterable[int], fault: str, known: bool = True) -> GameError:
    """Return the error for a fault that compiled rules have shown in some states.

    Args:
        game: The game.
        states: States of which one at least shows the fault.
        fault: The behaviour of the compiled rules.
        known: Whether `fault` names a fault of the rules. If not, they raised an exception.

    Returns:
        A GameError if the plain rules have a fault there, too. Otherwise UncompiledRules.
    """
    inspector = _Inspector(game)
    for state in states:
        try:
            for _, child in inspector.inspect(state):
                inspector.check_tier(state, child)
                inspector.check_mover(child)
                inspector.check_canonical(child)
        except GameError as error:
            return GameError(f"{game_text(game)}: {fault}") if known else error
    return unlike(game, fault, OTHERWISE if known else "")


def unlike(game: Any, fault: str, cause: str = OTHERWISE) -> UncompiledRules:
    """Return the error for a fault that compiled rules show and plain ones do not. `cause`: its likely cause."""
    reason = f"not as plain Python: {cause}" if cause else "plain Python does not fail there"
    return UncompiledRules(f"{game_text(game)}: as compiled, {fault}; {reason}")


def blamed(error: BaseException) -> SolverError | None:
    """The error of rules in which this one was raised, with the method and its arguments; None if it was elsewhere.

    It is a GameError, or a ResourceError where memory did not suffice.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        game = frame.f_locals.get("self")
        if not (isinstance(game, tuple) and hasattr(game, "_fields") and hasattr(game, "is_terminal")):
            continue
        code = frame.f_code
        names = code.co_varnames[1 : code.co_argcount]
        call = f"{code.co_name}({', '.join(repr(frame.f_locals.get(name)) for name in names)})"
        state = frame.f_locals.get("state")
        where = "" if state is None else f"state {state}: "
        return failure(error)(f"{game_text(game)}: {where}{call} fails: {error_text(error)}")
    return None


def failure(error: BaseException) -> type[SolverError]:
    """Return the class of error to raise for an error of the rules. Lack of memory is not their fault."""
    return ResourceError if isinstance(error, MemoryError) else GameError


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


class _Inspector:
    """Looks at states along random games; remembers the moves for its messages."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.rules, self.unfolded = Rules(game), Rules(game, symmetry=False)
        self.name = self.rules.name
        self.hints = Hints(self.rules)
        self.twins = Twins(self.rules)
        # states, moves or None of chance, and where they lead
        self.moves: list[tuple[int, int | None, int]] = []

    def starts(self) -> list[int]:
        """Where play-outs begin: the start, the first of the others, and some that are drawn by lot."""
        starts, name, draw = [self.call("initial")], "placed", random.Random(0)
        try:
            if own_method(self.game, "placed"):
                placed = [self.game.placed(draw.randrange(1 << 62)) for _ in range(PLACED)]
                starts += [state for state in placed if state != -1]
            name = "starts"
            if own_method(self.game, "starts"):
                starts += itertools.islice(self.game.starts(), STARTS)
        except Exception as error:
            raise self.fault(starts[0], f"{name} fails: {error_text(error)}", failure(error)) from error
        return starts

    def play_out(self, state: int, chance: random.Random, deadline: float) -> RandomGame:
        self.moves = []
        self.check_number(state, "the start")
        path, actions, throws = [state], [], 0
        while len(self.moves) < MOST_MOVES and time.monotonic() < deadline:
            not_yet(SLOW)
            following = self.inspect(state)
            if not following:
                break
            move, child = chance.choice(following)
            throws = throws + 1 if move is None else 0
            if throws > MOST_THROWS:
                raise self.fault(state, f"comes after {MOST_THROWS} chance nodes in a row: make one of them")
            actions.append(move)
            self.moves.append((state, move, child))
            self.check_number(child, f"a child of {state}")
            self.check_tier(state, child)
            state = child
            path.append(state)
        for state, fault in itertools.chain(self.twins.compare(path), self.hints.compare(path)):
            raise self.fault(state, fault)
        return RandomGame(path, actions, worth_of(self.rules, path, actions))

    def inspect(self, state: int) -> list[tuple[int | None, int]]:
        """Check all that one state says; its actions and the states they lead to, none if it is terminal.

        A chance node has no actions: it leads on by itself.
        """
        self.check_canonical(state)
        self.check_mover(state)
        self.check_rank(state)
        if self.call("is_terminal", state):
            self.check_utility(state)
            return []
        outcomes = self.outcomes(state)
        if fault := self.hints.passed(state):
            raise self.fault(state, fault)
        if outcomes:
            return [(None, child) for child in outcomes]
        actions = self.actions(state)
        if not actions:
            raise self.fault(state, "has no actions and is not terminal: is_terminal must say so")
        for action in actions:
            if type(action) is not int or action < 0:
                raise self.fault(state, f"has the action {action!r}: actions are ints >= 0")
        if len(set(actions)) < len(actions):
            raise self.fault(state, "has an action twice")
        children: list[tuple[int | None, int]] = [(action, self.call("result", state, action)) for action in actions]
        for index, child in children:
            self.check_number(child, f"result({state}, {index})")
            self.check_move(state, index)
        if fault := self.hints.look(state, children):
            raise self.fault(state, fault)
        if self.rules.parents is not None:
            self.check_parents(state, [child for _, child in children])
        return children

    def check_parents(self, state: int, children: list[int]) -> None:
        """Each child in the same tier has the state among its parents, as often as moves lead there.

        And the state's own parents, unless they are finished, have it among their children.
        """
        tier = self.rules.tier
        moves = Counter(child for child in children if tier(child) == tier(state))
        for child, count in moves.items():
            listed = self._listed("parents", child).count(state)
            if listed != count:
                raise self.fault(child, f"has the parent {state} {_times(count)}, parents yields it {_times(listed)}")
        for parent, count in Counter(self._listed("parents", state)).items():
            self.check_number(parent, f"a parent of {state}")
            if tier(parent) != tier(state):
                raise self.fault(state, f"has the parent {parent}, of another tier: parents yields those of one tier")
            if not self.call("is_terminal", parent):
                made = [self.call("result", parent, action) for action in self._listed("actions", parent)].count(state)
                if made != count:
                    raise self.fault(
                        state,
                        f"comes from {parent} {_times(made)}, parents yields that {_times(count)}: they must agree",
                    )

    def actions(self, state: int) -> list[int]:
        """The actions of a state, which must end, and be the same when they are asked for again."""
        listed, again = self._listed("actions", state), self._listed("actions", state)
        if listed != again:
            raise self.fault(state, "actions differ from call to call: rules must be deterministic")
        return listed

    def outcomes(self, state: int) -> list[int]:
        """The states that chance leads to; none where a player moves. Where it has a say no action may be listed."""
        if not own_method(self.game, "chance"):
            return []
        pairs = self._listed("chance", state)
        if pairs != self._listed("chance", state):
            raise self.fault(state, "chance differs from call to call: rules must be deterministic")
        for pair in pairs:
            if type(pair) is not tuple or len(pair) != 2:
                raise self.fault(state, f"chance yields {pair!r}: it must yield (weight, next state)")
            if type(pair[0]) is not int or not 1 <= pair[0] < STATE_LIMIT:
                raise self.fault(
                    state, f"chance has the weight {pair[0]!r}: weights are whole numbers from 1 on, not probabilities"
                )
            self.check_number(pair[1], f"a state that chance leads to from {state}")
        if sum(weight for weight, _ in pairs) >= STATE_LIMIT:
            raise self.fault(state, "chance has weights of 2**63 or more in all: they must be smaller")
        acts = False
        # A chance node need not bear to be asked
        with contextlib.suppress(Exception):
            acts = bool(pairs) and any(True for _ in self.game.actions(state))
        if acts:
            raise self.fault(state, "has both chance and actions, which are not asked for then: one must yield nothing")
        return [child for _, child in pairs]

    def _listed(self, name: str, state: int) -> list[Any]:
        items: list[Any] = []
        try:
            for action in getattr(self.game, name)(state):
                items.append(action)
                if len(items) > MOST_ACTIONS:
                    raise self.fault(state, f"has more than {MOST_ACTIONS} {name}: they must end")
        except GameError:
            raise
        except (Exception, SystemExit) as error:
            raise self.failed(name, (state,), error) from error
        return items

    def check_number(self, state: Any, what: str) -> None:
        if type(state) is not int:
            raise self.fault(state, f"{what} is {type(state).__name__}: states are plain ints")
        if not 0 <= state < 1 << self.rules.bits:
            raise self.fault(state, f"{what} {outside(self.rules.bits)}")
        if own_method(self.game, "size") and state >= self.call("size"):
            raise self.fault(state, f"{what} is not below size(), {self.call('size')}: every state must be")

    def check_utility(self, state: int) -> None:
        utility = self.call("utility", state)
        if type(utility) is not int:
            raise self.fault(state, f"is terminal, its utility is {utility!r}: it must be a whole number")
        if not self.rules.scores and utility not in ((-1,) if self.rules.impartial else (-1, 0, 1)):
            score = "-1 alone with impartial = True" if self.rules.impartial else "-1, 0 or 1, or say score_game = True"
            raise self.fault(state, f"has utility {utility}: {score} in the class")
        self.check_margin("utility", state, utility)
        left = self.plies_left(state)
        if type(left) is not int or not 0 <= left < 1000:
            raise self.fault(state, f"is terminal with {left!r} plies left: it must be a small whole number")

    def plies_left(self, state: int) -> Any:
        return self.call("plies_left", state) if own_method(self.game, "plies_left") else 0

    def check_move(self, state: int, action: Any) -> None:
        """Check whether the same player moves again, and the action's reward, if the rules have these methods."""
        if own_method(self.game, "again"):
            again = self.call("again", state, action)
            if type(again) not in (bool, int) or again not in (0, 1):
                raise self.fault(state, f"again({state}, {action}) is {again!r}: it must be True or False")
        if own_method(self.game, "reward"):
            reward = self.call("reward", state, action)
            if type(reward) is not int:
                raise self.fault(state, f"reward({state}, {action}) is {reward!r}: it must be a whole number")
            self.check_margin("reward", state, reward)

    def check_margin(self, name: str, state: int, margin: int) -> None:
        if not MARGIN.holds(margin):
            raise self.fault(state, MARGIN.beyond[name])

    def check_mover(self, state: int) -> None:
        if own_method(self.game, "to_move") and self.call("to_move", state) not in (0, 1):
            mover = self.call("to_move", state)
            raise self.fault(state, f"has player {mover!r} to move: to_move is 0 or 1, for two players")

    def check_rank(self, state: int) -> None:
        """The rank of a state and of its canonical one, and the next, each of which is that of one state or of none."""
        for rules in (self.unfolded, self.rules):
            # Wide states have no ranks
            if rules.rank is None or rules.unrank is None or rules.bits > USUAL:
                continue
            state = rules.canonical(state)
            rank = self.call("rank", state, rule=rules.rank)
            if rank == -1 and self.call("is_terminal", state):
                continue
            if rank == -1 and rules.numbering is not None:
                raise self.fault(state, f"{rules.numbering.LACKING}: give it a number")
            if type(rank) is not int or not 0 <= rank < STATE_LIMIT:
                raise self.fault(state, f"has rank {rank!r}: the ranks of states are ints in [0, 2**63)")
            if self.call("unrank", rank, rule=rules.unrank) != state:
                found = rules.unrank(rank)
                raise self.fault(state, f"has rank {rank}, unrank({rank}) is {found!r}: it must be the state")
            following = self.call("unrank", rank + 1, rule=rules.unrank)
            # -n: n ranks from this one on have no state, so the last of them has none
            lacking = type(following) is int and following < 0
            last = self.call("unrank", rank - following, rule=rules.unrank) if lacking else following
            if type(last) is int and last >= 0 if lacking else self.call("rank", last, rule=rules.rank) != rank + 1:
                raise self.fault(state, f"unrank({rank + 1}) is {following!r}, of another rank: -1, if none has it")

    def check_tier(self, state: int, child: int) -> None:
        if not own_method(self.game, "tier"):
            return
        tier, child_tier = self.call("tier", state), self.call("tier", child)
        for state_of, state_tier in ((state, tier), (child, child_tier)):
            if type(state_tier) is not int or not 0 <= state_tier < STATE_LIMIT:
                raise self.fault(state_of, f"has tier {state_tier!r}: tiers are ints, 0 <= tier < 2**63")
        if child_tier < tier:
            raise self.fault(state, f"is in tier {tier}, its child {child} in {child_tier}: tier must never decrease")

    def check_canonical(self, state: int) -> None:
        if not own_method(self.game, "canonical"):
            return
        twin = self.call("canonical", state)
        self.check_number(twin, f"canonical({state})")
        if self.call("canonical", twin) != twin:
            raise self.fault(state, f"canonical({state}) is {twin}, whose canonical is another: it must be idempotent")
        if twin == state:
            return
        if bool(self.call("is_terminal", state)) != bool(self.call("is_terminal", twin)):
            raise self.fault(state, f"is terminal or not unlike its canonical {twin}")
        if self.call("is_terminal", state):
            ends = [(self.call("utility", each_state), self.plies_left(each_state)) for each_state in (state, twin)]
            if ends[0] != ends[1]:
                raise self.fault(state, f"is worth {ends[0][0]}, its canonical {twin} {ends[1][0]}: they must be equal")

    def call(self, name: str, *arguments: Any, rule: Callable[..., Any] | None = None) -> Any:
        """Call a rule twice, which must give the same answer. An error of its own becomes a GameError."""
        method: Callable[..., Any] = rule or getattr(self.game, name)
        try:
            answer, again = method(*arguments), method(*arguments)
        except GameError:
            raise
        except (Exception, SystemExit) as error:
            raise self.failed(name, arguments, error) from error
        # What is not a number is refused for that
        if answer != again and answer == answer:
            call = f"{name}({', '.join(map(str, arguments))}) differs from call to call"
            raise self.fault(arguments[0] if arguments else 0, f"{call}: rules must be deterministic")
        return answer

    def failed(self, name: str, arguments: tuple[Any, ...], error: BaseException) -> SolverError:
        """The error of a rule that raised one."""
        call = f"{name}({', '.join(map(str, arguments))})"
        return self.fault(arguments[0] if arguments else 0, f"{call} fails: {error_text(error)}", failure(error))

    def named(self, state: int, move: int | None, child: int) -> str:
        """A move in the game's own notation; its number where the rules fail to name it."""
        if move is None:
            return f"chance->{child}"
        try:
            return format_action(self.game, state, move)
        except Exception:
            # The fault to tell is another
            return str(move)

    def fault(self, state: Any, what: str, kind: type[SolverError] = GameError) -> SolverError:
        path = " after the moves " + " ".join(itertools.starmap(self.named, self.moves[-20:])) if self.moves else ""
        return kind(f"{self.name}: state {state}{path}: {what}")
