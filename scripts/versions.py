"""Run the tests with the oldest and the newest versions that pyproject.toml allows, and say which those were.

python scripts/versions.py                        the oldest on the oldest Python at hand, the newest on the newest
python scripts/versions.py tests/book/test_book.py     these tests alone; options of pytest as well, after --
python scripts/versions.py --every                both on every Python at hand
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pythons

EXTRAS = ("solve", "learn", "cluster", "live", "plot", "parquet", "serve")  # those that the tests use
TOOLS = ("pytest>=8", "pytest-xdist>=3", "hypothesis>=6.100")
NAMES = "import importlib.metadata as m, sys; print(*(f'{name} {m.version(name)}' for name in sys.argv[1:]), sep=', ')"


def requirements() -> list[str]:
    """The project's requirements, without its own extras: `numpy>=2.0` and so on."""
    said = pythons.project()
    extras = said["optional-dependencies"]
    asked = [*said["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    return [one for one in asked if not one.startswith(said["name"])]


def tried(python: str, which: str, tests: list[str]) -> tuple[bool, str, str]:
    """Whether the tests pass on a Python with the oldest or newest versions, their last line, and the versions."""
    asked = requirements()
    wanted = [one.replace(">=", "==") for one in asked] if which == "oldest" else asked
    with tempfile.TemporaryDirectory(prefix="versions-") as folder:
        try:
            inside = pythons.environment(Path(folder, "env"), python, "--only-binary", ":all:", *wanted, *TOOLS)
        except subprocess.CalledProcessError as error:
            lines = [line for line in str(error.stderr).splitlines() if line.startswith("ERROR")]
            return False, lines[-1] if lines else "cannot be installed", ""
        names = [re.split("[>=]", one)[0] for one in asked]
        have = subprocess.run([inside, "-c", NAMES, *names], capture_output=True, text=True, check=True).stdout.strip()
        command = [inside, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-p", "no:cacheprovider", *tests]
        own = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder, "compiled"))}  # machine code of one Numba
        done = subprocess.run(command, cwd=pythons.ROOT, env=own, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            print(done.stdout)
        return done.returncode == 0, (done.stdout.strip().splitlines() or ["nothing said"])[-1], have


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", action="store_true", help="both on every Python at hand")
    parser.add_argument("tests", nargs="*", help="files of tests, all without")
    given = parser.parse_args()
    at_hand = pythons.pythons()
    ends = [(min(at_hand, key=_number), "oldest"), (max(at_hand, key=_number), "newest")]
    runs = [(version, which) for version in at_hand for which in ("oldest", "newest")] if given.every else ends
    failed = 0
    for version, which in runs:
        begin = time.monotonic()
        passed, line, have = tried(at_hand[version], which, given.tests)
        failed += not passed
        verdict, seconds = "passed" if passed else "FAILED", time.monotonic() - begin
        print(f"{verdict}  Python {version}, {which}: {line} ({seconds:.0f} s)\n        {have}", flush=True)
    return int(failed > 0)


def _number(version: str) -> int:
    return int(version.partition(".")[2])


if __name__ == "__main__":
    sys.exit(main())
