"""The compiled sweep against the naive twin, against published counts, and with numbers at the ends of its arrays."""

import itertools

import pytest

from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.value import Value, value_of
from solver.rules.game import load_game
from solver.search import retrograde
from solver.search.alphabeta import minimax
from tests import naive
from tests.games import MORE_GAMES, STORES
from tests.oracles import ORACLES
from tests.refusals import raises
from tests.solutions import assert_is_the_same, assert_is_the_truth, swept, values
from tests.ways import quickly, slow
from tests.written import ruled, write_rules

pytest.importorskip("numba")
np = pytest.importorskip("numpy")

from solver.compiled import agreement  # noqa: E402
from solver.store import directory, runs  # noqa: E402
from solver.sweep import scale  # noqa: E402

# One board a game: each compiles for seconds. Most games, and more boards, run under `-m slow`.
QUICK = ("tic-tac-toe", "connect-four:4,3", "dots-and-boxes:2,2", "kalah:2,3")
TIERED = (*QUICK, "coins:40,5", "nim:2,3,4", "hexapawn:3,4", "breakthrough:3,4,1", f"{STORES}:2,3", "othello:4,2")
TIERED += ("fox-and-hounds:4",)
MORE = (
    "tic-tac-toe:4,3,3", "tic-tac-toe:3,3,3,true", "connect-four:3,4,3", "connect-four:4,4", "coins:40,3,false",
    "nim:1,2,3,4,misere=true", "hexapawn:4,3", "hexapawn:3,3", "breakthrough:3,4,2", "dots-and-boxes:3,2",
    "dots-and-boxes:1,3", "kalah:3,2", "kalah:2,3,false", "othello:4,4",
)  # fmt: skip


@pytest.mark.parametrize("symmetry", [True, *slow(False)], ids=["folded", "whole"])
@pytest.mark.parametrize("text", quickly([*TIERED, *MORE], ["connect-four:4,3"]))
def test_every_value_is_the_naive_twins(text, symmetry):
    assert_is_the_truth(load_game(text), symmetry)


@pytest.mark.slow
@pytest.mark.parametrize(
    "oracle", [one for one in ORACLES if hasattr(load_game(one.game), "tier")], ids=lambda oracle: oracle.game
)
def test_published_results(oracle):
    game = load_game(oracle.game)
    solved = swept(game, symmetry=False)
    assert solved.root == Value(*oracle.root)
    if oracle.states is not None:
        assert sum(tier.states for tier in solved.tiers) == oracle.states
    if oracle.counts is not None:
        counts = tuple(sum(getattr(tier, name) for tier in solved.tiers) for name in ("win", "draw", "loss"))
        assert counts == oracle.counts
    if oracle.longest is not None:
        assert max(value.distance for value in solved.palette if value.score > 0) == oracle.longest


@pytest.mark.parametrize("text", quickly([*TIERED, "mu-torere", *MORE_GAMES], ["connect-four:4,3"]))
def test_compiled_rules_are_the_plain_rules_on_every_state(text):
    game = load_game(text)
    agreement.compare(game, list(naive.enumerate_states(game)))


@pytest.mark.parametrize("text", ["connect-four:3,3,3", *slow("connect-four:4,4", "kalah:2,3")])
def test_workers_memory_and_pieces_of_any_size_agree(monkeypatch, text):
    options = [{"workers": 1}, {"workers": 3}, *({"memory": 1 << bits} for bits in (12, 16, 20))]
    for some in options:
        assert_is_the_same(monkeypatch, load_game(text), {}, **some)
    pieces = {"expansion.STATES_PER_CALL": 37, "expansion.CHILDREN_PER_CALL": 64, "backward.STATES_PER_CALL": 41}
    pieces |= {"runs.PIECE_STATES": 100, "exhaustive.PART": 1000}
    assert_is_the_same(monkeypatch, load_game(text), pieces)


@pytest.mark.slow
def test_a_run_is_not_made_for_every_pair_of_tiers(monkeypatch):
    """Of 300 tiers a move leads to any later one: 45,000 pairs."""
    added = []
    add = runs.Runs.add
    monkeypatch.setattr(runs.Runs, "add", lambda self, key, run: added.append(key) or add(self, key, run))
    assert swept(load_game("coins:300,299,false")).stored == 300
    assert 300 <= len(added) < 300 * runs.SCATTER_TIERS


@pytest.mark.interpreted
def test_a_state_with_more_children_than_fit_is_expanded():
    game = load_game("coins:100,99,false")
    solved = swept(game)
    assert solved.stored == 100
    assert {value.distance for value in solved.palette} == {1, 2}


@pytest.mark.slow
def test_thirty_thousand_tiers():
    solved = swept(load_game("coins:30000,3"))
    assert [state for state, value in values(solved).items() if value.score < 0] == list(range(1, 30_000, 4))
    assert max(value.distance for value in solved.palette) == 15_000


GOOD = {"actions": "yield from range(2)", "result": "state + action + 1", "is_terminal": "state >= 6", "tier": "state"}
LEAVES = "state + action + 1 - 100 * (state == 4)"
BAD = [
    ("minimax", {"actions": "yield from range(2 * (state != 3))"}, GameError, "state 3 has no actions"),
    ("minimax", {"result": LEAVES}, GameError, "state 4 has a child outside"),
    ("minimax", {"utility": "2"}, GameError, "utility other than -1, 0, 1"),
    ("minimax", {"tier": "state // 2"}, MethodError, "state 0 has a move that stays in its tier: .* retrograde"),
    ("minimax", {"tier": "10 - state"}, GameError, "state 0 has a child in a lower tier"),
    ("minimax", {"tier": "state * 10000000"}, GameError, "number the tiers more densely"),
    ("retrograde", {"actions": "yield from range(2 * (state != 3))"}, GameError, "state 3 has no actions"),
    ("retrograde", {"result": LEAVES}, GameError, "state 4 has a child outside"),
    ("retrograde", {"utility": "5"}, GameError, "utility other than"),
]


@pytest.mark.interpreted
@pytest.mark.parametrize(("method", "change", "error", "message"), BAD, ids=map(str, itertools.count()))
def test_bad_rules_are_refused_with_the_state(tmp_path, method, change, error, message):
    bad = write_rules(tmp_path / f"bad_{abs(hash(message))}.py", fields="", **{**GOOD, **change})
    raises(error, message, swept, load_game(bad), method=method)


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
