"""The player: perfect from a book, honest where it does not know."""

import itertools
import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from solver.base.errors import BudgetExceeded, ForeignBook, GameError, MissingState, PositionError, StateTypeError
from solver.base.value import Value
from solver.book import Book
from solver.book.codecs import NAMES
from solver.edit.trimming import Trim, trim
from solver.games.connect_four import ConnectFour
from solver.play.live import Live
from solver.play.lookahead import Compiled
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from tests import chance, naive
from tests.games import MORE_GAMES, SMALL_GAMES
from tests.refusals import raises
from tests.ways import slow, slow_rows
from tests.written import write_third

SOME = ("tic-tac-toe:3,2,2", "connect-four:4,3", "nim:1,2,3,misere=true", "kalah:3,2", "mu-torere")
MORE = ("hexapawn:3,4", "dots-and-boxes:2,2", "fox-and-hounds:4", "three-mens-morris:1", "hare-and-hounds")
WHOLE = (*SOME, "coins", "hexapawn", "dots-and-boxes:2,1", "othello:4,2", "quixo:2", "hare-and-hounds")


@pytest.mark.parametrize(
    ("text", "share"),
    [
        *((text, share) for text in SOME for share in (0, 0.3)),
        *slow_rows(*((text, share) for text in MORE for share in (0, 0.3))),
        *((text, 1) for text in WHOLE),
        *slow_rows(*((text, 1) for text in SMALL_GAMES + MORE_GAMES if text not in WHOLE)),
    ],
)
def test_a_state_has_the_value_that_its_moves_tell_and_no_other(text, share):
    """Two plies are looked ahead, with nothing in the book, a part or all of it, folded, and without a live search."""
    game = load_game(text)
    truth, rules, chosen = naive.solve(game), Rules(game), random.Random(4)
    book = {rules.canonical(state): value for state, value in truth.items() if not game.is_terminal(state)}
    player = Player({state: value for state, value in book.items() if chosen.random() < share}, game, live=False)
    told = 0
    for state in chosen.sample(sorted(truth), min(100 if share == 1 else 50, len(truth))):
        answer, moves = player.examine(state)
        assert player.value(state) == answer and player.analyse(state) == moves
        assert answer.value == (truth[state] if answer.exact else None)
        assert answer.estimate in (None, truth[state].score)
        assert all(move.child_value in (None, truth[move.child]) for move in moves)
        if game.is_terminal(state):
            assert (answer.source, answer.exact, moves) == ("terminal", True, [])
            raises(PositionError, None, player.best, state)
            continue
        assert sorted(move.action for move in moves) == sorted(game.actions(state))
        sure = [move for move in moves if move.exact and move.value.score > 0 and not rules.scores]
        assert answer.exact or not (sure and answer.estimate is None)
        assert answer.exact or not (all(move.exact for move in moves) or Value(1, 1) in [one.value for one in moves])
        assert share < 1 or (answer.source, answer.exact) == ("book", True)
        if answer.exact and answer.source != "book" or share == 1:
            told += 1
            move = player.choose(state)
            assert (move.value, move.child_value, move.best) == (truth[state], truth[move.child], True)
            assert moves[0].value == truth[state]
    assert told


@pytest.mark.parametrize("text", ["connect-four:3,3,3", "kalah:2,3", "hexapawn:3,4", "coins", "mu-torere"])
def test_a_live_search_answers_like_the_naive_twin(text, monkeypatch):
    game = load_game(text)
    truth = naive.solve(game)
    player = Player({}, game, seconds=None)
    monkeypatch.setattr(Live, "estimates", None)  # nothing is left to guess
    for state in list(truth)[:30]:
        answer, moves = player.examine(state)
        assert (answer.value, answer.exact) == (truth[state], True)
        assert answer.source == ("terminal" if game.is_terminal(state) else "search")
        assert not moves or {player.choose(state).value, *(one.value for one in moves if one.best)} == {truth[state]}


DOORS = ("value", "best", "choose", "analyse", "examine", "outcomes", "check", "line")


def asked(player, door, state):
    """A player's answers at one entrance, to the end."""
    answer = getattr(player, door)(state)
    return list(answer) if door == "line" else answer


@pytest.mark.parametrize("text", ["tic-tac-toe", "coins", "nannon:3,2,3"])
def test_what_is_no_state_is_refused_at_every_door(text):
    """The rules need not bear it, or may take it for the end of the game."""
    players = (Player(text), Player({}, text, live=False)) if text == "tic-tac-toe" else (Player({}, text),)
    for player, door in itertools.product(players, DOORS):
        for odd in (4.0, "4", True, None, (4,)):
            raises(StateTypeError, "pass an int or a NumPy integer", asked, player, door, odd)
        for state in (-1, -(2**70), 2**63, 2**63 + 7):
            raises(PositionError, f"{state} is not a state", asked, player, door, state)


