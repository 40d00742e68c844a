"""Games of chance solved, by the sweep and its plain twin, against the judge; and books of expectations."""

import json
from collections import Counter
from fractions import Fraction

import pytest

from solver.base.errors import DamagedBook, GameError, MethodError, PositionError, ResourceError
from solver.base.expectations import DROPPED, MIDDLE, UNIT, Steps, number_of
from solver.base.options import Options
from solver.base.value import Value
from solver.book import Book, streaming
from solver.book.codecs import compact, instant
from solver.book.writer import write_book
from solver.edit.comparing import expectations as expectations_of
from solver.play.player import Player
from solver.report import books, charts
from solver.rules.game import load_game
from solver.search import alphabeta, nets, value_iteration
from solver.solving import pipeline
from solver.solving.ways import plain
from solver.sweep import exhaustive
from solver.verifying import verification
from solver.verifying.verification import verify
from tests import chance as judge
from tests.books import expectations, looked_up, sample_values, with_header, write_expectations
from tests.commands import ok, run
from tests.games import CHANCE_GAMES
from tests.oracles import CHANCE_ORACLES
from tests.refusals import raises
from tests.solutions import assert_is_the_same, columns, stops_until_solved, swept
from tests.ways import compiled, plainly, quickly, slow, slowly, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture


@pytest.mark.parametrize("text", slowly(CHANCE_GAMES, "pig:15", "piglet:10", "einstein:3,2"))
def test_plain_values_are_the_judges(text):
    game = load_game(text)
    found, truth = value_iteration.solve(game, symmetry=False), judge.solve(game)
    assert found.table.keys() == truth.keys()
    for state, value in truth.items():
        stored = Steps(found.units.kind.step)[number_of(found.table[state])]
        assert abs(stored.score - value) <= found.units.kind.error + 1e-15, state


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "text", ["piglet:3", *slow("backgammon-bearoff:2,4", "pig:7,4", "nannon:3,2,3", "einstein:3,2")]
)
def test_plain_and_compiled_books_are_the_same_bytes(tmp_path, monkeypatch, text):
    game, fast, other = load_game(text), tmp_path / "fast.lmdb", tmp_path / "other.lmdb"
    pipeline.solve(game, fast).close()
    for options in ({"workers": 1}, {"workers": 3}, {"memory": 1 << 30}):
        pipeline.solve(game, other, **options).close()
        assert other.read_bytes() == fast.read_bytes(), options
    for name in ("PLAIN_LIMIT", "LITTLE"):
        monkeypatch.setattr(plain, name, 20_000)
    for limit in (20_000, 0):  # kernels write the number of a sure win, 2**31, which int32 does not hold
        monkeypatch.setattr(streaming, "PLAIN_LIMIT", limit)
        pipeline.solve(game, other).close()
        assert other.read_bytes() == fast.read_bytes(), limit


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "text", ["piglet:3", *slow("piglet:10", "backgammon-bearoff:2,4", "pig:15", "backgammon-bearoff:3,2,true")]
)
def test_pieces_of_any_size_and_little_memory_agree(monkeypatch, text):
    pieces = {"expansion.STATES_PER_CALL": 50, "backward.STATES_PER_CALL": 64, "exhaustive.PART": 500}
    assert_is_the_same(monkeypatch, load_game(text), pieces, memory=1 << 15)  # tiers are evaluated by ranges of keys


@compiled
@pytest.mark.interpreted
def test_a_solve_that_was_stopped_goes_on_to_the_same_book(tmp_path):
    assert stops_until_solved("pig:6", tmp_path, step=50) > 2


@pytest.mark.parametrize(
    "oracle",
    quickly(CHANCE_ORACLES, [one for one in CHANCE_ORACLES if one.states and one.states < 500]),
    ids=lambda oracle: oracle.game,
)
def test_books_have_the_published_chances(oracle):
    with pipeline.solve(oracle.game) as book:
        assert abs((1 + book.root.score) / 2 - oracle.chance) < 1e-9
        assert book.expectation.error < 1e-9


