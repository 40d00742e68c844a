"""Conformance of every game, by play-outs and in full on small boards, and the published results."""

import itertools
import random

import pytest

from solver.base.errors import PositionError
from solver.base.value import Value
from solver.check.conformance import check_game
from solver.rules.game import Rules, is_score_game, load_game, own_value
from solver.rules.notation import format_action, parse_action, show
from solver.rules.reading import parse_position
from solver.search import alphabeta
from tests import games, naive
from tests.oracles import ORACLES, WINNERS
from tests.pages import positions_of
from tests.refusals import raises
from tests.stores import Stores
from tests.ways import quickly, slow, slow_rows

EDGES = (*games.EDGE_GAMES, *games.MORE_EDGE_GAMES)
OTHERS = (*games.SMALL_GAMES, *games.MORE_GAMES, *games.LARGE_GAMES, *games.CHANCE_GAMES, *games.LARGE_CHANCE_GAMES)
EVERY = (*OTHERS, *EDGES)


@pytest.mark.parametrize("text", quickly(OTHERS, games.KINDS))
def test_the_rules_pass_the_public_check(text, request):
    slow = request.node.get_closest_marker("slow")
    assert check_game(load_game(text), playouts=100 if slow else 2)


class Word(int):
    """A number that is shifted by 0 to 63 places only: compiled, another shift gives anything."""


def _checked(name):
    def method(self, other):
        if "shift" in name:
            assert 0 <= (self if name.startswith("__r") and name != "__rshift__" else other) < 64
        return Word(getattr(int, name)(self, other))

    return method


for name in ("and", "or", "xor", "add", "sub", "mul", "floordiv", "mod", "lshift", "rshift"):
    setattr(Word, f"__{name}__", _checked(f"__{name}__"))
    setattr(Word, f"__r{name}__", _checked(f"__r{name}__"))


@pytest.mark.parametrize("text", quickly(EVERY, games.KINDS))
def test_rules_shift_by_less_than_64_places(text):
    game = load_game(text)
    game = type(game)(*(Word(field) if type(field) is int else field for field in game))
    methods = ("canonical", "tier", "bounds", "outlook", "replies", "longest", "evaluate", "utility", "to_move")
    for state in map(Word, itertools.islice(games.play_outs(game, 1), 0, None, 4)):
        assert state < 1 << 63
        for name in methods:
            if hasattr(game, name) and (name == "utility") == game.is_terminal(state):
                getattr(game, name)(state)
        if hasattr(game, "chance") and not game.is_terminal(state) and [*game.chance(state)]:
            continue
        for action in [] if game.is_terminal(state) else map(Word, game.actions(state)):
            game.result(state, action)
            for name in ("again", "reward", "promise"):
                if hasattr(game, name):
                    getattr(game, name)(state, action)


@pytest.mark.parametrize("text", quickly(EVERY, games.KINDS))
def test_moves_have_names_that_are_theirs_alone_and_show_where_they_lead(text):
    game = load_game(text)
    cells = game.cells if hasattr(game, "cells") else lambda state, mover: []
    drawing = own_value(game, "drawing") or {}
    size = len("".join(cells(game.initial(), 0)))
    assert len(drawing.get("at", ())) in ((size,) if drawing.get("board") == "tray" else (0, size))
    count = 3 if text in games.SMALL_GAMES + games.MORE_GAMES else 1
    for state in games.play_outs(game, count, length=6 if text in EDGES else 60):
        assert show(game, state)
        board = [*cells(state, 0)]
        assert len({len(row) for row in board}) <= 1
        if game.is_terminal(state):
            continue
        actions = [*game.actions(state)]
        names = [format_action(game, state, action) for action in actions]
        assert len(set(names)) == len(names)
        assert [parse_action(game, state, name) for name in names] == actions
        for action in actions if text in games.MORE_GAMES else ():
            place, after = list(game.place(state, action)), "".join(game.cells(game.result(state, action), 1))
            assert not place or any((after[cell] == ".") != ("".join(board)[cell] == ".") for cell in place)


