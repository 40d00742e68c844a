"""Our rules and books in other people's programs: OpenSpiel, PettingZoo and Gymnasium.

`openspiel` has games, bots, policies and evaluators, and OpenSpiel's own games as our players know them: the extra
`[openspiel]`. `pettingzoo` and `gymnasium` have environments, also as pixels: the extra `[pettingzoo]`.
`freezing` tells PyInstaller of the hook `hook-solver.py`. Nothing else of the package imports this room.
"""
