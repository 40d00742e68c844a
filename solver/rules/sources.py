"""The source that functions and modules were made from, the tokens of it that mean something, and its imports.

And the meaning of names in the functions of rules, for any state: looked up as Python would, by syntax or by code.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import enum
import functools
import hashlib
import inspect
import io
import itertools
import os
import re
import sys
import textwrap
import tokenize
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from solver.base.errors import GameError
from solver.rules.loading import SOURCE

PACKAGE = os.path.dirname(os.path.dirname(__file__))
# what an `ast` says of this package's files, in a twentieth of the time
IMPORT = re.compile(rf"^ *from {os.path.basename(PACKAGE)}\b([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
MISSING = object()


def inner(function: Any) -> Any:
    """The function that a property, a static or class method or a decorator's object calls; else the item itself."""
    for name in ("fget", "__func__", "py_func", "__wrapped__", "func"):
        if isinstance(function, types.FunctionType):
            return function
        wrapped = inspect.getattr_static(function, name, None)
        if isinstance(wrapped, (types.MemberDescriptorType, types.GetSetDescriptorType)) or wrapped is None:
            wrapped = getattr(function, name, None) if not isinstance(function, type) else None
        if callable(wrapped) and not isinstance(function, type):
            function = wrapped
    return function


def is_generated(function: Any) -> bool:
    """Whether a function was made by a dataclass or a named tuple, from no file."""
    return isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith("<")


def text_of(module: types.ModuleType) -> str:
    """The source that a module was made from."""
    text = vars(module).get(SOURCE)
    if text is not None:
        return str(text)
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        raise GameError(f"the source of {module.__name__} is not at hand: put the rules into a file") from None


def source_of(item: Any, name: str = "") -> str:
    """The source of a function, or of the one in a decorator's object, without indentation. Raises GameError."""
    function = inner(item)
    text = None if is_generated(function) else getattr(function, "__globals__", {}).get(SOURCE)
    try:
        return _source_of_code(function.__code__, text)
    except (AttributeError, OSError, TypeError, SyntaxError, tokenize.TokenError):
        raise GameError(f"the source of {name or item} is not at hand: put the rules into a file") from None


@functools.lru_cache(maxsize=4096)
def _source_of_code(code: types.CodeType, text: str | None) -> str:
    """A function's source; kept, since a file may change after it was imported."""
    if text is None:
        # Made by exec: `python -c` of 3.13 gives its own source
        if code.co_filename == "<string>":
            raise OSError(code.co_filename)
        source = inspect.getsource(code)
    else:
        source = "".join(inspect.getblock(text.splitlines(keepends=True)[code.co_firstlineno - 1 :]))
    return textwrap.dedent(source)


def tokens_of(function: types.FunctionType, name: str) -> str:
    """The code of a function, without comments, docstrings and layout. Raises GameError."""
    try:
        return _joined_tokens(source_of(function, name))
    except tokenize.TokenError:
        raise GameError(f"the source of {name} is not at hand: put the rules into a file") from None


@functools.lru_cache(maxsize=4096)
def _joined_tokens(source: str) -> str:
    """The tokens that mean something; block structure as braces, strings alone on a line (docstrings) left out."""
    text, line = "", list[str]()
    for token in _whole_strings(tokenize.generate_tokens(io.StringIO(source).readline), source):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            continue
        if token.type == tokenize.INDENT:
            text += "{"
        elif token.type == tokenize.DEDENT:
            text += "}"
        elif token.type == tokenize.NEWLINE:
            if not (len(line) == 1 and line[0][-1] in "'\""):
                text += " ".join(line) + ";"
            line = []
        else:
            line.append(token.string)
    return text


def _whole_strings(tokens: Iterable[tokenize.TokenInfo], source: str) -> Iterator[tokenize.TokenInfo]:
    """Join the parts of each f-string, which Python 3.12 and later tell apart, to the one token of Python 3.11."""
    # Begins of f-strings within f-strings
    begins: list[tuple[int, int]] = []
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        if kind.endswith("STRING_START"):
            begins.append(token.start)
        elif kind.endswith("STRING_END"):
            begin = begins.pop()
            if not begins:
                starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
                text = source[starts[begin[0] - 1] + begin[1] : starts[token.end[0] - 1] + token.end[1]]
                yield tokenize.TokenInfo(tokenize.STRING, text, begin, token.end, token.line)
        elif not begins:
            yield token


