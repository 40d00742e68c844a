"""Rules, one game a file, and nothing else: `connect-four` is the class `ConnectFour` in connect_four.py.

Code that games share lies in `common`, which is not a game.
"""

import importlib
import pkgutil
from typing import Any

CATALOGUE = tuple(sorted(file.name.replace("_", "-") for file in pkgutil.iter_modules(__path__) if not file.ispkg))
FROM_FILES = frozenset({"tree", "graph"})  # games whose text names a file, which is opened
DESCRIPTIONS = (".kif", ".gdl")  # how the names of games in the game description language end
GRAPHS = (".csv", ".tsv", ".tab", *DESCRIPTIONS)  # and of all that is a graph
TREES = (".json", ".json,min", ".json,max")  # and of trees, with the player at the root
OPENSPIEL = "openspiel:"


def class_of(name: str) -> Any:
    """The class of a game of the catalogue, whose file alone is imported."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return getattr(module, name.title().replace("-", ""))


def opened_by(text: str) -> str:
    """The game that a file or a name of OpenSpiel is: `graph:moves.csv`, `tree:exercise.json`. Others as they are."""
    if text.partition(":")[0] in FROM_FILES:
        return text
    if text.lower().endswith(GRAPHS) or text.startswith(OPENSPIEL):
        return f"graph:{text}"
    return f"tree:{text}" if text.lower().endswith(TREES) else text
