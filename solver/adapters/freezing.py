"""Programs that PyInstaller freezes: it asks here for the folder of `hook-solver.py`, by an entry point."""

import os


def hook_folders() -> list[str]:
    """Return the folders of hooks."""
    return [os.path.dirname(__file__)]
