"""Tests, in folders named like the rooms of `solver/`; `project` tests the documentation and releases.

Helpers lie beside the folders.
"""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"


def make_fifo(path):
    """Make a pipe with a name, or a folder where the system has no such pipes: neither is a regular file."""
    (os.mkfifo if hasattr(os, "mkfifo") else os.mkdir)(path)
