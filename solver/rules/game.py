"""The rules of a game: the protocol; `Rules`, which fills in missing methods; and loading a game by its string.

A game is a `typing.NamedTuple` of parameters (int, bool, or one tuple of ints) whose plain methods work on ints. A
state is an int in [0, 2**63), or below 2**bits where the rules say `bits`: board and side to move, exact and
reversible. An action is a small int >= 0. Values and utilities are for the side to move. The methods run twice: as they
are, and compiled by Numba; so they use integer arithmetic, plain control flow, `yield`, and helper methods of their own
class (or module functions).
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from solver.base.errors import GameError, SolverError, reason
from solver.base.kinds import MARGIN, NIMBER, OF_OUTCOMES, OUTCOME, Kind
from solver.base.value import Value, lift, terminal_merit, value_of
from solver.games import CATALOGUE, FROM_FILES, class_of, opened_by
from solver.rules import loading
from solver.rules.fingerprint import Origin, check_origin, counts_everywhere, fingerprint
from solver.rules.protocol import VALUES, check_signatures, lacking
from solver.rules.width import USUAL, bits_of

if TYPE_CHECKING:
    from solver.rules.numbering import Numbers

STATE_LIMIT = 1 << 63
RULES = "SOLVER_GAME"  # in the environment: the rules of books that are not of games of the package


class Game(Protocol):
    """The five methods that every game has.

    A game is a NamedTuple of its parameters, and its states are ints. `protocol.OPTIONAL` lists the optional methods.
    """

    def initial(self) -> int:
        """Return the start state."""

    def actions(self, state: int) -> Iterable[int]:
        """Yield the legal actions of a non-terminal state, at least one, or return them in a list."""

    def result(self, state: int, action: int) -> int:
        """Return the state after a legal action."""

    def is_terminal(self, state: int) -> bool:
        """Return whether the game is over."""

    def utility(self, state: int) -> int:
        """Return the value of a terminal state for the side to move: -1, 0, 1, or the margin in a score game."""

    def __hash__(self) -> int:
        """Return the hash of the parameters, as a NamedTuple does: compiled code is cached by it."""


def own_method(game: Any, name: str) -> Any:
    """The optional method of that name of a game, or of a class of them; None without it. `Rules` fills the gaps.

    A parameter may have such a name: a board's `size` is not a method.
    """
    method = getattr(game, name, None)
    return method if callable(method) else None


def own_value(game: Any, name: str) -> Any:
    """What one of `VALUES` returns, or what stands in its place; None without it. Raises GameError for another type."""
    value = None if name in getattr(game, "_fields", ()) else getattr(game, name, None)
    value = value() if callable(value) else value
    if value is not None and not isinstance(value, VALUES[name]):
        raise GameError(f"{type(game).__name__}.{name} is {value!r}: make it a {VALUES[name].__name__}")
    return value


class Rules:
    """A game with its optional methods filled in, folded by its symmetry or not. Ask it, not the game.

    Made once by whoever solves, searches or plays, and handed down. `kind` is that of its values; in a game of wins,
    draws and losses it is the one that was asked for. `outcomes(state)` are the outcomes of chance, none if a player
    decides. `mover(state)` is who is to move, 0 if states do not tell. All methods are bound, plain callables. These
    are None if the game lacks them: `to_move`, `again`, `reward`, `chance`, `evaluate`, `features`, `bounds`,
    `promise`, `size`, `rank`, `outlook`, `replies` and `vanishing`. In the plain searches states may be any hashable
    objects. Raises GameError if a required method is missing, or two do not go together.
    """

    impartial: bool
    tier: Callable[[Any], int]
    rank: Callable[[Any], int] | None
    unrank: Callable[[int], Any] | None
    mover: Callable[[Any], int]

    def __init__(self, game: Any, symmetry: bool = True, kind: Kind = OUTCOME, start: Any = None) -> None:
        self.game, self.symmetry, self.start = game, symmetry, start
        self.margins, self.plain_only = is_score_game(game), bool(getattr(game, "plain_only", False))
        self.kind = kind_of(self.margins, bool(own_method(game, "chance")), kind)
        self.scores, self.bits, self.impartial = self.kind.scores, bits_of(game), getattr(game, "impartial", False)
        try:
            self.actions: Callable[[Any], Iterator[int]] = game.actions
            self.result: Callable[[Any, int], Any] = game.result
            self.is_terminal: Callable[[Any], bool] = game.is_terminal
            self.utility: Callable[[Any], Any] = game.utility
        except AttributeError as error:
            raise lacking(type(game), str(error.name)) from None
        self.to_move: Callable[[Any], int] | None = own_method(game, "to_move")
        self.again: Callable[[Any, int], bool] | None = own_method(game, "again")
        self.reward: Callable[[Any, int], int] | None = own_method(game, "reward")
        if self.margins:
            self.utility, self.reward = _limited(self, "utility"), _limited(self, "reward")
        self.gain: Callable[[Any, Any], int] = self.reward or _zero
        self.chance: Callable[[Any], Iterator[tuple[Any, Any]]] | None = own_method(game, "chance")
        self.outcomes: Callable[[Any], Iterator[tuple[Any, Any]]] = self.chance or _none
        self.vanishing: Callable[[Any], Any] | None = own_method(game, "vanishing")
        self.evaluate: Callable[[Any], Any] | None = own_method(game, "evaluate")
        self.features: Callable[[Any], Iterator[int]] | None = own_method(game, "features")
        self.bounds: Callable[[Any], tuple[int, int]] | None = own_method(game, "bounds")
        self.outlook: Callable[[Any], int] | None = own_method(game, "outlook")
        self.replies: Callable[[Any], int] | None = own_method(game, "replies")
        self.promise: Callable[[Any, int], int] | None = own_method(game, "promise")
        canonical, tier = own_method(game, "canonical"), own_method(game, "tier")
        self.folds = symmetry and canonical is not None
        self.canonical: Callable[[Any], Any] = canonical if self.folds else lambda state: state
        self.tiered, self.tier = tier is not None, tier or _zero
        self.plies_left: Callable[[Any], int] = own_method(game, "plies_left") or _zero
        self.endless: Callable[[Any], int] = _limited(self, "endless") or _zero
        self.size: Callable[[], int] | None = own_method(game, "size")
        self.parents: Callable[[Any], Iterator[Any]] | None = own_method(game, "parents")
        self.rank, self.unrank = own_method(game, "rank"), own_method(game, "unrank")
        self.numbering = None if self.rank or self.bits > USUAL else numbering_of(game, self.folds)
        if self.numbering:
            self.rank, self.unrank = self.numbering.rank, self.numbering.unrank
        elif self.size and not self.rank:
            from solver.rules.numbering import within

            self.rank = self.unrank = functools.partial(within, game)
        self.everywhere = counts_everywhere(game)
        starts = _every(self) if self.everywhere else _none
        self.starts: Callable[[], Iterator[Any]] = own_method(game, "starts") or starts
        _check_together(self)
        self.alternates, self.mover = self.to_move is None and self.again is None, self.to_move or _zero

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled are the game and the options: the methods are bound anew."""
        return Rules, (self.game, self.symmetry, self.kind, self.start)

    def __deepcopy__(self, memo: Any) -> Rules:
        return self

    @classmethod
    def of(cls, game: Any, symmetry: bool = True) -> Rules:
        """The rules of a game or its name, distances and all. Rules are returned as they are."""
        if not isinstance(game, Rules):
            return cls(at_hand(game), symmetry)
        return cls(game.game, game.symmetry) if game.kind.bare else game

    @functools.cached_property
    def fingerprint(self) -> str:
        """Which rules these are: 64 hex digits."""
        return fingerprint(self.game)

    @property
    def name(self) -> str:
        """The game's string; of a lesson's plain class, which has none, its name."""
        return game_text(self.game) if isinstance(self.game, tuple) else type(self.game).__name__

    @property
    def origin(self) -> Origin:
        """The game's string and the fingerprint."""
        return Origin(self.name, self.fingerprint)

    def check_same(self, subject: str, other_rules: Rules, remedy: str, other_text: str = "these are") -> None:
        """Raise ForeignBook, which names both games, unless a thing of these rules goes with one of others.

        Args: as `fingerprint.check_origin` has them.
        """
        if self.game is not other_rules.game and (
            type(self.game) is not type(other_rules.game) or self.game != other_rules.game
        ):
            check_origin(subject, self.origin, other_rules.origin, remedy, other_text)

    def children(self, state: Any) -> Iterator[tuple[Any, Any, Any]]:
        """(weight, action, child) of all that may follow a state: weight 0 of an action, action None of a chance."""
        decided = True
        for weight, child in self.outcomes(state):
            yield weight, None, child
            decided = False
        if decided:
            for action in self.actions(state):
                yield 0, action, self.result(state, action)

    def same_mover(self, state: Any, action: Any, child: Any) -> bool:
        """Whether the player who moved from state to child moves again. Where chance led there, action is None."""
        if self.again is not None:
            return bool(self.again(state, action))
        return self.to_move is not None and self.to_move(state) == self.to_move(child)

    def lifted(self, merit: int, state: Any, action: Any, child: Any) -> int:
        """The merit that the child's gives the state by this action."""
        merit = lift(merit, not self.alternates and self.same_mover(state, action, child), self.scores)
        return merit if action is None or self.reward is None else merit + self.reward(state, action)

    def end(self, state: Any) -> int:
        """The merit of a finished state."""
        worth = self.utility(state)
        if not isinstance(worth, (int, float)):
            raise GameError(f"state {state} is terminal, its utility is {worth!r}: it must be a whole number")
        return terminal_merit(worth, self.plies_left(state), self.scores)  # type: ignore[arg-type]

    def ended(self, state: Any) -> Value:
        """The value of a finished state."""
        return value_of(self.end(state), self.scores)

    def first(self) -> Any:
        """The state in which play begins: the game's own start, or `start`."""
        return self.game.initial() if self.start is None else self.start

    def roots(self) -> list[Any]:
        """The states to solve from, each once: the start, and those of `starts`; or `start` alone."""
        if self.start is not None:
            return [self.start]
        starts = list(dict.fromkeys([self.game.initial(), *self.starts()]))
        vanishing_start = next(filter(self.vanishing, starts), None) if self.vanishing is not None else None
        if vanishing_start is not None:
            raise GameError(
                f"{self.name} starts from state {vanishing_start}, which vanishes: only chance leads to such states"
            )
        return starts


