"""Rules rewritten where Numba knows less of Python than people write.

Code that compiles as it is stays as it is. Elsewhere a copy of the function is made from its source:

    any(f(x) for x in xs), all, sum, min, max, next  a helper with a loop (a reduction)
    tuple(x for x in xs), tuple(self.actions(state)) a list
    not list(xs)                                     False if list(xs) else True
    bin(number).count("1")                           number.bit_count()
    yield from xs                                    a loop
    self.CONSTANT, Rules.CONSTANT, Colour.RED.value  the constant
    self.helper where it is static, or a property    the function, a call
    lists, and tuples of tuples of many lengths      tuples, tuples of arrays
    [x for x in xs if f(x)], since Python 3.12       [x for x in xs for _ in range(1 if f(x) else 0)]

Reductions are those of generators, and of the items that a method yields:

    any(f(x) for x in xs), any(self.actions(state))
    next((x for x in xs if f(x)), -1), next(self.actions(state), None), next(iter(xs), 0)
    move in self.actions(state)                      any(move == x for x in self.actions(state))
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import opcode
import operator
import sys
import types
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from solver.base.errors import GameError
from solver.compiled.tracing import TRUSTED
from solver.compiled.widening import Known, is_large, large, leaves, widened
from solver.rules.protocol import OUTSIDE
from solver.rules.sources import MISSING, Names, cells_of, inner, known_to, names_in, source_of

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
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[items]):
            same = ast.Compare(left, [ast.Eq()], [ast.Name(EACH, ast.Load())])
            return Fold("any", _over(items, same)) if yields(items) else None
        case ast.Call(func=ast.Name(id=name), args=[items, *others], keywords=words):
            arguments = [*others, *(word.value for word in words)]
        case _:
            return None
    if isinstance(items, ast.Starred) or any(word.arg != "default" for word in words):
        return None
    if name in ("any", "all") and not arguments:
        return Fold(name, _over(items))
    if name in ("min", "max", "sum") and len(others) <= (1 if name == "sum" else 0):
        # Numba's own `sum` does not notice where 64 bits end
        known = name != "sum" and not isinstance(items, ast.GeneratorExp) and not yields(items)
        return None if known else Fold(name, _over(items), *arguments)
    if name == "next" and len(arguments) <= 1:
        match items:
            case ast.Call(func=ast.Name(id="iter"), args=[inside, *_]):
                pass
            case _:
                inside = items
        if isinstance(inside, ast.GeneratorExp) or (arguments and (inside is not items or yields(items))):
            return Fold(name, _over(inside), *arguments)
    return None


def _over(items: ast.expr, each: ast.expr | None = None) -> Clauses:
    """The clauses of items, which may be clauses themselves."""
    if isinstance(items, (ast.GeneratorExp, ast.ListComp)) and each is None:
        return items
    clause = ast.comprehension(ast.Name(EACH, ast.Store()), items, [], 0)
    return ast.GeneratorExp(each or ast.Name(EACH, ast.Load()), [clause])


def listed(node: ast.Call, yields: Yields) -> ast.expr | None:
    """The list that compiles in place of a list, tuple or sorted list of items; None elsewhere."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[ast.GeneratorExp(elt=each, generators=clauses), *_]):
            return ast.ListComp(each, clauses)
        case ast.Call(func=ast.Name(id="sorted"), args=[ast.GeneratorExp(elt=each, generators=clauses), *others]):
            return ast.Call(node.func, [ast.ListComp(each, clauses), *others], node.keywords)
        case ast.Call(func=ast.Name(id="tuple"), args=[items, *_]):
            pass
        case _:
            return None
    match items:
        case ast.ListComp() | ast.Call(func=ast.Name(id="list" | "range" | "sorted")):
            is_list = True
        case _:
            is_list = yields(items)
    return ast.Call(ast.Name("list", ast.Load()), [items], []) if is_list else None


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


LONG = 256  # numbers of a tuple beyond which an array compiles much quicker
# Python 3.12 compiles a comprehension with a handler of exceptions, which Numba drops if it has no condition
HAS_HANDLERS = sys.version_info >= (3, 12)
# Python's instructions, and names, that may have to be rewritten
STRANGE = {opcode.opmap[name] for name in ("GET_YIELD_FROM_ITER", "CONTAINS_OP", "UNARY_NOT")}
STRANGE |= {opcode.opmap["LOAD_FAST_AND_CLEAR"]} if HAS_HANDLERS else set()
PLAIN = vars(builtins).keys() - {"bin", "next", "tuple", *REDUCTIONS} | {"bit_count", "bit_length"}
# what Numba refuses, in place of `print`: in kernels that have let go of Python's lock it takes that and keeps it
REFUSED = object()


