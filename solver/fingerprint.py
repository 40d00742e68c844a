"""The fingerprint of a game's rules: which source and which parameters made a book or a compiled kernel.

It is a sha256 over the parameters and over the source of every method and helper that can change a value, without
comments, docstrings and layout. So a comment, a nicer `show` or another Python version leaves books valid, and an
edited rule or another board does not.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import os
import textwrap
import tokenize
import types
from collections.abc import Iterator
from typing import Any

from solver.errors import GameError

RULES = (
    *("initial", "starts", "actions", "result", "is_terminal", "utility"),
    *("to_move", "canonical", "tier", "chance", "plies_left"),
)
HINTS = ("replies", "outlook", "promise", "bounds", "longest")  # they make a search quicker, they change no value


def fingerprint(game: Any, also: tuple[str, ...] = ()) -> str:
    """64 hex digits that differ where the rules (and the methods `also`) or the parameters do.

    Raises GameError if the source is not at hand.
    """
    cls = type(game)
    parts = [repr(tuple(game)), str(getattr(cls, "score_game", False))]
    seen: dict[str, str] = {}
    for name in (*RULES, *also):
        if hasattr(cls, name):
            _visit(f"{cls.__name__}.{name}", getattr(cls, name), cls, seen)
    parts += [f"{name}: {seen[name]}" for name in sorted(seen)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _visit(name: str, item: Any, cls: type, seen: dict[str, str]) -> None:
    """Record the source of a function and of what it names, or a constant's repr."""
    if name in seen:
        return
    function: Any = item.fget if isinstance(item, property) else getattr(item, "__func__", item)
    if not isinstance(function, types.FunctionType):
        if isinstance(item, (int, str, tuple, frozenset)):
            seen[name] = repr(sorted(item) if isinstance(item, frozenset) else item)
        return
    try:
        seen[name] = "".join(_tokens(textwrap.dedent(inspect.getsource(function))))
    except (OSError, TypeError):
        raise GameError(f"the source of {name} is not at hand: put the rules into a file") from None
    for used in _names(function.__code__):
        if used in cls.__dict__:
            _visit(f"{cls.__name__}.{used}", cls.__dict__[used], cls, seen)
        elif used in function.__globals__:
            _visit(used, function.__globals__[used], cls, seen)
        else:
            for module in sibling_modules(function):
                if used in vars(module):
                    _visit(f"{module.__name__}.{used}", vars(module)[used], cls, seen)


def sibling_modules(function: types.FunctionType) -> Iterator[types.ModuleType]:
    """The modules that a function names and that lie in the same folder: their functions are rules too."""
    folder = os.path.dirname(os.path.realpath(function.__code__.co_filename))
    for used in _names(function.__code__):
        module = function.__globals__.get(used)
        if isinstance(module, types.ModuleType):
            file = getattr(module, "__file__", None)
            if file and os.path.dirname(os.path.realpath(file)) == folder:
                yield module


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _tokens(source: str) -> Iterator[str]:
    """The tokens that mean something; block structure as braces, strings alone on a line (docstrings) left out."""
    line: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            continue
        if token.type == tokenize.INDENT:
            yield "{"
        elif token.type == tokenize.DEDENT:
            yield "}"
        elif token.type == tokenize.NEWLINE:
            if not (len(line) == 1 and line[0][-1] in "'\""):
                yield " ".join(line) + ";"
            line = []
        else:
            line.append(token.string)
