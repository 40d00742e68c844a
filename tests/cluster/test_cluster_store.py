"""A store that fails, is damaged, or is driven by two: the same book in the end, or one line that says what to do.

Tasks run on threads here, since none of this depends on what runs them; `test_cluster_faults` has Ray.
"""

import contextlib
import errno
import itertools
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

fsspec = pytest.importorskip("fsspec")

from solver import __version__  # noqa: E402
from solver.base import extras, sharding  # noqa: E402
from solver.base.errors import GameError, MethodError, ResourceError  # noqa: E402
from solver.book import streaming  # noqa: E402
from solver.cluster import driver, on_ray, shards, store, tasks  # noqa: E402
from solver.cluster.engine import Node  # noqa: E402
from solver.cluster.store import Store  # noqa: E402
from solver.cluster.tasks import Bench, Job  # noqa: E402
from solver.rules.fingerprint import fingerprint  # noqa: E402
from solver.rules.game import load_game  # noqa: E402
from solver.solving import pipeline  # noqa: E402
from solver.sweep.scale import Scale  # noqa: E402
from tests.commands import run  # noqa: E402
from tests.engines import Threads, alone  # noqa: E402
from tests.processes import digest  # noqa: E402
from tests.refusals import raises  # noqa: E402
from tests.ways import slow, until  # noqa: E402
from tests.written import write_rules  # noqa: E402

if extras.cluster_defect():  # to ask for it imports nothing of Ray
    pytest.skip("the extra [cluster] is not installed", allow_module_level=True)
LocalFileSystem = pytest.importorskip("fsspec.implementations.local").LocalFileSystem
MemoryFileSystem = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
pytestmark = pytest.mark.interpreted

HOST = socket.gethostname()
GAME = "connect-four:3,3"
LAST = 21  # commit of a solve of it: the starts, ten tiers, the scale, ten tiers


class Faults:
    """The faults at each operation of a store: `strike(operation, path)` raises, or returns what `cat_file` cuts."""

    strike = staticmethod(lambda operation, path: None)
    calls = 0

    @classmethod
    def of(cls, operation, path):
        cls.calls += 1
        return cls.strike(operation, path)

    def cat_file(self, path, start=None, end=None, **more):
        most = Faults.of("read", path)
        return super().cat_file(path, start, end, **more)[:most]

    def _open(self, path, mode="rb", **more):
        Faults.of("write" if "w" in mode else "read", path)
        return super()._open(path, mode, **more)

    def pipe_file(self, path, value, **more):
        Faults.of("write", path)
        return super().pipe_file(path, value, **more)

    def mv(self, path, other, **more):
        Faults.of("rename", other)
        return super().mv(path, other, **more)

    def rm_file(self, path):
        Faults.of("remove", path)
        return super().rm_file(path)

    def ls(self, path, detail=True, **more):
        Faults.of("list", path)
        return super().ls(path, detail=detail, **more)


def failing(name, base, *protocols):
    """Register a kind of file system that fails, under the first of its protocols."""
    strip = classmethod(lambda cls, path: base._strip_protocol(str(path).removeprefix(f"{protocols[0]}://")))
    kind = type(name, (Faults, base), {"protocol": protocols, "_strip_protocol": strip})
    fsspec.register_implementation(protocols[0], kind, clobber=True)
    return kind


failing("Folder", LocalFileSystem, "faulty")  # what is renamed when it is whole
failing("Objects", MemoryFileSystem, "objects", "memory")  # an object store: what appears whole, in no folder
Remote = failing("Remote", MemoryFileSystem, "remote")  # folders elsewhere: renamed, but no files of this machine


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    """Clusters are threads, tiers of some dozen states have several shards, and nobody waits for long."""
    monkeypatch.setattr(on_ray, "connect", lambda where, memory=None, **_: Threads(4))
    monkeypatch.setattr(sharding, "MIN_TASK_STATES", 16)
    monkeypatch.setattr(sharding, "LOCAL_STATES", 16)
    monkeypatch.setattr(shards, "EVERY", 0.0)
    monkeypatch.setattr(store, "FIRST_RETRY_SECONDS", 0.0005)
    monkeypatch.setattr(store, "TOGETHER_SECONDS", 0)
    monkeypatch.setattr(Faults, "strike", Faults.strike)
    monkeypatch.setattr(Faults, "calls", 0)
    MemoryFileSystem.store.clear()
    store.store_at.cache_clear()


