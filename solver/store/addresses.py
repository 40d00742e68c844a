"""Arrays at addresses in bytes, in memory that others keep, or in that of a module: without owners."""

from __future__ import annotations

from typing import Any

from numba import types as nb
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _at(item: Any, columns: Any = None) -> Any:
    """The signature and the code of an array of so many rows at an address; of rows of `columns`, if that is given."""
    kind = nb.Array(item, 1 if columns is None else 2, "C")

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(kind)(context, builder)
        width = context.get_constant(nb.intp, item.bitwidth // 8)
        shape, strides = list(values[1:]), [width]
        if columns is not None:
            strides.insert(0, builder.mul(values[2], width))
        data = builder.inttoptr(values[0], array.data.type)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=width, meminfo=None)
        return array._getvalue()

    return kind(*[nb.int64] * (2 if columns is None else 3)), emit


@intrinsic
def _words(typingctx: Any, address: Any, count: Any) -> Any:
    return _at(nb.int64)


@intrinsic
def _unsigned(typingctx: Any, address: Any, count: Any) -> Any:
    return _at(nb.uint64)


@intrinsic
def _floats(typingctx: Any, address: Any, count: Any) -> Any:
    return _at(nb.float64)


@intrinsic
def _singles(typingctx: Any, address: Any, count: Any) -> Any:
    return _at(nb.float32)


@intrinsic
def _table(typingctx: Any, address: Any, count: Any, columns: Any) -> Any:
    return _at(nb.int64, columns)


@intrinsic
def _float_table(typingctx: Any, address: Any, count: Any, columns: Any) -> Any:
    return _at(nb.float64, columns)


# what they take is (address, rows) or (address, rows, columns): the typing context is Numba's
words: Any = _words
unsigned: Any = _unsigned
floats: Any = _floats
singles: Any = _singles
table: Any = _table
float_table: Any = _float_table
