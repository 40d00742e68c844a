"""A solve in shards against the same on one machine: every book the same, byte for byte, with cycles and without.

Tasks run on threads here. Faults are injected in `test_cluster_store`, and with Ray in `test_cluster_faults`.
"""

import re
from collections import Counter

import pytest

from solver.base import extras, sharding
from solver.base.errors import GameError, MethodError, ResourceError
from solver.book import streaming
from solver.solving import pipeline
from solver.solving.job import Job
from tests.engines import Threads, alone, together
from tests.refusals import raises
from tests.sweep.test_margins import MAZE
from tests.ways import slow, slow_rows
from tests.written import write_rules

pytest.importorskip("numpy")
pytest.importorskip("numba")
pytest.importorskip("fsspec")
pytestmark = pytest.mark.interpreted

from solver.cluster import driver, on_ray, ordering, shards, store  # noqa: E402
from solver.cluster.store import Store  # noqa: E402

# A graph like any other, in tiers: moves stay in two of three of them, lead to the next, or to the one behind
MIXED = """
def mixed(self, state, salt):
    number = (state * 2654435761 + salt * 668265263) & 0xFFFFFFFF
    number = (number ^ number >> 15) * 2246822519 & 0xFFFFFFFF
    return number ^ number >> 13
"""
LADDER = {
    "fields": "width: int = 40\nheight: int = 4",
    "tier": "state // self.width",
    "actions": "for action in range(2 + self.mixed(state, 9) % 3):\n    yield action",
    "result": """number, tier = self.mixed(state, action), self.tier(state)
up = 1 if tier % 3 == 1 or number % 8 == 0 else 0
if action == 3:
    up += 1
return (tier + up) * self.width + number // 8 % self.width""",
    "again": "self.mixed(state, action + 5) % 4 == 0",
    "is_terminal": "self.tier(state) >= self.height or self.mixed(state, 7) % 16 == 5",
    "utility": "self.mixed(state, 8) % 3 - 1",
}
SMALL = "connect-four:3,3"
QUICK = (SMALL, "dots-and-boxes:2,1", "piglet:3")
SLOW = (
    *("connect-four:4,3", "connect-four:3,4,3", "tic-tac-toe", "coins:40,5", "nim:2,3,4", "hexapawn:3,4"),
    *("breakthrough:3,4,1", "kalah:2,3", "othello:4,2", "fox-and-hounds:4", "tic-tac-toe:3,3,3,true"),
    *("backgammon-bearoff:2", "dots-and-boxes:2,2"),
)
SLOW_CYCLIC = (
    *("mu-torere", "hare-and-hounds", "three-mens-morris", "three-mens-morris:1", "nine-holes", "achi", "tapatan"),
    *("pong-hau-ki", "quixo:3", "chess-ending:KPK", "ur:1"),
)
SLOW_CHANCE = ("piglet:4", "piglet", "pig:15")


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    return write_rules(tmp_path_factory.mktemp("games") / "ladder.py", name="Ladder", more=MIXED, **LADDER)


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    """Threads instead of Ray; what fails is tried again at once; each step is committed."""
    monkeypatch.setattr(store, "FIRST_RETRY_SECONDS", 0.0005)
    monkeypatch.setattr(store, "TOGETHER_SECONDS", 0)
    monkeypatch.setattr(extras, "cluster_defect", lambda: None)
    monkeypatch.setattr(sharding, "LOCAL_STATES", 10)
    monkeypatch.setattr(shards, "EVERY", 0.0)
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Threads(4, memory and 2 * memory))


@pytest.fixture
def sharded(monkeypatch):
    """Shards of a few states; generations of one shard are not gone through at once."""
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 10)
    monkeypatch.setattr(driver, "ALONE", 0)


@pytest.fixture
def crowded(sharded, monkeypatch):
    """Several shards to a block, whose blocks are split by tasks between."""
    monkeypatch.setattr(sharding, "MOST_BLOCKS", 2)
    monkeypatch.setattr(sharding, "SPLIT_TASKS", 3)


@pytest.fixture
def rounds(sharded, monkeypatch):
    """No worker has the memory for a tier with cycles."""
    monkeypatch.setattr(driver, "RESOLVING", 1 << 40)


@pytest.mark.parametrize("game", [*QUICK, *slow(*SLOW, *SLOW_CYCLIC, *SLOW_CHANCE)])
def test_the_book_is_that_of_one_machine(tmp_path, game, crowded):
    assert together(game, tmp_path / "cluster.lmdb") == alone(game)


