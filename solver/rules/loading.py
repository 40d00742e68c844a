"""Games from elsewhere: a user's rules, parameters as text, and graphs that their books keep.

A user's rules are a file, or a module of the working folder, with the files beside it.

Modules beside the rules are imported from source: Python's cached bytecode is taken for current if size and time in
whole seconds agree, so that of an edit of one digit within a second the old code would run. Each module keeps the text
that it was made from, which the fingerprint reads: the file may be edited while the process runs.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import types
import typing
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from solver.base.errors import GameError, reason, shortened
from solver.base.files import open_input, read_input

USER_MODULE = "rules_of_file_"  # and a number: a file named random.py must not become the module random
SOURCE = "__rules_source__"  # a module global: the text that the module was made from, whatever its file says since
NOT_RULES = sys.stdlib_module_names | {"numpy", "numba", "llvmlite"}
MOST_BYTES = 1 << 24  # of a file of rules
DRIVE = re.compile(r"[A-Za-z]:[\\/]")
BOOLEANS: dict[str, Any] = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
BOARD = ("width", "height")  # parameters of which one alone says no size
HOME = "solver.games.graph"


def user_class(source: str, name: str, wanted: str = "") -> type:
    """A class of a user's file or module, which is imported, that is, run; anew if it has changed since.

    Without a name it is the class of rules that is called `wanted`, or the only one. A file becomes a module of a name
    of its own, which Numba's cache needs.
    """
    try:
        if source.endswith(".py"):
            open_input(source, MOST_BYTES).close()
    except OSError as error:
        raise GameError(f"{source!r} cannot be read ({error.strerror}): give the path of a file with rules") from None
    try:
        if source.endswith(".py"):
            module = _of_file(os.path.realpath(source))
        elif all(word.isidentifier() for word in source.split(".")):
            _beside.add(os.getcwd())
            module = importlib.import_module(source)
        else:
            raise GameError(f"{source!r} names neither a file (my_game.py::Class) nor a module (package.module::Class)")
    except (GameError, MemoryError):
        raise
    except RecursionError:
        raise GameError(f"{source} cannot be imported: it recurses without end") from None
    except (Exception, SystemExit) as error:
        raise GameError(f"{source} cannot be imported: {error_text(error)}") from error
    if name:
        cls = getattr(module, name, None)
        if isinstance(cls, type):
            return cls
        raise GameError(f"{source} has no class {name!r}: name the class of the rules, {source}::Class")
    # No other class says how a game begins
    candidates = [cls for cls in _own_classes(module) if any("initial" in vars(base) for base in cls.__mro__)]
    if not candidates:
        raise GameError(f"{source} has no class of rules: give one a method initial(self)")
    candidates = [cls for cls in candidates if cls.__name__ == wanted] or candidates
    if len(candidates) > 1:
        names = ", ".join(f"{source}::{cls.__name__}" for cls in candidates)
        raise GameError(f"{source} has several classes of rules: name one of {names}")
    return candidates[0]


def _own_classes(module: types.ModuleType) -> list[type]:
    return [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]


def names_user_rules(text: str) -> bool:
    """Whether a game's string names a user's file or module: `my_game.py:30`, `package.module::Class`."""
    return "::" in text or split_values(text)[0].endswith(".py")


def split_values(text: str) -> tuple[str, str]:
    """Split a game's string at the colon before its parameters, which is not that of a drive: `C:/mine.py:30`."""
    begin = 2 if DRIVE.match(text) else 0
    name, _, values = text[begin:].partition(":")
    return text[:begin] + name, values