def kind_of(margins: bool, by_chance: bool, asked: Kind = OUTCOME) -> Kind:
    """Return the kind of a game's values.

    Args:
        margins: Values are margins, not outcomes.
        by_chance: Values are expectations of margins or outcomes.
        asked: The kind to find in a game of outcomes. Others are taken for outcomes with their distances.
    """
    # By names, since a kind may come from another process
    asked = OF_OUTCOMES.get(asked.name, OUTCOME)
    if asked is NIMBER:
        return NIMBER
    if by_chance:
        from solver.base.expectations import Expectation

        return Expectation("margin" if margins else "utility")
    return MARGIN if margins else asked


def numbering_of(game: Any, folds: bool) -> Numbers | None:
    """What numbers the positions of a game by what its rules say of them; by orbits only where they are folded."""
    if folds and own_method(game, "tables"):
        from solver.rules.numbering import numbers_of
        from solver.rules.orbits import Orbits

        return numbers_of(Orbits, game)
    if own_method(game, "scan"):
        from solver.rules.numbering import Numbering, numbers_of

        return numbers_of(Numbering, game)
    return None


def _check_together(rules: Rules) -> None:
    """Raise GameError if the game has optional methods that contradict or want each other."""
    name = type(rules.game).__name__
    if rules.again is not None and rules.to_move is not None:
        raise GameError(
            f"{name} has both to_move(state) and again(state, action): keep to_move if states say who is to move"
        )
    if rules.again is not None and rules.chance is not None:
        raise GameError(f"{name} has again(state, action), which says nothing about chance nodes: add to_move(state)")
    if rules.vanishing is not None and rules.chance is None:
        raise GameError(f"{name} has vanishing(state) but not chance(state), the only way to such states: add it")
    if rules.chance is not None and rules.to_move is None:
        raise GameError(f"{name} has chance(state) but no to_move(state) for the chance nodes: add it")
    for method, partner in (("rank", "unrank"), ("symmetries", "tables"), ("digits", "scan")):
        if (own_method(rules.game, method) is None) != (own_method(rules.game, partner) is None):
            raise GameError(f"{name} has one of {method} and {partner}: they go together")
    if own_method(rules.game, "rank") and (own_method(rules.game, "scan") or own_method(rules.game, "tables")):
        raise GameError(f"{name} has rank(state), and scan or tables, which number positions as well: keep one of them")
    if own_method(rules.game, "tables") and own_method(rules.game, "canonical") is None:
        raise GameError(f"{name} has tables() and no canonical(state), the least image of a state: add it")
    if rules.everywhere and own_method(rules.game, "tables") is None:
        raise GameError(f"{name} has everywhere = True, and no tables() that say which positions there are: add them")
    if rules.reward is not None and not is_score_game(rules.game):
        raise GameError(f"{name} has reward(state, action), which makes margins: set score_game = True in the class")
    if own_method(rules.game, "endless") and not is_score_game(rules.game):
        raise GameError(f"{name} has endless(state), which is a margin: set score_game = True")