# Who holds hands the turn over for nothing; who throws wins or loses by a fair coin. Nobody need throw
Endless = ruled(
    "Endless",
    fields="bias: int = 1",
    actions="if state < 2:\n    yield 0\n    yield 1",
    result="state + 2 if action else 1 - state",
    chance="if 2 <= state < 4:\n    yield 1, 4 + (state & 1)\n    yield self.bias, 5 - (state & 1)",
    to_move="state & 1",
    is_terminal="state >= 4",
    utility="1",
)
# Three throws, whose eyes the thrower may keep or give away: margins, some of them at once
Bids = ruled(
    "Bids",
    fields="score_game = True\nsides: int = 3",
    to_move="state // 4 % 2",
    is_terminal="state % 4 == 3 and state < 8",
    utility="0",
    chance="if state < 8 and state % 4 < 3:\n"
    "    for eyes in range(1, self.sides + 1):\n        yield eyes, state + 8 * eyes",
    actions="if state >= 8:\n    yield 0\n    yield 1",
    result="(state % 4 + 1) + 4 * (1 - self.to_move(state))",
    reward="state // 8 if action == 0 else -100 * (state // 8)",
    tier="2 * (state % 4) + (state >= 8)",
)
# Two throws in a row of 1 in `sides` win, 2**28 throws on average; `both`: whoever throws them
Seldom = ruled(
    "Seldom",
    fields="sides: int = 1 << 14\nboth: bool = False",
    actions="yield from ()",
    result="state",
    to_move="state >> 2 if self.both else 0",
    is_terminal="state & 3 == 2",
    utility="1",
    chance="yield 1, state + 1\nyield self.sides - 1, ((state >> 2) + self.both & 1) << 2",
)


both_ways = pytest.mark.parametrize(
    "solve", [value_iteration.solve, pytest.param(swept, marks=[compiled, pytest.mark.interpreted])]
)


@both_ways
def test_play_that_need_not_end_is_refused(solve):
    raises(MethodError, "need not end", solve, Endless(5))  # nobody wants to throw
    found = solve(Endless(1))  # whoever throws, it is worth nothing
    assert (found.root if solve is swept else found.value) == Value(0.0)


def test_margins_that_moves_score_are_expected():
    found = value_iteration.solve(Bids())
    assert found.units.kind.of == "margin"
    truth = judge.solve(Bids())
    assert alphabeta.expectiminimax(Bids()).table == truth
    for state, value in truth.items():
        assert abs(found.table[state] / found.units.point - value) < 1e-9
    assert found.value.score == pytest.approx(7 / 3)  # two throws of the first, one of the second, of 7/3 each


@compiled
@pytest.mark.interpreted
def test_the_sweep_finds_the_same_margins():
    solved, plain = swept(Bids()), value_iteration.solve(Bids())
    assert solved.kind == plain.units.kind
    truth = {state: number_of(value) for state, value in plain.table.items() if not Bids().is_terminal(state)}
    assert dict(zip(*columns(solved), strict=True)) == truth


@both_ways
@pytest.mark.parametrize("weight", [1 << 14, 0, -1])
def test_weights_beyond_bounds_are_named_with_the_remedy(solve, weight):
    plainly = "16,384 together: divide them .*, or write several throws" if weight > 0 else f"the weight {weight}"
    by_kernels = "weights below 1, or .* 16,384 together: write several throws"
    raises(GameError, by_kernels if solve is swept else plainly, solve, Endless(weight))


def test_play_that_hardly_ends_is_solved_exactly():
    sides = 1 << 14
    for both, worth in ((False, 1.0), (True, float(2 / (2 - Fraction(1, sides) ** 2) - 1))):
        found = value_iteration.solve(Seldom(sides, both))
        assert abs(found.value.score - worth) < 1e-14
        assert found.units.kind.error < 1e-9


def test_play_that_hardly_ends_is_refused_where_it_is_large(monkeypatch):
    monkeypatch.setattr(nets, "FEW_STATES", 1)
    monkeypatch.setattr(nets, "LOOK", 1 << 9)
    told = []
    with pytest.raises(MethodError, match=r"takes too long to end, its value is known within 1 after 1,024 rounds"):
        value_iteration.solve(Seldom(), progress=lambda *step: told.append(step))
    assert ("narrow", 1024, None, "2.0e+00 apart") in told


@compiled
@pytest.mark.interpreted
def test_a_tier_with_cycles_beyond_memory_is_refused_before_others_are_solved():
    phases, memory = [], 1 << 14
    with pytest.raises(ResourceError, match="states in a tier with cycles need .* GiB in memory.*raise --memory"):
        options = Options(memory=memory, progress=lambda phase, *_: phases.append(phase))
        exhaustive.solve(load_game("nannon:4,2,4"), options=options)
    assert phases and not {"narrow", "backward"} & set(phases)


@pytest.fixture(scope="module")
def pig(tmp_path_factory):
    path = tmp_path_factory.mktemp("books") / "pig.lmdb"
    with pytest.MonkeyPatch.context() as patch:
        plainly(patch)
        pipeline.solve("pig:10", path).close()
    return path


def test_both_sides_see_a_number_alike():
    half = 1 << DROPPED - 1
    for value in (0, 1, half - 1, half, half + 1, 3 * half, 12345678, UNIT):
        assert number_of(-value) - MIDDLE == MIDDLE - number_of(value)
    assert number_of(half) == MIDDLE + 1


