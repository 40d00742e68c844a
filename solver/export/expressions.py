"""Python's expressions as JavaScript: from names to comprehensions and f-strings.

Operators, truth and built-in functions are calls of `web/site/python.js`, whose module is `py`. Names are resolved
here, since rules are one class and plain functions.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import os
import types
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from solver.base.errors import MethodError
from solver.rules.sources import MISSING, Names, inner

# by name the most arguments that python.js takes
BUILTINS = {
    "abs": 1, "all": 1, "any": 1, "bin": 1, "bool": 1, "chr": 1, "dict": 1, "divmod": 2, "enumerate": 2, "filter": 2,
    "float": 1, "int": 1, "len": 1, "list": 1, "map": 255, "max": 255, "min": 255, "ord": 1, "pow": 2, "range": 3,
    "reversed": 1, "set": 1, "sorted": 1, "str": 1, "sum": 2, "tuple": 1, "zip": 255,
}  # fmt: skip
# what these take as keywords becomes an object in front of their arguments
WITH_OPTIONS = {"max": {"key", "default"}, "min": {"key", "default"}, "sorted": {"key", "reverse"}}
METHODS = {
    "add": 1, "append": 1, "bit_count": 0, "bit_length": 0, "center": 2, "copy": 0, "count": 1, "endswith": 1,
    "extend": 1, "get": 2, "index": 1, "insert": 2, "items": 0, "join": 1, "keys": 0, "ljust": 2, "lower": 0,
    "lstrip": 1, "pop": 1, "replace": 2, "reverse": 0, "rjust": 2, "rstrip": 1, "split": 1, "startswith": 1,
    "strip": 1, "upper": 0, "values": 0,
}  # fmt: skip
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.In: "isIn", ast.NotIn: "notIn", ast.USub: "negative", ast.Invert: "invert",
}  # fmt: skip


class Port(Protocol):
    """The rules around an expression: their class, their parameters, and the meaning of names."""

    cls: Any
    fields: dict[str, Any]

    def function(self, function: types.FunctionType) -> str: ...
    def constant(self, name: str, item: Any) -> str: ...


class Expressions(ast.NodeVisitor):
    """The expressions of one function."""

    def __init__(self, port: Port, function: types.FunctionType) -> None:
        self.port = port
        self.function = function
        self.names: Names = Names(port.cls, function)

    def refuse(self, node: ast.AST, what: str | None = None) -> Any:
        """Raise MethodError with the line."""
        code = self.function.__code__
        line = code.co_firstlineno - 1 + getattr(node, "lineno", 1)
        fragment = ast.unparse(node).partition("\n")[0] if what is None else what
        location = f"{self.function.__qualname__}, line {line} of {os.path.basename(code.co_filename)}"
        raise MethodError(f"{location}: {fragment[:60]!r} has no translation to JavaScript")

    def generic_visit(self, node: ast.AST) -> Any:
        self.refuse(node)

    def local(self, name: str) -> str:
        """A variable's name in JavaScript: no word of the language ends so."""
        return name + "$"

    def test(self, node: ast.expr) -> str:
        """A condition, as a truth value of JavaScript."""
        if isinstance(node, ast.BoolOp):
            glue = " && " if isinstance(node.op, ast.And) else " || "
            return f"({glue.join(map(self.test, node.values))})"
        is_truth = isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        return str(self.visit(node)) if is_truth else f"py.truth({self.visit(node)})"

    # names, and what they stand for

    def visit_Constant(self, node: ast.Constant) -> str:
        if node.value is Ellipsis or isinstance(node.value, (bytes, complex)):
            self.refuse(node)
        return self.port.constant("constant", node.value)

    def visit_Name(self, node: ast.Name) -> str:
        if self.names.is_variable(node.id):
            return self.local(node.id)
        if any(
            self.names.meaning(node) is builtin for builtin in (min, max, sorted)
        ):  # python.js wants their options first
            self.refuse(node)
        return self._meaning(node)

    def visit_Attribute(self, node: ast.Attribute) -> str:
        if self.names.is_game(node.value):
            if node.attr in self.port.fields:
                return f"self.{node.attr}"
            item = self.names.meaning(node)
            if isinstance(item, (property, cached_property)):
                return f"{self.port.function(inner(item))}()"
        return self._meaning(node)

    def _meaning(self, node: ast.Name | ast.Attribute) -> str:
        """Return the JavaScript for a name that is not a variable."""
        item = self.names.meaning(node)
        if item is MISSING:
            self.refuse(node)
        name = getattr(item, "__name__", "")
        if name in BUILTINS and getattr(builtins, name) is item:
            return f"py.{name}"
        function = inner(item)
        if isinstance(function, types.FunctionType):
            return self.port.function(function)
        try:
            return self.port.constant(node.attr if isinstance(node, ast.Attribute) else node.id, item)
        except MethodError:
            return str(self.refuse(node))

    # operators

    def visit_BinOp(self, node: ast.BinOp) -> str:
        return self._operated(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand)}"
        return self._operated(node, node.op, node.operand)

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        name = "both" if isinstance(node.op, ast.And) else "either"
        return f"py.{name}({', '.join(f'() => {self.visit(operand)}' for operand in node.values)})"

    def visit_Compare(self, node: ast.Compare) -> str:
        return self._compared(node, self.visit(node.left), list(zip(node.ops, node.comparators, strict=True)))

    def _compared(self, node: ast.Compare, left: str, rest: list[tuple[ast.cmpop, ast.expr]]) -> str:
        """A chain, each part worked out once."""
        operator, operand = rest[0]
        right = self.visit(operand)
        if isinstance(operator, (ast.Is, ast.IsNot)):
            same = f"({left} === {right})" if isinstance(operator, ast.Is) else f"({left} !== {right})"
            return same if len(rest) == 1 else str(self.refuse(node))
        if len(rest) == 1:
            return f"py.{OPERATORS[type(operator)]}({left}, {right})"
        comparison = f"py.{OPERATORS[type(operator)]}($$left, $$right)"
        return f"(($$left, $$right) => {comparison} && {self._compared(node, '$$right', rest[1:])})({left}, {right})"

    def _operated(self, node: ast.expr, operator: ast.AST, *operands: ast.expr) -> str:
        left = operands[0]
        is_text = isinstance(left, ast.JoinedStr) or (isinstance(left, ast.Constant) and isinstance(left.value, str))
        if type(operator) not in OPERATORS or (isinstance(operator, ast.Mod) and is_text):
            self.refuse(node)
        return f"py.{OPERATORS[type(operator)]}({', '.join(map(self.visit, operands))})"

    def visit_IfExp(self, node: ast.IfExp) -> str:
        return f"({self.test(node.test)} ? {self.visit(node.body)} : {self.visit(node.orelse)})"

    # calls

    def visit_Call(self, node: ast.Call) -> str:
        item = self.names.meaning(node.func)
        function = inner(item)
        if isinstance(function, types.FunctionType):
            return f"{self.port.function(function)}({', '.join(self._bound(node, function, item))})"
        keywords = {word.arg: self.visit(word.value) for word in node.keywords if word.arg != "strict"}
        arguments = list(map(self.visit, node.args))
        if item is not MISSING and isinstance(node.func, (ast.Name, ast.Attribute)):
            return self._built_in(node, self._meaning(node.func), arguments, keywords)
        if keywords:
            self.refuse(node)
        if isinstance(node.func, ast.Attribute):
            if len(arguments) > METHODS.get(node.func.attr, -1):
                self.refuse(node, f".{node.func.attr}()")
            return f"py.call({', '.join([self.visit(node.func.value), json.dumps(node.func.attr), *arguments])})"
        return f"{self.visit(node.func)}({', '.join(arguments)})"

    def _built_in(self, node: ast.Call, name: str, arguments: list[str], keywords: dict[str | None, str]) -> str:
        built_in = name.removeprefix("py.")
        known = WITH_OPTIONS.get(built_in, {"start"})
        if len(arguments) + ("start" in keywords) > BUILTINS.get(built_in, -1) or not keywords.keys() <= known:
            self.refuse(node)
        if built_in in WITH_OPTIONS:
            options = ", ".join(f"{word}: {argument}" for word, argument in keywords.items())
            return f"{name}({', '.join([f'{{ {options} }}' if options else '{}', *arguments])})"
        return f"{name}({', '.join([*arguments, *keywords.values()])})"

    def _bound(self, node: ast.Call, function: types.FunctionType, item: Any) -> Iterator[str]:
        """The arguments of a call of a known function, in the order of its parameters."""
        is_bound = isinstance(node.func, ast.Attribute) and self.names.is_game(node.func.value)
        signature = inspect.signature(function, follow_wrapped=False)
        parameters = list(signature.parameters.values())
        if isinstance(item, classmethod) or (is_bound and not isinstance(item, staticmethod)):
            parameters = parameters[1:]
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self.refuse(node)
        try:
            by_name = {str(word.arg): word.value for word in node.keywords}
            bound = signature.replace(parameters=parameters).bind(*node.args, **by_name)
        except TypeError:
            self.refuse(node)
        bound.apply_defaults()
        for name, item in bound.arguments.items():
            if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                yield from map(self.visit, item)
            else:
                yield self.visit(item) if isinstance(item, ast.AST) else self.port.constant(name, item)

    def visit_Lambda(self, node: ast.Lambda) -> str:
        if node.args.defaults or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
            self.refuse(node)
        with_names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        body = self._within(set(with_names), lambda: str(self.visit(node.body)))
        return f"(({', '.join(map(self.local, with_names))}) => {body})"

    def _within(self, names: set[str], translate: Callable[[], str]) -> str:
        """Translate with these names as additional variables."""
        self.names.scopes.append(names)
        try:
            return translate()
        finally:
            self.names.scopes.pop()

    # containers and text

    def visit_Tuple(self, node: ast.Tuple) -> str:
        return f"py.tuple({self._row(node.elts)})"

    def visit_List(self, node: ast.List) -> str:
        return self._row(node.elts)

    def visit_Set(self, node: ast.Set) -> str:
        return f"py.set({self._row(node.elts)})"

    def visit_Dict(self, node: ast.Dict) -> str:
        if None in node.keys:
            self.refuse(node)
        pairs = zip(filter(None, node.keys), node.values, strict=True)
        return f"py.dict([{', '.join(map(self._row, pairs))}])"

    def _row(self, elements: Sequence[ast.expr]) -> str:
        return f"[{', '.join(map(self.visit, elements))}]"

    def visit_Starred(self, node: ast.Starred) -> str:
        return f"...py.iter({self.visit(node.value)})"

    def visit_Subscript(self, node: ast.Subscript) -> str:
        items = self.visit(node.value)
        if not isinstance(node.slice, ast.Slice):
            return f"py.at({items}, {self.visit(node.slice)})"
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return f"py.slice({', '.join([items, *('null' if bound is None else self.visit(bound) for bound in bounds)])})"

    def visit_ListComp(self, node: ast.ListComp) -> str:
        return f"[...{self._clauses(node.generators, node.elt)}]"

    def visit_SetComp(self, node: ast.SetComp) -> str:
        return f"py.set({self._clauses(node.generators, node.elt)})"

    def visit_DictComp(self, node: ast.DictComp) -> str:
        return f"py.dict({self._clauses(node.generators, ast.Tuple([node.key, node.value], ast.Load()))})"

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> str:
        return self._clauses(node.generators, node.elt)

    def _clauses(self, clauses: list[ast.comprehension], item: ast.expr) -> str:
        """Translate a generator. The first clause's iterable is evaluated outside of it, as Python does."""
        iterable = self.visit(clauses[0].iter)
        names = {name.id for clause in clauses for name in ast.walk(clause.target) if isinstance(name, ast.Name)}
        return f"(function* ($$items) {{ {self._within(names, lambda: self._loops(clauses, item))} }})({iterable})"

    def _loops(self, clauses: list[ast.comprehension], item: ast.expr) -> str:
        text = f"yield {self.visit(item)};"
        for index, clause in reversed(list(enumerate(clauses))):
            for condition in reversed(clause.ifs):
                text = f"if ({self.test(condition)}) {text}"
            over = "$$items" if index == 0 else self.visit(clause.iter)
            text = f"for (const {self.pattern(clause.target)} of py.iter({over})) {text}"
        return text

    def pattern(self, target: ast.expr) -> str:
        """Variables to assign to: one, or several in brackets."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return f"[{', '.join(map(self.pattern, target.elts))}]"
        if not isinstance(target, ast.Name):
            self.refuse(target)
        assert isinstance(target, ast.Name)
        return self.local(target.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> str:
        return f"({self.pattern(node.target)} = {self.visit(node.value)})"

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        pieces = (
            json.dumps(piece.value) if isinstance(piece, ast.Constant) else self.visit(piece) for piece in node.values
        )
        return f'[{", ".join(pieces)}].join("")'

    def visit_FormattedValue(self, node: ast.FormattedValue) -> str:
        if node.conversion not in (-1, ord("s")):
            self.refuse(node, "!r")
        spec = '""' if node.format_spec is None else self.visit(node.format_spec)
        return f"py.format({self.visit(node.value)}, {spec})"
