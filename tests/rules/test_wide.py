"""Games whose states take more than 63 bits: rules, notation and plain searches; compiled, against plain Python."""

import itertools
import random

import pytest

from solver import Player, verify
from solver.base import extras
from solver.base.errors import BookError, DamagedBook, GameError, MethodError, PositionError, UncompiledRules
from solver.base.value import Value
from solver.book.check import check_book
from solver.book.codecs import instant
from solver.check.conformance import check_game
from solver.export.script import record_of
from solver.games.connect_four import ConnectFour
from solver.play.lookahead import features_of
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.rules.width import bits_of
from solver.search import alphabeta, heuristic
from solver.solving.pipeline import solve
from tests.exports import needs_node
from tests.games import play_outs
from tests.pages import ask_positions, export_page, positions_of
from tests.refusals import raises
from tests.written import ruled


class Declared(ConnectFour):
    """Connect-four in as many bits as a width takes: the same states, wider numbers."""

    bits = 100


class Full(ConnectFour):
    bits = 128  # all of two words: numbers take a third for their sign


# Climb one or two steps in turns; who takes the last wins. A state has its steps high up
Stairs = ruled(
    "Stairs",
    fields="steps: int = 9\nwidth: int = 90",
    bits="self.width",
    initial="self.steps << 80",
    actions="yield from range(1, min(2, state >> 80) + 1)",
    result="state - (action << 80)",
    is_terminal="state == 0",
)


def test_bits_are_declared_and_enter_the_fingerprint_only_where_they_are_not_63():
    texts = {"othello": 63, "othello:8,8": 128, "connect-four": 63, "breakthrough:8,8,2": 129, "coins": 63}
    assert {text: bits_of(load_game(text)) for text in texts} == texts
    assert fingerprint(Declared(4, 3)) != fingerprint(Full(4, 3))
    raises(GameError, "bits = 0: give the bits", Rules, Stairs(9, 0))


def test_plain_searches_take_wide_states():
    game = Stairs()
    assert alphabeta.minimax(game).value == alphabeta.solve(game).value == Value(-1, 6)
    check_game(game, playouts=5)
    assert features_of(Rules(game), 5 << 80) == [0] * 80 + [1, 0, 1] + [0] * 7
    raises(GameError, r"the start is outside \[0, 2\*\*70\)", check_game, Stairs(9, 70), playouts=5)


def test_a_player_and_notation_take_wide_states():
    game = load_game("othello:8,8")
    raises(PositionError, r"2\*\*128 - 1", Player({}, game, live=False).value, 1 << 128)
    state = parse_position(game, "e3 d3").state
    assert parse_position(game, f"#{state}").state == state > 1 << 63
    raises(PositionError, r"below 2\*\*128", parse_position, game, f"#{1 << 128}")


def test_what_cannot_take_them_says_so_in_a_line(monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    raises(MethodError, "othello:8,8 has states of 128 bits, the sweep takes 63: an opening book", solve, "othello:8,8")
    words = "has states of 90 bits, this codec takes 63: leave --codec out"
    raises(BookError, words, solve, Stairs(), codec="compact", max_ply=3)


def test_an_opening_book_of_wide_states(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    game, path = Stairs(40), tmp_path / "stairs.lmdb"
    with solve(game, path, max_ply=6) as book:
        values = {state: alphabeta.solve(game, state).value for state in book}
        assert dict(book.items()) == values and book.header.longest == (27, 40 << 80)
        assert all(book.find(state) == value for state, value in values.items())
        assert [book.get(state) for state in (0, -1, 5, 1 << 200, 41 << 80)] == [None] * 5
        assert verify(path, game=game).verdict == "proved"
        assert check_book(path, game=game) == book.header
    assert bytes(path.read_bytes()) == bytes((solve(game, tmp_path / "again", max_ply=6).path).read_bytes())


@needs_node
def test_a_page_of_wide_states_is_right(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "kernel_defect", lambda: MethodError(extras.INSTALL))
    with solve(Stairs(40), tmp_path / "stairs.lmdb", max_ply=6) as book:
        (note,) = export_page(book, tmp_path)
        rules, known, stored = Rules(book.game), 0, len(book)
    assert "past the book the page does not search" in note
    positions = [one for one in positions_of(rules, 80) if not rules.is_terminal(one.state)]
    for position, answer in ask_positions("answers", tmp_path, positions):
        value = alphabeta.solve(rules.game, position.state).value
        assert answer["record"] == record_of(rules, position) and answer["words"] in ("unknown", value.words())
        known += answer["words"] != "unknown"
    assert stored < known < len(positions)


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 3000])
def test_wide_groups_keep_what_they_are_given(count):
    draw = random.Random(count)
    keys = sorted({draw.getrandbits(draw.choice((20, 70, 129))) for _ in range(count)})
    indices = [draw.randrange(300) for _ in keys]
    payload, counts, lengths = instant.CODEC.encode_chunk(keys, indices, 300, 2)
    begin, at = 0, 0
    for states, length in zip(counts, lengths, strict=True):
        body, some = memoryview(payload)[begin : begin + length], keys[at : at + states]
        assert instant.CODEC.decode(body, some[0], 2) == (some, indices[at : at + states])
        segment = body, [some[0]], [0, length], 2
        assert [instant.find(segment, key) for key in some] == indices[at : at + states]
        others = {key + step for key in some for step in (-1, 1, 1 << 64)} - {*some}
        assert {instant.find(segment, key) for key in others if key > some[0]} <= {None}
        begin, at = begin + length, at + states
    raises(DamagedBook, None, instant.CODEC.decode, memoryview(payload)[: lengths[0] - 1], keys[0], 2)


