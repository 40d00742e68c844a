"""Profiles against brute force and simulation, published figures, and the command."""

import functools
import json
import math
import random
import statistics
import tempfile
from xml.etree import ElementTree

import pytest

import solver
from solver.base.errors import MethodError
from solver.book.solution import Trim
from solver.play.player import Player
from solver.profiling import PLAYERS, exact
from tests.commands import ok
from tests.refusals import raises
from tests.ways import slow
from tests.written import write_rules

profile_of = functools.cache(solver.profile)


def by_recursion(player, first, second):
    """The mean result of the first player by the definition of the players, for games without cycles."""
    game, rules = player.game, player.rules
    analyse = functools.cache(player.analyse)

    def choices(who, state):
        moves = analyse(state)
        if who == "perfect":
            return [move for move in moves if move.best]
        plies = int(who[-1]) if who.startswith("sees") else 0
        wins = [move for move in moves if move.value.score > 0 and move.value.distance <= plies]
        safe = [move for move in moves if not (move.value.score < 0 and move.value.distance <= plies)]
        return wins or safe or moves

    @functools.cache
    def mean(state, mover):
        if game.is_terminal(state):
            return rules.ended(state).score * (-1 if mover else 1)
        moves = choices((first, second)[mover], state)
        return sum(mean(rules.canonical(move.child), 1 - mover) for move in moves) / len(moves)

    return mean(rules.canonical(game.initial()), 0)


@pytest.mark.parametrize("name", ["hexapawn", *slow("tic-tac-toe")])
def test_results_are_those_of_brute_force(name):
    player = Player(name)
    for outcomes in profile_of(name).matrix:
        assert outcomes.mean == pytest.approx(by_recursion(player, outcomes.first, outcomes.second))
        assert outcomes.wins + outcomes.draws + outcomes.losses == pytest.approx(1)
        assert outcomes.error == 0 and outcomes.mean == pytest.approx(outcomes.wins - outcomes.losses)
    assert {(one.first, one.second) for one in profile_of(name).matrix} == {(a, b) for a in PLAYERS for b in PLAYERS}


@pytest.mark.interpreted
def test_moves_listed_by_kernels_give_the_same_profile(monkeypatch):
    usual = profile_of("hexapawn")
    monkeypatch.setattr(exact, "PLAIN_LIMIT", 0)
    listed = solver.profile("hexapawn")
    for outcomes, others in zip(listed.matrix, usual.matrix, strict=True):
        assert outcomes[2:7] == pytest.approx(others[2:7]) and outcomes.lengths == pytest.approx(others.lengths)
        assert outcomes.lead_changes == pytest.approx(others.lead_changes)
    assert [ply.one_good for ply in listed.plies] == pytest.approx([ply.one_good for ply in usual.plies])


def test_play_that_goes_on_as_before_is_not_played(monkeypatch):
    """Plies that follow from the two before are those that play gives."""
    usual = profile_of("pong-hau-ki")
    monkeypatch.setattr(exact, "STILL", -1.0)
    for played, outcomes in zip(solver.profile("pong-hau-ki").matrix, usual.matrix, strict=True):
        assert played.lengths == pytest.approx(outcomes.lengths, abs=exact.MAX_PLIES * 1e-12)
        assert played[2:7] == pytest.approx(outcomes[2:7], abs=exact.MAX_PLIES**2 * 1e-12)
    endless = usual.of("perfect", "perfect")
    assert endless.error == pytest.approx(1) and endless.draws == pytest.approx(1)


def test_random_players_of_tic_tac_toe():
    """58.5 % wins of the first player, 28.8 % of the second and 12.7 % draws, as all 255,168 games weighted give.

    After 5 plies 9.5 % of games end: 1440 ways of 9 * 8 * 7 * 6 * 5 orders.
    """
    profile = profile_of("tic-tac-toe")
    outcomes = profile.of("random", "random")
    assert [round(share, 3) for share in (outcomes.wins, outcomes.losses, outcomes.draws)] == [0.585, 0.288, 0.127]
    assert outcomes.lengths[5] == pytest.approx(1440 / 15120) and profile.states == 765
    assert [ply.moves for ply in profile.plies[:3]] == pytest.approx([9, 8, 7])
    assert [round(value.score) for _, value, _ in profile.first_moves] == [0] * 9
    for one in profile.matrix:
        assert sum(one.lengths) == pytest.approx(1)
        assert sum(ply * share for ply, share in enumerate(one.lengths)) == pytest.approx(one.length)


