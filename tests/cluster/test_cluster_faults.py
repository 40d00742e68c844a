"""Faults of a cluster, injected from outside: workers, machines, drivers and stores die, and the book is the same.

Ray is real here, and so is the server of S3; what needs neither is in `test_cluster_store`. The table of faults is in
`docs/explanation/reliability.md`.
"""

import contextlib
import importlib.util
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import pytest

from solver.base import extras
from tests import ROOT
from tests.processes import digest, is_one_line, truth
from tests.ways import until

if extras.cluster_defect():
    pytest.skip("the extra [cluster] is not installed", allow_module_level=True)
pytestmark = [pytest.mark.faults, pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux")]

PATHS = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
SMALL, MIDDLE = "connect-four:4,4", "connect-four:5,4"

# tiers of some thousand states have several shards here, and some drivers run tasks on threads: they begin sooner
SHARDED = """
import solver.__main__
from solver.base import sharding
from solver.cluster import on_ray, shards, store
from tests.engines import Threads
sharding.MIN_TASK_STATES, sharding.LOCAL_STATES, shards.EVERY = 1 << 9, 1 << 8, 0.0
"""
ON_THREADS = SHARDED + "on_ray.connect = lambda *_, **__: Threads(4)\n"
IMPATIENT = ON_THREADS + "store.RENEWED, store.EXPIRED, store.LOOKED = 0.2, 2.0, 0.5\n"
RUN = "solver.__main__.main()"


class Place:
    """A folder for books, stores and temporary files, and the processes that were started for it."""

    def __init__(self, folder):
        self.folder, self.mark = folder, uuid.uuid4().hex
        self.book, self.temporary = folder / "book.lmdb", folder / "t"
        self.temporary.mkdir()
        self.settings = {}

    def start(self, game, *options, code=SHARDED):
        command = [sys.executable, "-c", code + RUN, "solve", game, "-q", "-o", str(self.book), *map(str, options)]
        environment = {**os.environ, "PYTHONPATH": PATHS, "TMPDIR": str(self.temporary), "FAULTS": self.mark}
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        return subprocess.Popen(command, env={**environment, **self.settings}, **pipes)

    def solve(self, game, *options, code=SHARDED):
        """The exit code and the output."""
        return self.ended(self.start(game, *options, code=code))

    def ended(self, process):
        _, error = process.communicate()
        return process.returncode, error

    def processes(self, title=""):
        """Those that run and were started here, by what they are called."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (place / "environ").read_bytes():
                    name = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if name.startswith(title):
                        found.append(int(place.name))
        return found

    def commits(self):
        return sum(len(list(self.folder.glob(f"{where}/commit-??????"))) for where in ("*", "store/*"))

    def is_clean(self):
        """Whether only the book is left, no process, and nothing in shared memory."""
        assert until(lambda: not self.processes()), self.processes()
        assert not list(self.temporary.iterdir())
        return sorted(path.name for path in self.folder.iterdir()) == [self.book.name, self.temporary.name]


@pytest.fixture
def place():
    before = set(os.listdir("/dev/shm"))
    folder = Path(tempfile.mkdtemp(prefix="f-", dir="/tmp"))  # a socket's path is short
    found = Place(folder)
    try:
        yield found
    finally:
        for process in found.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
    assert not {name for name in set(os.listdir("/dev/shm")) - before if "plasma" in name or "ray" in name}


def kill(process):
    """End a driver and nothing else, at once."""
    process.kill()
    process.communicate()


def test_workers_killed_in_the_middle_of_tasks(place):
    """Ray runs what they did again: one worker of each kind of task, as far as a look meets it at work."""
    driver, left = place.start(MIDDLE, "--cluster", "local:2"), {"advance", "gather", "request", "fold"}
    while left and driver.poll() is None:
        for task in sorted(left):
            if victims := place.processes(f"ray::{task}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victims[0], signal.SIGKILL)
                    left.remove(task)
        time.sleep(0.01)
    assert place.ended(driver) == (0, "")
    assert len(left) < 4
    assert digest(place.book) == truth(MIDDLE)[0]
    assert place.is_clean()


def test_drivers_killed_again_and_again(place):
    """Anywhere, forward, backward and while the book is written: each life is as long as it takes to get on."""
    expected, chance, reached = truth(SMALL)[0], random.Random(3), 0
    for furthest in (8, 16, 24):  # commits in a life
        while not place.book.exists():
            driver = place.start(SMALL, "--cluster", "local:2", code=ON_THREADS)
            wanted = reached + chance.randint(1, furthest)
            until(lambda driver=driver, wanted=wanted: driver.poll() is not None or place.commits() >= wanted)
            try:
                driver.communicate(timeout=chance.uniform(0, 0.3))  # and a moment more
            except subprocess.TimeoutExpired:
                kill(driver)
            if not place.book.exists():
                assert place.commits() > reached
                reached = place.commits()
        if place.commits():  # it was killed when it had written the book
            place.book.unlink()
            assert place.solve(SMALL, "--cluster", "local:2", code=ON_THREADS) == (0, "")
        assert digest(place.book) == expected
        shutil.rmtree(place.book.with_name(place.book.name + ".shards"), ignore_errors=True)
        place.book.unlink()
        reached = 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_what_ends_a_driver_ends_its_cluster(place, number):
    words = (MIDDLE, "--cluster", "local:2", "--store", place.folder)
    reached = 0
    for wanted in (8, 26):
        driver = place.start(*words)
        assert until(lambda wanted=wanted: place.commits() > wanted)
        driver.send_signal(number)
        code, error = place.ended(driver)
        if number == signal.SIGKILL:
            assert code == -number
        else:
            assert code == 128 + number
            assert f"go on with solver solve {MIDDLE}" in error and is_one_line(error)
            assert not list(place.folder.rglob("lease"))
        assert until(lambda: not place.processes())
        assert not [path for path in place.temporary.iterdir() if path.name.startswith("solver-ray")]
        assert place.commits() >= max(reached, wanted)
        reached = place.commits()
    assert place.solve(*words) == (0, "")
    assert digest(place.book) == truth(MIDDLE)[0]
    assert place.is_clean()


def test_one_of_two_drivers_is_refused(place):
    """At once, and then it is told who drives; it takes over when that one is dead, or has been stopped for long."""
    expected = truth(MIDDLE)[0]
    options = (MIDDLE, "--cluster", "local:2", "--store", place.folder)
    first = place.start(*options, code=IMPATIENT)
    assert until(lambda: place.commits() > 3)
    os.kill(first.pid, signal.SIGSTOP)
    code, error = place.solve(*options, code=ON_THREADS)
    assert code == 6 and is_one_line(error) and f"is driven by process {first.pid} on {socket.gethostname()}" in error
    until(lambda: place.solve(*options, code=IMPATIENT) == (0, ""))  # who drives has been silent for long enough
    assert digest(place.book) == expected
    os.kill(first.pid, signal.SIGCONT)
    code, error = place.ended(first)
    assert code == 6 and is_one_line(error)
    assert digest(place.book) == expected
    assert place.is_clean()


def test_an_object_store_smaller_than_what_tasks_pass_on(place):
    """Ray keeps the rest in files."""
    child = (
        "from solver.base import sharding; from solver.cluster import on_ray; "
        "on_ray.LEAST_OBJECTS, sharding.OBJECTS = 3 << 20, 0.0; "
        "from ray._private import ray_constants; ray_constants.OBJECT_STORE_MINIMUM_MEMORY_BYTES = 1 << 20; "
    )
    small = "from solver.cluster import engine\n"
    small += f"engine.CHILD = engine.CHILD.replace('from solver', {child!r} + 'from solver', 1)\n"
    driver = place.start("connect-four:5,4", "--cluster", "local:2", code=SHARDED + small)
    spilled = until(lambda: driver.poll() is not None or any(place.temporary.glob("*/*/*spilled*/*")))
    assert spilled and driver.poll() is None, place.ended(driver)
    assert place.ended(driver) == (0, "")
    assert digest(place.book) == truth(MIDDLE)[0]
    assert place.is_clean()


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


# A cluster of two machines

NODES = """
import json, os, sys
from ray.cluster_utils import Cluster
options = {"num_cpus": 1, "object_store_memory": 90 << 20}
cluster = Cluster(initialize_head=True, head_node_args=options | json.loads(sys.argv[1]))
add = lambda: cluster.add_node(**options)
nodes = [add()]
process = lambda node, kind: node.all_processes[kind][0].process.pid
pids = process(nodes[0], "raylet"), process(cluster.head_node, "raylet"), process(cluster.head_node, "gcs_server")
print(json.dumps([cluster.address, *pids]), flush=True)
for line in sys.stdin:
    nodes.append(add())
    print(json.dumps("added"), flush=True)
"""


@contextlib.contextmanager
def two_machines(place, **head):
    """Two machines, with options for the head; yields their process and what it says of them, and makes the store."""
    environment = {**os.environ, "PYTHONPATH": PATHS, "TMPDIR": str(place.temporary), "FAULTS": place.mark}
    environment["RAY_USAGE_STATS_ENABLED"] = "0"
    (place.folder / "store").mkdir()
    command = [sys.executable, "-c", NODES, json.dumps(head)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as machines:
        try:
            yield machines, *json.loads(machines.stdout.readline())
        finally:
            machines.kill()


def under_way(place, driver):
    """Wait until a solve is in the middle of its tiers."""
    found = until(lambda: place.commits() > 14 or driver.poll() is not None)
    assert found and driver.poll() is None, (place.commits(), driver.poll() is None or place.ended(driver))


@pytest.mark.parametrize("which", ["raylet", "head"])
def test_what_the_driver_is_connected_to_dies(place, which):
    """Ray ends its process from C++ then: the command says so in a line all the same, and lets the store go."""
    place.settings["RAY_gcs_rpc_server_reconnect_timeout_s"] = "5"  # of 60
    with two_machines(place) as (_, address, _, raylet, head):
        options = (MIDDLE, "--cluster", address, "--store", place.folder / "store")
        driver = place.start(*options)
        under_way(place, driver)
        os.kill({"raylet": raylet, "head": head}[which], signal.SIGKILL)
        code, error = place.ended(driver)
    assert code == 6 and is_one_line(error), (code, error)
    assert "then the same command goes on" in error or "the same command goes on from what is kept" in error
    assert place.commits() > 14 and not list(place.folder.rglob("lease"))
    assert place.solve(MIDDLE, "--cluster", "local:2", "--store", place.folder / "store") == (0, "")
    assert digest(place.book) == truth(MIDDLE)[0]


def test_a_cluster_joined_from_outside(place):
    if importlib.util.find_spec("grpc") is None:
        pytest.skip("grpcio is not installed")
    port = free_port()
    with two_machines(place, ray_client_server_port=port):
        address = f"ray://127.0.0.1:{port}"
        assert place.solve(MIDDLE, "--cluster", address, "--store", place.folder / "store") == (0, "")
    assert digest(place.book) == truth(MIDDLE)[0]


def test_one_of_two_machines_dies_and_another_comes(place):
    """With all its processes and what they had in memory, in the middle of a tier."""
    with two_machines(place) as (machines, address, raylet, _, _):
        store = place.folder / "store"
        driver = place.start(MIDDLE, "--cluster", address, "--store", store)
        under_way(place, driver)
        import psutil

        victim = psutil.Process(raylet)
        for process in [victim, *victim.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                process.kill()
        machines.stdin.write("add\n")
        machines.stdin.flush()
        assert json.loads(machines.stdout.readline()) == "added"
        assert place.ended(driver) == (0, "")
        assert digest(place.book) == truth(MIDDLE)[0]
        assert not any(store.iterdir())


# S3

BUCKET = "bucket"


@contextlib.contextmanager
def served(place):
    """A server of S3 with one bucket; yields it, and what lists the bucket."""
    s3fs = pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    place.settings |= {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"}
    place.settings |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "any")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:

        def answers():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True

        assert until(answers)
        options = {"use_listings_cache": False, "skip_instance_cache": True}
        files = s3fs.S3FileSystem(key="any", secret="any", endpoint_url=url, **options)
        files.mkdir(BUCKET)
        yield server, lambda: files.find(BUCKET)
    finally:
        server.kill()
        server.wait()


def test_a_store_on_s3(place):
    expected = truth(SMALL)[0]
    options = (SMALL, "--cluster", "local:2", "--store", f"s3://{BUCKET}/solves")
    with served(place) as (_, listed):

        def commits():
            return sum("/commit-" in name for name in listed())

        for code, wanted in ((SHARDED, 3), (ON_THREADS, 12), (ON_THREADS, 24)):
            driver = place.start(*options, code=code)
            assert until(lambda driver=driver, wanted=wanted: commits() > wanted or driver.poll() is not None)
            assert driver.poll() is None
            if code == ON_THREADS:
                driver.send_signal(signal.SIGSTOP)
                refused, error = place.solve(*options, code=code)
                assert refused == 6 and is_one_line(error) and f"is driven by process {driver.pid}" in error
            kill(driver)
            assert until(lambda: not place.processes())
        begun = commits()
        assert begun > 24
        code, error = place.solve("connect-four:4,3", *options[1:], code=ON_THREADS)
        assert (code, error) == (0, "")  # solves share a store
        assert commits() == begun
        place.book.unlink()
        assert place.solve(*options) == (0, "")
        assert digest(place.book) == expected
        assert not listed()
        assert place.is_clean()
        code, error = place.solve(*options[:-1], "s3://absent/solves", code=ON_THREADS)
        assert code == 6 and is_one_line(error) and "bucket does not exist" in error


def test_a_server_of_s3_that_dies(place):
    options = (SMALL, "--cluster", "local:2", "--store", f"s3://{BUCKET}/solves")
    with served(place) as (server, listed):
        driver = place.start(*options, code=ON_THREADS + "store.OPERATION_TRIES = 3\n")
        assert until(lambda: len(listed()) > 5)
        server.kill()
        code, error = place.ended(driver)
        assert code == 6 and is_one_line(error) and error.endswith("fix it, then the same command goes on\n")
    with served(place) as (_, listed):
        assert place.solve(*options, code=ON_THREADS) == (0, "")
        assert digest(place.book) == truth(SMALL)[0]
        assert not listed()
