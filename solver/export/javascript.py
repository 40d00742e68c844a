"""Rules as JavaScript: the methods of a game and all that they name, translated for a page.

The source of a function becomes a function of the same shape; constants are data, the parameters of the game are those
of `self`. Code that cannot be translated is refused by its line. Callers run both versions and compare them
(`export.site`).
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import symtable
import types
from collections.abc import Iterator, Sequence
from typing import Any

from solver.base.errors import GameError, MethodError
from solver.export.expressions import OPERATORS, Expressions
from solver.rules.sources import inner, source_of


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
        fields = ", ".join(f"{name}: {self.constant(name, value)}" for name, value in self.fields.items())
        return "\n".join([*self._parts, f"const self = Object.freeze({{ {fields} }});"])

    def function(self, function: types.FunctionType) -> str:
        """The name of a translated function."""
        if id(function) not in self._names:
            name = self._name(function, function.__name__)
            self._parts.append(translated(self, function, name))
        return self._names[id(function)]

    def constant(self, name: str, item: Any) -> str:
        """Return data as an expression. Containers are made once. Raises MethodError for anything else."""
        item = item.tolist() if hasattr(item, "tolist") else item  # of NumPy
        if item is None or isinstance(item, (bool, str)):
            return json.dumps(item)
        if isinstance(item, int):  # an IntEnum, too
            return f"({int(item)}n)" if item < 0 else f"{int(item)}n"
        if isinstance(item, float):
            return repr(item) if math.isfinite(item) else f"Number({json.dumps(str(item).replace('inf', 'Infinity'))})"
        if not isinstance(item, (tuple, list, dict, set, frozenset)):
            raise MethodError(f"{name} is a {type(item).__name__}, which has no translation to JavaScript")
        if id(item) not in self._names:
            text = self._container(name, item)
            self._parts.append(f"const {self._name(item, name)} = {text};")
        return self._names[id(item)]

    def _container(self, name: str, value: Any) -> str:
        if isinstance(value, dict):
            pairs = (f"[{self.constant(name, key)}, {self.constant(name, element)}]" for key, element in value.items())
            return f"py.dict([{', '.join(pairs)}])"
        kind, elements = (
            ("set", sorted(value, key=repr)) if isinstance(value, (set, frozenset)) else ("tuple", list(value))
        )
        return f"py.{kind}([{', '.join(self.constant(name, element) for element in elements)}])"

    def _name(self, value: Any, wanted: str) -> str:
        """A new name of the module for a function or a constant."""
        taken = set(self._names.values())
        name = base = "$" + (wanted if wanted.isidentifier() and wanted.isascii() else "item")
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        self._kept.append(value)
        self._names[id(value)] = name
        return name


def translated(port: Port, function: types.FunctionType, name: str) -> str:
    """The text of a function under another name. Raises MethodError with the line that has no translation."""
    try:
        source = source_of(function)
        (tree,) = ast.parse(source).body
    except (GameError, SyntaxError, ValueError) as error:
        raise MethodError(f"{function.__qualname__}: {error}") from None
    if not isinstance(tree, ast.FunctionDef):
        raise MethodError(f"{function.__qualname__} is not a plain function: define it with def")
    return "\n".join(_Statements(port, function, source).definition(tree, name))


class _Statements(Expressions):
    """The statements of one function: each gives lines."""

    def __init__(self, port: Port, function: types.FunctionType, source: str) -> None:
        super().__init__(port, function)
        self.variables = dict(_variables(symtable.symtable(source, "rules", "exec")))
        self.yields = False

    def definition(self, tree: ast.FunctionDef, name: str) -> list[str]:
        """A function, the one that is translated or one within it."""
        if tree.args.kwarg is not None:
            self.refuse(tree, "**" + tree.args.kwarg.arg)
        every = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
        parameters = every[1:] if self.names.own and not self.names.scopes else every
        star = [tree.args.vararg.arg] if tree.args.vararg else []
        assigned = sorted(self.variables[tree.name, tree.lineno])
        self.names.scopes.append({*parameters, *star, *assigned})
        outer, self.yields = self.yields, False
        lines = [f"let {', '.join(map(self.local, assigned))};"] if assigned else []
        lines += self._block(tree.body)
        self.names.scopes.pop()
        yields, self.yields = self.yields, outer
        listed = ", ".join([*map(self.local, parameters), *(f"...{self.local(argument)}" for argument in star)])
        falls_out = not yields and not isinstance(tree.body[-1], ast.Return)
        lines += ["return null;"] if falls_out else []
        return [f"function{'*' * yields} {name}({listed}) {{", *_indented(lines), "}"]

    def _block(self, body: Sequence[ast.stmt]) -> list[str]:
        return [line for statement in body for line in self.visit(statement)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[str]:
        if node.decorator_list or node.args.defaults or node.args.kwonlyargs:
            self.refuse(node, "decorators or defaults of a function within a function")
        first_line, *rest = self.definition(node, "")
        return [f"{self.local(node.name)} = {first_line}", *rest[:-1], rest[-1] + ";"]

    def visit_Pass(self, node: ast.Pass) -> list[str]:
        return []

    def visit_Break(self, node: ast.Break) -> list[str]:
        return ["break;"]

    def visit_Continue(self, node: ast.Continue) -> list[str]:
        return ["continue;"]

    def visit_Return(self, node: ast.Return) -> list[str]:
        return [f"return {'null' if node.value is None else self.visit(node.value)};"]

    def visit_Expr(self, node: ast.Expr) -> list[str]:
        value = node.value
        if isinstance(value, ast.Constant):  # a docstring
            return []
        self.yields = self.yields or isinstance(value, (ast.Yield, ast.YieldFrom))
        if isinstance(value, ast.Yield):
            return [f"yield {'null' if value.value is None else self.visit(value.value)};"]
        if isinstance(value, ast.YieldFrom):
            return [f"yield* py.iter({self.visit(value.value)});"]
        return [f"{self.visit(value)};"]

    def visit_Assign(self, node: ast.Assign) -> list[str]:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return [self._stored(node.targets[0], value)]
        stores = [self._stored(target, "$$value") for target in node.targets]
        return ["{", *_indented([f"const $$value = {value};", *stores]), "}"]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[str]:
        return [] if node.value is None else [self._stored(node.target, self.visit(node.value))]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[str]:
        operator = "increased" if isinstance(node.op, ast.Add) else OPERATORS.get(type(node.op))
        if operator is None:
            self.refuse(node)
        return [self._stored(node.target, f"py.{operator}({self.visit(node.target)}, {self.visit(node.value)})")]

    def _stored(self, target: ast.expr, value: str) -> str:
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            return f"py.put({self.visit(target.value)}, {self.visit(target.slice)}, {value});"
        several = isinstance(target, (ast.Tuple, ast.List))
        if isinstance(target, (ast.Tuple, ast.List)) and any(
            isinstance(element, ast.Subscript) for element in target.elts
        ):
            stores = [self._stored(element, f"$$items[{index}]") for index, element in enumerate(target.elts)]
            return f"{{ const $$items = py.tuple({value}); {' '.join(stores)} }}"
        return f"{self.pattern(target)} = {f'py.iter({value})' if several else value};"

    def visit_If(self, node: ast.If) -> list[str]:
        lines = [f"if ({self.test(node.test)}) {{", *_indented(self._block(node.body)), "}"]
        if node.orelse:
            lines[-1:] = ["} else {", *_indented(self._block(node.orelse)), "}"]
        return lines

    def visit_While(self, node: ast.While) -> list[str]:
        return self._loop(node, f"while ({self.test(node.test)})")

    def visit_For(self, node: ast.For) -> list[str]:
        return self._loop(node, f"for ({self.pattern(node.target)} of py.iter({self.visit(node.iter)}))")

    def _loop(self, node: ast.For | ast.While, head: str) -> list[str]:
        if node.orelse:
            self.refuse(node, "else of a loop")
        return [f"{head} {{", *_indented(self._block(node.body)), "}"]

    def visit_Assert(self, node: ast.Assert) -> list[str]:
        return [f'if (!{self.test(node.test)}) throw new Error("an assertion of the rules fails");']

    def visit_Raise(self, node: ast.Raise) -> list[str]:
        message_arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
        text = self.visit(message_arguments[0]) if len(message_arguments) == 1 else '"the rules raise an error"'
        return [f"throw new Error({text});"]


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return ("  " + line for line in lines)


def _variables(table: symtable.SymbolTable) -> Iterator[tuple[tuple[str, int], set[str]]]:
    """The names and lines of functions, of those within them, too, each with the variables that it assigns."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_local() and not symbol.is_parameter()}
    yield (table.get_name(), table.get_lineno()), names
    for scope in table.get_children():
        yield from _variables(scope)
