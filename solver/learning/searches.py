"""Values of states by searches of limited depth, where no book has them."""

from __future__ import annotations

import numpy as np

from solver.base.progress import Progress, silent
from solver.compiled.lookahead.searches import Chooser
from solver.learning.moves import States, Worths
from solver.rules.game import Rules

PART = 1 << 12  # states between two reports of progress


class Searches:
    """Searches of one game by the rules' own `evaluate`; without one every state that is not finished is even."""

    def __init__(self, rules: Rules) -> None:
        self.scores = rules.scores
        self._chooser = Chooser(rules.game, symmetry=rules.symmetry)

    def values(self, states: States, depth: int, progress: Progress = silent) -> Worths:
        """The score of each unfinished state (n,) float64, or its estimate, as a search of that depth sees it."""
        found = np.zeros(len(states))
        for begin in range(0, len(states), PART):
            part = slice(begin, begin + PART)
            found[part] = self._chooser.choose(states[part], depth).merits
            progress("searching", min(begin + PART, len(states)), len(states))
        return found if self.scores else np.clip(found, -1, 1)
