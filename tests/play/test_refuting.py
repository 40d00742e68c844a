"""Refutations against the values of the naive twin: what a move gives away, and a line that shows it."""

import json

import pytest

from solver.base.errors import MissingState, PositionError
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from tests.commands import ok, run
from tests.naive import solve


@pytest.mark.parametrize("name", ["tic-tac-toe", "hexapawn:3,3", "kalah:2,2", "mu-torere"])
def test_a_refutation_is_best_play_to_where_the_outcome_is_plain(name):
    rules = Rules(load_game(name))
    player = Player({rules.canonical(state): value for state, value in solve(rules.game).items()}, rules.game)
    checked = 0
    for state in list(player.solution)[:400]:
        if rules.is_terminal(state):
            continue
        values = {move.action: move.value for move in player.analyse(state)}
        top = max(value.score for value in values.values())
        for action, value in values.items():
            found, place = player.why(state, action), rules.result(state, action)
            end = found.line[-1][1] if found.line else place
            assert found.ending == (None if rules.is_terminal(end) else player.value(end).value)
            assert found.gives == top - value.score
            assert found.is_only == (found.gives == 0 and sum(other.score == top for other in values.values()) == 1)
            if not found.gives:
                assert not found.line
                continue
            checked += 1
            for reply, child in found.line:
                assert player.value(place).value is None or reply in [
                    move.action for move in player.analyse(place) if move.best
                ]
                assert rules.result(place, reply) == child
                place = child
            if not rules.scores and not rules.is_terminal(place) and value.score != 0:
                assert found.ending.distance <= 2
    assert checked or name == "mu-torere"


def test_values_that_are_not_known_and_illegal_actions_are_refused():
    player = Player({}, "connect-four", live=False)
    with pytest.raises(MissingState, match="is not known"):
        player.why(player.game.initial(), 3)
    with pytest.raises(PositionError, match="is not legal here: choose one of"):
        Player("tic-tac-toe").why(Player("tic-tac-toe").game.initial(), 9 << 40)


def test_query_explains_every_move_that_gives_value_away():
    out = ok("query", "connect-four:4,4", "11242", "--explain")
    assert (
        "2 is the only move that keeps the value\n1  makes a draw of a win: 1\n3  makes a loss of a win: 2 2 1 1" in out
    )
    facts = json.loads(ok("query", "connect-four:4,4", "11242", "--explain", "--json"))
    assert facts["only"] is True and [reason["move"] for reason in facts["why"]] == ["1", "3", "4"]
    assert "no move gives value away" in ok("query", "tic-tac-toe", "start", "--explain")
    code, _, err = run("query", "tic-tac-toe", "start", "--explain", "--no-moves")
    assert code == 2 and "leave --no-moves and - out" in err


def test_grade_refutes_blunders_and_says_where_a_game_turned(tmp_path):
    (tmp_path / "games.txt").write_text("112423\n")
    out = ok("grade", "connect-four:4,4", tmp_path / "games.txt")
    assert "refuted by 2 2 1 1" in out and "line 1 turned at ply 6" in out
