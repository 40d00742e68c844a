"""Shared parts of the commands: opening a source, progress bars, sizes, and printing."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from solver import book
from solver.base import errors
from solver.base.errors import BookError, PositionError
from solver.base.progress import listening
from solver.book import Book, Header, Opened, shipped
from solver.book.codecs import NAMES
from solver.play.analysis import OPPONENTS
from solver.rules.game import Game, is_built_in, own_method
from solver.search import SECONDS

VALUE = re.compile(r"\b(win|loss|draw)\b( in \d+)?")
COLOURS = {"win": "green", "draw": "yellow", "loss": "red"}
MAX_FILTER = 1 << 63  # beyond any tier or distance
LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal
THINKING_SECONDS = 0.4  # before a command says that the machine thinks
THREAD_SECONDS = 1.5  # of work without lines: longer than plain Python's first try
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def games_of(path: str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input. Raises PositionError or BookError if it does not hold games."""
    from solver.base.text import TextError, file_lines, text_lines

    try:
        yield from text_lines(sys.stdin.buffer) if path == "-" else file_lines(path)
    except TextError as error:
        raise PositionError(f"{path}, {error}") from None
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}): name a file of games, one a line") from None


class Text(click.ParamType):  # type: ignore[type-arg]
    """A text that `read` turns into a value. Its ValueError is the message."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), parameter, context)


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGT]?)(i?B)?", text.strip(), re.ASCII | re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise ValueError(f"{text[:40]!r} is not a size: 500M, 8G or bytes")
    return int(float(match[1]) * UNITS[match[2].upper()])


def _duration(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([hms]?)", text.strip(), re.ASCII)
    if not match:
        raise ValueError(f"{text[:40]!r} is not a time: 2h, 30m, 90s")
    return float(match[1]) * {"h": 3600, "m": 60, "s": 1, "": 1}[match[2]]


def _span(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(-?[0-9]{1,18})?(\.\.)?(-?[0-9]{1,18})?", text.strip(), re.ASCII)
    if not match or match[1] is match[3] is None or (match[2] is None and match[3] is not None):
        raise ValueError(f"{text[:40]!r} is not a range: 5..9, 5.., ..9 or 5")
    low = -MAX_FILTER if match[1] is None else int(match[1])
    high = (MAX_FILTER if match[2] else low) if match[3] is None else int(match[3])
    if low > high:
        raise ValueError(f"{text!r} holds no number: write the smaller first")
    return low, high


SIZE = Text("size", _size)
"""A number of bytes: 500M, 8G, 1.5G."""
DURATION = Text("time", _duration)
"""A time in seconds: 2h, 30m, 90s, 90."""
SPAN = Text("range", _span)
"""A range of whole numbers, both ends included: 5..9, 5.., ..9 or 5."""


class Seconds(click.FloatRange):
    """A time. Unlike its parent it refuses NaN."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        seconds = float(super().convert(value, parameter, context))
        if seconds != seconds:
            self.fail(f"{value!r} is not a number of seconds", parameter, context)
        return seconds


def open_source(
    source: str, own: str | None = None, *, live: bool = False, quiet: bool = False, chance: str | None = None
) -> Opened:
    """Open the BOOK|GAME argument.

    Args:
        source: A book's file, a game or a file of rules, in the order of `book.shipped`.
        own: The rules of a book of your own game.
        live: Whether the book that comes with the package is left out.
        quiet: Whether nothing is said of that book.
        chance: What is said of a game of chance without a book, if not that it has to be solved.
    """
    is_book = shipped.is_path(source)
    if is_book and live and os.path.exists(source):
        raise BookError(f"{source} is a book: --live goes with a game's name")
    if not is_book and own is not None:
        raise BookError(f"there is no book {source}: --game needs a book")
    with loading(quiet):
        opened = book.open_source(source, own, shipped_book=not live)
    if opened.book is None and own_method(opened.game, "chance"):
        chance = chance or f"not searched live: solver solve {source} -o BOOK, name that"
        raise BookError(f"{source} is a game of chance, {chance}")
    if opened.book is None:
        try_out(source, opened.game)
    elif not is_book:
        _note_shipped(opened.book, quiet)
    return opened


@contextlib.contextmanager
def loading(quiet: bool) -> Iterator[None]:
    """Say how far a game is that takes long to load: one that is explored, or read from a table."""
    with Bars(quiet) as bars, listening(bars, functools.partial(note, quiet=quiet), None):
        yield


def _note_shipped(book: Book, quiet: bool) -> None:
    note(f"from the book {book.path.name} that comes with the package", quiet)


def try_out(source: str, game: Game) -> None:
    """Play a few random games by somebody's own rules, so that a fault is named before a search stumbles over it."""
    if not is_built_in(source):
        from solver.check.conformance import check_game
        from solver.play.live import PLAYOUTS

        check_game(game, playouts=PLAYOUTS)


