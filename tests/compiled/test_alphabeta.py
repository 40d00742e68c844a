"""The compiled alpha-beta against the naive twin, published scores, and itself in other circumstances."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from solver.base.errors import BudgetExceeded, MethodError, UncompiledRules
from solver.base.value import Value, merit_of
from solver.rules.game import load_game
from solver.rules.reading import parse_position
from solver.search import alphabeta
from tests import DATA, naive
from tests.games import ACYCLIC, STORES
from tests.refusals import raises
from tests.ways import slow, slow_rows, until
from tests.written import ruled

np = pytest.importorskip("numpy")
numba = pytest.importorskip("numba")

from solver.compiled.exact import searcher as searcher_module  # noqa: E402
from solver.compiled.exact.searcher import TABLE_BYTES, Searcher, Team  # noqa: E402
from solver.compiled.exact.table import exact_entries, find, high_of, keep, low_of, new_table  # noqa: E402
from solver.compiled.operators import raised_to  # noqa: E402

SETS = DATA / "connect-four"


def scored(name, limit):
    """(state, ply, score) of a set of Pascal Pons' connect-four positions."""
    game = load_game("connect-four")
    for line in (SETS / f"{name}.txt").read_text("utf-8").splitlines()[:limit]:
        moves, score = line.split()
        state, ply, *_ = parse_position(game, moves)
        yield state, ply, int(score)


