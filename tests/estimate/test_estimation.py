"""Estimates: they end, do not fail, and no solve depends on them; plans for clusters keep to what is counted."""

import itertools
import json
import sys
import threading
import time
import types
from collections import Counter

import pytest

from solver.base import sharding
from solver.base.errors import MethodError
from solver.base.extras import PROCESS
from solver.base.options import Options
from solver.base.tiers import SizedTier
from solver.estimate import estimation, planning
from solver.estimate.planning import Cluster, Costs, parse_cluster
from solver.report import searches
from solver.report.facts import facts_of
from solver.rules import placements
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.ways import plain
from tests import ROOT, naive, oracles
from tests.commands import ok
from tests.engines import Threads
from tests.games import SMALL_GAMES
from tests.refusals import failing, raises
from tests.ways import quickly, slow, slow_rows

np = pytest.importorskip("numpy")
pytest.importorskip("numba")
sys.path.insert(0, str(ROOT / "scripts"))

import scale_games  # noqa: E402
from schedule import Schedule, Trouble  # noqa: E402

from solver.base.parallel import Workers  # noqa: E402
from solver.book import writer  # noqa: E402
from solver.compiled.edges import CompiledMoves  # noqa: E402
from solver.store import runs  # noqa: E402
from solver.store.work import Column, Work  # noqa: E402
from solver.sweep import exhaustive, expansion, expectation, projection, thinning, walking  # noqa: E402
from solver.sweep.forward import Forward  # noqa: E402
from tests.interpreted import interpret  # noqa: E402


@pytest.fixture
def small(monkeypatch):
    """Pieces and samples in which small games are large."""
    interpret(monkeypatch)
    monkeypatch.setattr(expansion, "STATES_PER_CALL", 20)
    monkeypatch.setattr(runs, "PIECE_STATES", 40)
    monkeypatch.setattr(projection, "TIER_SAMPLE", 64)


@pytest.fixture
def forward(small):
    """The pass forward over a game, stopped after each piece; its one worker is `team`."""
    options = {"progress": lambda *step: None, "cycles": True, "limit": 1 << 20, "most": 1 << 30}
    with Work() as work, Workers(1) as team:

        def steps(game, symmetry=True):
            one = Forward(CompiledMoves(Rules(game, symmetry)), work, **options)
            while not one.run(team, 0.0):
                yield one
            yield one

        steps.team = team
        yield steps


@pytest.mark.parametrize("text", quickly(SMALL_GAMES, ("tic-tac-toe:3,2,2", "kalah:2,3", "mu-torere")))
def test_an_estimate_ends_wherever_counting_is_stopped(forward, text):
    """In tiers whose moves stay inside, too; and counting goes on from there to the same states."""
    game = load_game(text)
    for number, one in enumerate(forward(game, symmetry=False)):
        if number % 7 == 0 and not one.closing:
            estimate = projection.estimated(one, 0.1)
            assert all(type(size) is int and 0 <= size <= 1 << 63 for size in estimate.sizes)
    assert sum(layer.reached for layer in one.layers) == len(naive.enumerate_states(game))


def test_a_tier_with_cycles_that_was_not_reached_is_met_in_samples(forward):
    third = next(one for one in forward(load_game("three-mens-morris:1")) if len(one.layers) == 3)
    estimate = projection.estimated(third, 1e9)
    assert (len(estimate.sizes), estimate.cyclic, estimate.whole) == (7, True, True)


@pytest.mark.parametrize("text", ["kalah:2,3", *slow("three-mens-morris:1")])
def test_a_failing_estimate_ends_no_solve(tmp_path, monkeypatch, small, text):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    expected = pipeline.run(load_game(text), None, Options())
    monkeypatch.setattr(exhaustive, "TRIAL", 0.0)
    monkeypatch.setattr(projection, "estimated", failing(OverflowError("cannot convert float infinity to integer")))
    assert pipeline.solve(load_game(text), tmp_path / "book.lmdb").counts == expected.counts


