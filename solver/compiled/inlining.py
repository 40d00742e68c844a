"""How functions are compiled that only become parts of kernels: methods of rules, and what those call.

Numba optimises every function by itself and makes machine code of it, although what runs is the kernel that it is
linked into, optimised again as a whole. Parts are only linked: of the compiling of hexapawn's moves a fifth less, of
quixo's two fifths, and kernels as quick as before. Where a version of Numba lacks what that takes, they are compiled
like any function: slower, to the same code.
"""

from __future__ import annotations

from typing import Any

try:
    from solver.compiled.linking import PartCompiler
except (ImportError, AttributeError):
    PART: dict[str, Any] = {"no_cfunc_wrapper": True}
else:
    # Numba otherwise makes wrappers to call a function from C, and from Python
    PART = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
