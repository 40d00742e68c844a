"""Kernels over arrays, compiled once for all games, and how functions are compiled that only become parts of kernels.

Numba's cache on disk looks at a kernel's own file only, not at the functions of other files that are compiled into it.
So the name under which one is cached holds a digest of all that its file imports.

Parts are methods of rules, and helpers of the passes. Numba optimises every function by itself and makes machine code
of it, although the machine runs the kernel that it is linked into, optimised again as a whole. Parts are only linked.
That saves a fifth of the time to compile hexapawn's moves, two fifths of quixo's, and a tenth of the passes'; the
kernels are as fast as before. If your version of Numba lacks a private name that this takes, functions compile more
slowly, to the same code, and rules of users run in plain Python, since the same compiler checks them
(`compiled.checked`).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import system
from solver.base.extras import has_cache, private_part
from solver.rules.sources import digest_behind

try:
    from solver.store.linking import PartCompiler
except (ImportError, AttributeError):
    PART: dict[str, Any] = {"no_cfunc_wrapper": True}
else:
    # Numba otherwise makes wrappers to call a function from C, and from Python
    PART = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}

F = TypeVar("F", bound=Callable[..., Any])
part: Callable[[F], F] = register_jitable(**PART)  # marks what only kernels call


def keep_signals_out() -> None:
    """Let kernels that return a named tuple find its class without a step of Python: in functools' cache, which is C.

    Numba asks for the class by a Python function, and does not look whether that failed. A signal that comes meanwhile
    raises its exception there, and the process ends by a segmentation fault.

    Tried with Numba 0.68.0 and 0.68.1. Without its private name an interrupt may end the process like that.
    """
    usual = private_part(numba, "core.serialize._numba_unpickle", "an interrupt may crash the process")
    if usual is not None and not hasattr(usual, "cache_info"):
        numba.core.serialize._numba_unpickle = functools.cache(usual)


def load_blas_when_wanted() -> None:
    """Keep Numba from loading scipy.linalg with its first kernel, only to learn whether `dot` will work.

    A kernel with `dot` loads it when it is compiled.

    Tried with Numba 0.68.0 and 0.68.1. Without its private name the first kernel takes 0.2 s more. Worse, under a limit
    on address space (`ulimit -v`) the OpenBLAS of scipy asks for its buffers for ever.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    usual = private_part(numba, "np.linalg.ensure_blas", "it loads scipy, which may hang under `ulimit -v`")
    if usual is None or "numba.np.arraymath" in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = usual


keep_signals_out()
load_blas_when_wanted()


def shared(function: F) -> F:
    """Compile a function of arrays and numbers when it is first called; it releases the GIL."""
    function.__qualname__ = _cached_name(function)
    options: dict[str, Any] = {"cache": has_cache(), "nogil": True, "no_cfunc_wrapper": True}
    compiled: F = once_for_constants(numba.njit(function, **options))
    return compiled


def once_for_constants(dispatcher: Any) -> Any:
    """Return the same dispatcher, of which a caller that gives it a constant has no copy compiled for that constant.

    Numba makes one, even for the 0 with which a count begins. What another process compiles ahead
    (`sweep.compiling`) is waited for, and comes from the cache.

    Tried with Numba 0.68.0 and 0.68.1. Without its private name kernels take longer to compile.
    """
    path = "core.dispatcher.Dispatcher.get_call_template"
    if private_part(numba, path, "kernels are compiled anew for each constant") is None:
        return dispatcher
    usual, compile_now = dispatcher.get_call_template, dispatcher.compile

    def compile_in_turn(signature: Any) -> Any:
        with system.turn(dispatcher.py_func.__qualname__):
            return compile_now(signature)

    def template(args: Any, kws: Any) -> Any:
        plain: Any = numba.types.unliteral
        return usual([plain(kind) for kind in args], {name: plain(kind) for name, kind in kws.items()})

    dispatcher.compile, dispatcher.get_call_template = compile_in_turn, template
    return dispatcher


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, which cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


@functools.cache
def compiled(function: F, *helpers: Callable[..., Any]) -> F:
    """A plain function of arrays and numbers, compiled, and those that it calls: each may call the ones before it."""

    def copied(original: Any, options: dict[str, Any], **names: Any) -> Any:
        copy = types.FunctionType(original.__code__, {**original.__globals__, **names})
        copy.__qualname__ = _cached_name(original, *helpers)
        return once_for_constants(numba.njit(copy, **options))

    known: dict[str, Any] = {}
    for helper in helpers:
        known[helper.__name__] = copied(helper, PART, **known)
    complete: F = copied(function, {"cache": has_cache(), "nogil": True}, **known)
    return complete


def _cached_name(*functions: Any) -> str:
    """A name for the first function that no other version of the functions it may call has; it calls the others."""
    files = dict.fromkeys(function.__code__.co_filename for function in functions)
    return f"{functions[0].__name__}-{digest_behind(__file__, *files)}"
