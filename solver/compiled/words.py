"""What kernels and rewritten rules call of wide numbers: functions of Numba's own, `compiled.wide` has the type."""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba.core import types as nb
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload_method

from solver.compiled.inlining import PART
from solver.compiled.operators import emit_left, is_number
from solver.compiled.wide import INT64, WORD, Unsigned, Wide, is_large


def _known(function: Any) -> Any:
    """The function, which checked rules may call: it computes as Python does."""
    function.is_checked = True
    return function


def absolute(builder: Any, number: Any) -> Any:
    """The size of a signed number, whose bits Python counts; that of the least one is right as an unsigned number."""
    return builder.select(builder.icmp_signed("<", number, number.type(0)), builder.neg(number), number)


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


def _emit_length(builder: Any, number: Any) -> Any:
    return builder.sub(number.type(number.type.width), builder.ctlz(number, ir.Constant(ir.IntType(1), 0)))


bit_count: Any = _counting(lambda builder, number: builder.ctpop(number))
bit_length: Any = _counting(_emit_length)


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

        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return emit_left(builder, sig, args)

        return wide(wide, nb.int64), emit

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


narrow: Any = _cast(lambda kind: nb.int64 if is_large(kind) else kind)  # what is no state is int64


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
