"""The meaning of names in the functions of rules, for any state: looked up as Python would, by syntax or by code."""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import inspect
import types
from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import Any

from solver.rules.sources import inner

MISSING = object()


class Names:
    """The names of a function of a class of rules.

    `own` is that by which a method knows its game, None in other functions; `scopes` are the variables of the function
    and of those within it, which mean nothing: whoever walks through the syntax says where they are some.
    """

    def __init__(self, cls: type, function: types.FunctionType) -> None:
        self.cls = cls
        code = function.__code__
        self.own: str | None = code.co_varnames[0] if function in _methods_of(cls) and code.co_argcount else None
        self.scopes: list[set[str]] = []
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
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: _contents(cell) for name, cell in cells if name != "__class__"}


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def names_in(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)
