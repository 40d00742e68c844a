"""The page's opponent: the same expectations and choices as practical play and levels in Python."""

import json

import pytest

import solver
from solver.export import export
from solver.play.levels import LEVELS
from solver.play.player import Player
from solver.play.practical import OPPONENTS, Practical
from solver.rules.notation import format_action
from tests.exports import needs_node
from tests.pages import node


def states_of(book, count):
    """Unfinished states with a choice, spread over the book."""
    rules = book.rules
    states = [state for state in book if not rules.is_terminal(state) and len(list(rules.actions(state))) > 1]
    return states[:: max(1, len(states) // count)][:count]


@needs_node
@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four:4,3", "three-mens-morris", "kalah:3,2", "nim", "hexapawn"]
)
def test_the_page_plays_as_python(name, tmp_path):
    game = solver.load_game(name)
    with solver.solve(game, tmp_path / "book.lmdb") as book:
        export(book, f"{tmp_path}/site/")
        states = states_of(book, 60)
        (tmp_path / "asked").write_text(json.dumps([str(state) for state in states]))
        answers = node("practical", tmp_path / "site", tmp_path / "asked")
        player = Player(book, method="practical")
        models = {plies: Practical(player.rules, player.knowledge.value, plies) for plies in OPPONENTS}
        for state, answer in zip(states, answers, strict=True):
            actions = list(player.rules.actions(state))
            names = [format_action(game, state, action) for action in actions]
            assert answer["names"] == names
            assert {level.name: [level.share, level.plies] for level in LEVELS.values()}.items() <= answer[
                "levels"
            ].items()
            assert answer["expected"] == pytest.approx(
                Practical(player.rules, player.knowledge.value, 2).expectations(state, actions)
            )
            for plies, chosen in zip(OPPONENTS, answer["choices"], strict=True):
                assert chosen == [format_action(game, state, reply.action) for reply in models[plies].choices(state)]
            assert answer["easy"] == answer["choices"][1][-1]
            assert answer["medium"] == [None, answer["choices"][1][0]]
            if answer["tricky"] is not None and name != "three-mens-morris":
                assert answer["tricky"] == format_action(game, state, player.best(state))
