"""The command line: `solver COMMAND`, or `python -m solver COMMAND`. The only room that prints.

Commands are imported when they are called, and what only errors need when one occurs, so that a question to a book
starts quickly. Errors become exit codes here and nowhere else:

    0 done    1 failure    2 usage, game or method    3 not in the book    4 illegal position or move
    5 damaged or foreign book    6 out of memory or disk    7 not proved    130, 143 interrupted
    141 the reader of a pipe has gone
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import io
import os
import sys
from typing import IO, Any, NoReturn

import click

from solver import __version__
from solver.base import errors, signals
from solver.base.system import open_descriptor

SECTIONS = {  # of the help: commands with the file of each and its line
    "Solve a game": {
        "games": ("games", "List the games, or tell their rules."),
        "check": ("solve", "Check rules before you solve."),
        "estimate": ("solve", "Predict the time, memory and disk of a solve."),
        "solve": ("solve", "Solve a game and write its book."),
        "prove": ("solve", "Prove who wins a game too large to solve."),
        "grow": ("solve", "Grow an opening book of a game too large to solve."),
        "cluster": ("solve", "Check the nodes of a cluster."),
        "compare": ("solve", "Compare the searches of the textbook."),
    },
    "Ask a book": {
        "query": ("ask", "Show the value of a position and of its moves."),
        "line": ("ask", "Print best play to the end."),
        "info": ("ask", "Describe a book."),
        "sample": ("measure", "Choose stored states at random."),
        "grade": ("measure", "Judge games move by move."),
        "puzzles": ("measure", "Find positions with one good move."),
        "profile": ("measure", "Measure a game for its designer."),
    },
    "Work on books": {
        "books": ("games", "List the books that come with the package."),
        "verify": ("books", "Check a book: structure, checksums, every value."),
        "pack": ("books", "Write a book in another codec."),
        "trim": ("books", "Write a smaller copy of a book."),
        "merge": ("books", "Write one book with the states of two."),
        "diff": ("books", "Say how two books differ."),
        "import": ("books", "Write a book of values from elsewhere."),
        "export": ("programs", "Write a table, a file for other languages, or a page."),
    },
    "Play and learn": {
        "play": ("play", "Play in the terminal."),
        "match": ("learn", "Let players meet, and say who is better."),
        "learn": ("learn", "Learn to evaluate positions."),
    },
    "Other programs": {
        "serve": ("programs", "Serve pages, and JSON for scripts."),
        "ugi": ("programs", "Play as an engine: the Universal Game Interface."),
        "build": ("programs", "Build a WebAssembly module of a game."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
EXIT_CODES = (
    (errors.MissingState, 3),
    (errors.Unproved, 7),
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
ENDED = {130: "interrupted", 143: "terminated"}  # by a signal, of which `signals` makes these codes
MISNAMED = {
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.ENXIO),
}
RUN_OUT = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


class Commands(click.Group):
    """Commands by name, imported on demand. `main` turns their errors into exit codes."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"{__name__}.{COMMANDS[name][0]}"), f"{name}_command")
        if not gc.isenabled():  # since the program began
            gc.freeze()
            gc.enable()
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Run a command and exit. Without arguments this is the program, and signals are its own until it has ended."""
        earlier = signals.catch()
        code = self._code(*arguments, **options)
        if arguments or options:
            signals.give_back(earlier)
        sys.exit(code)

    def _code(self, *arguments: Any, **options: Any) -> int:
        """Run a command, and print its error to stderr. Returns the exit code."""
        # Where standard streams are closed nothing comes in, errors go nowhere, and output is an error once there is
        # any. Their descriptors are taken, in this order, so that no file that is opened later becomes one of them.
        streams = ("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")
        for stream_name, flags, mode in streams:
            if getattr(sys, stream_name) is None:
                setattr(sys, stream_name, os.fdopen(open_descriptor(os.devnull, flags), mode))
        # Characters that a console cannot show, and names of files that are not text, are written in another way; lines
        # end alike on every system
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace", newline="\n")
        options["standalone_mode"] = False
        output, requested = sys.stdout, None
        try:
            try:
                signals.begin()
                code = super().main(*arguments, **options)
                output.flush()
                return int(code or 0)
            finally:
                requested = signals.end()
        except BaseException as error:
            # Once more: the first may have been interrupted itself
            requested, how_to_go_on = signals.end(), ""
            # As they were typed or given to `main`
            typed = list((arguments[0] if arguments else options.get("args")) or sys.argv[1:])
            if typed[:1] in (["solve"], ["grow"], ["prove"]):
                import shlex

                how_to_go_on = f": go on with solver {shlex.join(word for word in typed if word != '--restart')}"
            # A signal explains the error, whatever Python raised for it
            if requested is not None:
                return _say(f"{ENDED[requested]}{how_to_go_on}", requested)
            if isinstance(error, (click.Abort, KeyboardInterrupt)):
                return _say(f"interrupted{how_to_go_on}", 130)
            # What click does about a broken pipe
            if isinstance(error, SystemExit) and sys.stdout is not output:
                return _go_unheard(output)
            return _told(error, output, typed)
        finally:
            if requested is not None:
                atexit.register(signals.stay_away)


def _told(error: BaseException, output: IO[str], typed: list[str]) -> int:
    """The exit code of an error, said on stderr in a line; one that nobody expects is raised again."""
    if isinstance(error, errors.MissingRules):
        import shlex

        from solver.rules.game import RULES

        # Once more, with the rules that the book needs: by --game, or where the command has no such option by RULES
        name, *rest = typed or [""]
        setting, command = f"{RULES}={shlex.quote(error.rules)}", main.get_command(click.Context(main), name)
        again = f"{setting} {shlex.join(['solver', *typed])}"
        if command is not None and any("--game" in parameter.opts for parameter in command.params):
            once = shlex.join(["solver", name, "--game", error.rules, *rest])
            again = f"{once}, or for all commands: export {setting}"
        return _say(f"{error.fault}: {again}", _exit_code(error))
    if isinstance(error, click.ClickException):
        if not isinstance(error, click.exceptions.NoArgsIsHelpError):
            # Click repeats arguments of any length, with their line ends
            text = errors.message(error.format_message())
            error.format_message = lambda: text  # type: ignore[method-assign]
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return _go_unheard(output)
    if isinstance(error, OSError) and error.errno in RUN_OUT and not isinstance(error, errors.SolverError):
        return _told_of_system(error, output)
    if isinstance(error, Exception) and not isinstance(error, errors.SolverError):
        from solver.check.conformance import blamed

        error = blamed(error) or error
    if isinstance(error, errors.SolverError):
        return _say(str(error), _exit_code(error))
    if isinstance(error, MemoryError):
        text = f"out of memory{f' ({error})' if str(error) else ''}: take a smaller game or --memory"
        return _say(text, _exit_code(error))
    if isinstance(error, OSError):
        return _told_of_system(error, output)
    raise error


def _go_unheard(output: IO[str]) -> int:
    """The reader of a pipe has seen enough: as a program that ends by SIGPIPE, and as quietly."""
    _give_up(output)
    return 141


def _told_of_system(error: OSError, output: IO[str]) -> int:
    """Print an error of the system to stderr, and return its exit code."""
    import traceback

    reason = error.strerror or str(error)
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    # Only they write there
    if error.filename is None and frame.f_globals["__name__"].startswith(("click", __name__)):
        reason = f"standard output cannot be written to: {reason}"
        _give_up(output)
    elif error.filename is not None:
        reason = f"{errors.shortened(str(error.filename))}: {reason}"
    return _say(reason, 6 if error.errno in RUN_OUT else 2 if error.errno in MISNAMED else 1)


def _give_up(output: IO[str]) -> None:
    """Discard output that is still to be written. Python would try again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(open_descriptor(os.devnull, os.O_WRONLY), output.fileno())


def _exit_code(error: BaseException) -> int:
    return next(code for kind, code in EXIT_CODES if isinstance(error, kind))


def _say(message: str, code: int) -> int:
    # Stderr may be closed, or its reader gone
    with contextlib.suppress(OSError):
        click.echo(f"Error: {errors.message(message)}", err=True)
    return code


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="solver")
def main() -> None:
    """Strongly solve two-player games and ship the answers.

    \b
    solver solve connect-four:4,4 -o c4.lmdb     solve a game into a book
    solver query c4.lmdb 1223                    ask it: moves played from the start
    solver play c4.lmdb                          play against it

    \b
    Exit codes: 0 done, 1 failure, 2 usage, game or method, 3 not in the book, 4 illegal position or move,
    5 damaged or foreign book, 6 out of memory or disk, 7 not proved, 130 or 143 interrupted,
    141 the reader of a pipe has gone.
    """
