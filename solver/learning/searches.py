"""Values of states by searches of limited depth, where no book has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.game import Rules
from solver.learning.moves import States, Worths
from solver.progress import Progress, silent
from solver.search import heuristic


def searched(rules: Rules, states: States, depth: int, progress: Progress = silent) -> Worths:
    """The score of each state (n,) float64, or its estimate, as a search of that depth sees it."""
    found = np.zeros(len(states))
    evaluate = rules.evaluate or _nothing
    for place, state in enumerate(states.tolist()):
        found[place] = heuristic.search(rules.game, state, depth=depth, evaluate=evaluate).value.score
        if place % 100 == 0:
            progress("searching", place, len(states))
    return found


def _nothing(state: Any) -> int:
    return 0
