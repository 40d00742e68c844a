"""Reductions that Numba does not know as loops: the pattern in a function's syntax, and the body of its helper.

any(f(x) for x in xs), all, sum, min, max and of the items that a method yields: any(self.actions(state))
next((x for x in xs if f(x)), -1)            next(self.actions(state), None), next(iter(xs), 0)
move in self.actions(state)                  any(move == x for x in self.actions(state))
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

REDUCTIONS = ("any", "all", "sum", "min", "max")
EACH = "_each"  # names in a helper that no rules should have
Clauses = ast.GeneratorExp | ast.ListComp
Yields = Callable[[ast.expr], bool]


class Fold(NamedTuple):
    """A reduction of clauses, or `next`. `start` is its first value, or its value if there are no items."""

    name: str
    clauses: Clauses
    start: ast.expr | None = None


def fold_of(node: ast.expr, yields: Yields) -> Fold | None:
    """The fold that an expression is and that Numba does not know; `yields(call)`: whether it calls a generator."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)) and len(node.ops) == 1:
        items = node.comparators[0]
        same = ast.Compare(node.left, [ast.Eq()], [ast.Name(EACH, ast.Load())])
        return Fold("any", _over(items, same)) if yields(items) else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return None
    name, items, other_arguments = node.func.id, node.args[0], [*node.args[1:], *(word.value for word in node.keywords)]
    if isinstance(items, ast.Starred) or any(word.arg != "default" for word in node.keywords):
        return None
    if name in ("any", "all") and not other_arguments:
        return Fold(name, _over(items))
    if name in ("min", "max", "sum") and len(node.args) <= (2 if name == "sum" else 1):
        # Numba's own `sum` does not notice where 64 bits end
        known = name != "sum" and not isinstance(items, ast.GeneratorExp) and not yields(items)
        return None if known else Fold(name, _over(items), *other_arguments)
    if name == "next" and len(other_arguments) <= 1:
        inside = _iterated(items)
        if isinstance(inside, ast.GeneratorExp) or (other_arguments and (inside is not items or yields(items))):
            return Fold(name, _over(inside), *other_arguments)
    return None


def _over(items: ast.expr, each: ast.expr | None = None) -> Clauses:
    """The clauses of items, which may be clauses themselves."""
    if isinstance(items, (ast.GeneratorExp, ast.ListComp)) and each is None:
        return items
    clause = ast.comprehension(ast.Name(EACH, ast.Store()), items, [], 0)
    return ast.GeneratorExp(each or ast.Name(EACH, ast.Load()), [clause])


def _iterated(items: ast.expr) -> ast.expr:
    """Return the argument of `iter(...)`."""
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id == "iter" and items.args:
        return items.args[0]
    return items


def listed(node: ast.Call, yields: Yields) -> ast.expr | None:
    """The list that compiles in place of a list, tuple or sorted list of items; None elsewhere."""
    if not isinstance(node.func, ast.Name) or not node.args:
        return None
    name, items = node.func.id, node.args[0]
    if isinstance(items, ast.GeneratorExp) and name in ("list", "tuple", "sorted"):
        list_node: ast.expr = ast.ListComp(items.elt, items.generators)
        return ast.Call(node.func, [list_node, *node.args[1:]], node.keywords) if name == "sorted" else list_node
    is_list = isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.func.id in MAKES_LISTS
    if name == "tuple" and (is_list or yields(items) or isinstance(items, ast.ListComp)):
        return ast.Call(ast.Name("list", ast.Load()), [items], [])
    return None


MAKES_LISTS = ("list", "range", "sorted")


def body_of(fold: Fold) -> Iterator[ast.stmt]:
    """The body of a helper that folds the clauses' items; it takes `_start` if the fold has one."""
    start = "0" if fold.start is None else "_start"
    before, each, after = {
        "any": ("", "if _item: return True", "return False"),
        "all": ("", "if not _item: return False", "return True"),
        "sum": (f"_total = {start}", "_total += _item", "return _total"),
        "min": (f"_first, _best = True, {start}", "if _first or _item < _best: _first, _best = False, _item", ""),
        "max": (f"_first, _best = True, {start}", "if _first or _item > _best: _first, _best = False, _item", ""),
        "next": ("", "return _item", "return _start"),
    }[fold.name]
    if fold.name in ("min", "max"):
        after = "return _best"
    if fold.start is None and fold.name in ("min", "max", "next"):
        after = f"{'' if fold.name == 'next' else 'if _first: '}raise ValueError('the sequence is empty')\n{after}"
    inside: list[ast.stmt] = [ast.Assign([ast.Name("_item", ast.Store())], fold.clauses.elt), *ast.parse(each).body]
    for generator in reversed(fold.clauses.generators):
        for condition in reversed(generator.ifs):
            inside = [ast.If(condition, inside, [])]
        inside = [ast.For(generator.target, generator.iter, inside, [])]
    yield from ast.parse(before).body
    yield from inside
    yield from ast.parse(after).body
