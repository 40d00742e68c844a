"""States beyond 63 bits in compiled code: a type of Numba's of its own over LLVM's integers of that width.

`Wide(128)` is a signed integer of 128 bits, for states below 2**127: the counterpart of int64 for those below 2**63.
Arithmetic on such a number gives one, too, but for results that are sure to fit less: counts of bits are int64, and
what is masked by a number that is known (`state & 255`). Masked by a larger one it is `Unsigned`, 0 or more in so
many words: what is masked by that, or comes of two of them by `& | ^`, or of one by `>>`, is so, too, and takes no
more words. Numbers that are int64 become wide where they meet a wide one; a wide one becomes int64 again where only
that will do: as a distance, an index, the end of a range.

In arrays a state is as many words of 64 bits as it takes, the lowest first (`states`). `operators` has what is
computed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as nb
from numba.core.imputils import lower_cast, lower_constant
from numba.core.typeconv import Conversion  # type: ignore[attr-defined]
from numba.extending import models, register_model, typeof_impl

WORD = 64  # bits
INT64 = ir.IntType(WORD)
FLOAT_EXACT = 1 << 53  # floats hold all integers up to here


class Wide(nb.Type):
    """A signed integer of so many bits, a multiple of 64."""

    def __init__(self, width: int) -> None:
        self.width = self.size = width
        super().__init__(name=f"wide{width}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if isinstance(other, (nb.Integer, nb.Boolean, Unsigned)) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, (nb.Integer, nb.Boolean, Unsigned)) else None


class Unsigned(nb.Type):
    """A number from 0 to 2**size - 1, of rules that compute in a larger width; a multiple of 64."""

    def __init__(self, size: int, width: int) -> None:
        self.size = size
        self.width = width
        super().__init__(name=f"unsigned{size}of{width}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if isinstance(other, Unsigned) and other.size <= self.size else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        if isinstance(other, Unsigned):
            return max(self, other, key=lambda kind: kind.size)
        if isinstance(other, nb.Boolean) or is_count(other):
            return self
        return Wide(self.width) if isinstance(other, nb.Integer) else None


def is_large(kind: Any) -> bool:
    """Return whether a Numba type is a number of more than 64 bits."""
    return isinstance(kind, (Wide, Unsigned))


def is_count(kind: Any) -> bool:
    """Whether it is a number that is written down, and none below 0."""
    return isinstance(kind, nb.IntegerLiteral) and kind.literal_value >= 0


@register_model(Wide)
@register_model(Unsigned)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(kind.size))


def size_of(number: int) -> int:
    """The bits that a number from 0 on takes, in whole words."""
    return max(1, -(-number.bit_length() // WORD)) * WORD


def is_left_shift(function: Any) -> bool:
    """Tell whether a function is `operators.left` of some width."""
    return getattr(function, "is_left_shift", False) is True


class Constant(int):
    """A number of the rules that compiles to a wide one, or to an unsigned one of fewer words."""

    width: int
    size: int

    @classmethod
    def of(cls, number: int, width: int, size: int | None = None) -> Constant:
        new_type = cls(number)
        new_type.width, new_type.size = width, width if size is None else size
        return new_type


@typeof_impl.register(Constant)
def _typeof_constant(number: Any, context: Any) -> Any:
    return Unsigned(number.size, number.width) if number.size < number.width else Wide(number.width)


@lower_constant(Wide)  # type: ignore[untyped-decorator]
@lower_constant(Unsigned)  # type: ignore[untyped-decorator]
def _lower_constant(context: Any, builder: Any, kind: Any, number: Any) -> Any:
    return ir.Constant(context.get_value_type(kind), int(number))


@lower_cast(Unsigned, Wide)  # type: ignore[untyped-decorator]
@lower_cast(Unsigned, Unsigned)  # type: ignore[untyped-decorator]
@lower_cast(nb.Boolean, Unsigned)  # type: ignore[untyped-decorator]
@lower_cast(nb.Boolean, Wide)  # type: ignore[untyped-decorator]
@lower_cast(nb.IntegerLiteral, Unsigned)  # type: ignore[untyped-decorator]
def _resized(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    return sized(builder, number, context.get_value_type(target).width)


def sized(builder: Any, number: Any, size: int, signed: bool = False) -> Any:
    """An integer of LLVM's in another size."""
    if number.type.width == size:
        return number
    if number.type.width > size:
        return builder.trunc(number, ir.IntType(size))
    return (builder.sext if signed else builder.zext)(number, ir.IntType(size))


