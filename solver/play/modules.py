"""The modules of games: their compiled searches, where Numba is not.

Those that come with the package lie beside the shipped books, one for each built-in game with its usual parameters. Any
other is asked where a user names it, and never else.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import zlib
from typing import Any

from solver.base import extras
from solver.base.errors import BookError, MethodError
from solver.base.files import read_input
from solver.book import shipped
from solver.rules.game import Rules, is_built_in
from solver.wasm.binary import MAX_MODULE_BYTES, facts_of
from solver.wasm.host import Module, check_facts


def path_of(name: str) -> Any:
    """Where the module of a game of this name lies, if it is shipped: a path, or a part of an archive."""
    return shipped.folder() / "modules" / shipped.file_name(name, ".wasm.gz")


def data_of(rules: Rules) -> bytes | None:
    """The bytes of the module of a game; None if none is shipped, or it is of other rules."""
    path = path_of(rules.name)
    if not is_built_in(rules.name) or not path.is_file():
        return None
    try:
        data = gzip.decompress(path.read_bytes())
        check_facts(facts_of(data), rules)
    except (OSError, EOFError, zlib.error):  # BookError, too
        return None
    return data


def given(source: str | os.PathLike[str] | bytes, rules: Rules) -> bytes:
    """Return the bytes of a game's module that a user names or passes, after a trial start.

    Raises:
        BookError: It is not a module.
        ForeignBook: It has other rules.
        MethodError: wasmtime is missing.
    """
    if not extras.has("wasmtime"):
        raise MethodError(extras.LIVE)
    try:
        data = source if isinstance(source, bytes) else read_input(source, MAX_MODULE_BYTES)
    except OSError as error:
        reason = error.strerror or error
        raise BookError(f"{source!s} cannot be read ({reason}): name a file that `solver build` wrote") from None
    Module(data, rules)
    return data


def find(rules: Rules) -> Module | None:
    """The module of a game, to be asked; None without one, or where wasmtime is not installed."""
    if not extras.has("wasmtime"):
        return None
    data = data_of(rules)
    with contextlib.suppress(BookError):
        return None if data is None else Module(data, rules, is_ours=True)
    return None


def is_at_hand(rules: Rules) -> bool:
    """Whether `find` is likely to find one, told without loading anything.

    Nobody who has loaded the compiler wants it: compiled searches are quicker, but not to load.
    """
    is_wanted = "numba" not in sys.modules and is_built_in(rules.name) and path_of(rules.name).is_file()
    return is_wanted and extras.has("wasmtime")