@pytest.mark.parametrize("name", ["pong-hau-ki", *slow("mu-torere", "kalah:3")])
def test_random_play_lies_within_the_interval_of_a_simulation(name):
    outcomes = profile_of(name).of("random", "random")
    rules, chance, results, games = Player(name).rules, random.Random(0), [], 50
    for _ in range(games):
        state, side, gained, plies = rules.game.initial(), 1, 0, 0
        while not rules.is_terminal(state) and plies < 1000:
            action = chance.choice(list(rules.actions(state)))
            child = rules.result(state, action)
            gained += side * rules.gain(state, action)
            side = side if rules.same_mover(state, action, child) else -side
            state, plies = child, plies + 1
        results.append(gained + side * (rules.ended(state).score if rules.is_terminal(state) else 0))
    wins = sum(result > 0 for result in results) / games
    assert abs(outcomes.mean - statistics.fmean(results)) < 4 * statistics.pstdev(results) / math.sqrt(games)
    assert abs(outcomes.wins - wins) < 4 * 0.5 / math.sqrt(games)


@pytest.mark.parametrize("name", ["hexapawn", *slow("tic-tac-toe", "kalah:3", "three-mens-morris")])
def test_simulated_results_lie_within_their_intervals(name):
    exact, simulated = profile_of(name), solver.profile(name, games=40)
    assert simulated.games == 40 and simulated.states is None and "perfect" not in simulated.players
    for outcomes in simulated.matrix:
        true = exact.of(outcomes.first, outcomes.second)
        assert abs(outcomes.mean - true.mean) <= 2.5 * outcomes.interval  # five standard deviations
        assert outcomes.wins + outcomes.draws + outcomes.losses == pytest.approx(1)
        assert sum(outcomes.lengths) == pytest.approx(1)
    assert [ply.moves for ply in simulated.plies[:2]] == pytest.approx([ply.moves for ply in exact.plies[:2]], rel=0.2)
    assert [first[:2] for first in simulated.first_moves] == [first[:2] for first in exact.first_moves]
    assert simulated == solver.profile(name, games=40)


@pytest.mark.parametrize("plies", [1, 2])
def test_a_trimmed_book_has_the_profile_of_the_whole(tmp_path, plies):
    solver.trim("hexapawn", tmp_path / "trimmed.lmdb", Trim(plies=plies))
    assert solver.profile(tmp_path / "trimmed.lmdb") == profile_of("hexapawn")._replace(states=None)


def test_a_game_that_is_only_searched_is_simulated(tmp_path):
    out = ok("profile", "connect-four:5,3", "--games", "10", "-q", "--html", tmp_path / "report.html")
    assert out == "" and "10 simulated games" in (tmp_path / "report.html").read_text()
    text = ok("profile", "hexapawn", "--games", "10", "-q")
    assert "simulated: 10 games for each pair" in text and "perfect" not in text
    rows = ok("profile", "nim:1..2,2", "--table", "--games", "10", "-q").splitlines()
    assert [row.split()[0] for row in rows[1:]] == ["nim:1,2", "nim:2,2"] and "?" in rows[1]


def test_games_that_have_no_profile_are_refused(tmp_path):
    solver.trim("tic-tac-toe", tmp_path / "opening.lmdb", Trim(max_ply=3))
    over = solver.solve(write_rules(tmp_path / "over.py", is_terminal="True"), tmp_path / "over.lmdb")
    raises(MethodError, "game of chance", solver.profile, "pig:15")
    raises(MethodError, "complete book", solver.profile, tmp_path / "opening.lmdb")
    raises(MethodError, "over at the start", solver.profile, over)
    raises(MethodError, "simulate one or more", solver.profile, "tic-tac-toe", games=0)


def test_the_command_prints_a_report_a_table_json_and_a_page(tmp_path):
    out = ok("profile", "tic-tac-toe")
    assert "random       -0.78    +0.30    -0.13    -0.60    -0.62" in out and "lead changes" in out
    table = ok("profile", "nim:1..2,1..2", "--table").splitlines()
    assert [line.split()[0] for line in table[1:]] == ["nim:1,1", "nim:1,2", "nim:2,1", "nim:2,2"]
    facts = json.loads(ok("profile", "hexapawn", "--json"))
    assert len(facts["matrix"]) == 25 and facts["states"] == profile_of("hexapawn").states
    assert ok("profile", "tic-tac-toe", "--html", tmp_path / "report.html", "-q") == ""
    text = (tmp_path / "report.html").read_text()
    body = text.partition("<body>")[2].partition("</body>")[0]
    root = ElementTree.fromstring(f"<body>{body}</body>")
    assert len(root.findall(".//*[@role='img']")) == 10
    assert [cell.text for cell in root.findall(".//td")][1] == "+0.00"
    assert "http" not in text and "<script" not in text


@pytest.mark.posix("removes open files")
def test_a_kill_leaves_no_temporary_book(tmp_path, monkeypatch):
    from solver.cli import measure

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usual, seen = measure.profile, []

    def looked(*arguments, **options):
        seen.append([*tmp_path.iterdir()])
        return usual(*arguments, **options)

    monkeypatch.setattr(measure, "profile", looked)
    assert ok("profile", "nim:1,2", "-q") and seen == [[]]