def is_score_game(game: Any) -> bool:
    """Whether the utilities of a game, or of a class of them, are margins, not win, loss or draw."""
    return bool(getattr(game, "score_game", False))


def _every(rules: Rules) -> Callable[[], Iterator[Any]]:
    """A function that yields all positions that have numbers, and their images where they are not folded."""

    def every() -> Iterator[Any]:
        numbering = numbering_of(rules.game, True)
        assert numbering is not None
        positions = map(numbering.unrank, range(numbering.size))
        return positions if rules.folds else itertools.chain.from_iterable(map(numbering.images, positions))

    return every


def _limited(rules: Rules, name: str) -> Any:
    """A rule that gives margins, which raises GameError where one is beyond the limits; None without that rule."""
    rule = own_method(rules.game, name)
    limit = MARGIN.most

    def limited(state: Any, *action: Any) -> Any:
        margin = rule(state, *action)
        if -limit < margin < limit:
            return margin
        raise GameError(f"{rules.name}: state {state} {MARGIN.beyond[name]}")

    return rule and limited


def _zero(*state: Any) -> int:
    return 0


def _none(*state: Any) -> Iterator[Any]:
    return iter(())


GameOrName = Game | str | os.PathLike[str]
"""A game, or what `load_game` makes it from."""


def load_game(text: GameOrName) -> Game:
    """Return the game that a string names; a game is returned as it is.

    Args:
        text: `connect-four`, `connect-four:5,4` or `connect-four:width=5,height=4`; your own `my_game.py::Hexapawn:4,4`
            or `package.module::Class`, which is imported, that is, run; `my_game.py:4,4` if the file has one class of
            rules; a file of moves or of a tree, `moves.csv`, `rules.kif`, `exercise.json`; `openspiel:NAME`.

    Raises:
        GameError: There is no such game, its parameters are wrong, or its rules cannot be imported.
    """
    name = name_in(text)
    if name is None:
        return typing.cast(Game, text)
    name = opened_by(name)
    return _made(name, *_class_and_values(name))


