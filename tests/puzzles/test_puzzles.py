"""Puzzles against brute force by the naive twin, published counts, and the command."""

import csv
import io
import json

import pytest

import solver
from solver import puzzles as finding
from solver.base.errors import DamagedBook, MethodError
from solver.play.player import Player
from solver.puzzles import Puzzle
from solver.rules.game import Rules, load_game
from solver.rules.notation import board_of, format_action
from tests.commands import ok
from tests.naive import solve
from tests.refusals import raises
from tests.written import ruled


def moves_of(rules, values, state):
    """Of each move by naive values: what the mover gets, plies of the child, the child, whether the mover stays."""
    for action in rules.actions(state):
        child = rules.result(state, action)
        same = rules.same_mover(state, action, child)
        score = rules.gain(state, action) + values[child].score * (1 if same else -1)
        yield score, values[child].distance, child, same


def by_brute_force(name, goal):
    """The states of a game with one move that keeps the value, by the definition."""
    rules = Rules(load_game(name))
    values = solve(rules.game)
    for state, value in values.items():
        if rules.is_terminal(state) or (goal == "draw" and value.score) or (goal == "win" and value.score <= 0):
            continue
        scores = [score for score, *_ in moves_of(rules, values, state)]
        if len(scores) > 1 and scores.count(max(scores)) == 1:
            yield rules.canonical(state)


@pytest.mark.parametrize(
    ("name", "goal"), [("tic-tac-toe", "win"), ("tic-tac-toe", "draw"), ("hexapawn", "win"), ("kalah:2,3", "margin")]
)
def test_candidates_are_those_of_brute_force(name, goal):
    with solver.solve(name) as book:
        player = Player(book, live=False)
        states = finding._candidates(book, goal, 1, 1 << 30, finding.silent)
        found = {state for state in states if finding._puzzle(player, state, goal, "first")}
    assert found == set(by_brute_force(name, goal))


CHILDREN = {0: (1, 9), 1: (2, 3), 2: (4,), 3: (5,), 4: (8, 9), 5: (8, 9), 10: (11, 9), 11: (12, 13), 12: (8, 9)}
# After 0 the first player moves again, and at 1 two moves win, each in three plies more
Twice = ruled(
    "Twice",
    head=f"CHILDREN = {CHILDREN}",
    fields="both: bool = True",
    initial="0 if self.both else 10",
    actions="yield from range(len(CHILDREN[state]))",
    result="CHILDREN[state][action]",
    to_move="int(state in (2, 3, 8, 9))",
    is_terminal="state not in CHILDREN",
    utility="{8: -1, 9: 1, 13: -1}[state]",
    tier="state if state in CHILDREN else 20",
)


def wins_alone(rules, state, wins):
    """Whether one move alone wins in a state, and in all that the longest defences lead to, by the naive values."""
    if rules.is_terminal(state):
        return True
    moves = list(moves_of(rules, solve(rules.game), state))
    longest = max(distance for _, distance, *_ in moves)
    moves = [move for move in moves if (move[0] > 0 if wins else move[1] == longest)]
    return (not wins or len(moves) == 1) and all(wins_alone(rules, child, wins == same) for *_, child, same in moves)


@pytest.mark.parametrize("game", [Twice(), Twice(both=False), load_game("coins:9"), load_game("coins:9,2,false")])
def test_unique_all_along_is_what_the_naive_values_say(game):
    with solver.solve(game) as book:
        some, every = (solver.find_puzzles(book, 99, win_in=(1, 99), unique=how, game=game) for how in ("first", "all"))
        player, rules = Player(book, game, live=False), Rules(game)
        states = list(finding._candidates(book, "win", 1, 1 << 30, finding.silent))
        ways = {how: {s for s in states if finding._puzzle(player, s, "win", how)} for how in ("first", "all")}
    assert ways["all"] == {state for state in ways["first"] if wins_alone(rules, state, True)}
    assert {puzzle.state for puzzle in some} <= ways["first"] and {puzzle.state for puzzle in every} <= ways["all"]