def test_sizes_that_explode_stay_numbers():
    assert projection.continued([1, 10**2, 10**5, 10**10, 10**17])[-1] <= 1 << 63
    assert estimation.grown([1, 10**5], 1000)[-1] == 1 << 63
    assert estimation.grown([1, 4, 16, 0], 6) == [1, 4, 16, 0, 0, 0, 0]


def test_what_cannot_be_counted_is_refused(tmp_path):
    (tmp_path / "tree.json").write_text("[[3, 12, 8], [2, 4, 6]]")
    tree = load_game(f"tree:{tmp_path / 'tree.json'}")
    for estimate in (estimation.of_sweep, lambda game: estimation.of_opening(game, 1)):
        raises(MethodError, "runs in plain Python only", estimate, tree)
    raises(MethodError, "for games of all positions: omit --wdl", estimation.of_sweep, load_game("nim"), wdl=True)


@pytest.mark.parametrize("text", ["hex:2", "connect-four:2,3"])
def test_parents_are_found_from_their_children(small, text):
    game = load_game(text)
    unfinished = [state for state in sorted(naive.enumerate_states(game)) if not game.is_terminal(state)]
    pairs = [(state, game.result(state, action)) for state in unfinished for action in game.actions(state)]
    expected = Counter(child for _, child in {*pairs})
    pairs = [(state, child) for state, child in pairs if not game.is_terminal(child)]
    before, after = (np.array(side * 2, np.int64) for side in zip(*pairs, strict=True))
    moves = CompiledMoves(Rules(game, False)).moves
    found = walking.learnt(moves, before, after)
    counts, missed = np.empty_like(after), np.empty(len(after), np.bool_)
    walking.count_parents(moves, found, after, before, counts, missed)
    assert not missed.any()
    assert counts.tolist() == [expected[state] for state in after.tolist()]


def test_walkers_count_as_the_sweep_does(forward, monkeypatch):
    sizes = {"TRIAL_TIERS": 2, "LEARNT_MOVES": 300, "MAX_STEP_ERROR": 0.2}
    for name, size in (sizes | dict.fromkeys(("TRIAL_WALKERS", "MAX_WALKERS", "MIN_WALKERS"), 64)).items():
        monkeypatch.setattr(walking, name, size)
    *_, whole = forward(load_game("y:3"), symmetry=False)
    layers = whole.layers[4:-1]
    whole.layers[4:] = []
    found = walking.walked(whole, forward.team, 1e9)
    assert [tier.kept for tier in found.tiers] == pytest.approx([one.end - one.begin for one in layers], rel=0.25)
    assert [tier.reached for tier in found.tiers] == pytest.approx([one.reached for one in layers], rel=0.25)


@pytest.mark.parametrize("text", ["pig:4", *slow("piglet", "hypergammon:1", "nannon")])
def test_memory_for_bounds_is_that_of_a_solve(tmp_path, monkeypatch, small, text):
    """Of a game of chance, by the moves of a sample; without what groups of outcomes are worth at least."""
    needed = []
    monkeypatch.setattr(expectation, "refuse_beyond", lambda memory, states, size: needed.append(size))
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    with pipeline.solve(load_game(text), tmp_path / "book.lmdb"):
        pass
    narrowed = projection.census(load_game(text), seconds=1e9).narrowed
    assert 0.8 * max(needed) < narrowed <= 1.05 * max(needed)


def test_an_estimate_without_time_says_what_it_left_out(forward):
    assert not projection.estimated(next(forward(load_game("connect-four:4,4"))), 0.0).whole
    text = searches.sweep_text(facts_of(estimation.Sweep(5, 5, 5, 5, False, False, False, 2, 1.0, 1, 1, 1, False)))
    assert "more than 5 states" in text


def test_counting_takes_the_workers_it_is_given(monkeypatch, small):
    counts = []
    monkeypatch.setattr(projection, "Workers", lambda count: counts.append(count) or Workers(count))
    assert estimation.of_sweep(load_game("tic-tac-toe:3,2,2"), workers=3, seconds=1e9).counted
    assert counts == [3]


