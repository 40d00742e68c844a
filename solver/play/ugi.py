"""The Universal Game Interface: a player as an engine, a line in, lines out.

The protocol of kz04px/cutegames (ugi.md): UCI, as chess engines speak it, for any game. Moves are in the game's own
notation without spaces; `position fen` takes whatever a position may be (`rules.notation`). A score is of the side to
move: `cp` hundredths of a win or of a point of the margin, `mate` the moves of its own that the winner needs, half of
the plies. `depth 0` is known without a search.

A search runs in a thread, so that `stop`, `isready` and `quit` are obeyed meanwhile. Whatever was wrong is an `info
string`; of a position that was refused there is no move, `bestmove (none)`.

The engine thinks aloud: better and better answers until it is told to stop. Answers from the solution come immediately.
Else a search of limited depth and an exact one take turns that double, the first for an answer at any time, the second
for the truth: both keep their tables, so that a turn goes on where the last ended.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from solver.base.errors import BudgetExceeded, MethodError, MissingState, PositionError, SolverError
from solver.play.analysis import MISSING, Answer
from solver.play.player import Player
from solver.rules.game import game_text
from solver.rules.notation import Position, chances, first_position, names_of, next_position, parse_action
from solver.rules.reading import parse_position
from solver.search import Budget

NO_MOVE = "bestmove (none)"
COMMANDS = "ugi, isready, setoption, uginewgame, position, go, stop, query, quit"
SPARE = 0.05  # seconds that an answer may take to arrive, half of the time at most
MOVES_LEFT = 25  # that a clock is shared among
LIMITS = ("p1time", "p2time", "p1inc", "p2inc", "movetime", "depth", "nodes")
MAX_UGI_NUMBER = 10**9  # of milliseconds, plies or nodes
MOST_DEPTH = 200
FIRST_TURN = 0.1  # seconds of the search of limited depth; an exact one has twice as many
LINE = 10  # moves of a line that are shown
LINE_NODES = 2_000  # that may be spent on each of them, or a twentieth of those spent so far
PAUSE = 0.02  # seconds between two looks at whether the compiled searches are loaded


class Thought(NamedTuple):
    """The best action, its value for the state's side to move, and how that was found.

    `depth` is in plies, 0 if the value is known. `nodes` counts the searches so far. `line` begins with the action.
    """

    answer: Answer
    depth: int
    nodes: int
    line: list[int]


class Thinker:
    """Thinks of one state at a time, by a player's solution and searches."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._silent = player.silent() if player.live else player
        self._loading: threading.Thread | None = None

    def is_ready(self) -> bool:
        """Whether the compiled searches are loaded."""
        return self._loading is not None and not self._loading.is_alive()

    def wait(self, budget: Budget) -> bool:
        """Load the compiled searches and wait for them, within the budget. Return whether they are loaded."""
        if self._loading is None:
            self._loading = threading.Thread(target=self.player.prepare, daemon=True)
            self._loading.start()
        while self._loading.is_alive() and not budget.is_used_up():
            self._loading.join(PAUSE)
        return self.is_ready()

    def think(self, state: int, budget: Budget, depth: int | None = None) -> Iterator[Thought]:
        """Yield thoughts of an unfinished state in which a player decides, the last the best; perhaps none at all.

        With a `depth`, or a budget of nodes, by the search of limited depth alone. Raises GameError for bad rules.
        """
        # The solution and a look of two plies come immediately
        with contextlib.suppress(MissingState):
            move = self._silent.choose(state)
            if (move.best and move.value is not None) or all(known.is_told for known in self._silent.analyse(state)):
                line: list[int] = []
                with contextlib.suppress(MissingState):
                    line.extend(action for action, _ in self._silent.line(state, LINE))
                answer = Answer(move.value, move.exact, move.source, move.estimate)
                yield Thought(answer, 0, 0, line or [move.action])
                return
        if not self.player.live:
            return
        alone = depth is not None or budget.nodes_left is not None
        ready = self.wait(budget if alone else budget.part(0.5))
        thought, turn = Thought(MISSING, 0, 0, []), FIRST_TURN
        while True:
            turn_budget = _turn(budget, None if alone or not ready else turn)
            for deeper in self._look(state, thought, turn_budget, depth or MOST_DEPTH):
                thought = deeper
                yield thought
            if thought.answer.exact or alone or budget.is_used_up():
                return
            turn_budget = _turn(budget, 2 * turn)
            answer = self.player.solve([state], turn_budget)[state] if ready else MISSING
            if answer.value is not None:
                with contextlib.suppress(MissingState):
                    rest = Budget(seconds=turn_budget.seconds_left, stop=turn_budget.is_stopped)
                    move = self.player.choose(state, rest)
                    if move.best:
                        yield thought._replace(answer=answer, line=[move.action])
                        return
            ready, turn = self.is_ready(), 2 * turn

    def _look(self, state: int, thought: Thought, budget: Budget, depth: int) -> Iterator[Thought]:
        """Deepen from an earlier thought for a turn."""
        with contextlib.suppress(BudgetExceeded, MethodError):
            while thought.depth < depth and not thought.answer.exact:
                first_action = thought.line[0] if thought.line else None
                result = self.player.foresight.look(state, thought.depth + 1, first_action, budget)
                assert result.action is not None
                value = result.value if result.exact else None
                answer = Answer(value, result.exact, "search", None if result.exact else float(result.value.score))
                thought = Thought(answer, thought.depth + 1, thought.nodes + result.counts.nodes, [result.action])
                thought.line.extend(self._expected(state, thought, budget))
                yield thought

    def _expected(self, state: int, thought: Thought, budget: Budget) -> Iterator[int]:
        """Yield the expected line after an action, by searches one ply shorter each, which the table makes fast."""
        rules, nodes, action = self.player.rules, max(LINE_NODES, thought.nodes // 20), thought.line[0]
        with contextlib.suppress(BudgetExceeded, MethodError):
            for left in range(thought.depth - 1, max(0, thought.depth - LINE), -1):
                state = rules.result(state, action)
                if not self.is_ready() or rules.is_terminal(state):
                    return
                reply_budget = Budget(nodes, budget.seconds_left, budget.is_stopped)
                result = self.player.foresight.look(state, left, None, reply_budget)
                assert result.action is not None
                action = result.action
                yield action


def _turn(budget: Budget, seconds: float | None) -> Budget:
    """A part of a budget of so many seconds, if it lasts so long; all of it without."""
    turn_budget = budget.part(1)
    if seconds is not None and (turn_budget.seconds_left is None or turn_budget.seconds_left > seconds):
        turn_budget = Budget(turn_budget.nodes_left, seconds, budget.is_stopped)
    return turn_budget


class Session:
    """One conversation: `obey` lines until it returns False, then `end`; `say` is called from several threads."""

    def __init__(self, player: Player, say: Callable[[str], None], seconds: float, name: str) -> None:
        self.rules, self._seconds, self._name = player.rules, seconds, name
        self._thinker = Thinker(player)
        self._position: Position | None = first_position(player.rules)
        self._tell, self._lock = say, threading.Lock()
        self._search: threading.Thread | None = None
        self._stop = threading.Event()
        self._searching = self._endless = False
        self._error: BaseException | None = None

    def obey(self, line: str) -> bool:
        """Obey a line. Returns False after `quit`."""
        if self._error is not None:
            raise self._error
        name, *words = line.split() or [""]
        match name:
            case "":
                pass
            case "ugi":
                self._say(f"id name {self._name} {game_text(self.rules.game)}")
                self._say("id author the authors of solverbook")
                self._say("ugiok")
            case "isready":
                # Load the searches' code, while nobody searches; one that does has it or waits for it
                if not self._searching:
                    self._thinker.wait(Budget())
                self._say("readyok")
            case "setoption":
                self._note("there are no options: those of the command line count")
            case "uginewgame":
                # Values of states stay known
                self._position = first_position(self.rules)
            case "position":
                self._set_up(words)
            case "go":
                self._go(words)
            case "stop":
                self.end(at_once=True)
            case "query" if (position := self._position) is not None:
                over, question, result = self.rules.is_terminal(position.state), words[0] if words else "", "none"
                if over:
                    margin = self.rules.game.utility(position.state) + (position.gained or 0)
                    margin = -margin if position.mover else margin
                    result = "draw" if margin == 0 else "p1win" if margin > 0 else "p2win"
                answers = {"gameover": str(over).lower(), "p1turn": str(not position.mover).lower(), "result": result}
                if question in answers:
                    self._say(f"response {answers[question]}")
                else:
                    self._note(f"no query {question[:40]!r}: there are {', '.join(answers)}")
            case "query":
                self._note("there is no position: the last was refused")
            case "quit":
                return False
            case _:
                self._note(f"no command {name[:40]!r}: there are {COMMANDS}")
        return True

    def stop(self) -> None:
        """Tell a search that is under way to end, and do not wait for it."""
        self._stop.set()

    def end(self, at_once: bool) -> None:
        """Wait for a search that is under way, unless it has no end, or is to end immediately."""
        if at_once or self._endless:
            self._stop.set()
        if self._search is not None:
            self._search.join()
        if self._error is not None:
            raise self._error

    def _say(self, text: str) -> None:
        with self._lock:
            self._tell(text)

    def _note(self, text: str) -> None:
        self._say(f"info string {' '.join(text.split())}")

    def _set_up(self, words: list[str]) -> None:
        self._position = None
        named, _, moves = " ".join(words).partition("moves")
        kind, _, text = named.strip().partition(" ")
        try:
            if kind not in ("startpos", "fen") or (kind == "startpos" and text):
                raise PositionError("position startpos, or position fen POSITION, then perhaps moves M1 M2 ...")
            # The start if there is no text
            position = parse_position(self.rules, text)
            for number, word in enumerate(moves.split(), 1):
                try:
                    position = next_position(self.rules, position, parse_action(self.rules, position.state, word))
                except PositionError as error:
                    raise PositionError(f"move {number}: {error}") from None
            self._thinker.player.check(position.state)
            self._position = position
        except PositionError as error:
            self._note(f"position refused: {error}")

    def _go(self, words: list[str]) -> None:
        self.end(at_once=True)
        # Unknown words, and options without a whole number, are passed over
        limits: dict[str, int] = {}
        for name, number in zip(words, [*words[1:], ""], strict=False):
            if name == "infinite":
                limits[name] = 0
            elif name in LIMITS and re.fullmatch("-?[0-9]+", number):
                limits[name] = max(int(name in ("depth", "nodes")), min(MAX_UGI_NUMBER, int(number[:20])))
        reason = "there is no position: the last was refused"
        if self._position is not None:
            state = self._position.state
            reason = "chance decides here" if chances(self.rules.game, state) else ""
            reason = "the game is over" if self.rules.is_terminal(state) else reason
        if self._position is None or reason:
            self._note(reason)
            self._say(NO_MOVE)
            return
        self._stop, self._endless = threading.Event(), "infinite" in limits
        limited = self._endless or "depth" in limits or "nodes" in limits
        seconds = _seconds(limits, not self._position.mover, None if limited else self._seconds)
        budget = Budget(limits.get("nodes"), seconds, self._stop.is_set)
        task = self._position.state, budget, limits.get("depth")
        self._searching = True
        self._search = threading.Thread(target=self._run, args=(task, self._stop, self._endless), daemon=True)
        self._search.start()

    def _run(self, task: tuple[int, Budget, int | None], stop: threading.Event, endless: bool) -> None:
        """Run a search in its thread. It always ends with a move."""
        state, began, thought = task[0], time.monotonic(), None
        try:
            try:
                for thought in self._thinker.think(*task):
                    self._say(
                        f"info depth {thought.depth} score {score(thought.answer)}"
                        f" time {int(1000 * (time.monotonic() - began))}"
                        f" nodes {thought.nodes} pv {self._moves(state, thought.line)}"
                    )
                    if thought.answer.exact:
                        self._note(f"exact, by {thought.answer.source}")
            except SolverError as error:
                self._note(str(error))
            if endless:
                stop.wait()
            action = next(iter(self.rules.actions(state))) if thought is None else thought.line[0]
            # What is answered may be asked again immediately
            self._searching = False
            self._say(f"bestmove {self._moves(state, [action])}")
        except BaseException as error:
            # Told by the next command, or the end
            self._error = error

    def _moves(self, state: int, actions: Iterable[int]) -> str:
        return " ".join(name.replace(" ", "") for name in names_of(self.rules, state, actions))


def score(answer: Answer) -> str:
    """Return the value of a state for its side to move, in the notation of engines."""
    if answer.value is None:
        return f"cp {round(100 * (answer.estimate or 0))}"
    number, distance = answer.value
    if distance is None or not number:
        return f"cp {round(100 * number)}"
    return f"mate {(distance + 1) // 2 if number > 0 else -((distance + 1) // 2)}"


def _seconds(limits: dict[str, int], is_first: bool, otherwise: float | None) -> float | None:
    """How long a search may take, None without an end; `otherwise` where nothing is said."""
    side = "p1" if is_first else "p2"
    if "movetime" in limits:
        seconds = limits["movetime"] / 1000
    elif f"{side}time" in limits:
        left, increment = limits[f"{side}time"] / 1000, limits.get(f"{side}inc", 0) / 1000
        seconds = min(0.8 * left, left / MOVES_LEFT + 0.75 * increment)
    else:
        return otherwise
    return max(0.001, seconds - SPARE, seconds / 2)
