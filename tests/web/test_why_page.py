"""Why moves are bad, in the page: the same lines as `Player.why`, and sentences that fit them."""

import json

import pytest

import solver
from solver.export import export
from solver.play.player import Player
from solver.rules.notation import format_action
from tests.exports import needs_node
from tests.pages import node
from tests.web.test_opponent_page import states_of


@needs_node
@pytest.mark.parametrize(
    "name", ["tic-tac-toe", "connect-four:4,3", "three-mens-morris", "kalah:3,2", "nim", "hexapawn"]
)
def test_the_page_refutes_as_python(name, tmp_path):
    game = solver.load_game(name)
    with solver.solve(game, tmp_path / "book.lmdb") as book:
        export(book, f"{tmp_path}/site/")
        states = states_of(book, 40)
        (tmp_path / "asked").write_text(json.dumps([str(state) for state in states]))
        answers = node("why", tmp_path / "site", tmp_path / "asked")
        player = Player(book)
        gaveaway = 0
        for state, said in zip(states, answers, strict=True):
            reasons = [player.why(state, action) for action in player.rules.actions(state)]
            assert [one["name"] for one in said] == [format_action(game, state, one.action) for one in reasons]
            for one, reason in zip(said, reasons, strict=True):
                assert one["gives"] == reason.gives
                assert len(one["steps"]) == len(one["line"]) + 1 and one["steps"][0].count(one["name"])
                if not reason.gives:
                    continue
                gaveaway += 1
                child, names = game.result(state, reason.action), []
                for action, after in reason.line:
                    names.append(format_action(game, child, action))
                    child = after
                assert one["line"] == names
                ending = reason.ending or player.rules.ended(child)
                assert one["end"] == [ending.score, ending.distance] or player.rules.scores
                assert ("gives" if player.rules.scores else "makes a") in one["steps"][0]
        assert gaveaway > 5