def pons(value, ply):
    return value.score * ((44 - ply - value.distance) // 2) if value.score else 0


FOLDED = (*ACYCLIC, f"{STORES}:2,3")
UNFOLDED = ("tic-tac-toe", "nim", "hexapawn", "dots-and-boxes:2,1", "othello:4,2", "hex:2")


@pytest.mark.parametrize(
    ("text", "symmetry"),
    [
        ("connect-four:3,3,3", True),
        *slow_rows(*((text, True) for text in FOLDED), *((text, False) for text in UNFOLDED)),
    ],
)
@pytest.mark.interpreted
def test_every_value_is_the_naive_twins(text, symmetry):
    game = load_game(text)
    truth, folded = naive.solve(game), naive.solve(game, symmetry=symmetry)
    searcher = Searcher(game, symmetry=symmetry)
    for state, value in list(truth.items())[:3000]:
        assert searcher.value(state) == value
    canonical = game.canonical if symmetry and hasattr(game, "canonical") else lambda state: state
    win = searcher_module.WIN
    for state, merit in searcher.exact().items():
        assert canonical(state) == state
        value = folded[state]
        assert merit == (value.score if value.distance is None else value.score * (win - value.distance))


@pytest.mark.parametrize("name", ["end-easy", "middle-easy", "begin-easy", *slow("middle-medium")])
def test_published_connect_four_scores(name):
    searcher = Searcher(load_game("connect-four"))
    outcomes = Searcher(load_game("connect-four"), outcomes=True) if name == "middle-medium" else None
    for state, ply, score in scored(name, 300 if name == "begin-easy" else 1000):
        assert pons(searcher.value(state), ply) == score
        assert outcomes is None or outcomes.value(state).score == (score > 0) - (score < 0)


def test_a_tiny_table_and_a_shared_one_give_the_same_values():
    game = load_game("connect-four")
    positions = list(scored("middle-easy", 60))
    tiny = Searcher(game, table=1024)
    shared = new_table(1 << 20)
    team = [Searcher(game, table=shared) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: [team[at].value(state) for state, *_ in positions[at::4]], range(4)))
    for number, (state, ply, score) in enumerate(positions):
        assert pons(found[number % 4][number // 4], ply) == pons(tiny.value(state), ply) == score


def test_threads_that_search_one_state_together_agree(monkeypatch):
    monkeypatch.setattr(searcher_module, "HARD", 100)
    monkeypatch.setattr(searcher_module, "NODES_PER_EXCHANGE", 64)
    game = load_game("connect-four")
    teams = [Team(game, workers=workers, table=1 << 20) for workers in (1, 3)]
    for state, ply, score in scored("middle-medium", 12):
        for team in teams:
            assert pons(team.value(state), ply) == score
            assert team.reaches(state, team.value(state)) and not team.reaches(state, team.value(state), strictly=True)
    leader = teams[1].members[0]
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        endless = pool.submit(leader.value, game.initial(), stop=stop)
        until(lambda: len(leader.table) == 1 << 17 or endless.done())  # it grows while all are at it
        stop.set()
        raises(BudgetExceeded, None, endless.result)
    assert all(member.nodes for member in teams[1].members)
    assert pons(teams[1].value(state), ply) == score


def test_what_fails_in_one_of_several_threads_ends_the_search(monkeypatch):
    monkeypatch.setattr(searcher_module, "HARD", 100)
    team = Team(load_game("connect-four"), workers=3, table=1 << 20)
    monkeypatch.setattr(team.members[2], "step", lambda busy, allowance: 1 // 0)
    raises(UncompiledRules, "ZeroDivisionError", team.value, load_game("connect-four").initial())


def test_a_budget_ends_the_search_and_more_goes_on_from_the_table():
    searcher = Searcher(load_game("connect-four"))
    state, ply, score = next(scored("middle-medium", 1))
    raises(BudgetExceeded, None, searcher.value, state, nodes=1000)
    assert searcher.nodes <= 1001
    raises(BudgetExceeded, None, searcher.value, searcher.rules.game.initial(), seconds=0.2)
    assert pons(searcher.value(state), ply) == score
    again = Searcher(load_game("connect-four"))
    assert pons(again.value(state), ply) == score
    again.clear()
    nodes = again.nodes
    again.value(state)
    assert again.nodes == 2 * nodes  # nothing is left of the first search


@pytest.mark.slow
@pytest.mark.parametrize(("text", "value"), [("coins:1500,1400,false", Value(1, 3)), ("coins:5000", Value(1, 2500))])
def test_deep_and_broad_games_are_given_room(text, value):
    game = load_game(text)
    searcher = Searcher(game)
    frames, moves = len(searcher.frames), len(searcher.moves)
    assert searcher.value(game.initial()) == value
    assert len(searcher.frames) > frames and len(searcher.moves) > moves


# Each adds 1, 2 or 3 to a sum, twice; the margin is the sum's rest by 5, less 2, times a stake of 2 ** exponent: the
# utility of the end, or what the last move scores. A state is the ply, the sum 2 bits on, and the exponent 6 bits on
Stakes = ruled(
    "Stakes",
    fields="by_moves: bool = False\nscore_game = True",
    actions="yield 1\nyield 2\nyield 3",
    result="state + 1 + 4 * action",
    reward="-self.margin(state + 1 + 4 * action) if self.by_moves and state & 3 == 2 else 0",
    is_terminal="state & 3 == 3",
    utility="0 if self.by_moves else self.margin(state)",
    margin="((state >> 2 & 15) % 5 - 2) * (1 << (state >> 6))",
    bounds="-(2 << (state >> 6)), 2 << (state >> 6)",
)


@pytest.mark.slow
@pytest.mark.parametrize("by_moves", [False, True])
def test_margins_beyond_the_tables_fields_are_refused_and_never_wrong(by_moves):
    game = Stakes(by_moves)
    searcher = Searcher(game)
    refused = set()
    for exponent in range(50):
        state = exponent << 6
        try:
            assert searcher.value(state) == alphabeta.solve(game, state).value
        except UncompiledRules as error:
            assert "margins" in str(error) and "minimax" in str(error)
            refused.add(exponent)
    assert set(range(23, 50)) <= refused <= set(range(20, 50))
    large = Searcher(game)
    large._range = lambda state: (-searcher_module.WIN, searcher_module.WIN)  # as of rules without `bounds`
    for exponent in range(23, 50):
        raises(UncompiledRules, None, large.value, exponent << 6)


# Two moves, then a win that still takes very long
ENDS = {"is_terminal": "state & 3 == 2", "utility": "1", "plies_left": "state >> 2"}
Patience = ruled("Patience", fields="", actions="yield 1", **ENDS)


@pytest.mark.slow
def test_distances_beyond_the_tables_fields_and_cycles_are_refused():
    cyclic = Searcher(load_game("mu-torere"))
    raises(MethodError, "retrograde", cyclic.value, cyclic.rules.game.initial())
    searcher = Searcher(Patience())
    assert searcher.value(1000 << 2) == Value(1, 1002)
    for left in (1 << 22, 1 << 24, 1 << 40):
        for ply in range(3):
            raises(UncompiledRules, None, searcher.value, left << 2 | ply)


def late_values(game, plies):
    """Values of all that can follow a random position after so many plies."""
    chance, state, played = random.Random(3), game.initial(), 0
    while played < plies:
        state, played = game.result(state, chance.choice(list(game.actions(state)))), played + 1
        if game.is_terminal(state):
            state, played = game.initial(), 0
    return list(naive.solve(type("Late", (type(game),), {"initial": lambda self: state})(*game)).items())


def test_a_null_window_says_whether_a_state_reaches_a_value():
    """Among them wins and losses without a distance, as books without distances have them."""
    game = load_game("connect-four:7,6")  # compiled already, for the published scores
    searcher = Searcher(game)
    order = [Value(1, 1), Value(1, 2), Value(1, 5), Value(1), Value(0), Value(-1), Value(-1, 6), Value(-1, 2)]
    lost = 0
    for state, value in late_values(game, plies=28)[::7]:
        if not game.is_terminal(state):
            lost += value.score < 0
            for bound in order:
                assert searcher.reaches(state, bound) == (merit_of(value) >= merit_of(bound))
                assert searcher.reaches(state, bound, strictly=True) == (merit_of(value) > merit_of(bound))
    assert lost > 20


# Wilson; Irving, Donkers and Uiterwijk 2000; Barker and Korf 2012; Takeshita and others 2015
MARGINS = {"kalah:4,4": 2, "othello:4,4": -8, "othello:6,4": 16, "dots-and-boxes:3,3": -3, "dots-and-boxes:2,2": 2}
# About a minute; who wins, where the margin is not in our source: by Irving, Donkers and Uiterwijk 2000
MARGINS |= {"kalah:6,4": 10}
KALAH = {"3,6": -1, "4,5": 1, "4,6": 0, "5,2": 0, "5,3": 1, "5,4": 1, "6,1": 1, "6,2": 1, "6,3": 1}
OUTCOMES = {f"kalah:{size}": score for size, score in KALAH.items()}


@pytest.mark.slow
@pytest.mark.parametrize("text", [*MARGINS, *OUTCOMES])
def test_published_margins_and_winners(text):
    game = load_game(text)
    searcher = Searcher(game, outcomes=text in OUTCOMES, table=1 << 30 if text == "kalah:6,4" else TABLE_BYTES)
    assert searcher.value(game.initial()) == Value((MARGINS | OUTCOMES)[text])


# Threads share the table. Bounds are a function of the key here, so any others come of a race
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)  # bytes: from four buckets a key, where threads meet all the time
raised = raised_to(128)


@numba.njit(nogil=True)
def bound_of(number):
    return number * 2654435761 >> 7 & 1023


@numba.njit(nogil=True)
def narrow(number):
    return number


@numba.njit(nogil=True)
def wide(number):
    return raised(number, 0) | raised(number * 2654435761, 1)


def racing(key_of):
    @numba.njit(nogil=True)
    def race(table, seed, rounds, keys, counts):
        """Look up and keep at random; counts hits and wrong ones."""
        chance = seed
        for _ in range(rounds):
            chance = chance * 6364136223846793005 + 1442695040888963407
            number = chance >> 33 & keys - 1
            key, bound = key_of(number), bound_of(number)
            data = find(table, key)
            if data:
                counts[0] += 1
                counts[1] += low_of(data) != bound or high_of(data) != bound
            keep(table, key, bound, bound, chance >> 20 & 31)

    return race


@pytest.fixture(scope="module")
def races():
    return {key_of.py_func.__name__: racing(key_of) for key_of in (narrow, wide)}


@pytest.mark.parametrize(
    ("threads", "rounds"), [(2, 20_000), *(pytest.param(n, 30_000_000, marks=pytest.mark.stress) for n in (2, 4))]
)
@pytest.mark.parametrize("kind", ["narrow", *slow("wide")])
def test_no_thread_finds_bounds_of_another_state(races, kind, threads, rounds):
    """What is left in the table is right, but for entries that two threads tore, which are of no key in use."""
    for size in SIZES if rounds > 20_000 else SIZES[:2]:
        table, keys = new_table(size), size >> 2
        counts = np.zeros((threads, 2), np.int64)
        with ThreadPoolExecutor(threads) as pool:
            given = [table] * threads, range(7, 7 + 2 * threads, 2), [rounds] * threads, [keys] * threads
            list(pool.map(races[kind], *given, counts))
        assert counts[:, 1].sum() == 0 < counts[:, 0].sum()
        if kind == "narrow":
            entries = exact_entries(table)
            mine = {key: bound for key, bound in entries.items() if key < keys}
            assert len(mine) > len(entries) * 0.9
            assert all(bound == key * 2654435761 >> 7 & 1023 for key, bound in mine.items())
