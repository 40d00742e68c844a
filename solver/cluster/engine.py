"""Engines run tasks. `Engine` is the little that a solve asks of one, and `Here` runs tasks immediately.

A task is a top-level function of values that can be pickled; a handle stands for a result that may not be there yet. A
task may run more than once, and anywhere, so it must give the same each time. `on_ray.connect` gives the other engine.

Ray ends the process of a driver from C++, without a word, once its raylet or the head is gone for good. So a child
connects to Ray, and this process, which drives the solve, passes it tasks over a pipe (`Hosted`). If the child dies,
the next question raises ResourceError. If this process dies, the child reads the end of the pipe, and ends the
processes that it started. A question and its answer are a pickle each. An answer takes some 0.1 ms more than in one
process.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
import traceback
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import Any, NamedTuple

from solver.base.errors import ResourceError, SolverError
from solver.base.system import interrupt

CHILD_EXIT_SECONDS = 30.0  # seconds for the child to end what it started
# isolated, since the folder of this process may hold files that are named like modules
CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from solver.cluster.on_ray import host; host(int(sys.argv[2]))"
)


class Node(NamedTuple):
    """A machine that runs tasks: its host's name or address, and its id, by which `submit` knows it."""

    host: str
    id: str


class Engine(contextlib.AbstractContextManager["Engine"]):
    """Runs tasks, for as long as it is open: `with engine:`."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Tasks that run at a time, as far as is known now."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """Bytes that each of so many tasks may take."""

    @abstractmethod
    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        """Begin a task; the handles of its results, `returns` of them: a task of several returns a sequence of so many.

        An argument that is a handle itself stands for its result, which is then read-only. The task waits until
        `memory` bytes are free. Raises ResourceError if they never are. A task for the `node` of an id runs there at
        once, beside others.
        """

    def submit_each(
        self, task: Callable[..., Any], arguments: Iterable[Sequence[Any]], *, returns: int = 1, memory: int = 0
    ) -> list[list[Any]]:
        """`submit` a task for each of these arguments."""
        return [self.submit(task, *given, returns=returns, memory=memory) for given in arguments]

    def each(self, task: Callable[..., Any], arguments: Iterable[Sequence[Any]], *, memory: int = 0) -> list[Any]:
        """The result of a task for each of these arguments."""
        return list(self.results(handle for [handle] in self.submit_each(task, arguments, memory=memory)))

    @abstractmethod
    def result(self, handle: Any, within: float | None = None) -> Any:
        """Wait for a task, and return its result. Arrays in it are read-only.

        Raises the task's error, or TimeoutError if the task takes longer than `within` seconds.
        """

    def results(self, handles: Iterable[Any]) -> Iterator[Any]:
        """`result` of each, in their order."""
        return map(self.result, handles)

    def nodes(self) -> list[Node]:
        """The machines that run tasks now: this one, unless an engine knows better."""
        return [Node(socket.gethostname(), "")]

    def __exit__(self, *raised: object) -> None:  # noqa: B027
        """Give up running tasks, and end all that this engine started."""


class Here(Engine):
    """An engine that is done with a task when it is submitted: handles are the results."""

    workers, memory = 1, 1 << 62

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Any]:
        result = task(*arguments)
        return [result] if returns == 1 else list(result)

    def result(self, handle: Any, within: float | None = None) -> Any:
        return handle


def too_large(memory: int, limit: int) -> ResourceError:
    """Why a task cannot run anywhere."""
    return ResourceError(
        f"a task needs {memory:,} bytes of memory, and no machine has more than {limit:,}: raise --memory, or take "
        "machines with more memory"
    )


class Reference(NamedTuple):
    """The number by which the child knows a result."""

    number: int


class Handle:
    """A result in the child, which lets go of it when nobody here has its handle any more."""

    __slots__ = ("dropped", "reference")

    def __init__(self, reference: Reference, dropped: list[int]) -> None:
        self.reference, self.dropped = reference, dropped

    def __del__(self) -> None:
        self.dropped.append(self.reference.number)


class Hosted(Engine):
    """An engine whose tasks a child runs on the engine that `on_ray.host` opens there with these options."""

    def __init__(self, where: str, **options: Any) -> None:
        self._where = where
        self.dropped: list[int] = []
        self._lock = threading.Lock()
        self._is_asking = False
        self._pipe, its_end = Pipe()
        with its_end:
            self.child = subprocess.Popen(
                [sys.executable, "-I", "-c", CHILD, json.dumps(sys.path), str(its_end.fileno())],
                pass_fds=[its_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # the keys of a terminal are for this process
            )
        try:
            self._ask("open", where, options)
        except BaseException:
            self.__exit__()
            raise

    @property
    def workers(self) -> int:
        return int(self._ask("look", "workers"))

    @property
    def memory(self) -> int:
        return int(self._ask("look", "memory"))

    def submit(
        self, task: Callable[..., Any], *arguments: Any, returns: int = 1, memory: int = 0, node: str = ""
    ) -> list[Handle]:
        references = [argument.reference if isinstance(argument, Handle) else argument for argument in arguments]
        options = {"returns": returns, "memory": memory, "node": node}
        numbers = self._ask("submit", task, references, options)
        return [Handle(Reference(number), self.dropped) for number in numbers]

    def result(self, handle: Handle, within: float | None = None) -> Any:
        return self._ask("result", handle.reference.number, within)

    def nodes(self) -> list[Node]:
        return list(self._ask("look", "nodes"))

    def __exit__(self, *raised: object) -> None:
        self._is_asking = True
        self._pipe.close()
        try:
            self.child.wait(CHILD_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def _ask(self, *question: Any) -> Any:
        """Return the child's answer, or raise its error."""
        with self._lock:
            # What interrupted the last question left its answer in the pipe
            if self._is_asking:
                raise self._gone()
            dropped = [self.dropped.pop() for _ in range(len(self.dropped))]
            sent = pickle.dumps((dropped, question), pickle.HIGHEST_PROTOCOL)
            self._is_asking = True
            try:
                self._pipe.send_bytes(sent)
                received = self._pipe.recv_bytes()
            except (OSError, EOFError):
                raise self._gone() from None
            self._is_asking = False
        is_answer, answer, origin = pickle.loads(received)  # noqa: S301  # of our own child
        if is_answer:
            return answer
        raise answer from (None if isinstance(answer, SolverError) else RuntimeError(f"in the cluster:\n{origin}"))

    def _gone(self) -> ResourceError:
        if self._where.startswith("local"):
            return ResourceError("Ray has ended, or was killed: the same command goes on from the last commit")
        return ResourceError(
            f"the connection to the cluster {self._where} is lost, since its head or Ray on this machine has ended: "
            "start the cluster anew, then the same command goes on from the last commit"
        )


