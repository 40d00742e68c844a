"""Every error that this package raises on purpose.

    SolverError
    ├── GameError (ValueError)            no such game, bad parameters, rules that break the protocol
    │   └── UncompiledRules               rules that Numba cannot compile, or compiles to something else
    ├── MethodError (ValueError)          the method cannot solve this game
    ├── PositionError (ValueError)        text or number that is not a legal position or move
    │   └── StateTypeError (TypeError)    a float, a text or a bool in place of a state
    ├── MissingState (KeyError)           the book has no value for this state
    ├── BookError (OSError)               a file that cannot be used as a book
    │   ├── DamagedBook                   truncated, altered, unfinished
    │   └── ForeignBook                   not a book, another version, another game, other rules
    │       └── MissingRules              a book of your own game, whose rules were not named
    ├── ResourceError (MemoryError)       memory or disk does not suffice
    └── BudgetExceeded                    a search was told to stop before it had an exact value

Messages are one line, name the offending thing and, behind a colon, the remedy. Whatever a message takes from a file is
escaped, so that any error may be printed: text of strangers moves no cursor, retitles no window, turns no line round,
fills no screen. `printable`, `shortened`, `excerpt` and `reason` make such text fit to be shown.
"""

from __future__ import annotations

import reprlib
import unicodedata

MOST_SHOWN = 200  # characters of anything that came from a file
MOST_MESSAGE = 1000  # characters of a whole message, paths included
REASONS = {  # of what reading damaged data raises, in our words; a kind goes before those that it is derived from
    "json.decoder.JSONDecodeError": "no JSON",
    "UnicodeError": "not UTF-8",
    "RecursionError": "nested too deep",
    "OverflowError": "a number out of range",
    "LookupError": "a part is missing",
    "TypeError": "a part of another kind",
    "AttributeError": "a part of another kind",
    "struct.error": "a part ends early",
    "zlib.error": "a part cannot be inflated",
}
OF_PYTHON = (  # how Python's own ValueErrors begin
    *("Exceeds the limit", "invalid literal", "not enough values", "too many values", "could not convert", "embedded"),
    *("dictionary update", "cannot ", "bytes must be", "zip() argument", "byte must be", "negative ", "Unpack"),
)


class SolverError(Exception):
    """The root of the tree: catch it to catch everything expected."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*[message(argument) if isinstance(argument, str) else argument for argument in arguments])


class GameError(SolverError, ValueError):
    """A game that cannot be loaded, or whose rules break the protocol."""


class LayoutError(GameError):
    """Rules whose layout() lacks a board or an action that play comes to."""


class UncompiledRules(GameError):
    """Numba cannot compile the rules, or would compile them to something that differs from Python.

    The plain algorithms may still run them.
    """


class MethodError(SolverError, ValueError):
    """A method that cannot solve this game; said before any work is done where that is possible."""


class PositionError(SolverError, ValueError):
    """Text or a number that is not a legal position or move of this game."""


class StateTypeError(PositionError, TypeError):
    """Something that is not an integer, in place of a state."""


class MissingState(SolverError, KeyError):
    """The solution has no value for this state (never 0, never a draw)."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


class BookError(SolverError, OSError):
    """A file that cannot be used as a book."""


class DamagedBook(BookError):
    """Truncated, altered or unfinished."""


class ForeignBook(BookError):
    """Not a book, of another format, of another game or of other rules."""


class MissingRules(ForeignBook):
    """A book of a game outside this package, which never runs code that it names: you name its rules."""

    def __init__(self, fault: str, rules: str) -> None:
        """Make the error of a `fault`, in words; `rules` is the value that `--game` would take."""
        super().__init__(f"{fault}, --game {rules}, or in Python Book(path, game)")
        self.fault, self.rules = fault, rules

    def __reduce__(self) -> tuple[type[MissingRules], tuple[str, str]]:
        return MissingRules, (self.fault, self.rules)


class ResourceError(SolverError, MemoryError):
    """Memory or disk does not suffice; the message has the numbers."""


class Unproved(SolverError):
    """A proof did not come to its end in the time that it was given."""


class BudgetExceeded(SolverError):
    """A search ended by its budget before it had an exact value."""


def printable(text: str, kept: str = "") -> str:
    r"""Escape characters that a terminal obeys rather than prints: controls, direction marks, halves of characters.

    Args:
        text: Anything. Letters of all scripts, symbols and spaces stay as they are.
        kept: Further characters that stay, such as "\n" for a board of several rows.

    Returns:
        The text with escapes as Python writes them: `\x1b`, `\u202e`.
    """
    if text.isprintable():
        return text
    # Of the spaces Python calls only the usual one printable
    safe = {sign for sign in {*text} if sign.isprintable() or sign in kept or unicodedata.category(sign) == "Zs"}
    return "".join(sign if sign in safe else sign.encode("unicode_escape").decode() for sign in text)


def shortened(text: str, limit: int = MOST_SHOWN) -> str:
    """Return the beginning of a text, escaped, of so many characters."""
    text = printable(text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def message(text: str) -> str:
    """Return a text as the one line that an error is: escaped, and without its middle if it is long."""
    if not text.isprintable():
        text = printable(" ".join(text.split()))
    if len(text) > MOST_MESSAGE:
        text = f"{text[: MOST_MESSAGE - MOST_SHOWN - 5]} ... {text[-MOST_SHOWN:]}"
    return text


def reason(error: BaseException) -> str:
    """Return why data cannot be read, in our words: Python's speak of its types and of its settings."""
    for kind in type(error).__mro__:
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        if name in REASONS:
            return REASONS[name]
    text = str(error)
    return "a number or text of another form" if not text or text.startswith(OF_PYTHON) else shortened(text)


def excerpt(value: object, limit: int = 40) -> str:
    """Return the beginning of a value as a message shows it: in quotes, escaped, of so many characters.

    Lists and objects of any depth and length cost no more than the part that is shown.
    """
    if isinstance(value, str):
        return shortened(repr(value if len(value) <= limit else f"{value[: limit - 3]}..."))
    return shortened(_SHORT.repr(value), limit)


class _Short(reprlib.Repr):
    """`reprlib` never looks deeper or further than it shows; a number of any length is not written out."""

    def repr_int(self, number: int, level: int) -> str:
        return repr(number) if number.bit_length() < 1000 else f"a number of {number.bit_length():,} bits"


_SHORT = _Short()