@pytest.mark.parametrize("text", quickly([*games.SMALL_GAMES, *games.MORE_GAMES], games.KINDS))
def test_tiers_symmetry_and_bounds_hold_in_every_state(text):
    game = load_game(text)
    values, folds, tight, unfinished = naive.solve(game), hasattr(game, "canonical"), 0, 0
    folded = naive.solve(game, symmetry=True) if folds else values
    least = 0 if "morris" in text or "checkers" in text else 1  # whose men, or kings, move within a tier
    for state, value in values.items():
        image = game.canonical(state) if folds else state
        assert folded[image] == value and (not folds or game.canonical(image) == image)
        if game.is_terminal(state):
            continue
        if hasattr(game, "tier"):
            tiers = [game.tier(game.result(state, action)) for action in game.actions(state)]
            assert game.tier(image) == game.tier(state) and min(tiers) - game.tier(state) >= least
        if hasattr(game, "bounds"):
            unfinished += 1
            lower, upper = game.bounds(state)
            assert lower <= value.score <= upper
            tight += not is_score_game(game) and (lower, upper) != (-1, 1)
    assert not unfinished or tight > min(10, unfinished / 5) or is_score_game(game)


def oracles_of(states):
    return [oracle for oracle in ORACLES if (oracle.states or oracle.size) <= states]


@pytest.mark.parametrize("oracle", quickly(oracles_of(12_100), oracles_of(1_500)), ids=lambda oracle: oracle.game)
def test_published_results(oracle):
    game = load_game(oracle.game)
    values = naive.solve(game)
    assert values[game.initial()] == Value(*oracle.root)
    if oracle.states is not None:
        assert len(values) == oracle.states
    if oracle.counts is not None:
        assert tuple(sum(value.score == score for value in values.values()) for score in (1, 0, -1)) == oracle.counts
    if oracle.longest is not None:
        assert max(value.distance for value in values.values() if value.score == 1) == oracle.longest


@pytest.mark.parametrize("boards", ["boards", *slow("larger")])
@pytest.mark.parametrize("figures", WINNERS, ids=lambda figures: figures.game)
def test_published_winners(figures, boards):
    for text, published in getattr(figures, boards).items():
        won = alphabeta.solve(load_game(f"{figures.game}:{text}"), table={}).value.score > 0
        assert (1 if won else 2) == published, text


@pytest.mark.slow
def test_amazons_on_four_by_four_are_won_by_the_second_player():
    """Song and Mueller 2015, four amazons each."""
    game, searcher = load_game("amazons:4,4,4"), pytest.importorskip("solver.compiled.exact.searcher")
    assert searcher.Searcher(Rules(game)).value(game.initial()).score == -1


@pytest.mark.parametrize(
    ("width", "height", "seen", "all_states"),
    [(2, 2, (7, 3), (7, 3)), (2, 3, (75, 50), (115, 74)), *slow_rows((3, 3, (860, 605), (1_148, 832)))],
)
def test_amazons_published_counts_are_of_what_a_search_sees(width, height, seen, all_states):
    """A depth-first search that leaves a state at its first winning move, in the published order of moves."""
    game, cells, known = load_game(f"amazons:{width},{height},everything=true"), width * height, {}
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))

    def squares(square, taken):
        for right, up in sides:
            column, row = square % width + right, square // width + up
            while 0 <= column < width and 0 <= row < height and not taken >> row * width + column & 1:
                yield row * width + column
                column, row = column + right, row + up

    def is_won(state):
        image = game.canonical(state)
        if image not in known:
            both, board = state >> cells, (1 << cells) - 1
            taken, own = (state | both) & board, state & ~both & board
            source = own.bit_length() - 1
            moves = (
                (source * cells + target) * cells + arrow
                for target in squares(source, taken)
                for arrow in squares(target, taken ^ own)
            )
            known[image] = any(not is_won(game.result(state, move)) for move in moves)
        return known[image]

    for own, other in itertools.permutations(range(cells), 2):
        is_won(1 << own | 1 << cells + other)
    assert (len(known), sum(known.values())) == seen
    truth = naive.solve(game, symmetry=True)
    assert (len(truth), sum(value.score > 0 for value in truth.values())) == all_states


