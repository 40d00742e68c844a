"""A player: answers from a solution, and by live search where the solution is silent.

`Player` is the public face of three parts:

    knowledge.py answers without a search: the solution, the rules, a short look-ahead
    live.py        exact searches and estimates within a budget
    analysis.py    the order of moves

Every answer says where it comes from, and whether it is known:

    terminal    the rules: the game is over
    book        the solution; in a grown book perhaps an estimate
    search      the look-ahead, or a live search: an exact value by alpha-beta or retrograde analysis, a win or loss
                that a search of limited depth forces, or, if the budget ends first, an estimate
    missing     nobody knows: the budget ended, or no live search is allowed

A complete book has every state that play can reach. So a state that it lacks is refused with PositionError, whatever is
asked of it.

A budget is for one answer: one value, one move, or all moves of a state. `EXACT_SHARE` of it goes to exact searches of
the states asked for. The rest goes to one search of limited depth for all that are left, so that their estimates
compare.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from solver.base.errors import GameError, MethodError, MissingState
from solver.base.kinds import Method
from solver.base.value import Value, drop_value, keeps
from solver.book import Book, Opened, Source, open_source
from solver.play import analysis
from solver.play.analysis import OPPONENT, Answer, Move, Moves, Outcome
from solver.play.knowledge import Knowledge
from solver.rules.game import GameOrName, load_game
from solver.rules.width import as_state
from solver.search import SECONDS, Budget

if TYPE_CHECKING:
    from solver.play.live import Live
    from solver.play.lookahead import Foresight
    from solver.play.practical import Practical

METHODS = ("best", "practical")
EXACT_SHARE = 0.75  # of a budget, for exact searches before estimates are made


class Player:
    """Play a game and value its states, from a solution or by live search.

        Player(book)                    a book
        Player("connect-four:4,4")      the book that comes with the package; live search if there is none
        Player({}, game)                live search only
        Player(values, game)            any mapping from states to values

    A state that the solution lacks is searched live, and the result is kept for the session. Games of chance are not
    searched live: a player looks at most two plies beyond their book.

    Threads may share a player. Their live searches run one after another, and the time of waiting counts. A player can
    be pickled if its solution can; values found live are not included.

    Args:
        source: A book or its path; a game or its name; or a mapping from states to values.
        game: The rules or their name. Needed with a mapping, and with a book of your own game.
        seconds: Limit for the live search of one answer. An answer may be about all moves of a state. Loading compiled
            code takes a moment more, once; a limit below 0.3 s avoids it. None for no limit.
        nodes: Limit in nodes for the live search of one answer. None for no limit.
        live: Whether to search live at all.
        evaluate: An evaluation that `solver learn` wrote, used instead of the rules' own `evaluate`.
        module: A WebAssembly module that `solver build` wrote, used for the live search.
        method: "best": of equally good moves take the first. "practical": take the one that gives a fallible opponent
            the most chances to go wrong, if all values are known.
        opponent: Plies that the fallible opponent looks ahead, from 0 to 4.

    Raises:
        GameError: A mapping came without its game, or the source is neither a book nor a game.
        MethodError: There is no such method, or it does not suit the game.
        ForeignBook: The book, the evaluation or the module belongs to other rules.
    """

    solution: Mapping[int, Value]
    practical: Practical | None = None
    _foresight: Foresight | None = None
    _live_search: Live | None = None

    def __init__(
        self,
        source: Source | Opened | Mapping[int, Value],
        game: GameOrName | None = None,
        *,
        seconds: float | None = SECONDS,
        nodes: int | None = None,
        live: bool = True,
        evaluate: Any = None,
        module: Any = None,
        method: str = "best",
        opponent: int = OPPONENT,
    ) -> None:
        if isinstance(source, Mapping) and not isinstance(source, Book):
            if game is None:
                raise GameError("a mapping of values does not know its game: write Player(values, game)")
            opened, self.solution = Opened(load_game(game)), source
        else:
            opened = open_source(source, game)
            self.solution = {} if opened.book is None else opened.book
        header = None if opened.book is None else opened.book.header
        self.game, self.rules, self.canonical = opened.game, opened.rules, opened.rules.canonical
        self.seconds, self.nodes = seconds, nodes
        self.knowledge = Knowledge(self.solution, self.rules)
        self.live = live and not self.knowledge.is_complete and "live" not in self.rules.kind.unfit
        self._lead = None
        # Where play may come back to a state, and no value has a distance
        if header is not None and header.method == Method.RETROGRADE and header.kind.scores:
            from solver.play.practical import Leading

            plies = opened.book.plies_to_conversion if opened.book is not None and header.kind.converts else None
            self._lead = Leading(self.knowledge.book_rules, self.knowledge.find, plies)
        if method not in METHODS:
            raise MethodError(f"no method of play {method!r}: choose {' or '.join(METHODS)}")
        self.method = method
        if method == "practical":
            from solver.play.practical import Practical

            self.practical = Practical(self.rules, self.knowledge.value, opponent)
        self._evaluate, self._module, self._making = evaluate, module, threading.Lock()
        if evaluate is not None or module is not None:
            # A file that is none is refused immediately
            self.foresight  # noqa: B018

    @property
    def foresight(self) -> Foresight:
        """The searches of limited depth. A player that answers from its book never loads them."""
        with self._making:
            if self._foresight is None:
                from solver.play.lookahead import Foresight

                self._foresight = Foresight(self.rules, self._evaluate, self._module)
            return self._foresight

    @property
    def live_search(self) -> Live:
        """The exact searches, which are loaded when a player that searches live first asks for them."""
        foresight = self.foresight
        with self._making:
            if self._live_search is None:
                from solver.play.live import Live

                self._live_search = Live(self.rules, foresight)
            return self._live_search

    @classmethod
    def of(cls, source: Player | Source, **options: Any) -> Player:
        """Make a player of a book, a game or the name of either. A player is returned as it is.

        Args:
            source: A player, or anything that `Player` accepts.
            options: Keyword arguments of `Player`.
        """
        return source if isinstance(source, Player) else cls(source, **options)

    def __reduce__(self) -> Any:
        options = {"seconds": self.seconds, "nodes": self.nodes, "live": self.live, "evaluate": self._evaluate}
        options |= {"method": self.method, "module": self.foresight.module if self._module is not None else None}
        if self.practical is not None:
            options["opponent"] = self.practical.opponent
        return functools.partial(Player, **options), (self.solution, self.game)

    def silent(self) -> Player:
        """Return the same player without live searches."""
        opponent = OPPONENT if self.practical is None else self.practical.opponent
        return Player(self.solution, self.game, live=False, method=self.method, opponent=opponent)

    def check(self, state: int) -> int:
        """Check that `state` is a state, and return it as an `int`.

        Raises:
            StateTypeError: It is not an integer.
            PositionError: It is too large for this game, or negative; or the book is complete and lacks it.
        """
        state = as_state(state, self.rules.bits)
        if self.knowledge.is_complete:
            self.knowledge.reached(state)
        return state

    def value(self, state: int, budget: Budget | None = None) -> Answer:
        """Answer for a state: its worth for the side to move.

        Args:
            state: Any state of the game.
            budget: Takes the place of the player's `seconds` and `nodes`.

        Raises:
            StateTypeError, PositionError: As `check`.
        """
        state = as_state(state, self.rules.bits)
        answer = self.knowledge.reached(state)
        if self._searches(answer.exact or answer.source == "book"):
            answer = self._search([state], budget or self.budget())[state]
        return answer

    def best(self, state: int) -> int:
        """Return a best action: the quickest win, else a draw, else the longest loss; the first of equals.

        If some moves are unknown, it is the first known to keep the state's value. If that value is unknown, too, it is
        one of the moves that rank highest, as in `analyse`.

        Raises:
            StateTypeError, PositionError: As `check`, and if the game is over or chance decides.
            MissingState: Nothing is known of any move.
        """
        state = as_state(state, self.rules.bits)
        if self.knowledge.covers is None and self._lead is None and self.practical is None:
            action = self.knowledge.best_action(state)
            if action is not None:
                return action
        return self.choose(state).action

    def choose(self, state: int, budget: Budget | None = None) -> Move:
        """Return the move that `best` chooses, with its value.

        Args:
            state: An unfinished state.
            budget: Replaces the player's `seconds` and `nodes`.

        Returns:
            The move. Its `best` is True if no move is known to be better.

        Raises:
            StateTypeError, PositionError, MissingState: As `best`.
        """
        state = as_state(state, self.rules.bits)
        self.knowledge.check_open(state)
        covers = self.knowledge.covers
        moves = self.knowledge.moves(state, only=covers)
        if covers is not None or not all(move.is_told for move in moves):
            # A move that keeps the state's value, with as little search as possible
            budget, value = budget or self.budget(), self.knowledge.answer(state).value
            if self._searches(value is not None):
                value = self.solve([state], budget)[state].value
                moves = self.knowledge.moves(state, only=covers)
            keeper = self._known_keeper(moves, value)
            if keeper is None and covers is not None:
                # No move has known answers to all replies: take one that keeps the value without them
                moves = self.knowledge.moves(state)
                keeper = self._known_keeper(moves, value)
            unknown = [move for move in moves if not move.is_told]
            if keeper is None and self._searches(not unknown):
                keeper = self._proved_keeper(state, unknown, value, budget)
                if keeper is None:
                    # Among cycles no single move can be shown to keep a value, so all are valued.
                    search = self._estimate if value is None else self._search
                    moves = self.knowledge.moves(state, search([move.child for move in unknown], budget))
                    keeper = self._known_keeper(moves, value)
            if keeper is not None:
                return keeper
        if not moves:
            raise self.knowledge.undecided(state)
        if all(move.value is None and move.estimate is None for move in moves):
            raise MissingState(f"no move from state {state} has a known value: {self._remedy()}")
        promise = self.rules.promise
        move = min(moves, key=analysis.rank) if self._lead is None else self._lead(state, moves)
        # Where play may go round, a move that gets somewhere comes first
        leads = self._lead is not None and self._lead.has_goal(state, move)
        if self.practical is not None and not leads and all(candidate.exact for candidate in moves):
            equal = [candidate for candidate in moves if analysis.rank(candidate) == analysis.rank(move)]
            if len(equal) > 1:
                move = max(self._expecting(state, equal), key=lambda candidate: candidate.practical or 0.0)
        # Among equal guesses take the most promising
        if promise is not None and not move.exact:
            move = min(moves, key=lambda move: (*analysis.rank(move), -promise(state, move.action)))
        return move._replace(best=all(move.exact for move in moves))

    def _known_keeper(self, moves: list[Move], value: Value | None) -> Move | None:
        """Return the first move known to keep a state's value; the quickest win if `value` lacks a distance."""
        known = [(move, move.value) for move in moves if move.value is not None]
        keepers = [move for move, worth in known if value is not None and keeps(worth, value)]
        return analysis.as_best(min(keepers, key=analysis.rank)) if keepers else None

    def _proved_keeper(self, state: int, unknown: list[Move], value: Value | None, budget: Budget) -> Move | None:
        """Return the first of some unknown moves that a search proves to keep a state's value, or None."""
        if value is None:
            return None
        live_search, rules = self.live_search, self.rules
        for move in unknown:
            same = rules.same_mover(state, move.action, move.child)
            child_value = drop_value(value, same, rules.gain(state, move.action))
            if child_value is None:
                continue
            with live_search.turn(budget) as is_mine:
                if not is_mine or not live_search.attains(state, move.action, move.child, child_value, same, budget):
                    continue
            self.knowledge.record({self.canonical(move.child): child_value})
            move = self.knowledge.move(state, move.action, move.child, Answer(child_value, True, "search"))
            if move.value is not None and keeps(move.value, value):
                return analysis.as_best(move)
        return None

    def conversion(self, state: int, move: Move) -> int | None:
        """The plies to a conversion, a move that raises the tier or ends the game, by this move and perfect play.

        None where the solution has no such distances, or neither side wins.
        """
        return None if self._lead is None else self._lead.conversion(state, move)

    def line(self, state: int, max_moves: int = 1000) -> Iterator[tuple[int, int]]:
        """Yield best play from a state to the end: each action and the state that it leads to.

        Play ends early where a state repeats, which is a draw. Where chance decides, the action is the number of the
        outcome, from 0, whose value is nearest to the state's; of equals, the likelier.

        Args:
            state: Where to begin.
            max_moves: Largest number of moves.

        Raises:
            StateTypeError, PositionError: As `check`.
            MissingState: No move is known to be best.
        """
        state = self.check(state)
        visited = {state}
        while not self.game.is_terminal(state) and max_moves:
            outcomes = self.knowledge.outcomes(state)
            if outcomes:
                value = self.knowledge.answer(state).value
                if value is None or any(outcome.value is None for outcome in outcomes):
                    raise MissingState(f"an outcome of state {state} has no known value: {self._remedy()}")
                action = analysis.likeliest(outcomes, value)
                state = outcomes[action].child
            else:
                move = self.choose(state)
                if not move.best:
                    raise MissingState(f"no move from state {state} is known to be best: {self._remedy()}")
                action, state = move.action, move.child
            yield action, state
            if state in visited:
                return
            visited.add(state)
            max_moves -= 1

    def why(self, state: int, action: int) -> analysis.Refutation:
        """Explain a move: what it gives away, and the shortest line that shows it.

            player.why(state, action).line      # [(action, state), ...] after the move

        Args:
            state: An unfinished state.
            action: One of its actions.

        Returns:
            The values before and after the move, for the side that moves; whether the move is the only good one; and
            best play after it, to where a win is at most two plies away.

        Raises:
            StateTypeError, PositionError: As `check`, and if the action is not legal.
            MissingState: The value of the move, or of the position, is not known.
        """
        state = self.check(state)
        return analysis.explained(self, state, action, *self.examine(state))

    def outcomes(self, state: int) -> list[Outcome]:
        """List the outcomes of dice or cards at a state, in the game's order. Empty if a player decides.

        Raises:
            StateTypeError, PositionError: As `check`.
        """
        return self.knowledge.outcomes(self.check(state))

    def analyse(self, state: int) -> Moves:
        """List all moves of a state, best first. A notebook shows them as a board.

        Order: wins (quick ones first), draws, losses (slow ones first). An estimate ranks by its number, from -1 to
        1. A move of which nothing is known ranks between draws and losses.

        Args:
            state: Any state of the game.

        Returns:
            One `Move` for each action. Empty if the game is over or chance decides; see `outcomes`.

        Raises:
            StateTypeError, PositionError: As `check`.
            GameError: The rules are wrong: the state has no actions but is not terminal, for example.
        """
        answer, moves = self.examine(state)
        return Moves(moves, self.rules, as_state(state, self.rules.bits), answer)

    def examine(self, state: int, budget: Budget | None = None) -> tuple[Answer, list[Move]]:
        """Return a state's answer and its moves, both within one budget.

        Args:
            state: Any state of the game.
            budget: Replaces the player's `seconds` and `nodes`.

        Returns:
            The answer, as from `value`, and the moves, as from `analyse`.

        Raises:
            StateTypeError, PositionError, GameError: As `analyse`.
        """
        state, knowledge = as_state(state, self.rules.bits), self.knowledge
        answer = knowledge.reached(state)
        if answer.source == "terminal":
            return answer, []
        moves = knowledge.reached_moves(state)
        unknown = [move.child for move in moves if not move.is_told]
        if self._searches(not unknown):
            parent = None if answer.exact else state
            queried = unknown if parent is None else [*unknown, parent]
            answers = self._search(queried, budget or self.budget(), parent)
            moves, answer = knowledge.moves(state, answers), knowledge.answer(state)
        if not moves:
            return answer, []
        moves = analysis.best_first(moves, answer.value)
        if (unknown or moves[0].value != answer.value) and knowledge.contradict(state, answer.value, moves):
            raise knowledge.beyond_play(state)
        if not answer.exact and self.live and (unknown or answer.source != "book"):
            answer = analysis.from_moves(moves)
        if self.practical is not None and all(move.exact for move in moves):
            # The best moves share a look of their own, as in `choose`
            best_moves, others = ([move for move in moves if move.best is best] for best in (True, False))
            moves = [*self._expecting(state, best_moves), *self._expecting(state, others)]
        return answer, moves

    def _expecting(self, state: int, moves: list[Move]) -> Iterator[Move]:
        """Yield moves with estimates of their results against the fallible opponent."""
        assert self.practical is not None
        results = self.practical.expectations(state, [move.action for move in moves])
        for move, result in zip(moves, results, strict=True):
            yield move._replace(practical=result)

    def prepare(self, wait: bool = True) -> None:
        """Load the compiled search now, so that the first live search need not wait for it.

        Args:
            wait: Whether to return only when it is loaded.
        """
        if self._searches():
            self.live_search.prepare(wait)

    def budget(self, stop: Callable[[], bool] | None = None) -> Budget:
        """Start the budget of one answer: the clock runs from here.

        Args:
            stop: Called now and then; the search ends early once it returns True.
        """
        return Budget(self.nodes, self.seconds, stop)

    def solve(self, states: list[int], budget: Budget, parent: int | None = None) -> dict[int, Answer]:
        """Search states exactly, in `EXACT_SHARE` of a budget, if this player searches live.

        Args:
            states: States of unknown value.
            budget: Nodes and seconds for all of them together.
            parent: One of `states`, the parent of all others, if that is among them.

        Returns:
            An answer for each state, exact or not.
        """
        states = [as_state(state, self.rules.bits) for state in states]
        if self._searches():
            with self.live_search.turn(budget) as is_mine:
                # Another thread may have proved some of them while this one waited.
                unproved = [state for state in states if not self.knowledge.is_proved(state)]
                if is_mine and unproved:
                    self.knowledge.record(self.live_search.solve(unproved, parent, budget.part(EXACT_SHARE)))
        # children: a ply less than their parent
        plies = self.knowledge.depth - (len(states) > 1)
        return {state: self.knowledge.answer(state, plies) for state in states}

    def _searches(self, is_told: bool = False) -> bool:
        """Whether a live search starts: this player searches, and the solution does not tell what is asked."""
        return self.live and not is_told

    def _search(self, states: list[int], budget: Budget, parent: int | None = None) -> dict[int, Answer]:
        """Search states exactly, then estimate those that stay unknown. Arguments as of `solve`."""
        answers = self.solve(states, budget, parent)
        unsolved = [state for state, answer in answers.items() if not (answer.exact or state == parent)]
        for state, answer in self._estimate(unsolved, budget).items():
            if answer.exact or answers[state].estimate is None:
                answers[state] = answer
        return answers

    def _estimate(self, states: list[int], budget: Budget) -> dict[int, Answer]:
        """Ask a search of limited depth about states, in the rest of the budget."""
        if not states:
            return {}
        answers = self.live_search.estimates(list(dict.fromkeys(states)), budget)
        exact = ((self.canonical(state), answer.value) for state, answer in answers.items())
        self.knowledge.record({key: value for key, value in exact if value is not None})
        return answers

    def _remedy(self) -> str:
        reason = self.rules.kind.unfit.get("live")
        if reason is not None:
            return reason
        return "allow more time, or solve the game into a book" if self.live else "allow a live search or more time"
