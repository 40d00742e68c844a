"""A solve in shards against the same on one machine: every book the same, byte for byte."""

import functools
import hashlib

import pytest

from solver.base import sharding
from solver.base.errors import MethodError, ResourceError
from solver.book import streaming
from solver.rules.game import load_game
from solver.solving import pipeline
from tests.engines import Threads
from tests.ways import slow

pytest.importorskip("numpy")
pytest.importorskip("numba")
pytest.importorskip("fsspec")
pytestmark = pytest.mark.interpreted

import numpy as np  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from solver.cluster import blocks, driver, excerpt, filing, merged, on_ray, ordering, shards, store  # noqa: E402

SMALL = "connect-four:3,4,3"
QUICK = (SMALL, "dots-and-boxes:2,2")
SLOW = (
    "connect-four:4,3",
    "tic-tac-toe",
    "coins:40,5",
    "nim:2,3,4",
    "hexapawn:3,4",
    "breakthrough:3,4,1",
    "kalah:2,3",
    "othello:4,2",
    "fox-and-hounds:4",
    "tic-tac-toe:3,3,3,true",
    "backgammon-bearoff:2",
)


@pytest.fixture
def clustered(tmp_path, monkeypatch):
    """Solve a game in shards, on two threads; the digest of its book."""
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Threads(4))
    monkeypatch.setattr(shards, "EVERY", 0.0)
    monkeypatch.setattr(sharding, "LOCAL_STATES", 100)

    def solve(game, **options):
        path = tmp_path / "clustered.lmdb"
        with pipeline.solve(game, path, cluster="local", **options):
            pass
        assert sorted(tmp_path.iterdir()) == [path]
        return digest(path)

    return solve


@pytest.fixture
def crowded(monkeypatch):
    """Shards of few states, several to a block, whose blocks are split by tasks between."""
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 20)
    monkeypatch.setattr(sharding, "MOST_BLOCKS", 2)
    monkeypatch.setattr(sharding, "SPLIT_TASKS", 3)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def alone(folder, game, symmetry=True):
    """The digest of the book of one machine."""
    with pipeline.solve(game, folder / "alone.lmdb", symmetry=symmetry):
        return digest(folder / "alone.lmdb")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("alone")


@pytest.fixture
def filed(monkeypatch):
    """Results of tasks lie in files; how many were read."""
    found = []
    read = filing._read
    monkeypatch.setattr(sharding, "FILED", 1)
    monkeypatch.setattr(filing, "_read", lambda *given: found.append(given) or read(*given))
    return found


@pytest.mark.parametrize("game", [*QUICK, *slow(*SLOW)])
def test_the_book_is_that_of_one_machine(game, folder, clustered, crowded):
    assert clustered(game) == alone(folder, game)


@pytest.mark.parametrize("game", [SMALL, *slow("connect-four:4,3", "breakthrough:3,4,1")])
def test_results_that_are_filed_are_the_same(game, folder, clustered, crowded, filed):
    assert clustered(game) == alone(folder, game)
    assert filed


@pytest.mark.parametrize("game", ["nim:2,3,4", *slow("nim:150", "cram:4,3")])
def test_nimbers_are_those_of_one_machine(game, tmp_path, clustered, crowded, monkeypatch):
    monkeypatch.setattr(sharding, "LOCAL_STATES", -1)
    with pipeline.solve(game, tmp_path / "alone.lmdb", method="nimbers"):
        expected = digest(tmp_path / "alone.lmdb")
    (tmp_path / "alone.lmdb").unlink()
    assert clustered(game, method="nimbers") == expected


def test_one_shard_is_as_good(folder, clustered):
    assert clustered(SMALL) == alone(folder, SMALL)


@pytest.mark.parametrize(
    ("game", "codec", "workers"),
    [
        (SMALL, "instant", 40),
        (SMALL, "compact", 2),
        pytest.param(SMALL, "ranked", 2, marks=pytest.mark.slow),
        pytest.param("backgammon-bearoff:2", None, 40, marks=pytest.mark.slow),
    ],
)
def test_ranges_of_the_book_are_encoded_by_tasks(game, codec, workers, tmp_path, clustered, crowded, monkeypatch):
    """Also where they are smaller than a group, and as the driver does where the codec knows other keys."""
    with pipeline.solve(game, tmp_path / "alone.lmdb", codec=codec):
        expected = digest(tmp_path / "alone.lmdb")
    (tmp_path / "alone.lmdb").unlink()
    bound = []
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Threads(workers))
    monkeypatch.setattr(streaming, "PLAIN_LIMIT", 0)
    monkeypatch.setattr(merged, "bind", lambda *given: bound.append(given) or ordering.bind(*given))
    assert clustered(game, codec=codec) == expected
    assert len(bound) > 1 or codec == "ranked"


