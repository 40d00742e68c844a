"""Games with cycles on a cluster: the same book as on one machine, whatever the shards, the deaths and the damage."""

import functools
import hashlib
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from solver.base import extras, options, sharding
from solver.base.errors import GameError, MethodError, ResourceError
from solver.rules.game import load_game
from solver.solving import pipeline
from tests.engines import Threads
from tests.sweep.test_margins import MAZE
from tests.ways import slow

pytest.importorskip("numba")
pytest.importorskip("fsspec")
pytestmark = pytest.mark.interpreted

from solver.cluster import closing, driver, history, on_ray, resolving, shards, store  # noqa: E402
from solver.cluster.store import Store  # noqa: E402

LADDER = '''
from typing import NamedTuple

class Ladder(NamedTuple):
    """A graph like any other, in tiers: moves stay in two of three of them, lead to the next, or to the one behind."""
    width: int = 40
    height: int = 4

    def tier(self, state):
        return state // self.width

    def mixed(self, state, salt):
        number = (state * 2654435761 + salt * 668265263) & 0xFFFFFFFF
        number = (number ^ number >> 15) * 2246822519 & 0xFFFFFFFF
        return number ^ number >> 13

    def initial(self):
        return 0

    def actions(self, state):
        for action in range(2 + self.mixed(state, 9) % 3):
            yield action

    def result(self, state, action):
        number, tier = self.mixed(state, action), self.tier(state)
        up = 1 if tier % 3 == 1 or number % 8 == 0 else 0
        if action == 3:
            up += 1
        return (tier + up) * self.width + number // 8 % self.width

    def again(self, state, action):
        return self.mixed(state, action + 5) % 4 == 0

    def is_terminal(self, state):
        return self.tier(state) >= self.height or self.mixed(state, 7) % 16 == 5

    def utility(self, state):
        return self.mixed(state, 8) % 3 - 1
'''
QUICK = ("piglet:3",)
SLOW = (
    "mu-torere",
    "hare-and-hounds",
    "three-mens-morris",
    "three-mens-morris:1",
    "nine-holes",
    "achi",
    "tapatan",
    "pong-hau-ki",
    "quixo:3",
    "piglet:4",
    "piglet",
    "pig:15",
    "chess-ending:KPK",
    "ur:1",
)


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "ladder.py"
    path.write_text(LADDER)
    return f"{path}::Ladder"


@pytest.fixture
def sharded(monkeypatch):
    """Shards of a few states; generations of one shard are not gone through at once."""
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 10)
    monkeypatch.setattr(closing, "ALONE", 0)