@pytest.mark.parametrize(
    ("shortest", "longest", "counts"),
    [(9, 99, (451, 336, 119)), pytest.param(7, 7, (1433, 1165, 799), marks=pytest.mark.slow)],
)
def test_counts_of_connect_four(shortest, longest, counts):
    """Wins in so many plies, those with one winning move, and those with one all along."""
    player = Player("connect-four:4,4", live=False)
    states = list(finding._candidates(player.solution, "win", shortest, longest, finding.silent))
    ways = ("first", "all")
    unique = [sum(finding._puzzle(player, state, "win", how) is not None for state in states) for how in ways]
    assert (len(states), *unique) == counts


def test_puzzles_are_hard_ones_first_and_not_alike():
    found = solver.find_puzzles("connect-four:4,3", 12, win_in=(5, 9), unique="all")
    assert len(found) == 12
    assert [puzzle.difficulty for puzzle in found] == sorted((puzzle.difficulty for puzzle in found), reverse=True)
    player, rules = Player("connect-four:4,3"), Rules(load_game("connect-four:4,3"))
    near = set()
    for puzzle in found:
        around = finding._around(player, puzzle)
        assert near.isdisjoint(around) and len(puzzle.line) == puzzle.distance
        near |= around
        winning = [move.action for move in player.analyse(puzzle.state) if move.value.score > 0]
        assert winning == [puzzle.solution] and rules.canonical(puzzle.state) == puzzle.state
    assert found == solver.find_puzzles("connect-four:4,3", 12, win_in=(5, 9), unique="all")


@pytest.mark.interpreted
@pytest.mark.parametrize(("name", "goal"), [("tic-tac-toe", "win"), ("tic-tac-toe", "draw"), ("kalah:2,2", "margin")])
def test_kernels_rank_the_same_puzzles(name, goal, monkeypatch):
    with solver.solve(name) as book:
        usual = solver.find_puzzles(book, 20, goal=goal)
        monkeypatch.setattr(finding, "PLAIN_LIMIT", 0)
        assert solver.find_puzzles(book, 20, goal=goal) == usual != []


def test_lengths_take_turns_where_they_vary():
    found = solver.find_puzzles("connect-four:4,4", 10, varied=True)
    assert [puzzle.distance for puzzle in found] == [13, 11, 9, 7, 5, 3, 13, 11, 7, 5]
    assert [found[1]] == solver.find_puzzles("connect-four:4,4", 1, win_in=(11, 11))


def test_a_board_with_colours_exchanged_is_the_same_puzzle():
    found = solver.find_puzzles("three-mens-morris", 99)
    boards = [str(board_of(load_game("three-mens-morris"), puzzle.state, 0)) for puzzle in found]
    assert len({*boards}) == len(boards) > 30


def test_an_index_has_puzzles_where_games_have_any(tmp_path):
    ok("export", "tic-tac-toe", "pig:15", "--puzzles", "3", "-o", f"{tmp_path}/site/", "-q")
    listed = (tmp_path / "site" / "games.js").read_text("utf-8")
    assert listed.count('"puzzles": true') == 1 and '"puzzles": true' in listed.partition('"name": "pig-15"')[0]
    pages = [(tmp_path / "site" / name / "game.js").read_text("utf-8") for name in ("tic-tac-toe", "pig-15")]
    assert ['"puzzles":' in page for page in pages] == [True, False]


def test_a_puzzle_that_contradicts_the_rules_is_damage():
    player = Player("tic-tac-toe")
    (puzzle,) = solver.find_puzzles("tic-tac-toe", 1, win_in=(3, 3))
    assert finding._is_proved(player, puzzle)
    wrong = next(action for action in player.rules.actions(puzzle.state) if action != puzzle.solution)
    for change in ({"solution": wrong}, {"distance": 1}):
        raises(DamagedBook, "not a puzzle by its rules", finding._is_proved, player, puzzle._replace(**change))


