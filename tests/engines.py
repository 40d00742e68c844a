"""An engine of threads in this process: a cluster's engine, without a cluster."""

import functools
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from solver.base.extras import free_memory
from solver.base.system import cores
from solver.cluster.engine import Engine, too_large
from solver.solving import pipeline
from tests.processes import digest


class Threads(Engine):
    """An engine of `count` threads that share `memory` bytes; kernels release the GIL.

    A task waits for its arguments in its thread. That ends, because tasks begin in the order in which they come, and
    those that it waits for came earlier.
    """

    def __init__(self, count=None, memory=None):
        self._count = count or cores()
        self._total = memory or free_memory()
        self._pool = ThreadPoolExecutor(self._count)

    @property
    def workers(self):
        return self._count

    @property
    def memory(self):
        return self._total // self.workers

    def submit(self, task, *arguments, returns=1, memory=0, node=""):
        if memory > self._total:
            raise too_large(memory, self._total)
        handles = [Future() for _ in range(returns)]
        running = self._pool.submit(self._run, task, arguments, handles)
        running.add_done_callback(lambda run: [handle.cancel() for handle in handles] if run.cancelled() else None)
        return handles

    def result(self, handle, within=None):
        return handle.result(within)

    def __exit__(self, *raised):
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, task, arguments, handles):
        try:
            known = [given.result() if isinstance(given, Future) else given for given in arguments]
            made = task(*known)
            values = (made,) if len(handles) == 1 else made
            if len(values) != len(handles):
                raise ValueError(f"{task.__name__} returned {len(values)} results instead of {len(handles)}")
        except BaseException as error:
            for handle in handles:
                handle.set_exception(error)
        else:
            for handle, value in zip(handles, values, strict=True):
                handle.set_result(value)


@functools.cache
def alone(game, **options):
    """Return the digest of the book of one machine."""
    with tempfile.TemporaryDirectory() as folder:
        pipeline.solve(game, Path(folder, "alone.lmdb"), **options).close()
        return digest(Path(folder, "alone.lmdb"))


def together(game, path, **options):
    """Return the digest of the book of a cluster, which leaves nothing else behind."""
    before = {*path.parent.iterdir()} - {path.with_name(path.name + ".shards")}
    pipeline.solve(game, path, cluster="local", **options).close()
    assert {*path.parent.iterdir()} == before | {path}
    return digest(path)