@pytest.fixture
def rounds(sharded, monkeypatch):
    """No worker has the memory for a tier with cycles; each round is committed."""
    monkeypatch.setattr(resolving, "RESOLVING", 1 << 40)
    monkeypatch.setattr(options, "CHECKPOINT_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    """Threads instead of Ray; what fails is tried again at once."""
    monkeypatch.setattr(store, "FIRST_RETRY_SECONDS", 0.0005)
    monkeypatch.setattr(extras, "has_cluster", lambda: True)
    monkeypatch.setattr(sharding, "LOCAL_STATES", 10)
    monkeypatch.setattr(shards, "EVERY", 0.0)
    monkeypatch.setattr(on_ray, "connect", lambda where, memory: Threads(4, memory and 2 * memory))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def alone(game, **options):
    """The digest of the book of one machine."""
    with tempfile.TemporaryDirectory() as folder:
        pipeline.solve(game, Path(folder, "one.lmdb"), **options).close()
        return digest(Path(folder, "one.lmdb"))


def together(game, path, **options):
    """And of a cluster."""
    pipeline.solve(game, path, cluster="local", **options).close()
    assert not (path.parent / (path.name + ".shards")).exists()
    return digest(path)


@pytest.mark.parametrize("game", [*QUICK, *slow(*SLOW)])
def test_the_book_is_that_of_one_machine(tmp_path, game, sharded):
    assert together(game, tmp_path / "cluster.lmdb") == alone(game)


@pytest.mark.parametrize(("least", "filed"), [(1, 1 << 8), (40, 1), (1 << 20, 1 << 8)])
def test_any_number_of_shards_gives_the_same_book(tmp_path, ladder, monkeypatch, least, filed):
    """Also where what tasks send each other lies in files."""
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", least)
    monkeypatch.setattr(sharding, "FILED", filed)
    monkeypatch.setattr(closing, "ALONE", least)
    assert together(ladder, tmp_path / "cluster.lmdb") == alone(ladder)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("LADDER", {"method": "retrograde"}),
        pytest.param("hare-and-hounds", {"symmetry": False}, marks=pytest.mark.slow),
        pytest.param("piglet:3", {"symmetry": False}, marks=pytest.mark.slow),
    ],
    ids=["one tier", "unfolded", "unfolded chance"],
)
def test_options_mean_the_same(tmp_path, ladder, sharded, game, options):
    game = game.replace("LADDER", ladder)
    assert together(game, tmp_path / "cluster.lmdb", **options) == alone(game, **options)


def test_shards_split_while_a_tier_is_closed(tmp_path, ladder, monkeypatch):
    bits = []
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 60)
    monkeypatch.setattr(closing, "ALONE", 0)
    generation = closing.generation

    def watched(*given):
        found = generation(*given)
        bits.append(found.bits)
        return found

    monkeypatch.setattr(driver, "generation", watched)
    options = {"method": "retrograde"}
    assert together(ladder, tmp_path / "cluster.lmdb", **options) == alone(ladder, **options)
    assert bits == sorted(bits) and bits[0] < bits[-1] and len(bits) > 4


def test_rounds_begin_with_answers_in_files(tmp_path, ladder, rounds, monkeypatch):
    monkeypatch.setattr(sharding, "FILED", 1)
    assert together(ladder, tmp_path / "cluster.lmdb") == alone(ladder)


@pytest.mark.parametrize("game", [pytest.param("LADDER", marks=pytest.mark.slow), "piglet:3"])
def test_it_goes_on_behind_every_commit(tmp_path, ladder, monkeypatch, rounds, game):
    game = game.replace("LADDER", ladder)
    commit, made = Store.commit, []

    def dying(self, number, facts):
        commit(self, number, facts)
        made.extend(name for name, _ in facts["done"])
        raise ResourceError("the driver died")

    monkeypatch.setattr(Store, "commit", dying)
    path = tmp_path / "cluster.lmdb"
    for _ in range(1000):
        try:
            found = together(game, path)
            break
        except ResourceError as error:
            assert str(error) == "the driver died"
    assert found == alone(game)
    assert set(made) == {"forward", "closing", "scale", "backward"} | ({"resolving"} if "Ladder" in game else set())


@pytest.mark.parametrize("game", ["LADDER", *slow("piglet:3")])
def test_damaged_files_are_made_again(tmp_path, ladder, monkeypatch, rounds, game):
    """After each commit, one of the files that are needed is cut short."""
    game = game.replace("LADDER", ladder)
    apply, kinds = history.Course.apply, Counter()

    def damaging(self, event):
        obsolete = apply(self, event)
        folder = next(tmp_path.glob("*.shards"))
        files = sorted(path for path in folder.iterdir() if "." in path.name[1:] and path.name not in obsolete)
        present = {kind_of(path.name) for path in files}
        kind = min(sorted(present), key=kinds.__getitem__, default=None)
        if kind is not None and kinds[kind] < 6:  # a tier must come to its end at last
            some = [path for path in files if kind_of(path.name) == kind]
            victim = some[kinds.total() * 40503 % len(some)]
            victim.write_bytes(victim.read_bytes()[:-1])
            kinds[kind] += 1
        return obsolete

    monkeypatch.setattr(history.Course, "apply", damaging)
    assert together(game, tmp_path / "cluster.lmdb") == alone(game)
    of_rounds = {"begins", "parents", "left", "merits"} if "Ladder" in game else set()
    assert kinds.keys() == {"run", "seen", "states", "values"} | of_rounds and min(kinds.values()) > 4


def kind_of(name):
    """The kind of a shard file."""
    return name.partition("_")[0].partition("-")[0]


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("LADDER", {}),
        pytest.param("LADDER", {"method": "retrograde"}, marks=pytest.mark.slow),
        *(pytest.param(one, {}, marks=pytest.mark.slow) for one in SLOW if "pig" not in one),
    ],
)
def test_shards_that_tell_each_other_find_the_same_values(tmp_path, ladder, rounds, game, options):
    game = game.replace("LADDER", ladder)
    assert together(game, tmp_path / "cluster.lmdb", **options) == alone(game, **options)


@pytest.mark.parametrize("game", ["LADDER", *slow("hare-and-hounds", "piglet:3")])
def test_shards_may_share_blocks(tmp_path, ladder, rounds, monkeypatch, game):
    monkeypatch.setattr(sharding, "MOST_BLOCKS", 2)
    monkeypatch.setattr(sharding, "SPLIT_TASKS", 3)
    game = game.replace("LADDER", ladder)
    assert together(game, tmp_path / "cluster.lmdb") == alone(game)


def test_what_it_cannot_do_is_refused_as_on_one_machine(tmp_path, ladder, sharded):
    for game, asked in ((ladder, {"method": "minimax"}), ("hare-and-hounds", {"method": "minimax"})):
        said = []
        for options_of in ({}, {"cluster": "local"}):
            with pytest.raises((GameError, MethodError)) as caught:
                pipeline.run(
                    load_game(game), tmp_path / "book.lmdb", pipeline.Options(**asked, **options_of, restart=True)
                )
            said.append(str(caught.value))
        assert "retrograde analysis" in said[1]


def test_a_tier_beyond_the_memory_is_refused(tmp_path, ladder):
    with pytest.raises(ResourceError, match="--memory"):
        together(ladder, tmp_path / "cluster.lmdb", method="retrograde", memory=4000)


def test_a_file_that_is_needed_again_is_not_removed(tmp_path, ladder, monkeypatch, sharded):
    """Commits come after many steps: what one of them lets go another may have written again."""
    monkeypatch.setattr(shards, "EVERY", 1e9)
    done, checked = shards.Shards.done, []

    def again(self, event):
        done(self, event)
        if isinstance(event, history.Closing):
            done(self, history.StartedOver())
            done(self, event)
            self.commit()
            needed = self.course.names - {""}
            assert needed <= set(self.store.listed())
            checked.append(len(needed))

    monkeypatch.setattr(shards.Shards, "done", again)
    assert together(ladder, tmp_path / "cluster.lmdb") == alone(ladder)
    assert len(checked) > 10 and min(checked) > 0


@pytest.mark.parametrize("given", [*slow("40,3,1,0"), "40,3,2,3"])
def test_margins_where_play_may_come_back(tmp_path, rounds, given):
    """By one task, and by rounds, of which each is committed."""
    (tmp_path / "maze.py").write_text(MAZE)
    game = f"{tmp_path / 'maze.py'}::Maze:{given}"
    assert together(game, tmp_path / "rounds.lmdb") == alone(game)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolving, "RESOLVING", 1)
        assert together(game, tmp_path / "task.lmdb") == alone(game)