def test_an_opening_of_more_plies_than_there_is_time_for(monkeypatch):
    from solver.compiled.exact import searcher

    budgets = []
    idle = types.SimpleNamespace(warm=lambda: None, value=lambda state, seconds: budgets.append(seconds))
    monkeypatch.setattr(searcher, "Searcher", lambda game, symmetry: idle)
    ticks = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks) / 100)  # 10 ms pass whenever it is looked at
    monkeypatch.setattr(estimation, "time", clock)
    estimate = estimation.of_opening(load_game("connect-four"), 25, seconds=0.2)
    assert (len(estimate.plies), estimate.counted, estimate.plies[:3]) == (26, False, [1, 4, 25])
    assert estimate.sample > 0 and "for want of time" in searches.opening_text(facts_of(estimate))
    assert budgets and all(0 < seconds <= 0.2 for seconds in budgets)


# states, finished ones too, nothing folded, of more than most machines count in the time, and of some that they do
LARGE = {
    "connect-four:7,6": 4_531_985_219_092,
    "connect-four:6,6": 69_173_028_785,
    "connect-four:6,5": 2_818_972_642,
    "connect-four:5,6": 1_044_334_437,
    "animal-shogi": 246_803_167,
}
ESTIMATED = (
    *("connect-four:6,4", "connect-four:5,5", "connect-four:7,3", "connect-four:4,6", "quixo:4,true", "neutreeko"),
    *("tic-tac-toe:4,4,3", "sim", "breakthrough:4,4,2", "breakthrough:3,5,2", "fox-and-hounds:8,1", "hexapawn:4,5"),
    *("order-and-chaos:4,3", "l-game", "dots-and-boxes:3,3"),
)


@pytest.mark.slow
def test_estimates_of_ten_seconds_hold():
    """Within a quarter of what is known in 18 games of 20, and the range holds in 19."""
    known = {one.game: one.states for one in oracles.ORACLES} | LARGE
    ratios, holding = {}, []
    for text in (*LARGE, *ESTIMATED):
        found = estimation.of_sweep(load_game(text), symmetry=False, seconds=10.0)
        ratio = ratios[text] = found.states / known[text]
        if found.stored / found.most * 0.98 <= ratio <= found.stored / max(1, found.least) * 1.02:
            holding.append(text)
    assert sum(0.75 <= ratio <= 1.25 for ratio in ratios.values()) >= 18 and len(holding) >= 19, (ratios, holding)


SKIRMISH = f"{ROOT / 'tests' / 'skirmish.py'}::Skirmish"  # captures and cycles, no tiers
SKIRMISH_STATES = 16_721_416  # unfinished, as solved


def test_a_part_tells_of_the_states_that_it_missed_and_all_parts_find_all(forward, monkeypatch):
    monkeypatch.setattr(thinning, "SEEDS", 20)
    game = load_game(f"{SKIRMISH}:3,3,2")
    states = sum(not game.is_terminal(state) for state in naive.enumerate_states(game))
    searches = thinning.Thinning(next(forward(game)), forward.team, 1 << 30, lambda *step: None)
    *_, half, whole = searches.parts(1e9)
    assert half.reached <= 1.2 * half.share * states and half.estimate == pytest.approx(states, rel=0.25)
    assert (whole.share, whole.reached, whole.estimate) == (1, states, states)