def methods_of(cls: type) -> dict[str, types.FunctionType]:
    """The functions behind a class's methods, properties, static and decorated ones, those of the bases included."""
    members = {name: member for base in reversed(cls.__mro__) for name, member in vars(base).items()}
    methods = {}
    for name, member in members.items():
        function = inner(member)
        if not isinstance(function, types.FunctionType) or function.__module__ == "collections":
            # A named tuple's own
            continue
        if not name.startswith("__") and name not in (*OUTSIDE, "from_text") and not isinstance(member, staticmethod):
            methods[name] = function
    return methods


class Rewriter:
    """Rewrites the functions of a class's rules."""

    def __init__(self, cls: type, width: int | None = None, game: Any = None, is_checked: bool = False) -> None:
        self.cls = cls
        # The width of numbers where states are wide, and the game whose parameters are known
        self.width, self.game = width, game
        self.is_checked = is_checked
        # Whether the rules name an array or a number of NumPy
        self.reads_numpy: bool = False
        self._done: dict[Any, types.FunctionType] = {}

    def mark(self, function: Any, method: str = "") -> None:
        """Tell the compiler to check a copy of a function (`compiled.checked`), maybe of a method of this name."""
        if self.is_checked:
            function.is_checked, function.rewriter, function.method = True, self, method

    def rewritten(self, function: types.FunctionType, method: str = "") -> types.FunctionType:
        """The function, or a copy of it that Numba can compile; `method`: the name that it has in the rules."""
        if function not in self._done:
            self._done[function] = function  # meanwhile, for recursion
            self._done[function] = self._rewrite(function, method)
        return self._done[function]

    def _rewrite(self, function: types.FunctionType, method: str) -> types.FunctionType:
        # Globals and cells that must be replaced in a copy
        known, names = known_to(function), (*names_in(function.__code__), *cells_of(function))
        substitutes = {name: self.substitute(known[name]) for name in names if name in known}
        scope = {name: value for name, value in substitutes.items() if value is not known[name]}
        rewrite, tree = self._parsed(function, method)
        if rewrite is None or not (rewrite.changed or (scope and function.__code__.co_freevars)):
            if not self.is_checked and (not scope or function.__code__.co_freevars):
                return function
            return self._copy(function, function.__code__, {**function.__globals__, **scope})
        tree.decorator_list = []
        module = ast.Module([*rewrite.lifted, tree], [])
        ast.increment_lineno(module, function.__code__.co_firstlineno - 1)
        compiled = compile(ast.fix_missing_locations(module), function.__code__.co_filename, "exec")
        full_scope = {**function.__globals__, **cells_of(function), **scope, **rewrite.scope}
        codes = {code.co_name: code for code in compiled.co_consts if isinstance(code, types.CodeType)}
        for lifted in rewrite.lifted:
            code = codes[lifted.name]
            full_scope[lifted.name] = types.FunctionType(code, full_scope, lifted.name)
            self.mark(full_scope[lifted.name])
        return self._copy(function, codes[tree.name], full_scope)

    def _copy(self, function: types.FunctionType, code: types.CodeType, scope: dict[str, Any]) -> types.FunctionType:
        """The function with other code and globals."""
        closure = function.__closure__ if code.co_freevars else None
        defaults, keyed = function.__defaults__, code.co_kwonlyargcount
        if keyed:
            # Numba would give their defaults to other parameters: here they may be given by position, too
            by_name = function.__kwdefaults__ or {}
            names = code.co_varnames[code.co_argcount : code.co_argcount + keyed]
            code = code.replace(co_argcount=code.co_argcount + keyed, co_kwonlyargcount=0)
            defaults = (*(defaults or ()), *map(by_name.get, names)) if len(by_name) == keyed else None
        copy = types.FunctionType(code, scope, function.__name__, defaults, closure)
        copy.__module__ = function.__module__
        self.mark(copy)
        return copy

    def _parsed(self, function: types.FunctionType, method: str) -> tuple[_Rewrite | None, Any]:
        """Return the rewriting of a function and its new tree.

        Returns None if there is nothing to rewrite, or if the function has no source.
        """
        code = function.__code__
        # To parse takes a millisecond: often the code tells that there is nothing to rewrite
        if self.width is None and not code.co_freevars and not STRANGE & {*code.co_code[::2]}:
            known = PLAIN.union(getattr(self.cls, "_fields", ()))
            items = [inspect.getattr_static(self.cls, name, None) for name in code.co_names if name not in known]
            within = any(isinstance(constant, types.CodeType) for constant in code.co_consts)
            if not within and all(isinstance(item, types.FunctionType) for item in items):
                return None, None
        try:
            (tree,) = ast.parse(source_of(function)).body
        except (GameError, SyntaxError, ValueError):
            return None, None
        if not isinstance(tree, ast.FunctionDef):
            return None, None
        rewrite = _Rewrite(self, function, tree)
        tree = rewrite.visit(tree)
        if self.width is not None:
            tree = Known(self.game, rewrite.names, rewrite.scope, tree).visit(tree)
            tree = widened(rewrite, tree, self.width, method)
        if HAS_HANDLERS:
            rewrite.loop_over_conditions(tree)
        return rewrite, tree

    def substitute(self, value: Any) -> Any:
        """A function that compiles, or data as a constant that does; the item itself where it does as it is."""
        self.reads_numpy |= any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves(value))
        if isinstance(value, (list, tuple, int)) and self.width is not None and is_large(value):
            return large(value, self.width)
        if isinstance(value, (list, tuple)):
            return frozen(value)
        if value is print:
            return REFUSED
        if self.is_checked and isinstance(getattr(value, "py_func", None), types.FunctionType):
            # A function that the user compiles, which Numba would not check
            value = value.py_func
        if hasattr(value, "py_func") or isinstance(value, type):
            return value
        function = inner(value)
        if not isinstance(function, types.FunctionType):
            return value
        if function in TRUSTED and (self.is_checked or self.width is None):
            return function
        return self.rewritten(function)