@pytest.mark.parametrize("at_once", [False, pytest.param(True, marks=[compiled, pytest.mark.slow])])
def test_a_book_of_expectations_gives_back_what_was_written(tmp_path, at_once):
    path = tmp_path / "book.lmdb"
    values = expectations({**sample_values(3000), **dict.fromkeys(range(10**12, 10**12 + 3000, 11)), (1 << 63) - 1: 0})
    write_expectations(path, values)
    with Book(path) as book:
        assert dict(book.items()) == values and len(book) == len(values)
        asked = [*values, *range(3000), 7 * 10**15]
        assert (looked_up(book, asked) if at_once else [*map(book.get, asked)]) == [*map(values.get, asked)]
        assert book.expectation == ("utility", 2.0**-30, 2.0**-31)


def test_worked_group():
    payload, counts, lengths = instant.CODEC.encode_chunk([1000, 1001, 1003], [70, 73, 70], 0, 0)
    assert payload.hex(" ") == "00 02 02 46 00 00 00 0c 0b"
    assert (counts, lengths) == ([3], [9])
    assert instant.CODEC.decode(memoryview(payload), 1000, 0) == ([1000, 1001, 1003], [70, 73, 70])
    payload, _, _ = instant.CODEC.encode_chunk([1000, 1020, 1050], [70, 73, 70], 0, 0)
    assert payload.hex(" ") == "0c 02 02 46 00 00 00 0c 40 02 25"
    assert instant.CODEC.decode(memoryview(payload), 1000, 0) == ([1000, 1020, 1050], [70, 73, 70])
    segment = memoryview(payload), [1000], [0, len(payload)], 0
    asked = [1000, 1001, 1020, 1050, 1051, 1000 + (1 << 62)]
    assert [instant.find(segment, state) for state in asked] == [70, None, 73, 70, None, None]


