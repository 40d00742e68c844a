"""States beyond 63 bits in compiled code: a type of Numba's of its own over LLVM's integers of that width.

`Wide(128)` is a signed integer of 128 bits, for states below 2**127: what int64 is for those below 2**63. Whatever
arithmetic makes of such a number is one, too, but for what is sure to fit 63 bits: counts of bits, and what is masked
by a number that is written down (`state & 255`). Numbers that are int64 become wide where they meet a wide one; a wide
one becomes int64 again where only that will do: as a distance, an index, the end of a range.

In arrays a state is as many words of 64 bits as it takes, the lowest first (`states`). A shift by more than the width
gives 0, as it does to the right in Python; nothing else that leaves the width is noticed here, see `agreement`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import operator
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import types as nb
from numba.core.imputils import lower_builtin, lower_cast, lower_constant
from numba.core.typeconv import Conversion  # type: ignore[attr-defined]
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model, typeof_impl

WORD = 64  # bits
INT64 = ir.IntType(WORD)


class Wide(nb.Type):
    """A signed integer of so many bits, a multiple of 64."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"wide{width}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if isinstance(other, (nb.Integer, nb.Boolean)) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, (nb.Integer, nb.Boolean)) else None


@register_model(Wide)
class _WideModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(kind.width))


class Constant(int):
    """A number of the rules that compiles to a wide one."""

    width: int

    @classmethod
    def of(cls, number: int, width: int) -> Constant:
        made = cls(number)
        made.width = width
        return made


@typeof_impl.register(Constant)
def _typeof_constant(number: Any, context: Any) -> Any:
    return Wide(number.width)


@lower_constant(Wide)  # type: ignore[untyped-decorator]
def _lower_constant(context: Any, builder: Any, kind: Any, number: Any) -> Any:
    return ir.Constant(ir.IntType(kind.width), int(number))