def _of_file(path: str) -> types.ModuleType:
    name = f"{USER_MODULE}{zlib.crc32(path.encode('utf-8', 'surrogateescape')):08x}"
    folder = os.path.dirname(path)
    _beside.add(folder)
    own_modules = [(key, sys.modules[key]) for key in _from_source & sys.modules.keys()]
    here = {key: module for key, module in own_modules if str(module.__file__).startswith(folder + os.sep)}
    with contextlib.suppress(OSError, SyntaxError, UnicodeDecodeError):
        texts = [read_input(str(module.__file__), MOST_BYTES) for module in here.values()]
        is_same = [*map(importlib.util.decode_source, texts)] == [vars(module)[SOURCE] for module in here.values()]
        if name in sys.modules and is_same:
            return sys.modules[name]
    # Let modules be imported anew that were imported from the folder, and those of the same names from elsewhere
    for key, _ in own_modules:
        top = os.path.join(folder, key.partition(".")[0])
        is_here = key in here or os.path.exists(top + ".py") or os.path.isdir(top)
        if is_here and not key.startswith(USER_MODULE):
            del sys.modules[key]
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class _FromSource(importlib.machinery.SourceFileLoader):
    """Imports from source, never from cached bytecode, and keeps the text."""

    def get_data(self, path: str) -> bytes:
        return read_input(path, MOST_BYTES)

    def exec_module(self, module: types.ModuleType) -> None:
        data = self.get_data(self.path)
        vars(module)[SOURCE] = importlib.util.decode_source(data)
        _from_source.add(module.__name__)
        exec(self.source_to_code(data, self.path), vars(module))  # noqa: S102
        # Undo Numba's wrapping of functions and methods: rules are compiled whole, and run as plain Python. Numba's own
        # cache ignores the names that a function uses, so it would run old code after an edit elsewhere.
        for holder in (module, *_own_classes(module)):
            for name, value in list(vars(holder).items()):
                if hasattr(value, "py_func") and type(value).__module__.startswith("numba."):
                    setattr(holder, name, value.py_func)


class _Beside:
    """Finds modules in the folders of users' rules, but none of the names of the standard library."""

    def __init__(self) -> None:
        self.folders: list[str] = []

    def add(self, folder: str) -> None:
        """Look in a folder, before all others."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        if folder in self.folders:
            self.folders.remove(folder)
        self.folders.insert(0, folder)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in NOT_RULES | {"solver"}:
            return None
        for folder in self.folders if path is None else path:
            if not any(folder == own or folder.startswith(own + os.sep) for own in self.folders):
                continue
            finder = importlib.machinery.FileFinder(folder, (_FromSource, importlib.machinery.SOURCE_SUFFIXES))
            spec = finder.find_spec(name)
            if spec is None:
                continue
            # a folder without __init__.py is a package only where nothing else has that name
            if spec.loader is not None or importlib.machinery.PathFinder.find_spec(name, path) is None:
                return spec
        return None


_beside = _Beside()
_from_source: set[str] = set()  # names of modules


def error_text(error: BaseException) -> str:
    """Say an error that a user's rules raised, and the last line of the user's files that it came through."""
    place, step = "", error.__traceback__
    while step is not None:
        frame, line, step = step.tb_frame, step.tb_lineno, step.tb_next
        if frame.f_globals.get("__name__", "").partition(".")[0] not in NOT_RULES | {"solver"}:
            place = f"{os.path.basename(frame.f_code.co_filename)} line {line}"
    # Compiled code names the place in its message
    where = f" in {place}" if place and place not in str(error) else ""
    return f"{type(error).__name__}{where}: {error}".removesuffix(": ")


def parameters_in(cls: Any, text: str) -> dict[str, Any]:
    """Values by field from `5,4`, `width=5,height=4` or both, converted by the fields' annotations."""
    kinds = typing.get_type_hints(cls)
    fields = list(cls._fields)
    values: dict[str, Any] = {}
    position = 0
    for word in text.split(",") if text else []:
        name, named, value = word.partition("=")
        name = name.strip() if named else ""
        if not named:
            if position >= len(fields):
                raise ValueError(
                    f"too many parameters: it takes {', '.join(fields)}" if fields else "it takes no parameters"
                )
            name, value = fields[position], word
        if name not in kinds or name not in fields:
            raise ValueError(f"no parameter {name!r}: it takes {', '.join(fields)}")
        kind, arguments = kinds[name], typing.get_args(kinds[name])
        if is_optional := types.NoneType in arguments and len(arguments) == 2:
            kind = arguments[arguments[0] is types.NoneType]
        is_none = is_optional and value.strip().lower() == "none"
        # Takes all unnamed numbers
        if typing.get_origin(kind) is tuple and {*typing.get_args(kind)} <= {int, ...} and not is_none:
            if not named and name in values and not _is_whole(other := value.strip()[:40]):
                if position + 1 == len(fields):
                    raise ValueError(f"too many parameters: {other!r} is not a number")
                raise ValueError(f"what follows the numbers is given by its name: {fields[position + 1]}={other}")
            values[name] = (*values.get(name, ()), _convert(name, value, int))
            continue
        if name in values:
            raise ValueError(f"{name} is given twice")
        values[name] = None if is_none else _convert(name, value, kind)
        position += not named
    return values