def test_rules_that_break_the_protocol_and_mappings_without_a_game_are_refused(tmp_path):
    raises(GameError, "has player 2 to move", Player(load_game(write_third(tmp_path / "third.py"))).value, 0)
    raises(GameError, r"write Player\(values, game\)", Player, {1: Value(0)})
    with Book("coins") as book:
        raises(ForeignBook, None, Player, book, load_game("connect-four:3,4"))
    game = load_game("nannon:3,2,3")
    player = Player({}, game)
    ends = (one for one in range(1 << 20) if not (game.is_terminal(one) or [*game.chance(one), *game.actions(one)]))
    stuck = next(ends)
    for ask in (player.best, player.analyse):
        raises(GameError, f"state {stuck} has no actions", ask, stuck)
    assert player.analyse(game.initial()) == [] and player.analyse(next(game.chance(game.initial()))[1])


@pytest.mark.parametrize("computer", [0, 1])
@pytest.mark.parametrize("text", ["tic-tac-toe", *slow("connect-four:4,3", "hexapawn:3,4")])
def test_a_player_with_an_alphabeta_book_never_does_worse_than_the_value(tmp_path, text, computer):
    """Against every reply, searching anew where play leaves the exact entries."""
    game = load_game(text)
    truth = naive.solve(game)
    pipeline.solve(game, tmp_path / "book.lmdb", method="alphabeta")
    promised = truth[game.initial()].score * (1 if computer == 0 else -1)
    with Book(tmp_path / "book.lmdb") as book:
        player = Player(book, seconds=None)
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


REACHED = [("tic-tac-toe", "instant"), ("hexapawn", "compact"), ("dots-and-boxes", "ranked")]
REACHED += [("domineering:3,3", "trimmed"), ("hexapawn", "wdl")]
MORE_REACHED = [(game, form) for game in ("tic-tac-toe", "dots-and-boxes") for form in ("compact", "trimmed")]
MORE_REACHED += [("tic-tac-toe", "ranked"), ("tic-tac-toe", "wdl"), ("hexapawn", "trimmed"), ("domineering:3,3", "wdl")]


@pytest.mark.parametrize(("game", "form"), [*REACHED, *slow_rows(*MORE_REACHED)])
def test_a_position_that_play_cannot_reach_is_refused_at_every_door(tmp_path, game, form):
    """And no other; what is answered agrees with its moves."""
    game, path = load_game(game), tmp_path / "book.lmdb"
    pipeline.solve(game, path, codec=form if form in NAMES else None).close()
    if form not in NAMES:
        trim(path, tmp_path / "small.lmdb", Trim(plies=int(form == "trimmed")), wdl=form != "trimmed")
        path = tmp_path / "small.lmdb"
    lot, reached, refused = random.Random(9), naive.enumerate_states(game), 0
    top = max(reached).bit_length() + 1
    strange = {state ^ 1 << lot.randrange(top) for state in lot.choices(reached, k=300)} - {*reached}
    with Book(path) as book:
        player = Player(book)
        for state in lot.sample(reached, min(len(reached), 300)):
            answer, moves = player.examine(state)
            assert answer == player.value(state) and answer.value is not None
            assert all(move.value is not None for move in moves) or form == "trimmed"
        for state in strange:
            try:
                answer, moves = player.examine(state)
            except PositionError:
                refused += 1
                continue
            assert answer == player.value(state) and answer.value is not None
            assert not moves or not moves[0].exact or moves[0].value.score == answer.value.score
        for state, door in itertools.product(strange if form in NAMES else (), DOORS):
            if not is_over(game, state) and book.get(state) is None:
                raises(PositionError, f"play cannot reach state {state}, .* shows: give", asked, player, door, state)
    assert refused


def test_numbers_that_rules_fold_onto_a_state_of_the_book_are_refused():
    """Their moves fail, lead out of the book, or are worth something else than the state of the book."""
    folded = {"domineering": 94606, "dots-and-boxes:3": 196756, "kayles": 32795, "hare-and-hounds": 57928}
    for text, state in {**folded, "chess-ending:KPK": 362021150, "achi": 532482}.items():
        player = Player(text)
        assert state not in list(player.solution) and player.solution.get(state) is not None
        raises(PositionError, f"play cannot reach state {state}, as the complete book", player.examine, state)


