"""Numbers of rules that are known once a game's parameters are: `(1 << self.width * self.height) - 1` of othello 8x8.

LLVM finds them, too, but after types are inferred: what is masked by a number that is known takes fewer words than a
wide state (`wide`). So this is for rules whose states are wide; all others compile as they are written.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

from solver.rules.sources import Names, inner

MAX_CONSTANT_BITS = 4096  # bits of a number that is worked out beforehand
OPERATORS: dict[type, Any] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv},
    **{ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor},
    **{ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Pow: operator.pow},
    **{ast.USub: operator.neg, ast.Invert: operator.invert, ast.UAdd: operator.pos},
}


class Known(ast.NodeTransformer):
    """Puts numbers in place of the expressions of a function that stand for one.

    game: its methods run as plain Python; names, scope: the meaning of the names in the function; tree: the function.
    """

    def __init__(self, game: Any, names: Names, scope: dict[str, Any], tree: ast.AST) -> None:
        self.game = game
        self.names = names
        self.numbers: dict[str, int] = {name: value for name, value in scope.items() if type(value) is int}
        for name, node in _assigned_once(tree):
            number = self.number(node)
            if number is not None:
                self.numbers[name] = number

    def visit(self, node: ast.AST) -> Any:
        number = self.number(node) if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) else None
        return self.generic_visit(node) if number is None else ast.copy_location(ast.Constant(number), node)

    def number(self, node: Any) -> int | None:
        """Return the number that an expression stands for. None if it is not known, or not a number."""
        try:
            constant = self._worked_out(node)
        except Exception:
            # Rules may raise here, though play may never come to this state
            return None
        return constant if type(constant) is int and constant.bit_length() <= MAX_CONSTANT_BITS else None

    def _worked_out(self, node: Any) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and _is_read(node):
            return self.numbers.get(node.id, self.names.meaning(node))
        if isinstance(node, ast.Attribute) and self.names.is_game(node.value):
            return getattr(self.game, node.attr) if node.attr in self.game._fields else None
        if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](self.number(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left, right = self.number(node.left), self.number(node.right)
            if (
                left is None
                or right is None
                or (isinstance(node.op, (ast.LShift, ast.Pow)) and right > MAX_CONSTANT_BITS)
            ):
                return None
            return OPERATORS[type(node.op)](left, right)
        return self._called(node) if isinstance(node, ast.Call) and not node.keywords else None

    def _called(self, node: ast.Call) -> Any:
        arguments = [self.number(argument) for argument in node.args]
        if None in arguments:
            return None
        function = self.names.meaning(node.func)
        if function in (max, min):
            return function(arguments)
        if not isinstance(node.func, ast.Attribute) or not self.names.is_game(node.func.value):
            return None
        if isinstance(function, (property, functools.cached_property)):
            return getattr(self.game, node.func.attr)
        method = inner(function)
        if not isinstance(method, types.FunctionType) or inspect.isgeneratorfunction(method):
            return None
        return getattr(self.game, node.func.attr)(*arguments)


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _assigned_once(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Variables that a function gives a value once, and the expressions of those values."""
    parameters = {argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)}
    stored = collections.Counter(
        argument.id for argument in ast.walk(tree) if isinstance(argument, ast.Name) and not _is_read(argument)
    )
    for argument in ast.walk(tree):
        if (
            isinstance(argument, ast.Assign)
            and len(argument.targets) == 1
            and isinstance(argument.targets[0], ast.Name)
        ):
            name = argument.targets[0].id
            if stored[name] == 1 and name not in parameters:
                yield name, argument.value
