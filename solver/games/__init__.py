"""Rules, one game a file, and nothing else: `connect-four` is the class `ConnectFour` in connect_four.py.

What games share lies in `common`, which is no game.
"""

import importlib
import os
from typing import Any

_FILES = sorted(file.removesuffix(".py") for file in os.listdir(os.path.dirname(__file__)) if file.endswith(".py"))
CATALOGUE = tuple(file.replace("_", "-") for file in _FILES if file != "__init__")
FROM_FILES = frozenset({"tree"})  # games whose text names a file, which is opened


def class_of(name: str) -> Any:
    """The class of a game of the catalogue, whose file alone is imported."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return getattr(module, name.title().replace("-", ""))
