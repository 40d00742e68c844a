"""Solve the published books anew, write what they hold into books/catalog.toml and the small ones into books/.

python scripts/catalog.py                       all but those that take long: 5 minutes on two cores
python scripts/catalog.py --check               compare with what is there instead of writing
python scripts/catalog.py --check tic-tac-toe kalah:3,3
python scripts/catalog.py connect-four --from BOOK      enter one that takes long, already solved
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from solver import Book, diff, load_game, pack, solve
from solver.book import shipped
from solver.rules.game import game_text

BOOKS = Path(__file__).parent.parent / "books"
CATALOG = BOOKS / "catalog.toml"
SMALL = 100_000  # bytes of a book that is shipped, in the smaller codec
GAMES = (
    "tic-tac-toe", "tic-tac-toe:3,3,3,true", "tic-tac-toe:4,3,3", "tic-tac-toe:4,3,4", "tic-tac-toe:4,4,3",
    "connect-four:4,3", "connect-four:4,4", "connect-four:4,5", "connect-four:5,3", "connect-four:5,4",
    "connect-four:5,5", "coins", "nim", "hexapawn", "hexapawn:4,4", "hexapawn:4,5", "breakthrough",
    "breakthrough:3,4,2", "breakthrough:4,4,2", "dots-and-boxes", "dots-and-boxes:3,2", "kalah:3,3", "kalah:4,2",
    "kalah:4,3", "othello", "hex", "fox-and-hounds", "fox-and-hounds:6,1", "mu-torere", "mu-torere:false",
    "three-mens-morris", "three-mens-morris:1", "nine-holes", "achi", "tapatan", "pong-hau-ki", "quixo", "quixo:4",
    "l-game", "hare-and-hounds", "hare-and-hounds:true", "neutreeko", "teeko", "chess-ending:KQK", "chess-ending:KRK",
    "kayles", "dawson", "chomp", "cram", "nogo", "notakto", "wythoff", "euclid", "subtraction", "treblecross", "grundy",
    "fibonacci-nim", "domineering", "col", "snort", "clobber", "konane", "toads-and-frogs", "sim", "amazons", "y",
    "popout", "quarto", "wild-tic-tac-toe", "order-and-chaos",
    "chess-ending:KPK", "chess-ending:KBNK", "pig", "pig:15", "piglet", "backgammon-bearoff", "nannon", "einstein",
    "gobblet-gobblers", "six-mens-morris", "six-mens-morris:6", "dodgem", "nocca-nocca", "mini-shobu",
    "chinese-checkers", "dao", "chung-toi", "tsoro-yematatu", "rota", "chopsticks", "one-dimensional-chess",
    "quoridor", "shut-the-box", "ur", "awari", "chess-duel",
    "picaria", "picaria:9", "bagh-chal", "minichess", "five-field-kono:4,4", "five-field-kono:4,4,true,-1",
    "hypergammon:1", "micro-shogi:1",
)  # fmt: skip

LONG = {  # which take gigabytes and minutes to hours, with their options
    "gobblet-gobblers:3,2": "", "breakthrough:4,6,2": " --memory 14G", "minichess:all": " --memory 12G",
    "bagh-chal:20,5": " --memory 12G", "chinese-checkers:7,3,true": " --memory 14G",
    "five-field-kono:5,5,true,-1": " --memory 16G", "micro-shogi:2": " --memory 16G", "hypergammon": " --memory 12G",
    "ur:5,1": " --memory 6G", "ur:7": " --memory 14G",
}  # fmt: skip
LEFT_OUT = {"micro-shogi:1"}  # small enough to be shipped, but 2 MB are all there is room for
OPENINGS = {"connect-four": 10}  # opening books to that ply, which take hours: they stay as they were entered


def solved(game: str, folder: Path, done: Path | None) -> Book:
    """The book of a game in the codec instant; `done`: one that is solved already."""
    if done is None:
        return solve(game, folder / "instant.lmdb", max_ply=OPENINGS.get(game))
    with Book(done) as book:
        is_so = book.header.codec == "instant"
        made = shutil.copyfile if is_so else functools.partial(pack, codec="instant")
    made(done, folder / "instant.lmdb")
    return Book(folder / "instant.lmdb")


def built(game: str, folder: Path, done: Path | None = None) -> tuple[str, Path | None]:
    """A book's recipe and facts, as TOML, and the smaller of its codecs if that is to be shipped."""
    instant, compact = folder / "instant.lmdb", folder / "compact.lmdb"
    with solved(game, folder, done) as book:
        codecs = {instant: book.header.codec}
        if book.expectation is None and book.size < 100 * SMALL:
            codecs[compact] = pack(instant, compact).codec
        smaller = min(codecs, key=os.path.getsize)
        counts = ", ".join(f"{name} = {count}" for name, count in book.counts.items())
        distance = "" if book.root.distance is None else f", distance = {book.root.distance}"
        options = f" --max-ply {OPENINGS[game]}" if game in OPENINGS else LONG.get(game, "")
        ships = game in OPENINGS or (smaller.stat().st_size < SMALL and game not in LEFT_OUT)
        states = "" if book.states is None else f"states = {book.states}\n"
        entry = (
            f'["{game}"]\n'
            f'recipe = "solver solve {game}{options} -o BOOK"\n'
            f"{states}stored = {book.header.stored}\ncounts = {{ {counts} }}\n"
            f"root = {{ score = {book.root.score}{distance} }}\n"
            f'bytes = {book.size}\ndigest = "{book.digest}"\n' + (f'shipped = "{codecs[smaller]}"\n' if ships else "")
        )
    return entry, smaller if ships else None