def test_a_win_that_cannot_be_proved_is_left_out(monkeypatch):
    monkeypatch.setattr(finding, "MOST_CHECKED", 3)
    assert solver.find_puzzles("connect-four:4,4", 3, win_in=(9, 9)) == []
    assert finding._is_proved(Player("connect-four:4,4"), Puzzle(0, "draw", None, 0, "1", [], 0, 0, {}))


def test_answers_are_scored_by_the_value_that_they_keep():
    (puzzle,) = solver.find_puzzles("tic-tac-toe", 1, goal="draw")
    assert isinstance(puzzle, Puzzle) and solver.score_answer("tic-tac-toe", puzzle.state, f" {puzzle.move}\n") == 1.0
    player = Player("tic-tac-toe")
    for move in player.analyse(puzzle.state):
        name = format_action(player.game, puzzle.state, move.action)
        assert solver.score_answer(player, puzzle.state, name) == (0.5 if move.value.score else 1.0)
    assert solver.score_answer(player, puzzle.state, "I resign") == 0.0


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("tic-tac-toe", {"goal": "margin"}, "no margin: choose the goal win or draw"),
        ("tic-tac-toe", {"goal": "mate"}, "no goal 'mate': choose win, draw, margin"),
        ("tic-tac-toe", {"goal": "draw", "unique": "all"}, "a draw has no distance"),
        ("tic-tac-toe", {"goal": "draw", "win_in": (3, 5)}, "a draw has no distance"),
        ("kalah:3", {}, "no win: choose the goal margin"),
        ("pig:15", {}, "game of chance"),
        ("opening.lmdb", {}, "complete book"),
    ],
)
def test_goals_and_books_that_do_not_fit_are_refused(tmp_path, monkeypatch, source, options, message):
    monkeypatch.chdir(tmp_path)
    solver.trim("tic-tac-toe", "opening.lmdb", solver.Trim(max_ply=3))
    raises(MethodError, message, solver.find_puzzles, source, **options)


def test_the_command_prints_boards_json_tables_and_tasks():
    options = ("puzzles", "connect-four:4,3", "-n", "3", "--win-in", "5..9")
    assert ok(*options).startswith("1. One move wins in 9. #")
    facts = [json.loads(line) for line in ok(*options, "--json").splitlines()]
    rows = list(csv.DictReader(io.StringIO(ok(*options, "--format", "csv"))))
    assert [row["move"] for row in rows] == [fact["move"] for fact in facts] and len(rows) == 3
    tasks = [json.loads(line) for line in ok(*options, "--format", "tasks").splitlines()]
    prompt = tasks[0]["prompt"]
    assert all(words in prompt for words in ("wins in 9 plies (", f"#{tasks[0]['state']} of", "You are o, player 2."))
    assert "`" not in prompt
    for task in tasks:
        assert [*task["values"]] == task["legal"]
        assert [move for move, value in task["values"].items() if value.startswith("win")] == [task["answer"]]
        assert task["answer"] in task["legal"] and "Answer with one move." in task["prompt"]
        assert solver.score_answer("connect-four:4,3", task["state"], task["answer"]) == 1.0


@pytest.mark.parametrize(("name", "boards"), [("connect-four:4,3", 6), ("hexapawn", 2), ("dots-and-boxes", 2)])
def test_the_sheet_has_a_board_for_each_puzzle_and_the_solutions(tmp_path, name, boards):
    command = ("puzzles", name, "-n", str(boards), "-q", "--html")
    assert ok(*command, tmp_path / "sheet.html") == ok(*command, tmp_path / "again.html") == ""
    text = (tmp_path / "sheet.html").read_text()
    assert text == (tmp_path / "again.html").read_text()
    facts = [json.loads(line) for line in ok(*command[:-1], "--json").splitlines()]
    assert text.count("<section class") == text.count("<svg") == len(facts)
    for fact in facts:
        assert f"<li>{' '.join(fact['line'])} <small>{fact['position']}</small></li>" in text
    assert "http-equiv" not in text and "<script" not in text
    if name.startswith("connect"):
        # A man more for the first player, red: the second is to move
        assert "Yellow is to move. One move wins in 9 plies." in text
