"""Compile rules to integer code that gives Python's result, or raises an error that names the line.

Python's integers have no limit; machine integers wrap. `CheckedLower` is the last step of Numba's compiler (typed
intermediate code to LLVM) for rules that are not the package's own. It adds the missing tests:

- **Lost bits.** Each int64 variable may have a flag: "right modulo 2**64, and no more is known". `+ - * << ~ & | ^`
  pass it on, and a mask from 0 on clears it. So Python's idiom `(board << 9) & FULL` stays exact and costs nothing:
  LLVM drops a test whose result nobody reads. Every other use of a flagged number raises OverflowError: a comparison,
  an index, a branch, a call, a return.
- **Undefined results.** Divisions by 0, shifts by a negative distance, floats that hold no exact integer, indices out
  of range and variables without a value raise where they are used.
- **Refusals.** Code whose meaning differs from Python's is refused when it is compiled: small NumPy integers,
  arithmetic on whole arrays, functions that nobody checked.

Wide numbers (`compiled.wide`) get the same flags, at their own width. An error is one of `binding.FAILURES`, so plain
Python takes over. Cost: 5 % of a solve of connect-four 5x5, 1 % of dots and boxes 2x5, 5 to 15 % of compiling.

The file builds on private names of Numba. Tried with Numba 0.68.0 and 0.68.1.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.errors import UnsupportedError
from numba.core.lowering import Lower

from solver.compiled import tracing
from solver.compiled.tracing import MODULAR, OVERFLOWING, is_bool, is_int, leaves_of
from solver.compiled.wide import FLOAT_EXACT, Wide, check_exact_float, is_large

for _name in ("lower_inst", "lower_expr", "lower_binop", "lower_call", "return_exception", "typeof", "loadvar"):
    getattr(Lower, _name)  # AttributeError where a version of Numba lacks it

BIT = llvm.IntType(1)
EXACT = BIT(0)  # the flag of a number that lost nothing
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
MOST_STARTING = 1 << 62  # of `enumerate`, which counts on from there

DIVISIONS = {operator.floordiv: "//", operator.mod: "%"}
COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
FLOAT_OPERATORS = {operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod}
IDENTITIES = {operator.is_, operator.is_not}
# builtins that Numba computes as Python does, or whose arguments are checked below
BUILTINS = {
    *(abs, bool, divmod, enumerate, float, int, iter, len, list, max, min),
    *(next, pow, range, round, slice, sorted, tuple, zip),
}
NUMPYS_BOOL = "truth values of NumPy do not compute like Python's: wrap them in int()"

NUMPYS_METHOD = "methods of NumPy's numbers are not those of an int: wrap the number in int()"


class CheckedLower(Lower):
    """Lower one function, with the tests.

    `_flags` has a flag in memory for each variable that may have lost bits, `_unset` for each that may lack a value.
    LLVM turns them into registers, or drops them.
    """

    trace: tracing.Trace

    def pre_lower(self) -> None:
        super().pre_lower()
        self.context.enable_boundscheck = True
        # As a call of its own it would not know the game's parameters as constants
        if self.generator_info:
            self.builder.function.attributes.add("alwaysinline")
        self.trace = tracing.Trace(self, self.func_ir.func_id.func)
        function = self.func_ir.func_id.func
        kind = self.gentype.yield_type if self.generator_info else self.fndesc.restype
        leaves = [*leaves_of(kind)] if function.method in tracing.WHOLE else []
        # Kernels would cut the numbers
        if function.method not in tracing.STATES and isinstance(kind, types.List) and any(map(is_large, leaves)):
            self._refuse(f"{function.method} gives a list of numbers beyond 63 bits: yield them", self.func_ir.loc)
        if any(isinstance(element, types.Float) for element in leaves):
            text = f"{function.method} gives a float, maybe only in some states: it must give an int"
            self._refuse(text, self.func_ir.loc)
        new_flag = functools.partial(cgutils.alloca_once_value, self.builder, EXACT)
        self._flags = {name: new_flag() for name in self.trace.lines}
        self._unset = {name: new_flag() for name in self.trace.unset}

    def lower_inst(self, inst: Any) -> None:
        is_copy = isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Var)
        for name in self.trace.used(inst):
            if not is_copy:
                self._raise_if(self._unset_flag(name), f"{name.partition('.')[0]} has no value", RuntimeError)
            if name in self._flags and not self.trace.passes_on(inst, name) and not self.trace.drops(inst, name):
                # Name the operations that made the number too large
                signs = [
                    sign if line == self.loc.line else f"{sign} in line {line}"
                    for line, sign in sorted(self.trace.lines[name])
                ]
                is_wide = any(isinstance(self.typeof(name), Wide) for name in self.trace.lines)
                bits = "the bits of a state" if is_wide else "64 bits"
                self._raise_if(self._flag(name), f"{' or '.join(signs)} gives a number beyond {bits}")
        self._lost = self._flag(inst.value.name) if is_copy else EXACT
        # While it is set casts are checked (`wide.raise_if_checked`)
        self.context.checked_place = self._place()
        try:
            super().lower_inst(inst)
        finally:
            self.context.checked_place = None
        if not isinstance(inst, ir.Assign):
            return
        target, kind = inst.target.name, self.typeof(inst.target.name)
        is_fixed = isinstance(inst.value, (ir.Const, ir.Global, ir.FreeVar))
        number = inst.value.value if is_fixed else None
        odd = tracing.odd_in(number) if is_fixed else None
        if odd is not None:
            self._refuse(f"{type(odd).__name__} has operators of its own: write plain ints, floats and tuples")
        if tracing.is_foreign(kind):
            if isinstance(number, int):
                self._refuse(f"{number} has more than 63 bits: declare `bits`, or stay below 2**63")
            if isinstance(kind, types.IntEnumMember):
                self._refuse(f"{kind.instance_class.__name__} has operators of its own: write .value")
            kind = kind.dtype if isinstance(kind, types.Array) else kind
            self._refuse(f"{kind} does not compute like Python's int: make arrays np.int64, or use tuples")
        if isinstance(kind, types.Dispatcher):
            self._refuse("a function inside a function is not checked: write a method or a loop")
        if target in self._flags:
            self.builder.store(self._lost, self._flags[target])
        if target in self._unset:
            is_unset = self._unset_flag(inst.value.name) if is_copy else BIT(tracing.has_no_value(inst.value))
            self.builder.store(is_unset, self._unset[target])

    def _flag(self, name: str) -> Any:
        return self.builder.load(self._flags[name]) if name in self._flags else EXACT

    def _unset_flag(self, name: str) -> Any:
        return self.builder.load(self._unset[name]) if name in self._unset else EXACT

    def _raise_if(self, wrong: Any, text: str, kind: type[Exception] = OverflowError) -> None:
        """Raise an exception where a bit is set."""
        if wrong is not EXACT:
            with cgutils.if_unlikely(self.builder, wrong):
                self.return_exception(kind, (f"{self._place()}: {text}",), loc=self.loc)

    def _refuse(self, text: str, loc: Any = None) -> None:
        loc = loc or self.loc
        raise UnsupportedError(f"{place_of(loc.filename, loc.line)}: {text}", loc)

    def _place(self) -> str:
        return place_of(self.loc.filename, self.loc.line)

    def _check_exact_floats(self, names: Iterable[str]) -> None:
        """Test that floats can hold the integers among some variables."""
        for name in names:
            if is_int(self.typeof(name)):
                check_exact_float(self.context, self.builder, self._word(name))

    def _check_division(self, left: Any, right: Any, sign: str) -> None:
        self._raise_if(self._equals(right, 0), f"{sign} by 0", ZeroDivisionError)
        if sign != "%":
            least = -(1 << left.type.width - 1)
            both = self.builder.and_(self._equals(left, least), self._equals(right, -1))
            self._raise_if(both, f"{sign} gives a number beyond {left.type.width} bits")

    def _check_distance(self, distance: Any, sign: str) -> None:
        negative = self.builder.icmp_signed("<", distance, distance.type(0))
        self._raise_if(negative, f"{sign} by a negative distance", ValueError)

    def _is_outside(self, number: Any, least: int, most: int) -> Any:
        """Whether a float is beyond one of two bounds, which floats hold exactly, or NaN."""
        low = self.builder.fcmp_ordered(">=", number, number.type(float(least)))
        high = self.builder.fcmp_ordered("<=", number, number.type(float(most)))
        return self.builder.not_(self.builder.and_(low, high))

    def _equals(self, word: Any, number: int) -> Any:
        return self.builder.icmp_signed("==", word, word.type(number))

    def _word(self, name: str, kind: Any = types.int64) -> Any:
        """A variable's number as one of int64, or of a wide type."""
        return self.context.cast(self.builder, self.loadvar(name), self.typeof(name), kind)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        op = tracing.operator_of(expr)
        # Numba has made one of several operators
        if expr.op in self.context.special_ops:
            self._refuse("arithmetic on a whole array: write a loop")
        if expr.op == "build_set":
            self._refuse("sets are not in Python's order: use a tuple or the bits of a number")
        if expr.op == "getattr" and expr.value.name in self.trace.numpys and is_int(self.typeof(expr.value.name)):
            self._refuse(NUMPYS_METHOD)
        if expr.op != "unary" or op not in MODULAR:
            return super().lower_expr(resty, expr)
        name = expr.value.name
        kind = self.typeof(name)
        if not (is_int(kind) or is_large(kind)):
            return super().lower_expr(resty, expr)
        if not tracing.has_flag(resty):
            self._refuse("~ of a truth value, which is -1 or -2 in Python: write not")
        if is_bool(kind) and name in self.trace.numpys:
            self._refuse(NUMPYS_BOOL)
        left = self._word(name, resty).type(0 if op is operator.neg else -1)
        return self._modular(op, (left, self._word(name, resty)), (EXACT, self._flag(name)))

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        names = expr.lhs.name, expr.rhs.name
        kinds = [self.typeof(name) for name in names]
        if any(isinstance(kind, types.Array) for kind in kinds):
            self._refuse("arithmetic on a whole array: write a loop")
        has_float = any(isinstance(kind, types.Float) for kind in kinds)
        if has_float and op not in FLOAT_OPERATORS | COMPARISONS:
            self._refuse(f"{op.__name__} of floats is not known to be the same in Python")
        self._check_mixed(kinds)
        if op is operator.truediv:
            self._check_exact_floats(names)
        if not all(is_int(kind) or is_large(kind) for kind in kinds):
            result = super().lower_binop(resty, expr, op)
            if isinstance(resty, types.Float) and op in OVERFLOWING and not self.trace.floats.intersection(names):
                # It may be an int in Python: beyond 2**53 the int has more digits
                text = f"{tracing.SIGNS[op]} gives a number beyond 2**53 that is a float here"
                self._raise_if(self._is_outside(result, -FLOAT_EXACT, FLOAT_EXACT), text)
            return result
        if op in IDENTITIES and not (all(map(is_bool, kinds)) or all(map(tracing.is_member, kinds))):
            self._refuse("`is` between numbers: write ==")
        if any(map(is_large, kinds)) or is_large(resty):
            return self._wide_binop(resty, expr, op)
        return self._int_binop(resty, expr, op)

    def _int_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operator on two numbers of int64 or boolean."""
        names = expr.lhs.name, expr.rhs.name
        is_arithmetic = op in MODULAR or op in DIVISIONS or op in (operator.rshift, operator.pow)
        if not is_arithmetic or resty == types.boolean:
            return super().lower_binop(resty, expr, op)
        if resty != types.int64:
            self._refuse("a variable is an integer here and something else there")
        if all(is_bool(self.typeof(name)) for name in names) and self.trace.numpys.intersection(names):
            self._refuse(NUMPYS_BOOL)
        left, right = words = [self._word(name) for name in names]
        if op in MODULAR:
            return self._modular(op, words, [self._flag(name) for name in names])
        if op is operator.pow:
            return self._power(words)
        if op is operator.rshift:
            self._check_distance(right, ">>")
            near = self.builder.icmp_unsigned("<", right, right.type(63))
            return self.builder.ashr(left, self.builder.select(near, right, right.type(63)))
        self._check_division(left, right, DIVISIONS[op])
        signature = types.int64(types.int64, types.int64)
        return self.context.get_function(op, signature)(self.builder, words)

    def _wide_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """An operator on two numbers of which one is wide, or on two that make a wide one."""
        names = expr.lhs.name, expr.rhs.name
        if any(name in self.trace.numpys and not is_large(self.typeof(name)) for name in names):
            self._refuse("a number of NumPy's has no room for one beyond 64 bits: wrap it in int()")
        if isinstance(resty, Wide) and op in MODULAR and op is not operator.lshift:
            lost = [self._flag(name) if self.typeof(name) == resty else EXACT for name in names]
            return self._modular(op, [self._word(name, resty) for name in names], lost)
        if op in DIVISIONS:
            kind = self.fndesc.calltypes[expr].args[0]
            self._check_division(*(self._word(name, kind) for name in names), DIVISIONS[op])
        if op in (operator.lshift, operator.rshift):
            self._check_distance(self._word(names[1]), ">>" if op is operator.rshift else "<<")
            if op is operator.lshift:
                words = self._word(names[0], resty), self._word(names[1])
                return self._modular(op, words, (self._flag(names[0]), EXACT))
        return super().lower_binop(resty, expr, op)

    def _modular(self, op: Any, words: Any, flags: Any) -> Any:
        """The lowest bits of a result; sets `_lost`, whether there are more."""
        builder, (left, right) = self.builder, words
        lost = [flag for flag in flags if flag is not EXACT]
        self._lost = functools.reduce(builder.or_, lost) if lost else EXACT
        kind = left.type
        if op is operator.lshift:
            self._check_distance(right, "<<")
            near = builder.icmp_unsigned("<", right, right.type(kind.width))
            steps = builder.select(near, right, right.type(0))
            steps = builder.zext(steps, kind) if kind.width > 64 else steps
            shifted = builder.select(near, builder.shl(left, steps), kind(0))
            back = builder.ashr(shifted, steps)
            self._lost = builder.or_(self._lost, builder.icmp_signed("!=", back, left))
            return shifted
        if op in OVERFLOWING:
            # LLVM would call a function that no library has
            if op is operator.mul and kind.width > 64:
                double = llvm.IntType(2 * kind.width)
                product = builder.mul(builder.sext(left, double), builder.sext(right, double))
                result = builder.trunc(product, kind)
                overflows = builder.icmp_signed("!=", builder.sext(result, double), product)
            else:
                pair = getattr(builder, f"{OVERFLOWING[op]}_with_overflow")(left, right)
                result, overflows = builder.extract_value(pair, 0), builder.extract_value(pair, 1)
            self._lost = builder.or_(self._lost, overflows)
            return result
        if op is operator.and_ and lost:
            # A mask from 0 on that lost nothing leaves no lost bit.
            opens = [
                builder.or_(flag, builder.icmp_signed("<", word, word.type(0)))
                for flag, word in zip(flags, words, strict=True)
            ]
            self._lost = builder.and_(self._lost, builder.and_(*opens))
        return getattr(builder, tracing.BITWISE[op])(left, right)

    def _power(self, words: Any) -> Any:
        """`base ** exponent`; raises beyond 64 bits and for exponents below 0."""
        self._check_distance(words[1], "**")
        pair = types.UniTuple(types.int64, 2)
        both = self.context.compile_internal(self.builder, power, pair(types.int64, types.int64), words)
        result, too_large = cgutils.unpack_tuple(self.builder, both, 2)
        self._raise_if(self._equals(too_large, 1), "** gives a number beyond 64 bits")
        return result

    def _check_mixed(self, kinds: Iterable[Any]) -> None:
        """Refuse containers that bring ints and floats together, inside functions of Numba's that nobody checks."""
        kinds = list(kinds)
        leaves = {isinstance(leaf, types.Float) for kind in kinds for leaf in leaves_of(kind)}
        if len(leaves) > 1 and not all(isinstance(kind, types.Number) for kind in kinds):
            self._refuse("ints and floats meet in a list or tuple: take its numbers one by one")

    def lower_call(self, resty: Any, expr: Any) -> Any:
        called, names = self.trace.called(expr), [arg.name for arg in expr.args]
        function = self.typeof(expr.func.name)
        # A function must be checked, or known to be the same in Python
        is_known = getattr(called, "is_checked", False)
        if isinstance(function, types.BoundFunction):
            is_known = not isinstance(function.this, (types.Array, types.Set))
        elif isinstance(called, FunctionType):
            is_known = is_known or called in tracing.TRUSTED
        else:
            is_known = is_known or isinstance(function, types.ExceptionClass) or called in BUILTINS
        if not is_known:
            name = getattr(called, "__name__", str(function))
            if name == "mark_try_block":
                self._refuse("`try` would hide what is checked: test the condition beforehand")
            self._refuse(f"{name} is not known to be the same in Python: write a loop or a helper")
        if self.trace.is_shift(expr):
            words = [self._word(names[0], resty), self._word(names[1])]
            is_same = types.unliteral(self.typeof(names[0])) == resty
            return self._modular(operator.lshift, words, (self._flag(names[0]) if is_same else EXACT, EXACT))
        self._check_float_call(called, names)
        if getattr(called, "counts_bits", False) and names[0] in self.trace.numpys:
            self._refuse(NUMPYS_METHOD)
        if not getattr(called, "is_checked", False):
            # Numba's own code casts inside, where nothing is tested
            kinds = [self.typeof(name) for name in names]
            self._check_mixed([function.this, *kinds] if isinstance(function, types.BoundFunction) else kinds)
            if any(isinstance(kind, types.Float) for kind in kinds):
                self._check_exact_floats(names)
        if names and all(is_int(self.typeof(name)) for name in names):
            words = [self._word(name) for name in names]
            if called is pow and len(words) == 2:
                return self._power(words)
            if called is abs:
                self._raise_if(self._equals(words[0], INT64_MIN), "abs gives a number beyond 64 bits")
            if called is divmod:
                self._check_division(words[0], words[1], "divmod")
            if called is range and len(words) > 1:
                pair = self.builder.ssub_with_overflow(words[1], words[0])
                self._raise_if(self.builder.extract_value(pair, 1), "a range wider than 2**63")
                if len(words) > 2:
                    # Numba divides the one by the other to count the numbers
                    self._check_division(self.builder.extract_value(pair, 0), words[2], "range")
        elif called is abs and isinstance(self.typeof(names[0]), Wide):
            number = self.loadvar(names[0])
            least = self._equals(number, -(1 << number.type.width - 1))
            self._raise_if(least, "abs gives a number beyond the bits of a state")
        elif called is divmod and is_large(self.fndesc.calltypes[expr].args[0]):
            self._refuse("divmod of wide numbers: write // and %")
        if called is enumerate and len(names) == 2:
            beyond = self.builder.icmp_signed(">", self._word(names[1]), llvm.IntType(64)(MOST_STARTING))
            self._raise_if(beyond, "enumerate counts beyond 64 bits")
        return super().lower_call(resty, expr)

    def _check_float_call(self, called: Any, names: list[str]) -> None:
        """Test the arguments of a builtin that takes floats."""
        if called is round and is_bool(self.typeof(names[0])) and names[0] in self.trace.numpys:
            self._refuse(NUMPYS_BOOL)
        if called is round and len(names) > 1:
            self._refuse("round to digits is not known to be the same in Python")
        if not any(isinstance(self.typeof(name), types.Float) for name in names):
            return
        if called in (divmod, pow):
            self._refuse(f"{called.__name__} of floats is not known to be the same in Python")
        if called in (int, round):
            number = self.loadvar(names[0])
            # The largest float below 2**63
            is_outside = self._is_outside(number, INT64_MIN, -INT64_MIN - (1 << 10))
            self._raise_if(is_outside, "a float beyond 64 bits becomes an int")


def place_of(file: str, line: int) -> str:
    """How errors name a line of the rules: "my_game.py line 12"."""
    return f"{file.replace(chr(92), '/').rpartition('/')[2]} line {line}"


def power(base: int, exponent: int) -> tuple[Any, Any]:
    """Compute `base ** exponent` for exponents from 0 on: the number and 0, or 0 and 1 beyond 64 bits."""
    if -2 < base < 2:
        return (1 if exponent == 0 else base if exponent & 1 else base * base), 0
    result = 1
    for _ in range(exponent):
        if abs(result) > INT64_MAX // abs(base):
            return 0, 1
        result *= base
    return result, 0