def solve(book, url=None, game=GAME, **options):
    """The digest of a book made on a cluster, and the output."""
    said = []
    pipeline.solve(game, book, cluster="local:2", store=url, say=said.append, **options)
    found = digest(book)
    book.unlink()
    return found, said


def behind(monkeypatch, method, act):
    """Have something done behind each call of a method of stores: `act(store, ...)`, with the arguments."""
    original = getattr(Store, method)

    def then(self, *given, **more):
        original(self, *given, **more)
        act(self, *given)

    monkeypatch.setattr(Store, method, then)


@contextlib.contextmanager
def stopped(monkeypatch, before=None, change=None):
    """Solves stop before a commit, or behind their first, in which some facts are others."""
    commit = Store.commit

    def stop(self, number, facts):
        if number == before:
            raise ResourceError("enough")
        commit(self, number, facts | (change or {}))
        if change is not None:
            raise ResourceError("enough")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", stop)
        yield


def refused(book, url=None, **options):
    with pytest.raises((ResourceError, MethodError, GameError)) as caught:
        solve(book, url, **options)
    assert len(str(caught.value).splitlines()) == 1
    assert not book.exists()
    return str(caught.value)


@pytest.fixture(params=["faulty", "objects", "remote"])
def place(request, tmp_path):
    """A store's URL, and the files left in it."""
    folder = tmp_path / "store"
    if request.param != "faulty":
        Remote().makedirs("/bucket/prefix", exist_ok=True)
        return f"{request.param}://bucket/prefix", lambda: sorted(MemoryFileSystem.store)
    folder.mkdir()
    return f"faulty://{folder}", lambda: sorted(path.name for path in folder.rglob("*"))


def test_a_store_that_fails_now_and_then(tmp_path, place):
    """By errors of the system, by those of libraries, which are no OSError, and by cutting what is read."""
    url, left = place
    faults = itertools.cycle((OSError(errno.EIO, "tired"), RuntimeError("SlowDown: Please reduce\nyour rate (503)"), 5))

    def strike(operation, path):
        fault = next(faults) if Faults.calls % 5 == 0 else None
        if isinstance(fault, Exception):
            raise fault
        return fault if operation == "read" else None

    Faults.strike = strike
    assert solve(tmp_path / "b.lmdb", url)[0] == alone(GAME)
    assert not left()
    assert Faults.calls > 100


@pytest.mark.parametrize("kind", ["write", *slow("read", "rename", "remove")])
def test_a_store_that_fails_for_good(tmp_path, place, kind):
    url, left = place
    book, last = tmp_path / "b.lmdb", random.Random(kind).randrange(200)

    def strike(operation, path):
        if Faults.calls > last and operation == kind:
            raise OSError(errno.EIO, "the disk is\ntired")

    Faults.strike = strike
    try:
        found, _ = solve(book, url)
    except ResourceError as error:
        assert str(error).endswith("the disk is tired: fix it, then the same command goes on")
        book.unlink(missing_ok=True)  # it was complete, but the store could not be cleared
        Faults.strike = staticmethod(lambda operation, path: None)
        found, _ = solve(book, url)
    assert found == alone(GAME)
    assert not left()


@pytest.mark.parametrize("kind", ["lease", "states"])
def test_a_full_disk_is_said_at_once_and_its_parts_are_removed(tmp_path, kind):
    folder, whole = tmp_path / "store", Faults.strike
    folder.mkdir()

    def strike(operation, path):
        if operation == "rename" and kind in path:
            raise OSError(errno.ENOSPC, "No space left on device")

    Faults.strike = strike
    line = refused(tmp_path / "b.lmdb", f"faulty://{folder}")
    assert line.endswith("No space left on device: fix it, then the same command goes on")
    assert not [path for path in folder.rglob(".*")] and any(folder.iterdir()) == (kind == "states")
    assert [path.name for path in folder.rglob("commit*")] == ["commit-000000"] * (kind == "states")
    Faults.strike = staticmethod(whole)
    found, said = solve(tmp_path / "b.lmdb", f"faulty://{folder}")
    assert found == alone(GAME) and any(line.startswith("going on from") for line in said) == (kind == "states")
    assert not any(folder.iterdir())


