"""The modules of built-in games that come with the package: their compiled searches, where Numba is not.

They lie beside the shipped books, one for each game with its usual parameters.
"""

from __future__ import annotations

import gzip
import importlib.util
import sys
import zlib
from pathlib import Path

from solver.book import shipped
from solver.rules.game import Rules, is_built_in
from solver.wasm.host import Module

FOLDER = shipped.FOLDER / "modules"


def path_of(name: str) -> Path:
    """Where the module of a game of this name lies, if it is shipped."""
    return FOLDER / f"{shipped.path_of(name).stem}.wasm.gz"


def find(rules: Rules) -> Module | None:
    """The module of a game; None if none is shipped, it is of other rules, or wasmtime is not installed."""
    path = path_of(rules.name)
    if not is_built_in(rules.name) or not path.is_file() or importlib.util.find_spec("wasmtime") is None:
        return None
    try:
        return Module(gzip.decompress(path.read_bytes()), rules)
    except (OSError, EOFError, zlib.error):  # BookError, too
        return None


def at_once(rules: Rules) -> Module | None:
    """The same for whoever has not loaded the compiler, whose searches are quicker, but not to load."""
    return None if "numba" in sys.modules else find(rules)
