"""Numbers at the ends of what the sweep's arrays hold: the value of the plain algorithms, or one line."""

import itertools

import pytest

from solver.base.errors import GameError, ResourceError
from solver.base.value import value_of
from solver.rules.game import load_game
from solver.search import retrograde
from solver.search.alphabeta import minimax
from solver.solving import pipeline
from tests.refusals import raises
from tests.solutions import swept, values
from tests.ways import slow
from tests.written import ruled

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.store import directory  # noqa: E402
from solver.sweep import scale  # noqa: E402

LAST = (1 << 63) - 1


# One or two steps up; the end is above the last, of some worth to who is there
Ladder = ruled(
    "Ladder",
    fields="steps: int = 12\noffset: int = 0\nfirst_tier: int = 0\nrise: int = 1\nworth: int = 1",
    initial="self.offset",
    is_terminal="state - self.offset >= self.steps",
    utility="self.worth if state & 1 else -self.worth",
    tier="self.first_tier + self.rise * (state - self.offset)",
)
# A ring whose first state leads to every other, with a way out, far up
Cyclic = ruled(
    "Cyclic",
    fields="size: int = 30\noffset: int = 0\nleft: int = 0",
    initial="self.offset",
    actions="yield 1\nif state == self.offset:\n    for step in range(2, self.size):\n        yield step",
    result="self.offset + (state - self.offset + action) % self.size",
    is_terminal="state == self.offset + 7",
    plies_left="self.left",
)


class Margins(Ladder):
    """The same for a margin."""

    score_game = True


class Truths(Ladder):
    """Utilities that are Python's truth values."""

    score_game = True

    def utility(self, state):
        return state & 1 == 1


def truth_of(game, solve=minimax):
    score_game = getattr(game, "score_game", False)
    table = solve(game).table
    return {state: value_of(merit, score_game) for state, merit in table.items() if not game.is_terminal(state)}


RIGHT = (
    Ladder(offset=(1 << 62) - 5),
    Ladder(offset=LAST - 13),
    Ladder(first_tier=(1 << 62) - 5),
    Ladder(first_tier=LAST - 13),
    Ladder(offset=LAST - 13, first_tier=(1 << 61) - 1, rise=1 << 12),
    Margins(worth=(1 << 31) - 1),
    Margins(worth=(1 << 60) - 1),
    Margins(offset=LAST - 13, worth=1 - (1 << 60)),
    Truths(),
)


@pytest.mark.interpreted
@pytest.mark.parametrize("memory", [*slow(None), 40])
@pytest.mark.parametrize("game", RIGHT, ids=map(str, itertools.count()))
def test_large_numbers_have_the_plain_values(game, memory):
    assert values(swept(game, memory=memory)) == truth_of(game)


@pytest.mark.interpreted
def test_a_book_holds_the_largest_states():
    game = Margins(offset=LAST - 13, worth=(1 << 60) - 1)
    with pipeline.solve(game) as book:
        assert dict(book.items()) == truth_of(game)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Ladder(rise=1 << 22), "number the tiers more densely"),
        (Margins(worth=1 << 60), "margin of 2\\*\\*60 or more"),
        (Margins(worth=-(1 << 62)), "margin of 2\\*\\*60 or more"),
        (Margins(worth=LAST), "margin of 2\\*\\*60 or more"),
        (Ladder(worth=2), "utility other than -1, 0, 1"),
        (Cyclic(left=40_000), "plies left that are not from 0 to 999"),
        (Cyclic(left=-1), "plies left that are not from 0 to 999"),
    ],
    ids=map(str, itertools.count()),
)
@pytest.mark.interpreted
def test_numbers_without_room_are_refused(game, message):
    raises(GameError, message, swept, game)


def test_plain_python_names_margins_that_are_too_large():
    raises(GameError, "a margin of 2\\*\\*60 or more", minimax, Margins(worth=1 << 61))


CROWD = 1 << 14  # children that 16 bits do not count


@pytest.mark.parametrize("size", [30, *slow(CROWD + 1, CROWD + 2)])
@pytest.mark.interpreted
def test_a_state_may_have_any_number_of_children_in_its_tier(size):
    game = Cyclic(size=size, offset=LAST - size)
    assert values(swept(game)) == truth_of(game, retrograde.solve)


@pytest.mark.parametrize(
    ("limit", "value", "game", "error", "message"),
    [
        ("forward.MAX_TIER_SPAN", 100, Ladder(first_tier=5, rise=10), GameError, "in the tiers 5 and 105: number the"),
        ("forward.MAX_TIER_STATES", 29, Cyclic(size=32), ResourceError, "more than 29 unfinished states"),
        ("forward.MAX_TIER_STATES", 29, load_game("tic-tac-toe"), ResourceError, "more than 29 unfinished states"),
        # As in a game with cycles, whose merits have 16 bits, and very many tiers without
        ("backward.first_scale", lambda *of: scale.Scale(7, "i1", 0), Ladder(steps=20), GameError, "more than 5 plies"),
    ],
    ids=map(str, itertools.count()),
)
@pytest.mark.interpreted
def test_games_beyond_the_limits_of_arrays_are_refused(monkeypatch, limit, value, game, error, message):
    monkeypatch.setattr(f"solver.sweep.{limit}", value)
    raises(error, message, swept, game)


def test_places_in_a_directory_count_as_many_states_as_a_tier_may_have():
    assert directory.cells_of(np.arange(5))[2].dtype.type(directory.MAX_TIER_STATES) == (1 << 32) - 1
