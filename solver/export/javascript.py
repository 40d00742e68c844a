"""Rules as JavaScript: the methods of a game and all that they name, for a page.

A function becomes its syntax: each node of Python's `ast` is a call of the function of that name in `python.js`.
`state + 1` is `py.BinOp(py.Name(1), py.Add, py.Constant(1n))`. What that file does not export is refused by its line.
Names are resolved here, since rules are one class and plain functions; constants are data. A page compares what they
say with Python's records before it answers (`export.script`).
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import json
import os
import re
import types
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from solver.base.errors import GameError, MethodError
from solver.export.readers import WEB
from solver.rules.sources import MISSING, Names, inner, source_of

# by name the most arguments that python.js takes
BUILTINS = {
    "abs": 1, "all": 1, "any": 1, "bin": 1, "bool": 1, "chr": 1, "divmod": 2, "enumerate": 2, "int": 1, "len": 1,
    "list": 1, "map": 255, "max": 255, "min": 255, "ord": 1, "pow": 2, "range": 3, "reversed": 1, "sorted": 1, "str": 1,
    "sum": 2, "tuple": 1, "zip": 255,
}  # fmt: skip
METHODS = {
    "append": 1, "bit_count": 0, "bit_length": 0, "count": 1, "extend": 1, "get": 2, "index": 1, "join": 1, "ljust": 2,
    "lower": 0, "pop": 1, "replace": 2, "rjust": 2, "rstrip": 1, "split": 1, "strip": 0, "upper": 0,
}  # fmt: skip
OPERATORS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
UNSAID = {"ctx", "type_comment"}  # fields of nodes that python.js does not take


class Port:
    """The rules of one game as functions of JavaScript, those that are asked for and those that they name."""

    def __init__(self, game: Any) -> None:
        self.cls = type(game)
        self.fields = dict(zip(self.cls._fields, game, strict=True))
        self._names: dict[int, str] = {}
        # What is known by its id must not go
        self._kept: list[Any] = []
        self._parts: list[str] = []

    def method(self, name: str) -> str:
        """The name of the function that a method of the game becomes. Raises MethodError with the line."""
        return self.function(inner(inspect.getattr_static(self.cls, name)))

    def text(self) -> str:
        """All functions and constants so far; they want `py`, the module python.js."""
        return "\n".join(self._parts)

    def function(self, function: types.FunctionType) -> str:
        """The name of a function."""
        if id(function) not in self._names:
            name = self._name(function, function.__name__)
            try:
                (tree,) = ast.parse(source_of(function)).body
            except (GameError, SyntaxError, ValueError) as error:
                raise MethodError(f"{function.__qualname__}: {error}") from None
            if not isinstance(tree, ast.FunctionDef):
                raise MethodError(f"{function.__qualname__} is not a plain function: define it with def")
            self._parts.append(f"const {name} = {_Syntax(self, function).definition(tree)};")
        return self._names[id(function)]

    def constant(self, name: str, item: Any) -> str:
        """Return data as an expression. Containers are made once. Raises MethodError for anything else."""
        item = item.tolist() if hasattr(item, "tolist") else item  # of NumPy
        if item is None or isinstance(item, (bool, str)):
            return json.dumps(item)
        if isinstance(item, int):  # an IntEnum, too
            return f"{int(item)}n"
        if not isinstance(item, (tuple, list, dict, set, frozenset)):
            raise MethodError(f"{name} is a {type(item).__name__}, which has no translation to JavaScript")
        if id(item) not in self._names:
            if isinstance(item, dict):
                if any(isinstance(key, tuple) for key in item):
                    raise MethodError(f"{name} has keys that are tuples, which have no translation to JavaScript")
                pairs = (f"[{self.constant(name, key)}, {self.constant(name, value)}]" for key, value in item.items())
                text = f"py.dict([{', '.join(pairs)}])"
            else:
                # Loops run over a set in Python's own order, which differs from run to run only where texts are in it
                is_mixed = isinstance(item, (set, frozenset)) and "'" in repr(item)
                elements = sorted(item, key=repr) if is_mixed else item
                text = f"[{', '.join(self.constant(name, element) for element in elements)}]"
            self._parts.append(f"const {self._name(item, name)} = {text};")
        return self._names[id(item)]

    def _name(self, value: Any, wanted: str) -> str:
        """A new name of the module for a function or a constant."""
        self._kept.append(value)
        name = f"${wanted}_{len(self._names)}" if f"${wanted}" in self._names.values() else f"${wanted}"
        self._names[id(value)] = name
        return name


@functools.cache
def _exported() -> frozenset[str]:
    """The names that python.js exports."""
    text = (WEB / "site" / "python.js").read_text("utf-8")
    return frozenset(re.findall(r"^export (?:const|function) (\w+)", text, re.MULTILINE))


class _Syntax(ast.NodeVisitor):
    """The syntax of one function. A variable is known by its place in the frame of a call, from 1 on."""

    def __init__(self, port: Port, function: types.FunctionType) -> None:
        self.port = port
        self.function = function
        self.names = Names(port.cls, function)

    def refuse(self, node: ast.AST, what: str | None = None) -> Any:
        """Raise MethodError with the line."""
        code = self.function.__code__
        line = code.co_firstlineno - 1 + getattr(node, "lineno", 1)
        fragment = ast.unparse(node).partition("\n")[0] if what is None else what
        location = f"{self.function.__qualname__}, line {line} of {os.path.basename(code.co_filename)}"
        raise MethodError(f"{location}: {fragment[:60]!r} has no translation to JavaScript")

    def definition(self, tree: ast.FunctionDef) -> str:
        """The function as a whole."""
        if tree.args.vararg or tree.args.kwarg:
            self.refuse(tree, "a function of any number of arguments")
        nodes = list(ast.walk(tree))
        parameters = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
        of_clauses = {name for node in nodes if isinstance(node, ast.comprehension) for name in _assigned(node.target)}
        assigned = [name.id for name in _assigned(tree) if name not in of_clauses]
        self._open([*parameters[self.names.own is not None :], *assigned])
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes)
        return f"py.define({json.dumps(yields)}, () => {self._part(body)})"

    def _open(self, names: Iterable[str]) -> None:
        """Begin a scope of variables, which lie behind those of the scopes around it."""
        first = 1 + sum(map(len, self.names.scopes))
        self.names.scopes.append({name: place for place, name in enumerate(dict.fromkeys(names), first)})

    def generic_visit(self, node: ast.AST) -> str:
        """The call of the function of the node's name, with To in front where the node is assigned to."""
        kind = "To" * isinstance(getattr(node, "ctx", None), ast.Store) + type(node).__name__
        if kind not in _exported():
            self.refuse(node)
        if isinstance(node, OPERATORS):
            return f"py.{kind}"
        parts = [self._part(part) for field, part in ast.iter_fields(node) if field not in UNSAID]
        return f"py.{kind}({', '.join(parts)})"

    def _part(self, part: Any) -> str:
        if isinstance(part, list):
            return f"[{', '.join(map(self._part, part))}]"
        return str(self.visit(part)) if isinstance(part, ast.AST) else json.dumps(part)

    # names, and what they stand for

    def visit_Constant(self, node: ast.Constant) -> str:
        return self._constant(node, "constant", node.value)

    def visit_Name(self, node: ast.Name) -> str:
        place = next((scope[node.id] for scope in reversed(self.names.scopes) if node.id in scope), None)
        if place is None:
            return self._known(node, node.id, self.names.meaning(node))
        return f"py.{'To' * isinstance(node.ctx, ast.Store)}Name({place})"

    def visit_Attribute(self, node: ast.Attribute) -> str:
        if self.names.is_game(node.value) and node.attr in self.port.fields:
            return self._constant(node, node.attr, self.port.fields[node.attr])
        item = self.names.meaning(node)
        if isinstance(item, (property, cached_property)):
            return f"py.Call({self.port.function(inner(item))}, [])"
        return self._known(node, node.attr, item)

    def _known(self, node: ast.expr, name: str, item: Any) -> str:
        """A function or data that a name stands for."""
        function = inner(item)
        if isinstance(function, types.FunctionType):
            return f"py.Constant({self.port.function(function)})"
        if name in BUILTINS and getattr(builtins, name) is item:
            return f"py.Constant(py.{name})"
        return self._constant(node, name, item)

    def _constant(self, node: ast.expr, name: str, item: Any) -> str:
        try:
            return f"py.Constant({self.port.constant(name, item)})"
        except MethodError:
            return str(self.refuse(node))

    # calls

    def visit_Call(self, node: ast.Call) -> str:
        item = self.names.meaning(node.func)
        function = inner(item)
        if isinstance(function, types.FunctionType):
            # The arguments in the order of the parameters
            is_of_game = isinstance(node.func, ast.Attribute) and self.names.is_game(node.func.value)
            takes_game = isinstance(item, classmethod) or (is_of_game and not isinstance(item, staticmethod))
            by_name = {str(word.arg): word.value for word in node.keywords}
            if any(isinstance(argument, ast.Starred) for argument in node.args):
                self.refuse(node)
            own = [None] * takes_game
            try:
                bound = inspect.signature(function, follow_wrapped=False).bind(*own, *node.args, **by_name)
            except TypeError:
                self.refuse(node)
            bound.apply_defaults()
            given = [
                self.visit(value) if isinstance(value, ast.AST) else self._constant(node, name, value)
                for name, value in [*bound.arguments.items()][takes_game:]
            ]
            return f"py.Call({self.port.function(function)}, [{', '.join(given)}])"
        arguments = [*node.args, *(word.value for word in node.keywords if word.arg == "start")]
        is_plain = {word.arg for word in node.keywords} <= {"start", "strict"}
        if isinstance(node.func, ast.Attribute) and item is MISSING:
            if not is_plain or len(arguments) > METHODS.get(node.func.attr, -1):
                self.refuse(node, f".{node.func.attr}()")
            return f"py.Method({self.visit(node.func.value)}, {json.dumps(node.func.attr)}, {self._part(arguments)})"
        name = getattr(item, "__name__", "")
        if not is_plain or len(arguments) > BUILTINS.get(name, -1) or getattr(builtins, name) is not item:
            self.refuse(node)
        return f"py.Call(py.{name}, {self._part(arguments)})"

    # nodes that are not written as they stand

    def visit_AnnAssign(self, node: ast.AnnAssign) -> str:
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value or ast.Constant(None)), node))

    def visit_AugAssign(self, node: ast.AugAssign) -> str:
        before = copy.copy(node.target)
        before.ctx = ast.Load()
        # A list grows in place, by [0] * 3 as well: other names of it see that
        first: ast.expr = node.value
        while isinstance(first, ast.BinOp):
            first = first.left
        if isinstance(node.op, ast.Add) and isinstance(first, (ast.List, ast.ListComp)):
            return f'py.Expr(py.Method({self.visit(before)}, "extend", [{self.visit(node.value)}]))'
        value = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], value), node))

    def visit_For(self, node: ast.For | ast.While) -> str:
        return str(self.refuse(node, "else of a loop")) if node.orelse else self.generic_visit(node)

    visit_While = visit_For

    def visit_Raise(self, node: ast.Raise) -> str:
        message = node.exc.args if isinstance(node.exc, ast.Call) else []
        return f"py.Raise({self.visit(message[0] if len(message) == 1 else ast.Constant('the rules raise an error'))})"

    def visit_BinOp(self, node: ast.BinOp | ast.UnaryOp) -> str:
        left = getattr(node, "left", None)
        is_text = isinstance(left, ast.JoinedStr) or isinstance(getattr(left, "value", None), str)
        is_known = type(node.op).__name__ in _exported() and not (is_text and isinstance(node.op, ast.Mod))
        return self.generic_visit(node) if is_known else str(self.refuse(node))

    visit_UnaryOp = visit_BinOp

    def visit_Subscript(self, node: ast.Subscript) -> str:
        slices = [part for part in ast.walk(node.slice) if isinstance(part, ast.Slice)]
        is_read = isinstance(node.ctx, ast.Load) and slices == [node.slice]
        return self.generic_visit(node) if is_read or not slices else str(self.refuse(node))

    def visit_Compare(self, node: ast.Compare) -> str:
        # Rules are pure: what stands in the middle of a chain is worked out twice
        pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        parts = [f"py.BinOp({', '.join(map(self.visit, pair))})" for pair in pairs]
        return parts[0] if len(parts) == 1 else f"py.BoolOp(py.And, [{', '.join(parts)}])"

    def visit_FormattedValue(self, node: ast.FormattedValue) -> str:
        parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
        spec = "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in parts)
        if node.conversion not in (-1, ord("s")) or not re.fullmatch(r"(.?[<>^])?\d*[ds]?", spec):
            self.refuse(node)
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        # What the first clause goes through is evaluated outside, as Python does
        outside = self.visit(node.generators[0].iter)
        self._open(name.id for clause in node.generators for name in _assigned(clause.target))
        rows = [outside, *(self.visit(clause.iter) for clause in node.generators[1:])]
        clauses = [
            f"py.comprehension({self.visit(clause.target)}, {row}, {self._part(clause.ifs)})"
            for clause, row in zip(node.generators, rows, strict=True)
        ]
        text = f"py.ListComp({self.visit(node.elt)}, [{', '.join(clauses)}])"
        self.names.scopes.pop()
        return text

    visit_GeneratorExp = visit_ListComp


def _assigned(tree: ast.AST) -> list[ast.Name]:
    """The variables in some code that are given a value."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
