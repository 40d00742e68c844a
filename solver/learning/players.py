"""Players of matches and their names: files of evaluations or books, `evaluate`, `random`, `alphabeta`, engines.

They play by guesses one ply ahead or deeper, by a book, by exact search, or at random.

An engine is a program that speaks the Universal Game Interface. A process is asked for each move by the moves so far,
`position startpos moves ...`, and `go movetime` or `go depth`; the games of a match are played at the same time, so the
position changes from game to game. A game is lost by rule where the engine ends, names no legal move, or says none in
time; unless its move was illegal it is then started anew.
"""

from __future__ import annotations

import contextlib
import os
import queue
import random
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solver.base.errors import MethodError, PositionError
from solver.base.parallel import Workers
from solver.base.system import command_words, end_family
from solver.book import Book, shipped
from solver.book.pages import is_lmdb
from solver.compiled.lookahead import searches
from solver.compiled.lookahead.depth import model_of
from solver.compiled.lookahead.evaluation import Evaluation, game_of, is_evaluation, read
from solver.learning import moves
from solver.learning.moves import FORFEIT, Board, Chooser, Numbers, Turn
from solver.play.player import Player
from solver.play.practical import LEVELS, Level
from solver.rules.game import Game, GameOrName, Rules, rules_for
from solver.rules.notation import names_of, parse_action
from solver.search import refuse_chance

PACE = 1e-6  # a ply sooner is better by that much of a win
GRACE = 5.0  # seconds beyond those that an engine has for a move
ANSWER_SECONDS = 60.0  # seconds to get ready in, and for a move at a given depth
GREETING = 10.0  # seconds to say that it speaks the protocol
LAST = 1.0  # seconds to end in
MAX_LINE_BYTES = 1 << 16  # bytes of a line
SHOWN = 40  # characters of a move that is none


class Greedy:
    """The move that a guess likes best, one ply ahead; ends are seen."""

    def __init__(self, board: Board, guess: moves.Guess) -> None:
        self.board, self.guess = board, guess

    def choose(self, turn: Turn) -> Numbers:
        return moves.best_moves(turn.children.parents, self.board.worths(turn.children, self.guess), len(turn.states))


class Deep:
    """The move that an evaluation, or the rules' own `evaluate`, likes best so many plies ahead.

    Raises ForeignBook for an evaluation of other rules.
    """

    def __init__(self, board: Board, evaluation: Evaluation | None, depth: int, workers: int | None = None) -> None:
        if evaluation is not None:
            game_of(evaluation, board.rules.game)
        model = None if evaluation is None else model_of(evaluation)
        self.ahead = searches.Chooser(board.rules.game, model=model, symmetry=board.rules.symmetry, workers=workers)
        self.depth = depth

    def choose(self, turn: Turn) -> Numbers:
        return turn.begins + self.ahead.choose(turn.states, self.depth).places


class Random:
    """Any move, by the seed, the game's number and the ply alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def choose(self, turn: Turn) -> Numbers:
        draws = np.random.default_rng([self.seed, turn.ply]).random(int(turn.games.max()) + 1)[turn.games]
        return turn.begins + (draws * np.bincount(turn.children.parents)).astype(np.int64)


class ByBook:
    """A best move of a book: the quickest win, else the move of the highest value, else the longest loss.

    The book is complete, or `beyond` plays where it does not know all moves. Raises ForeignBook for one of other rules.
    """

    def __init__(self, board: Board, book: Book, beyond: Deep | None = None) -> None:
        book.check_rules(board.rules.game)
        self.board, self.book, self.beyond = board, book, beyond

    def choose(self, turn: Turn) -> Numbers:
        children, count = turn.children, len(turn.states)
        chosen = moves.best_moves(children.parents, self.board.worths(children, self._values), count)
        if self.beyond is not None:
            known = children.ended.copy()
            known[~known] = self.book.lookup(children.states[~children.ended], missing="mask").known
            lost = np.bincount(children.parents[~known], minlength=count) > 0
            if lost.any():
                chosen[lost] = self.beyond.choose(turn)[lost]
        return chosen

    def _values(self, states: Numbers) -> moves.Worths:
        values = self.book.lookup(states, missing="raise" if self.beyond is None else "mask")
        # `beyond` plays where one is missing
        scores: moves.Worths = np.where(values.known, values.scores, 0.0)
        return scores if self.board.rules.scores else scores * (1 - PACE * np.maximum(0, values.distances + 1))


class Asked:
    """A player who is asked state by state, and errs as a level does: by the seed, the game's number and the ply alone.

    A perfect one does not err.
    """

    def __init__(self, player: Player, level: Level = LEVELS["perfect"], seed: int = 0) -> None:
        self.player, self.level, self.seed = player, level, seed

    def choose(self, turn: Turn) -> Numbers:
        places = []
        for state, game in zip(turn.states.tolist(), turn.games.tolist(), strict=True):
            chance = random.Random(f"{self.seed} {turn.ply} {game}")
            action = self.level.slip(self.player, state, chance)
            action = self.player.best(state) if action is None else action
            places.append(list(self.player.rules.actions(state)).index(action))
        return turn.begins + np.array(places, np.int64)


class Forfeit(NamedTuple):
    """A game lost by rule: its number, from 0, the `reason`, one of REASONS, and the engine's answer."""

    game: int
    reason: str
    said: str = ""