@pytest.mark.parametrize(
    ("part", "judgement"),
    [
        (thinning.Part(0.25, 250_000, 1_200_000.0), thinning.Thinned(1_200_000, 952_381, 1_728_000)),
        (thinning.Part(1.0, 7, 7.0), thinning.Thinned(7, 7, 7)),
        (thinning.Part(0.25, 250_000, 1_600_000.0), None),  # it missed too much
        (thinning.Part(0.25, 250_000, 1_000_000.0), None),  # more were found already
        (thinning.Part(0.25, 2_500, 12_000.0), None),
    ],
)
def test_a_part_is_judged_by_the_states_that_it_missed(part, judgement):
    assert thinning.judged([part], 1_100_000 if part.share < 1 else 0) == judgement


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [20.0, 60.0])
def test_a_game_of_captures_and_cycles_is_estimated(monkeypatch, seconds):
    """Its true size by solving. Seconds of two busy cores: beside other work the estimate may go on for longer."""
    monkeypatch.setattr(time, "monotonic", lambda: time.process_time() / 2)
    found = estimation.of_sweep(load_game(SKIRMISH), workers=2, seconds=seconds)
    assert found.least <= SKIRMISH_STATES <= found.most
    if seconds == 60.0:
        assert found.stored == pytest.approx(SKIRMISH_STATES, rel=0.25) and found.most <= 2 * found.stored


def test_ranges_are_round():
    for low, high, text in (
        (1_242_405, 123_599_820, "1.2 to 130 million"),
        (999_999, 1_000_001, "990,000 to 1.1 million"),
        (5, 5, "5 to 5"),
        (1_005, 2_111, "1,000 to 2,200"),
        (2 * 10**9, 3 * 10**12, "2 billion to 3 trillion"),
    ):
        assert searches.between(low, high) == text


# kinds of games whose peaks have other reasons: tiers, margins, one tier with cycles, an index in files
FILED = 768 << 20
UNLIMITED = ("connect-four:4,5", "quixo:3", "breakthrough:3,5,2", "kalah:4,3", "dao", "chess-ending:KPK", "neutreeko")
UNLIMITED += ("fox-and-hounds", "bagh-chal")


@pytest.mark.interpreted
@pytest.mark.posix("counts blocks of the disk")
@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("connect-four:3,4,3", None),
        *slow_rows(("connect-four:5,5", FILED + (64 << 20)), ("quixo:4", FILED), ("teeko", 1 << 30)),
        *slow_rows(*((text, None) for text in UNLIMITED)),
    ],
)
def test_disk_at_its_peak_is_within_a_fifth(tmp_path, monkeypatch, text, memory):
    """As the system counts the bytes of files."""
    expected = estimation.of_sweep(load_game(text), memory=memory, seconds=1e9)
    used, write, copy = [], Column._write, writer._copy

    def look():
        used.append(sum(file.stat().st_blocks * 512 for file in tmp_path.rglob("*") if file.is_file()))

    monkeypatch.setattr(Column, "_write", lambda *one: (write(*one), look()))
    monkeypatch.setattr(writer, "_copy", lambda *one: (copy(*one), look()))
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    pipeline.solve(load_game(text), tmp_path / "book.lmdb", memory=memory).close()
    assert expected.counted and expected.disk == pytest.approx(max(used), rel=0.2)


def test_keys_are_measured_where_no_state_lies_below_the_first_splitter(small):
    census = projection.census(load_game("hare-and-hounds"), seconds=1e9)
    assert census.counted and 0 < census.keys < 8


@pytest.mark.interpreted
def test_memory_that_is_too_little_is_named():
    facts = facts_of(estimation.of_sweep(load_game("tic-tac-toe:3,2,2"), memory=768 << 20))
    text = searches.sweep_text({**facts, "least_memory": 2 << 30})
    assert "memory   about 2,048 MiB are needed, 768 MiB are allowed: give more with --memory" in text


def test_a_solve_of_all_positions_takes_less_without_distances():
    game = load_game("nine-mens-morris:4")
    whole, outcomes = (estimation.of_sweep(game, wdl=wdl) for wdl in (False, True))
    assert whole.stored == outcomes.stored > 6_000_000
    assert outcomes.least_memory - PROCESS < (whole.least_memory - PROCESS) / 8
    assert outcomes.book_bytes < whole.book_bytes / 4
    assert f"memory   about {outcomes.memory / 2**20:,.0f} MiB\n" in searches.sweep_text(facts_of(outcomes))


