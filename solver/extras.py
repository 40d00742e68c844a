"""Which optional parts are installed."""

from __future__ import annotations

import importlib.util


def has_kernels() -> bool:
    """Whether the extra [solve], numpy and numba, is at hand."""
    return all(importlib.util.find_spec(name) is not None for name in ("numpy", "numba"))