def is_over(game, state):
    """Whether the rules say so of what may be no state."""
    try:
        return game.is_terminal(state)
    except Exception:
        return False


def test_a_throw_that_play_cannot_reach_is_refused():
    player = Player("piglet")
    book = player.solution
    assert len(list(book)) > 10
    strange = [state for state in range(max(book) + 100) if state not in book and not is_over(player.game, state)]
    refused = 0
    for state in strange:
        try:
            answer, outcomes = player.value(state), player.outcomes(state)
            assert answer.value is not None and all(one.value is not None for one in outcomes)
        except PositionError:
            refused += 1
            for door in DOORS:
                raises(PositionError, "play cannot reach state", asked, player, door, state)
    assert refused > 10


@pytest.mark.parametrize("text", ["dots-and-boxes:3", "hex", "nannon", "kalah:3"])
def test_numbers_of_numpy_are_states_as_pythons_are(text):
    """Rules count on whole numbers that do not wrap: 4 as int16, shifted by 17 places, is 0."""
    np = pytest.importorskip("numpy")
    with Book(text) as book:
        player = Player(book)
        for state in (book.game.initial(), *random.Random(3).sample(list(book), 5)):
            if state and not player.analyse(state):
                continue
            doors = [door for door in DOORS if player.rules.chance is None or door not in ("best", "choose")]
            kinds = [kind for kind in (np.int16, np.int32, np.int64, np.uint64) if state <= np.iinfo(kind).max]
            for door in doors:
                answer = asked(player, door, state)
                for kind in kinds:
                    same = asked(player, door, kind(state))
                    assert same == answer and repr(same) == repr(answer), (door, kind)


def test_where_the_budget_ends_the_heuristic_answers_and_says_so():
    player = Player({}, load_game("tic-tac-toe:4,4,4"), nodes=300)
    answer, moves = player.examine(0)
    for known in (answer, player.value(0)):
        assert (known.source, known.exact, known.value) == ("search", False, None) and -1 < known.estimate < 1
    estimates = [move.estimate for move in moves if not move.exact]
    assert estimates == sorted(estimates, reverse=True) and len(estimates) > 10
    assert player.choose(0).estimate == answer.estimate == estimates[0]
    raises(MissingState, "known to be best", list, player.line(0))


def test_nobody_knows_is_none_and_never_a_draw():
    game = load_game("hexapawn:5,5")  # no `evaluate`
    player = Player({}, game, nodes=50)
    assert player.value(game.initial()) == (None, False, "missing", None)
    silent = Player({}, game, live=False)
    assert not silent.solve([game.initial()], silent.budget())[game.initial()].exact
    assert [(move.value, move.best) for move in silent.analyse(game.initial())] == [(None, False)] * 5
    raises(MissingState, "live search or more time", silent.best, game.initial())


def test_the_budget_is_for_all_moves_of_a_state_together(monkeypatch):
    looked_at = []
    start = load_game("connect-four:5,5").initial()
    is_terminal = ConnectFour.is_terminal
    monkeypatch.setattr(ConnectFour, "is_terminal", lambda game, state: looked_at.append(1) or is_terminal(game, state))
    budgets = [(ask, {"nodes": 1500, "seconds": None}) for ask in (Player.value, Player.choose, Player.examine)]
    for ask, budget in [*budgets, (Player.examine, {"seconds": 1e-9})]:
        looked_at.clear()
        ask(Player({}, "connect-four:5,5", **budget), start)
        assert len(looked_at) < 2500, ask


@pytest.mark.parametrize("text", ["backgammon-bearoff:2,4", "einstein:3,1"])
def test_two_plies_tell_expectations_too(text):
    game = load_game(text)
    truth, rules = chance.solve(game), Rules(game)
    chosen = random.Random(4)
    book = {rules.canonical(state): Value(float(truth[state])) for state in truth if not game.is_terminal(state)}
    for share in (0, 0.5):
        player = Player({state: value for state, value in book.items() if chosen.random() < share}, game)
        told = 0
        for state in chosen.sample(sorted(truth), min(60, len(truth))):
            answer, moves = player.examine(state)
            assert answer == player.value(state) and answer.estimate is None
            assert not answer.exact or answer.value.score == pytest.approx(float(truth[state]), abs=1e-12)
            after = [*moves, *player.outcomes(state)]
            assert answer.exact or not after or any(one.value is None for one in after)
            told += answer.exact and answer.source == "search"
        assert told


