"""Tests, in folders named like the rooms of `solver/`; `project` tests the documentation and releases.

Helpers lie beside the folders.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
