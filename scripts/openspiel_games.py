"""Solve all games of OpenSpiel that fit, at their smallest parameters: the table of docs/guides/other-games.md.

    python scripts/openspiel_games.py [--seconds 120] [--memory 4G] [GAME ...]

Each is solved in a process of its own, with a limit of processor time, and its book is verified if it has up to 200,000
states. A game that is not done by then is named with the positions that it had.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspiel

SMALLEST = {
    "amazons": "board_size=6",
    "breakthrough": "rows=4,columns=3",
    "checkers": "rows=4,columns=4",
    "backgammon": "hyper_backgammon=true",
    "banqi": "max_no_progress=2",
    "chinese_checkers": "max_moves=4",
    "clobber": "rows=4,columns=4",
    "connect_four": "rows=4,columns=4",
    "cursor_go": "board_size=2,max_cursor_moves=3",
    "dots_and_boxes": "num_rows=2,num_cols=2",
    "go": "board_size=2",
    "gomoku": "size=3,connect=3",
    "havannah": "board_size=3",
    "hex": "board_size=3",
    "lines_of_action": "max_game_length=4",
    "mnk": "m=3,n=3,k=3",
    "nim": "pile_sizes=3;4;5",
    "oware": "num_houses_per_player=2,num_seeds_per_house=2",
    "pig": "winscore=20,diceoutcomes=3",
    "quoridor": "board_size=3",
    "twixt": "board_size=5,ansi_color_output=false",
    "y": "board_size=3",
    "yacht": "num_dice=1,dice_sides=2,rolls_per_turn=2",
    "hive": "board_size=4",
}
VERIFIED = 200_000


def fits(kind: Any) -> bool:
    """Whether it is a game of two players who see everything and want the opposite, one after the other."""
    return (
        kind.min_num_players <= 2 <= kind.max_num_players
        and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
        and kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        and kind.utility == pyspiel.GameType.Utility.ZERO_SUM
        and kind.chance_mode != pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    )


def tried(spec: str, folder: Path, seconds: int, memory: str) -> tuple[str, str]:
    """What came of a game, and for how many states in how many seconds of processor time."""
    book = str(folder / "book.lmdb")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(["solve", f"openspiel:{spec}", "-o", book, "--json", "--memory", memory], seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done is None:
        return "too large", f"not explored in {seconds} s"
    if done.returncode:
        error = done.stderr.strip().splitlines()[-1].removeprefix("Error: ").partition(f"openspiel:{spec}: ")
        return "refused", error[2] or error[0]
    facts = json.loads(done.stdout)
    worth = facts["verdict"] if "verdict" in facts else json.dumps(facts["root"])
    what = f"{facts['states']:,} positions, {used:.1f} s"
    if facts["states"] <= VERIFIED:
        verdict = run(["verify", book, "--json"], 600)
        what += f"; {json.loads(verdict.stdout)['verdict'] if verdict and not verdict.returncode else 'NOT PROVED'}"
    return worth, what


def run(arguments: list[str], seconds: int) -> subprocess.CompletedProcess[str] | None:
    """A command of the package; None if it took too long."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [sys.executable, "-m", "solver", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)  # noqa: PLW1509
    return None if done.returncode < 0 else done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--memory", default="4G")
    asked = parser.parse_args()
    names = asked.games or [kind.short_name for kind in pyspiel.registered_games() if fits(kind)]
    print("| game | value for the side that begins | what came of it |\n| --- | --- | --- |")
    for name in names:
        spec = f"{name}({SMALLEST[name]})" if name in SMALLEST else name
        with tempfile.TemporaryDirectory() as folder:
            worth, what = tried(spec, Path(folder), asked.seconds, asked.memory)
        print(f"| `{spec}` | {worth} | {what} |", flush=True)


if __name__ == "__main__":
    main()
