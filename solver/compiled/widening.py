"""Rules whose states are wide, rewritten for the compiler: where Python has one kind of int, it has two.

number << distance, 2 ** distance            wide, whatever the number: `1 << cell` would be int64
number.bit_count(), number.bit_length()      functions, see `wide`
numbers beyond 63 bits, and tuples of them   constants that are wide
what a method returns or yields              wide where it is a state (or `replies`), else int64
what is known once the parameters are        a number: `(1 << self.width * self.height) - 1` of othello 8x8

LLVM finds such numbers, too, but after types are inferred: what is masked by a number that is known takes fewer words
than a wide state (`wide`). So only rules with wide states get them; all others compile as they are written.
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

from solver.compiled.operators import bit_count, bit_length, left, narrow, widen
from solver.compiled.tracing import STATES, WHOLE
from solver.compiled.wide import Constant, size_of
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
        # Variables that the function gives a value once
        parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        names_in_tree = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
        stored = collections.Counter(node.id for node in names_in_tree if not isinstance(node.ctx, ast.Load))
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if stored[name] == 1:
                    number = None if name in parameters else self.number(value)
                    if number is not None:
                        self.numbers[name] = number

    def visit(self, node: ast.AST) -> Any:
        number = self.number(node) if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) else None
        return self.generic_visit(node) if number is None else ast.copy_location(ast.Constant(number), node)

    def number(self, node: Any) -> int | None:
        """Return the number that an expression stands for. None if it is not known, or not a number."""
        constant: Any = None
        try:
            match node:
                case ast.Constant(value=value):
                    constant = value
                case ast.Name(id=name, ctx=ast.Load()):
                    constant = self.numbers.get(name, self.names.meaning(node))
                case ast.Attribute(value=holder, attr=name) if self.names.is_game(holder):
                    constant = getattr(self.game, name) if name in self.game._fields else None
                case ast.UnaryOp(op=op) if type(op) in OPERATORS:
                    constant = OPERATORS[type(op)](self.number(node.operand))
                case ast.BinOp(op=op) if type(op) in OPERATORS:
                    left, right = self.number(node.left), self.number(node.right)
                    is_long = isinstance(op, (ast.LShift, ast.Pow)) and right is not None and right > MAX_CONSTANT_BITS
                    constant = None if left is None or is_long else OPERATORS[type(op)](left, right)
                case ast.Call(func=called, keywords=[]):
                    # Of `max`, `min`, a property or a method of the game that does not yield
                    arguments, function = [self.number(argument) for argument in node.args], self.names.meaning(called)
                    method = inner(function)
                    name = called.attr if isinstance(called, ast.Attribute) and self.names.is_game(called.value) else ""
                    if None in arguments:
                        return None
                    if function in (max, min):
                        constant = function(arguments)
                    elif name and isinstance(function, (property, functools.cached_property)):
                        constant = getattr(self.game, name)
                    elif name and isinstance(method, types.FunctionType) and not inspect.isgeneratorfunction(method):
                        constant = getattr(self.game, name)(*arguments)
        except Exception:
            # Rules may raise here, though play may never come to this state
            return None
        return constant if type(constant) is int and constant.bit_length() <= MAX_CONSTANT_BITS else None


NUMBERS = WHOLE - STATES - {"endless", "chance", "vanishing"} | {"evaluate", "features"}


def leaves(value: Any) -> Iterator[Any]:
    """The parts of nested lists and tuples that are neither."""
    if isinstance(value, (list, tuple)):
        for element in value:
            yield from leaves(element)
    else:
        yield value


def is_large(value: Any) -> bool:
    """Whether data has numbers beyond 63 bits."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return any(map(is_large, value))
    return type(value) is int and not -(1 << 63) <= value < 1 << 63


def large(value: Any, width: int, size: int | None = None) -> Any:
    """The same with wide numbers, all of one type where there are several: tuples of one type compile best."""
    if size is None:
        # All words for numbers below 0
        sizes = (width if leaf < 0 else size_of(leaf) for leaf in leaves(value) if type(leaf) is int)
        size = min(width, max(sizes, default=0))
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return tuple(large(element, width, size) for element in value)
    return Constant.of(value, width, size) if type(value) is int else value


class Widening(ast.NodeTransformer):
    """The rewriting of one function; `scope` has what its new names mean."""

    def __init__(self, width: int, method: str) -> None:
        self.width = width
        self.change = "_as_state" if method in STATES else "_as_number" if method in NUMBERS else None
        self.scope: dict[str, Any] = {
            **{"_left": left(width), "_as_state": widen(width), "_as_number": narrow},
            **{"_bit_count": bit_count, "_bit_length": bit_length},
        }

    def visit_Constant(self, node: ast.Constant) -> Any:
        if not is_large(node.value):
            return node
        name = f"_large_{len(self.scope)}"
        self.scope[name] = large(node.value, self.width)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.LShift):
            return _call("_left", node, node.left, node.right)
        is_two = isinstance(node.left, ast.Constant) and node.left.value == 2 and type(node.left.value) is int
        if isinstance(node.op, ast.Pow) and is_two:
            return _call("_left", node, ast.Constant(1), node.right)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) and not node.args else ""
        if called in ("bit_count", "bit_length") and isinstance(node.func, ast.Attribute):
            return _call(f"_{called}", node, node.func.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.LShift) or not isinstance(node.target, ast.Name):
            return node
        shifted = _call("_left", node, ast.Name(node.target.id, ast.Load()), node.value)
        return ast.copy_location(ast.Assign([node.target], shifted), node)

    def visit_Return(self, node: ast.Return | ast.Yield) -> Any:
        self.generic_visit(node)
        if node.value is not None and self.change is not None:
            node.value = _call(self.change, node, node.value)
        return node

    visit_Yield = visit_Return


def _call(name: str, node: ast.AST, *arguments: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)


def widened(rewrite: Any, tree: Any, width: int, method: str) -> Any:
    """The tree of a function rewritten further, and the helpers of `rewrite`, which is told what the names mean."""
    widening = Widening(width, method)
    tree = widening.visit(tree)
    widening.change = None
    rewrite.lifted = [widening.visit(helper) for helper in rewrite.lifted]
    rewrite.scope.update(widening.scope)
    rewrite.changed = True
    return tree