def test_tic_tac_toe_finished_boards():
    """958 = 626 X wins, 316 O wins, 16 draws (UCI); folded 138 = 91 + 44 + 3."""
    game = load_game("tic-tac-toe")
    for symmetry, counts in ((False, (626, 316, 16)), (True, (91, 44, 3))):
        finished = [state for state in naive.enumerate_states(game, symmetry) if game.is_terminal(state)]
        decided = [game.tier(state) % 2 for state in finished if game.utility(state)]
        assert (decided.count(1), decided.count(0), len(finished) - len(decided)) == counts


def test_misere_tic_tac_toe_only_the_centre_draws():
    game = load_game("tic-tac-toe:3,3,3,true")
    values = naive.solve(game)
    replies = {format_action(game, 0, action): values[game.result(0, action)] for action in game.actions(0)}
    assert replies.pop("b2") == Value(0)
    assert set(replies.values()) == {Value(1, 8)}  # the opponent wins in 8 more plies


@pytest.mark.parametrize(("most", "misere"), list(itertools.product((1, 2, 3, 5), (True, False))))
def test_coins_by_closed_form(most, misere):
    values = naive.solve(load_game(f"coins:60,{most},{misere}"))
    lost = [coins for coins, value in values.items() if value.score == -1 and coins]
    assert sorted(lost) == [coins for coins in range(1, 61) if coins % (most + 1) == (1 if misere else 0)]


def test_nim_by_bouton():
    """64 of the ordered triples 0..7 are lost for the mover (Bouton 1901)."""
    game = load_game("nim:7,7,7")
    lost = [state for state, value in naive.solve(game).items() if value.score == -1]
    assert len(lost) == 64
    assert all((state & 7) ^ (state >> 3 & 7) ^ (state >> 6) == 0 for state in lost)


def test_misere_nim_by_bouton():
    for state, value in naive.solve(load_game("nim:5,5,5,5,misere=true")).items():
        heaps = [state >> 3 * heap & 7 for heap in range(4)]
        nim_sum = heaps[0] ^ heaps[1] ^ heaps[2] ^ heaps[3]
        lost = nim_sum == 0 if max(heaps) > 1 else heaps.count(1) % 2 == 1
        assert (value.score == -1) == lost


def test_margins_have_the_parity_of_what_is_shared():
    for text in ("dots-and-boxes:2,1", "dots-and-boxes:1,4", "kalah:2,3"):
        game = load_game(text)
        for state, value in naive.solve(game).items():
            assert value.score % 2 == game.bounds(state)[1] % 2
            assert abs(game.evaluate(state)) <= game.bounds(state)[1]


def assert_same_position(game, state, judge, board_state):
    """The houses, whether the game is over, and the moves with what they score, whoever repeats it."""
    side, board = game.houses + 1, judge.board(board_state)
    sides = [board[: game.houses], board[side : side + game.houses]]
    own, other = reversed(sides) if board_state % 2 else sides
    _, above, below, _ = (line.split() for line in show(game, state).splitlines())
    assert [list(map(int, below)), list(map(int, reversed(above)))] == [own, other]
    assert game.is_terminal(state) == judge.is_terminal(board_state)
    if game.is_terminal(state):
        assert judge.margin(board_state) + game.utility(state) == judge.utility(board_state)
        return
    actions = list(judge.actions(board_state))
    assert list(game.actions(state)) == actions == [house for house in range(64) if game.replies(state) >> house & 1]
    for action in actions:
        after = judge.result(board_state, action)
        again = after % 2 == board_state % 2
        assert game.again(state, action) == again
        gained = judge.margin(after) * (1 if again else -1) - judge.margin(board_state)
        assert game.reward(state, action) == gained


