"""Arrays at addresses in bytes, in memory that others keep, or in that of a module: without owners."""

from __future__ import annotations

from typing import Any

from numba import types as nb
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


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