def at_hand(source: Any) -> Any:
    """Return the game that a string names; any object with methods of rules as it is, a lesson's plain class too."""
    has_rules = any(hasattr(source, name) for name in ("result", "show", "format_action"))
    return source if has_rules and not isinstance(source, (type, Rules)) else load_game(source)


def name_in(source: Any) -> str | None:
    """Return the name of a book or a game, or a path, as text; None for a game, which needs no name.

    Raises:
        GameError: It is anything else. The message names its type and the remedy.
    """
    if isinstance(source, tuple) and hasattr(source, "_fields"):
        return None
    text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    if isinstance(text, str):
        return text
    if hasattr(source, "initial"):
        cls: Any = source if isinstance(source, type) else type(source)
        check_signatures(cls)
        required = tuple(field for field in cls._fields if field not in cls._field_defaults)
        calls = [f"{cls.__name__}({', '.join(fields)})" for fields in dict.fromkeys((required, cls._fields))]
        raise GameError(f"{cls.__name__} is a class, not a game: write {' or '.join(calls)}")
    kind = f"the class {source.__name__}" if isinstance(source, type) else f"an object of type {type(source).__name__}"
    # A part of an archive
    remedy = (
        "open it by importlib.resources.as_file" if hasattr(source, "joinpath") else "write a path or a name as text"
    )
    raise GameError(f"{kind} is neither a book nor a game: {remedy}")


def rules_for(game: GameOrName, stated: str) -> Game:
    """Return the rules that you name for a book or an evaluation whose header states its game.

    If you name a file of yours alone, the header says which of its classes of rules. If you name no parameters, those
    that the header states are taken: numbers and words, which the class's fields convert. A class that reads parameters
    by a method of its own, `from_text`, gets none from a header.

    Raises:
        GameError: The rules cannot be loaded, or want parameters that only you may name.
    """
    name = name_in(game)
    if name is None:
        return typing.cast(Game, game)
    text = opened_by(name)
    wanted, _, stated_values = stated.partition("::")[2].partition(":")
    cls, values = _class_and_values(text, wanted)
    if loading.names_user_rules(text) and not values and stated_values:
        if own_method(cls, "from_text"):
            full = f"{text.partition('::')[0]}::{cls.__name__}:{stated_values}"
            raise GameError(f"{text} reads parameters by a method of its own: name those of the book, {full}")
        values = stated_values
    return _made(text, cls, values)


def rules_at_hand(stated: str) -> Game | None:
    """Return the rules that the environment names (RULES) for a game that is not of the package; None without them.

    Raises GameError if they cannot be loaded.
    """
    text = os.environ.get(RULES)
    if not text:
        return None
    try:
        return rules_for(text, stated)
    except GameError as error:
        raise GameError(f"{RULES}={text}: {error}") from None


