"""A game of OpenSpiel as a graph.

`pip install 'solverbook[openspiel]'`. Games that leave something out of the text of a position (what led there, how
often) would come out wrong: random games, and positions that were met twice, are compared with the graph, and a
difference is an error.
"""

from typing import Any

from solver.base.errors import GameError
from solver.games.common.exploration import Exploration
from solver.games.common.nodes import Nodes

INSTALL = "pip install 'solverbook[openspiel]' brings OpenSpiel"


def explored(text: str) -> Nodes:
    """The graph of the game that a text names, `breakthrough(rows=4,columns=4)`.

    Raises GameError for what is no game of two players with perfect information and opposite interests, and where texts
    leave something out, ResourceError for one beyond the memory.
    """
    exploration = Exploration(text, _loaded(text))
    nodes = exploration.run()
    exploration.compare(nodes)
    return nodes


def _loaded(text: str) -> Any:
    try:
        import pyspiel
    except ImportError:
        raise GameError(f"openspiel:{text} is a game of OpenSpiel: {INSTALL}") from None
    kinds, name = pyspiel.GameType, text.partition("(")[0]
    if name not in pyspiel.registered_names():
        raise GameError(f"OpenSpiel has no game {name[:40]!r}: openspiel:breakthrough(rows=4,columns=4), for instance")
    try:
        game = pyspiel.load_game(text)
    except Exception as error:  # of its own class
        reason = " ".join(str(error).split())[:200]
        raise GameError(f"OpenSpiel does not load {text[:80]}: {reason}: mend its parameters") from None
    kind, reasons = game.get_type(), []
    if game.num_players() != 2:
        reasons.append(f"is for {game.num_players()} players")
    if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
        reasons.append("has simultaneous moves")
    if kind.information != kinds.Information.PERFECT_INFORMATION:
        reasons.append("has hidden information")
    if kind.utility not in (kinds.Utility.ZERO_SUM, kinds.Utility.CONSTANT_SUM) or game.utility_sum():
        reasons.append("is not zero-sum")
    if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        reasons.append("does not tell the chances of its throws")
    if kind.reward_model != kinds.RewardModel.TERMINAL:
        reasons.append("has rewards on the way")
    if reasons:
        raise GameError(f"{text[:80]} {' and '.join(reasons)}: what is solved here has two players, who see everything")
    return game