@pytest.mark.parametrize("text", ["breakthrough:3,3,1", *slow("tic-tac-toe", "quixo:3", "three-mens-morris")])
def test_no_more_states_are_stored_than_the_rules_number(text):
    rules = Rules(load_game(text))
    placed = placements.of(rules)
    stored = [state for state in naive.enumerate_states(rules.game, True) if not rules.is_terminal(state)]
    assert len(stored) <= placed.unfinished <= placed.most <= placed.numbered == rules.numbering.size
    some = placements.of(Rules(load_game("breakthrough:4,4,2")))
    assert 0 < some.unfinished < some.most and some.numbered == 3_282_496


def test_work_on_a_book_takes_its_share_of_the_solve():
    rules = Rules(load_game("connect-four:4,3"))
    small = estimation.book_times(rules, 1_000, False, 1.0, 2)
    assert min(small) > 0
    for times, stored, seconds, workers in ((5, 5_000, 5.0, 2), (2, 1_000, 2.0, 1)):
        larger = estimation.book_times(rules, stored, False, seconds, workers)
        assert larger == pytest.approx([times * one for one in small])
    for text, cyclic in (("kalah:2,3", False), ("mu-torere", True), ("pig:4", False), ("connect-four:4,3", True)):
        assert estimation.book_times(Rules(load_game(text)), 1_000, cyclic, 1.0, 2).trim is None


def test_the_times_of_work_on_the_book_have_a_line():
    sizes = (5, 5, 5, 5, True, True, False, 2, 100.0, 1, 1, 1, False)
    for seconds, words in ((300.0, " trim --wdl --codec ranked 5.0 minutes,"), (None, "")):
        sweep = estimation.Sweep(*sizes, book_times=estimation.BookTimes(50.0, seconds, 2.0))
        assert f"then about: verify 50 seconds,{words} pack 2 seconds" in searches.sweep_text(facts_of(sweep))


COSTS = Costs(5e-9, 10e-9)
MANY = Cluster(64, 32, 256 << 30, 25e9, 40e9, 2.0)
FEW = Cluster(4, 8, 64 << 30, 10e9)
TIERS = [SizedTier(30, 2 * 10**8, 18 * 10**7, 6 * 10**8, 1), SizedTier(31, 22 * 10**7, 19 * 10**7, 0, 0)]


def test_a_cluster_is_read():
    assert parse_cluster("nodes=64,cores=32,memory=256G,network=25G,storage=40G,price=2") == MANY
    assert parse_cluster("price=2,nodes=64, cores=32,network=25G,memory=256G,storage=40G") == MANY
    assert parse_cluster("nodes=2,cores=8,memory=1.5T") == Cluster(2, 8, 3 << 39)
    assert parse_cluster("local:3")[:2] == (1, 3) and parse_cluster("local").cores >= 1


ONE = "cores=1,memory=1G"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a size"),
        ("64", "'64' is not a size"),
        ("head:6379", "where a cluster is"),
        ("nodes=64", "lacks cores and memory: add cores=32,memory=256G"),
        ("nodes=50,cores=32", "lacks memory: add memory=256G"),
        (f"nodes=0,{ONE}", "has no nodes"),
        (f"nodes=1,nodes=2,{ONE}", "twice"),
        (f"nodes=-1,{ONE}", "^'nodes=-1' says nothing"),
        (f"nodes=1,{ONE},colour=3", "^'colour=3' says nothing"),
        (f"nodes=1,{ONE},network=0", "has no network"),
    ],
)
def test_what_is_no_cluster_is_refused_with_the_reason(text, reason):
    raises(ValueError, reason, parse_cluster, text)


@pytest.fixture(scope="module")
def folded():
    """A game, its rules folded, and its states."""
    rules = Rules(load_game("connect-four:4,3"), True)
    return rules, naive.enumerate_states(rules.game, symmetry=True)


def children_of(rules, state):
    return {rules.canonical(rules.result(state, action)) for action in rules.actions(state)}