def test_places_that_are_no_store(tmp_path):
    (tmp_path / "file").touch()
    book = tmp_path / "b.lmdb"
    assert "there is no folder" in refused(book, str(tmp_path / "absent"))
    assert "there is no folder" in refused(book, str(tmp_path / "file"))
    for url in ("nothing://here", "ftp://localhost:1/x", "github://x"):
        assert re.match(f"--store {url}.*: name a folder or another URL$", refused(book, url))
    (tmp_path / "b.lmdb.shards").touch()
    assert "File exists" in refused(book)
    (tmp_path / "b.lmdb.shards").unlink()
    assert not Path("/proc/solve").exists() and "fix it" in refused(book, "/proc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def lease(folder, ago=0, **changes):
    """A lease in a folder, as another driver wrote it some seconds ago."""
    holder = {"host": "elsewhere", "process": 1, "token": "1", "time": time.time() - ago, **changes}
    place = Path(Store(driver.url_of(driver.Rules(load_game(GAME)), str(folder))).root)
    place.mkdir(exist_ok=True)
    (place / "lease").write_text(json.dumps(holder))
    return place


def ended():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_one_of_two_drivers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LOOKED", 0.01)
    monkeypatch.setattr(time, "time", lambda: 1e9)  # leases are as old as they say
    book = tmp_path / "b.lmdb"
    for changes in ({}, {"host": HOST, "process": os.getppid()}, {"ago": 50}, {"ago": -50}):
        place = lease(tmp_path, **changes)
        assert "is driven by process" in refused(book, str(tmp_path))
        assert [path.name for path in place.iterdir()] == ["lease"]
    for changes in ({"host": HOST, "process": ended()}, {"ago": 70}, {"ago": -700}):
        held = Store(str(lease(tmp_path, **changes)))
        held.hold(), held.leave()
    for text in ("", "[]", '{"host": "", "process": "x", "token": "", "time": 1}'):
        place.mkdir()
        (place / "lease").write_text(text)
        held.hold(), held.leave()
    lease(tmp_path, ago=70)
    assert solve(book, str(tmp_path))[0] == alone(GAME)
    assert not any(tmp_path.iterdir())


def test_a_holder_whose_clock_is_wrong_is_left_alone_while_it_lives(tmp_path, monkeypatch):
    place = lease(tmp_path, ago=1000)
    monkeypatch.setattr(time, "sleep", lambda seconds: lease(tmp_path, ago=995))
    assert "is driven by process 1 on elsewhere" in refused(tmp_path / "b.lmdb", str(tmp_path))
    assert [path.name for path in place.iterdir()] == ["lease"]


def test_who_has_lost_the_lease_commits_and_clears_nothing(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        behind(patch, "commit", lambda store, number, facts: lease(tmp_path) if number == 4 else None)
        assert "another process has taken over" in refused(tmp_path / "b.lmdb", str(tmp_path))
    (place,) = tmp_path.iterdir()
    held = Store(str(lease(tmp_path, host=HOST, process=ended())))
    held.hold(), lease(tmp_path)
    raises(ResourceError, "another process has taken over", held.clear)
    held.leave()
    assert len(list(place.glob("commit*"))) == 5 and (place / "lease").exists()
    lease(tmp_path, host=HOST, process=ended())
    assert solve(tmp_path / "b.lmdb", str(tmp_path))[0] == alone(GAME)
    assert not any(tmp_path.iterdir())


def test_a_lease_is_renewed_and_ends_with_its_holder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "RENEWED", 0.01)
    place = Store(str(tmp_path / "solve"))
    place.hold()

    def read():
        return json.loads((tmp_path / "solve/lease").read_text("utf-8"))

    first = read()
    until(lambda: read()["time"] > first["time"])
    assert {**read(), "time": 0} == {**first, "time": 0}
    place.leave()
    assert not any(tmp_path.iterdir())


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 64
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3])


DAMAGES = list(itertools.product(("run", "states", "values"), (flip, truncate, Path.unlink)))