def _class_and_values(text: str, wanted: str = "") -> tuple[Any, str]:
    """The class that a game's name tells, and the text of its parameters. Raises GameError.

    Of a file that is named alone the class is that of the name `wanted`, or the only one.
    """
    source, class_name, rest = text.partition("::")
    name, values = loading.split_values(rest if class_name else text)
    if loading.names_user_rules(text):
        cls: Any = loading.user_class(source, name) if class_name else loading.user_class(name, "", wanted)
        check_signatures(cls)
        return cls, values
    if name not in CATALOGUE:
        raise unknown_game(name)
    return class_of(name), values


def unknown_game(name: str) -> GameError:
    """The error for a name that no game of the package has: it tells the three nearest."""
    # On this path alone
    import difflib

    wrong = name[:80].lower()

    def likeness(right: str) -> float:
        return difflib.SequenceMatcher(None, wrong, right).ratio() + (len(wrong) > 2 and wrong in right)

    nearest, second, third = sorted(CATALOGUE, key=likeness, reverse=True)[:3]
    meant = f"did you mean {nearest}, {second} or {third}? All: solver games. Your own: my_game.py::Class"
    return GameError(f"no game {name[:80]!r}: {meant}")


def _made(text: str, cls: Any, values: str) -> Game:
    """The game of a class and its parameters. Raises GameError."""
    try:
        game = cls.from_text(values) if own_method(cls, "from_text") else cls(**loading.parameters_in(cls, values))
        validate(game)
    except (ValueError, TypeError) as error:
        raise GameError(f"{text}: {error}") from None
    except (MemoryError, SolverError):
        raise
    except (OverflowError, RecursionError) as error:
        raise GameError(f"{text}: {reason(error)}: take smaller parameters") from error
    except Exception as error:  # a user's `check`
        raise GameError(f"{text}: {type(error).__name__}: {error}") from error
    return typing.cast(Game, game)


def validate(game: Any) -> None:
    """Raise ValueError if the parameters make no game; called before anything is allocated."""
    for name, value in zip(game._fields, game, strict=True):
        if not isinstance(value, (int, float, str, tuple, types.NoneType)):
            kind = type(value).__name__
            raise ValueError(f"{name} is a {kind}: parameters are numbers, truth values, text or a tuple of ints")
        if not all(-STATE_LIMIT <= number < STATE_LIMIT for number in loading.integers_in(value)):
            raise ValueError(f"{name} is out of range: at most 2**63 - 1")
    if own_method(game, "check"):
        game.check()
    bits_of(game)


def check_parameters(game: Any) -> None:
    """Raise GameError, as `load_game` does, if the parameters of a game at hand make none."""
    try:
        validate(game)
    except ValueError as error:
        raise GameError(f"{game_text(game)}: {error}") from None


def game_text(game: Any) -> str:
    """The string that `load_game` makes this game from (`loading.parameters_of`).

    A user's own game is named by its file's base name (or its module): where it lay is not part of its name.
    """
    cls = type(game)
    values = game.to_text() if own_method(game, "to_text") else loading.parameters_of(game)
    package, _, module = cls.__module__.rpartition(".")
    name = module.replace("_", "-")
    if package != "solver.games" or name not in CATALOGUE or not issubclass(cls, class_of(name)):
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
        home = os.path.basename(file) if cls.__module__.startswith(loading.USER_MODULE) else cls.__module__
        name = f"{home}::{cls.__name__}"
    return f"{name}:{values}" if values else name


def is_name_of(text: str, game: Any) -> bool:
    """Whether a string names a game of the package, in its own form or in another, such as `connect-four:width=4`."""
    try:
        return is_built_in(text) and bool(load_game(text) == game)
    except GameError:
        return False


def located(game: Any) -> str:
    """The string from which any process that sees the same files makes this game."""
    text, module = game_text(game), type(game).__module__
    if not module.startswith(loading.USER_MODULE):
        return text
    return f"{os.path.abspath(sys.modules[module].__file__ or '')}::{text.partition('::')[2]}"


def is_built_in(text: str) -> bool:
    """Whether `load_game` makes this game of the package alone, running nobody else's code and opening no file."""
    return not loading.names_user_rules(text) and not is_graph(opened_by(text))


def is_graph(text: str) -> bool:
    """Whether a game's string names a graph or a tree, whose states are numbers of positions."""
    return text.partition(":")[0] in FROM_FILES
