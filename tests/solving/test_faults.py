"""Faults, injected from outside: whatever happens, the same book in the end, or one line that says what to do.

The rows are those of the fault matrix in `docs/explanation/reliability.md`. The others are tested beside their rooms.
"""

import contextlib
import functools
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT, processes
from tests.ways import until

resource = pytest.importorskip("resource")
pty = pytest.importorskip("pty")
pytest.importorskip("numba")
pytestmark = [pytest.mark.faults, pytest.mark.posix("signals")]


KILLED = {
    "sweep": ("connect-four:4,6", "--checkpoint", 0.1),
    "retrograde": (processes.LONG["retrograde"][0], "--checkpoint", processes.LONG["retrograde"][1]),
    "opening": ("connect-four:5,5", "--max-ply", 8),
}


@pytest.mark.parametrize("kind", KILLED)
def test_twenty_random_kills_give_the_same_book(tmp_path, kind):
    """Row 1."""
    game, *words = KILLED[kind]
    expected, seconds = processes.truth(game, *words)
    chance = random.Random(1)
    book = tmp_path / "book.lmdb"
    for trial in range(20):
        kills = 0
        while not book.exists():
            process = processes.started(game, book, *words, start_new_session=True)
            try:
                assert process.wait(chance.uniform(0.2, 0.9) * seconds if kills < 1 + trial % 2 else None) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
        assert processes.digest(book) == expected
        book.unlink()
    assert processes.only(tmp_path)


def test_short_lives_get_there(tmp_path):
    """Row 2: killed again and again, it gets on, as long as a life is longer than it takes to begin."""
    game = processes.LONG["sweep"][0]
    expected, _ = processes.truth(game)
    book, lives = tmp_path / "book.lmdb", 0
    while not book.exists():
        lives += 1
        assert lives < 400
        process = processes.started(game, book, "--checkpoint", 0.1)
        processes.gets_on(process, book, 3)
        process.kill()
        process.wait()
    assert processes.digest(book) == expected


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("kind", sorted(processes.LONG))
def test_signals_end_it_and_it_says_how_to_go_on(tmp_path, kind, number, code):
    """Row 3: behind any of the first checkpoints."""
    game, every = processes.LONG[kind]
    expected, _ = processes.truth(game)
    for trial in range(3):
        book = tmp_path / f"{trial}.lmdb"
        process = processes.started(game, book, "--checkpoint", every, stderr=subprocess.PIPE)
        processes.gets_on(process, book, 1 + trial)
        process.send_signal(number)
        _, error = process.communicate()
        if process.returncode:  # it may have been done
            assert process.returncode == code
            assert processes.is_one_line(error) and f"go on with solver solve {game}" in error
            assert processes.resumed(game, book)[0] == 0
        assert processes.digest(book) == expected


def test_a_second_signal_ends_it_at_once(tmp_path):
    """Row 3."""
    game, every = processes.LONG["retrograde"]
    process = processes.started(game, tmp_path / "b.lmdb", "--checkpoint", every)
    processes.gets_on(process, tmp_path / "b.lmdb")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143


def test_control_c_in_a_terminal(tmp_path):
    """Row 3: the whole process group gets it."""
    game, every = processes.LONG["sweep"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, processes.command(game, tmp_path / "b.lmdb", "--checkpoint", every))
    until(lambda: processes.checkpoint(tmp_path / "b.lmdb"))
    os.write(terminal, b"\x03")
    output = b""
    with contextlib.suppress(OSError):  # the terminal goes with the process
        while chunk := os.read(terminal, 4096):
            output += chunk
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert b"go on with" in output and b"Traceback" not in output


def test_too_little_address_space_is_said(tmp_path):
    """Row 9."""
    expected, _ = processes.truth("connect-four:5,5")
    book = tmp_path / "book.lmdb"
    codes = set()
    for megabytes in (700, 900, 1100, 1400, 3000):
        limit = megabytes << 20
        set_limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))
        code, error = processes.solve("connect-four:5,5", book, preexec_fn=set_limit)
        codes.add(code)
        if code == 127:  # the C library's own end, where a thread is begun with nothing left
            assert error.strip() == "cannot allocate memory for thread-local data: ABORT"
        elif code:
            assert (code, processes.is_one_line(error)) == (6, True), error
            assert "disk" not in error
        else:
            break
    assert 6 in codes
    assert code == 0 or processes.solve("connect-four:5,5", book)[0] == 0
    assert processes.digest(book) == expected
    code, error = processes.solve(processes.SWEEP, tmp_path / "other.lmdb", "--memory", "1M")
    assert (code, processes.is_one_line(error)) == (6, True)


