"""The rules of games of chance, compiled, against themselves in plain Python."""

import random
import sys
from typing import Any

import pytest

from solver.rules.game import load_game
from tests.games import CHANCE_GAMES
from tests.rules.test_games import play_outs

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.compiled.binding import bind, kernel  # noqa: E402

game: Any = None  # a constant of the bound copies


@kernel
def said(state):
    """All that the rules say of a state: end, mover, tier, canonical; outcomes; actions and results."""
    found = np.empty((64, 2), np.int64)
    found[0] = int(game.is_terminal(state)), game.to_move(state)
    found[1] = game.tier(state), game.canonical(state)
    count = 2
    for weight, child in game.chance(state):
        found[count] = weight, child
        count += 1
    if count == 2 and not game.is_terminal(state):
        for action in game.actions(state):
            found[count] = action, game.result(state, action)
            count += 1
    return found[:count]


@pytest.mark.slow  # each solve holds both kinds of rules against each other, too
@pytest.mark.parametrize("text", CHANCE_GAMES)
def test_compiled_rules_say_the_same(text):
    rules = load_game(text)
    kernels = bind(sys.modules[__name__], rules)
    states = list(play_outs(rules, 20, length=200))
    for state in random.Random(6).sample(states, min(len(states), 300)):
        moves = [*rules.chance(state)]
        if not moves and not rules.is_terminal(state):
            moves = [(action, rules.result(state, action)) for action in rules.actions(state)]
        about = [(rules.is_terminal(state), rules.to_move(state)), (rules.tier(state), rules.canonical(state))]
        assert kernels.said(state).tolist() == [list(map(int, pair)) for pair in (*about, *moves)]
