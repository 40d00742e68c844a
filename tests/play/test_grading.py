"""Games judged by a book, moves refuted, practical play and levels, against what plain Python computes."""

import functools
import itertools
import json
import random

import pytest

from solver import Book, Player, Trim, grade, load_game, solve, trim
from solver.base import errors
from solver.base.errors import MethodError
from solver.play.practical import LEVELS, LOOKS, Practical, level_of
from solver.rules.game import Rules
from solver.rules.notation import format_action
from solver.rules.reading import parse_position
from solver.solving.ways.grown import positions_of
from tests import naive
from tests.commands import ok
from tests.refusals import fails, raises
from tests.ways import slow


def random_game(game, chance, most=40):
    """The states and actions of a random game, up to so many plies."""
    state, moves = game.initial(), []
    while not game.is_terminal(state) and len(moves) < most:
        moves.append((state, chance.choice(list(game.actions(state)))))
        state = game.result(*moves[-1])
    return moves


def worth(rules, value_of, state, action):
    """The value of an action, by the children's values: score and distance for who moves there."""
    child = rules.result(state, action)
    score, distance = value_of(child)
    sign = 1 if rules.same_mover(state, action, child) else -1
    return rules.gain(state, action) + sign * score, None if distance is None else distance + 1


@pytest.mark.parametrize(
    "text", ["hexapawn", "kalah:2,3", "dots-and-boxes:2,1", "mu-torere", *slow("tic-tac-toe", "connect-four:4,3")]
)
def test_every_move_is_judged_as_the_naive_twin_does(tmp_path, text):
    game = load_game(text)
    rules, values, chance = Rules(game), naive.solve(game), random.Random(1)
    games = [random_game(game, chance) for _ in range(40)]
    lines = [" ".join(format_action(game, *move) for move in moves) for moves in games]
    with solve(text, tmp_path / "book.lmdb") as book:
        grades = grade(Player(book, live=False), ["", *lines])
    moves = [(line, *move) for line, moves in enumerate(games, 2) for move in moves]
    judged = [(values[state], worth(rules, values.get, state, action)) for _, state, action in moves]
    assert (grades.games, grades.unknown, grades.total.moves) == (40, 0, len(moves))
    assert grades.total.perfect == sum(before == after for before, after in judged)
    assert grades.total.kept == sum(before[0] == after[0] for before, after in judged)
    assert grades.total.perfect <= grades.total.kept < len(moves)
    blunders = [
        (line, state, before, after)
        for (line, state, _), (before, after) in zip(moves, judged, strict=True)
        if before[0] != after[0]
    ]
    assert [(one.line, one.state, one.before, one.after) for one in grades.blunders] == blunders
    assert tuple(map(sum, zip(*grades.sides, strict=True))) == grades.total
    for one in grades.blunders:
        names = {format_action(game, one.state, action): action for action in game.actions(one.state)}
        assert one.best and one.move not in one.best
        assert {worth(rules, values.get, one.state, names[name]) for name in one.best} == {one.before}


def test_what_a_book_does_not_know_is_not_judged(tmp_path):
    trim("connect-four:4,4", tmp_path / "opening.lmdb", Trim(max_ply=3))
    with Book(tmp_path / "opening.lmdb") as book:
        grades = grade(Player(book, live=False), ["112233"])
    assert (grades.total.moves, grades.unknown) == (3, 3)


def test_the_command_counts_lines_and_names_the_wrong_one(tmp_path):
    book = "tic-tac-toe"
    games = "a1 b2 c3\n\na1 b1 b2 a2\n"
    facts = json.loads(ok("grade", book, "-", "--json", stdin=games))
    assert (facts["games"], facts["moves"], facts["unknown"], facts["kept"]) == (2, 7, 0, 6)
    assert [(one["line"], one["ply"], one["side"], one["move"]) for one in facts["blunders"]] == [(3, 2, 1, "b1")]
    text = ok("grade", book, "-", stdin=games)
    assert "2 games, 7 moves judged" in text and "line 3, ply 2: b1 at #" in text and "best b2" in text
    (tmp_path / "games.txt").write_bytes(b"a1\na1 \xff\n")
    fails(4, "line 2: not UTF-8", "grade", book, tmp_path / "games.txt")
    assert "0 moves judged" in ok("grade", book, "-", stdin="\n")


