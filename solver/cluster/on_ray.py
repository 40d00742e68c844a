"""The engine that runs tasks on Ray: on workers started here, or on a cluster that is there.

Nothing else imports Ray, and only a child of the process that solves does (`Hosted`), since Ray may end its process.
Tasks are plain remote functions of one processor each, no actors: Ray runs them again when a worker or a machine dies,
and errors of their own are final. A cluster started here listens on the loopback only, wants a token of each
connection, and its files go away with it. Its processes end with the thread that started it.

The parts of Ray whose names begin with an underscore are private. They are those of 2.60.0, with which this was tried.
`private_part` names the parts that another version lacks, and the consequence: it starts later, or says a line of its
own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import operator
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from solver.base import files, sharding, system
from solver.base.errors import MethodError, ResourceError, SolverError
from solver.base.extras import free_memory, private_part
from solver.cluster.engine import Engine, Host, Hosted, Node, too_large

TASKS = "solver.cluster.tasks"  # what workers import while they wait
CLIENT = "ray://"
RETRIES = 100  # a few are soon used up where machines come and go: ray#28906
LEAST_OBJECTS = 80 << 20  # bytes; Ray takes no fewer
CONNECT_SECONDS = 5  # seconds for an address to answer
LOOKS = 3  # so often Ray on this machine does not answer before it is taken for gone
LONGEST_TEMPORARY = 30  # characters; a socket's path has 107, and Ray's own part of it takes 70

# Ray's own names for them; a version that lacks one takes no notice
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_get_check_signal_interval_milliseconds": "100"}
LOCAL = {
    **QUIET,
    "RAY_AUTH_MODE": "token",
    "RAY_raylet_client_connect_timeout_milliseconds": "20",  # it looks again after 1 s else
    "RAY_raylet_client_num_connect_attempts": "500",
    "RAY_enable_worker_prestart": "1",  # while the driver is still being connected
    "RAY_prestart_worker_first_driver": "0",  # which need not wait for them
    "RAY_task_oom_retries": "5",  # for ever else
    # glibc keeps what a worker frees for its next task: new pages from the system are a tenth of the time
    "MALLOC_MMAP_THRESHOLD_": "1073741824",
    "MALLOC_TRIM_THRESHOLD_": "2147483648",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",  # where the driver is killed, its helpers wait so long
}


class RayEngine(Engine):
    """A connection to a cluster. `started` lists actions to undo at the end, last first."""

    def __init__(self, ray: Any, started: contextlib.ExitStack) -> None:
        self._ray = ray
        self._started = started
        self._remote: dict[Callable[..., Any], Any] = {}
        self._known: list[dict[str, Any]] = []
        self._asked = float("-inf")

    @property
    def workers(self) -> int:
        return max(1, int(sum(node["Resources"]["CPU"] for node in self._machines())))

    @property
    def memory(self) -> int:
        shares = (_memory_of(node) / max(1, node["Resources"]["CPU"]) for node in self._machines())
        return int(min(shares, default=free_memory()))

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        largest = max(map(_memory_of, self._machines()), default=memory)
        if memory > largest:
            raise too_large(memory, largest)
        if task not in self._remote:
            self._remote[task] = self._ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(task)
        options: dict[str, Any] = {"num_returns": returns, "memory": memory or None}
        if node:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            strategy = NodeAffinitySchedulingStrategy(node, soft=False)
            options |= {"scheduling_strategy": strategy, "num_cpus": 0, "max_retries": 0}
        begin = self._remote[task].options(**options).remote
        with self._explained():
            handles = begin(*arguments)
        return [handles] if returns == 1 else list(handles)

    def result(self, handle: Any, within: float | None = None) -> Any:
        with self._explained():
            return self._ray.get(handle, timeout=within)

    def nodes(self) -> list[Node]:
        known = self._machines()
        hosts = [node["NodeManagerHostname"] for node in known]
        return [
            Node(host if hosts.count(host) == 1 else f"{host} ({node['NodeManagerAddress']})", node["NodeID"])
            for host, node in zip(hosts, known, strict=True)
        ]

    def __exit__(self, *raised: object) -> None:
        self._started.close()

    def _machines(self) -> list[dict[str, Any]]:
        """Return Ray's record of each machine that runs tasks. Ray is asked at most once a second."""
        if time.monotonic() > self._asked + 1:
            with self._explained():
                self._known = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
            self._asked = time.monotonic()
        return self._known

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise a task's own error as it was, and Ray's errors as ResourceError."""
        try:
            yield
        except self._ray.exceptions.RayError as error:
            cause: BaseException = error
            while isinstance(cause, self._ray.exceptions.RayTaskError):
                cause = cause.cause
            if isinstance(error, self._ray.exceptions.GetTimeoutError):
                raise TimeoutError from None
            if isinstance(cause, self._ray.exceptions.RayError):
                raise ResourceError(
                    f"Ray: {first_line(cause)}: {REMEDIES.get(type(cause).__name__, RESUME_HINT)}"
                ) from None
            if isinstance(cause, RuntimeError) and "failed to import on the worker" in str(cause):
                raise MethodError(f"workers of the cluster cannot import what this process does: {ALIKE}") from None
            raise cause from (None if isinstance(cause, SolverError) else error)
        except ConnectionError as error:  # of ray://
            raise ResourceError(f"Ray: {first_line(error)}: {RESUME_HINT}") from None


def _memory_of(node: dict[str, Any]) -> int:
    return int(node["Resources"].get("memory", 0))


ALIKE = "install the same version of solverbook and Python on all machines"
RESUME_HINT = "the same command goes on from what is kept"
REMEDIES = {
    "OutOfMemoryError": "give more --memory, fewer workers, or machines with more memory",
    "ObjectStoreFullError": "give more --memory, or more machines",
    "OutOfDiskError": "free space where TMPDIR points",
}


def connect(where: str, memory: int | None = None) -> Hosted:
    """Connect to a Ray cluster, and return an engine on it.

    Args:
        where: "local" or "local:N" for workers of this machine, "auto" for the cluster of the environment, or an
            address: "host:6379", "ray://host:10001".
        memory: Bytes that workers started here may take in all.

    Raises:
        MethodError: `where` is none of these, or the client of ray:// is not installed.
        ResourceError: There is no cluster there.
    """
    refuse_address(where)
    return Hosted(where, memory=memory)


def is_local(where: str) -> bool:
    """Whether a cluster is started on this machine, which has the rules and the store of its driver."""
    return re.fullmatch(sharding.LOCAL_WORKERS, where) is not None


def refuse_address(where: str) -> None:
    """Raise MethodError for a text that is not the address of a cluster."""
    if re.fullmatch(rf"{sharding.LOCAL_WORKERS}|auto|(?!local:)(ray://)?[^/\s]+:\d+", where) is None:
        reason = "describes machines, for solver estimate" if "=" in where else "is not an address of a cluster"
        raise MethodError(f"{where[:80]!r} {reason}: say local, local:N, auto, host:6379 or ray://host:10001")
    if where.startswith(CLIENT) and importlib.util.find_spec("grpc") is None:
        raise MethodError(f"{where[:80]}: pip install 'ray[client]' brings grpcio, which ray:// needs")


def host(pipe: int) -> None:
    """Be the child of `connect`: answer requests over the pipe of this descriptor."""
    # Ray's own processes have no part in it
    os.set_inheritable(pipe, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    served = Host(opened)
    signal.signal(signal.SIGTERM, served.leave)
    served.serve(Connection(pipe))


def opened(where: str, memory: int | None) -> RayEngine:
    """The engine of `connect`, in this process."""
    # answers are of its types; Ray's start is mostly waiting
    threading.Thread(target=importlib.import_module, args=(TASKS,), daemon=True).start()
    with contextlib.ExitStack() as started:
        if count := re.fullmatch(sharding.LOCAL_WORKERS, where):
            ray = _start(started, int(count[1] or system.cores()), memory or free_memory())
        else:
            ray = _join(started, where)
            # Ray itself misses now and then that it is gone on this machine, and waits for ever
            socket_name = "_private.worker._global_node.raylet_socket_name"
            unwatched = where.startswith(CLIENT)
            path = None if unwatched else private_part(ray, socket_name, "if Ray ends, the solve may wait for ever")
            if path:
                ended = threading.Event()
                started.callback(ended.set)
                threading.Thread(target=watch, args=(path, ended, lambda: os._exit(1)), daemon=True).start()
        return RayEngine(ray, started.pop_all())


def _start(started: contextlib.ExitStack, workers: int, memory: int) -> Any:
    """Start Ray on this machine."""
    home = tempfile.gettempdir()
    home = home if len(home) <= LONGEST_TEMPORARY else "/tmp"  # noqa: S108
    # A folder for Ray's files goes away with the cluster; those of killed ones go now
    for lock_path in Path(home).glob("solver-ray-*/lock"):
        with contextlib.suppress(OSError, ResourceError), lock_path.open() as held:
            files.lock(held.fileno(), lock_path)
            shutil.rmtree(lock_path.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="solver-ray-", dir=home))
    lock_file = started.enter_context((folder / "new").open("w"))
    files.lock(lock_file.fileno(), folder)
    # One that is seen is locked
    (folder / "new").rename(folder / "lock")
    started.callback(shutil.rmtree, folder, ignore_errors=True)
    known = {name: os.environ[name] for name in LOCAL if name in os.environ}
    if not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & set(os.environ):
        # Otherwise Ray keeps a token in the home folder
        known["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    import_path = {"PYTHONPATH": os.pathsep.join(_own_path()), "RAY_preload_python_modules": TASKS}
    os.environ.update({**LOCAL, **known, **import_path})
    shared = Path("/dev/shm")  # noqa: S108
    room = int(0.8 * shutil.disk_usage(shared).free) if shared.is_dir() else sys.maxsize
    objects = max(LEAST_OBJECTS, min(int(sharding.OBJECTS * memory), room))
    return _connected(
        started,
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        object_store_memory=objects,
        _memory=max(memory - objects, objects),
        _node_ip_address="127.0.0.1",
        _temp_dir=str(folder),
    )


def _join(started: contextlib.ExitStack, where: str) -> Any:
    """Become a driver of a cluster that is there."""
    if where != "auto":
        _knock(where)
    os.environ.update({**QUIET, "RAY_py_gcs_connect_timeout_s": str(CONNECT_SECONDS)})
    from ray.job_config import JobConfig

    paths: dict[str, Any] = {"job_config": JobConfig(_py_driver_sys_path=_own_path())}
    # The options go there as JSON
    if where.startswith(CLIENT):
        python_path = os.pathsep.join([*_own_path(), "${PYTHONPATH}"])
        paths = {"runtime_env": {"env_vars": {"PYTHONPATH": python_path}}}
    try:
        return _connected(started, address=where, **paths)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise ResourceError(f"no cluster at {where}: {first_line(error)}") from None


def watch(path: str, ended: threading.Event, leave: Callable[[], Any], pause: float = CONNECT_SECONDS) -> None:
    """Call `leave` once nobody has listened at a socket's path for `LOOKS` pauses, unless `ended` is set before."""
    missed = 0
    while missed < LOOKS and not ended.wait(pause):
        with socket.socket(socket.AF_UNIX) as door:
            missed = missed + 1 if door.connect_ex(path) else 0
    if not ended.is_set():
        leave()


