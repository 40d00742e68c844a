"""A player: answers from a solution, and by live search where the solution is silent.

Every answer says where it comes from, and whether it is known:

    terminal    the rules: the game is over
    book        the solution; in a grown book perhaps an estimate
    search      two plies of look-ahead, whatever is asked, more in a trimmed book that wants more; then, live,
                alpha-beta, in a game with cycles retrograde analysis, or a win or loss that a search of limited depth
                forces; where the budget ends, an estimate
    missing     nobody knows: the budget ended, or no live search is allowed

A complete book has every state that play can reach. So a state that it lacks is refused with PositionError, whatever is
asked of it: its moves might lead to states of the book, but a value of theirs would be one of a game that cannot be.

The look-ahead goes by the rules and by what is known where it ends, costs no budget, and is done without a live search
as well: so a state has the value that its moves tell. The budget is for an answer, be it one value, one move, or all
moves of a state: most of it goes to exact searches of the states asked for; the rest to one search of limited depth,
deepened for all that are left, so that their estimates compare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from solver.base.errors import BookError, GameError, MissingState, PositionError
from solver.base.value import Value, drop_value, keeps, lift_value, merit_of
from solver.book.doors import Source, book_and_game
from solver.book.format import Header
from solver.book.reader import Book
from solver.play import analysis
from solver.play.analysis import Answer, Move, Moves, Outcome, as_best, best_first, from_moves, likeliest, rank
from solver.play.live import SECONDS, Live
from solver.play.lookahead import Foresight
from solver.play.progress import leading
from solver.rules.game import Game, GameOrName, Rules, game_text, load_game
from solver.rules.width import as_state
from solver.search import Budget
from solver.search.settling import Ahead, covers, value_within

PLIES = 2  # of look-ahead, wherever the solution may lack something
EXACT = 0.75  # the part of a budget for exact searches, before estimates are made


class Player:
    """Plays any game from any solution: `Player(book)`, `Player(mapping, game)`, or `Player(game)`.

    A book may be given by its path, and a game by its name, in the order of `book.naming`. A game alone is played from
    the book of it that comes with the package, if there is one; `Player({}, game)` searches live all the same.

    `seconds` and `nodes` bound the live search for each answer, with all moves of a state if those are asked for;
    loading compiled code, once, comes on top, and is not done for a budget below 0.3 s. `live=False` forbids it.
    Values found live are kept for the session. A book's rules must be the game's (ForeignBook), and so must those of
    `evaluate`, a file that `solver learn` wrote, which makes the estimates instead of the rules' own `evaluate`, and
    of `module`, which `solver build` wrote: its searches are asked.

    A game of chance is not searched live: its values come from its book, and two plies beyond.

    Threads may share a player: live searches go one after another, and waiting counts. A player can be pickled if its
    solution can, without what was found live.
    """

    def __init__(
        self,
        source: Source | Mapping[int, Value],
        game: GameOrName | None = None,
        *,
        seconds: float | None = SECONDS,
        nodes: int | None = None,
        live: bool = True,
        evaluate: Any = None,
        module: Any = None,
    ) -> None:
        if isinstance(source, Book) or not isinstance(source, Mapping):
            book, game = book_and_game(source, game)
            source = {} if book is None else book
        elif game is None:
            raise TypeError("a mapping of values does not know its game: Player(values, game)")
        header, game = source.header if isinstance(source, Book) else None, load_game(game)
        self.game: Game = game
        self.solution, self.seconds, self.nodes = source, seconds, nodes
        self.rules = rules = Rules(game, header is None or header.symmetry)
        self.live = live and not (header is not None and header.is_gapless) and "live" not in rules.kind.unfit
        self.canonical, self._same_mover = rules.canonical, rules.same_mover
        self._lifted = functools.lru_cache(maxsize=1 << 16)(lift_value)
        find: Any = source.stored_value if isinstance(source, Book) else source.get  # by canonical states
        self._find, self._estimated = analysis.told_apart(find, None if header is None else header.kind)
        self._lead = leading(rules, header and header.method, self._find)
        told = Rules(game, rules.symmetry, header is not None and header.wdl)
        self._depth, self._covers = _looking_ahead(told, self._find, header)
        self._ahead = Ahead(told, lambda key: self._find(key) or self._solved.get(key), lambda: len(self._solved))
        self._stores_ends = not isinstance(source, Book)
        self._given, self.foresight = evaluate, Foresight(rules, evaluate, module)
        self._searching = Live(rules, self.foresight) if self.live else None
        self._solved: dict[Any, Value] = self._searching.solved if self._searching else {}

    @classmethod
    def of(cls, source: Player | Source, **options: Any) -> Player:
        """Return a player as it is, or make one of a book, a game or the name of either, with these options."""
        return source if isinstance(source, Player) else cls(source, **options)

    def __reduce__(self) -> Any:
        said = {"seconds": self.seconds, "nodes": self.nodes, "live": self.live, "evaluate": self._given}
        return functools.partial(Player, **said, module=self.foresight.module), (self.solution, self.game)

    def check(self, state: int) -> int:
        """Return a state as Python's own int.

        Raises:
            StateTypeError: where it is no integer.
            PositionError: where no state is so large, or the book is complete and lacks it.
        """
        state = as_state(state, self.rules.bits)
        if self._is_complete:
            self._reached(state)
        return state

    def value(self, state: int, budget: Budget | None = None) -> Answer:
        """What a state is worth for the side to move. Raises as `check`."""
        state = as_state(state, self.rules.bits)
        known = self._reached(state)
        told = known.exact or known.source == "book" or not self.live
        return (known if told else self._search([state], budget or self.budget())[state]).at(self.rules, state)

    def best(self, state: int) -> int:
        """A best action: the quickest win, else a draw, else the longest loss; the first of equals.

        Where not all moves are known, but one that keeps the state's value, it is the first such. Where that value is
        not known either, this is one of the moves that rank highest, as in `analyse`. Raises PositionError where the
        game is over, MissingState where nothing is known of any move, and as `check`.
        """
        state = as_state(state, self.rules.bits)
        game, find, folds, alternates = self.game, self._find, self.rules.folds, self.rules.alternates
        canonical, result = self.canonical, game.result
        if self._covers is not None or self._lead is not None:
            return self.choose(state).action
        try:
            stored = find(canonical(state) if folds else state)
        except Exception:
            if not self._is_complete:
                raise
            stored = None
        if stored is None:
            self._check_open(state)
        reward = self.rules.reward
        best_action, best_merit = -1, 0
        for action in game.actions(state):
            child = result(state, action)
            value = find(canonical(child) if folds else child)
            if value is None:
                value = self._known(child, self._depth - 1).value
                if value is None:
                    return self.choose(state).action
            merit = merit_of(value)  # of the order that they have one ply later
            if alternates or not self._same_mover(state, action, child):
                merit = -merit
            if reward is not None:
                merit += reward(state, action)
            if merit > best_merit or best_action < 0:
                best_action, best_merit = action, merit
        if best_action < 0:
            raise self._undecided(state)
        return best_action

    def choose(self, state: int, budget: Budget | None = None) -> Move:
        """The move of `best`, and what is known of it; its `best` says whether it is known that none is better.

        A `budget` takes the place of the player's. Raises as `best`.
        """
        state = as_state(state, self.rules.bits)
        self._check_open(state)
        budget = budget or self.budget()
        moves = self._moves(state)
        if not moves:
            raise self._undecided(state)
        unknown = [move for move in moves if not move.is_told]
        if unknown or self._covers is not None:
            value = self._known(state).value
            if value is None and self.live:
                value = self.solve([state], budget)[state].value
                moves = self._moves(state)
                unknown = [move for move in moves if not move.is_told]
            if value is not None:
                attained = self._keeping(state, moves, value) or self._attaining(state, unknown, value, budget)
                if attained is not None:
                    return attained
            if unknown and self.live:
                look = self._estimate if value is None else self._search  # among cycles no single move can be shown
                moves = self._moves(state, look([move.child for move in unknown], budget))
                attained = None if value is None else self._keeping(state, moves, value)
                if attained is not None:
                    return attained
        if all(move.value is None and move.estimate is None for move in moves):
            raise MissingState(f"no move from state {state} has a known value: {self._remedy()}")
        promise = self.rules.promise
        move = min(moves, key=rank) if self._lead is None else self._lead(state, moves)
        if promise is not None and not move.exact:  # of equal guesses the most promising
            move = min(moves, key=lambda one: (*rank(one), -promise(state, one.action)))
        return move._replace(best=all(one.exact for one in moves))

    def line(self, state: int, most: int = 1000) -> Iterator[tuple[int, int]]:
        """Best play from a state to the end: each action and the state that it leads to, at most `most`.

        It ends early where play comes back to a state that it has seen, which is a draw, and raises MissingState
        where no move is known to be best. Where chance decides the action is the number of the outcome, from 0, that is
        worth most nearly what the state is, the likelier of equals. Raises as `check`.
        """
        state = self.check(state)
        seen = {state}
        while not self.game.is_terminal(state) and most:
            outcomes = self._outcomes(state)
            if outcomes:
                action = self._expected(state, outcomes)
                state = outcomes[action].child
            else:
                move = self.choose(state)
                if not move.best:
                    raise MissingState(f"no move from state {state} is known to be best: {self._remedy()}")
                action, state = move.action, move.child
            yield action, state
            if state in seen:
                return
            seen.add(state)
            most -= 1

    def outcomes(self, state: int) -> list[Outcome]:
        """What dice or cards may do at a state, in the game's order; nothing where a player decides.

        Raises as `check`.
        """
        return self._outcomes(self.check(state))

    def _outcomes(self, state: int) -> list[Outcome]:
        pairs = [] if self.rules.is_terminal(state) else list(self.rules.outcomes(state))
        total = sum(weight for weight, _ in pairs)
        found = []
        for weight, child in pairs:
            value = self._known(child, self._depth - 1).value
            lifted = None if value is None else self._lifted(value, self._same_mover(state, None, child))
            found.append(Outcome(weight / total, lifted, child, value))
        return found

    def _expected(self, state: int, outcomes: list[Outcome]) -> int:
        """The outcome that is worth most nearly what the state is."""
        value = self._known(state).value
        if value is None or any(one.value is None for one in outcomes):
            raise MissingState(f"what chance makes of state {state} is not known: {self._remedy()}")
        return likeliest(outcomes, value)

    def _undecided(self, state: int) -> PositionError | GameError:
        if self._outcomes(state):
            return PositionError(f"chance decides at state {state}: no action is left to a player")
        return GameError(f"{game_text(self.game)}: state {state} has no actions and is not terminal")

    def analyse(self, state: int) -> Moves:
        """Every action with its value and source, best first: wins, draws, losses.

        Estimates rank between by their number; moves of which nothing is known between draws and losses. There are none
        where the game is over, or chance decides (`outcomes`). A notebook shows the list as a board with the values.
        Raises as `check`, and GameError for bad rules.
        """
        answer, moves = self.examine(state)
        return Moves(moves, self.rules, as_state(state, self.rules.bits), answer)

    def examine(self, state: int, budget: Budget | None = None) -> tuple[Answer, list[Move]]:
        """What a state is worth, and every action as in `analyse`, both under one budget; raises as that."""
        state = as_state(state, self.rules.bits)
        answer = self._reached(state)
        if answer.source == "terminal":
            return answer, []
        moves = self._reached_moves(state)
        unknown = [move.child for move in moves if not move.is_told]
        if unknown and self.live:
            budget, parent = budget or self.budget(), None if answer.exact else state
            asked = unknown if parent is None else [*unknown, parent]
            answers = self._search(asked, budget, parent)
            moves, answer = self._moves(state, answers), self._known(state)
        if not moves:
            return answer, []
        moves = best_first(moves, answer.value)
        if (unknown or moves[0].value != answer.value) and self._contradict(state, answer.value, moves):
            raise self._beyond_play(state)
        if not answer.exact and self.live and (unknown or answer.source != "book"):
            answer = from_moves(moves)
        return answer, moves

    def prepare(self, wait: bool = True) -> None:
        """Load the compiled search, so that the first live one need not wait for it."""
        if self._searching is not None:
            self._searching.prepare(wait)

    def budget(self, stop: Callable[[], bool] | None = None) -> Budget:
        """That of one answer, from now on; `stop()` ends it, too."""
        return Budget(self.nodes, self.seconds, stop)

    def _remedy(self) -> str:
        unfit = self.rules.kind.unfit.get("live")
        if unfit is not None:
            return unfit
        return "allow more time, or solve the game into a book" if self.live else "allow a live search or more time"

    @property
    def _is_complete(self) -> bool:
        """Whether the solution knows every state that play can reach."""
        return isinstance(self.solution, Book) and self.solution.header.is_gapless

    def _reached(self, state: int) -> Answer:
        """`_known` of a state that is asked for. Raises PositionError where play cannot reach it."""
        try:
            answer = self._known(state)
        except (BookError, MemoryError):
            raise
        except Exception as error:  # rules need not bear numbers that are no states
            if not self._is_complete:
                raise
            raise self._beyond_play(state) from error
        if answer.value is None and self._is_complete:
            raise self._beyond_play(state)
        return answer

    def _reached_moves(self, state: int) -> list[Move]:
        """`_moves` of a state that is asked for. Raises PositionError where play cannot reach it."""
        try:
            return self._moves(state)
        except (BookError, MemoryError):
            raise
        except Exception as error:  # as above: rules may fold a number that is no state onto one of the book
            if not self._is_image(state):
                raise
            raise self._beyond_play(state) from error

    def _contradict(self, state: int, value: Value | None, moves: list[Move]) -> bool:
        """Whether moves, best first, show that a complete book's value is not one of this state, but of its image."""
        if value is None or self.rules.chance is not None or not self._is_image(state):  # expectations are rounded
            return False
        first = moves[0].value
        return first is None or not keeps(first, value) or not all(move.exact for move in moves)

    def _is_image(self, state: int) -> bool:
        """Whether a complete book has another state in place of this one."""
        return self._is_complete and self.canonical(state) != state

    def _beyond_play(self, state: int) -> PositionError:
        name = self.solution.path.name if isinstance(self.solution, Book) else ""
        return PositionError(
            f"play cannot reach state {state}, as the complete book {name} shows: give the moves from the start"
        )

    def _check_open(self, state: int) -> None:
        """Raise PositionError where the game is over at a state, or play cannot reach it."""
        if self._reached(state).source == "terminal" if self._is_complete else self.game.is_terminal(state):
            raise PositionError(f"the game is over at state {state}: no action is left")

    def _known(self, state: int, plies: int | None = None) -> Answer:
        """What the rules, the solution, an earlier search, or a look so many plies ahead say; all plies if None."""
        if self._stores_ends and self.game.is_terminal(state):
            return self._terminal(state)
        key = self.canonical(state)
        found = self._find(key)
        if found is not None:
            return Answer(found, True, "book")
        return self._unstored(state, key, self._depth if plies is None else plies)

    def _unstored(self, state: int, key: int, plies: int) -> Answer:
        """The same of a state that the solution lacks."""
        if self.game.is_terminal(state):
            return self._terminal(state)
        if (found := self._solved.get(key)) is None:
            vanishing = self.rules.vanishing  # what no book has follows from its moves
            low, high = self._ahead.range(key, max(plies, 1) if vanishing and vanishing(state) else plies)
            found, sign = value_within(self._ahead.rules, (low, high)), (low > 0) - (high < 0)
            if found is None and sign and not self.rules.scores:  # who wins is known, but not how soon
                return Answer(None, False, "search", sign)
        return self._estimated(key) if found is None else Answer(found, True, "search")

    def _terminal(self, state: int) -> Answer:
        return Answer(self.rules.ended(state), True, "terminal")

    def _moves(self, state: int, answers: Mapping[int, Answer] | None = None) -> list[Move]:
        """All moves, in the game's order, with what is known of them and these answers."""
        moves = []
        result, canonical, find, lifted = self.game.result, self.canonical, self._find, self._lifted
        alternates, reward, books = self.rules.alternates, self.rules.reward, not self._stores_ends
        for action in self.game.actions(state):
            child = result(state, action)
            if answers and child in answers:
                answer = answers[child]
            elif books:  # as `_known`, but quick
                key = canonical(child)
                value = find(key)
                if value is not None:
                    same = not alternates and self._same_mover(state, action, child)
                    worth = lifted(value, same) if reward is None else lifted(value, same, reward(state, action))
                    moves.append(Move(action, worth, True, "book", False, child, value))
                    continue
                answer = self._unstored(child, key, self._depth - 1)
            else:
                answer = self._known(child, self._depth - 1)
            moves.append(self._move(state, action, child, answer))
        if not moves and not self._outcomes(state):
            raise self._undecided(state)
        return moves

    def _move(self, state: int, action: int, child: int, answer: Answer) -> Move:
        value, exact, source, estimate = answer
        same, gain = self._same_mover(state, action, child), self.rules.gain(state, action)
        lifted = None if value is None else self._lifted(value, same, gain)
        if estimate is not None:
            estimate = gain + (estimate if same else 0 - estimate)  # no -0.0
        return Move(action, lifted, exact, source, False, child, value, estimate)

    def _keeping(self, state: int, moves: list[Move], value: Value) -> Move | None:
        """The first move that is known to keep a state's value, the quickest win if that lacks a distance; or None.

        In a book for a side it is one to which the book knows all answers, if it knows such a move.
        """
        known = sorted((move for move in moves if move.value is not None and keeps(move.value, value)), key=rank)
        for move in known if self._covers is not None else ():
            if self._covers(state=state, action=move.action):
                return as_best(move)
        return as_best(known[0]) if known else None

    def _attaining(self, state: int, unknown: list[Move], value: Value, budget: Any) -> Move | None:
        """The first of these moves that can be shown to keep a state's value; None if the budget ends before."""
        searching = self._searching
        if searching is None:
            return None
        for move in unknown:
            same = self._same_mover(state, move.action, move.child)
            child_value = drop_value(value, same, self.rules.gain(state, move.action))
            if child_value is None:
                continue
            with searching.turn(budget) as mine:
                if not mine or not searching.attains(state, move.action, move.child, child_value, same, budget):
                    continue
            self._solved[self.canonical(move.child)] = child_value
            move = self._move(state, move.action, move.child, Answer(child_value, True, "search"))
            if move.value is not None and keeps(move.value, value):
                return as_best(move)
        return None

    def _search(self, states: list[int], budget: Any, parent: int | None = None) -> dict[int, Answer]:
        """Live answers for states, `parent` of all others perhaps among them, under one budget."""
        answers = self.solve(states, budget, parent)
        left = [state for state, answer in answers.items() if not (answer.exact or state == parent)]
        for state, answer in self._estimate(left, budget).items():
            if answer.exact or answers[state].estimate is None:
                answers[state] = answer
        return answers

    def solve(self, states: list[int], budget: Any, parent: int | None = None) -> dict[int, Answer]:
        """Exact values of states, as far as a part of the budget goes."""
        states = [as_state(state, self.rules.bits) for state in states]
        if self._searching is not None:
            with self._searching.turn(budget) as mine:
                if mine:
                    self._searching.solve(states, parent, budget.part(EXACT))
        plies = self._depth - (len(states) > 1)  # of moves one less
        return {state: self._known(state, plies) for state in states}

    def _estimate(self, states: list[int], budget: Any) -> dict[int, Answer]:
        """What a search of limited depth says of states in the rest of the budget."""
        answers = {}
        if states and self._searching is not None:
            for state, found in self._searching.estimates(list(dict.fromkeys(states)), budget).items():
                if isinstance(found, Value):
                    self._solved[self.canonical(state)] = found
                    answers[state] = Answer(found, True, "search")
                else:
                    answers[state] = Answer(None, False, "search", float(found))
        return answers


def _looking_ahead(rules: Rules, find: Any, header: Header | None) -> tuple[int, Any]:
    """How many plies to look ahead: as a trimmed book needs, one move later, too; what `covers` in one for a side.

    No plies in a complete book: play cannot reach what it lacks, and rules need not bear it.
    """
    if header is None or header.trim is None:
        return (0 if header is not None and header.is_gapless else PLIES), None
    depth = header.trim.depth + 1
    beyond = functools.partial(covers, rules, plies=depth, find=find)
    return max(PLIES, depth), None if header.trim.side is None else beyond
