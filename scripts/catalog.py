"""Solve the published books anew and write what they hold into books/catalog.toml, or compare with it.

python scripts/catalog.py [--check] [GAME ...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from solver import solve

CATALOG = Path(__file__).parent.parent / "books" / "catalog.toml"
GAMES = ("tic-tac-toe", "connect-four:4,4", "connect-four:5,4", "connect-four:5,5", "kalah:3,3", "mu-torere")


def entry(game: str, folder: str) -> str:
    """One book's recipe and facts, as TOML."""
    with solve(game, Path(folder) / "book.lmdb") as book:
        counts = ", ".join(f"{name} = {count}" for name, count in book.counts.items())
        distance = "" if book.root.distance is None else f", distance = {book.root.distance}"
        return (
            f'["{game}"]\n'
            f'recipe = "solver solve {game} -o BOOK"\n'
            f"states = {book.states}\nstored = {book.stored}\ncounts = {{ {counts} }}\n"
            f"root = {{ score = {book.root.score}{distance} }}\n"
            f'bytes = {book.size}\ndigest = "{book.digest}"\n'
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