@pytest.mark.interpreted
def test_the_tiers_of_a_game_that_can_be_counted_are_counted(folded):
    rules, states = folded
    census = projection.census(rules.game, seconds=1e9, tiers=True)
    assert census.counted and census.whole
    for tier in census.tiers:
        mine = [state for state in states if rules.tier(state) == tier.number]
        kept = [state for state in mine if not rules.is_terminal(state)]
        assert (tier.reached, tier.kept, tier.leads) == (len(mine), len(kept), bool(kept))
        assert tier.moves == sum(len(children_of(rules, state)) for state in kept)


@pytest.mark.parametrize("shards", [1, 2, 8, 64])
def test_what_shards_deal_is_what_they_are_said_to(folded, shards):
    """Counted, with shards by a hash, in a tier of connect-four; children have more or fewer parents than the mean."""
    rules, states = folded
    kept = [state for state in states if rules.tier(state) == 8 and not rules.is_terminal(state)]
    led = [(state, child) for state in kept for child in children_of(rules, state)]
    pairs = {(hash((state, 7)) % shards, child) for state, child in led}
    children = len({child for _, child in led})
    assert planning.dealt(len(led), children, shards) == pytest.approx(len(pairs), rel=0.1)


def test_what_is_scarce_binds_and_more_of_anything_takes_no_longer():
    def first_tier(**changes):
        return planning.predict(TIERS, COSTS, FEW._replace(**changes))[0]

    def seconds(**changes):
        return first_tier(**changes).forward + first_tier(**changes).backward

    assert (first_tier(network=0.0).bound, first_tier(network=1e8).bound) == ("cores", "network")
    assert (first_tier(storage=1e8).bound, first_tier(nodes=10**4).bound) == ("store", "driver")
    assert seconds(nodes=8) < seconds() < seconds(nodes=2)
    assert max(seconds(network=1e11), seconds(storage=1e12)) <= seconds()
    for memory in (16 << 30, 256 << 30):  # of which a task fits a worker
        assert planning.planned(TIERS, COSTS, MANY._replace(memory=memory)).memory < memory / MANY.cores


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Solve a game in shards on two threads; the tasks of each kind, and the bytes of arrays that they returned."""
    pytest.importorskip("fsspec")
    from solver.cluster import on_ray

    monkeypatch.setattr(sharding, "LOCAL_STATES", -1)
    found, lock = Counter(), threading.Lock()

    class Counting(Threads):
        def submit(self, task, *arguments, **options):
            def once(*known):
                made = task(*known)
                with lock:
                    found.update({(task.__name__, "tasks"): 1, (task.__name__, "bytes"): bytes_of(made)})
                return made

            return super().submit(once, *arguments, **options)

    def solve(text, cluster):
        free = round((1 - sharding.OBJECTS) * cluster.memory)
        monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Counting(2, free))
        with pipeline.solve(load_game(text), tmp_path / "book.lmdb", cluster="local"):
            return found

    return solve


def bytes_of(made):
    """Of the blocks and arrays of what a task returned."""
    if hasattr(made, "keys") and hasattr(made.keys, "nbytes"):
        return made.keys.nbytes
    return made.nbytes if hasattr(made, "nbytes") else sum(map(bytes_of, made)) if type(made) in (list, tuple) else 0


@pytest.mark.parametrize(("text", "least"), [("connect-four:3,3,3", 20), *slow_rows(("connect-four:5,4", 1 << 17))])
@pytest.mark.interpreted
def test_tasks_and_bytes_are_those_of_a_solve(text, least, counted, monkeypatch):
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", least)
    cluster = Cluster(1, 2, 8 << 30)
    tiers = planning.predict(projection.census(load_game(text), seconds=1e9, tiers=True).tiers, COSTS, cluster)
    found = counted(text, cluster)
    for name in ("advance", "gather", "request", "answer", "fold"):
        mine = [phase for tier in tiers for phase in tier.phases if phase.name == name]
        # how many shards the next tier will have the driver guesses by how the last one grew
        assert sum(phase.tasks for phase in mine) == pytest.approx(found[name, "tasks"], rel=0.2), name
        passed = sum(phase.passed for phase in mine)
        if name == "advance":
            assert passed == pytest.approx(found[name, "bytes"], rel=0.1)
        if name in ("request", "answer"):  # beside a win at once no other move is asked about, which no plan knows
            assert 0.9 * found[name, "bytes"] < passed < 1.25 * found[name, "bytes"], name


@pytest.mark.interpreted
@pytest.mark.parametrize("measures", [False, *slow(True)])
def test_the_command_plans(monkeypatch, measures):
    if not measures:
        monkeypatch.setattr(planning, "measured", lambda rules: COSTS)
    planned = ("estimate", "connect-four:3,3,3", "--seconds", "100000", "--cluster")
    out = ok(*planned, "nodes=2,cores=4,memory=16G,network=10G,price=3")
    assert "261 states, counted" in out and "price" in out
    assert len([line for line in out.splitlines() if line[:6].strip().isdigit()]) == 10  # a row a tier
    facts = json.loads(ok(*planned, "local:2", "--json"))
    assert (facts["game"], facts["states"], len(facts["tiers"])) == ("connect-four:3,3,3", 261, 10)
    phases = [phase["name"] for phase in facts["tiers"][3]["phases"]]
    assert phases == ["advance", "gather", "request", "answer", "fold"]


@pytest.mark.interpreted
def test_a_game_whose_moves_stay_in_their_tier_is_not_planned():
    cluster = parse_cluster("local:2")
    raises(MethodError, "stay in their tier", planning.of_cluster, load_game("mu-torere"), cluster, seconds=1e9)


def test_a_schedule_takes_what_the_plan_says_and_more_where_nodes_die():
    """Some seconds' work for a few nodes."""
    plan = planning.planned(TIERS, COSTS, FEW)
    calm = Schedule(plan, FEW, Trouble(spread=0.0, stragglers=0.0, between=1e12), 0).run()
    tiers = sum(tier.forward + tier.backward for tier in plan.tiers)
    assert calm.seconds == pytest.approx(tiers + plan.book_seconds, rel=0.02)
    assert (calm.again, calm.deaths, calm.drivers) == (0, 0, 0)
    rare, often = (Schedule(plan, FEW, Trouble(between=time, replaced=1.0), 1).run() for time in (1e12, 20.0))
    assert (rare.deaths, rare.again) == (0, 0) and often.deaths > 0 and often.again > 0
    assert 0 <= rare.idle < 1 and 0 <= often.idle < 1
    assert rare.seconds < often.seconds < 20 * rare.seconds


