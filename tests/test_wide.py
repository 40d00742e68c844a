"""Games whose states take more than 63 bits: rules, notation and plain searches; compiled, against plain Python."""

import itertools
import random
from typing import NamedTuple

import pytest

from solver import Book, Player, verify
from solver.base import extras
from solver.base.errors import BookError, DamagedBook, GameError, MethodError, PositionError
from solver.base.value import Value
from solver.book.check import check_book
from solver.book.codecs import wide
from solver.check.conformance import check_game
from solver.export import export
from solver.games.checkers import Checkers
from solver.games.connect_four import ConnectFour
from solver.games.hex import Hex
from solver.games.othello import Othello
from solver.play.lookahead import features_of
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.rules.notation import parse_position
from solver.rules.width import bits_of
from solver.search import alphabeta, heuristic, minimax
from solver.solving.pipeline import solve

# Perft of othello 8x8 from the start, passes counted as moves
OTHELLO = (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288)


# Perft of English draughts, a capture counted as one move
CHECKERS = (7, 49, 302, 1469, 7361, 36768, 179740, 845931)


class Declared(ConnectFour):
    """Connect-four in as many bits as a width takes: the same states, wider numbers."""

    bits = 100


class Full(ConnectFour):
    bits = 128  # all of two words: numbers take a third for their sign


class Stairs(NamedTuple):
    """Climb one or two steps in turns; who takes the last wins. A state has its steps high up."""

    steps: int = 9
    bits = 90

    def initial(self):
        return self.steps << 80

    def actions(self, state):
        yield 1
        if state >> 80 > 1:
            yield 2

    def result(self, state, action):
        return state - (action << 80)

    def is_terminal(self, state):
        return state == 0

    def utility(self, state):
        return -1


class Low(Stairs):
    bits = 70


class Odd(Stairs):
    bits = 0