def is_shipped(book: Path | None, target: Path) -> bool:
    """Whether the shipped book is this one; another zlib may have made other bytes of the same states."""
    if book is None or not target.exists():
        return book is None and not target.exists()
    with Book(book) as new, Book(target) as old:
        return new.header.codec == old.header.codec and diff(book, target).equal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="those to build; all but those that take long, if left out")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--from", dest="done", type=Path, metavar="BOOK", help="the book of one game, solved already")
    arguments = parser.parse_args()
    if arguments.done is not None and len(arguments.games) != 1:
        parser.error("--from is the book of one game: name it")
    if unlisted := [game for game in arguments.games if game not in (*GAMES, *LONG, *OPENINGS)]:
        parser.error(f"{', '.join(unlisted)}: in none of GAMES, LONG and OPENINGS of this script. Add it there first.")
    known = {entry.partition("\n")[0]: entry for entry in re.split(r"\n(?=\[)", CATALOG.read_text("utf-8"))[1:]}
    changed = []
    for game in arguments.games or GAMES:
        target = shipped.path_of(game_text(load_game(game)))
        with tempfile.TemporaryDirectory() as folder:
            entry, book = built(game, Path(folder), arguments.done)
            same = is_shipped(book, target)
            if not arguments.check and not same:
                target.unlink(missing_ok=True)
                if book is not None:
                    shutil.copyfile(book, target)
        if known.get(f'["{game}"]') != entry or not same:
            changed.append(game)
        known[f'["{game}"]'] = entry
        print(f"{game}: {'as it was' if game not in changed else 'changed'}", flush=True)
    if arguments.check:
        sys.exit(f"not as in {CATALOG.name} and {BOOKS.name}/: {', '.join(changed)}" if changed else 0)
    CATALOG.write_text(
        "# Written by scripts/catalog.py: digests are sha256 over a book's records, in the codec instant.\n"
        "# What is shipped lies here, in the codec in which it is smaller.\n\n"
        + "\n".join(known[f'["{game}"]'] for game in (*GAMES, *LONG, *OPENINGS) if f'["{game}"]' in known)
    )


if __name__ == "__main__":
    main()
