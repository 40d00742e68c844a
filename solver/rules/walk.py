"""The walk through all that a game's rules reach: a text for each function and datum, from which a fingerprint is made.

The names in a function are looked up as Python would: attributes of the class and its bases, globals, attributes of
modules, cells of closures, default arguments, functions that decorators wrap. The standard library, NumPy and Numba
are known by name alone. Where names are made at run time (`getattr(self, name)`), the whole file counts, with the
files of the modules that it imports.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import enum
import hashlib
import importlib
import importlib.util
import os
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from solver.base.errors import GameError
from solver.rules.loading import NOT_RULES, USER_MODULE, is_plain
from solver.rules.protocol import REQUIRED, RULES
from solver.rules.sources import cells_of, inner, is_generated, names_in, text_of, tokens_of

GRAPHS = "solver.games.common.nodes"  # whose arrays have a digest
GAMES_PACKAGE = "solver.games."  # of these the last part tells which one it is, wherever it lies
# names by which code reaches what it does not name
DYNAMIC = frozenset(
    ("getattr", "setattr", "globals", "locals", "vars", "eval", "exec", "compile", "__import__", "import_module")
    + ("__dict__", "__getattribute__", "attrgetter", "methodcaller")
)
IMPORTING = frozenset(("__import__", "import_module", "eval", "exec"))
IMPORT_NAME = dis.opmap["IMPORT_NAME"]
# what Python puts into classes by itself, in some of its versions: annotations as a function, and defaults of methods
ANNOTATIONS = ("__annotate__", "__annotate_func__")
STANDARD = ("__replace__", "__subclasshook__")
# what Python keeps of classes for itself
PRIVATE = ("_abc", "_member_", "_value2member_", "_new_", "_unhashable_values_map_", "_hashable_values_", "__repr__")
DATACLASS = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")
FIELD = ("name", "init", "repr", "hash", "compare", "kw_only")
MAX_NESTING = 100  # containers within containers


def told(cls: type, values: tuple[Any, ...], names: tuple[str, ...] = ()) -> tuple[str, dict[str, str]]:
    """Walk through the rules of a class, with the methods `names` besides those that every book depends on.

    Args:
        cls: The class as it stands, not `game.Rules`: what that fills in is not of the rules.
        values: The parameters.
        names: More methods.

    Returns:
        A text for the parameters, and a text for each thing that the rules reach, by a unique name.

    Raises:
        GameError: The source is not at hand, or the rules name data whose content cannot be told.
    """
    walk = _Walk(cls)
    parameters = repr(values) if is_plain(values) else walk.content(values)
    for name in (*REQUIRED, *RULES, *names):
        walk.attribute(name)
    for base in _own_bases(cls):
        if "__getattr__" in vars(base) or "__getattribute__" in vars(base):
            walk.whole(sys.modules.get(base.__module__))
    return parameters, walk.seen


def sibling_modules(function: types.FunctionType) -> Iterator[types.ModuleType]:
    """The modules that a function names, but for those that are nobody's rules: their functions are rules too."""
    visited, names = set(), dict.fromkeys(names_in(function.__code__))
    todo = [function.__globals__.get(name) for name in names] + list(_imported(function))
    while todo:
        module = todo.pop(0)
        if isinstance(module, types.ModuleType) and _is_own(module.__name__) and module not in visited:
            visited.add(module)
            yield module
            todo += [value for name, value in vars(module).items() if name in names]


