"""Engines: programs that speak the Universal Game Interface, as players of matches.

A process is asked for each move by the moves so far, `position startpos moves ...`, and `go movetime` or `go depth`;
the games of a match are played at the same time, so the position changes from game to game. A game is lost by rule
where the engine ends, names no legal move, or says none in time; unless its move was illegal it is then started anew.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solver.base.errors import MethodError, PositionError
from solver.base.parallel import Workers
from solver.base.system import command_words, end_family
from solver.learning.contest import FORFEIT, Numbers, Turn
from solver.rules.game import Rules
from solver.rules.notation import names_of, parse_action

GRACE = 5.0  # seconds beyond those that an engine has for a move
ANSWER_SECONDS = 60.0  # seconds to get ready in, and for a move at a given depth
GREETING = 10.0  # seconds to say that it speaks the protocol
LAST = 1.0  # seconds to end in
MAX_LINE_BYTES = 1 << 16  # bytes of a line
SHOWN = 40  # characters of a move that is none


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
            return self._asked(process, state, line)
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

    def _asked(self, process: Process, state: int, line: Sequence[int]) -> int:
        names = names_of(self.rules, self.rules.game.initial(), line)
        moves = " ".join(name.replace(" ", "") for name in names)
        process.tell(f"position startpos{' moves ' if moves else ''}{moves}")
        seconds, depth, grace = self.limits
        go = f"go movetime {max(1, round(1000 * seconds))}" if depth is None else f"go depth {depth}"
        said = process.ask(go, "bestmove", grace + seconds if depth is None else ANSWER_SECONDS)
        legal = list(self.rules.actions(state))
        # What follows the move may be, as in UCI, what is expected next
        for text in (said, said.partition(" ")[0]):
            with contextlib.suppress(PositionError):
                return legal.index(parse_action(self.rules, state, text))
        raise Lost("illegal", said[:SHOWN])

    def close(self) -> None:
        """End all processes."""
        while self._idle:
            process = self._idle.pop()
            if process is not None:
                process.close()