class Host:
    """The child's side: answers questions by an engine that `opening` opens."""

    def __init__(self, opening: Callable[..., Engine]) -> None:
        self._opening = opening
        self._results: dict[int, Any] = {}
        self._count = 0
        self._stack = contextlib.ExitStack()
        self._engine: Any = None
        self._ended = threading.Event()

    def leave(self, number: int, frame: Any) -> None:
        """End, as the handler of a signal; nothing interrupts the end itself."""
        if not self._ended.is_set():
            raise SystemExit

    def serve(self, pipe: Connection) -> None:
        """Answer until the other side is gone. Then end everything that was started."""
        waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(pipe, waiting), daemon=True).start()
        with self._stack:
            try:
                while request := waiting.get():
                    pipe.send_bytes(self._answer(request))
            except (SystemExit, BrokenPipeError):
                pass
            finally:
                self._ended.set()

    def _listen(self, pipe: Connection, waiting: queue.SimpleQueue[bytes]) -> None:
        """Pass questions on. At their end interrupt the main thread, which may be waiting for a task."""
        with contextlib.suppress(OSError, EOFError):
            while True:
                waiting.put(pipe.recv_bytes())
        waiting.put(b"")
        # again, since an exception is lost in a callback out of Ray
        while not self._ended.wait(0.5):
            interrupt(signal.SIGTERM)

    def _answer(self, request: bytes) -> bytes:
        try:
            dropped, question = pickle.loads(request)  # noqa: S301  # of our own parent
            for number in dropped:
                del self._results[number]
            answer: Any = None
            match question:
                case "open", where, options:
                    self._engine = self._stack.enter_context(self._opening(where, **options))
                case "look", name:
                    attribute = getattr(self._engine, name)
                    answer = attribute() if callable(attribute) else attribute
                case "submit", task, references, options:
                    arguments = [self._results[one.number] if isinstance(one, Reference) else one for one in references]
                    handles = self._engine.submit(task, *arguments, **options)
                    answer = list(range(self._count, self._count + len(handles)))
                    self._results.update(zip(answer, handles, strict=True))
                    self._count += len(handles)
                case "result", number, within:
                    answer = self._engine.result(self._results[number], within)
            return pickle.dumps((True, answer, ""), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            origin = "".join(traceback.format_exception(error))
            with contextlib.suppress(Exception):
                response = pickle.dumps((False, error, origin))
                pickle.loads(response)  # noqa: S301  # some can be written, and not be read
                return response
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}"), origin))
