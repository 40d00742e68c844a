"""Our rules and books in other people's programs: OpenSpiel, PettingZoo and Gymnasium.

`openspiel` has games, bots, policies and evaluators, and OpenSpiel's own games as our players know them: the extra
`[openspiel]`. `pettingzoo` and `gymnasium` have environments, also as pixels: the extra `[pettingzoo]`.
`hook-solver.py` is for programs that PyInstaller freezes. Nothing else of the package imports this room.
"""

import os


def hook_folders() -> list[str]:
    """Return the folders of hooks, which PyInstaller asks for by an entry point."""
    return [os.path.dirname(__file__)]