def open_book(source: str, own: str | None = None, *, quiet: bool = False) -> Book:
    """A book by its path, or the one that comes with the package by the name of its game."""
    book = Book(source, own)
    if not shipped.is_path(source):
        _note_shipped(book, quiet)
    return book


def report(header: Header, book: str | None, bars: Bars, as_json: bool) -> None:
    """Print the contents of a book just made. A book of None was not written."""
    from solver.report import books

    tell(books.written(header, book, bars.seconds), lambda facts: books.text(facts, header.kind), as_json)


class Bars(contextlib.AbstractContextManager["Bars"]):
    """A progress callback: a bar for each step on a terminal and in a notebook, elsewhere lines of text.

    Lines come every 10 seconds, and all goes to stderr. Use it in a `with` block, which ends the last bar:

        with solver.Bars() as bars:
            book = solver.solve("connect-four:5,4", progress=bars)

    Args:
        quiet: Whether nothing is shown.
    """

    def __init__(self, quiet: bool = False) -> None:
        draws = sys.stderr.isatty() or _is_notebook()
        self._draws = not quiet and draws
        self._lines = None if quiet or draws else _Lines()
        self._started = time.perf_counter()
        self._bar: Any = None
        self._step = ""

    def __call__(self, step: str, done: int, total: int | None, note: str = "") -> None:
        if self._lines is not None:
            self._lines.see(step, done, total, note)
        if not self._draws:
            return
        if step != self._step:
            import tqdm

            with warnings.catch_warnings():
                # Widgets in a notebook that has them; without ipywidgets tqdm says so, and draws text
                warnings.simplefilter("ignore")
                bar = importlib.import_module("tqdm.auto").tqdm if _is_notebook() else tqdm.tqdm
            self._close()
            self._step = step
            # what an earlier run has done took no time now: `initial` keeps it out of the rate
            earlier = done - 1 if total is not None and done > 0 else 0
            self._bar = bar(
                total=total,
                desc=step,
                unit=" positions",
                unit_scale=True,
                mininterval=0.2,
                smoothing=0,  # what is left goes at the mean pace so far, as the steps see to
                dynamic_ncols=True,
                initial=earlier,
                bar_format=None if total != 0 else "{desc} ...",
            )
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.perf_counter() - self._started

    def __exit__(self, *raised: object) -> None:
        self._close()
        if self._lines is not None:
            self._lines.stop()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _is_notebook() -> bool:
    """Whether this runs in a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class _Lines:
    """Progress as lines of text, for logs and pipes: a thread prints the latest report every LINE_SECONDS.

    A thread, since some steps report nothing for minutes. It starts with the first report after THREAD_SECONDS: short
    work needs none, and a process of one thread may still fork to compile.
    """

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._begun = self._started  # of the step
        # Units that an earlier run has done of the step
        self._first = 0
        self._latest: tuple[str, int, int | None, str] = ("", 0, None, "")
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def see(self, step: str, done: int, total: int | None, note: str) -> None:
        """Take a report."""
        now = time.perf_counter()
        if step != self._latest[0]:
            self._begun, self._first = now, done
        self._latest = step, done, total, note
        if self._thread is None and now - self._started > THREAD_SECONDS:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Print no more."""
        self._ended.set()

    def line(self, now: float) -> str:
        """The latest report: the step, how far it is, the seconds since the start and about how many are left."""
        step, done, total, note = self._latest
        if total == 0:
            far = f"{step} ..."
        elif total is None:
            far = f"{step}: {done:,} positions"
        else:
            far = f"{step}: {done:,} of {total:,} positions, {100 * done // total} %"
        parts = [far, f"{now - self._started:,.0f} s"]
        if total and self._first < done < total:
            left = (now - self._begun) * (total - done) / (done - self._first)
            parts.append(f"about {left:,.0f} s left of this step")
        return ", ".join([*parts, *([note] if note else [])])

    def _run(self) -> None:
        due = self._started + LINE_SECONDS
        while not self._ended.wait(max(0.0, due - time.perf_counter())):
            # The reader may have gone
            with contextlib.suppress(OSError, ValueError):
                click.echo(self.line(time.perf_counter()), err=True)
            due = max(due, time.perf_counter()) + LINE_SECONDS


@contextlib.contextmanager
def thinking(seconds: float, quiet: bool = False) -> Iterator[None]:
    """Say on stderr that the machine thinks, where an answer does not come immediately."""
    text = f"thinking, {seconds:g} s at most, loading aside ..."
    say = threading.Timer(THINKING_SECONDS, click.echo, (text,), {"err": True})
    say.daemon = True
    if not quiet:
        say.start()
    try:
        yield
    finally:
        say.cancel()