@pytest.mark.parametrize("damage", [*DAMAGES[::4], *slow(*(one for place, one in enumerate(DAMAGES) if place % 4))])
def test_a_damaged_shard_file_is_computed_again(tmp_path, monkeypatch, damage):
    """Whenever it is found: forward, backward, or while the book is written; and all files of a kind at once."""
    kind, act = damage

    def damaging(store, number, facts):
        for path in Path(store.root).glob(f"{kind}*") if number in (4, 9, 15, LAST) else ():
            act(path)

    behind(monkeypatch, "commit", damaging)
    found, said = mended(tmp_path), f"is damaged or lost, as {HOST} sees it: it is computed again"
    assert all(line.startswith(kind) and line.endswith(said) for line in found) and len(found) > 1


def test_a_file_may_be_lost_while_others_are_computed_again(tmp_path, monkeypatch):
    gathered, lost = driver.Driver.gathered, []

    def damaging(store, number, facts):
        for path in Path(store.root).glob("states*") if number == 15 else ():
            path.unlink()

    def losing(self, source, dealt, *rest, **kind):
        runs = gathered(self, source, dealt, *rest, **kind)
        if source is None and len(dealt) > 1 and not lost:
            lost.append(runs[0].name)
            Path(self.store.root, lost[0]).unlink()
        return runs

    behind(monkeypatch, "commit", damaging)
    monkeypatch.setattr(driver.Driver, "gathered", losing)
    assert any(line.startswith(lost[0]) for line in mended(tmp_path))


def mended(folder):
    """What a solve says of damaged files, if its book is right all the same and nothing else is left."""
    book, said = solve(folder / "b.lmdb")
    assert book == alone(GAME)
    assert not any(folder.iterdir())
    return [line for line in said if "damaged" in line]


@pytest.mark.parametrize("game", [GAME, *slow("connect-four:4,3")])
def test_a_file_damaged_anywhere_while_the_book_is_written(tmp_path, monkeypatch, game):
    expected, chance, write, noted = alone(game), random.Random(1), pipeline._write, 0

    def damaged(target, job, outcome):
        files = sorted((tmp_path / "b.lmdb.shards").glob("[sv]*"))
        for path in chance.sample(files, 2):
            data = bytearray(path.read_bytes())
            place = chance.randrange(len(data) // 8) * 8 if "states" in path.name else chance.randrange(len(data))
            data[place] ^= chance.choice([1, 2, 255])
            path.write_bytes(data)
        return write(target, job, outcome)

    monkeypatch.setattr(pipeline, "_write", damaged)
    for _ in range(2):
        book, said = solve(tmp_path / "b.lmdb", game=game)
        assert book == expected
        noted += sum("damaged" in line for line in said)
        assert not any(tmp_path.iterdir())
    assert noted >= 2


@pytest.mark.parametrize(
    ("kind", "filed", "few"),
    [("mail", 1, streaming.PLAIN_LIMIT), ("part", sharding.FILED, 0), ("part", sharding.FILED, streaming.PLAIN_LIMIT)],
    ids=["results", "ranges-of-tasks", "ranges-of-the-driver"],
)
def test_damaged_results_and_ranges_are_made_again(tmp_path, monkeypatch, kind, filed, few):
    """Results in files, for a tier, for the one after it, and of a life that ended; ranges of the book in order."""
    struck = set()

    def damaging(store, name, *_):
        if name.startswith(kind) and len(struck) < 6 and name not in struck:
            struck.add(name)
            flip(Path(store.root, name))

    monkeypatch.setattr(sharding, "FILED", filed)
    monkeypatch.setattr(streaming, "PLAIN_LIMIT", few)
    behind(monkeypatch, "write", damaging)
    assert any(line.startswith(kind) for line in mended(tmp_path)) and struck


def test_a_solution_that_was_read_wrong_is_not_taken_for_wrong_rules(tmp_path, monkeypatch):
    """What is held against the plain rules is read a state at a time, without a digest."""
    solved, tries = driver.Driver._solution, []

    def damaged(self, begun):
        if not tries:
            for path in Path(self.store.root).glob("values_[0-3]-*"):
                path.write_bytes(b"\1" * path.stat().st_size)
        tries.append(1)
        return solved(self, begun)

    monkeypatch.setattr(driver.Driver, "_solution", damaged)
    assert len(mended(tmp_path)) == 4


@pytest.mark.parametrize("damage", [flip, truncate])
def test_a_damaged_commit_is_refused(tmp_path, monkeypatch, damage):
    book = tmp_path / "b.lmdb"
    with stopped(monkeypatch, before=7):
        assert refused(book) == "enough"
    damage(tmp_path / "b.lmdb.shards/commit-000003")
    assert refused(book).endswith("commit-000003 is damaged: --restart discards what was done")
    (tmp_path / "b.lmdb.shards/notes").write_text("mine")
    found, said = solve(book, restart=True)
    assert found == alone(GAME) and not any(line.startswith("going on") for line in said)
    assert [path.name for path in tmp_path.rglob("*")] == ["b.lmdb.shards", "notes"]  # what is not ours stays


@pytest.mark.parametrize("change", [{"format": 1}, {"done": [["forward", [None, [], 1]]]}, {"done": [["lost", []]]}])
def test_a_commit_of_another_version_is_refused(tmp_path, monkeypatch, change):
    book = tmp_path / "b.lmdb"
    with stopped(monkeypatch, change=change):
        assert refused(book) == "enough"
    assert refused(book).endswith("b.lmdb.shards is of another solve or version: --restart discards it")
    assert solve(book, restart=True)[0] == alone(GAME)


def test_exact_values_may_not_be_off_on_a_cluster():
    """Only expectations round; else a wrong value would pass for a right one."""
    for scale, error in ((Scale(127, "|i1", 0), 0), (Scale(1, "<i8", 1 << 20), 3)):
        course = shards.Course()
        tier = shards.ShardedTier(0, 2, 1, 0, [store.File("states_0-0-0.0", 1)], [])
        solved = shards.Solved([store.File("", 0)], Counter({1: 1}), None, 2)
        for event in (shards.Found(tier, [], 1, 1.0), scale, solved):
            course.apply(event)
        assert course.tally.error == error


@pytest.mark.parametrize("lost", [0, 4])
def test_a_lost_commit_costs_what_came_after_it(tmp_path, monkeypatch, lost):
    """Also if the next life ends behind its first commit, which holds other steps than the lost one."""
    with stopped(monkeypatch, before=9):
        refused(tmp_path / "b.lmdb")
    (tmp_path / f"b.lmdb.shards/commit-00000{lost}").unlink()
    with stopped(monkeypatch, change={}):
        refused(tmp_path / "b.lmdb", checkpoint=3600)
    assert solve(tmp_path / "b.lmdb")[0] == alone(GAME)
    assert not any(tmp_path.iterdir())


def test_a_store_that_damages_whatever_is_written_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "MOST_REPAIRS", 3)
    behind(monkeypatch, "write", lambda at, name, *_: flip(Path(at.root, name)) if "values_3" in name else None)
    assert "files read back damaged right after they were written: check the store" in refused(tmp_path / "b.lmdb")


