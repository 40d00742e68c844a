"""Make the source archive and the wheel, check them, and try the wheel on every Python at hand; say what was found.

python scripts/release.py            the files stay in dist/

Nothing is published. On each Python the bare wheel, without extras, is installed into an environment of its own, away
from the checkout, and answers from a shipped book.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pythons

DIST = pythons.ROOT / "dist"
TOOLS = ("build", "twine")
FOREIGN = re.compile(r"\]\((?!https?://|#)[^)]+\)")  # a link that leads nowhere outside the repository


def run(*command: str, where: Path = pythons.ROOT) -> str:
    """The output of a command; raises RuntimeError with its last line if it fails."""
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing said").splitlines()
        raise RuntimeError(f"{' '.join(command[-3:])}: {said[-1]}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """The source archive and the wheel, made anew, checked by twine."""
    tools = pythons.environment(folder / "tools", sys.executable, *TOOLS)
    shutil.rmtree(DIST, ignore_errors=True)
    run(tools, "-m", "build", "--outdir", str(DIST))
    (archive,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(tools, "-m", "twine", "check", "--strict", str(archive), str(wheel))
    return archive, wheel


def described(wheel: Path) -> str:
    """The wheel's metadata for a package index; raises RuntimeError for a link that leads nowhere there."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith(".dist-info/METADATA"))
        said = packed.read(name).decode()
    lost = FOREIGN.findall(said)
    if lost:
        raise RuntimeError(f"the description has links that lead nowhere outside the repository: {', '.join(lost)}")
    return said.partition("\n\n")[0]


def smoke(folder: Path, python: str, wheel: Path) -> str:
    """The answers of the bare wheel on a Python: from a shipped book, as a command and as a library."""
    inside = pythons.environment(folder, python, str(wheel))
    away = folder / "away"
    away.mkdir()
    home = run(inside, "-c", "import solver; print(solver.__file__, solver.__version__)", where=away)
    if str(pythons.ROOT) in home:
        raise RuntimeError(f"the package was imported from {home}")
    solver = str(folder / "bin" / "solver")
    answer = json.loads(run(solver, "query", "connect-four:4,4", "1", "--json", "-q", where=away))
    if (answer["value"], answer["source"], answer["exact"]) != ("draw", "book", True):
        raise RuntimeError(f"column 1 of connect-four:4,4 is a draw by the book, not {answer}")
    books = run(solver, "books", where=away).splitlines()
    return f"installs bare, answers from the book, {len(books)} books"


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        try:
            archive, wheel = built(folder)
            for path in (archive, wheel):
                print(f"passed  {path.name}, {path.stat().st_size:,} bytes: builds, twine finds nothing")
            said = described(wheel)
            print("passed  the description's links lead somewhere outside the repository")
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"FAILED  {error}")
            return 1
        if "\nProject-URL:" not in said:
            print("to do   the project has no home yet: [project.urls] in pyproject.toml is empty")
        for version, python in pythons.pythons().items():
            try:
                print(f"passed  Python {version}: {smoke(folder / version, python, wheel)}", flush=True)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"FAILED  Python {version}: {error}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
