"""Which optional parts are installed, and work; private parts of libraries; and the memory that work may take."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

from solver.base import system
from solver.base.errors import MethodError, ResourceError, SolverError

KERNELS = {"numpy": "NumPy", "numba": "Numba"}  # what they are called
# States, or nodes of a search, that plain Python takes: it is done before a compiler would have started.
PLAIN_LIMIT = 20_000
INSTALL = "pip install 'solverbook[solve]' brings NumPy and Numba"
PROCESS = 384 << 20  # bytes that work takes besides what is bounded: compiled code, pieces under way, the book
THREAD = 16 << 20  # bytes of addresses of a thread: its stack, and what libraries set aside for it
LEAST_MEMORY = 2 * PROCESS
MEMORY_SHARE = 0.6  # of what is free, where no budget is given


def has(*modules: str) -> bool:
    """Whether these modules are installed: those of an extra, of which nothing is imported."""
    return all(map(importlib.util.find_spec, modules))


def has_kernels() -> bool:
    """Whether the extra [solve], numpy and numba, is at hand; imports both, so ask only where they are wanted."""
    return kernel_defect() is None


def remedy() -> str:
    """Return the remedy to name if `has_kernels()` is False."""
    return str(kernel_defect() or INSTALL)


def require_kernels(purpose: str = "") -> None:
    """Raise the error that keeps the extra [solve] from use, if there is one: ResourceError where memory is short.

    `purpose` begins its message.
    """
    defect = kernel_defect()
    if defect is not None:
        raise type(defect)(f"{purpose}{defect}")


LIVE = "pip install 'solverbook[live]' brings wasmtime, which a module needs"
SERVE = "pip install 'solverbook[serve]' brings starlette, uvicorn and httptools"
LEARN = "pip install 'solverbook[learn]' brings scikit-learn and cma, which learning needs"


def require_learning() -> None:
    """Load the extra [learn], scikit-learn and cma, and [solve] with it.

    Raises MethodError where they are not installed, ResourceError where memory is short.
    """
    if not has("sklearn", "cma"):
        raise MethodError(LEARN)
    require_kernels()
    if "sklearn.neural_network" not in sys.modules:
        refuse_tight("scikit-learn and SciPy")
        importlib.import_module("sklearn.neural_network")


def cluster_defect() -> str | None:
    """Why a cluster cannot be used, which takes the extra [cluster], ray and fsspec, and [solve]. None if it can."""
    if not system.CAN_FORK:
        return "--cluster runs on Linux and macOS: on Windows use WSL"
    if not has("ray", "fsspec"):
        return "--cluster: pip install 'solverbook[cluster]' brings ray and fsspec, which a cluster needs"
    return None if has_kernels() else f"--cluster: {remedy()}"


@functools.cache
def kernel_defect() -> SolverError | None:
    """Why the extra [solve] cannot be used, in one line; None if it can."""
    missing = [shown for name, shown in KERNELS.items() if importlib.util.find_spec(name) is None]
    if missing:
        return MethodError(f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} missing: {INSTALL}")
    try:
        if "numba" not in sys.modules:
            refuse_tight("NumPy and Numba")
        for name in KERNELS:
            module: Any = importlib.import_module(name)
    except ResourceError as error:
        return error
    except Exception as error:
        # A broken installation may raise any error
        reason = " ".join(str(error).split())[:200]
        return MethodError(f"{name} is installed but fails ({type(error).__name__}: {reason}): install it again")
    if module.config.DISABLE_JIT:
        return MethodError("NUMBA_DISABLE_JIT is set, so that nothing is compiled: unset it")
    return None


@functools.cache
def has_cache() -> bool:
    """Whether Numba can keep compiled code in a folder; elsewhere each process compiles anew."""
    numba: Any = importlib.import_module("numba")
    try:
        # Numba looks for its folder here
        numba.njit(has_cache.__wrapped__, cache=True)
    except RuntimeError:
        return False
    return True


def working_memory(memory: int | None) -> int:
    """The bytes that the work itself may take of `memory`, or of the free memory. Raises ResourceError if too few."""
    if memory is not None and memory < LEAST_MEMORY:
        raise ResourceError(f"{memory:,} bytes of memory are too few: give at least --memory {LEAST_MEMORY >> 20}M")
    return (memory or free_memory()) - PROCESS


def refuse_tight(libraries: str) -> None:
    """Raise ResourceError if a process's bytes of addresses cannot be had (`ulimit -v`), before libraries are loaded.

    With fewer they fail in ways that look like a broken installation, LLVM aborts, and OpenBLAS, which is a part of
    NumPy and SciPy, asks for its buffers for ever.
    """
    size = PROCESS + THREAD * system.cores()
    try:
        system.Room(size)
    except OSError:
        raise ResourceError(f"{libraries} need {size:,} bytes of addresses: raise the limit (ulimit -v)") from None


def free_memory(root: Path = Path("/")) -> int:
    """MEMORY_SHARE of the memory that this process may still take; a guess where the system does not say."""
    return max(LEAST_MEMORY, int(MEMORY_SHARE * system.available_memory(root)))


def private_part(library: Any, path: str, without: str) -> Any:
    """Return a private part of a library by its path in it, such as "core.serialize._numba_unpickle".

    Returns None if this version lacks it, and warns: `without` names the consequence.
    """
    module = library
    for name in path.split("."):
        module = getattr(module, name, None)
    if module is None:
        text = f"{library.__name__} {library.__version__} lacks {path}: {without}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return module