def countdown(folder):
    """Rules of one's own, whose tiers may fall where a parameter says so."""
    return write_rules(
        folder / "countdown.py",
        fields="size: int = 400\nworst: int = 0",
        initial="self.size",
        actions="[1, 2, 3] if state > 2 else [1]",
        result="state - action",
        is_terminal="state == 0",
        tier="(self.size - state) * (-1 if self.worst and state == self.worst else 1)",
    )


def test_rules_of_ones_own(tmp_path):
    game = countdown(tmp_path)
    assert solve(tmp_path / "b.lmdb", game=f"{game}:40")[0] == alone(f"{game}:40")
    line = refused(tmp_path / "b.lmdb", game=f"{game}:40,20")
    assert "tier" in line and "20" in line


def test_a_node_that_has_other_rules_is_refused(tmp_path):
    game = load_game(countdown(tmp_path))
    words = f"the node {HOST} of the cluster, with solverbook {__version__}, has other rul"
    raises(GameError, words, Bench, Job("tic-tac-toe", fingerprint(game), True, True, str(tmp_path)))


class Machines(Threads):
    """A cluster whose nodes differ by their names from what this machine is."""

    hosts = ("right",)
    elsewhere = ""

    def nodes(self):
        return [Node(host, host) for host in self.hosts]

    def submit(self, task, *arguments, returns=1, memory=0, node=""):
        answers = {
            "blind": lambda game, wanted, url, *file: task(game, wanted, self.elsewhere, *file),
            "older": lambda *given: task(*given) | {"version": "0.0.1"},
            "late": lambda *given: task(*given) | {"clock": time.time() - 100},
            "early": lambda *given: task(*given) | {"clock": time.time() + 100},
            "unlike": lambda *given: task(*given) | {"fingerprint": "f" * 64},
            "ruleless": lambda game, *given: task("nosuch.py::Game", *given),
            "broken": lambda *given: 1 // 0,
            "silent": lambda *given: (_ for _ in ()).throw(TimeoutError()),
        }
        return super().submit(answers.get(node, task), *arguments, returns=returns, memory=memory)


