"""The Pythons at hand, and environments made of them: for scripts that try the package with more than one."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PLACES = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", str(Path.home() / ".pyenv/versions/*/bin"))
ASK = "import ensurepip, sys, venv; print(*sys.version_info[:3])"


def project() -> dict[str, Any]:
    """The project's facts in pyproject.toml."""
    said: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return said


def pythons() -> dict[str, str]:
    """List the Pythons of this machine that the project supports and that can make environments.

    Returns:
        Paths by version ("3.11", "3.12", ...), ascending; the newest patch release of each.
    """
    least = tuple(map(int, project()["requires-python"].removeprefix(">=").split(".")))
    found = {}
    for path in [sys.executable, *(str(path) for place in PLACES for path in _glob(place))]:
        done = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False, timeout=60)
        version = tuple(map(int, done.stdout.split())) if done.returncode == 0 else ()
        if version >= least and version > found.get(version[:2], ((), ""))[0]:
            found[version[:2]] = version, path
    return {f"{major}.{minor}": found[major, minor][1] for major, minor in sorted(found)}


def _glob(place: str) -> list[Path]:
    return sorted(Path("/").glob(place.lstrip("/") + "/python3.[0-9]*[0-9]"))


def environment(folder: Path, python: str, *what: str) -> str:
    """The Python of a new environment in a folder, with these packages. Raises CalledProcessError."""
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    inside = str(folder / "bin" / "python")
    pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *what], check=True, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    return inside