def note(message: str | None, quiet: bool) -> None:
    """A remark on stderr, above the bar if one is drawn."""
    if not message or quiet:
        return
    message = errors.message(message)
    if "tqdm" in sys.modules and sys.stderr.isatty():
        sys.modules["tqdm"].tqdm.write(f"Note: {message}", file=sys.stderr)
    else:
        click.echo(f"Note: {message}", err=True)


def tell(facts: Any, text: Callable[[Any], str], as_json: bool) -> None:
    """Print facts, as JSON or in words."""
    if as_json:
        click.echo(json.dumps(facts))
    else:
        echo_values(text(facts))


def echo_values(text: str) -> None:
    """Print text; on a terminal wins, draws and losses in colour, unless the environment has NO_COLOR."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        text = VALUE.sub(lambda match: click.style(match[0], fg=COLOURS[match[1]]), text)
    click.echo(text)


Decorator = Callable[[Any], Any]  # adds an option to a command


def choice(names: str, choices: Iterable[Any], words: str, **more: Any) -> Decorator:
    """An option that takes one of some words. `names` are its own and, if that differs, its parameter's."""
    return click.option(*names.split(), type=click.Choice([*choices]), help=words, **more)


def number(names: str, least: int, most: int, words: str, metavar: str | None = "N", **more: Any) -> Decorator:
    """An option that takes a whole number from `least` to `most`; `names` as of `choice`."""
    return click.option(*names.split(), type=click.IntRange(least, most), metavar=metavar, help=words, **more)


def seconds(names: str, least: float, most: float, words: str, metavar: str = "SECONDS", **more: Any) -> Decorator:
    """The same of seconds, or of another number with a fraction."""
    return click.option(*names.split(), type=Seconds(least, most), metavar=metavar, help=words, **more)


def flag(names: str, words: str, **more: Any) -> Decorator:
    """An option that takes nothing; `names` as of `choice`."""
    return click.option(*names.split(), is_flag=True, help=words, **more)


def size(names: str, words: str) -> Decorator:
    """An option that takes a number of bytes; `names` as of `choice`."""
    return click.option(*names.split(), type=SIZE, metavar="SIZE", help=words)


def file(names: str, words: str, **more: Any) -> Decorator:
    """An option that takes a file; `names` as of `choice`."""
    return click.option(*names.split(), metavar="FILE", help=words, **{"type": click.Path(), **more})


def output(name: str, words: str, metavar: str = "BOOK", **more: Any) -> Decorator:
    """The file or folder that a command writes; `name` is that of the parameter."""
    more = {"type": click.Path(), "required": True, **more}
    return click.option("-o", "--output", name, metavar=metavar, help=words, **more)


budget_option: Decorator = seconds(
    "--budget seconds",
    0.001,
    1e6,
    "Seconds of search for an answer, all its moves together. Default: 5.",
    default=SECONDS,
)
game_option: Decorator = click.option(
    "--game",
    "own",
    metavar="GAME",
    help="Rules of a book made from your own file: my_game.py. The book knows class and parameters. Default:"
    " SOLVER_GAME in the environment.",
)
EXISTING = click.Path(exists=True, dir_okay=False)
evaluate_option: Decorator = file(
    "--evaluate", "Estimate by this evaluation, a file of solver learn. Default: the rules' evaluate.", type=EXISTING
)
module_option: Decorator = file(
    "--module", "Search by this module of solver build, so nothing is compiled.", type=EXISTING
)
opponent_option: Decorator = choice(
    "--opponent", OPPONENTS, "Plies that a fallible opponent looks ahead; beyond them it plays at random."
)
live_option: Decorator = flag("--live", "Search a GAME even if the package has a book of it.")


def all_of(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command these options, in their order."""
    return lambda command: functools.reduce(lambda decorated, option: option(decorated), reversed(options), command)


quiet_option: Decorator = flag("-q --quiet", "Hide progress bars and notes.")
symmetry_option: Decorator = flag(
    "--no-symmetry symmetry",
    "Store mirror images and rotations of positions, too.",
    callback=lambda context, parameter, is_off: not is_off,
)
memory_option: Decorator = size("--memory", "Memory to use, for example 8G. Default: 60 % of the free memory.")
json_option: Decorator = flag("--json as_json", "Print JSON.")
codec_option: Decorator = choice(
    "--codec", NAMES, f"Encoding of the book. {' '.join(f'{name}: {about}.' for name, about in NAMES.items())}"
)
workers_option: Decorator = number("--workers", 1, 1024, "Threads. Default: all cores. The result is the same.")
# The first three are named as `Player` names them
search_options: Decorator = all_of(budget_option, evaluate_option, module_option, live_option, game_option)
print_options: Decorator = all_of(json_option, quiet_option)