def test_a_book_without_distances_tells_who_wins_beyond_it(tmp_path):
    game = load_game("hexapawn:3,4")
    truth = naive.solve(game)
    pipeline.solve(game, tmp_path / "whole.lmdb")
    trim(tmp_path / "whole.lmdb", tmp_path / "book.lmdb", Trim(max_ply=4), wdl=True)
    with Book(tmp_path / "book.lmdb") as book:
        player, beyond = Player(book, live=False), 0
        for state in random.Random(3).sample(sorted(truth), 300):
            answer = player.value(state)
            assert not answer.exact or answer.value.score == truth[state].score
            if answer.exact and answer.source == "search":
                beyond += 1
                assert answer.value.distance is None and player.choose(state).value.score == truth[state].score
        assert beyond > 50


def test_loading_code_is_not_of_the_budget(monkeypatch):
    """The clock stands still, but while code is loaded."""
    now, left = [1000.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[-1])

    def look(self, plain, ask, budget):
        while budget._whole is not None:
            budget = budget._whole
        left.append(budget.seconds_left)
        raise BudgetExceeded("enough")

    monkeypatch.setattr(Compiled, "load", lambda self, wait: now.append(now[-1] + 60))
    monkeypatch.setattr(Compiled, "answer", look)
    monkeypatch.setattr(Live, "estimates", lambda self, states, budget: left.append(budget.seconds_left) or {})
    player = Player({}, "connect-four:5,5", seconds=5)
    assert player.value(player.game.initial()).source == "missing"
    assert left and set(left) == {5}


@pytest.mark.interpreted
def test_threads_may_share_a_player_and_keep_to_their_budgets():
    pytest.importorskip("numba")
    game = load_game("connect-four:4,3")
    truth = naive.solve(game)
    states = random.Random(3).sample([state for state in truth if not game.is_terminal(state)], 100)
    player = Player({}, game, seconds=None)
    player.prepare()

    def ask(state):
        return [player.value(state).value, player.choose(state).value]

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(ask, states)] == [[truth[state]] * 2 for state in states]
    player = Player({}, "connect-four:5,5", seconds=0.01)
    with player.live_search.turn(player.budget()):
        assert player.value(player.game.initial()).exact is False


def test_a_player_is_named_and_pickled():
    player = Player({}, "tic-tac-toe", nodes=5_000, seconds=None)
    again = pickle.loads(pickle.dumps(player))  # noqa: S301
    assert (again.game, again.nodes, again.seconds, again.live) == (load_game("tic-tac-toe"), 5_000, None, True)
    assert again.best(0b1) == player.best(0b1)
    silent = pickle.dumps(Player({3: Value(1, 1)}, "coins", live=False))
    assert pickle.loads(silent).value(3).source == "book"  # noqa: S301


@pytest.mark.parametrize(
    "text", ["mu-torere", "kalah:2,3", "othello:4,2", *slow("three-mens-morris:1", "quixo:2", "hexapawn:3,4")]
)
def test_what_is_forced_is_found_within_any_budget_and_nothing_else_is_claimed(text):
    """Unknown moves are preferred to known losses, and wins to all."""
    game = load_game(text)
    truth = naive.solve(game)
    exact = 0
    for state in random.Random(2).sample(sorted(truth), min(40, len(truth))):
        if not game.is_terminal(state):
            player = Player({}, game, nodes=60, seconds=None)
            answer, moves = player.examine(state)
            assert answer.value in (None, truth[state])
            exact += answer.exact
            assert all(move.child_value in (None, truth[move.child]) for move in moves)
            kinds = [0 if move.value is None else move.value.score for move in moves]
            assert kinds == sorted(kinds, reverse=True) or player.rules.scores
            if truth[state] == Value(1, 1):
                assert player.choose(state).value == moves[0].value == Value(1, 1)
    assert exact


def test_a_player_without_distances_finishes_its_wins_where_play_may_come_back():
    """Against the longest defence."""
    text = "three-mens-morris:1"
    with pipeline.solve(text, wdl=True) as bare, pipeline.solve(text) as full:
        assert bare.header.wdl and {value.distance for _, value in bare.items()} == {None}
        assert {state: value.score for state, value in full.items()} == {s: v.score for s, v in bare.items()}
        winner, loser = Player(bare), Player(full)
        rules = winner.rules
        won = [state for state, value in full.items() if value.score > 0 and value.distance > 3]
        for state in won[:: len(won) // 6]:
            for ply in range(full[state].distance + 20):
                if not rules.is_terminal(state):
                    state = rules.result(state, (loser if ply % 2 else winner).best(state))
            assert rules.is_terminal(state)