@pytest.mark.parametrize("text", ["2,3", "2,4,false", *slow("3,2"), "1,7"])
def test_kalah_is_worth_the_stores_and_what_is_still_to_come(text):
    game = load_game(f"kalah:{text}")
    judge = Stores(*game)
    values, states = naive.solve(game), {judge.initial(): game.initial()}
    for board_state, value in sorted(naive.solve(judge).items(), key=lambda item: judge.tier(item[0])):
        state = states[board_state]
        assert value.score == judge.margin(board_state) + values[state].score
        assert_same_position(game, state, judge, board_state)
        for action in [] if game.is_terminal(state) else game.actions(state):
            child = game.result(state, action)
            assert states.setdefault(judge.result(board_state, action), child) == child
    assert set(states.values()) == set(values)


@pytest.mark.parametrize("text", ["4,3", "6,4", "6,4,false", "1,25", "2,60,false", *slow("6,3", "12,1")])
def test_kalah_is_played_as_its_judge_plays_it(text):
    """Both ways to write a state: 6,3, 6,4 and 12,1 are zeros and ones."""
    game = load_game(f"kalah:{text}")
    judge = Stores(*game)
    rng = random.Random(text)
    for _ in range(3):
        state, board_state = game.initial(), judge.initial()
        while not game.is_terminal(state):
            assert_same_position(game, state, judge, board_state)
            action = rng.choice(list(game.actions(state)))
            state, board_state = game.result(state, action), judge.result(board_state, action)
            assert 0 <= state < 1 << 63
        assert_same_position(game, state, judge, board_state)


def test_a_house_of_kalah_holds_any_number_of_seeds():
    """More than five bits tell, and a hand that goes round the board three times."""
    game, judge = load_game("kalah:6,4"), Stores(6, 4)
    assert game.initial() == int("10000" * 12, 2)
    row = [0, 0, 0, 0, 0, 47]
    many = int("".join("1" + "0" * seeds for seeds in reversed([*row, 1, 0, 0, 0, 0, 0])), 2)
    assert_same_position(game, many, judge, judge.number([*row, 0, 1, 0, 0, 0, 0, 0, 0], 0))
    after = game.result(many, 5)
    assert " ".join(show(game, after).split()[6:18]) == "3 3 3 3 3 4 5 4 4 4 4 4"


def open_boxes(game, state):
    """The boxes that are not complete, by the names of their edges."""
    names = {game.format_action(state, edge): edge for edge in range(game.size().bit_length() - 1)}
    columns = "abcdefghijklmnopqrstuvwxyz"
    left = 0
    for row in range(1, game.height + 1):
        for x, next_x in itertools.pairwise(columns[: game.width + 1]):
            box = (f"{x}{row}h", f"{x}{row + 1}h", f"{x}{row}v", f"{next_x}{row}v")
            left += not all(state >> names[edge] & 1 for edge in box)
    return left


@pytest.mark.parametrize("text", ["1,1", "2,1", "1,3", "2,2", "3,2", "3,3", "5,5", "12,2", "1,20", "20,1"])
def test_dots_and_boxes_closes_boxes(text):
    game, chance = load_game(f"dots-and-boxes:{text}"), random.Random(text)
    for _ in range(20):
        state = chance.randrange(game.size())
        left = open_boxes(game, state)
        assert game.bounds(state) == (-left, left)
        for edge in game.actions(state):
            closed = left - open_boxes(game, game.result(state, edge))
            assert (game.reward(state, edge), game.again(state, edge)) == (closed, closed > 0)


