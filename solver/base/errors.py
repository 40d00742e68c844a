"""Every error that this package raises on purpose.

    SolverError
    ├── GameError (ValueError)            no such game, bad parameters, rules that break the protocol
    │   └── UncompiledRules               rules that Numba cannot compile, or compiles to something else
    ├── MethodError (ValueError)          the method cannot solve this game
    ├── PositionError (ValueError)        text or number that is no legal position or move
    │   └── StateTypeError (TypeError)    a float, a text or a bool in place of a state
    ├── MissingState (KeyError)           the book has no value for this state
    ├── BookError (OSError)               a file that cannot be used as a book
    │   ├── DamagedBook                   truncated, altered, unfinished
    │   └── ForeignBook                   not a book, another version, another game, other rules
    │       └── MissingRules              a book of your own game, whose rules were not named
    ├── ResourceError (MemoryError)       memory or disk does not suffice
    └── BudgetExceeded                    a search was told to stop before it had an exact value

Messages are one line, name the offending thing and, behind a colon, the remedy. Whatever a message takes from a file is
escaped (`shown`), so that any error may be printed.
"""

from __future__ import annotations

from solver.base.shown import message


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
    """Text or a number that is no legal position or move of this game."""


class StateTypeError(PositionError, TypeError):
    """Something that is no integer, in place of a state."""


class MissingState(SolverError, KeyError):
    """The solution has no value for this state (never 0, never a draw)."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


class BookError(SolverError, OSError):
    """A file that cannot be used as a book."""


class DamagedBook(BookError):
    """Truncated, altered or unfinished."""


class ForeignBook(BookError):
    """Not a book, of another format version, of another game or of other rules."""


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