@lower_cast(nb.Integer, Wide)  # type: ignore[untyped-decorator]
def _widened(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    if isinstance(source, nb.IntegerLiteral):
        return ir.Constant(ir.IntType(target.width), source.literal_value)
    extend = builder.sext if source.signed else builder.zext
    return extend(number, ir.IntType(target.width))


@lower_cast(Wide, nb.Integer)  # type: ignore[untyped-decorator]
@lower_cast(Unsigned, nb.Integer)  # type: ignore[untyped-decorator]
def _narrowed(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    """The lowest bits of a number as int64. Checked rules (`compiled.checked`) raise where it has more."""
    narrow = sized(builder, number, target.bitwidth)
    kind = number.type if number.type.width > target.bitwidth else ir.IntType(2 * target.bitwidth)
    sized_number = sized(builder, number, kind.width, isinstance(source, Wide))
    differs = builder.icmp_signed("!=", builder.sext(narrow, kind), sized_number)
    raise_if_checked(context, builder, differs, "a number beyond 64 bits is used as an index, a distance or a result")
    return narrow


def raise_if_checked(context: Any, builder: Any, wrong: Any, text: str) -> None:
    """Raise OverflowError where a bit is set, in rules that are checked (`compiled.checked`)."""
    place = getattr(context, "checked_place", None)
    if place is not None:
        with cgutils.if_unlikely(builder, wrong):
            context.call_conv.return_user_exc(builder, OverflowError, (f"{place}: {text}",))


def check_exact_float(context: Any, builder: Any, number: Any) -> None:
    """Test, in rules that are checked, that a float can hold a signed integer."""
    # The numbers from -2**53 to 2**53, counted from 0
    word = builder.add(number, number.type(FLOAT_EXACT))
    beyond = builder.icmp_unsigned(">", word, word.type(2 * FLOAT_EXACT))
    raise_if_checked(context, builder, beyond, "an integer beyond 2**53 meets a float")


@lower_cast(nb.int64, nb.float64)  # type: ignore[untyped-decorator]
def _int_as_float(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    """Numba's cast. It makes it inside containers and functions, too: checked rules raise in all of them."""
    check_exact_float(context, builder, number)
    return builder.sitofp(number, context.get_value_type(target))


@lower_cast(Unsigned, nb.Float)  # type: ignore[untyped-decorator]
def _unsigned_as_float(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    wide = Wide(source.width)
    return context.cast(builder, context.cast(builder, number, source, wide), wide, target)


@lower_cast(Wide, nb.Float)  # type: ignore[untyped-decorator]
def _as_float(context: Any, builder: Any, source: Any, target: Any, number: Any) -> Any:
    """The sum of the words of its size, with its sign."""
    check_exact_float(context, builder, number)
    kind = ir.DoubleType()
    negative = builder.icmp_signed("<", number, number.type(0))
    size, total = builder.select(negative, builder.neg(number), number), kind(0.0)
    for shift in reversed(range(0, source.width, WORD)):
        word = builder.trunc(builder.lshr(size, size.type(shift)), INT64)
        total = builder.fadd(total, builder.fmul(builder.uitofp(word, kind), kind(2.0**shift)))
    total = builder.select(negative, builder.fneg(total), total)
    return context.cast(builder, total, nb.float64, target)