def test_dots_and_boxes_knows_which_edges_give_a_box_away():
    game = load_game("dots-and-boxes:2,1")
    state, names = 0, {}
    for name in ("a1h", "a2h"):
        names = {game.format_action(state, edge): edge for edge in game.actions(state)}
        state = game.result(state, names[name])
    promised = {name: game.promise(state, edge) for name, edge in names.items() if name != "a2h"}
    assert promised == {"a1v": -1, "b1v": -1, "b1h": 0, "b2h": 0, "c1v": 0}
    state = game.result(state, names["b1v"])
    assert (game.promise(state, names["a1v"]), game.evaluate(state), game.evaluate(0)) == (1, 1, 0)


def test_dots_and_boxes_first_moves_of_two_by_two():
    """The 8 outer edges are worth +2, the 4 inner ones 0 (David Wilson)."""
    game = load_game("dots-and-boxes:2,2")
    values = naive.solve(game)
    first = [-values[game.result(game.initial(), edge)].score for edge in game.actions(game.initial())]
    assert sorted(first) == [0] * 4 + [2] * 8


def test_a_pawn_promotes_to_all_four_pieces():
    """b8=N mates; g8=N wins in 51 plies where a queen or a rook is stalemate, a bishop of that colour too little."""
    game = load_game("chess-ending:KBPK")
    state = game.parse_position("8/1P6/kBK5/8/8/8/8/8 w")
    mate = game.result(state, parse_action(game, state, "b8=N"))
    assert game.is_terminal(mate) and game.utility(mate) == -1
    state = game.parse_position("8/6P1/7k/8/6K1/8/8/1B6 w")
    names = [format_action(game, state, action) for action in game.actions(state)]
    assert {name for name in names if "=" in name} == {"g8=N", "g8=B", "g8=R", "g8=Q"}
    knight = game.result(state, parse_action(game, state, "g8=N"))
    assert game.format_position(knight) == "6N1/8/7k/8/6K1/8/8/1B6 b - - 0 1"
    assert not game.is_terminal(knight)
    alone = load_game("chess-ending:KPK")
    state = alone.parse_position("7k/1P6/8/8/6K1/8/8/8 w")
    drawn = {"b8=N": True, "b8=B": True, "b8=R": False, "b8=Q": False}  # a bare minor piece cannot mate
    for name, over in drawn.items():
        after = alone.result(state, parse_action(alone, state, name))
        assert (alone.is_terminal(after), alone.utility(after)) == (over, 0 if over else alone.utility(after))


@pytest.mark.parametrize("ending", ["KQK", "KPK", "KBPK", "KPPK", "KBBK", "KBNK"])
def test_placements_as_fen_and_back(ending):
    game = load_game(f"chess-ending:{ending}")
    for state in itertools.islice(game.starts(), 0, 2_000, 97):
        fen = game.format_position(state)
        assert game.parse_position(fen) == game.parse_position(" ".join(fen.split()[:2])) == state
        assert parse_position(game, show(game, state).splitlines()[-1]).state == state
        for action in game.actions(state):
            assert parse_action(game, state, format_action(game, state, action)) == action


