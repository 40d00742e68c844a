"""Solve small games here and by another Python, of another system or processor, and compare the books byte for byte.

python scripts/same_books.py scripts/windows.sh         twenty games by Python for Windows (make windows)
python scripts/same_books.py scripts/arm.sh --first 10  the first ten of them by Python for ARM (make arm)

The games have every method, kind of value and codec between them. A book that differs is a fault: exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
GAMES = (
    "tic-tac-toe",  # minimax: wins, losses and draws
    "connect-four:4,4 --codec compact",
    "quixo:3",  # retrograde: cycles
    "pig:20",  # value iteration: chance and cycles
    "nim --method nimbers",
    "kalah:3",  # margins
    "connect-four:4,4 --codec ranked",
    "shut-the-box",  # expectiminimax: chance without cycles
    "connect-four:5,4 --method alphabeta --max-ply 6",  # an opening book
    "othello:4,4 --codec compact",
    "awari",  # margins in a game with cycles
    "hexapawn:4,4",
    "connect-four:5,4",
    "dots-and-boxes:2,2 --codec compact",
    "ur",
    "three-mens-morris",
    "cram --method nimbers --codec compact",
    "connect-four:4,4 --no-symmetry --workers 1",
    "chess-ending:KQK",
    "hypergammon:1",
)


def solved(python: list[str], words: str, book: Path, seen: str) -> tuple[str, float]:
    """Return the sha256 of a game's book, and the seconds of the whole process; `seen` is the book's path there."""
    began = time.monotonic()
    command = [*python, "-m", "solver", "solve", *words.split(), "--quiet", "-o", seen]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return hashlib.sha256(book.read_bytes()).hexdigest(), time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the other Python")
    parser.add_argument("--first", type=int, default=len(GAMES), metavar="N", help="only the first N games")
    given = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "here.lmdb"), Path(folder, "there.lmdb")
        seen = f"Z:{there}".replace("/", "\\") if "windows" in given.python else str(there)  # Wine's drive of all files
        for words in GAMES[: given.first]:
            one, quick = solved([sys.executable], words, here, str(here))
            other, slow = solved([given.python], words, there, seen)
            differ += one != other
            verdict = "same" if one == other else "OTHER"
            print(f"{verdict}  {one[:16]}  {quick:6.1f} s  {slow:6.1f} s  {words}", flush=True)
            if one != other:
                print(f"       here  {one}\n       there {other}")
            for book in (here, there):
                book.unlink(missing_ok=True)
    print(f"{differ} of {len(GAMES[: given.first])} books differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
