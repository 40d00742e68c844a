"""A game as a WebAssembly module, written to a file."""

from __future__ import annotations

import os

from solver.base import extras
from solver.base.files import write_whole
from solver.base.progress import Progress, silent
from solver.book.writer import check_target
from solver.check.conformance import check_game
from solver.play import modules
from solver.rules.game import Rules, is_built_in

MARK = rb"\x06solver\{"  # the begin of the section that says what a module is


def write(rules: Rules, path: str | os.PathLike[str], ranks: bool = False, *, progress: Progress = silent) -> int:
    """Build the module of a game into a file, and return its size in bytes.

    Raises as `built`, and BookError or ResourceError if the file cannot be written.
    """
    target = check_target(path, MARK)
    data = built(rules, ranks, progress=progress)
    write_whole(target, data)
    return len(data)


def built(rules: Rules, ranks: bool = False, *, progress: Progress = silent) -> bytes:
    """The module of a game, whose rules are checked as before a solve. `ranks`: with those of ranked books.

    Raises MethodError for a game that has none, and without Numba; GameError for rules that break the protocol,
    UncompiledRules.
    """
    extras.require_kernels(f"{rules.name} needs a module, and Numba compiles it: ")
    from solver.compiled import agreement
    from solver.compiled.module.building import build

    if not is_built_in(rules.name) and not rules.plain_only:
        progress("check", 0, 0)
        agreement.compare(rules.game, check_game(rules.game), symmetry=rules.symmetry)
    return build(rules, ranks, progress=progress)


def at_hand(rules: Rules, ranks: bool, purpose: str, progress: Progress) -> bytes:
    """The module of a game that comes with the package, else one that is built. Raises the errors of `built`."""
    shipped = None if ranks else modules.data_of(rules)
    if shipped is not None:
        return shipped
    progress(f"building the {purpose}", 0, 0)
    return built(rules, ranks, progress=progress)