@pytest.mark.parametrize(("least", "most_sent"), [(1, 1 << 8), (40, 1), (1 << 20, 1 << 8)])
def test_any_number_of_shards_gives_the_same_book(tmp_path, ladder, monkeypatch, least, most_sent):
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", least)
    monkeypatch.setattr(sharding, "FILED", most_sent)
    monkeypatch.setattr(driver, "ALONE", least)
    assert together(ladder, tmp_path / "cluster.lmdb") == alone(ladder)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("LADDER", {"method": "retrograde"}),
        ("nim:2,3,4", {"method": "nimbers"}),
        *slow_rows(("cram:4,3", {"method": "nimbers"})),
        *slow_rows(*((game, {"symmetry": False}) for game in (SMALL, "hare-and-hounds", "piglet:3"))),
    ],
)
def test_options_mean_the_same(tmp_path, ladder, crowded, monkeypatch, game, options):
    monkeypatch.setattr(sharding, "LOCAL_STATES", -1)
    game = game.replace("LADDER", ladder)
    assert together(game, tmp_path / "cluster.lmdb", **options) == alone(game, **options)


LATER = slow_rows((SMALL, "ranked", 2), ("backgammon-bearoff:2", None, 40))


@pytest.mark.parametrize(("game", "codec", "workers"), [(SMALL, "instant", 40), (SMALL, "compact", 2), *LATER])
def test_ranges_of_the_book_are_encoded_by_tasks(game, codec, workers, tmp_path, crowded, monkeypatch):
    """Also where they are smaller than a group, and as the driver does where the codec knows other keys."""
    expected, bound = alone(game, codec=codec), []
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None: Threads(workers))
    monkeypatch.setattr(streaming, "PLAIN_LIMIT", 0)
    bind = ordering.bind
    monkeypatch.setattr(ordering, "bind", lambda *given: bound.append(given) or bind(*given))
    assert together(game, tmp_path / "cluster.lmdb", codec=codec) == expected
    assert len(bound) > 1 or codec == "ranked"


def test_shards_split_while_a_tier_is_closed(tmp_path, ladder, monkeypatch):
    bits = []
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 60)
    monkeypatch.setattr(driver, "ALONE", 0)
    generation = driver.Driver.generation

    def watched(*given):
        found = generation(*given)
        bits.append(found.bits)
        return found

    monkeypatch.setattr(driver.Driver, "generation", watched)
    options = {"method": "retrograde"}
    assert together(ladder, tmp_path / "cluster.lmdb", **options) == alone(ladder, **options)
    assert bits == sorted(bits) and bits[0] < bits[-1] and len(bits) > 4


def test_rounds_begin_with_answers_in_files(tmp_path, ladder, rounds, monkeypatch):
    filed, read = [], shards._read
    monkeypatch.setattr(sharding, "FILED", 1)
    monkeypatch.setattr(shards, "_read", lambda *given: filed.append(given) or read(*given))
    assert together(ladder, tmp_path / "cluster.lmdb") == alone(ladder)
    assert filed


@pytest.mark.parametrize("game", [SMALL, *slow("LADDER"), "piglet:3"])
def test_it_goes_on_behind_every_commit(tmp_path, ladder, monkeypatch, rounds, game):
    """With another number of shards than before, where no tier has cycles."""
    game = game.replace("LADDER", ladder)
    commit, made, said = Store.commit, [], []

    def dying(self, number, facts):
        commit(self, number, facts)
        made.extend(name for name, _ in facts["done"])
        raise ResourceError("the driver died")

    monkeypatch.setattr(Store, "commit", dying)
    path = tmp_path / "cluster.lmdb"
    for life in range(1000):
        monkeypatch.setattr(sharding, "MIN_TASK_STATES", 25 if game == SMALL and life % 2 else 10)
        try:
            found = together(game, path, say=said.append, checkpoint=0)
            break
        except ResourceError as error:
            assert str(error) == "the driver died"
    assert found == alone(game)
    assert said[-1].startswith("going on from")
    steps = {"forward", "closing", "scale", "backward", "resolving"}
    assert set(made) == steps - {SMALL: {"closing", "resolving"}, "piglet:3": {"resolving"}}.get(game, set())