def _knock(where: str) -> None:
    """Raise ResourceError where nobody answers as gRPC does, which begins with HTTP/2: Ray tries for minutes."""
    host, _, port = where.removeprefix(CLIENT).rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS) as door:
            door.settimeout(CONNECT_SECONDS)
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                door.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
                # Both sides begin with their settings
                if door.recv(9)[3:4] != b"\x04":
                    raise ResourceError(f"no cluster at {where}: what answers there is not Ray")
    except (OSError, OverflowError) as error:
        raise ResourceError(f"no cluster at {where}: {first_line(error)}") from None


def _connected(started: contextlib.ExitStack, **options: Any) -> Any:
    """Ray, connected, with the signals as they were. The environment counts as it was when Ray was imported first."""
    import ray

    nodes: list[Any] = []
    started.callback(_end, ray, nodes)
    signals = "_private.utils.set_sigterm_handler", lambda handler: None, "a signal may end the start halfway"
    _replace(ray, signals, *(_lean(nodes) if options["address"] == "local" else ()))
    with _undisturbed():
        ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)
    return ray


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let SIGTERM wait for the end: Ray half connected does not survive it, and takes its handler over."""
    came: list[int] = []
    earlier = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)
    if came:
        signal.raise_signal(signal.SIGTERM)


def _end(ray: Any, nodes: list[Any]) -> None:
    """Disconnect, and end the `nodes` started here with all their processes; a start that was interrupted, too."""
    import psutil  # comes with Ray

    family: list[Any] = []
    for process in [entry.process.pid for node in nodes for kind in node.all_processes.values() for entry in kind]:
        with contextlib.suppress(psutil.Error):
            family += psutil.Process(process).children(recursive=True)
    ray.shutdown()
    for node in nodes:
        node.kill_all_processes(check_alive=False, allow_graceful=True, wait=True)
    for helper in family:
        with contextlib.suppress(psutil.Error):
            helper.kill()
    psutil.wait_procs(family, CONNECT_SECONDS)


def _lean(nodes: list[Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield the patches to Ray, which has no options for it, so that less of it starts.

    That leaves out the autoscaler, the log forwarder and the page, a third of the time that it takes to start and 230
    MB. The loopback may be the address of this machine, and the node is in `nodes` before all of it has started.

    Tried with Ray 2.60.0. Without one of the names more of Ray starts, or processes stay if the start is interrupted.
    """

    def no_page(self: Any, **_: Any) -> None:
        self._webui_url = ""

    yield "_private.node.Node.start_monitor", lambda self: nodes.append(self), "an autoscaler starts"
    yield "_private.node.Node.start_log_monitor", lambda self: None, "a log forwarder starts"
    yield "_private.node.Node.start_api_server", no_page, "a page starts"
    yield "_private.ray_constants.ENABLE_RAY_CLUSTER", False, "it takes another address than the loopback"


def _replace(ray: Any, *wanted: tuple[str, Any, str]) -> None:
    """Put other objects in place of Ray's own, those of them that this version has."""
    for path, new, without in wanted:
        if private_part(ray, path, without) is not None:
            owner, _, name = path.rpartition(".")
            setattr(operator.attrgetter(owner)(ray), name, new)


def _own_path() -> list[str]:
    """The folders that this process imports from, besides those of Python itself."""
    homes = (sys.prefix, sys.base_prefix)
    return list(dict.fromkeys(path for name in sys.path if not (path := os.path.abspath(name)).startswith(homes)))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".: ")
