"""Solve the large games once each and compare them with published counts: a table of docs/reference/benchmarks.md.

python scripts/bench_large.py [--memory 12G] [--folder FOLDER] [GAME[/no-symmetry] ...]

Takes about 25 minutes and 40 GB of disk on two cores. Of games that are named the rows are written anew, the others
stay: for those whose kernels were compiled in the first run. A count that is not the published one ends it with exit 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import benchmark


class Published(NamedTuple):
    """The published figures of a game: states, wins, draws and losses if published, the start's score, plies."""

    states: int | None
    counts: tuple[int, int, int] | None
    root: tuple[int, int | None]
    longest: int | None = None


# sources as in tests/oracles.py; animal shogi: Tanaka, IPSJ SIG-GI 22, 2009; teeko: Steele, 1998; gobblet gobblers:
# possiblywrong.wordpress.com, June 2024
GAMES = {
    "connect-four:5,5": Published(None, None, (0, None), 23),
    "connect-four:6,4": Published(None, None, (-1, 24)),
    "connect-four:6,4/no-symmetry": Published(94_910_577, (38_913_621, 18_361_279, 37_635_677), (-1, 24)),
    "connect-four:5,6": Published(None, None, (0, None)),
    "connect-four:5,6/no-symmetry": Published(1_044_334_437, None, (0, None)),
    "connect-four:6,5": Published(None, None, (0, None)),
    "connect-four:6,5/no-symmetry": Published(2_818_972_642, None, (0, None)),
    "quixo:4": Published(None, None, (1, 21)),
    "quixo:4,true/no-symmetry": Published(43_046_721, (26_434_489, 1_608_496, 15_003_736), (1, 21)),
    "chess-ending:KBNK": Published(None, None, (1, None), 65),
    "neutreeko/no-symmetry": Published(6_935_248, (4_945_760, 209_296, 1_780_192), (0, None), 51),
    "teeko": Published(None, None, (0, None)),
    "teeko:true": Published(None, None, (1, None)),
    "gobblet-gobblers:3,2": Published(341_024_631, None, (1, None)),
    "animal-shogi": Published(246_803_167, (196_773_087, 2_682_700, 47_347_380), (-1, 78), 173),
    "animal-shogi:true": Published(213_993_386, None, (-1, 78), 173),
}


def measure(name: str, memory: str, folder: str) -> dict[str, Any]:
    """One solve; raises SystemExit where it is not what was published."""
    game, _, option = name.partition("/")
    book = Path(folder) / "book.lmdb"
    command = [sys.executable, "-m", "solver", "solve", game, "-o", str(book), "--memory", memory, "--json", "-q"]
    done = benchmark.run([*command, *(["--no-symmetry"] if option else [])])
    info = json.loads(done.output)
    book.unlink()
    known = GAMES[name]
    counts = tuple(info["counts"][outcome] for outcome in ("win", "draw", "loss"))
    found = Published(info["states"], counts, (info["root"]["score"], info["root"]["distance"]))
    if (
        known.states not in (None, found.states)
        or known.counts not in (None, counts)
        or known.root[0] != found.root[0]
        or known.root[1] not in (None, found.root[1])
        or known.longest not in (None, info["longest"]["distance"])
    ):
        raise SystemExit(f"{name}: {found}, {info['longest']}; published: {known}")
    return {
        "game": game,
        "symmetry": not option,
        "states": info["states"],
        "stored": info["stored"],
        "counts": info["counts"],
        "root": info["root"],
        "longest": info["longest"],
        "seconds": round(done.wall, 1),
        "peak_mib": round(done.peak),
        "bytes": info["bytes"],
    }


def name_of(result: dict[str, Any]) -> str:
    """The row of a result, as it is named on the command line."""
    return str(result["game"]) + ("" if result["symmetry"] else "/no-symmetry")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME")
    parser.add_argument("--memory", default="12G")
    parser.add_argument("--folder", help="where the work folder and the books go, for a while")
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name in arguments.games:
            found[name] = measure(name, arguments.memory, folder)
            print(found[name], file=sys.stderr, flush=True)
    results = list(({name_of(one): one for one in benchmark.results("large")} | found).values())
    rows = [
        [
            f"`{one['game']}`" + ("" if one["symmetry"] else " `--no-symmetry`"),
            f"{one['states']:,}",
            f"{one['seconds']:.1f}",
            f"{one['seconds'] / one['states'] * 1e9:.0f}",
            f"{one['peak_mib']:,}",
            f"{one['bytes'] / 1e6:,.0f}",
        ]
        for one in results
    ]
    table = benchmark.table(("game", "states", "seconds", "ns a state", "peak MiB", "book MB"), rows)
    print(table)
    benchmark.publish("large", table, results, how=f"One run each, `--memory {arguments.memory}`,")


if __name__ == "__main__":
    main()