def test_places_that_cannot_be_written(tmp_path):
    """Row 11."""
    file = tmp_path / "file"
    file.touch()
    for book in (tmp_path / "absent" / "b.lmdb", file / "b.lmdb", tmp_path, Path("/proc/b.lmdb")):
        code, error = processes.solve(processes.SWEEP, book)
        assert code in (2, 6) and processes.is_one_line(error), (book, error)
    (tmp_path / "b.lmdb.work").touch()  # a file where the folder must be
    code, error = processes.solve(processes.SWEEP, tmp_path / "b.lmdb")
    assert (code, processes.is_one_line(error)) == (6, True), error
    assert (tmp_path / "b.lmdb.work").exists()


@pytest.mark.parametrize("game", ["connect-four:5,4", "chess-ending:KRK"])
def test_a_damaged_checkpoint_is_refused_and_restart_discards_it(tmp_path, game):
    """Rows 12 to 16, and 20, for the files of an unfinished solve."""
    expected, _ = processes.truth(game)
    book = tmp_path / "book.lmdb"
    folder = processes.interrupted(game, book)
    saved = tmp_path / "saved"
    shutil.copytree(folder, saved)
    chance = random.Random(12)
    for trial in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder)
        victim = chance.choice([path for path in sorted(folder.iterdir()) if path.name != "lock"])
        data = bytearray(victim.read_bytes())
        kind = trial % 5
        if kind == 0 and data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[chance.randrange(len(data) + 1) :]
        elif kind == 2:
            data += b"more"
        victim.write_bytes(data)
        if kind == 3:
            victim.unlink()
        if kind == 4:
            victim.unlink()
            victim.symlink_to("/etc/passwd")
        code, error = processes.resumed(game, book)
        if code:
            assert (code, processes.is_one_line(error)) == (6, True), (kind, victim, error)
            assert processes.resumed(game, book, "--restart")[0] == 0
        assert processes.digest(book) == expected, (kind, victim)
        book.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    code, error = processes.resumed("tic-tac-toe", book)
    assert code == 6 and "belongs to another solve" in error
    assert Path("/etc/passwd").stat().st_size > 0


def test_twenty_solvers_at_once(tmp_path):
    """Row 21: one proceeds, the others say who; the lock goes with its owner, however it ends."""
    game = processes.LONG["sweep"][0]
    expected, _ = processes.truth(game)
    book = tmp_path / "book.lmdb"
    solvers = [processes.started(game, book, "--checkpoint", 0.5, stderr=subprocess.PIPE) for _ in range(20)]
    errors = [solver.communicate()[1] for solver in solvers]
    codes = [solver.returncode for solver in solvers]
    assert codes.count(0) >= 1 and set(codes) <= {0, 6}
    assert all("locked by process" in error for code, error in zip(codes, errors, strict=True) if code == 6)
    assert processes.digest(book) == expected
    book.unlink()
    folder = processes.interrupted(game, book)
    assert folder.exists()
    assert processes.solve(game, book)[0] == 0
    assert processes.digest(book) == expected
    assert processes.only(tmp_path, "book.lmdb")