@pytest.fixture
def machines(monkeypatch, tmp_path):
    """Have a cluster of nodes of these names; a store for it."""
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    folder.mkdir(), elsewhere.mkdir()

    def have(*hosts):
        monkeypatch.setattr(Machines, "hosts", hosts)
        monkeypatch.setattr(Machines, "elsewhere", str(elsewhere))
        monkeypatch.setattr(on_ray, "connect", lambda *_, **__: Machines(2))
        return folder

    return have


FAULTS = {
    "blind": f"does not see what {HOST} writes to ",
    "older": f"has solverbook 0.0.1, {HOST} has {__version__}: install the same on both",
    "unlike": "has other rules of tic-tac-toe: give all nodes the same files",
    "ruleless": "cannot load the rules ('nosuch.py' cannot be read",
    "broken": "cannot be asked: ",
    "silent": "has not answered for 120 s: look into Ray's log there",
}


@pytest.mark.parametrize("host", FAULTS)
def test_a_node_that_is_wrong_is_named(machines, host):
    store = machines("right", host)
    code, output, error = run("cluster", "check", "head:6379", "tic-tac-toe", "--store", store)
    rules = fingerprint(load_game("tic-tac-toe"))[:12]
    right, wrong = output.splitlines()
    assert right.startswith(f"node right: solverbook {__version__}, rules {rules}, sees the store, ")
    assert right.endswith(" GB of memory free, clock right")
    assert wrong.startswith(f"node {host}") and FAULTS[host] in wrong
    assert code == 6 and error.startswith(f"Error: node {host} {FAULTS[host]}") and len(error.splitlines()) == 1
    assert not list(store.iterdir())


def test_nodes_that_are_right_and_their_clocks(machines, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1e9)  # however long answers take
    store = machines("right", "late", "early")
    code, output, error = run("cluster", "check", "head:6379", "--store", store, "--json")
    found = json.loads(output)
    assert (code, error) == (0, "")
    assert [node["host"] for node in found] == ["right", "late", "early"]
    assert [node["ahead"] for node in found] == [0, -100, 100]
    assert all(node["sees_store"] and node["version"] == __version__ and not node["faults"] for node in found)
    assert all(node["memory"] > 1 << 20 for node in found)
    output = run("cluster", "check", "head:6379", "--store", store)[1]
    assert "its clock is 100 s behind of this machine's: let both follow one time server" in output


def test_what_cannot_be_checked_is_refused(machines, tmp_path):
    machines()
    absent = tmp_path / "absent"
    for folder, words in ((absent, f"there is no folder {absent}: make it"), (tmp_path, "no node of the cluster runs")):
        code, _, error = run("cluster", "check", "head:6379", "--store", folder)
        assert code == 6 and words in error


def test_a_solve_looks_at_the_nodes_first(machines, tmp_path):
    store, said = machines("right", "late"), []
    pipeline.solve(GAME, tmp_path / "b.lmdb", cluster="head:6379", store=str(store), say=said.append)
    assert [line.partition(":")[0] for line in said[:2]] == ["node right", "node late"]
    machines("right", "blind", "older")
    words, where = r"^node blind does not see .* \(older cannot take part either\)$", {"cluster": "head:6379"}
    raises(ResourceError, words, pipeline.solve, GAME, tmp_path / "c.lmdb", store=str(store), **where)
    assert not list(store.iterdir()) and not (tmp_path / "c.lmdb").exists()


def test_a_slow_tier_names_the_node_of_its_slowest_task(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "REPORTED_TIER_SECONDS", 0.0)
    monkeypatch.setattr(tasks, "spent", lambda begun: tasks.Spent("node-3", 1.5))
    said = [line for line in solve(tmp_path / "b.lmdb")[1] if ", tier" in line and ": 0 states" not in line]
    assert said and all(line.endswith(" s, the slowest task 1.5 s on node-3") for line in said)
