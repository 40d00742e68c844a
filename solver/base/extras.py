"""Which optional parts are installed, and work."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

KERNELS = {"numpy": "NumPy", "numba": "Numba"}  # what they are called
# States, or nodes of a search, that plain Python takes: it is done before a compiler would have started.
PLAIN_LIMIT = 20_000
INSTALL = "pip install 'solverbook[solve]' brings NumPy and Numba"


def has_kernels() -> bool:
    """Whether the extra [solve], numpy and numba, is at hand; imports both, so ask only where they are wanted."""
    return kernel_defect() is None


def remedy() -> str:
    """Return the remedy to name if `has_kernels()` is False."""
    return kernel_defect() or INSTALL


LEARN = "pip install 'solverbook[learn]' brings scikit-learn and cma, which learning needs"


def has_learning() -> bool:
    """Whether the extra [learn], scikit-learn and cma, and [solve] with it, is at hand."""
    return all(importlib.util.find_spec(name) for name in ("sklearn", "cma")) and has_kernels()


def learning_remedy() -> str:
    """Return the remedy to name if `has_learning()` is False."""
    return LEARN if not all(importlib.util.find_spec(name) for name in ("sklearn", "cma")) else remedy()


LIVE = "pip install 'solverbook[live]' brings wasmtime, which a module needs"


def has_live() -> bool:
    """Whether the extra [live], wasmtime, is at hand."""
    return importlib.util.find_spec("wasmtime") is not None


def has_preview() -> bool:
    """Whether the extra [preview], resvg, is at hand: pages then get a picture for links to them."""
    return importlib.util.find_spec("resvg_py") is not None


CLUSTER = "pip install 'solverbook[cluster]' brings ray and fsspec, which a cluster needs"


def has_cluster() -> bool:
    """Whether the extra [cluster], ray and fsspec, and [solve] with it, is at hand."""
    return all(importlib.util.find_spec(name) for name in ("ray", "fsspec")) and has_kernels()


def cluster_remedy() -> str:
    """Return the remedy to name if `has_cluster()` is False."""
    return CLUSTER if not all(importlib.util.find_spec(name) for name in ("ray", "fsspec")) else remedy()


SERVE = "pip install 'solverbook[serve]' brings starlette, uvicorn and httptools"


def has_serving() -> bool:
    """Whether the extra [serve], starlette, uvicorn and httptools, is at hand."""
    return all(importlib.util.find_spec(name) for name in ("starlette", "uvicorn", "httptools"))


@functools.cache
def kernel_defect() -> str | None:
    """Why the extra [solve] cannot be used, in one line; None if it can."""
    again, elsewhere = "install it again", "set NUMBA_CACHE_DIR to a folder that can be written to"
    missing = [shown for name, shown in KERNELS.items() if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} missing: {INSTALL}"
    for name in KERNELS:
        advice = again
        try:
            module: Any = importlib.import_module(name)
            if name == "numba":
                advice = elsewhere
                # Numba looks for its cache folder here
                module.njit(kernel_defect.__wrapped__, cache=True)
        except Exception as error:
            # A broken installation may raise any error
            reason = " ".join(str(error).split())[:200]
            return f"{name} is installed but fails ({type(error).__name__}: {reason}): {advice}"
    if module.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set, so that nothing is compiled: unset it"
    return None
