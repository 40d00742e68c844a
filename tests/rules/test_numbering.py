"""Positions by number: the diagrams of `digits` and `scan` against all placements, and against play."""

import itertools
import random

import pytest

from solver import solve
from solver.base import extras
from solver.base.errors import GameError
from solver.book import Book, streaming
from solver.check.conformance import check_game
from solver.rules.game import Rules, load_game
from solver.rules.numbering import Numbering
from tests.book.test_ranked import RANKS, write_rules
from tests.naive import enumerate_states
from tests.refusals import raises
from tests.ways import slow

SCAN = """
    def digits(self):
        yield from (3, 48, 12)

    def scan(self, place, memo, digit):
        return memo + digit if memo + digit < 8 else -1
"""


def boards(cells, *turns):
    """All states of empty cells, first men and second men, with a number of each, and these bits for the turn."""
    for marks in itertools.product(range(3), repeat=cells):
        board = sum((mark & 1) << cell | (mark >> 1) << cells + cell for cell, mark in enumerate(marks))
        for turn in turns:
            yield board | turn << 2 * cells, marks.count(1), marks.count(2), turn, marks


PLACEMENTS = {
    "quixo:2": lambda: {board for board, *_ in boards(4, 0)},
    "breakthrough:2,4,1": lambda: {
        board
        for board, first, second, _, marks in boards(8, 0, 1)
        if first <= 2 and second <= 2 and 1 not in marks[-2:] and 2 not in marks[:2]
    },
    "three-mens-morris": lambda: {
        board
        for board, first, second, turn, _ in boards(9, 0, 1)
        if first <= 3 and second <= 3 and (first == second + turn or first == second == 3)
    },
}


@pytest.mark.parametrize("text", [*slow(*PLACEMENTS), "quixo:2"])
def test_a_diagram_numbers_all_placements(text):
    diagram = Numbering(load_game(text))
    expected = PLACEMENTS[text]()
    assert diagram.size == len(expected)
    assert {diagram.unrank(rank) for rank in range(diagram.size)} == expected
    assert sorted(map(diagram.rank, expected)) == [*range(diagram.size)]
    chance = random.Random(2)
    for state in [chance.getrandbits(chance.choice((8, 16, 19, 40))) for _ in range(2000)]:
        assert (diagram.rank(state) >= 0) == (state in expected)
    assert (diagram.unrank(-1), diagram.unrank(diagram.size)) == (-1, -1)


def test_all_boards_of_breakthrough_are_those_that_have_numbers():
    rules = Rules(load_game("breakthrough:2,4,2,true"))
    numbered = map(rules.numbering.unrank, range(rules.numbering.size))
    with solve(rules.game) as book, solve("breakthrough:2,4,2") as some:
        assert set(book) == {rules.canonical(state) for state in numbered if not rules.is_terminal(state)}
        assert all(book[state] == value for state, value in some.items())


# numbers of placements that jh85/smallgames has, and 3 to the power of the cells
PUBLISHED = {"breakthrough:4,5,2": 219_367_848, "quixo:5": 847_288_609_443, "quixo:4": 43_046_721}


@pytest.mark.parametrize(("text", "size"), PUBLISHED.items())
def test_sizes_of_larger_games_are_the_published_ones(text, size):
    assert Numbering(load_game(text)).size == size


NUMBERED = ("tic-tac-toe", "breakthrough:3,3,1", "quixo:3", "three-mens-morris")


@pytest.mark.parametrize("text", ["breakthrough:2,4,2", *slow(*NUMBERED)])
def test_every_state_of_play_that_goes_on_has_a_number_of_its_own(text):
    rules = Rules(load_game(text))
    states = {state for state in enumerate_states(rules.game) if not rules.is_terminal(state)}
    states |= {rules.canonical(state) for state in states}
    numbers = {rules.numbering.rank(state): state for state in states}
    assert len(numbers) == len(states) and min(numbers) >= 0
    assert all(rules.numbering.unrank(number) == state for number, state in numbers.items())


def test_digits_come_in_the_order_that_rules_say(tmp_path):
    game = load_game(write_rules(tmp_path / "heaps.py", SCAN))
    diagram = Numbering(game)
    # lesser last memos, the sum of the heaps, first; then the first heap, the third and the second
    found = [diagram.unrank(rank) for rank in range(diagram.size)]
    heaps = [(state & 3, state >> 4 & 3, state >> 2 & 3) for state in found]
    assert heaps == sorted(heaps, key=lambda each: (sum(each), each))
    assert len(found) == sum(sum(each) < 8 for each in itertools.product(range(4), repeat=3))


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (SCAN.replace("memo + digit < 8", "memo + digit < 5"), "is refused by scan"),
        (SCAN.replace("48", "16"), "bits that are in none of digits"),
        (SCAN.replace("48", "49"), "bits that no other digit has"),
        (SCAN.partition("    def scan")[0], "they go together"),
        (SCAN + RANKS, "keep one of them"),
        (SCAN.replace("(self, place, memo", "(self, position, memo"), "name its parameters"),
    ],
)
def test_scans_that_number_no_states_are_found(tmp_path, body, fault):
    raises(GameError, fault, lambda: check_game(load_game(write_rules(tmp_path / "heaps.py", body))))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["breakthrough:3,4,1", "three-mens-morris", "animal-shogi"])
def test_compiled_numbers_are_those_of_the_rules(text):
    np, kernels = pytest.importorskip("numpy"), pytest.importorskip("solver.book.codecs.ranked_kernels")
    game = load_game(text)
    diagram = Numbering(game)
    chance = random.Random(3)
    ranks = [chance.randrange(diagram.size) for _ in range(2000)]
    found = np.zeros(len(ranks), np.int64)
    kernels.bind(kernels, game).ranks_of(np.array([diagram.unrank(rank) for rank in ranks]), found)
    assert found.tolist() == ranks


@pytest.mark.parametrize("text", ["three-mens-morris", *slow("six-mens-morris", "quixo:3", "breakthrough:3,4,1")])
def test_a_ranked_book_by_numbers_answers_what_another_does(tmp_path, text):
    with solve(text, tmp_path / "book") as book:
        streaming.pack(tmp_path / "book", tmp_path / "ranked", "ranked")
        with Book(tmp_path / "ranked") as found:
            assert dict(found.items()) == dict(book.items())
            assert all(found.find(state) == value for state, value in book.items())


def test_a_state_of_play_without_a_number_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    solve(load_game(write_rules(tmp_path / "heaps.py", "")), tmp_path / "book").close()
    game = load_game(write_rules(tmp_path / "heaps.py", SCAN.replace("memo + digit < 8", "memo + digit < 5")))
    call = streaming.pack, tmp_path / "book", tmp_path / "ranked", "ranked", game
    raises(GameError, "has no number: correct rank or scan", *call)
    assert not (tmp_path / "ranked").exists()