def states_of(game, count, seed=1):
    """States of random games, finished ones included."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        state = game.initial()
        found.append(state)
        while not game.is_terminal(state):
            state = game.result(state, draw.choice(list(game.actions(state))))
            found.append(state)
    return found[:count]


def perft(game, state, depth):
    if depth == 0 or game.is_terminal(state):
        return 1
    return sum(perft(game, game.result(state, action), depth - 1) for action in game.actions(state))


def test_bits_are_declared_and_enter_the_fingerprint_only_where_they_are_not_63():
    texts = {"othello": 63, "othello:8,8": 128, "connect-four": 63, "breakthrough:8,8,2": 129, "coins": 63}
    assert {text: bits_of(load_game(text)) for text in texts} == texts
    assert fingerprint(Declared(4, 3)) != fingerprint(Full(4, 3))
    with pytest.raises(GameError, match="bits = 0: say how many bits"):
        Rules(Odd())


def test_plain_searches_take_wide_states():
    game = Stairs()
    assert minimax.solve(game).value == alphabeta.solve(game).value == Value(-1, 6)
    check_game(game, playouts=5)
    with pytest.raises(GameError, match=r"the start is outside \[0, 2\*\*70\)"):
        check_game(Low(), playouts=5)


def test_a_player_and_notation_take_wide_states():
    game = load_game("othello:8,8")
    with pytest.raises(PositionError, match=r"2\*\*128 - 1"):
        Player({}, game, live=False).value(1 << 128)
    state = parse_position(game, "e3 d3").state
    assert parse_position(game, f"#{state}").state == state > 1 << 63
    with pytest.raises(PositionError, match=r"below 2\*\*128"):
        parse_position(game, f"#{1 << 128}")


def test_what_cannot_take_them_says_so_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    with pytest.raises(MethodError, match="othello:8,8 has states of 128 bits, the sweep takes 63: an opening book"):
        solve("othello:8,8")
    with pytest.raises(BookError, match="has states of 90 bits, this codec takes 63: leave --codec out"):
        solve(Stairs(), codec="compact", max_ply=3)
    with solve(Stairs(), tmp_path / "stairs.lmdb", max_ply=3), pytest.raises(MethodError, match="or a page takes 63"):
        export(Book(tmp_path / "stairs.lmdb", Stairs()), tmp_path / "stairs.bin")
    with pytest.raises(BookError, match="the codec wide is for more"):
        solve("tic-tac-toe", codec="wide")


def test_an_opening_book_of_wide_states(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    game, path = Stairs(40), tmp_path / "stairs.lmdb"
    with solve(game, path, max_ply=6) as book:
        values = {state: alphabeta.solve(game, state).value for state in book}
        assert dict(book.items()) == values and book.header.longest == (27, 40 << 80)
        assert all(book.find(state) == value for state, value in values.items())
        assert [book.get(state) for state in (0, -1, 5, 1 << 200, 41 << 80, "4", None)] == [None] * 7
        assert verify(path, game=game).verdict == "proved"
        assert check_book(path, game=game) == book.header
    assert bytes(path.read_bytes()) == bytes((solve(game, tmp_path / "again", max_ply=6).path).read_bytes())


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 3000])
def test_the_wide_codec_keeps_what_it_is_given(count):
    draw = random.Random(count)
    keys = sorted({draw.getrandbits(draw.choice((20, 70, 129))) for _ in range(count)})
    indices = [draw.randrange(300) for _ in keys]
    payload, counts, lengths = wide.encode_chunk(keys, indices, 300, 2)
    begin, at = 0, 0
    for states, length in zip(counts, lengths, strict=True):
        body, some = memoryview(payload)[begin : begin + length], keys[at : at + states]
        assert wide.decode(body, some[0], 2) == (some, indices[at : at + states])
        segment = body, [some[0]], [0, length], 2
        assert [wide.find(segment, key) for key in some] == indices[at : at + states]
        others = {key + step for key in some for step in (-1, 1, 1 << 64)} - {*some}
        assert {wide.find(segment, key) for key in others if key > some[0]} <= {None}
        begin, at = begin + length, at + states
    with pytest.raises(DamagedBook):
        wide.decode(memoryview(payload)[: lengths[0] - 1], keys[0], 2)


def test_perft_of_othello():
    game = Othello(8, 8)
    assert [perft(game, game.initial(), depth) for depth in range(1, 5)] == list(OTHELLO[:4])


def test_perft_of_checkers():
    game = Checkers()
    assert [perft(game, game.initial(), depth) for depth in range(1, 4)] == list(CHECKERS[:3])


def test_features_without_the_method_are_the_bits():
    rules = Rules(Stairs())
    assert features_of(rules, 5 << 80) == [0] * 80 + [1, 0, 1] + [0] * 7


def computed_in(width):
    """A kernel of two wide numbers and a distance, which writes the words of what it computes into rows."""
    import numba

    from solver.compiled import wide as numbers
    from solver.compiled import words

    raised, left, word = words.raised_to(width), words.left(width), words.word_of
    number = numbers.Constant.of((1 << 100) | 5, width)
    pair = numbers.Constant.of(7, width), numbers.Constant.of(1 << 90, width)

    @numba.njit
    def write(out, i, x):
        for place in range(out.shape[1]):
            out[i, place] = word(left(x, 0), place)
        return i + 1

    @numba.njit
    def compute(parts, n, out):
        x, y, i = raised(parts[0, 0], 0), raised(parts[1, 0], 0), 0
        for place in range(1, parts.shape[1]):
            x |= raised(parts[0, place], place)
            y |= raised(parts[1, place], place)
        z, told, looped = y if y else left(1, 0), 0, 0
        for _ in range(x & left(3, 1)):
            looped += 1
        for one in (x & y, x | y, x ^ y, x + y, x - y, x * y, x // z, x % z, left(x, n), x >> n, ~x, -x, x & number):
            i = write(out, i, one)
        for one in (min(x, y), max(x, y, 3), pair[n & 1], pair[x & 1], left(1, n), abs(x), left(x & 255, 0)):
            i = write(out, i, one)
        for test in (x < y, x <= y, x > y, x == y, x != 3, not x, bool(y)):
            told = 2 * told + test
        return told, looped, words.bit_count(x), x / 3

    return compute


def expected(x, y, n):
    z = y or 1
    numbers = [x & y, x | y, x ^ y, x + y, x - y, x * y, x // z, x % z, x << n, x >> n, ~x, -x, x & ((1 << 100) | 5)]
    numbers += [min(x, y), max(x, y, 3), (7, 1 << 90)[n & 1], (7, 1 << 90)[x & 1], 1 << n, abs(x), x & 255]
    return numbers, int("".join(map(str, map(int, (x < y, x <= y, x > y, x == y, x != 3, not x, bool(y))))), 2)


@pytest.mark.slow
@pytest.mark.parametrize("width", [128, 192])
def test_numbers_compute_as_pythons(width):
    pytest.importorskip("numba")
    import numpy as np

    from solver.compiled.states import packed

    compute, draw, more = computed_in(width), random.Random(width), (0,) * (width // 64 - 1)
    all_bits, half = (1 << width) - 1, 1 << width - 1

    def signed(number):
        return (number + half & all_bits) - half

    for _ in range(1000):
        x, y = (signed(draw.getrandbits(width)) >> draw.randrange(width) for _ in range(2))
        n, out = draw.randrange(width), np.zeros((20, width // 64), np.int64)
        told, looped, bits, third = compute(packed([x & all_bits, y & all_bits], more), n, out)
        numbers, truths = expected(x, y, n)
        assert out.tolist() == packed([number & all_bits for number in numbers], more).tolist(), (x, y, n)
        assert (told, looped, bits) == (truths, x & 6, (x & all_bits).bit_count())
        assert third == pytest.approx(x / 3)


@pytest.mark.parametrize(
    ("size", "openings"), [(2, {"b1": 3, "a2": 3}), (3, {"b2": 5, "c1": 7, "a3": 7, "a2": 9, "c2": 9})]
)
def test_winning_openings_of_hex(size, openings):
    """The published first moves that win, and in how many plies with them."""
    game, found, table = Hex(size), {}, {}
    for action in game.actions(game.initial()):
        value = alphabeta.solve(game, game.result(game.initial(), action), table=table).value
        if value.score < 0:
            found[game.format_action(game.initial(), action)] = value.distance + 1
    assert found == openings


def test_checkers_jumps_are_forced_and_carried_on():
    game, squares = Checkers(), 32

    def board(black, white, kings=(), turn=0):
        bits = [1 << one - 1 for one in black] + [1 << squares + one - 1 for one in white]
        return sum(bits) + sum(1 << 2 * squares + one - 1 for one in kings) + (turn << 3 * squares)

    def moves(state):
        return [game.format_action(state, action) for action in game.actions(state)]

    assert moves(board([10, 1], [14, 23])) == ["10x17"]
    assert moves(board([10], [14, 22, 15])) == ["10x17x26", "10x19"]
    assert moves(board([19], [24, 26, 25])) == ["19x28"]
    crowned = board([22], [25, 26])
    assert moves(crowned) == ["22x29", "22x31"]  # which becomes a king and stops
    king = board([11], [7, 8, 15, 16], kings=[11])
    assert moves(king) == ["11x2", "11x4", "11x18", "11x20"]
    after = game.result(board([10], [14, 22]), next(game.actions(board([10], [14, 22]))))
    assert after == board([26], [], turn=1) and game.is_terminal(after)
    assert moves(board([18], [27], turn=1)) == ["27-23", "27-24"]


WIDE = ("othello:8,8", "breakthrough:8,8,2", "connect-four:9,7", "tic-tac-toe:8,8,5", "hex:11", "checkers")


@pytest.mark.slow
@pytest.mark.parametrize("text", WIDE)
def test_compiled_rules_are_the_plain_ones(text):
    pytest.importorskip("numba")
    import numpy as np

    from solver.compiled import agreement
    from solver.learning.moves import COMPARED, Board

    game = load_game(text)
    check_game(game, playouts=3)
    states = states_of(game, 20_000)
    agreement.compare(game, states)
    unfinished = [state for state in states if not game.is_terminal(state)]
    board = Board(Rules(game))
    for begin in range(0, 10 * COMPARED, COMPARED):
        board.compare(np.array(unfinished[begin : begin + COMPARED], object))
    guesses = board.guesses(np.array(unfinished[:1000], object)).tolist()
    assert guesses == [game.evaluate(state) for state in unfinished[:1000]]


@pytest.mark.slow
def test_what_leaves_the_width_is_noticed():
    pytest.importorskip("numba")
    from solver.base.errors import UncompiledRules
    from solver.compiled import agreement

    class Leaving(Declared):
        def tier(self, state):
            return (state << 120 >> 120).bit_count()

    with pytest.raises(UncompiledRules, match="in Python and"):
        agreement.compare(Leaving(4, 3), states_of(Leaving(4, 3), 20))


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Declared, Full])
def test_searches_find_what_they_find_in_63_bits(cls):
    pytest.importorskip("numba")
    from solver.compiled.exact.searcher import Searcher, Team
    from solver.compiled.lookahead.searches import Chooser, Lookahead

    usual, wide = ConnectFour(5, 4), cls(5, 4)
    states = [state for state in states_of(usual, 200) if not usual.is_terminal(state)]
    values = [Searcher(usual).value(state) for state in states]
    searcher = Searcher(wide, table=1 << 20)
    assert [searcher.value(state) for state in states] == values
    assert {state: merit for state, merit in searcher.exact().items() if state not in range(1 << 63)} == {}
    with Team(wide, workers=2) as team:
        assert dict(itertools.chain(*team.map(states))) == dict(zip(states, values, strict=True))
    ahead = Lookahead(wide)
    for state in states[:20]:
        plain = heuristic.search(wide, state, depth=3, evaluate=wide.evaluate)
        found = ahead.search(state, depth=3)
        assert (found.value, found.action) == (plain.value, plain.action)
    several = [Chooser(game, workers=2).choose(states, 4) for game in (usual, wide)]
    assert all((one == other).all() for one, other in zip(*several, strict=True))


@pytest.mark.slow
def test_a_player_searches_learns_and_meets_others_on_a_wide_board():
    pytest.importorskip("numba")
    from solver.learning.matches import match
    from solver.learning.moves import Board
    from solver.learning.players import Deep, Random
    from solver.learning.training import learn

    game = load_game("breakthrough:8,8,2")
    assert Player({}, game, seconds=1.0).best(game.initial()) in list(game.actions(game.initial()))
    assert learn(game, states=400, depth=2).features == len(list(game.features(game.initial())))
    deep = Deep(Board(Rules(game)), None, 3)
    played = match(Rules(game), deep, Random(0), games=20)
    assert played.standing.wins > played.standing.losses


@pytest.mark.slow
@pytest.mark.parametrize(("game", "published"), [(Othello(8, 8), OTHELLO), (Checkers(), CHECKERS)])
def test_perft_compiled(game, published):
    pytest.importorskip("numba")
    import numpy as np

    from solver.learning.moves import Board

    board = Board(Rules(game))
    states, counts = np.array([game.initial()], object), []
    for _ in published:
        children = board.children(states)
        counts.append(len(children.states))
        states = children.states[~children.ended]
    assert tuple(counts) == published


# FFO endgame test positions 40 to 44 (Marc Tastet), rows from the top, and their scores for the side to move
FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------", "X", 38),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O-", "X", 0),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO--", "X", 6),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX-", "O", -12),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX--", "O", -14),
}


def of_diagram(text, mover):
    bits = [1 << cell for cell in range(64)]
    mine = sum(bit for bit, mark in zip(bits, text, strict=True) if mark == mover)
    theirs = sum(bit for bit, mark in zip(bits, text, strict=True) if mark not in ("-", mover))
    return mine | theirs << 64


@pytest.mark.stress
@pytest.mark.parametrize("number", FFO)
def test_ffo_endgames(number):
    pytest.importorskip("numba")
    from solver.compiled.exact.searcher import Team

    text, mover, score = FFO[number]
    with Team(Othello(8, 8), table=1 << 30) as team:
        found = team.value(of_diagram(text, mover), seconds=1200).score
    assert found == score