@functools.cache
def digest_behind(*files: str) -> str:
    """16 hex digits of the sources of these files, and of all of the package that they import, directly or not.

    Machine code of functions in them may hold any of that. It takes a seventh of a millisecond a file, once.
    """
    digests = "".join(digest_and_imports(file)[0] for file in sorted(files_behind(*files)))
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def files_behind(*files: str) -> set[str]:
    """These files, and those of the package that they import, directly or not."""
    all_files, todo = set(files), list(files)
    while todo:
        imported = digest_and_imports(todo.pop())[1] - all_files
        all_files |= imported
        todo += imported
    return all_files


@functools.cache
def digest_and_imports(file: str) -> tuple[str, frozenset[str]]:
    """Of a file's source, and the files of the package that it imports: modules, packages for names of their own."""
    # Of an archive, too
    loader: Any = sys.modules["solver"].__loader__
    source: bytes = loader.get_data(file)
    imported = set()
    for home, names in IMPORT.findall(source.decode()):
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)):
            imported.add(file_of(f"{home}.{name}") or file_of(home))
    return hashlib.sha256(source).hexdigest(), frozenset(path for path in imported if path is not None)


@functools.cache
def file_of(module: str) -> str | None:
    """The file of a module of the package, `.store.runs`, if there is one."""
    path = PACKAGE + module.replace(".", os.sep)
    return next(filter(os.path.isfile, (f"{path}.py", os.path.join(path, "__init__.py"))), None)


class Names:
    """The names of a function of a class of rules.

    `own` is the name of a method's game, usually self; None in other functions. `scopes` are the local variables of the
    function and of the functions within it. A local variable hides a global one. The caller, who walks through the
    syntax, adds and removes scopes.
    """

    def __init__(self, cls: type, function: types.FunctionType) -> None:
        self.cls = cls
        code = function.__code__
        self.own: str | None = code.co_varnames[0] if function in _methods_of(cls) and code.co_argcount else None
        self.scopes: list[Any] = []  # sets, or dicts of more about each variable
        self._known = known_to(function)

    def is_variable(self, name: str) -> bool:
        """Whether it is one here; the game is none."""
        return any(name in scope for scope in self.scopes)

    def is_game(self, node: ast.AST) -> bool:
        """Whether this is `self` in a method."""
        return isinstance(node, ast.Name) and node.id == self.own and not self.is_variable(node.id)

    def meaning(self, node: ast.AST) -> Any:
        """Return the object that a name or a chain of attributes stands for.

        MISSING if there is none, or if it is a parameter. `self` stands for the class, and `self.method` for its
        attribute of that name.
        """
        if isinstance(node, ast.Name) and not self.is_variable(node.id):
            return self.cls if node.id == self.own else self._known.get(node.id, MISSING)
        if isinstance(node, ast.Attribute):
            if self.is_game(node.value) and node.attr in getattr(self.cls, "_fields", ()):
                return MISSING
            owner = self.meaning(node.value)
            if isinstance(owner, enum.EnumMeta) and node.attr in owner.__members__:
                return owner.__members__[node.attr]
            if isinstance(owner, enum.Enum) and node.attr == "value":
                return owner.value
            if isinstance(owner, (types.ModuleType, type)):
                return inspect.getattr_static(owner, node.attr, MISSING)
        return MISSING


@functools.lru_cache(maxsize=16)
def _methods_of(cls: type) -> set[Any]:
    """The functions of a class and its bases that take a game, or the class."""
    items = [member for base in cls.__mro__ if base.__module__ != "builtins" for member in vars(base).values()]
    functions = [inner(member) for member in items if not isinstance(member, staticmethod)]
    return {function for function in functions if isinstance(function, types.FunctionType)}


def known_to(function: types.FunctionType) -> Mapping[str, Any]:
    """The names that a function may use besides its own variables: cells, globals, builtins."""
    return ChainMap(cells_of(function), function.__globals__, vars(builtins))


def cells_of(function: types.FunctionType) -> dict[str, Any]:
    """The variables of the functions that it is nested in, but for its class; None for those not yet bound."""
    contents: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name != "__class__":
            contents[name] = None
            with contextlib.suppress(ValueError):
                contents[name] = cell.cell_contents
    return contents


def names_in(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)