@pytest.mark.parametrize("plain_limit", [20_000, pytest.param(0, marks=[compiled, pytest.mark.slow])])
def test_altered_values_are_found(tmp_path, monkeypatch, pig, plain_limit):
    monkeypatch.setattr(verification, "PLAIN_LIMIT", plain_limit)
    assert verify(pig).closed
    with Book(pig) as book:
        values, header = dict(book.items()), book.header
    states, off = sorted(values), "the value of state .* is off by|its children"
    for place, steps, message in ((0, 4, "its children"), (len(states) // 2, 1, off), (-1, 4, "its children")):
        numbers = [int(values[state].score * MIDDLE) + MIDDLE for state in states]
        numbers[place] += steps if numbers[place] < MIDDLE else -steps
        path = tmp_path / "altered.lmdb"
        write_book(path, header._replace(book_id=b"", digest=""), [(states, numbers)])
        if plain_limit or steps > 1:
            raises(DamagedBook, message, verify, path)
        else:
            # Kernels find values by half a step themselves: they cannot call the book wrong, nor right
            assert verify(path).verdict == "consistent"


@pytest.mark.parametrize(
    "changes",
    [
        {"expectation": ["margin", 2.0**-30, 2.0**-31]},
        {"expectation": ["utility", 0.3, 2.0**-31]},
        {"expectation": ["utility", 2.0**-30, 0.0]},
        {"expectation": "absent"},
        {"method": "minimax"},
        {"codec": "compact", "group": compact.CODEC.group},
        {"root": [2.0, None]},
        {"root": [1, None]},
        {"palette": [[1, 1]]},
    ],
    ids=str,
)
def test_headers_that_contradict_themselves_are_refused(tmp_path, pig, changes):
    raises(DamagedBook, None, Book, with_header(pig, tmp_path / "altered.lmdb", **changes))


def test_a_player_knows_what_chance_may_do(pig):
    with Book(pig) as book:
        player = Player(book)
        start = player.game.initial()
        assert player.outcomes(start) == []
        thrown = player.game.result(start, player.best(start))
        outcomes = player.outcomes(thrown)
        assert len(outcomes) == 6
        assert sum(one.probability for one in outcomes) == pytest.approx(1)
        mean = sum(one.probability * one.value.score for one in outcomes)
        assert mean == pytest.approx(book[thrown].score, abs=2 * book.expectation.error)
        for one in outcomes:
            mover = player.game.to_move(one.child) == player.game.to_move(thrown)
            assert one.value.score == (one.child_value.score if mover else -one.child_value.score)
        assert player.examine(thrown)[1] == []
        for ask in (player.best, player.choose):
            raises(PositionError, "chance decides", ask, thrown)


def test_a_line_takes_what_was_expected(pig):
    with Book(pig) as book:
        player, state = Player(book), 0
        line = list(player.line(state))
        assert len(line) > 3
        for action, child in line:
            outcomes = player.outcomes(state)
            if outcomes:
                value = book[player.canonical(state)].score
                nearest = min(abs(one.value.score - value) for one in outcomes)
                assert abs(outcomes[action].value.score - value) == nearest
                assert outcomes[action].child == child
            else:
                assert action == player.best(state)
            state = child


def test_commands_know_expectations(tmp_path, pig):
    text = ok("info", pig)
    assert "+0.418849 (70.9424 %) for the first player" in text and "expected utility, steps of 9.31e-10" in text
    facts = [json.loads(line) for line in ok("query", pig, "roll 3", "roll", "--json").splitlines()]
    assert [move["move"] for move in facts[0]["moves"]] == ["roll", "hold"]
    assert (facts[0]["value"], facts[0]["distance"], facts[0]["chances"]) == ("expectation", None, [])
    assert facts[1]["moves"] == []
    assert [one["probability"] for one in facts[1]["chances"]] == [pytest.approx(1 / 6)] * 6
    assert facts[1]["chances"][2]["score"] == facts[0]["score"]
    assert [one["faces"] for one in facts[1]["chances"]] == list("123456")
    assert "   6   16.67 %" in ok("query", pig, "roll")
    assert "  20 (6-5)    5.56 %" in run("query", "hypergammon:1", "start")[1]
    code, _, text = run("query", pig, "roll 7")
    assert code != 0 and "choose one of 1, 2, 3, 4, 5, 6" in text
    (tmp_path / "games.txt").write_text("roll 3 hold roll 1\n")
    assert "3 moves judged" in run("grade", pig, tmp_path / "games.txt")[1]
    ok("export", pig, "-o", tmp_path / "pig.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "pig.jsonl").read_text("utf-8").splitlines()]
    assert "distance" not in rows[0] and (rows[0]["best"], rows[1]["best"]) == (["roll"], None)
    with Book(pig) as book:
        assert rows[0]["score"] == book[0].score


def test_a_chart_of_expectations_is_a_histogram_of_all_that_is_stored(pig, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with Book(pig) as book:
        stored, exact = len(book), Counter(min(39, int(20 * (1 + value.score))) for value in book.values())
        numbers, facts = expectations_of(book), books.facts(book.header, book.size)
    assert sum(numbers.values()) == stored and len(numbers) > 100
    _, axes = pyplot.subplots()
    charts.draw_expectations(axes, numbers, wins=True)
    bars = {round(bar.get_x() / 2.5): bar.get_height() for container in axes.containers for bar in container}
    assert sum(bars.values()) == stored and len(bars) > 10
    assert sum(abs(bars.get(at, 0) - exact[at]) for at in range(40)) <= stored / 50  # some lie on an edge
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["better"]  # who is to move
    charts.draw(facts, str(tmp_path / "chart.svg"), numbers)
    chart = (tmp_path / "chart.svg").read_text("utf-8")
    assert "winning chance of the side to move" in chart and "<!-- better" in chart
    assert "<!-- wins" not in chart and "<!-- worse" not in chart


def test_books_of_expectations_are_compared(tmp_path, pig):
    assert run("diff", pig, pig)[0] == 0
    start = load_game("pig:10").initial()
    write_expectations(tmp_path / "other.lmdb", {start: Value(0.25), 1 << 40: Value(0.0)})
    code, text, _ = run("diff", pig, tmp_path / "other.lmdb")
    assert code == 1 and f"#{start}  +0.4" in text and "/ +0.25" in text and "1 only in the second" in text


def test_dice_are_thrown_by_the_seed(pig):
    given = "roll\nhold\n" * 40
    games = [run("play", pig, "--seed", seed, stdin=given)[:2] for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
    code, text = games[0]
    assert code == 0 and "chance: " in text and ("wins" in text or "you win" in text)


# Take a sure reward at each of six steps, or leave the step to chance; the prize lies at the end
Prize = ruled(
    "Prize",
    fields="score_game = True\nmost: int = 9\ngain: int = 0",
    initial="12",
    chance="if state % 2:\n    yield 1, state - 1\n    yield 2, max(0, state - 3)",
    actions="if state % 2 == 0:\n    yield from (0, 1)",
    result="state - 1 - action",
    reward="self.gain * action",
    to_move="0",
    is_terminal="state == 0",
    utility="self.most",
    tier="12 - state",
)


@pytest.mark.parametrize(("most", "reward", "span"), [(1, 0, 1), (9, 0, 16), (16, 0, 16), (17, 0, 32), (9, 4, 256)])
def test_the_largest_margin_decides_the_step(most, reward, span):
    """As `docs/reference/rules.md` says: 2**-30 of the next power of two, and 16 times more where rewards add up."""
    with pipeline.solve(Prize(most, reward)) as book:
        assert book.header.expectation.step == span * 2**-30
