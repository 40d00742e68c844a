"""Rules whose states are wide, rewritten for the compiler: where Python has one kind of int, it has two.

number << distance, 2 ** distance            wide, whatever the number: `1 << cell` would be int64
number.bit_count(), number.bit_length()      functions, see `wide`
numbers beyond 63 bits, and tuples of them   constants that are wide
what a method returns or yields              wide where it is a state (or `replies`), else int64
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from solver.compiled.tracing import STATES
from solver.compiled.wide import Constant, size_of
from solver.compiled.words import bit_count, bit_length, left, narrow, widen

NUMBERS = {
    *("actions", "utility", "plies_left", "tier", "to_move", "again", "reward", "size", "rank"),
    *("evaluate", "features", "bounds", "longest", "outlook", "followup", "promise"),
}


def is_large(value: Any) -> bool:
    """Whether data has numbers beyond 63 bits."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return any(map(is_large, value))
    return type(value) is int and not -(1 << 63) <= value < 1 << 63


def large(value: Any, width: int, size: int | None = None) -> Any:
    """The same with wide numbers, all of one type where there are several: tuples of one type compile best."""
    size = size or max(_sizes(value, width), default=0)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return tuple(large(element, width, size) for element in value)
    return Constant.of(value, width, size) if type(value) is int else value


def _sizes(value: Any, width: int) -> Iterator[int]:
    """The bits that numbers in data take, in whole words: all of them for those below 0."""
    if isinstance(value, (list, tuple)):
        for element in value:
            yield from _sizes(element, width)
    elif type(value) is int:
        yield width if value < 0 else min(width, size_of(value))


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

    def visit_Return(self, node: ast.Return) -> Any:
        return self._changed(node)

    def visit_Yield(self, node: ast.Yield) -> Any:
        return self._changed(node)

    def _changed(self, node: Any) -> Any:
        self.generic_visit(node)
        if node.value is not None and self.change is not None:
            node.value = _call(self.change, node, node.value)
        return node


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
