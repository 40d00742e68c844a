"""Operators and functions of wide numbers (`wide`), as Numba types them and LLVM computes them.

Then the functions of Numba's own that kernels and rewritten rules call in place of methods of int, shifts and casts.

A shift by more than the width gives 0, as it does to the right in Python; nothing else that leaves the width is noticed
here, see `agreement`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as nb
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, overload_method

from solver.compiled.wide import INT64, WORD, Unsigned, Wide, is_count, is_large, size_of, sized
from solver.store.shared import PART

DIGIT = 32  # bits of a digit of a wide number that is divided
SHORT = 1 << 31  # what is masked by less is int64: an index, a count, what is computed with


def is_number(kind: Any) -> bool:
    """Return whether a Numba type is a whole number or a truth value."""
    return isinstance(kind, (Wide, Unsigned, nb.Integer, nb.Boolean))


def _widest(kinds: Any) -> Any:
    """The wide type that takes several of numbers; None if none of them is large, or something else."""
    widths = [kind.width for kind in kinds if is_large(kind)]
    return Wide(max(widths)) if widths and all(map(is_number, kinds)) else None


def _common(kinds: Any) -> Any:
    """The type that takes several of numbers and does not change them: unsigned where all are, else wide; or None."""
    unsigned = [kind for kind in kinds if isinstance(kind, Unsigned)]
    if unsigned and all(isinstance(kind, Unsigned) or is_count(kind) for kind in kinds):
        return max(unsigned, key=lambda kind: kind.size)
    return _widest(kinds)


def _teach(name: Any, typing: Any, emit: Any, *takes: Any) -> None:
    """Teach Numba a function: `typing(context, args)` is its signature or None, `emit(builder, sig, args)` its code.

    takes: the kinds of numbers that the code is for, after the types that `typing` gives them.
    """

    @infer_global(name)
    class Template(AbstractTemplate):
        prefer_literal = True

        def generic(self, args: Any, kws: Any) -> Any:
            return None if kws else typing(self.context, args)

    for kinds in takes:
        lower_builtin(name, *kinds)(lambda context, builder, sig, args: emit(builder, sig, args))


def _taking(count: int, fit: Any, kind: Any = None) -> Any:
    """The typing of a function of so many numbers, of which one is large, computed in a type that `fit` finds.

    kind: the type of what it gives, if that is another.
    """

    def typing(context: Any, args: Any) -> Any:
        wide = fit(args) if len(args) == count else None
        return None if wide is None else signature(kind or wide, *[wide] * count)

    return typing


def _masked(context: Any, args: Any) -> Any:
    """Type `&`: a number masked by a non-negative number is no larger than the mask."""
    wide = _widest(args) if len(args) == 2 else None
    if wide is None:
        return None
    counts = [kind.literal_value for kind in args if is_count(kind)]
    if counts and min(counts) < SHORT:
        return signature(nb.int64, *args)
    sizes = [kind.size for kind in args if isinstance(kind, Unsigned)] + [size_of(count) for count in counts]
    return signature(Unsigned(min(sizes), wide.width) if sizes else wide, *args)


def _shift(fit: Any) -> Any:
    def typing(context: Any, args: Any) -> Any:
        wide = fit(args[:1]) or _widest(args) if len(args) == 2 and is_number(args[1]) else None
        return None if wide is None else signature(wide, wide, nb.int64)

    return typing


def _emit_masked(builder: Any, sig: Any, args: Any) -> Any:
    size = WORD if sig.return_type == nb.int64 else sig.return_type.size
    kinds = zip(args, sig.args, strict=True)
    return builder.and_(*[sized(builder, arg, size, isinstance(kind, nb.Integer)) for arg, kind in kinds])


def emit_left(builder: Any, sig: Any, args: Any) -> Any:
    """Emit a shift to the left. A distance of the whole width or more gives 0."""
    number, distance = args
    within = builder.icmp_unsigned("<", distance, distance.type(sig.args[0].width))
    return builder.select(within, builder.shl(number, builder.zext(distance, number.type)), number.type(0))


def _emit_right(builder: Any, sig: Any, args: Any) -> Any:
    number, distance = args
    largest = distance.type(number.type.width - 1)
    within = builder.icmp_unsigned("<", distance, largest)
    if isinstance(sig.args[0], Unsigned):
        shifted = builder.lshr(number, sized(builder, distance, number.type.width))
        return builder.select(builder.icmp_unsigned("<=", distance, largest), shifted, number.type(0))
    return builder.ashr(number, builder.zext(builder.select(within, distance, largest), number.type))


def absolute(builder: Any, number: Any) -> Any:
    """The size of a signed number, whose bits Python counts; that of the least one is right as an unsigned number."""
    return builder.select(builder.icmp_signed("<", number, number.type(0)), builder.neg(number), number)


def _divided(builder: Any, args: Any) -> tuple[Any, Any]:
    """Quotient and remainder, rounded down; of 1 where divided by 0."""
    number, by = args
    kind = number.type
    by = builder.select(builder.icmp_signed("==", by, kind(0)), kind(1), by)
    sizes = [absolute(builder, operand) for operand in (number, by)]
    size = builder.call(_quotient(builder.module, kind), sizes)
    is_negative = builder.icmp_signed("<", builder.xor(number, by), kind(0))
    quotient = builder.select(is_negative, builder.neg(size), size)
    rest = builder.sub(number, builder.mul(quotient, by))
    below = builder.and_(is_negative, builder.icmp_signed("!=", rest, kind(0)))
    return builder.sub(quotient, builder.zext(below, kind)), builder.add(rest, builder.select(below, by, kind(0)))


def _quotient(module: ir.Module, kind: ir.IntType) -> ir.Function:
    """The function of a module that divides wide numbers without a sign, not by 0.

    LLVM leaves numbers of 128 bits to a library of the compiler, which not every system has, and crashes without it.
    Numbers of one word are divided as such; by half a word as on paper, with digits of 32 bits; by more in binary.
    """
    function = cgutils.get_or_insert_function(module, ir.FunctionType(kind, (kind, kind)), f"wide_quotient{kind.width}")
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    builder, (number, by), word = ir.IRBuilder(function.append_basic_block()), function.args, ir.IntType(WORD)
    small = builder.trunc(by, word)
    with builder.if_then(builder.icmp_unsigned("<", builder.or_(number, by), kind(1 << WORD))):
        builder.ret(builder.zext(builder.udiv(builder.trunc(number, word), small), kind))
    with builder.if_then(builder.icmp_unsigned("<", by, kind(1 << DIGIT))):
        found, rest = kind(0), word(0)
        for shift in reversed(range(0, kind.width, DIGIT)):
            digit = builder.and_(builder.trunc(builder.lshr(number, kind(shift)), word), word((1 << DIGIT) - 1))
            digits = builder.or_(builder.shl(rest, word(DIGIT)), digit)
            found = builder.or_(found, builder.shl(builder.zext(builder.udiv(digits, small), kind), kind(shift)))
            rest = builder.urem(digits, small)
        builder.ret(found)

    # a quotient in binary: subtract `by`, moved to the left as far as `number` reaches, wherever it fits
    # The count of leading zeros is that of the width
    of_zero_too = ir.IntType(1)(0)
    distance = builder.sub(builder.ctlz(by, of_zero_too), builder.ctlz(number, of_zero_too))
    with builder.if_then(builder.icmp_signed("<", distance, kind(0))):
        builder.ret(kind(0))
    left, moved, quotient = (cgutils.alloca_once_value(builder, initial) for initial in (number, by, kind(0)))
    builder.store(builder.shl(by, distance), moved)
    with cgutils.for_range(builder, builder.add(builder.trunc(distance, word), word(1))):
        fits = builder.icmp_unsigned("<=", builder.load(moved), builder.load(left))
        taken = builder.select(fits, builder.load(moved), kind(0))
        builder.store(builder.sub(builder.load(left), taken), left)
        doubled = builder.shl(builder.load(quotient), kind(1))
        builder.store(builder.or_(doubled, builder.zext(fits, kind)), quotient)
        builder.store(builder.lshr(builder.load(moved), kind(1)), moved)
    builder.ret(builder.load(quotient))
    return function


BINARY = {  # operators that are one instruction of LLVM's
    name: lambda builder, sig, args, name=name: getattr(builder, name)(*args)
    for name in ("or_", "xor", "add", "sub", "mul")
}
DIVISIONS = {
    "floordiv": lambda builder, sig, args: _divided(builder, args)[0],
    "mod": lambda builder, sig, args: _divided(builder, args)[1],
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _operators(name: str) -> list[Any]:
    """`a + b` and `a += b`."""
    return [getattr(operator, name), getattr(operator, f"i{name.rstrip('_')}")]


def _compared(sign: str) -> Any:
    def emit(builder: Any, sig: Any, args: Any) -> Any:
        compare = builder.icmp_unsigned if isinstance(sig.args[0], Unsigned) else builder.icmp_signed
        return compare(sign, *args)

    return emit


def _is_zero(builder: Any, sign: str, number: Any) -> Any:
    return builder.icmp_signed(sign, number, number.type(0))


def _extreme(sign: str) -> Any:
    """The code of `min` or `max`."""

    def emit(builder: Any, sig: Any, args: Any) -> Any:
        compare = _compared(sign)
        return functools.reduce(lambda best, one: builder.select(compare(builder, sig, (one, best)), one, best), args)

    return emit


def _of_many(context: Any, args: Any) -> Any:
    wide = _common(args) if len(args) > 1 else None
    return None if wide is None else signature(wide, *[wide] * len(args))


def _fraction(context: Any, args: Any) -> Any:
    wide = any(map(is_large, args)) and len(args) == 2
    known = all(is_number(kind) or isinstance(kind, nb.Float) for kind in args)
    return signature(nb.float64, nb.float64, nb.float64) if wide and known else None


def _ends(context: Any, args: Any) -> Any:
    """A range whose end is large is one of int64."""
    if _widest(args) is None:
        return None
    return signature(nb.range_state64_type, *[nb.int64] * len(args))


def _indexed(context: Any, args: Any) -> Any:
    """An index that is large is int64."""
    if len(args) != 2 or not is_large(args[1]):
        return None
    return context.resolve_function_type(operator.getitem, (args[0], nb.int64), {})


def _teach_all() -> None:
    for name, emit in {**BINARY, **DIVISIONS}.items():
        fit = _common if name in ("or_", "xor") else _widest
        for one in _operators(name):
            _teach(one, _taking(2, fit), emit, *[(kind, kind) for kind in (Wide, Unsigned)])
    pairs = itertools.product((Wide, Unsigned, nb.Integer, nb.Boolean), repeat=2)
    masks = [kinds for kinds in pairs if Wide in kinds or Unsigned in kinds]
    for one in _operators("and_"):
        _teach(one, _masked, _emit_masked, *masks)
    for one in _operators("lshift"):
        _teach(one, _shift(_widest), emit_left, (Wide, nb.Integer))
    for one in _operators("rshift"):
        _teach(one, _shift(_common), _emit_right, (Wide, nb.Integer), (Unsigned, nb.Integer))
    compared, tested = _taking(2, _common, nb.boolean), _taking(1, _common, nb.boolean)
    for name, sign in COMPARISONS.items():
        _teach(getattr(operator, name), compared, _compared(sign), (Wide, Wide), (Unsigned, Unsigned))
    either = (Wide,), (Unsigned,)
    _teach(bool, tested, lambda builder, sig, args: _is_zero(builder, "!=", args[0]), *either)
    _teach(operator.not_, tested, lambda builder, sig, args: _is_zero(builder, "==", args[0]), *either)
    _teach(operator.invert, _taking(1, _widest), lambda builder, sig, args: builder.not_(args[0]), (Wide,))
    _teach(operator.neg, _taking(1, _widest), lambda builder, sig, args: builder.neg(args[0]), (Wide,))
    for name in (operator.pos, int):
        _teach(name, _taking(1, _common), lambda builder, sig, args: args[0], *either)
    _teach(abs, _taking(1, _widest), lambda builder, sig, args: absolute(builder, args[0]), (Wide,))
    for name, sign in ((min, "<"), (max, ">")):
        _teach(name, _of_many, _extreme(sign), (nb.VarArg(Wide),), (nb.VarArg(Unsigned),))
    for name in (operator.truediv, operator.itruediv):
        _teach(name, _fraction, None)
    _teach(range, _ends, None)
    _teach(operator.getitem, _indexed, None)


_teach_all()


def _known(function: Any) -> Any:
    """The function, which checked rules may call: it computes as Python does."""
    function.is_checked = True
    return function


def _counting(emit: Any) -> Any:
    """A function of a number, wide or not, `emit(builder, number)`, as int64.

    What takes the place of a method of int: when types are inferred a variable may be int64 before it is wide, and the
    methods of both would not go together.
    """

    @intrinsic
    def counted(typingctx: Any, number: Any) -> Any:
        if not is_number(number):
            return None

        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            size = args[0] if isinstance(number, Unsigned) else absolute(builder, args[0])
            found = emit(builder, size)
            return builder.trunc(found, INT64) if found.type.width > WORD else found

        return nb.int64(number if is_large(number) else nb.int64), code

    counted.counts_bits = True  # type: ignore[attr-defined]
    return _known(counted)


bit_count: Any = _counting(lambda builder, number: builder.ctpop(number))
bit_length: Any = _counting(
    lambda builder, number: builder.sub(number.type(number.type.width), builder.ctlz(number, ir.IntType(1)(0)))
)


@overload_method(nb.Integer, "bit_count", strict=False, jit_options=PART)
def _bit_count(self: Any) -> Any:
    return lambda self: bit_count(self)


@overload_method(nb.Integer, "bit_length", strict=False, jit_options=PART)
@overload_method(Unsigned, "bit_length", strict=False, jit_options=PART)
@overload_method(Wide, "bit_length", strict=False, jit_options=PART)
def _bit_length(self: Any) -> Any:
    return lambda self: bit_length(self)


@functools.cache
def left(width: int) -> Any:
    """`number << distance` of rules whose states are wide: wide, whatever the number."""
    wide = Wide(width)

    @intrinsic
    def shifted(typingctx: Any, number: Any, distance: Any) -> Any:
        if not (is_number(number) and is_number(distance)):
            return None
        return wide(wide, nb.int64), lambda context, builder, sig, args: emit_left(builder, sig, args)

    shifted.is_left_shift = True  # type: ignore[attr-defined]
    return _known(shifted)


def _cast(change: Any) -> Any:
    """A function that changes wide types, and those in tuples, into others; lists stay as they are."""

    def changed(kind: Any) -> Any:
        if isinstance(kind, nb.BaseTuple):
            return nb.Tuple([changed(part) for part in kind])  # type: ignore[attr-defined]
        return change(nb.unliteral(kind))

    @intrinsic
    def cast(typingctx: Any, item: Any) -> Any:
        target = changed(item)

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            # A list is counted once more: caller and argument each give it back
            changed_item = context.cast(builder, args[0], sig.args[0], target)
            return impl_ret_borrowed(context, builder, target, changed_item)

        return target(item), emit

    return _known(cast)


narrow: Any = _cast(lambda kind: nb.int64 if is_large(kind) else kind)  # what is not a state is int64


@functools.cache
def widen(width: int) -> Any:
    """Make a state wide."""
    return _cast(lambda kind: Wide(width) if isinstance(kind, (nb.Integer, Unsigned)) else kind)


@functools.cache
def raised_to(width: int) -> Any:
    """Return a function that gives the value of a word at a place, as a wide number."""
    wide, kind = Wide(width), ir.IntType(width)

    @intrinsic
    def raised(typingctx: Any, word: Any, place: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            distance = builder.zext(builder.shl(args[1], INT64(6)), kind)
            return builder.shl(builder.zext(args[0], kind), distance)

        return wide(nb.int64, nb.int64), emit

    return raised


@intrinsic
def word_of(typingctx: Any, number: Any, place: Any) -> Any:
    """One of a wide number's words, as int64."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        distance = builder.zext(builder.shl(args[1], INT64(6)), args[0].type)
        return builder.trunc(builder.lshr(args[0], distance), INT64)

    return nb.int64(number, nb.int64), emit