@pytest.mark.parametrize("game", ["LADDER", *slow("piglet:3")])
def test_damaged_files_are_made_again(tmp_path, ladder, monkeypatch, rounds, game):
    game = game.replace("LADDER", ladder)
    apply, kinds = shards.Course.apply, Counter()

    def damaging(self, event):
        obsolete = apply(self, event)
        folder = next(tmp_path.glob("*.shards"))
        files = sorted(path for path in folder.iterdir() if "." in path.name[1:] and path.name not in obsolete)
        present = {re.split("[_-]", path.name)[0] for path in files} - {"again"}  # of a step that runs anew
        kind = min(sorted(present), key=kinds.__getitem__, default=None)
        if kind is not None and kinds[kind] < 6:  # a tier must come to its end at last
            some = [path for path in files if path.name.startswith(kind)]
            victim = some[kinds.total() * 40503 % len(some)]
            victim.write_bytes(victim.read_bytes()[:-1])
            kinds[kind] += 1
        return obsolete

    monkeypatch.setattr(shards.Course, "apply", damaging)
    assert together(game, tmp_path / "cluster.lmdb", checkpoint=0) == alone(game)
    of_rounds = {"begins", "parents", "left", "merits"} if "Ladder" in game else set()
    assert kinds.keys() == {"run", "seen", "states", "values"} | of_rounds and min(kinds.values()) > 4


@pytest.mark.parametrize("game", ["LADDER", *slow(*SLOW_CYCLIC)])
def test_shards_that_tell_each_other_find_the_same_values(tmp_path, ladder, rounds, crowded, game):
    game = game.replace("LADDER", ladder)
    assert together(game, tmp_path / "cluster.lmdb", checkpoint=0) == alone(game)


def test_a_file_that_is_needed_again_is_not_removed(tmp_path, ladder, monkeypatch, sharded):
    """Commits come after many steps: what one of them lets go another may have written again."""
    monkeypatch.setattr(shards, "EVERY", 1e9)
    done, checked = shards.Shards.done, []

    def again(self, event):
        done(self, event)
        if isinstance(event, shards.Closing):
            done(self, shards.StartedOver())
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
    (tmp_path / "maze.py").write_text(MAZE)
    game = f"{tmp_path / 'maze.py'}::Maze:{given}"
    assert together(game, tmp_path / "rounds.lmdb", checkpoint=0) == alone(game)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "RESOLVING", 1)
        assert together(game, tmp_path / "task.lmdb") == alone(game)


@pytest.mark.parametrize("last", [100, 200])
@pytest.mark.parametrize("tiers", [{}, {"tier": "state.bit_length()"}])
def test_a_state_whose_move_fails_is_named(tmp_path, monkeypatch, rounds, last, tiers):
    """Rewards are asked for backward: of moves to later tiers, inside one, and of those that end the game."""
    monkeypatch.setattr(Job, "played", lambda self: [])
    tree = {"actions": "yield 0\nyield 1", "initial": "1", "result": "2 * state + action", "utility": "state % 3 - 1"}
    tree |= {"is_terminal": "state >= 1 << 8", "reward": f"0 // (state - {last})"}
    game = write_rules(tmp_path / "tree.py", more="score_game = True", **tree, **tiers)
    raises(GameError, f"state {last}: reward\\({last}, 0\\) fails", together, game, tmp_path / "cluster.lmdb")


REFUSED = [
    ({"max_ply": 2}, r"an opening book \(--max-ply\), which runs on one machine: omit it"),
    ({"method": "alphabeta"}, "--cluster has no effect with --method alphabeta"),
    ({"anyway": True}, "--anyway has no effect with a cluster"),
    ({"table": 1 << 20}, "--table has no effect with"),
    ({"cluster": "head:6379"}, "name a folder or URL, --store"),
    ({"cluster": "head:6379", "store": "here", "memory": 1 << 30}, "--memory is for a cluster started here"),
    ({"store": ""}, "^--store is empty: name a folder or URL"),
    ({"cluster": "foo"}, "^'foo' is not an address of a cluster: say local"),
    ({"cluster": "local:10000"}, "is not an address of a cluster"),
    ({"cluster": ""}, "^'' is not an address of a cluster: say local"),
    ({"cluster": "nodes=4,cores=2,memory=4G"}, "describes machines, for solver estimate"),
    ({"cluster": None, "store": "here"}, "--store has no effect with the sweep"),
    ({"path": None}, "--cluster needs a book: add -o BOOK"),
    ({"game": "mu-torere", "method": "minimax"}, "no tier: solve it by retrograde analysis"),
    ({"game": "moves.csv"}, "^--cluster has no effect with rules that run in plain Python only, which"),
]


@pytest.mark.parametrize(("options", "refusal"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_done_is_refused(options, refusal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moves.csv").write_text("state,action,next,reward\na,l,b,\nb,,,-1\n")
    with pytest.raises(MethodError, match=refusal):
        pipeline.solve(**{"game": "tic-tac-toe", "path": tmp_path / "book.lmdb", "cluster": "local", **options})
    assert [path.name for path in tmp_path.iterdir()] == ["moves.csv"]


def test_a_tier_beyond_the_memory_is_refused(tmp_path, ladder):
    raises(ResourceError, "--memory", together, ladder, tmp_path / "cluster.lmdb", method="retrograde", memory=4000)