def test_a_book_truncated_under_its_reader_ends_the_reader_alone(tmp_path):
    """Row 23: the file is the operating system's; a child process dies, and its parent is told."""
    book = tmp_path / "book.lmdb"
    assert processes.solve(processes.SWEEP, book)[0] == 0
    code = f"""
import os, solver
book = solver.Book({str(book)!r})
states = list(book)[:1]
os.truncate({str(book)!r}, 4096)
for state in range(200_000):
    book.get(state)
"""
    done = processes.python(code)
    assert done.returncode in (-signal.SIGBUS, 1)  # never an answer
    book.unlink()
    assert processes.solve(processes.SWEEP, book)[0] == 0
    query = [sys.executable, "-m", "solver", "query", str(book), "-", "--no-moves"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(query, cwd=ROOT, **pipes) as reader:
        reader.stdin.write("start\n")
        reader.stdin.flush()
        first = reader.stdout.readline()
        book.unlink()  # a file without a name goes on being read
        answers, _ = reader.communicate("start\n1\n")
    assert first and len(answers.splitlines()) == 2


@pytest.mark.parametrize("kilobytes", [150_000, 300_000, 350_000, 400_000, 450_000, 500_000, 600_000])
@pytest.mark.parametrize(
    "words",
    ["prove hex:3", "learn tic-tac-toe --states 200", "grow hex:3 --positions 20", "solve connect-four:4,4"],
    ids=["prove", "learn", "grow", "solve"],
)
def test_in_hardly_any_address_space_no_library_hangs(tmp_path, words, kilobytes):
    """Libraries that cannot load, or get no buffers, are an error in a line; a solve may go on in plain Python."""
    set_limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))
    words = [sys.executable, "-m", "solver", *words.split(), "-q", "-o", str(tmp_path / "made")]
    done = subprocess.run(words, preexec_fn=set_limit, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 or (done.returncode, processes.is_one_line(done.stderr)) == (6, True), done.stderr


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """The library that injects faults of the disk."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux")
    library = tmp_path_factory.mktemp("shim") / "shim.so"
    source = ROOT / "tests" / "faults" / "shim.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"], check=True)
    return library


@pytest.mark.skipif(os.geteuid() != 0 if hasattr(os, "geteuid") else True, reason="mounts need root")
@pytest.mark.parametrize("game", [processes.SWEEP, processes.CYCLIC, "connect-four:5,4"])
def test_a_full_disk_of_any_size(tmp_path, game):
    """Row 4: the reserve is left alone, and after making room the same command goes on."""
    expected, _ = processes.truth(game)
    disk = tmp_path / "disk"
    disk.mkdir()
    seen = set()
    for megabytes in (1, 40, 65, 66, 68, 72, 80, 120):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", disk]
        mounted = subprocess.run(mount, capture_output=True)
        if mounted.returncode:
            pytest.skip("mounts are not allowed here")
        try:
            book = disk / "book.lmdb"
            code, error = processes.solve(game, book, "--checkpoint", 0)
            seen.add(code)
            if code:
                assert (code, processes.is_one_line(error)) == (6, True), error
                assert str(disk) in error and "bytes free" in error
                assert not book.exists()
                subprocess.run(["mount", "-o", "remount,size=300m", disk], check=True)
                assert processes.resumed(game, book, "--checkpoint", 0)[0] == 0
            assert processes.digest(book) == expected
            assert processes.only(disk, "book.lmdb")
        finally:
            subprocess.run(["umount", disk], check=True)
    assert seen == {0, 6}


@pytest.mark.parametrize("limit", [1 << 12, 1 << 16, 1 << 20, 5 << 19])
def test_a_limit_on_the_size_of_files(tmp_path, limit):
    """Row 5."""
    game = "connect-four:5,4"
    expected, _ = processes.truth(game)
    book = tmp_path / "book.lmdb"
    set_limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    code, error = processes.solve(game, book, "--checkpoint", 0, preexec_fn=set_limit)
    assert (code, processes.is_one_line(error)) == (6, True), error
    assert f"a file may have {limit:,} bytes at most: raise the limit" in error
    assert processes.resumed(game, book, "--checkpoint", 0)[0] == 0
    assert processes.digest(book) == expected


@pytest.mark.parametrize("command", ["prove", "solve"])
def test_a_limit_on_the_files_of_compiled_code(tmp_path, command):
    """Row 5: Numba keeps nothing there, which says nothing of the rules."""
    arguments = [sys.executable, "-m", "solver", command, "connect-four:4,4", "-o", tmp_path / "book.lmdb", "--quiet"]
    set_limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 15, 1 << 15))
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "empty")}
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, env=own, preexec_fn=set_limit)
    assert (done.returncode, processes.is_one_line(done.stderr)) == (6, True), done.stderr
    assert f"{tmp_path / 'empty'}: a file may have 32,768 bytes at most: raise the limit" in done.stderr


def calls_of(game, folder, shim):
    """How many calls that change files a solve with many checkpoints makes."""
    settings = {"LD_PRELOAD": str(shim), "FAULT_PATH": str(folder), "FAULT_COUNT": str(folder.parent / "count")}
    assert processes.solve(game, folder / "counted.lmdb", "--checkpoint", 0, env=settings)[0] == 0
    (folder / "counted.lmdb").unlink()
    return int((folder.parent / "count").read_text("utf-8"))


@pytest.mark.parametrize("kind", ["errno", "sticky", "short", "power"])
@pytest.mark.parametrize("game", [processes.SWEEP, processes.CYCLIC])
def test_the_disk_fails_at_any_call(tmp_path, shim, game, kind):
    """Rows 6 to 8: a call fails, or all from one on do; writes do half, which LMDB takes for an error; the power goes.

    Without power what was not synced is cut off or zeros, a rename may be undone.
    """
    expected, _ = processes.truth(game)
    folder = tmp_path / "folder"
    folder.mkdir()
    calls = calls_of(game, folder, shim)
    assert calls > 100
    chance, book = random.Random(kind), folder / "book.lmdb"
    some = [1, 2, 3, 4, 5, *sorted(chance.sample(range(6, calls), 11)), calls - 1, calls]
    for at in some[: 1 if kind == "short" else None]:
        settings = {"LD_PRELOAD": str(shim), "FAULT_PATH": str(folder), "FAULT_AT": str(at), "FAULT_SEED": str(at)}
        settings |= {"FAULT_KIND": "errno" if kind == "sticky" else kind, "FAULT_ERRNO": chance.choice(["5", "28"])}
        settings |= {"FAULT_STICKY": "1"} if kind == "sticky" else {}
        code, error = processes.solve(game, book, "--checkpoint", 0, env=settings)
        if code and kind != "power":  # an error while cleaning up does not matter
            assert (code, processes.is_one_line(error)) == (6, True), (at, error)
            assert str(folder) in error
            assert not book.exists() or processes.digest(book) == expected
        assert code in (0, 137 if kind == "power" else 6), error
        assert not code or processes.resumed(game, book, "--checkpoint", 0)[0] == 0
        assert processes.digest(book) == expected, at
        book.unlink()
        assert processes.only(folder), at
