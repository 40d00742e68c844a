"""Arrays and numbers at addresses in bytes, in memory that others keep, or in that of a module: without owners.

A hint to the processor, `prefetch`, reads from memory ahead of time, while other look-ups go on.

An array that a function is given is counted as referred to, again and again; where a loop looks many numbers up that
takes longer than the look-ups, and addresses do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from solver.store.shared import part


def _arrays(record: Any, *, with_columns: bool = False) -> Any:
    """A function of (address, rows), or of (address, rows, columns): the array there, in compiled code."""
    kind = nb.Array(record, 1 + with_columns, "C")

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(kind)(context, builder)
        width = context.get_constant(nb.intp, record.bitwidth // 8)
        shape, strides = list(values[1:]), [width]
        if with_columns:
            strides.insert(0, builder.mul(values[2], width))
        data = builder.inttoptr(values[0], array.data.type)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=width, meminfo=None)
        return array._getvalue()

    def array_at(typingctx: Any, address: Any, rows: Any) -> Any:
        return kind(nb.int64, nb.int64), emit

    def table_at(typingctx: Any, address: Any, rows: Any, columns: Any) -> Any:
        return kind(nb.int64, nb.int64, nb.int64), emit

    return intrinsic(table_at if with_columns else array_at)


words: Any = _arrays(nb.int64)
unsigned: Any = _arrays(nb.uint64)
floats: Any = _arrays(nb.float64)
singles: Any = _arrays(nb.float32)
table: Any = _arrays(nb.int64, with_columns=True)
float_table: Any = _arrays(nb.float64, with_columns=True)


def _reading(bits: int) -> Any:
    """A function of (address, index): the number of so many bits there, without sign, as int64."""

    @intrinsic
    def number_at(typingctx: Any, address: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number = builder.load(_pointer(builder, values, bits))
            return builder.zext(number, ir.IntType(64)) if bits < 64 else number

        return nb.int64(nb.int64, nb.int64), emit

    return number_at


def _writing(bits: int) -> Any:
    """A function of (address, index, number): write the number's lowest bits there."""

    @intrinsic
    def put(typingctx: Any, address: Any, index: Any, number: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kept = builder.trunc(values[2], ir.IntType(bits)) if bits < 64 else values[2]
            builder.store(kept, _pointer(builder, values, bits))
            return context.get_dummy_value()

        return nb.void(nb.int64, nb.int64, nb.int64), emit

    return put


def _exchanging(bits: int) -> Any:
    """A function of (address, index, old, new): write the new number, in one step for all threads, if the old is there.

    It returns the number that was there.
    """

    @intrinsic
    def exchange(typingctx: Any, address: Any, index: Any, old: Any, new: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            old, new = (builder.trunc(value, ir.IntType(bits)) for value in values[2:])
            pair = builder.cmpxchg(_pointer(builder, values, bits), old, new, "monotonic", "monotonic")
            return builder.zext(builder.extract_value(pair, 0), ir.IntType(64))

        return nb.int64(nb.int64, nb.int64, nb.int64, nb.int64), emit

    return exchange


def _pointer(builder: Any, values: Any, bits: int) -> Any:
    """The pointer to the number at values[1], of those from the address values[0] on."""
    return builder.gep(builder.inttoptr(values[0], ir.IntType(bits).as_pointer()), [values[1]])


byte_at, short_at, half_at, word_at = map(_reading, (8, 16, 32, 64))
put_byte, put_short, put_word = map(_writing, (8, 16, 64))
exchange_byte, exchange_short = map(_exchanging, (8, 16))


@intrinsic
def borrowed(typingctx: Any, array: Any) -> Any:
    """The same array without an owner, for the inside of a kernel, valid as long as the one that was handed in.

    Numba counts who refers to an array, by atomic instructions: where one is handed to an inlined function with
    branches, or comes out of a tuple there, these remain. Of this one there is nothing to count: the search of limited
    depth takes two thirds of the time so.
    """

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(array)(context, builder, values[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), emit


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Tell the processor to fetch the cache line of array[index], which may lie beyond its end: nothing is read yet."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, values[0])
        _ask(builder, builder.gep(view.data, [values[1]]))
        return context.get_dummy_value()

    return nb.void(array, nb.intp), emit


prefetch: Any = _prefetch  # takes (array, index): the typing context is Numba's


@intrinsic
def prefetch_at(typingctx: Any, address: Any) -> Any:
    """Ask for the line at an address. (An array that lives long would be counted as referred to, again and again.)"""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        _ask(builder, builder.inttoptr(values[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return nb.void(nb.int64), emit


def _ask(builder: Any, address: Any) -> None:
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
    # Flags of the prefetch: read, keep in all caches, data
    builder.call(function, [builder.bitcast(address, byte), number(0), number(3), number(1)])


@part
def address(array: Any) -> Any:
    """Where the numbers of an array lie, which somebody must keep as long as the address is used."""
    return np.int64(array.ctypes.data)