class _Rewrite(ast.NodeTransformer):
    """The rewriting of one function: `scope` has the meaning of its new names, `lifted` its new helpers."""

    def __init__(self, rewriter: Rewriter, function: types.FunctionType, tree: ast.FunctionDef) -> None:
        self.rewriter = rewriter
        self.function = function
        self.scope: dict[str, Any] = {}
        self.lifted: list[ast.FunctionDef] = []
        self.changed = False
        self.names = Names(rewriter.cls, function)
        code = function.__code__
        # comprehensions have variables of their own, which are not locals of the function in this version of Python
        targets = [
            comprehension.target for comprehension in ast.walk(tree) if isinstance(comprehension, ast.comprehension)
        ]
        self.locals = {*code.co_varnames, *code.co_cellvars, *(name for target in targets for name in _names(target))}
        self.names.scopes.append(self.locals - {self.names.own})

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        if not isinstance(node.value, ast.YieldFrom):
            return node
        self.changed = True
        item_name = self._name("item")
        each = ast.Expr(ast.Yield(ast.Name(item_name, ast.Load())))
        return ast.copy_location(ast.For(ast.Name(item_name, ast.Store()), node.value.value, [each], []), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        value, holder = self.names.meaning(node), self.names.meaning(node.value)
        of_game = self.names.is_game(node.value)
        self.generic_visit(node)
        if value is MISSING or not isinstance(node.ctx, ast.Load):
            return node
        is_function = isinstance(inner(value), types.FunctionType)
        if of_game and isinstance(value, (property, cached_property)):
            self.changed = True
            return ast.copy_location(ast.Call(node, [], []), node)
        # Methods are called by their names
        if of_game:
            return node if is_function and not isinstance(value, staticmethod) else self._constant(node, value)
        if isinstance(holder, types.ModuleType):
            return node if self.rewriter.substitute(value) is value else self._constant(node, value)
        known = isinstance(value, enum.Enum) or (callable(value) and not is_function)  # to Numba
        return node if known or value is None else self._constant(node, value)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Name(id="bin"), args=[bits]), attr="count"),
                args=[ast.Constant(value="1")],
            ):
                self.changed = True
                # `bin` takes NumPy's numbers as well, whose own method is refused
                number = ast.Call(ast.Name("int", ast.Load()), [bits], [])
                return ast.copy_location(ast.Call(ast.Attribute(number, "bit_count", ast.Load()), [], []), node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called in self.locals or called in self.function.__globals__:
            return node
        fold, plain_list = fold_of(node, self._yields), listed(node, self._yields)
        if plain_list is not None:
            self.changed = True
            return ast.copy_location(plain_list, node)
        return node if fold is None else self._folded(node, fold)

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        fold = fold_of(node, self._yields)
        if fold is None:
            return node
        folded = self._folded(node, fold)
        return _negated(folded) if isinstance(node.ops[0], ast.NotIn) else folded

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not) or not isinstance(node.operand, (ast.Name, ast.Call, ast.ListComp)):
            return node
        self.changed = True
        return _negated(node.operand)

    def _constant(self, node: ast.expr, value: Any) -> ast.expr:
        self.changed = True
        name = self._name("constant")
        self.scope[name] = self.rewriter.substitute(value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _name(self, kind: str) -> str:
        """A name that nothing has."""
        return f"_{self.function.__name__}_{kind}_{len(self.scope) + len(self.lifted)}"

    def _folded(self, node: ast.expr, fold: Fold) -> ast.expr:
        """A fold as a call of a helper that loops."""
        self.changed = True
        name, clauses = self._name(fold.name), fold.clauses
        bound = {name for generator in clauses.generators for name in _names(generator.target)}
        parameters = sorted((_names(clauses) - bound) & self.locals)
        extra = [] if fold.start is None else [fold.start]
        helper = ast.parse(f"def {name}({', '.join([*parameters, *(['_start'] if extra else [])])}): pass").body[0]
        assert isinstance(helper, ast.FunctionDef)
        helper.body = list(body_of(fold))
        for inner_node in ast.walk(helper):
            ast.copy_location(inner_node, node)
        self.lifted.append(helper)
        arguments: list[ast.expr] = [ast.Name(parameter, ast.Load()) for parameter in parameters]
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [*arguments, *extra], []), node)

    def loop_over_conditions(self, tree: ast.AST) -> None:
        """Write each condition of a comprehension as a loop of one pass or none."""
        trees = [ast.walk(part) for part in (tree, *self.lifted)]
        for clause in [node for nodes in trees for node in nodes if isinstance(node, (ast.ListComp, ast.SetComp))]:
            plain = []
            for loop in clause.generators:
                plain.append(ast.comprehension(loop.target, loop.iter, [], 0))
                for condition in loop.ifs:
                    self.changed = True
                    count = ast.IfExp(condition, ast.Constant(1), ast.Constant(0))
                    turn, counts = self._name("pass"), self._name("passes")
                    self.scope[counts] = range
                    passes = ast.Call(ast.Name(counts, ast.Load()), [count], [])
                    plain.append(ast.comprehension(ast.Name(turn, ast.Store()), passes, [], 0))
            clause.generators = plain

    def _yields(self, node: ast.expr) -> bool:
        """Whether an expression calls a generator of the rules."""
        if not isinstance(node, ast.Call):
            return False
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        value = self.scope[named] if named in self.scope else self.names.meaning(node.func)
        function = inner(value)
        return isinstance(function, types.FunctionType) and inspect.isgeneratorfunction(function)


