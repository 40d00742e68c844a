"""Find the possible faults of the variables of a function of rules, before `compiled.checked` compiles it.

The answers come from Numba's typed intermediate code alone. They are sets of variables, whatever way the program takes:
those that may have lost bits, lack a value, or have another type in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import ir, types

from solver.compiled.wide import Wide, is_large, is_left_shift

OVERFLOWING = {operator.add: "sadd", operator.sub: "ssub", operator.mul: "smul", operator.neg: "ssub"}
BITWISE = {operator.and_: "and_", operator.or_: "or_", operator.xor: "xor", operator.invert: "xor"}
# operators whose lowest bits depend on the lowest bits of their operands alone
MODULAR = {*OVERFLOWING, *BITWISE, operator.lshift}
SIGNS = {operator.add: "+", operator.sub: "-", operator.neg: "-", operator.mul: "*", operator.lshift: "<<"}
# functions of the package that rules may call; their compiled forms raise where 64 bits end
TRUSTED: set[Any] = set()
TO_PYTHON = {bool, float, int, len, range}  # give Python's numbers for NumPy's
# methods by which Python computes, those of tuples included
COMPUTING = (
    *("add", "sub", "mul", "floordiv", "mod", "divmod", "truediv", "pow", "lshift", "rshift", "and", "or", "xor"),
    *("neg", "pos", "abs", "invert", "round", "bool", "int", "float", "index"),
    *("eq", "ne", "lt", "le", "gt", "ge", "len", "iter", "contains", "getitem"),
)
STATES = {"initial", "starts", "result", "canonical", "unrank", "replies"}
# methods of rules that give whole numbers; kernels would cut the fraction of a float
WHOLE = {
    *STATES,
    *("actions", "utility", "plies_left", "to_move", "again", "reward", "tier", "size", "rank", "outlook", "followup"),
    *("bounds", "longest", "promise", "endless", "chance", "vanishing"),
}
RULES = {*WHOLE, "is_terminal", "evaluate", "features", "parents"}
METHODS = [f"__{side}{name}__" for name in COMPUTING for side in ("", "r")]


def computes_like(cls: type, base: type) -> bool:
    """Tell whether the instances of a class compute like those of its base: IntEnum does like int, IntFlag does not."""

    def methods(of: type) -> list[Any]:
        # Not getattr: the class of an enumeration has a length of its own
        return [next((vars(owner)[name] for owner in of.__mro__ if name in vars(owner)), None) for name in METHODS]

    return methods(cls) == methods(base)


def odd_in(value: Any) -> Any:
    """Find a number or tuple whose class has operators of its own, which compiled code would not call."""
    if type(value) in (bool, int, float) or isinstance(value, np.generic):
        return None
    base = next((base for base in (int, float, tuple) if isinstance(value, base)), None)
    if base is not None and not computes_like(type(value), base):
        return value
    odd_parts = map(odd_in, value if base is tuple else ())
    return next((part for part in odd_parts if part is not None), None)


def is_bool(kind: Any) -> bool:
    """Tell whether a type is a truth value."""
    return isinstance(types.unliteral(kind), types.Boolean)


def is_member(kind: Any) -> bool:
    """Tell whether a type is a member of an enumeration that computes like int."""
    is_plain = isinstance(kind, types.IntEnumMember) and kind.dtype == types.int64
    return is_plain and computes_like(kind.instance_class, int)


def is_int(kind: Any) -> bool:
    """Tell whether a type is Python's int, bool or a member of an enumeration of them, or one of these and None."""
    kind = types.unliteral(kind.type if isinstance(kind, types.Optional) else kind)
    return kind in (types.int64, types.boolean) or is_member(kind)


def has_flag(kind: Any) -> bool:
    """Tell whether numbers of a type can lose bits."""
    return types.unliteral(kind) == types.int64 or isinstance(kind, Wide)


def is_foreign(kind: Any) -> bool:
    """Tell whether a type holds numbers that Python does not have: uint8, NumPy's bool, 2**63 and more."""
    if isinstance(kind, types.BaseTuple):
        return any(is_foreign(element) for element in kind)
    if isinstance(kind, types.Array):
        return kind.dtype not in (types.int64, types.float64)
    if isinstance(kind, (types.List, types.Set)):
        return is_foreign(kind.dtype)
    kind = types.unliteral(kind.type if isinstance(kind, types.Optional) else kind)
    if isinstance(kind, types.IntEnumMember):
        return not is_member(kind)
    return isinstance(kind, (types.Integer, types.Float)) and kind not in (types.int64, types.float64)


def leaves_of(kind: Any) -> Iterator[Any]:
    """The types of numbers in a type: those in tuples, lists, arrays and in what yields them."""
    inside = next((name for name in ("types", "dtype", "yield_type", "type") if hasattr(kind, name)), "")
    if isinstance(kind, types.Number) or is_large(kind) or not inside:
        yield kind
    elif inside == "types":
        for element in kind.types:
            yield from leaves_of(element)
    else:
        yield from leaves_of(getattr(kind, inside))


def operator_of(value: Any) -> Any:
    """The operator of an expression, that of `a + b` for `a += b`; None for anything else."""
    names = {"binop": "fn", "unary": "fn", "inplace_binop": "immutable_fn"}
    return getattr(value, names[value.op]) if isinstance(value, ir.Expr) and value.op in names else None


def has_no_value(value: Any) -> bool:
    """Tell whether this is the 0 that Numba reads where Python would raise UnboundLocalError."""
    return isinstance(value, ir.Expr) and value.op in ("null", "undef")


def is_call(value: Any) -> bool:
    """Return whether a value is a call."""
    return isinstance(value, ir.Expr) and value.op == "call"


