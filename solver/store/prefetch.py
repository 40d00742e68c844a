"""A hint to the processor: read this from memory ahead of time, while other look-ups go on."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.extending import intrinsic


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array[index], which may lie beyond its end: nothing is read yet."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, values[0])
        _ask(builder, builder.gep(view.data, [values[1]]))
        return context.get_dummy_value()

    return nb.void(array, nb.intp), emit


@intrinsic
def _prefetch_at(typingctx: Any, address: Any) -> Any:
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


prefetch: Any = _prefetch  # takes (array, index): the typing context is Numba's
prefetch_at: Any = _prefetch_at  # takes (address)
