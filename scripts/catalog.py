"""Solve the published books anew, write what they hold into books/catalog.toml and the small ones into books/.

python scripts/catalog.py             all of them: 5 minutes on two cores
python scripts/catalog.py --check     compare with what is there instead of writing
python scripts/catalog.py --check tic-tac-toe kalah:3,3
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from solver import Book, diff, load_game, pack, shipped, solve
from solver.game import game_text

BOOKS = Path(__file__).parent.parent / "books"
CATALOG = BOOKS / "catalog.toml"
SMALL = 100_000  # bytes of a book that is shipped, in the smaller codec
GAMES = (
    "tic-tac-toe", "tic-tac-toe:3,3,3,true", "tic-tac-toe:4,3,3", "tic-tac-toe:4,3,4", "tic-tac-toe:4,4,3",
    "connect-four:4,3", "connect-four:4,4", "connect-four:4,5", "connect-four:5,3", "connect-four:5,4",
    "connect-four:5,5", "coins", "nim", "hexapawn", "hexapawn:4,4", "hexapawn:4,5", "breakthrough",
    "breakthrough:3,4,2", "breakthrough:4,4,2", "dots-and-boxes", "dots-and-boxes:3,2", "kalah:3,3", "kalah:4,2",
    "kalah:4,3", "othello", "fox-and-hounds", "fox-and-hounds:6,1", "mu-torere", "mu-torere:false", "three-mens-morris",
    "three-mens-morris:1", "nine-holes", "achi", "tapatan", "pong-hau-ki", "quixo", "quixo:4", "l-game",
    "hare-and-hounds", "hare-and-hounds:true", "neutreeko", "teeko", "chess-ending:KQK", "chess-ending:KRK",
    "chess-ending:KPK", "chess-ending:KBNK",
)  # fmt: skip


def built(game: str, folder: Path) -> tuple[str, Path | None]:
    """A book's recipe and facts, as TOML, and the smaller of its codecs if that is to be shipped."""
    instant, compact = folder / "instant.lmdb", folder / "compact.lmdb"
    with solve(game, instant) as book:
        pack(instant, compact)
        smaller = min(instant, compact, key=os.path.getsize)
        counts = ", ".join(f"{name} = {count}" for name, count in book.counts.items())
        distance = "" if book.root.distance is None else f", distance = {book.root.distance}"
        ships = smaller.stat().st_size < SMALL
        entry = (
            f'["{game}"]\n'
            f'recipe = "solver solve {game} -o BOOK"\n'
            f"states = {book.states}\nstored = {book.stored}\ncounts = {{ {counts} }}\n"
            f"root = {{ score = {book.root.score}{distance} }}\n"
            f'bytes = {book.size}\ndigest = "{book.digest}"\n' + (f'shipped = "{smaller.stem}"\n' if ships else "")
        )
    return entry, smaller if ships else None


def is_shipped(book: Path | None, target: Path) -> bool:
    """Whether what is shipped is this; another zlib may have made other bytes of the same states."""
    if book is None or not target.exists():
        return book is None and not target.exists()
    with Book(book) as new, Book(target) as old:
        return new.codec == old.codec and diff(book, target).equal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="those to compare; all, if left out")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    if arguments.games and not arguments.check:
        parser.error("the catalogue is written as a whole: name games with --check")
    known = CATALOG.read_text() if CATALOG.exists() else ""
    entries, changed = [], []
    for game in arguments.games or GAMES:
        target = shipped.path_of(game_text(load_game(game)))
        with tempfile.TemporaryDirectory() as folder:
            entry, book = built(game, Path(folder))
            same = is_shipped(book, target)
            if not arguments.check and not same:
                target.unlink(missing_ok=True)
                if book is not None:
                    shutil.copyfile(book, target)
        entries.append(entry)
        if entry not in known or not same:
            changed.append(game)
        print(f"{game}: {'as it was' if game not in changed else 'changed'}", flush=True)
    if arguments.check:
        sys.exit(f"not as in {CATALOG.name} and {BOOKS.name}/: {', '.join(changed)}" if changed else 0)
    CATALOG.write_text(
        "# Written by scripts/catalog.py: digests are sha256 over a book's records, in the codec instant. What\n"
        "# is shipped lies here, in the codec in which it is smaller.\n\n" + "\n".join(entries)
    )


if __name__ == "__main__":
    main()