def test_the_published_counts_are_whole():
    """Seven by six has 4,531,985,219,092 positions (Tromp), animal shogi 1,567,925,964 arrangements (Tanaka)."""
    assert sum(scale_games.SEVEN_BY_SIX) == scale_games.TOTALS["connect-four"]
    assert scale_games.arrangements(scale_games.ANIMAL) == scale_games.ANIMAL_ARRANGED
    tiers = [SizedTier(ply, 10 + ply, 9 + ply, 30, 1) for ply in range(43)]
    scaled = scale_games.true_to_published("connect-four", tiers)
    assert sum(tier.reached for tier in scaled) == pytest.approx(scale_games.TOTALS["connect-four"] / 2, rel=1e-6)


def test_work_is_done_when_all_states_are_and_first_ones_count_most():
    assert [estimation.work_done(share, 1.0) for share in (0.25, 1.0)] == pytest.approx([0.25, 1.0])
    ancestors = 2.0**estimation.SHARED
    done = [estimation.work_done(share, 2.0) for share in (0.0, 1e-18, 0.1, 0.5, 1.0)]
    assert done == pytest.approx([0.0, 1e-18 * ancestors, 1 - 0.9**ancestors, 1 - 0.5**ancestors, 1.0], rel=1e-9, abs=0)
