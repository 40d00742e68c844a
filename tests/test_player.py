"""The player: perfect from a book, honest where it does not know."""

import pytest

from solver import pipeline
from solver.book import Book
from solver.errors import ForeignBook, MissingState, PositionError
from solver.game import load_game
from solver.player import Player
from solver.value import Value
from tests import naive
from tests.games import SMALL_GAMES


def lifted(value, same_mover):
    """A child's value, one ply earlier."""
    score = value.score if same_mover else -value.score
    return Value(score, None if value.distance is None else value.distance + 1)


@pytest.mark.parametrize("text", SMALL_GAMES)
def test_answers_from_a_solution_are_the_naive_twins(text):
    game = load_game(text)
    truth = naive.solve(game)
    player = Player({state: value for state, value in truth.items() if not game.is_terminal(state)}, game)
    player._folds = False
    player.canonical = lambda state: state
    for state in list(truth)[:400]:
        answer = player.value(state)
        assert (answer.value, answer.exact) == (truth[state], True)
        assert answer.source == ("terminal" if game.is_terminal(state) else "book")
        if game.is_terminal(state):
            with pytest.raises(PositionError):
                player.best(state)
            assert player.analyse(state) == []
            continue
        moves = player.analyse(state)
        assert sorted(move.action for move in moves) == sorted(game.actions(state))
        assert moves[0].value == truth[state]
        assert player.best(state) in [move.action for move in moves if move.best]
        for move in moves:
            assert move.child_value == truth[move.child]


@pytest.mark.parametrize("text", ["tic-tac-toe", "kalah:2,3", "hexapawn:3,4", "coins", "mu-torere"])
def test_a_live_search_answers_like_the_naive_twin(text):
    game = load_game(text)
    truth = naive.solve(game)
    player = Player(game)
    for state in list(truth)[:30]:
        answer = player.value(state)
        assert (answer.value, answer.exact) == (truth[state], True)
        assert answer.source == ("terminal" if game.is_terminal(state) else "search")


@pytest.mark.parametrize("text", ["tic-tac-toe", "connect-four:4,3", "hexapawn:3,4"])
@pytest.mark.parametrize("computer", [0, 1])
def test_a_player_with_an_alphabeta_book_never_does_worse_than_the_value(tmp_path, text, computer):
    """Against every reply, searching anew where play leaves the exact entries."""
    game = load_game(text)
    truth = naive.solve(game)
    pipeline.solve(game, tmp_path / "book.lmdb", method="alphabeta")
    promised = truth[game.initial()].score * (1 if computer == 0 else -1)
    with Book(tmp_path / "book.lmdb") as book:
        player = Player(book)
        assert player.value(game.initial()).source == "book"
        todo, seen = [(game.initial(), 0)], set()
        while todo:
            state, mover = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            if game.is_terminal(state):
                assert game.utility(state) * (1 if mover == computer else -1) >= promised
            elif mover == computer:
                todo.append((game.result(state, player.best(state)), 1 - mover))
            else:
                todo += [(game.result(state, action), 1 - mover) for action in game.actions(state)]


def test_a_complete_book_is_never_searched_past(tmp_path):
    game = load_game("connect-four:4,3")
    pipeline.solve(game, tmp_path / "book.lmdb")
    with Book(tmp_path / "book.lmdb") as book:
        player = Player(book)
        unreachable = next(
            state for state in range(4096, 65536) if not game.is_terminal(state) and game.canonical(state) not in book
        )
        assert player.value(unreachable) == (None, False, "missing", None)
        assert player.examine(unreachable)[0].source == "missing"
        with pytest.raises(ForeignBook):
            Player(book, load_game("connect-four:3,4"))


def test_where_the_budget_ends_the_heuristic_answers_and_says_so():
    player = Player(load_game("tic-tac-toe:4,4,4"), nodes=300)
    answer = player.value(player.game.initial())
    assert (answer.source, answer.exact, answer.value) == ("search", False, None)
    assert -1 < answer.estimate < 1
    answer, moves = player.examine(player.game.initial())
    assert (answer.value, answer.estimate) == (None, moves[0].estimate)
    estimates = [move.estimate for move in moves if not move.exact]
    assert estimates == sorted(estimates, reverse=True) and len(estimates) > 10
    assert player.choose(player.game.initial()).estimate == estimates[0]


def test_nobody_knows_is_none_and_never_a_draw():
    game = load_game("hexapawn:5,5")  # no `evaluate`
    player = Player(game, nodes=50)
    assert player.value(game.initial()) == (None, False, "missing", None)
    silent = Player({}, game, live=False)
    assert [(move.value, move.best) for move in silent.analyse(game.initial())] == [(None, False)] * 5
    with pytest.raises(MissingState, match="live search or more time"):
        silent.best(game.initial())


def test_of_lost_moves_the_longest_resists():
    player = Player(load_game("coins:21"))  # lost in 11 plies, whatever is taken
    assert {move.value for move in player.analyse(21)} == {Value(-1, 11)} | {
        move.value for move in player.analyse(21) if not move.best
    }
    assert player.analyse(21)[0].value == Value(-1, 11)


def test_a_mapping_needs_its_game():
    with pytest.raises(TypeError, match="does not know its game"):
        Player({1: Value(0)})
