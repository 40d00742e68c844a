"""Differences between systems: one file alone asks, and does what it says on this one. And the map over threads."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from solver.base import system
from solver.base.signals import impatient, not_yet
from tests import ROOT
from tests.refusals import raises
from tests.ways import until

PACKAGE = ROOT / "solver"
MODULES = "ctypes|fcntl|msvcrt|platform|psutil|pwd|resource|winreg"
# That have another meaning or name elsewhere, or open a file in a mode of its own
CALLS = (
    r"os\.(?:fork|fsync|fdatasync|getppid|kill|killpg|name|open|pread|pwrite|register_at_fork|sched_getaffinity"
    r"|cpu_count|sysconf|truncate|uname|waitid)|signal\.setitimer|sys\.(?:platform|getwindowsversion)"
)
HAS = r"(?:has|get)attr\((?:mmap|os|select|signal|socket|time)\b"
ASKS = re.compile(rf"^ *(?:import|from) ({MODULES})\b|(?<![\w.])({CALLS})\b|[\"'](/proc)|\b({HAS})", re.MULTILINE)
ALLOWED = {
    "sweep/compiling.py": {"os.fork", "os.getppid", "os.kill", "os.sysconf"},  # where `fork_is_safe`
    "serve/running.py": {"os.fork", "os.kill"},  # where CAN_FORK
    "cluster/on_ray.py": {"psutil"},  # which comes with Ray, and serves it
}


def test_one_file_alone_asks_which_system_it_is():
    found = {
        path.relative_to(PACKAGE).as_posix(): {
            match[match.lastindex] for match in ASKS.finditer(path.read_text("utf-8"))
        }
        for path in PACKAGE.rglob("*.py")
    }
    assert found.pop("base/system.py") > {"fcntl", "msvcrt", "sys.platform", "os.open"}
    assert {name: asked for name, asked in found.items() if asked} == ALLOWED


def test_bytes_lie_where_they_were_written_whatever_the_threads(tmp_path):
    descriptor = system.open_descriptor(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:

        def write(number):
            for place in range(number, 4_000, 4):
                assert system.write_at(descriptor, b"\r\n%c\x1a" % number, 4 * place) == 4

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        system.sync(descriptor)
        content = b"".join(b"\r\n%c\x1a" % (place % 4) for place in range(4_000))
        assert system.read_at(descriptor, 20_000, 0) == content == (tmp_path / "file").read_bytes()
        system.cut(descriptor, 8)
        assert (tmp_path / "file").read_bytes() == content[:8]
    finally:
        os.close(descriptor)
    system.sync_path(tmp_path)
    system.sync_path(tmp_path / "file")


def test_a_lock_goes_with_its_descriptor_and_its_process(tmp_path):
    path = tmp_path / "lock"
    first, second = (system.open_descriptor(path, os.O_RDWR | os.O_CREAT) for _ in range(2))
    system.lock(first)
    system.write_at(first, b"17", 0)
    with pytest.raises(OSError):  # noqa: PT011, each system says it in its own words
        system.lock(second)
    assert system.read_at(second, 20, 0) == b"17"  # what is written there can be read
    os.close(first)
    system.lock(second)
    held = "import os, sys; from solver.base import system; system.lock(os.open(sys.argv[1], os.O_RDWR))"
    assert subprocess.run([sys.executable, "-c", held, path], capture_output=True).returncode
    system.remove_open(path, second)
    assert not path.exists()
    system.remove(path)
    path.touch()
    subprocess.run([sys.executable, "-c", f"{held}; os._exit(0)", path], check=True)
    third = system.open_descriptor(path, os.O_RDWR)
    system.lock(third)
    os.close(third)


def test_the_family_of_a_process_ends():
    code = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    child = int(process.stdout.readline())
    assert all(map(system.is_alive, (child, process.pid, os.getpid())))
    system.end_family(process, 0.2)
    # An orphan that has ended is a zombie where nobody reaps orphans
    until(lambda: not system.is_alive(child) or ") Z" in Path(f"/proc/{child}/stat").read_text("utf-8"))
    assert not system.is_alive(process.pid) and not system.is_alive(1 << 40)
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize(
    ("line", "files", "count"),
    [
        ("0::/a/b", {"a/b/cpu.max": "50000 100000"}, 1),
        ("0::/a/b", {"a/cpu.max": "100000 100000", "a/b/cpu.max": "max 100000"}, 1),
        ("0::/a/b", {"a/b/cpu.max": "max 100000"}, None),
        ("3:cpu,cpuacct:/a", {"cpu/a/cpu.cfs_quota_us": "150000", "cpu/a/cpu.cfs_period_us": "100000"}, 1),
        ("3:cpu,cpuacct:/a", {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, None),
    ],
)
def test_cores_are_those_of_the_control_group(tmp_path, line, files, count):
    groups = {f"sys/fs/cgroup/{name}": content for name, content in files.items()}
    for name, content in [("proc/self/cgroup", line), *groups.items()]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content + "\n")
    assert system.cores(tmp_path) == (count or system.cores(tmp_path / "nowhere"))


def test_a_room_takes_what_is_asked_for_and_gives_it_back():
    room = system.Room(1 << 36)  # more than there is
    items = np.frombuffer(room.buffer, np.int64)
    begin, end = 1 << 33, (1 << 33) + (64 << 20)
    room.take(begin, end)
    part = items[begin // 8 : end // 8]
    assert not part.any()
    part[:] = 7
    before = system.resident_memory()
    assert before > 64 << 20 and system.available_memory(Path("/")) > 1 << 20
    room.give_back(begin, end)
    system.trim_heap()
    assert before - system.resident_memory() > 50 << 20
    room.take(begin, end)
    part[:] = 8
    assert part.sum() == 8 * len(part)
    room.give_back(0, 10)  # no whole page


@pytest.mark.parametrize("bell", [system.ALARM, system.COMPUTED])
def test_bells_ring_in_the_main_thread_until_they_are_silenced(bell):
    rung = []
    earlier = signal.signal(bell, lambda number, frame: rung.append((number, threading.current_thread())))
    try:
        assert not system.is_set(bell)
        system.ring(bell, 0.05, 0.05)
        assert system.is_set(bell)
        deadline = time.process_time() + 20  # of computing, however busy the machine is
        while len(rung) < 3 and time.process_time() < deadline:
            pass
        system.ring(bell, 0)
        assert not system.is_set(bell)
        assert {*rung} == {(bell, threading.main_thread())}
        count = len(rung)
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass
        assert len(rung) == count >= 3
    finally:
        system.ring(bell, 0)
        signal.signal(bell, earlier)


def test_names_that_mean_something_else_on_windows(monkeypatch):
    system.check_name("book.lmdb")
    monkeypatch.setattr(system.sys, "platform", "win32")
    for name in ("aux.lmdb", "COM1", "Nul .json", "a:b.lmdb", "what?.bin", "end."):
        raises(OSError, "Windows has no such name", system.check_name, name)
    for name in ("auxiliary.lmdb", "com10.bin", "book.lmdb", "a b"):
        system.check_name(name)


def test_another_thread_leaves_the_patience_of_the_main_one_as_it_is():
    with impatient(1000, "never"):
        before = system.is_set(system.COMPUTED)
        thread = threading.Thread(target=not_yet, args=(0.01,))
        thread.start()
        thread.join()
        end = time.process_time() + 0.05
        # A bell of 10 ms of computing would raise GameError here
        while time.process_time() < end:
            pass
        assert before


# -- the map over threads: order, few tasks ahead, and a prompt end


pytest.importorskip("numpy")

from solver.base.parallel import Workers  # noqa: E402


def test_few_tasks_are_taken_ahead():
    taken = []
    with Workers(2) as workers:
        next(workers.map(str, map(taken.append, range(100))))
    assert len(taken) <= 6


def test_an_error_ends_the_map_without_running_the_rest():
    ran = []

    def work(number):
        ran.append(number)
        if number == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"), Workers(2) as workers:
        list(workers.map(work, range(1000)))
    assert len(ran) < 20


def test_the_count_is_the_number_of_threads():
    together = threading.Barrier(3, timeout=300)
    with Workers(3) as workers:
        list(workers.map(lambda _: together.wait(), range(3)))