def test_groups_of_two_states_that_are_far_apart_have_room_and_answer_no_key_beyond_their_states():
    keys, numbers = [0, (1 << 63) - 1], [0, 1 << 31]
    payload, _, (length,) = instant.CODEC.encode_chunk(keys, numbers, 0, 0)
    assert instant.CODEC.decode(memoryview(payload)[:length], 0, 0) == (keys, numbers)
    payload, _, (length,) = instant.CODEC.encode_chunk([5, 5 + (1 << 80)], [1, 1], 2, 1)
    group = bytearray(payload)
    group[1] = 0  # one state, and the keys of two
    assert instant.find((memoryview(group), [5], [0, length], 1), 5 + (1 << 80)) is None


MASK, TOP = (1 << 64) - 5, 1 << 63


def computed(jit, raised, left, word, count, length, constants):
    """A kernel of two wide numbers, masked by numbers of a word as well, and a distance.

    It writes the words of what it computes into rows.
    """
    number, seven, high, mask, top = constants
    pair = seven, high

    @jit
    def write(out, i, x):
        for place in range(out.shape[1]):
            out[i, place] = word(left(x, 0), place)
        return i + 1

    @jit
    def compute(parts, n, out):
        x, y, i = raised(parts[0, 0], 0), raised(parts[1, 0], 0), 0
        for place in range(1, parts.shape[1]):
            x |= raised(parts[0, place], place)
            y |= raised(parts[1, place], place)
        z, u, v, w, told, looped = y if y else left(1, 0), x & mask, y & mask | top, 0, 0, 0
        for _ in range(x & left(3, 1)):
            looped += 1
            w |= u
        for one in (x & y, x | y, x ^ y, x + y, x - y, x * y, x // z, x % z, left(x, n), x >> n, ~x, -x, x & number):
            i = write(out, i, one)
        for one in (min(x, y), max(x, y, 3), pair[n & 1], pair[x & 1], left(1, n), abs(x), left(x & 255, 0)):
            i = write(out, i, one)
        for one in (u, u | v, u ^ v, u & ~v, u >> n, u & 0xFFFFFFFFFF, min(u, v), w, x & v, v if n & 1 else 0, u & n):
            i = write(out, i, one)
        for one in (u + v, u - v, u * v, left(u, n), -u, u // v, left(u & 255, 0), u | n, v if n & 1 else n):
            i = write(out, i, one)
        for test in (x < y, x <= y, x > y, x == y, x != 3, not x, bool(y), u < v, u == w, not u, u > 5, u != x):
            told = 2 * told + test
        return told, looped, count(x), length(u), count(v), x / 3, u / 3

    return compute


@pytest.mark.slow
@pytest.mark.parametrize("width", [128, 192])
def test_numbers_compute_as_pythons(width):
    """The same code, compiled and as it is written."""
    numba = pytest.importorskip("numba")
    import numpy as np

    from solver.compiled import operators
    from solver.compiled import wide as numbers
    from solver.compiled.states import packed

    def signed(number, bits):
        return (number + (1 << bits - 1) & (1 << bits) - 1) - (1 << bits - 1)

    def raised(part, place):
        return (int(part) if place == width // 64 - 1 else int(part) & (1 << 64) - 1) << 64 * place

    constants, all_bits = ((1 << 100) | 5, 7, 1 << 90, MASK, TOP), (1 << width) - 1
    known = [numbers.Constant.of(one, width, *[64] * (one in (MASK, TOP))) for one in constants]
    counts = operators.bit_count, operators.bit_length
    compiled = operators.raised_to(width), operators.left(width), operators.word_of, *counts
    fast = computed(numba.njit, *compiled, tuple(known))
    written = raised, lambda x, n: x << n, lambda x, place: signed(x >> 64 * place, 64), int.bit_count, int.bit_length
    plain = computed(lambda function: function, *written, constants)
    draw, more = random.Random(width), (0,) * (width // 64 - 1)
    for _ in range(1000):
        x, y = (signed(draw.getrandbits(width), width) >> draw.randrange(width) for _ in range(2))
        n, outs = draw.randrange(width), np.zeros((2, 40, width // 64), int)
        parts = packed([x & all_bits, y & all_bits], more)
        *told, third, share = fast(parts, n, outs[0])
        *expected, third_of, share_of = plain(parts, n, outs[1])
        assert (outs[0].tolist(), told) == (outs[1].tolist(), expected), (x, y, n)
        assert (third, share) == pytest.approx((third_of, share_of))


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
    states = [*itertools.islice(play_outs(game, 20_000, length=500), 20_000)]
    agreement.compare(game, states)
    unfinished = [state for state in states if not game.is_terminal(state)]
    board = Board(Rules(game))
    for begin in range(0, 10 * COMPARED, COMPARED):
        board.compare(np.array(unfinished[begin : begin + COMPARED], object))
    guesses = board.guesses(np.array(unfinished[:1000], object)).tolist()
    assert guesses == [game.evaluate(state) for state in unfinished[:1000]]


@pytest.mark.slow
def test_what_leaves_the_width_is_noticed():
    agreement = pytest.importorskip("solver.compiled.agreement")

    class Leaving(Declared):
        def tier(self, state):
            return (state << 120 >> 120).bit_count()

    raises(UncompiledRules, "in Python and", agreement.compare, Leaving(4, 3), [*play_outs(Leaving(4, 3), 3)])


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Declared, Full])
def test_searches_find_what_they_find_in_63_bits(cls):
    pytest.importorskip("numba")
    from solver.compiled.exact.searcher import Searcher, Team
    from solver.compiled.lookahead.searches import Chooser, Lookahead

    usual, wide = ConnectFour(5, 4), cls(5, 4)
    states = [state for state in play_outs(usual, 14) if not usual.is_terminal(state)]
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
