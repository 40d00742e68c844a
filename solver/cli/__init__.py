"""The command line: `solver COMMAND`, or `python -m solver COMMAND`. The only room that prints.

Commands are imported when they are called, so that a question to a book starts quickly. Errors become exit codes here
and nowhere else:

    0 done    1 failure    2 usage, game or method    3 not in the book    4 illegal position or move
    5 damaged or foreign book    6 out of memory or disk    130, 143 interrupted
"""

from __future__ import annotations

import atexit
import importlib
import io
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from solver import __version__, errors

COMMANDS = {
    "games": ("solver.cli.games", "List the games and their parameters."),
    "books": ("solver.cli.books", "List the books that come with the package."),
    "check": ("solver.cli.check", "Check rules without solving."),
    "solve": ("solver.cli.solve", "Solve a game and write its book."),
    "estimate": ("solver.cli.estimate", "Say beforehand what solving a game will take."),
    "pack": ("solver.cli.pack", "Write a book in another codec."),
    "trim": ("solver.cli.trim", "Write a smaller book: what need not be stored is left out."),
    "info": ("solver.cli.info", "Say what a book holds."),
    "query": ("solver.cli.query", "Value positions and their moves."),
    "line": ("solver.cli.line", "Print the best play from a position to the end."),
    "play": ("solver.cli.play", "Play in the terminal."),
    "sample": ("solver.cli.sample", "Choose stored states at random."),
    "grade": ("solver.cli.grade", "Judge games by a book."),
    "learn": ("solver.cli.learn", "Learn to evaluate positions."),
    "match": ("solver.cli.match", "Let players meet, and say who is better."),
    "diff": ("solver.cli.diff", "Say what tells two books apart."),
    "merge": ("solver.cli.merge", "Write a book of the states of two."),
    "export": ("solver.cli.export", "Write a book as a table, or for other languages."),
    "import": ("solver.cli.importing", "Write a book of values from elsewhere."),
    "verify": ("solver.cli.verify", "Check a book: structure, checksums, every value."),
}
EXIT_CODES = (
    (errors.MissingState, 3),
    (errors.PositionError, 4),
    (errors.DamagedBook, 5),
    (errors.ForeignBook, 5),
    (errors.BookError, 2),
    (errors.ResourceError, 6),
    (errors.GameError, 2),
    (errors.MethodError, 2),
    (errors.SolverError, 1),
    (MemoryError, 6),
)


class Terminated(BaseException):
    """SIGTERM arrived."""


class Commands(click.Group):
    """Commands by name, imported on demand; `main` turns what they raise into exit codes."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name][0]).command
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Run a command and exit."""
        options["standalone_mode"] = False
        code: Any = 1
        hook, sys.unraisablehook = sys.unraisablehook, _report_lost
        if sys.stdin is None:  # closed: nothing comes from it
            sys.stdin = io.TextIOWrapper(io.BytesIO())
        try:
            _catch_signals()
            code = super().main(*arguments, **options)
            sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            _stop_asking()
            code = _say(f"interrupted{_how_to_go_on(*arguments, **options)}", 130)
        except Terminated:
            _stop_asking()
            code = _say(f"terminated{_how_to_go_on(*arguments, **options)}", 143)
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except (errors.SolverError, MemoryError) as error:
            code = _say(str(error) or "out of memory: take a smaller game or --memory", _exit_code(error))
        except Exception as error:
            from solver.conformance import blamed

            fault = blamed(error)
            if fault is None:
                raise
            code = _say(str(fault), _exit_code(fault))
        finally:
            _stop_asking()
            sys.unraisablehook = hook
            if _asked:
                atexit.register(_ignore_signals)
        sys.exit(code or 0)


_asked: list[int] = []  # the signal that asked for an end


def _catch_signals() -> None:
    _asked.clear()
    signal.signal(signal.SIGINT, _end)
    signal.signal(signal.SIGTERM, _end)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _end_again)


def _end(number: int, frame: Any) -> None:
    """End with the exit code of the signal; a second signal does not wait for anything."""
    if _asked:
        os._exit(128 + number)
    _asked.append(number)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated


def _stop_asking() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ignore_signals() -> None:
    """While the interpreter ends its handlers are gone: a second signal must not take the place of the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _report_lost(lost: Any) -> None:
    """Nothing of our own exceptions, which come again; of others what Python would say."""
    if not isinstance(lost.exc_value, (KeyboardInterrupt, Terminated)):
        sys.__unraisablehook__(lost)


def _end_again(number: int, frame: Any) -> None:
    """Raise once more what a callback out of the compiler may have swallowed, unless the end is under way."""
    if _asked and not isinstance(sys.exc_info()[1], (click.Abort, KeyboardInterrupt, Terminated)):
        raise KeyboardInterrupt if _asked[0] == signal.SIGINT else Terminated


def _exit_code(error: BaseException) -> int:
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def _how_to_go_on(args: Sequence[str] | None = None, *_: Any, **__: Any) -> str:
    """The command that goes on with an interrupted solve."""
    words = [word for word in (sys.argv[1:] if args is None else args) if word != "--restart"]
    return f": go on with solver {shlex.join(words)}" if words[:1] == ["solve"] else ""


def _say(message: str, code: int) -> int:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    return code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="solver")
def main() -> None:
    """Strongly solve two-player games and ship the answers.

    \b
    solver solve connect-four:4,4 -o c4.lmdb     solve a game into a book
    solver query c4.lmdb 1223                    ask it: moves played from the start
    solver play c4.lmdb                          play against it
    """