@lower_cast(nb.Integer, Wide)  # type: ignore[untyped-decorator]
def _widened(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    if isinstance(source, nb.IntegerLiteral):
        return ir.Constant(ir.IntType(target.width), source.literal_value)
    extend = builder.sext if source.signed else builder.zext
    return extend(number, ir.IntType(target.width))


@lower_cast(nb.Boolean, Wide)  # type: ignore[untyped-decorator]
def _widened_truth(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    return builder.zext(number, ir.IntType(target.width))


@lower_cast(Wide, nb.Integer)  # type: ignore[untyped-decorator]
def _narrowed(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    return builder.trunc(number, ir.IntType(target.bitwidth))


@lower_cast(Wide, nb.Float)  # type: ignore[untyped-decorator]
def _as_float(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    """The sum of the words of its size, with its sign."""
    kind = ir.DoubleType()
    negative = builder.icmp_signed("<", number, number.type(0))
    size, total = builder.select(negative, builder.neg(number), number), kind(0.0)
    for place in reversed(range(0, source.width, WORD)):
        word = builder.trunc(builder.lshr(size, size.type(place)), INT64)
        total = builder.fadd(total, builder.fmul(builder.uitofp(word, kind), kind(2.0**place)))
    total = builder.select(negative, builder.fneg(total), total)
    return context.cast(builder, total, nb.float64, target)


def is_number(kind: Any) -> bool:
    return isinstance(kind, (Wide, nb.Integer, nb.Boolean))


def _widest(kinds: Any) -> Any:
    """The wide type among those of numbers; None if there is none, or something else."""
    if not all(map(is_number, kinds)):
        return None
    wide = [kind for kind in kinds if isinstance(kind, Wide)]
    return max(wide, key=lambda kind: kind.width, default=None)


def _teach(name: Any, typing: Any, emit: Any, *kinds: Any) -> None:
    """Teach Numba a function: `typing(context, args)` is its signature or None, `emit(builder, sig, args)` its code."""

    @infer_global(name)
    class Template(AbstractTemplate):
        prefer_literal = True

        def generic(self, args: Any, kws: Any) -> Any:
            return None if kws else typing(self.context, args)

    if emit is not None:
        lower_builtin(name, *kinds)(lambda context, builder, sig, args: emit(builder, sig, args))


def _both(kind: Any) -> Any:
    """The typing of an operator on two numbers, of which one is wide."""

    def typing(context: Any, args: Any) -> Any:
        wide = _widest(args) if len(args) == 2 else None
        return None if wide is None else signature(kind or wide, wide, wide)

    return typing


def _masked(context: Any, args: Any) -> Any:
    """That of `&`: what is masked by a number from 0 to 2**63 - 1 fits 63 bits."""
    wide = _widest(args) if len(args) == 2 else None
    if wide is None:
        return None
    if any(isinstance(kind, nb.IntegerLiteral) and kind.literal_value >= 0 for kind in args):
        return signature(nb.int64, *args)
    return signature(wide, wide, wide)


def _shift(context: Any, args: Any) -> Any:
    wide = _widest(args) if len(args) == 2 else None
    return None if wide is None else signature(wide, wide, nb.int64)


def _emit_masked(builder: Any, sig: Any, args: Any) -> Any:
    return builder.and_(*[builder.trunc(arg, INT64) if arg.type.width > WORD else arg for arg in args])


def emit_left(builder: Any, sig: Any, args: Any) -> Any:
    number, distance = args
    within = builder.icmp_unsigned("<", distance, distance.type(sig.args[0].width))
    return builder.select(within, builder.shl(number, builder.zext(distance, number.type)), number.type(0))


def _emit_right(builder: Any, sig: Any, args: Any) -> Any:
    number, distance = args
    most = distance.type(sig.args[0].width - 1)
    distance = builder.select(builder.icmp_unsigned("<", distance, most), distance, most)
    return builder.ashr(number, builder.zext(distance, number.type))


def _divided(builder: Any, args: Any) -> tuple[Any, Any]:
    """Quotient and remainder, rounded down; of 1 where divided by 0."""
    number, by = args
    kind = number.type
    is_zero = builder.icmp_signed("==", by, kind(0))
    by = builder.select(is_zero, kind(1), by)
    quotient, rest = builder.sdiv(number, by), builder.srem(number, by)
    below = builder.and_(
        builder.icmp_signed("!=", rest, kind(0)), builder.icmp_signed("<", builder.xor(rest, by), kind(0))
    )
    quotient = builder.sub(quotient, builder.zext(below, kind))
    rest = builder.add(rest, builder.select(below, by, kind(0)))
    return quotient, rest


BINARY = {
    "or_": lambda builder, sig, args: builder.or_(*args),
    "xor": lambda builder, sig, args: builder.xor(*args),
    "add": lambda builder, sig, args: builder.add(*args),
    "sub": lambda builder, sig, args: builder.sub(*args),
    "mul": lambda builder, sig, args: builder.mul(*args),
}
DIVISIONS = {
    "floordiv": lambda builder, sig, args: _divided(builder, args)[0],
    "mod": lambda builder, sig, args: _divided(builder, args)[1],
}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _have_division() -> bool:
    """Whether LLVM finds what it calls to divide 128 bits: it crashes where it does not."""
    for name in ("__divti3", "__modti3", "__udivti3", "__umodti3"):
        if llvmlite.binding.address_of_symbol(name) is None:
            function = _of_the_compiler(name)
            if function is None:
                return False
            llvmlite.binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return True


def _of_the_compiler(name: str) -> Any:
    """A function of the library that compilers lend to their programs, None without it."""
    for library in (None, "libgcc_s.so.1", "libSystem.dylib"):
        with contextlib.suppress(OSError, AttributeError):
            return getattr(ctypes.CDLL(library), name)
    return None


def _operators(name: str) -> list[Any]:
    """`a + b` and `a += b`."""
    return [getattr(operator, name), getattr(operator, f"i{name.rstrip('_')}")]


def _compared(sign: str) -> Any:
    return lambda builder, sig, args: builder.icmp_signed(sign, *args)


def _teach_operators() -> None:
    for name, emit in {**BINARY, **(DIVISIONS if _have_division() else {})}.items():
        for one in _operators(name):
            _teach(one, _both(None), emit, Wide, Wide)
    for one in _operators("and_"):
        _teach(one, _masked, lambda builder, sig, args: builder.and_(*args), Wide, Wide)
        for kinds in ((Wide, nb.IntegerLiteral), (nb.IntegerLiteral, Wide)):
            lower_builtin(one, *kinds)(lambda context, builder, sig, args: _emit_masked(builder, sig, args))
    for one in _operators("lshift"):
        _teach(one, _shift, emit_left, Wide, nb.Integer)
    for one in _operators("rshift"):
        _teach(one, _shift, _emit_right, Wide, nb.Integer)
    for name, sign in COMPARISONS.items():
        _teach(getattr(operator, name), _both(nb.boolean), _compared(sign), Wide, Wide)


def _alone(kind: Any) -> Any:
    """The typing of a function of one wide number."""

    def typing(context: Any, args: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], Wide):
            return None
        return signature(kind or args[0], args[0])

    return typing


def _teach_functions() -> None:
    _teach(bool, _alone(nb.boolean), lambda builder, sig, args: _is_zero(builder, "!=", args[0]), Wide)
    _teach(operator.not_, _alone(nb.boolean), lambda builder, sig, args: _is_zero(builder, "==", args[0]), Wide)
    _teach(operator.invert, _alone(None), lambda builder, sig, args: builder.not_(args[0]), Wide)
    _teach(operator.neg, _alone(None), lambda builder, sig, args: builder.neg(args[0]), Wide)
    _teach(operator.pos, _alone(None), lambda builder, sig, args: args[0], Wide)
    _teach(int, _alone(None), lambda builder, sig, args: args[0], Wide)
    _teach(abs, _alone(None), _emit_abs, Wide)
    for name, sign in ((min, "<"), (max, ">")):
        _teach(name, _of_many, _extreme(sign), nb.VarArg(Wide))
    for name in (operator.truediv, operator.itruediv):
        _teach(name, _fraction, None)
    _teach(range, _ends, None)
    _teach(operator.getitem, _indexed, None)


def _is_zero(builder: Any, sign: str, number: Any) -> Any:
    return builder.icmp_signed(sign, number, number.type(0))


def _emit_abs(builder: Any, sig: Any, args: Any) -> Any:
    negative = builder.icmp_signed("<", args[0], args[0].type(0))
    return builder.select(negative, builder.neg(args[0]), args[0])


def _extreme(sign: str) -> Any:
    """The code of `min` or `max`."""

    def emit(builder: Any, sig: Any, args: Any) -> Any:
        return functools.reduce(lambda best, one: builder.select(builder.icmp_signed(sign, one, best), one, best), args)

    return emit


def _of_many(context: Any, args: Any) -> Any:
    wide = _widest(args) if len(args) > 1 else None
    return None if wide is None else signature(wide, *[wide] * len(args))


def _fraction(context: Any, args: Any) -> Any:
    wide = any(isinstance(kind, Wide) for kind in args) and len(args) == 2
    known = all(is_number(kind) or isinstance(kind, nb.Float) for kind in args)
    return signature(nb.float64, nb.float64, nb.float64) if wide and known else None


def _ends(context: Any, args: Any) -> Any:
    """A range whose end is wide is one of int64."""
    if _widest(args) is None:
        return None
    return signature(nb.range_state64_type, *[nb.int64] * len(args))


def _indexed(context: Any, args: Any) -> Any:
    """An index that is wide is int64."""
    if len(args) != 2 or not isinstance(args[1], Wide):
        return None
    return context.resolve_function_type(operator.getitem, (args[0], nb.int64), {})


_teach_operators()
_teach_functions()