def test_remarks_and_empty_lines_are_no_games_and_progress_counts_moves():
    games, steps = "# openings\n1234\n\n  ; more\n1 2 3 4  ; main line\n1 2 # of two\n", []
    with Book("connect-four:4,4") as book:
        grades = grade(book, games.splitlines(), progress=lambda *step: steps.append(step))
        assert (grades.games, grades.total.moves) == (3, 10)
        for game, message in (("12#3", "move 3"), ('[Event "?"]', ".* is a head of PGN"), ("11111", "move 5")):
            raises(errors.PositionError, f"line 2: {message}", grade, book, ["# 1", game])
        assert [*map(len, positions_of(Rules(book.game), games.splitlines()))] == [1, 1, 1, 1, 1]
    assert steps == [("grade", moves, None) for moves in range(1, 11)]


@pytest.mark.parametrize("name", ["tic-tac-toe", "hexapawn:3,3", "kalah:2,2", "mu-torere"])
def test_a_refutation_is_best_play_to_where_the_outcome_is_plain(name):
    rules = Rules(load_game(name))
    player = Player({rules.canonical(state): value for state, value in naive.solve(rules.game).items()}, rules.game)
    checked = 0
    for state in list(player.solution)[:150]:
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
                best = [move.action for move in player.analyse(place) if move.best]
                assert player.value(place).value is None or reply in best
                assert rules.result(place, reply) == child
                place = child
            if not rules.scores and not rules.is_terminal(place) and value.score != 0:
                assert found.ending.distance <= 2
    assert checked or name == "mu-torere"


def test_query_and_grade_explain_every_move_that_gives_value_away():
    out = ok("query", "connect-four:4,4", "11242", "--explain")
    assert "2 is the only move" in out and "\n1  makes a draw of a win: 1\n3  makes a loss of a win: 2 2 1 1" in out
    facts = json.loads(ok("query", "connect-four:4,4", "11242", "--explain", "--json"))
    assert facts["only"] is True and [reason["move"] for reason in facts["why"]] == ["1", "3", "4"]
    assert "no move gives value away" in ok("query", "tic-tac-toe", "start", "--explain")
    out = ok("grade", "connect-four:4,4", "-", stdin="112423\n")
    assert "refuted by 2 2 1 1" in out and "line 1 turned at ply 6" in out


class Definition:
    """The model and its expected results by their definitions, on the values of the naive twin."""

    def __init__(self, rules, value_of, plies):
        self.rules, self.plies = rules, plies
        self.worth = functools.partial(worth, rules, value_of)

    def kept(self, state):
        """The best actions: the highest score, then the quickest win or the slowest loss."""
        values = {action: self.worth(state, action) for action in self.rules.actions(state)}
        top = max(score for score, _ in values.values())
        best = {action: distance for action, (score, distance) in values.items() if score == top}
        if self.rules.scores or top == 0:
            return [*best]
        target = (min if top > 0 else max)(best.values())
        return [action for action, distance in best.items() if distance == target]

    def model(self, state):
        """The actions that the opponent chooses from."""
        values = {action: self.worth(state, action) for action in self.rules.actions(state)}
        near = {action: score for action, (score, distance) in values.items() if score and distance <= self.plies}
        wins = [action for action, score in near.items() if score > 0]
        return wins or [action for action in values if action not in near] or [*values]

    def result(self, own_turn, first):
        """The expected result of a player whose own turns are worth `own_turn` of its moves' results."""

        @functools.cache
        def expected(state, own):
            actions = self.kept(state) if own else self.model(state)
            results = [after(state, action, own) for action in actions]
            return own_turn(state, actions, results) if own else sum(results) / len(results)

        def after(state, action, own):
            child, sign = self.rules.result(state, action), 1 if own else -1
            if self.rules.is_terminal(child):
                return sign * self.worth(state, action)[0]
            same = self.rules.same_mover(state, action, child)
            return sign * self.rules.gain(state, action) + expected(self.rules.canonical(child), own == same)

        return expected(self.rules.canonical(self.rules.game.initial()), first)


def full(state, actions, results):
    """The best that can be got."""
    return max(results)


def first_best(state, actions, results):
    """The result of the first best move."""
    return results[0]


