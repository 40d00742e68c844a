"""Solve the published books anew and write what they hold into books/catalog.toml, or compare with it.

python scripts/catalog.py [--check] [GAME ...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from solver import load_game, solve

CATALOG = Path(__file__).parent.parent / "books" / "catalog.toml"
GAMES = ("tic-tac-toe", "connect-four:4,4", "connect-four:5,4", "connect-four:5,5", "kalah:3,3", "mu-torere")


def entry(game: str, folder: str) -> str:
    """One book's recipe and facts, as TOML."""
    summary = solve(load_game(game), Path(folder) / "book.lmdb")
    header, path = summary.header, summary.path
    assert path is not None
    counts = ", ".join(f"{name} = {count}" for name, count in header.counts.items())
    distance = "" if header.root.distance is None else f", distance = {header.root.distance}"
    return (
        f'["{game}"]\n'
        f'recipe = "solver solve {game} -o BOOK"\n'
        f"states = {header.states}\nstored = {header.stored}\ncounts = {{ {counts} }}\n"
        f"root = {{ score = {header.root.score}{distance} }}\n"
        f'bytes = {path.stat().st_size}\ndigest = "{header.digest}"\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        entries = [entry(game, folder) for game in arguments.games]
    if not arguments.check:
        head = "# Written by scripts/catalog.py: digests are sha256 over a book's records.\n\n"
        CATALOG.write_text(head + "\n".join(entries))
        return
    known = CATALOG.read_text()
    changed = [game for game, facts in zip(arguments.games, entries, strict=True) if facts not in known]
    sys.exit(f"not as in {CATALOG.name}: {', '.join(changed)}" if changed else 0)


if __name__ == "__main__":
    main()
