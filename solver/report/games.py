"""The games that come with the package."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

from solver.games import class_of
from solver.rules.game import is_score_game, kind_of, own_method

FILES = {  # what follows their names
    "tree": {"file": "FILE.json"},
    "graph": {"source": "FILE.csv, FILE.kif, openspiel:GAME"},
}
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
GROUPS = {  # what GROUP names in the file of a game, in the order of lists
    "alignment": "make a line or a pattern, or be the one who does not",
    "connection": "join the edges",
    "blocking": "who cannot move loses",
    "capture": "take what the other has",
    "race": "be there first",
    "hunt": "many against one",
    "scoring": "have more boxes, seeds or discs",
    "impartial": "both have the same moves",
    "dice": "chance decides as well",
    "endings": "the last pieces of a large game",
    "files": "a game in a file of yours",
}
WIDTH = 100  # of rules that are told


def facts(name: str) -> dict[str, Any]:
    """Return the facts of a game: its parameters with their defaults, and the features it supports."""
    cls = class_of(name)
    own_text = own_method(cls, "from_text")
    return {
        "name": name,
        "group": sys.modules[cls.__module__].GROUP,
        "about": (cls.__doc__ or "").strip().splitlines()[0],
        "rules": rules_of(cls),
        "parameters": FILES.get(name, {}) if own_text else dict(cls._field_defaults),
        "score_game": is_score_game(cls),
        "supports": supports(cls),
    }


def rules_of(cls: Any) -> str:
    """Return the rules of a game in paragraphs: its file's docstring, up to the description of states."""
    text = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    return re.split(r"(?:^|\n\n|(?<=[.:)])\s)A state\b", text)[0].strip()


def supports(cls: Any) -> list[str]:
    """Return the features that a game's class supports."""
    return [feature for method, feature in FEATURES.items() if own_method(cls, method)]


def grouped(games: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The facts of games by their groups, in the order of those."""
    listed = list(games)
    games_by_group = {group: [game for game in listed if game["group"] == group] for group in GROUPS}
    return {group: members for group, members in games_by_group.items() if members}


def about(game: dict[str, Any]) -> str:
    """Return the rest of a game's line in a list, after its name."""
    return f"{_parameters(game)}\n    {game['about']}\n    {_closing(game)}"


def told(game: dict[str, Any]) -> str:
    """Return the rules of one game, to print after its name."""
    paragraphs = [
        paragraph if paragraph.startswith(" ") else textwrap.fill(paragraph, WIDTH)
        for paragraph in game["rules"].split("\n\n")
    ]
    return "\n\n".join([f"{_parameters(game)}  ({game['group']})\n    {game['about']}", *paragraphs, _closing(game)])


def _closing(game: dict[str, Any]) -> str:
    values = kind_of(game["score_game"], FEATURES["chance"] in game["supports"]).about
    return f"{values}; {', '.join(game['supports'])}"


def _parameters(game: dict[str, Any]) -> str:
    texts = [
        f"{name}={','.join(map(str, default)) if isinstance(default, tuple) else str(default).lower()}"
        for name, default in game["parameters"].items()
    ]
    return f"  {', '.join(texts)}" if texts else ""
