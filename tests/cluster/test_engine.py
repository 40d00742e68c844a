"""Both engines run the same tasks alike: threads of this process, and Ray on this machine."""

import contextlib
import functools
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest

from solver.base import system
from solver.base.errors import DamagedBook, MethodError, MissingState, ResourceError
from solver.cluster import on_ray
from solver.solving.ways import whole
from tests import ROOT
from tests.engines import Threads
from tests.processes import has_ended
from tests.refusals import raises
from tests.ways import until

MEMORY = 1 << 30


def add(*numbers):
    return sum(numbers)


def deal(numbers, owners):
    return [numbers[numbers % owners == owner] for owner in range(owners)]


def merge(*blocks):
    return np.sort(np.concatenate(blocks))


def refuse(message):
    error = DamagedBook(message)
    error.shard = 7
    raise error


def miss(state):
    raise MissingState(state)


def divide(number):
    return 1 // number


def host_name():
    return socket.gethostname()


def wait_for(path):
    until(Path(path).exists)


def die_once(folder, number):
    mark = Path(folder, "killed")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def loaded(folder, name):
    Path(folder, str(os.getpid())).touch()
    until(lambda: len(os.listdir(folder)) == 2)  # each worker has been asked
    return os.getpid(), name in sys.modules


def setting(name):
    return os.environ.get(name)


needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
threads, ray = functools.partial(Threads, 2, MEMORY), functools.partial(on_ray.connect, "local:2", MEMORY)
RAY = pytest.param(ray, marks=[needs_ray, pytest.mark.slow], id="ray")
by_ray = pytest.mark.parametrize("engine", [RAY], indirect=True)


@pytest.fixture(scope="module", params=[pytest.param(threads, id="threads"), RAY])
def engine(request):
    with request.param() as engine:
        yield engine


def test_results_come_in_the_order_asked_for(engine):
    handles = [engine.submit(add, number, 1)[0] for number in range(20)]
    assert list(engine.results(handles)) == list(range(1, 21))
    assert engine.result(handles[3]) == 4  # again
    assert engine.workers == 2
    assert MEMORY // 4 < engine.memory <= MEMORY // 2


def test_a_handle_stands_for_its_result(engine):
    first = engine.submit(add, 1, 2)
    second = engine.submit(add, *first, 10)
    for _ in range(20):  # longer than there are workers
        second = engine.submit(add, *second, *first)
    assert engine.result(*second) == 73