def test_a_pawn_takes_another_en_passant_at_once_or_not_at_all():
    game = load_game("chess-duel:KPKP")
    state = game.parse_position("8/8/8/8/1p6/8/P3k3/6K1 w")
    passed = game.result(state, parse_action(game, state, "a4"))
    assert game.format_position(passed) == "8/8/8/8/Pp6/8/4k3/6K1 b - a3 0 1"
    assert game.parse_position(game.format_position(passed)) == passed
    taken = game.result(passed, parse_action(game, passed, "bxa3"))
    assert game.format_position(taken) == "8/8/8/8/8/p7/4k3/6K1 w - - 0 1"
    once = game.parse_position("8/8/8/8/Pp6/8/4k3/6K1 b")
    assert "bxa3" not in [format_action(game, once, action) for action in game.actions(once)]
    raises(ValueError, "en passant", game.parse_position, "8/8/8/8/Pp6/8/4k3/6K1 b - c3")


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("8/8/7k/8/6K1/8/8/1B6", "w or b"),
        *[(fen, "8 ranks") for fen in ("8/8/7k/8/6K1/8/8 w", "8/8/7k/8/6K1/8/8/1B7 w")],
        ("8/8/7k/8/6K1/8/8/1X6 w", "no piece is written 'X'"),
        ("8/8/7k/8/6K1/8/6R1/1b6 w", "Black nothing else"),
        ("8/8/7k/8/6K1/8/8/KB6 w", "one king"),
        *[(f"8/8/7k/8/6K1/8/8/{men} b", "never stand on the board in KBPK") for men in ("1N2R3", "BBB5")],
        ("8/8/7k/8/6K1/8/8/1P6 b", "first or the last rank"),
        ("8/8/7k/6K1/8/8/8/1B6 b", "side by side"),
        ("8/6Q1/7k/8/6K1/8/8/1B6 w", "Black is in check"),
        ("7k/8/8/8/8/8/8/R3K3 w Q - 0 1", "castling"),
    ],
)
def test_fen_that_is_no_position_of_the_ending(fen, message):
    raises(PositionError, message, parse_position, load_game("chess-ending:KBPK"), fen)


def test_moves_of_pieces_by_other_names():
    game = load_game("chess-ending:KBPK")
    state = game.parse_position("8/1P6/kBK5/8/8/8/8/8 w - - 0 1")
    names = {"b8=N": "b8n B8=n b7b8N b8N#", "Bb6c5": "bc5 b6c5 Bb6-c5", "Kd7": "kd7 c6d7 KC6D7"}
    for name, others in names.items():
        assert {parse_action(game, state, text) for text in others.split()} == {parse_action(game, state, name)}
    state = game.parse_position("8/8/8/8/8/BP6/8/k6K w")
    raises(PositionError, None, parse_action, game, state, "Bc2")
    assert format_action(game, state, parse_action(game, state, "bb4")) == "Ba3b4"
    # small letters as squares first, so the pawn's move, not the bishop's from the third rank
    assert format_action(game, state, parse_action(game, state, "b3b4")) == "b4"


READ_BACK = (
    "connect-four:4,4", "tic-tac-toe:4,3,3", "breakthrough:4,5,2", "hexapawn", "othello", "quixo", "hex:4", "teeko",
    "neutreeko", "checkers:6", "chess-ending:KBPK", "chess-ending:KRK",
)  # fmt: skip


@pytest.mark.parametrize("text", READ_BACK)
def test_boards_are_read_back(text):
    """A board gives its state; one with another man somewhere gives none, or the one whose board that is."""
    game, chance = load_game(text), random.Random(3)
    rules = Rules(game)
    read, refused = 0, 0
    for position in positions_of(rules, 60):
        mover = position.mover or 0
        rows = list(game.cells(position.state, mover))
        assert game.from_cells(rows, mover) == position.state
        row, column = chance.randrange(len(rows)), chance.randrange(len(rows[0]))
        mark = chance.choice(sorted({*"".join(rows), "."}))
        rows[row] = rows[row][:column] + mark + rows[row][column + 1 :]
        for side in (0, 1):
            try:
                state = game.from_cells(rows, side)
            except ValueError as error:
                assert str(error)
                refused += 1
                continue
            assert [one.replace("-", ".") for one in game.cells(state, side)] == [one.replace("-", ".") for one in rows]
            assert rules.to_move is None or rules.to_move(state) == side
            read += 1
    assert read > 10 and (refused > 10 or text in ("othello", "quixo"))


def test_a_state_of_connect_four_is_that_of_the_picture():
    four = load_game("connect-four:4,4")
    state = four.initial()
    for column in (1, 1, 2):
        state = four.result(state, column)
    assert state == 0b00001_00010_00110_00001  # the picture in the rules