class _Walk:
    """A walk through all that the rules reach: a text for each function and datum, by a unique name."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.seen: dict[str, str] = {}
        self._items: dict[str, Any] = {}
        self._depth = 0

    def attribute(self, name: str) -> None:
        """All that the class and its bases have under a name."""
        if name in getattr(self.cls, "_fields", ()):
            return
        owners = [base for base in _own_bases(self.cls) if name in vars(base)]
        for owner in owners:
            label = self.cls.__name__ if owner is owners[0] else owner.__qualname__
            self.visit(f"{label}.{name}", vars(owner)[name])

    def visit(self, name: str, value: Any) -> None:
        """Record a function, with all that it names, or data."""
        while name in self.seen:
            if self._items.get(name) is value:
                return
            # Another module's thing of the same name
            name += "'"
        self._items[name] = value
        if isinstance(value, (int, str)) and not isinstance(value, enum.Enum):
            self.seen[name] = repr(value)
            return
        self.seen[name] = ""  # under way
        function = inner(value)
        if isinstance(function, types.FunctionType):
            self._function(name, value, function)
        else:
            self.seen[name] = self.content(value)
        if not self.seen[name]:
            del self.seen[name]

    def whole(self, module: Any) -> None:
        """Record the file of a module, its data, and the files of the modules that it has names from."""
        todo = [module]
        files = set()
        while todo:
            owner = todo.pop()
            file = getattr(owner, "__file__", None)
            if file is None or file in files or not _is_own(owner.__name__):
                continue
            files.add(file)
            label = _label(owner.__name__)
            self.seen[f"file {label}"] = hashlib.sha256(text_of(owner).encode()).hexdigest()
            for name, value in list(vars(owner).items()):
                if name.startswith("__"):
                    continue
                home = value
                if not isinstance(value, types.ModuleType):
                    home = sys.modules.get(str(getattr(value, "__module__", None)))
                if home is not owner and home is not None:
                    todo.append(home)
                if not callable(value) and not isinstance(value, types.ModuleType):
                    try:
                        self.visit(f"{label} {name}", value)
                    except GameError:
                        # The file says how it is made
                        self.seen[f"{label} {name}"] = type(value).__name__

    def content(self, value: Any) -> str:
        """A text that differs where data differ, in type or in value. Raises GameError where that cannot be told."""
        if self._depth > MAX_NESTING:
            raise GameError(f"the rules name data nested deeper than {MAX_NESTING} levels: make them flat")
        self._depth += 1
        try:
            return self._content(value)
        finally:
            self._depth -= 1

    def _content(self, value: Any) -> str:
        if is_plain(value):
            return repr(value)
        if type(value).__module__ == GRAPHS:
            return f"graph {value.digest}"
        if isinstance(value, frozenset) and all(type(element) is int or type(element) is str for element in value):
            return repr(sorted(value))
        if type(value) in (tuple, list):
            return f"{type(value).__name__}({', '.join(map(self.content, value))})"
        if type(value) in (set, frozenset):
            return f"{type(value).__name__}({', '.join(sorted(map(self.content, value)))})"
        if isinstance(value, (dict, types.MappingProxyType)) and type(value) in (dict, types.MappingProxyType):
            return f"dict({', '.join(f'{self.content(key)}: {self.content(value[key])}' for key in value)})"
        if isinstance(value, enum.Enum):
            return f"{type(value).__qualname__}.{value.name} = {self.content(value.value)}{self._class(type(value))}"
        if isinstance(value, type):
            return f"class {value.__qualname__}{self._class(value)}"
        # A type such as `int | None`, which has no content on Python 3.14
        if arguments := typing.get_args(value):
            origin = typing.get_origin(value)
            outer = "union" if origin in (typing.Union, types.UnionType) else self.content(origin)
            return f"{outer}[{', '.join(map(self.content, arguments))}]"
        if isinstance(value, types.ModuleType):
            self.whole(value)
            return f"module {value.__name__}" if _is_own(value.__name__) else ""
        if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
            return f"{value.__module__ if hasattr(value, '__module__') else ''} {value.__qualname__}"
        # A function among data, or an object that wraps one
        if callable(value) and isinstance(function := inner(value), types.FunctionType):
            name = f"{_label(function.__module__)} {function.__qualname__}"
            if _is_own(function.__module__):
                self.visit(name, value)
            return name
        # NumPy's arrays and scalars
        if hasattr(value, "dtype") and hasattr(value, "tobytes"):
            if value.dtype.hasobject:
                return f"array {value.shape} {self.content(value.tolist())}"
            return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
        # The recipe from which pickle would make the object again
        cls = type(value)
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:
            raise GameError(
                f"the rules name an object of type {cls.__qualname__}, whose content cannot be told, so an edit of it"
                " would not be noticed: use numbers, tuples or arrays"
            ) from None
        if isinstance(reduced, str):
            return f"{cls.__module__} {reduced}"
        pieces = [list(piece) if isinstance(piece, Iterator) else piece for piece in reduced]
        return f"{cls.__qualname__}({', '.join(map(self.content, pieces))}){self._class(cls)}"

    def _class(self, cls: type) -> str:
        """Record a class that is part of the rules, whole; the rules' own class is looked at by names."""
        for base in _own_bases(cls):
            if base in self.cls.__mro__ or self._items.get(f"class {base.__qualname__}") is base:
                continue
            self._items[f"class {base.__qualname__}"] = base
            if "__dataclass_fields__" in vars(base):
                # The arguments and fields, from which `dataclasses` writes its methods
                arguments = vars(base)["__dataclass_params__"]
                fields: list[Any] = [[getattr(arguments, name) for name in DATACLASS]]
                for field in vars(base)["__dataclass_fields__"].values():
                    defaults = [one for one in (field.default, field.default_factory) if one is not dataclasses.MISSING]
                    fields.append([field._field_type.name, *(getattr(field, name) for name in FIELD), *defaults])
                self.seen[f"{base.__qualname__} fields"] = self.content(fields)
            for name, value in vars(base).items():
                if _is_pythons(base, name, value):
                    continue
                # Its state would name its class again
                if isinstance(value, enum.Enum):
                    self.seen[f"{base.__qualname__}.{name}"] = self.content(value.value)
                elif isinstance(inner(value), types.FunctionType) or not name.startswith("__"):
                    self.visit(f"{base.__qualname__}.{name}", value)
            if issubclass(base, enum.Enum):
                members = [(name, member.value) for name, member in base.__members__.items()]
                self.seen[f"{base.__qualname__} members"] = self.content(members)
        return ""

    def _function(self, name: str, item: Any, function: types.FunctionType) -> None:
        if not _is_own(function.__module__) and not _lost(function):
            self.seen[name] = f"{function.__module__} {function.__qualname__}"
            return
        self.seen[name] = tokens_of(function, name)
        if item is not function and hasattr(item, "args"):  # functools.partial
            self.visit(f"{name} arguments", (item.args, item.keywords))
            if inner(item.func) is not function:
                self.visit(f"{name} of", item.func)
        if getattr(item, "__self__", None) is not None and item is not function:
            self.visit(f"{name} self", item.__self__)
        defaults = [*enumerate(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
        for key, value in defaults:
            self.visit(f"{name} default {key}", value)
        for key, value in vars(function).items():
            if key != "__wrapped__":
                self.visit(f"{name}.{key}", value)
        for key, value in cells_of(function).items():
            self.visit(f"{name} cell {key}", value)
        modules = list(sibling_modules(function))
        for used in names_in(function.__code__):
            is_own = any(used in vars(base) for base in _own_bases(self.cls))
            if is_own:
                self.attribute(used)
            if used in function.__globals__ and not (is_own and used in getattr(self.cls, "_fields", ())):
                value = function.__globals__[used]
                if value is not self.cls and not isinstance(value, types.ModuleType):
                    self.visit(used, value)
            for module in modules:
                if used in vars(module) and not isinstance(vars(module)[used], types.ModuleType):
                    self.visit(f"{_label(module.__name__)}.{used}", vars(module)[used])
            if used in DYNAMIC:
                self.whole(sys.modules.get(function.__module__))
            if used in IMPORTING:
                # All modules that it may import from its folder
                for path in sorted(Path(function.__code__.co_filename).parent.rglob("*.py")):
                    self.seen[f"file {path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()


def _is_own(module: str | None) -> bool:
    """Whether a module may hold rules: not the standard library, NumPy or Numba."""
    return (module or "builtins").partition(".")[0] not in NOT_RULES


def _label(module: str) -> str:
    """The name of a module, but for that of a user's file, and those of our own, which tell where they lie."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if module.startswith(GAMES_PACKAGE):
        return module.rpartition(".")[2]
    return os.path.basename(file) if file and module.startswith(USER_MODULE) else module


def _lost(value: Any) -> bool:
    """Whether a class or function says that it is a built-in one and is not: it was made by `exec`."""
    return value.__module__ in (None, "builtins") and getattr(builtins, value.__name__, None) is not value


def _own_bases(cls: type) -> list[type]:
    """The classes that methods are looked up in, but for those of Python itself."""
    return [base for base in cls.__mro__ if _is_own(base.__module__) or _lost(base)]


def _is_pythons(cls: type, name: str, value: Any) -> bool:
    """Whether Python wrote a member of a class by itself: it follows from the rest, and differs between versions."""
    if name in STANDARD:
        return not _is_own(getattr(inner(value), "__module__", None))
    if is_generated(inner(value)):
        return "__dataclass_fields__" in vars(cls) or "_fields" in vars(cls)
    return name in vars(cls).get("_fields", ()) or name in ANNOTATIONS or name.startswith(PRIVATE)


def _imported(function: types.FunctionType) -> Iterator[types.ModuleType]:
    """The modules that a function imports when it runs."""
    package = function.__globals__.get("__package__") or ""
    codes = [code for code in function.__code__.co_consts if isinstance(code, types.CodeType)]
    for code in [function.__code__, *codes]:
        # Few rules import, and to read instructions takes a while
        if IMPORT_NAME not in code.co_code[::2]:
            continue
        steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
        # Python loads how many packages to go up and the names to take, then imports
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opcode != IMPORT_NAME:
                continue
            try:
                name = importlib.util.resolve_name("." * level.argval + step.argval, package)
                if _is_own(name):
                    yield importlib.import_module(name)
            except (ImportError, ValueError):
                raise GameError(f"the rules import {step.argval}, which cannot be found: correct the import") from None
