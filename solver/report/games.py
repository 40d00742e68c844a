"""The games that come with the package."""

from __future__ import annotations

from typing import Any

from solver.base.expectations import kind_of
from solver.games import class_of
from solver.rules.game import is_score_game, own_method

FILES = {"tree": {"file": "FILE.json"}, "graph": {"source": "FILE.csv, openspiel:GAME"}}  # what follows their names
FEATURES = {
    "canonical": "symmetry",
    "tier": "tiers",
    "chance": "dice or cards",
    "to_move": "moves again",
    "again": "moves again",
    "reward": "moves that score",
    "evaluate": "heuristic",
    "promise": "move ordering",
}


def facts(name: str) -> dict[str, Any]:
    """The facts of a game: its parameters with their defaults, and what it supports."""
    cls = class_of(name)
    own_text = own_method(cls, "from_text")
    return {
        "name": name,
        "about": (cls.__doc__ or "").strip().splitlines()[0],
        "parameters": FILES.get(name, {}) if own_text else dict(cls._field_defaults),
        "score_game": is_score_game(cls),
        "supports": supports(cls),
    }


def supports(cls: Any) -> list[str]:
    """What a game's class supports."""
    return [feature for method, feature in FEATURES.items() if own_method(cls, method)]


def about(game: dict[str, Any]) -> str:
    """What a list says of a game after its name."""
    parameters = ", ".join(f"{name}={_text(default)}" for name, default in game["parameters"].items())
    first = f"  {parameters}" if parameters else ""
    return f"{first}\n    {game['about']}\n    {_values(game)}; {', '.join(game['supports'])}"


def _values(game: dict[str, Any]) -> str:
    return kind_of(game["score_game"], False, FEATURES["chance"] in game["supports"]).about


def _text(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default).lower()
