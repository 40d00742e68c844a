"""Under which name the kernels of a game are cached, told without loading the compiler."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

from solver import expected, value
from solver.fingerprint import HINTS, fingerprint
from solver.game import Rules, own_method

HOME = Path(__file__).parent
ALSO = (*HINTS, "rank", "unrank", "evaluate", "features")
ASKED = ("again", "reward", "replies", "outlook", "followup", "bounds", "longest", "evaluate", "features")


def constants_of(rules: Rules, outcomes: bool = False, tiers: bool = True) -> dict[str, bool]:
    """What kernels are told of the rules: see `compiled.bind`."""
    return {
        "SCORES": rules.scores or outcomes,
        "ALTERNATES": rules.alternates,
        "FOLDS": rules.folds,
        "TIERS": tiers and rules.tiered,
        "PROMISES": rules.promise is not None,
        **{name.upper(): own_method(rules.game, name) is not None for name in ASKED},
    }


def identity_of(rules: Rules, constants: dict[str, Any]) -> str:
    """24 hex digits: of the rules, of the room and of where the rules lie, since moved ones must not load old files."""
    home = type(rules.game).__module__
    code = f"{fingerprint(rules.game, ALSO)} {home} {constants} {_room_digest()}"
    return hashlib.sha256(code.encode()).hexdigest()[:24]


def are_cached(rules: Rules, tiers: bool) -> bool:
    """Whether the sweep's kernels were compiled before, as far as Numba's usual places for its cache tell."""
    name = f"edges.edges-{identity_of(rules, constants_of(rules, tiers=tiers))}-*.nbi"
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    places = Path(elsewhere).glob(f"*/{name}") if elsewhere else (HOME / "__pycache__").glob(name)
    return any(True for _ in places)


@functools.cache
def _room_digest() -> str:
    """Of all sources that are compiled together with the rules: a changed kernel must not call an old one."""
    others = HOME.with_name("store") / "prefetch.py", Path(value.__file__), Path(expected.__file__)
    sources = [*HOME.glob("*.py"), *others]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()
