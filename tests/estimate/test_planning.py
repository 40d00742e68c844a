"""Plans for clusters: what is counted is right, what is modelled behaves, a simulated schedule keeps to its plan."""

import json
import sys
import threading
from collections import Counter

import pytest

from solver.base import sharding
from solver.base.errors import MethodError
from solver.base.tiers import SizedTier
from solver.estimate import planning
from solver.estimate.planning import Cluster, Costs, parse_cluster
from solver.rules.game import Rules, load_game
from tests import ROOT, naive
from tests.commands import ok
from tests.engines import Threads
from tests.refusals import raises
from tests.ways import slow

np = pytest.importorskip("numpy")
pytest.importorskip("numba")
sys.path.insert(0, str(ROOT / "scripts"))

import scale_games  # noqa: E402
from schedule import Schedule, Trouble  # noqa: E402

from solver.solving import pipeline  # noqa: E402
from solver.sweep import projection  # noqa: E402

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
def small():
    """A game, its rules folded, and its states."""
    rules = Rules(load_game("connect-four:4,3"), True)
    return rules, naive.enumerate_states(rules.game, symmetry=True)


def children_of(rules, state):
    return {rules.canonical(rules.result(state, action)) for action in rules.actions(state)}


@pytest.mark.interpreted
def test_the_tiers_of_a_game_that_can_be_counted_are_counted(small):
    rules, states = small
    census = projection.census(rules.game, seconds=1e9, tiers=True)
    assert census.counted and census.whole
    for tier in census.tiers:
        mine = [state for state in states if rules.tier(state) == tier.number]
        kept = [state for state in mine if not rules.is_terminal(state)]
        assert (tier.reached, tier.kept, tier.leads) == (len(mine), len(kept), bool(kept))
        assert tier.moves == sum(len(children_of(rules, state)) for state in kept)


@pytest.mark.parametrize("shards", [1, 2, 8, 64])
def test_what_shards_deal_is_what_they_are_said_to(small, shards):
    """Counted, with shards by a hash, in a tier of connect-four; children have more or fewer parents than the mean."""
    rules, states = small
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


@pytest.mark.parametrize(
    ("text", "least"), [("connect-four:3,3,3", 20), pytest.param("connect-four:5,4", 1 << 17, marks=pytest.mark.slow)]
)
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