def test_a_shuffle(engine):
    numbers = np.random.default_rng(1).permutation(200_000)
    dealt = [engine.submit(deal, part, 5, returns=5) for part in np.array_split(numbers, 4)]
    merged = [engine.submit(merge, *blocks, memory=MEMORY // 8)[0] for blocks in zip(*dealt, strict=True)]
    for owner, found in enumerate(engine.results(merged)):
        np.testing.assert_array_equal(found, np.arange(owner, 200_000, 5))


def test_an_error_of_ours_comes_as_it_was_raised(engine):
    with pytest.raises(DamagedBook, match="^shard 7 is damaged$") as caught:
        engine.result(*engine.submit(refuse, "shard 7 is damaged"))
    assert type(caught.value) is DamagedBook
    assert caught.value.shard == 7
    through = engine.submit(add, *engine.submit(miss, 42))  # by way of a task that waited for it
    raises(MissingState, "^42$", engine.result, *through)


def test_any_other_error_comes_too(engine):
    raises(ZeroDivisionError, None, list, engine.results(engine.submit(divide, number)[0] for number in (1, 0)))
    raises(ValueError, "3", engine.result, engine.submit(deal, np.arange(9), 3, returns=2)[0])


def test_what_takes_longer_than_asked_for(engine, tmp_path):
    waiting = engine.submit(wait_for, str(tmp_path / "awaited"))
    raises(TimeoutError, None, engine.result, *waiting, 0.1)
    (tmp_path / "awaited").touch()
    assert engine.result(*waiting, 300) is None


def test_a_task_runs_on_a_node(engine):
    nodes = engine.nodes()
    assert [node.host for node in nodes] == [socket.gethostname()]
    assert engine.result(*engine.submit(host_name, node=nodes[0].id)) == socket.gethostname()


def test_what_can_never_run_is_refused(engine):
    raises(ResourceError, "raise --memory", engine.submit, add, 1, memory=MEMORY + 1)


@by_ray
def test_a_worker_that_is_killed_costs_its_task_only(engine, tmp_path):
    first, other = engine.submit(die_once, str(tmp_path), 5), engine.submit(add, 1)
    assert list(engine.results([*first, *other, *engine.submit(add, *first, 1)])) == [5, 1, 6]
    assert len(list(tmp_path.iterdir())) == 1


@by_ray
def test_results_that_nobody_wants_are_let_go(engine):
    kept = engine.submit(add, 1, 2)
    for _ in range(3):
        engine.submit(np.full, 1000, 0)
    assert engine.result(*engine.submit(add, *kept, 1)) == 4
    assert len(engine.dropped) <= 1  # what came before went with the last question
    assert engine.result(*kept) == 3


def test_a_machine_without_a_processor_takes_no_task_and_a_lost_connection_is_one_line():
    """As the head of examples/kuberay.yaml, and as a client of ray:// that is cut off."""

    def nodes():
        if engine._known:
            raise ConnectionError("the client\nhas left")
        return [{"Alive": True, "Resources": one} for one in ({"memory": 64 << 30}, {"memory": 8 << 30, "CPU": 4.0})]

    ray = types.SimpleNamespace(nodes=nodes, exceptions=types.SimpleNamespace(RayError=OverflowError))
    engine = on_ray.RayEngine(ray, contextlib.ExitStack())
    assert (engine.workers, engine.memory) == (4, 2 << 30)
    raises(ResourceError, "no machine has more than 8,589,934,592", engine.submit, add, memory=9 << 30)
    engine._asked = float("-inf")
    raises(ResourceError, "^Ray: the client: the same command goes on", getattr, engine, "workers")


@needs_ray
@pytest.mark.slow
def test_the_end_of_the_process_that_ray_ends_is_an_error():
    """As where its raylet or the head dies."""
    with ray() as engine:
        waiting = engine.submit(add, 1, 2)
        os.kill(engine.child.pid, signal.SIGKILL)
        for _ in range(2):
            raises(ResourceError, "Ray has ended, or was killed: the same command goes on", engine.result, *waiting)


@pytest.mark.slow
def test_a_cluster_is_quiet_and_leaves_nothing_behind(tmp_path):
    script = """
import json, os, sys
from tests.cluster.test_engine import loaded, on_ray, ray, setting
with ray() as engine:
    handles = [engine.submit(loaded, sys.argv[1], on_ray.TASKS)[0] for _ in range(6)]
    print(json.dumps(list(engine.results(handles))))
    print(engine.result(engine.submit(setting, "RAY_AUTH_MODE")[0]))
assert "RAY_AUTH_MODE" not in os.environ and "ray" not in sys.modules
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    home, here, asked = tmp_path / "home", tmp_path / "here", tmp_path / "asked"
    home.mkdir(), here.mkdir(), asked.mkdir()
    environment |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, str(asked)]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    answers, mode = done.stdout.splitlines()
    workers = dict(json.loads(answers))
    assert set(workers.values()) == {True}  # imported ahead, from the checkout, though started elsewhere
    assert mode == "token"
    until(lambda: all(map(has_ended, workers)))
    assert {path.name for folder in (home, here) for path in folder.iterdir()} <= {".cache"}


@needs_ray
def test_a_client_sends_its_options_as_json(monkeypatch):
    given = {}
    monkeypatch.setattr(on_ray, "_knock", lambda where: None)
    monkeypatch.setattr(os, "environ", {**os.environ})  # it is a child's own
    monkeypatch.setattr(on_ray, "_connected", lambda started, **options: given.update(options))
    on_ray._join(contextlib.ExitStack(), "ray://host:10001")
    assert json.loads(json.dumps(given)) == given
    paths = given["runtime_env"]["env_vars"]["PYTHONPATH"].split(os.pathsep)
    assert given["address"] == "ray://host:10001" and paths == [*on_ray._own_path(), "${PYTHONPATH}"]


@needs_ray
def test_what_is_not_installed_is_named(monkeypatch):
    find, missing = importlib.util.find_spec, ["grpc"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in missing else find(name))
    raises(MethodError, r"pip install 'ray\[client\]' brings grpcio", on_ray.connect, "ray://host:10001")
    missing.append("ray")
    raises(MethodError, r"^--cluster: pip install 'solverbook\[cluster\]'", whole.look, "local", "store", None)
    monkeypatch.setattr(system, "CAN_FORK", False)
    raises(MethodError, "^--cluster runs on Linux and macOS", whole.look, "local", "store", None)


@needs_ray
def test_nobody_or_another_server_answers():
    def greet():
        with server.accept()[0] as visitor:
            visitor.sendall(b"220 mail.example\r\n")
            visitor.recv(1000)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        raises(ResourceError, "no cluster at", on_ray.connect, f"127.0.0.1:{taken.getsockname()[1]}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=greet)
        thread.start()
        raises(ResourceError, "not Ray", on_ray.connect, f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


@needs_ray
def test_a_process_leaves_with_ray_on_its_machine(tmp_path):
    left, ended = [], threading.Event()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "raylet"))
        listening.listen()
        look = (str(tmp_path / "raylet"), ended, lambda: left.append(True), 0.01)
        watching = threading.Thread(target=on_ray.watch, args=look)
        watching.start()
        for _ in range(2 * on_ray.LOOKS):
            listening.accept()[0].close()
        assert watching.is_alive() and left == []
    watching.join()
    assert left == [True]
    ended.set()
    on_ray.watch(*look)
    assert left == [True]