@pytest.mark.slow
def test_unfolded(folder, clustered, crowded):
    assert clustered(SMALL, symmetry=False) == alone(folder, SMALL, symmetry=False)


@pytest.mark.parametrize("last", [5, 27, *slow(0, 1, 14, 20)])
def test_goes_on_behind_the_last_commit(last, folder, tmp_path, clustered, crowded, monkeypatch):
    """With another number of shards than before."""
    commit = store.Store.commit

    def ends(self, number, facts):
        commit(self, number, facts)
        if number == last:
            raise ResourceError("the power is cut")

    with monkeypatch.context() as broken, pytest.raises(ResourceError, match="power"):
        broken.setattr(store.Store, "commit", ends)
        clustered(SMALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clustered.lmdb.shards"]
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 1)
    said = []
    assert clustered(SMALL, say=said.append) == alone(folder, SMALL)
    assert said[0].startswith("going on from")


def test_restart_begins_anew(folder, tmp_path, clustered, monkeypatch):
    def cut(self, tier):
        raise ResourceError("the power is cut")

    with monkeypatch.context() as broken, pytest.raises(ResourceError, match="cut"):
        broken.setattr(driver.Driver, "_solve", cut)
        clustered(SMALL)
    said = []
    assert clustered(SMALL, restart=True, say=said.append) == alone(folder, SMALL)
    assert not [line for line in said if line.startswith("going on")]


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"max_ply": 2}, r"an opening book \(--max-ply\), which runs on one machine: omit it"),
        ({"method": "alphabeta"}, "--cluster has no effect with --method alphabeta"),
        ({"anyway": True}, "--anyway has no effect with a cluster"),
        ({"cluster": "head:6379"}, "name a folder or URL, --store"),
        ({"store": ""}, "^--store is empty: name a folder or URL"),
        ({"cluster": "foo"}, "^'foo' is no address of a cluster: say local"),
        ({"cluster": ""}, "^'' is no address of a cluster: say local"),
        ({"cluster": "nodes=4,cores=2,memory=4G"}, "describes machines, for solver estimate"),
        ({"cluster": None, "store": "here"}, "--store has no effect with the sweep"),
    ],
)
def test_what_cannot_be_done_is_refused(options, refusal, tmp_path, monkeypatch):
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Threads(4))
    with pytest.raises(MethodError, match=refusal):
        pipeline.solve("tic-tac-toe", tmp_path / "book.lmdb", **{"cluster": "local", **options})
    assert not list(tmp_path.iterdir())


def test_a_graph_is_solved_on_one_machine(tmp_path):
    (tmp_path / "moves.csv").write_text("state,action,next,reward\na,l,b,\nb,,,-1\n")
    with pytest.raises(MethodError, match="^--cluster has no effect with a graph, which runs on one machine: omit it$"):
        pipeline.solve(str(tmp_path / "moves.csv"), tmp_path / "book.lmdb", cluster="local:2")


def test_a_cluster_writes_a_book():
    with pytest.raises(MethodError, match="needs a book: add -o BOOK"):
        pipeline.run(load_game("tic-tac-toe"), None, pipeline.Options(cluster="local"))


keys = st.lists(st.integers(0, 2**63 - 1), max_size=60, unique=True).map(lambda some: np.array(sorted(some), np.int64))


@settings(deadline=None)
@given(keys, keys, st.integers(0, 5))
def test_keys_are_dealt_and_found_again(early, late, bits):
    """Every key reaches one owner, in order, and what owners answer comes back to its key."""
    dealt = blocks.blocks_of([(3, early), (7, late)], bits)
    answers = []
    for owner in range(1 << bits):
        mine = list(dealt[blocks.block_for(owner, bits)].of(owner))
        for tier, some in mine:
            whole = early if tier == 3 else late
            assert some.tolist() == blocks.own(whole, bits, owner).tolist()
        answers.append(np.concatenate([np.empty(0, np.int64), *(some for _, some in mine)]))
    asked = np.concatenate([early, late])
    found = np.empty_like(asked)
    begins = np.cumsum([0, *map(len, answers[:-1])], dtype=np.int64)
    blocks.collect(asked, bits, begins, np.concatenate(answers), found)
    assert found.tolist() == asked.tolist()


@settings(deadline=None)
@given(keys, keys)
def test_look_up_finds_what_is_there(asked, states):
    values = np.full(len(asked), -1, np.int8)
    excerpt.look_up(asked, states, np.arange(len(states)).astype(np.int8), values)
    places = {state: place for place, state in enumerate(states.tolist())}
    assert values.tolist() == [places.get(key, -1) for key in asked.tolist()]