REASONS = ("crash", "illegal", "silence")


class Limits(NamedTuple):
    """The time or depth that an engine has for a move: seconds, or plies; and the seconds until it counts as silent."""

    seconds: float = 1.0
    depth: int | None = None
    grace: float = GRACE


class Lost(Exception):
    """An engine has lost a game by rule."""

    def __init__(self, reason: str, said: str = "") -> None:
        super().__init__(reason)
        self.reason, self.said = reason, said


class Process:
    """A running engine, in a group of processes of its own.

    Raises MethodError where it does not start, or speaks another protocol.
    """

    def __init__(self, command: str) -> None:
        try:
            words = command_words(command) or [""]
            self._process: subprocess.Popen[bytes] = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # so that its children end with it
            )
        except (OSError, ValueError) as error:
            raise MethodError(f"engine:{command} cannot be started: {error}: name a program") from None
        assert self._process.stdin is not None
        self._stdin = self._process.stdin
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        awaited = ""
        try:
            for question, awaited, seconds in (("ugi", "ugiok", GREETING), ("isready", "readyok", ANSWER_SECONDS)):
                self.ask(question, awaited, seconds)
            self.tell("uginewgame")
        except Lost as lost:
            self.close()
            raise MethodError(
                f"engine:{command}: {lost.reason} before {awaited}: it must speak the Universal Game Interface"
            ) from None
        except BaseException:
            self.close()
            raise

    def _listen(self) -> None:
        """Put down all lines, until nobody has the pipe any more: not even a child that outlives the engine.

        Bytes are read without a buffer, whose lock would have `close`, and the interpreter's end, wait for that child.
        """
        assert self._process.stdout is not None
        with self._process.stdout as pipe, contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(MAX_LINE_BYTES):
                self._lines.put(line.decode(errors="replace").strip())
        self._lines.put(None)

    def tell(self, line: str) -> None:
        """Say a line. Raises Lost."""
        try:
            self._stdin.write(f"{line}\n".encode())
            self._stdin.flush()
        except (OSError, ValueError):
            raise Lost("crash") from None

    def ask(self, line: str, awaited: str, seconds: float) -> str:
        """Return the rest of the line that begins with the awaited word. Raises Lost if none comes in time."""
        self.tell(line)
        deadline = time.monotonic() + seconds
        while True:
            try:
                said = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Lost("silence") from None
            if said is None:
                raise Lost("crash")
            word, _, rest = said.partition(" ")
            if word == awaited:
                return rest

    def close(self) -> None:
        """End it, by force if it does not of itself."""
        with contextlib.suppress(Lost):
            self.tell("quit")
        end_family(self._process, LAST)
        with contextlib.suppress(OSError, ValueError):
            self._stdin.close()


class Engine:
    """A player by so many processes of one command, which share the states of a turn. Raises as `Process`."""

    def __init__(self, rules: Rules, command: str, limits: Limits, processes: int = 1) -> None:
        self.rules, self.command, self.limits = rules, command, limits
        # None: yet to be started
        self._idle: list[Process | None] = [*[None] * (processes - 1), Process(command)]
        self.forfeits: list[Forfeit] = []

    def choose(self, turn: Turn) -> Numbers:
        asked = list(zip(turn.games.tolist(), turn.states.tolist(), turn.lines, strict=True))
        with Workers(len(self._idle)) as workers:
            places = list(workers.map(lambda one: self._place(*one), asked))
        return np.where(np.array(places) >= 0, turn.begins + places, FORFEIT)

    def _place(self, game: int, state: int, line: Sequence[int]) -> int:
        """The place of the engine's move among the legal ones, or FORFEIT."""
        # There are as many as workers
        process = self._idle.pop()
        try:
            process = process or Process(self.command)
            names = names_of(self.rules, self.rules.game.initial(), line)
            line_text = " ".join(name.replace(" ", "") for name in names)
            process.tell(f"position startpos{' moves ' if line_text else ''}{line_text}")
            seconds, depth, grace = self.limits
            go = f"go movetime {max(1, round(1000 * seconds))}" if depth is None else f"go depth {depth}"
            said = process.ask(go, "bestmove", grace + seconds if depth is None else ANSWER_SECONDS)
            legal = list(self.rules.actions(state))
            # What follows the move may be, as in UCI, what is expected next
            for text in (said, said.partition(" ")[0]):
                with contextlib.suppress(PositionError):
                    return legal.index(parse_action(self.rules, state, text))
            raise Lost("illegal", said[:SHOWN])
        except (Lost, MethodError) as error:
            # It does not start again
            lost = error if isinstance(error, Lost) else Lost("crash")
            self.forfeits.append(Forfeit(game, lost.reason, lost.said))
            if lost.reason != "illegal" and process is not None:
                process.close()
                process = None
            return FORFEIT
        finally:
            self._idle.append(process)

    def close(self) -> None:
        """End all processes."""
        while self._idle:
            process = self._idle.pop()
            if process is not None:
                process.close()


