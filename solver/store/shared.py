"""Kernels over arrays, compiled once for all games.

Numba's cache on disk looks at a kernel's own file only, not at the functions of other files that are compiled into it.
So the name under which one is cached holds a digest of all that might be.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

PACKAGE = Path(__file__).parent.parent
KERNELS = ("edges", "table", "bounds", "borrowing", "model", "depth", "deepening")  # and what those call
OTHERS = ("book/codecs/*.py", "value.py", "expected.py")
SOURCES = ("store/*.py", "sweep/*.py", *(f"kernels/{name}.py" for name in KERNELS), *OTHERS)

F = TypeVar("F", bound=Callable[..., Any])


def shared(function: F) -> F:
    """Compile a function of arrays and numbers when it is first called; it releases the GIL."""
    function.__qualname__ = f"{function.__name__}-{_digest()}"
    options: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}
    compiled: F = numba.njit(function, **options)
    return compiled


@functools.cache
def compiled(function: F, *helpers: Callable[..., Any]) -> F:
    """A plain function of arrays and numbers, compiled, and those that it calls: each may call the ones before it."""

    def copied(one: Any, **names: Any) -> Any:
        copy = types.FunctionType(one.__code__, {**one.__globals__, **names})
        copy.__qualname__ = f"{one.__name__}-{_digest()}"
        return numba.njit(copy, cache=True, nogil=True)

    known: dict[str, Any] = {}
    for helper in helpers:
        known[helper.__name__] = copied(helper, **known)
    whole: F = copied(function, **known)
    return whole


@functools.cache
def _digest() -> str:
    sources = sorted(path for pattern in SOURCES for path in PACKAGE.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