class Trace:
    """The possible faults of each variable of one function.

    Attributes:
        lines: The variables that may have lost bits, each with the lines and signs that may have done it.
        unset: Variables that may lack a value.
        numpys: Variables that may be numbers of NumPy in Python.
        floats: Variables that are floats in Python, too. Others may be ints there: after
            `x = 1 if even else 0.5` Python has an int or a float, and compiled code a float.
    """

    def __init__(self, lower: Any, function: Any) -> None:
        """Trace the function that `lower` compiles."""
        self.typeof, self._generator = lower.typeof, lower.generator_info
        # Whether its rules read arrays of NumPy, and whether only the package calls it, with Python's ints
        reads_numpy, self._is_rule = function.rewriter.reads_numpy, function.method in RULES
        self.lines: dict[str, set[tuple[int, str]]] = {}
        self.unset: set[str] = set()
        self.numpys: set[str] = set()
        assigns = [assign for block in lower.blocks.values() for assign in block.find_insts(ir.Assign)]
        size = -1
        while size < (size := len(self.unset) + len(self.numpys) + sum(map(len, self.lines.values()))):
            for assign in assigns:
                target, value, used = assign.target.name, assign.value, self.used(assign)
                if has_no_value(value) or (isinstance(value, ir.Var) and value.name in self.unset):
                    self.unset.add(target)
                # An operator on integers may lose bits
                sign = "<<" if self.is_shift(value) else SIGNS.get(operator_of(value))
                kinds = [self.typeof(name) for name in used]
                are_numbers = self.is_shift(value) or all(is_int(kind) or is_large(kind) for kind in kinds)
                lines = {(assign.loc.line, sign)} if sign and are_numbers and has_flag(self.typeof(target)) else set()
                for name in used:
                    if self.passes_on(assign, name):
                        lines |= self.lines.get(name, set())
                if lines:
                    self.lines[target] = lines | self.lines.get(target, set())
                if reads_numpy and self._may_be_numpys(value, used):
                    self.numpys.add(target)
        # Variables of which each value is a float in Python, too
        names = {assign.target.name for assign in assigns}
        self.floats = {name for name in names if isinstance(self.typeof(name), types.Float)}
        size = -1
        while size != (size := len(self.floats)):
            self.floats -= {assign.target.name for assign in assigns if not self._makes_float(assign.value)}

    def _may_be_numpys(self, value: Any, used: list[str]) -> bool:
        """Whether a value may be a number of NumPy in Python; a helper takes and gives them, too."""
        if isinstance(value, ir.Arg):
            return not self._is_rule
        if is_call(value):
            called = self.called(value)
            if called in TO_PYTHON:
                return False
            if getattr(called, "is_checked", False) or isinstance(self.typeof(value.func.name), types.BoundFunction):
                return True
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return isinstance(value.value, np.generic)
        return any(name in self.numpys or isinstance(self.typeof(name), types.Array) for name in used)

    def _makes_float(self, value: Any) -> bool:
        """Whether Python's value is a float, if those of `floats` are."""
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return isinstance(value.value, float)
        if isinstance(value, ir.Var):
            return value.name in self.floats
        op = operator_of(value)
        is_arithmetic = op is not None or (isinstance(value, ir.Expr) and value.op == "cast")
        if is_arithmetic and any(var.name in self.floats for var in value.list_vars()):
            return True
        return op is operator.truediv or (is_call(value) and self.called(value) is float)

    def is_shift(self, value: Any) -> bool:
        """Whether this is the call that stands for `<<` where states are wide."""
        return is_call(value) and is_left_shift(getattr(self.typeof(value.func.name), "typing_key", None))

    def used(self, inst: Any) -> list[str]:
        """The variables that an instruction reads; those that outlive a yield, too."""
        value = inst.value if isinstance(inst, ir.Assign) else inst
        if isinstance(value, ir.Var):
            return [value.name]
        names = [var.name for var in value.list_vars()] if isinstance(value, ir.Inst) else []
        if isinstance(value, ir.Yield):
            names += self._generator.yield_points[value.index].live_vars
        return [] if isinstance(inst, ir.Del) else names

    def passes_on(self, inst: Any, name: str) -> bool:
        """Whether an instruction hands the flag of a variable on to the one that it sets."""
        if not isinstance(inst, ir.Assign):
            return False
        kind, value = types.unliteral(self.typeof(inst.target.name)), inst.value
        if not has_flag(kind) or types.unliteral(self.typeof(name)) != kind:
            return False
        if self.is_shift(value):
            return bool(name != value.args[1].name)
        if operator_of(value) is operator.lshift and name == value.rhs.name:
            return False
        numbers = [self.typeof(used_value) for used_value in self.used(inst)]
        is_modular = operator_of(value) in MODULAR and all(is_int(number) or is_large(number) for number in numbers)
        return isinstance(value, ir.Var) or is_modular

    def drops(self, inst: Any, name: str) -> bool:
        """Whether an instruction takes only bits of a variable that are right: `wide & number` of a smaller type."""
        is_mask = isinstance(inst, ir.Assign) and operator_of(inst.value) is operator.and_
        return is_mask and is_large(self.typeof(name)) and not isinstance(self.typeof(inst.target.name), Wide)

    def called(self, expr: Any) -> Any:
        """The function that is called; None if it has no name in Python, such as a method."""
        kind = self.typeof(expr.func.name)
        if isinstance(kind, types.NumberClass):
            return {types.int64: int, types.float64: float, types.boolean: bool}.get(kind.dtype)
        return getattr(kind, "typing_key", None)