def _names(node: ast.AST) -> set[str]:
    """The variables in a piece of syntax."""
    return {name_node.id for name_node in ast.walk(node) if isinstance(name_node, ast.Name)}


def _negated(node: ast.expr) -> ast.expr:
    """`not` of a possible list, whose truth Numba only knows where it branches."""
    negation = ast.IfExp(node, ast.Constant(False), ast.Constant(True))
    return ast.copy_location(negation, node)


def frozen(value: Any) -> Any:
    """Lists as tuples, long tuples of numbers as arrays, tuples of tuples of several lengths as tuples of arrays."""
    if not isinstance(value, (list, tuple)) or hasattr(value, "_fields"):
        return value
    elements = tuple(frozen(element) for element in value)
    if len(elements) > LONG and all(type(element) is int and -(1 << 63) <= element < 1 << 63 for element in elements):
        return np.array(elements, np.int64)
    shapes = {_shape(element) for element in elements}
    if len(shapes) > 1 and all(isinstance(element, tuple) for element in elements):
        try:
            arrays = [np.array(element if element else np.empty(0, np.int64)) for element in elements]
        except (ValueError, OverflowError):
            arrays = []
        if arrays and all(array.dtype == np.int64 for array in arrays):
            max_ndim = max(array.ndim for array in arrays)
            return tuple(array.reshape(array.shape + (0,) * (max_ndim - array.ndim)) for array in arrays)
    is_same = isinstance(value, tuple) and all(map(operator.is_, elements, value))
    return value if is_same else elements


def _shape(value: Any) -> Any:
    """The shape that two parts of a tuple must share for Numba: nested lengths and types."""
    if isinstance(value, np.ndarray):
        return value.ndim
    return (len(value), *{_shape(element) for element in value}) if isinstance(value, tuple) else type(value)