def _convert(name: str, text: str, kind: Any) -> Any:
    """The value of a text by its field's annotation. Raises ValueError for another value, or an unknown annotation."""
    text = text.strip()
    if kind is int:
        if not _is_whole(text):
            raise ValueError(f"{name} is a whole number below 2**63, not {text[:40]!r}")
        return int(text)
    if kind is float:
        with contextlib.suppress(ValueError):
            if (number := float(text)) == number:
                return number
        raise ValueError(f"{name} is a number such as 0.5, not {text[:40]!r}")
    if kind is str:
        return text
    if kind is bool:
        text, choices = text.lower(), BOOLEANS
    elif typing.get_origin(kind) is typing.Literal:
        choices = {_word(value): value for value in typing.get_args(kind)}
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        choices = {_word(member): member for member in kind} | dict(kind.__members__)
    else:
        raise ValueError(
            f"{name} is annotated {inspect.formatannotation(kind)}, to which no text is converted: annotate it int,"
            " bool, float, str, tuple[int, ...], Literal[...], an IntEnum, or one of them | None"
        )
    if text not in choices:
        raise ValueError(f"{name} is one of {', '.join(choices)}, not {text[:40]!r}")
    return choices[text]


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii() and len(text) <= 20


def parameters_of(game: Any) -> str:
    """The parameters as `5,4`. Defaults at the end are left out, but a board's width always comes with its height."""
    values, fields = list(game), game._fields
    defaults = [game._field_defaults.get(field) for field in fields]
    while values and values[-1] == defaults[len(values) - 1]:
        if fields[len(values) - 2 : len(values)] == BOARD and values[-2] != defaults[len(values) - 2]:
            break
        values.pop()
    words: list[str] = []
    for field, value in zip(game._fields, values, strict=False):
        if isinstance(value, tuple):
            words += [str(number) for number in value]
        else:
            words.append(f"{field}=" * any(isinstance(another, tuple) for another in values) + _word(value))
    return ",".join(words)


def _word(value: Any) -> str:
    """One parameter as text, which `_convert` reads."""
    word = str(value.value if isinstance(value, enum.Enum) else value)
    return word.lower() if value is None or isinstance(value, bool) else word


def integers_in(value: Any) -> Iterator[int]:
    """All whole numbers in a parameter."""
    if isinstance(value, tuple):
        for element in value:
            yield from integers_in(element)
    elif isinstance(value, int):
        yield value


def is_plain(value: Any) -> bool:
    """Whether `repr` tells all of it."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in (int, bool, str, bytes, float, complex, type(None), type(...), range, slice)


def kept_game(game: Any) -> bytes:
    """Return the record of a game for its book. Empty if the name says it all."""
    return bytes(game.to_bytes()) if type(game).__module__ == HOME else b""


def game_kept(text: str, data: bytes) -> Any:
    """Return the game of a name and a book's record. Raises GameError."""
    from solver.games.graph import Graph

    name, _, source = text.partition(":")
    if name != "graph":
        raise GameError(f"{shortened(text)} is not a graph, and a book stores only graphs")
    try:
        return Graph.from_bytes(source, data)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise GameError(f"its game is malformed ({reason(error)})") from None


def graph_in(game: Any) -> Any:
    """The arrays of a game that is a graph (`games.common.nodes.Nodes`); None for others."""
    return game.nodes if type(game).__module__ == HOME else None
