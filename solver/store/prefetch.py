"""What LLVM can do and Numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array[index], which may lie beyond its end: nothing is read yet."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, values[0])
        place = builder.gep(view.data, [values[1]])
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, *[cgutils.int32_t] * 3])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        flags = [ir.Constant(cgutils.int32_t, flag) for flag in (0, 3, 1)]  # to read, keep it, data
        builder.call(function, [builder.bitcast(place, cgutils.voidptr_t), *flags])
        return context.get_dummy_value()

    return nb.void(array, nb.intp), emit


prefetch: Any = _prefetch  # takes (array, index): the typing context is Numba's
