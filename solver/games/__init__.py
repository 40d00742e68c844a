"""Rules, one game a file, and nothing else: `connect-four` is the class `ConnectFour` in connect_four.py.

What games share lies in `common`, which is no game.
"""

import importlib
import os
from typing import Any

_FILES = sorted(file.removesuffix(".py") for file in os.listdir(os.path.dirname(__file__)) if file.endswith(".py"))
CATALOGUE = tuple(file.replace("_", "-") for file in _FILES if file != "__init__")
FROM_FILES = frozenset({"tree", "graph"})  # games whose text names a file, which is opened
DESCRIPTIONS = (".kif", ".gdl")  # how the names of games in the game description language end
DOORS = (".csv", ".tsv", ".tab", *DESCRIPTIONS)  # and of all that is a graph
OPENSPIEL = "openspiel:"


def class_of(name: str) -> Any:
    """The class of a game of the catalogue, whose file alone is imported."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return getattr(module, name.title().replace("-", ""))


def opened_by(text: str) -> str:
    """The graph that a table, a description or a game of OpenSpiel is: `graph:moves.csv` of `moves.csv`. Others as they
    are."""
    is_file = text.lower().endswith(DOORS) and text.partition(":")[0] not in FROM_FILES
    return f"graph:{text}" if is_file or text.startswith(OPENSPIEL) else text
