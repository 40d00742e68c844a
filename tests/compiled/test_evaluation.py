"""Learned evaluations: what a file keeps, what is refused, and the features that they weigh."""

import hashlib
import itertools

import msgpack
import numpy as np
import pytest

from solver.base.errors import BookError, DamagedBook, ForeignBook, GameError
from solver.check.conformance import check_game
from solver.compiled.binding import bind
from solver.compiled.lookahead import depth as kernels
from solver.compiled.lookahead import evaluation as files
from solver.compiled.lookahead.evaluation import Evaluation, estimates, game_of, read, write
from solver.rules.game import Rules, load_game
from tests.games import EDGE_GAMES, SMALL_GAMES
from tests.refusals import raises
from tests.ways import slow, slowly
from tests.written import write_rules


def evaluation(game="connect-four:4,4", features=5, hidden=(3,)):
    draw = np.random.default_rng(1)
    shapes = itertools.pairwise([features, *hidden, 1])
    layers = [tuple(draw.normal(size=size).astype("f4") for size in (shape, shape[1])) for shape in shapes]
    identity = files.identity(load_game(game))
    return Evaluation(game, identity, features, "tanh", layers, 1.0, {"seed": 0, "source": "a book"}, {"sign": 0.5})


@pytest.mark.parametrize("hidden", [(), (3,), (4, 2)])
def test_what_is_written_is_read(tmp_path, hidden):
    written = evaluation(hidden=hidden)
    write(tmp_path / "a.eval", written)
    found = read(tmp_path / "a.eval")
    assert found.shape() == written.shape() == [5, *hidden, 1]
    assert found._replace(layers=[]) == written._replace(layers=[])
    for one, other in zip(found.layers, written.layers, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
    write(tmp_path / "b.eval", found)
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()


def test_the_largest_weights_have_no_infinite_sums():
    widths, most = (5, 1024, 1024, 1024, 1), np.float32(files.MOST_WEIGHT)
    signs = np.resize([1, -1], 1024).astype(np.float32) * most
    layers = [(np.full((a, b), most) * np.sign(signs[:a, None]), signs[:b]) for a, b in itertools.pairwise(widths)]
    table = np.array([[2**62, 1, -(2**62), 0, 3]], np.int64)
    for activation in ("tanh", "relu"):
        one = evaluation()._replace(features=5, layers=layers, activation=activation)
        assert np.abs(estimates(one, table)).max() < 1


def test_damaged_files_are_refused_in_one_line(tmp_path):
    path = tmp_path / "a.eval"
    write(path, evaluation())
    whole = path.read_bytes()
    copies = [whole[:length] for length in range(0, len(whole), 3)] + [whole + b"\0", bytes(range(256)), b""]
    for place in range(len(whole)):
        copies.append(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
    for copy in copies:
        path.write_bytes(copy)
        raises((DamagedBook, ForeignBook), r"^[^\n]*$", read, path)


def sealed(body):
    return files.HEAD.pack(files.MAGIC, files.LAYOUT, hashlib.sha256(body).digest()) + body


@pytest.mark.parametrize(
    "change",
    [
        *({"layers": layers} for layers in ([], {"a": 1}, [(5, 1, bytes(20), bytes(4))] * 2, [(5, 1, bytes(20))])),
        {"layers": [(5, 1, b"", b"")]},
        {"layers": [(0, 1, b"", b"1234")]},
        {"layers": [(4, 1, bytes(16), bytes(4))]},
        {"layers": [(5, 2, bytes(40), bytes(8))]},
        {"layers": [(5, 1, b"\xff" * 20, bytes(4))]},
        {"layers": [(5, 1, np.full(5, 3e38, "<f4").tobytes(), bytes(4))]},
        {"layers": [(5, 1, bytes(20), np.full(1, np.nan, "<f4").tobytes())]},
        *({"features": count} for count in (0, 10**6)),
        *({"scale": scale} for scale in (0.0, 1)),
        *({"activation": "exec"}, {"game": 5}, {"training": []}, {"figures": {"a": [1]}}, {"more": 1}),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, change):
    good = {**evaluation()._asdict(), "layers": [(5, 1, bytes(20), bytes(4))]}
    path = tmp_path / "a.eval"
    path.write_bytes(sealed(msgpack.packb(good)))
    read(path)
    path.write_bytes(sealed(msgpack.packb({**good, **change})))
    raises(DamagedBook, None, read, path)


def test_altered_bytes_behind_a_right_checksum_are_refused_or_read(tmp_path):
    """A checksum can be made anew: whatever the bytes, there is an evaluation that holds together or one error."""
    path = tmp_path / "a.eval"
    write(path, evaluation())
    body = path.read_bytes()[files.HEAD.size :]
    for place in range(len(body)):
        path.write_bytes(sealed(body[:place] + bytes([(0, 0xC1, 0xFF)[place % 3]]) + body[place + 1 :]))
        try:
            found = read(path)
        except DamagedBook as error:
            assert "\n" not in str(error)
        else:
            estimates(found, np.zeros((1, found.features), np.int16))


def test_other_versions_and_missing_files(tmp_path):
    path = tmp_path / "a.eval"
    raises(BookError, "cannot be read", read, path)
    write(path, evaluation())
    whole = bytearray(path.read_bytes())
    whole[len(files.MAGIC)] = 9
    path.write_bytes(whole)
    raises(ForeignBook, "version 9", read, path)


def test_an_evaluation_is_of_one_game(tmp_path):
    one = evaluation()
    assert game_of(one) == load_game("connect-four:4,4")
    raises(ForeignBook, "learn it again", game_of, one, load_game("connect-four:5,4"))
    raises(ForeignBook, "--game", game_of, one._replace(game="mine.py::Game"))


@pytest.mark.interpreted
def test_without_features_the_bits_of_the_state_are_taken():
    game = load_game("mu-torere")
    own = bind(kernels, game)
    states = [game.initial(), game.result(game.initial(), 0)]
    table = np.zeros((2, kernels.BITS), np.int16)
    assert own.tabulate(np.array(states), table) and not own.tabulate(np.array(states), table[:, 1:])
    for state, row in zip(states, table, strict=True):
        assert sum(int(bit) << place for place, bit in enumerate(row)) == game.canonical(state)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("range(state + 1)", "features, others"),
        ("()", "has 0 features"),
        ("(1.5,)", "has the feature 1.5"),
        ("(1 << 15,)", "has the feature 32768"),
        ("(1,) * 2000", "has 2000 features"),
        ("(__import__('random').random() > 0.5,) * 1", "has the feature (True|False)"),
        ("(__import__('random').randrange(1000),)", "differ from call to call"),
    ],
)
def test_bad_features_are_named(tmp_path, features, message):
    game = load_game(write_rules(tmp_path / "race.py", features=f"yield from {features}"))
    raises(GameError, message, check_game, game)


FEATURED = [name for name in (*SMALL_GAMES, *EDGE_GAMES[::2]) if Rules(load_game(name)).features is not None]
ONE_OF_EACH = {name.partition(":")[0]: name for name in reversed(FEATURED)}.values()


@pytest.mark.parametrize("name", slowly(FEATURED, *(name for name in FEATURED if name not in ONE_OF_EACH)))
def test_features_are_as_many_for_every_state_and_the_same_for_its_image(name):
    rules = Rules(load_game(name))
    states = [state for state in check_game(rules.game, playouts=1) if not rules.is_terminal(state)]
    found = [list(rules.features(state)) for state in states]
    assert len({len(row) for row in found}) <= 1
    for state, row in zip(states, found, strict=True):
        assert list(rules.features(rules.canonical(state))) == row


@pytest.mark.parametrize("name", ["connect-four:4,3", *slow("tic-tac-toe", "hexapawn", "kalah:2,3", "othello")])
@pytest.mark.interpreted
def test_compiled_features_are_those_of_plain_python(name):
    rules = Rules(load_game(name))
    states = [state for state in check_game(rules.game, playouts=2) if not rules.is_terminal(state)]
    plain = [list(rules.features(state)) for state in states]
    table = np.zeros((len(states), len(plain[0])), np.int16)
    assert bind(kernels, rules.game).tabulate(np.array(states), table)
    assert table.tolist() == plain


def test_features_of_connect_four_by_hand():
    """5 wide, 5 high, after 1 5 1 5 1 5: who moves wins on top of the first column, and must stop the other there."""
    game = load_game("connect-four:5,5")
    state = game.initial()
    for column in (0, 4, 0, 4, 0, 4):
        state = game.result(state, column)
    found = list(game.features(state))
    assert found[:11] == [1, 6, *game.bounds(state), 1, 0, 5, 5, 1, 0, 0]
    assert found[11:31] == [0] * 20  # both threats can be taken now
    upright, level, slanting = (found[i : i + 6] for i in (31, 37, 43))
    assert upright == [1, 1, 1, 1, 0, 0]  # one wants a stone: three and an empty cell; one wants two
    assert level == [0, 0, 0, 0, 3, 3]  # of each row's two lines, each side's own
    assert slanting == [0, 0, 0, 0, 2, 2]  # from the two lower stones
    assert found[49:] == [0] * 15  # as many stones of both in cells that are images
