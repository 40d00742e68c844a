"""Under which name the kernels of a game are cached, told without loading the compiler."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, own_method
from solver.rules.protocol import HINTS, NUMBERS
from solver.rules.sources import digest_behind

HOME = Path(__file__).parent
ALSO = (*NUMBERS, *HINTS)
ASKED = (
    *("again", "reward", "replies", "outlook", "followup", "bounds"),
    *("longest", "evaluate", "features", "endless", "vanishing"),
)


def constants_of(rules: Rules, outcomes: bool = False, tiers: bool = True) -> dict[str, bool]:
    """Return the constants that kernels get from the rules: see `binding.bind`."""
    return {
        "SCORES": rules.scores or outcomes,
        "ALTERNATES": rules.alternates,
        "FOLDS": rules.folds,
        "TIERS": tiers and rules.tiered,
        "TIERED": rules.tiered,
        "PROMISES": rules.promise is not None,
        **{name.upper(): own_method(rules.game, name) is not None for name in ASKED},
    }


def is_checked(cls: type) -> bool:
    """Tell whether rules are compiled with tests for differences from Python: all but the package's own are."""
    return CHECKS_ALL or not cls.__module__.startswith("solver.games.")


CHECKS_ALL = False  # tests check the package's own rules, too


def identity_of(rules: Rules, constants: dict[str, Any], module: str) -> str:
    """Return 24 hex digits that identify compiled code.

    They depend on the rules and on all sources that are compiled with them: the imports of the kernels' file, and the
    compiler's own. They also depend on where the files of the rules and their base classes lie: moved rules must not
    load old code.
    """
    home = [cls.__module__ for cls in type(rules.game).__mro__]
    sources = digest_behind(str(HOME / "binding.py"), module)
    code = f"{fingerprint(rules.game, ALSO)} {home} {constants} {is_checked(type(rules.game))} {sources}"
    return hashlib.sha256(code.encode()).hexdigest()[:24]


def are_cached(rules: Rules, tiers: bool) -> bool:
    """Whether the sweep's kernels were compiled before, as far as Numba's usual places for its cache tell."""
    identity = identity_of(rules, constants_of(rules, tiers=tiers), str(HOME / "edges.py"))
    name = f"edges.edges-{identity}-*.nbi"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    places = Path(elsewhere).glob(f"*/{name}") if elsewhere else (HOME / "__pycache__").glob(name)
    return any(True for _ in places)
