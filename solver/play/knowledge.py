"""A player's knowledge about a state without a live search.

`Knowledge.answer` asks these sources in turn. The first that knows the state wins.

    1. The solution: a book, or any mapping from states to values.       source "book"
    2. The rules: the game is over.                                      source "terminal"
    3. Values that live searches proved earlier in this session.         source "search"
    4. A full-width look-ahead of a few plies.                           source "search"
    5. A grown book's estimate.                                          source "book"

If none of them knows the state, the source is "missing".

The look-ahead costs no budget and needs no live search. It makes sure that a state never has a worse value than its
moves prove. It is `PLIES` deep, or deeper if a trimmed book needs more. A complete book needs none.

A complete book has every state that play can reach. `reached` refuses the others: their moves might lead to states of
the book, but a value of theirs would be one of a game that cannot be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from solver.base.errors import BookError, GameError, PositionError
from solver.base.kinds import Kind
from solver.base.value import Value, is_estimate, keeps, lift_value, merit_of, sign_of
from solver.book import Book
from solver.play.analysis import MISSING, Answer, Move, Outcome
from solver.rules.game import Rules, game_text

if TYPE_CHECKING:
    from solver.search.derive import Ahead, Find

PLIES = 2  # look-ahead where the solution may lack a state


class Knowledge:
    """Answers for states, and for all moves of a state, without a live search.

    Values are for the side to move in the state they belong to. A `Move` holds both views.

    Attributes:
        find: Look up a canonical state in the solution. Returns its exact value, or None.
        depth: Plies of look-ahead for a state that the solution lacks. 0 for a complete book.
        covers: `covers(state=..., action=...)` tells whether the book knows an answer to every reply to an action.
            None unless the book was trimmed for one side.
        is_complete: Whether the solution is a book of every state that play can reach.
    """

    def __init__(self, source: Mapping[int, Value], rules: Rules) -> None:
        """Collect the knowledge about a game.

        Args:
            source: A `Book`, or a mapping from canonical states to values.
            rules: The game's rules, folded by symmetry if and only if `source` is.
        """
        self.rules, self.game, self.canonical, self._source = rules, rules.game, rules.canonical, source
        header = source.header if isinstance(source, Book) else None
        # Of finished states the rules tell, whatever a mapping has
        self._stored: Find = lambda key: source[key] if key in source and not rules.is_terminal(key) else None
        if isinstance(source, Book):
            self._stored = source.stored_value
        self.find = self._stored if header is None else exact_values(self._stored, header.kind)
        self.is_complete: bool = header is not None and header.is_gapless
        # Values that live searches of this session proved, by canonical state
        self._proved: dict[Any, Value] = {}
        # A book without distances is looked beyond by rules without distances.
        self.book_rules = book_rules = rules if header is None else Rules(rules.game, rules.symmetry, header.kind.basis)
        # A complete book needs no look-ahead: play cannot reach a state that it lacks, and rules need not bear it
        self.depth = 0 if self.is_complete else PLIES
        self.covers: Callable[..., bool] | None = None
        if header is not None and header.trim is not None:
            # One ply more than was trimmed, for a child of a dropped state
            plies = header.trim.depth + 1
            self.depth = max(PLIES, plies)
            if header.trim.side is not None:
                from solver.search.derive import covers

                self.covers = functools.partial(covers, book_rules, plies=plies, find=self.find)
        self._lifted = functools.lru_cache(maxsize=1 << 16)(lift_value)

    @functools.cached_property
    def _ahead(self) -> Ahead:
        # A complete book comes here only for states that it lacks
        from solver.search.derive import Ahead

        return Ahead(self.book_rules, lambda key: self.find(key) or self._proved.get(key), lambda: len(self._proved))

    def record(self, values: Mapping[Any, Value]) -> None:
        """Keep values that a live search proved, by canonical state, for the rest of the session."""
        self._proved.update(values)

    def is_proved(self, state: Any) -> bool:
        """Whether a live search of this session has proved the value of a state."""
        return self.canonical(state) in self._proved

    def answer(self, state: Any, plies: int | None = None) -> Answer:
        """Answer for a state from the first source that knows it.

        Args:
            state: Any state of the game, canonical or not.
            plies: Depth of the look-ahead. `depth` if None.

        Raises:
            GameError: The state has no actions, but is not terminal.
        """
        key = self.canonical(state)
        value = self.find(key)
        if value is not None:
            return Answer(value, True, "book")
        return self._unstored(state, key, self.depth if plies is None else plies)

    def value(self, key: Any) -> Value | None:
        """Return the value of a canonical, unfinished state; None if it is unknown, or an estimate."""
        value = self.find(key)
        return self.answer(key).value if value is None and self.depth else value

    def reached(self, state: int) -> Answer:
        """`answer` for a state that a user asks for. Raises PositionError if play cannot reach it."""
        answer: Answer = self._asked(self.answer, state, self.is_complete)
        if answer.value is None and self.is_complete:
            raise self.beyond_play(state)
        return answer

    def check_open(self, state: int) -> None:
        """Raise PositionError if the game is over at a state, or play cannot reach it."""
        if self.reached(state).source == "terminal" if self.is_complete else self.game.is_terminal(state):
            raise PositionError(f"the game is over at state {state}: no action is left")

    def reached_moves(self, state: int) -> list[Move]:
        """`moves` of a state that a user asks for. Raises PositionError if play cannot reach it."""
        moves: list[Move] = self._asked(self.moves, state, self._is_image(state))
        return moves

    def contradict(self, state: int, value: Value | None, moves: list[Move]) -> bool:
        """Whether moves, best first, show that a complete book's value is not one of this state, but of its image."""
        if value is None or self.rules.chance is not None or not self._is_image(state):  # expectations are rounded
            return False
        best_value = moves[0].value
        return best_value is None or not keeps(best_value, value) or not all(move.exact for move in moves)

    def beyond_play(self, state: int) -> PositionError:
        """Return the error of a state that a complete book lacks."""
        name = self._source.path.name if isinstance(self._source, Book) else ""
        return PositionError(
            f"play cannot reach state {state}, as the complete book {name} shows: give the moves from the start"
        )

    def best_action(self, state: int) -> int | None:
        """Return the first best action of a state whose moves are all known, without making `Move`s.

        Returns:
            The action. None if the value of a move is unknown.

        Raises:
            PositionError: The game is over, chance decides, or play cannot reach the state.
            GameError: The state has no actions, but is not terminal.
        """
        game, find, folds, alternates = self.game, self.find, self.rules.folds, self.rules.alternates
        canonical, result, reward = self.canonical, game.result, self.rules.reward
        if self._asked(lambda state: find(canonical(state)), state, self.is_complete) is None:
            self.check_open(state)
        best_action, best_merit = -1, 0
        for action in game.actions(state):
            child = result(state, action)
            value = find(canonical(child) if folds else child)
            if value is None:
                value = self.answer(child, self.depth - 1).value
                if value is None:
                    return None
            # One ply later all merits have the same order.
            merit = merit_of(value)
            if alternates or not self.rules.same_mover(state, action, child):
                merit = -merit
            if reward is not None:
                merit += reward(state, action)
            if merit > best_merit or best_action < 0:
                best_action, best_merit = action, merit
        if best_action < 0:
            raise self.undecided(state)
        return best_action

    def moves(
        self, state: int, answers: Mapping[int, Answer] | None = None, only: Callable[..., bool] | None = None
    ) -> list[Move]:
        """List all moves of a state, in the game's order.

        A child's look-ahead is one ply shorter than its parent's, so both end at the same states.

        Args:
            state: Any state of the game.
            answers: Answers of a live search for children that the solution lacks.
            only: Leave out the moves for which `only(state=..., action=...)` is false, as `covers` may be.

        Returns:
            The moves. None if chance decides.

        Raises:
            GameError: The state has no actions, is not terminal, and chance does not decide.
        """
        moves, answers = [], answers or {}
        result, canonical, find, lifted = self.game.result, self.canonical, self.find, self._lifted
        alternates, reward, same_mover = self.rules.alternates, self.rules.reward, self.rules.same_mover
        for action in self.game.actions(state):
            if only is not None and not only(state=state, action=action):
                continue
            child = result(state, action)
            key = canonical(child)
            value = find(key)
            if value is None:
                answer = answers.get(child) or self._unstored(child, key, self.depth - 1)
                moves.append(self.move(state, action, child, answer))
                continue
            # This is `self.move`, written out: it answers most queries, and calls would double its time.
            same = not alternates and same_mover(state, action, child)
            worth = lifted(value, same) if reward is None else lifted(value, same, reward(state, action))
            moves.append(Move(action, worth, True, "book", False, child, value))
        if not moves and only is None and not self.outcomes(state):
            raise self.undecided(state)
        return moves

    def move(self, state: int, action: int, child: int, answer: Answer) -> Move:
        """Turn the answer for a child into a move of its parent."""
        value, exact, source, estimate = answer
        same, gain = self.rules.same_mover(state, action, child), self.rules.gain(state, action)
        lifted = None if value is None else self._lifted(value, same, gain)
        if estimate is not None:
            estimate = gain + (estimate if same else 0 - estimate)  # no -0.0
        return Move(action, lifted, exact, source, False, child, value, estimate)

    def outcomes(self, state: int) -> list[Outcome]:
        """List the outcomes of chance at a state, in the game's order. Empty if a player decides."""
        pairs = [] if self.rules.is_terminal(state) else list(self.rules.outcomes(state))
        total = sum(weight for weight, _ in pairs)
        outcomes = []
        for weight, child in pairs:
            value = self.answer(child, self.depth - 1).value
            lifted = None if value is None else self._lifted(value, self.rules.same_mover(state, None, child))
            outcomes.append(Outcome(weight / total, lifted, child, value))
        return outcomes

    def undecided(self, state: int) -> PositionError | GameError:
        """Return the error of an unfinished state without actions: chance decides, or the rules are wrong."""
        if self.outcomes(state):
            return PositionError(f"chance decides at state {state}: no action is left to a player")
        return GameError(f"{game_text(self.game)}: state {state} has no actions and is not terminal")

    def _unstored(self, state: int, key: Any, plies: int) -> Answer:
        """Answer for a state that the solution lacks. `key` is its canonical form."""
        if self.game.is_terminal(state):
            return Answer(self.rules.ended(state), True, "terminal")
        value = self._proved.get(key)
        if value is None:
            # No book stores a vanishing state: its value follows from its moves, one ply on.
            vanishing = self.rules.vanishing
            low, high = self._ahead.range(key, max(plies, 1) if vanishing and vanishing(state) else plies)
            value, sign = self.book_rules.kind.value_within(low, high), (low > 0) - (high < 0)
            # Who wins is known, but not how soon
            if value is None and sign and not self.rules.scores:
                return Answer(None, False, "search", sign)
        if value is not None:
            return Answer(value, True, "search")
        # In a grown book this may be an estimate
        value = self._stored(key)
        return MISSING if value is None else Answer(None, False, "book", value.score)

    def _is_image(self, state: int) -> bool:
        """Whether a complete book has another state in place of this one."""
        return self.is_complete and self.canonical(state) != state

    def _asked(self, ask: Callable[[int], Any], state: int, may_be_none: bool) -> Any:
        """Ask about a state that `may_be_none` of the game. Raises PositionError if the rules do not bear it."""
        try:
            return ask(state)
        except (BookError, MemoryError):
            raise
        except Exception as error:
            if may_be_none:
                raise self.beyond_play(state) from error
            raise


def exact_values(stored: Find, kind: Kind) -> Find:
    """Look up the exact values of a book as they are played: of nimbers who wins, and no estimates."""

    def find(key: Any) -> Value | None:
        value = stored(key)
        if value is None or is_estimate(value):
            return None
        return sign_of(value) if kind.signed else value

    return find if kind.signed or kind.estimate is not None else stored
