"""Private parts of libraries, which another version may lack."""

from __future__ import annotations

import warnings
from typing import Any


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