@pytest.mark.parametrize("name", ["nim:2,3,4", "hexapawn:3,3", *slow("tic-tac-toe")])
def test_practical_play_gains_most_of_what_can_be_gained(name):
    rules = Rules(load_game(name))
    value_of = naive.solve(rules.game).get
    for plies, own in itertools.product((0, 2, 4), (True, False)):
        definition, practical = Definition(rules, value_of, plies), Practical(rules, value_of, plies)

        def chosen(state, actions, results, rate=practical.expectations):
            rated = rate(state, actions)
            return results[rated.index(max(rated))]

        least, most = definition.result(first_best, own), definition.result(full, own)
        assert definition.result(chosen, own) >= least + 0.85 * (most - least) - 1e-9


@pytest.mark.slow
def test_figures_of_connect_four():
    """The gain of exact practical play on connect-four 4x4 against an opponent that sees two plies: 0.427 to 0.798."""
    with Book("connect-four:4,4") as book:
        rules = book.rules
        value_of = lambda state: rules.ended(state) if rules.is_terminal(state) else book[state]  # noqa: E731
        definition = Definition(rules, value_of, 2)
        assert [round(definition.result(own_turn, True), 3) for own_turn in (full, first_best)] == [0.798, 0.427]


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "mu-torere", "nim"])
def test_it_never_gives_value_away_and_changes_no_value(name):
    plain, practical = Player(name), Player(name, method="practical")
    chance = random.Random(0)
    for _ in range(2):
        state = plain.game.initial()
        for _ in range(30):
            if plain.game.is_terminal(state):
                break
            moves = practical.analyse(state)
            assert [move._replace(practical=None) for move in sorted(moves)] == sorted(plain.analyse(state))
            assert all(isinstance(move.practical, float | int) for move in moves)
            choice = practical.choose(state)
            assert choice.best and choice.value == plain.choose(state).value
            state = chance.choice(moves).child


def test_unfit_games_options_and_moves_are_refused():
    raises(MethodError, "game of chance, which has no practical play", Player, "pig:15", method="practical")
    raises(MethodError, "looks from 0 to 4 plies ahead, not 5", Player, "nim", method="practical", opponent=5)
    raises(MethodError, "no method of play 'tricky': choose best or practical", Player, "nim", method="tricky")
    for text in ("0", "11", "expert", ""):
        raises(ValueError, "is not a level: choose beginner", level_of, text)
    raises(errors.MissingState, "is not known", Player({}, "connect-four", live=False).why, 0, 3)
    raises(errors.PositionError, "is not legal here: choose one of", Player("tic-tac-toe").why, 0, 9 << 40)


def test_query_shows_the_chances_of_every_move_and_says_that_they_are_estimates():
    assert f"It comes from a look ahead at {LOOKS} moves at most" in " ".join(ok("query", "--help").split())
    out = ok("query", "connect-four:4,4", "start", "--opponent", "2")
    assert "*  1  draw  book  +0.12 in practice" in out
    assert "in practice" not in ok("query", "connect-four:4,4", "start")


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "pig:15"])
def test_the_perfect_level_never_slips_and_a_beginner_always_does(name):
    names = ["beginner", "easy", "medium", "hard", "perfect"]
    assert [level_of(str(number)) for number in (1, 4, 5, 8, 10)] == [*map(level_of, names)] == [*LEVELS.values()]
    player, chance = Player(name), random.Random(0)
    state = next(state for state in player.solution if len(set(player.game.actions(state))) > 1)
    legal = set(player.game.actions(state))
    assert all(LEVELS["perfect"].slip(player, state, chance) is None for _ in range(50))
    assert {LEVELS["beginner"].slip(player, state, chance) for _ in range(200)} == legal
    assert {LEVELS["easy"].slip(player, state, chance) for _ in range(50)} <= legal
    mistakes = [LEVELS["medium"].slip(player, state, chance) is not None for _ in range(400)]
    assert 0.45 < sum(mistakes) / 400 < 0.65


def test_an_easy_computer_sees_a_win_at_once():
    player, chance = Player("tic-tac-toe"), random.Random(0)
    state = parse_position(player.game, "a1 b1 a2 b2").state
    slips = {LEVELS["easy"].slip(player, state, chance) for _ in range(20)}
    assert {format_action(player.game, state, action) for action in slips} == {"a3"}
