"""How functions are compiled that only become parts of kernels: methods of rules, and the functions that those call.

Numba optimises every function by itself and makes machine code of it, although the machine runs the kernel that it is
linked into, optimised again as a whole. Parts are only linked. That saves a fifth of the time to compile hexapawn's
moves and two fifths of quixo's; the kernels are as fast as before.

The same compiler checks rules that are not the package's own (`compiled.checked`). If your version of Numba lacks a
private name that this takes, CAN_CHECK is False: the package's rules compile more slowly, to the same code, and yours
run in plain Python.
"""

from __future__ import annotations

from typing import Any

try:
    from solver.compiled.linking import PartCompiler
except (ImportError, AttributeError):
    PART: dict[str, Any] = {"no_cfunc_wrapper": True}
    CAN_CHECK = False
else:
    CAN_CHECK = True
    # Numba otherwise makes wrappers to call a function from C, and from Python
    PART = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