CONTENDERS = ("evaluate", "random", "alphabeta")
ENGINE = "engine:"  # before a command
MAX_DEPTH = 99


class Contender(NamedTuple):
    """A player of a match: an evaluation, or a book if its name is a file; its own depth or level."""

    name: str
    file: Evaluation | Book | None
    depth: int | None
    level: Level | None = None


class Setting(NamedTuple):
    """The setting that all players of a match share."""

    rules: Rules
    depth: int = 1
    seed: int = 0
    seconds: float = 1.0
    workers: int | None = None
    evaluation: Evaluation | None = None  # by which grown books go on where they end


def contender(text: str, game: GameOrName | None = None) -> Contender:
    """The player that NAME, NAME@DEPTH or BOOK@LEVEL names; `game` is needed for files of a game of your own.

    Raises MethodError with the choice there is, BookError for a file that cannot be used.
    """
    levelled = re.fullmatch(f"(.+)@({'|'.join(LEVELS)})", text)
    if levelled and not os.path.exists(text):
        one = contender(levelled[1], game)
        if not isinstance(one.file, Book) or not one.file.header.is_gapless or one.file.header.estimate is not None:
            raise MethodError(f"{text}: only complete books play at a level")
        return one._replace(level=LEVELS[levelled[2]])
    found = re.fullmatch(r"(.+)@([0-9]{1,3})", text)
    name, depth = (found[1], int(found[2])) if found and not os.path.exists(text) else (text, None)
    if depth is not None and not 1 <= depth <= MAX_DEPTH:
        raise MethodError(f"{text}: look ahead 1 to {MAX_DEPTH} plies")
    file: Evaluation | Book | None = None
    if name.startswith(ENGINE):
        return Contender(name, None, depth)
    if os.path.isfile(name) and is_evaluation(name):
        file = read(name)
    elif not shipped.is_path(name) or (os.path.isfile(name) and (is_lmdb(name) or name not in CONTENDERS)):
        file = Book(name, game)
    elif name not in CONTENDERS:
        choice = (
            f"a file of an evaluation or a book, a game whose book comes with the package, {', '.join(CONTENDERS)},"
            f" or {ENGINE}COMMAND"
        )
        raise MethodError(f"no player {name!r}: name {choice}")
    exact = isinstance(file, Book) and file.header.estimate is None
    if depth is not None and (exact or name in ("random", "alphabeta")):
        raise MethodError(f"{text}: only evaluations look some plies ahead, and grown books where they end")
    return Contender(name, file, depth)


def game_between(contenders: tuple[Contender, Contender], text: str | None) -> Game:
    """The game that the files of a match are of, or that `text` names. Raises MethodError, ForeignBook."""
    files = [one.file for one in contenders if one.file is not None]
    stated = next((file.header.game if isinstance(file, Book) else file.game for file in files), "")
    named = None if text is None else rules_for(text, stated)
    for one in contenders:
        if isinstance(one.file, Book):
            named = one.file.game if named is None else named
            one.file.check_rules(named)
        elif one.file is not None:
            named = game_of(one.file, named)
    if named is None:
        raise MethodError("no player names its game: add --game")
    return named


def chooser(one: Contender, setting: Setting) -> Chooser:
    """Who plays under that name. An engine has to be closed.

    Raises MethodError for games of chance, where the rules have no `evaluate`, and for an engine that does not start.
    """
    rules, depth = setting.rules, one.depth or setting.depth
    refuse_chance(rules, "a match", moves.SOLVE_IT)
    if setting.evaluation is not None:
        game_of(setting.evaluation, rules.game)
    if one.name.startswith(ENGINE):
        limits = Limits(setting.seconds, one.depth)
        return Engine(rules, one.name.removeprefix(ENGINE), limits, setting.workers or 1)
    if one.name == "random" and one.file is None:
        return Random(setting.seed)
    if one.name == "alphabeta" and one.file is None:
        return Asked(Player({}, rules.game, seconds=setting.seconds))
    if isinstance(one.file, Book):
        if one.level is not None:
            one.file.check_rules(rules.game)
            return Asked(Player(one.file, rules.game, live=False), one.level, setting.seed)
        board, estimate = Board(rules), one.file.header.estimate
        if one.file.header.trim is not None and one.file.header.is_gapless:
            # A look ahead settles what it omits
            return Asked(Player(one.file, rules.game, live=False))
        if estimate is None:
            return ByBook(board, one.file)
        if estimate.evaluation != "evaluate" and setting.evaluation is None:
            raise MethodError(f"{one.name} was grown by {estimate.evaluation}: --evaluate names it for where it ends")
        return ByBook(board, one.file, Deep(board, setting.evaluation, depth, setting.workers))
    if one.file is None and rules.evaluate is None:
        raise MethodError(f"{rules.name} has no evaluate(state): name an evaluation's file")
    return Deep(Board(rules), one.file, depth, setting.workers)
