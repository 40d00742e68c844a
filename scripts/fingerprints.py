"""Write solver/games/fingerprints.jsonl: the texts from which fingerprints of the package's games are made.

python scripts/fingerprints.py     part of `make tables`

Each line holds a class, the sha256 of every file that its module imports, and the texts that `rules.walk` finds. With
these files unchanged, `rules.fingerprint` takes the texts from here. Games that files describe have no line: what they
import is not of the folder of the games.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from solver.games import CATALOGUE, FROM_FILES, class_of  # noqa: E402
from solver.rules import walk  # noqa: E402
from solver.rules.fingerprint import TABLE  # noqa: E402
from solver.rules.sources import files_behind  # noqa: E402

HOME = ROOT / "solver" / "games"


def line(name: str) -> str:
    """Return the line of a game of the catalogue."""
    cls = class_of(name)
    paths = map(Path, sorted(files_behind(str(HOME / f"{name.replace('-', '_')}.py"))))
    # As text, so that the line ends of a checkout do not matter
    files = {
        path.relative_to(HOME).as_posix(): hashlib.sha256(path.read_text("utf-8").encode()).hexdigest()
        for path in paths
    }
    texts = walk.told(cls, ())[1]
    return json.dumps({"class": f"{cls.__module__}.{cls.__name__}", "files": files, "texts": texts}) + "\n"


def lines() -> Iterator[str]:
    """Yield the line of each game."""
    return (line(name) for name in CATALOGUE if name not in FROM_FILES)


if __name__ == "__main__":
    (HOME / TABLE).write_text("".join(lines()), "utf-8", newline="\n")
