"""Arrays without an owner, for the inside of a kernel whose caller holds them.

Numba counts who refers to an array, by atomic instructions: where one is handed to an inlined function with branches,
or comes out of a tuple there, these remain. Of an array without an owner there is nothing to count: the search of
limited depth takes two thirds of the time so.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic


@intrinsic
def _borrowed(typingctx: Any, array: Any) -> Any:
    """The same array, valid as long as the one that was handed in."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(array)(context, builder, values[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), emit


borrowed: Any = _borrowed  # takes (array): the typing context is Numba's
