"""Faults, injected from outside: whatever happens, the same book in the end, or one line that says what to do.

The rows are those of the fault matrix in `docs/explanation/reliability.md`. `test_faults_disk` has those of the disk.
The others are tested beside their rooms.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.processes import (
    LONG,
    SWEEP,
    checkpoint,
    command,
    digest,
    gets_on,
    interrupted,
    is_one_line,
    only,
    resumed,
    solve,
    truth,
)
from tests.ways import until

resource = pytest.importorskip("resource")
pty = pytest.importorskip("pty")
pytest.importorskip("numba")
pytestmark = [pytest.mark.faults, pytest.mark.posix("signals")]


KILLED = {
    "sweep": ("connect-four:4,6", "--checkpoint", 0.1),
    "retrograde": (LONG["retrograde"][0], "--checkpoint", LONG["retrograde"][1]),
    "opening": ("connect-four:5,5", "--max-ply", 8),
}


@pytest.mark.parametrize("kind", KILLED)
def test_twenty_random_kills_give_the_same_book(tmp_path, kind):
    """Row 1."""
    game, *words = KILLED[kind]
    expected, seconds = truth(game, *words)
    chance = random.Random(1)
    book = tmp_path / "book.lmdb"
    for trial in range(20):
        kills = 0
        while not book.exists():
            process = subprocess.Popen(
                command(game, book, *words), cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True
            )
            try:
                assert process.wait(chance.uniform(0.2, 0.9) * seconds if kills < 1 + trial % 2 else None) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                kills += 1
        assert digest(book) == expected
        book.unlink()
    assert only(tmp_path)


def test_short_lives_get_there(tmp_path):
    """Row 2: killed again and again, it gets on, as long as a life is longer than it takes to begin."""
    game = LONG["sweep"][0]
    expected, _ = truth(game)
    book, lives = tmp_path / "book.lmdb", 0
    while not book.exists():
        lives += 1
        assert lives < 400
        process = subprocess.Popen(command(game, book, "--checkpoint", 0.1), cwd=ROOT, stdout=subprocess.DEVNULL)
        gets_on(process, book, 3)
        process.kill()
        process.wait()
    assert digest(book) == expected


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("kind", sorted(LONG))
def test_signals_end_it_and_it_says_how_to_go_on(tmp_path, kind, number, code):
    """Row 3: behind any of the first checkpoints."""
    game, every = LONG[kind]
    expected, _ = truth(game)
    for trial in range(3):
        book = tmp_path / f"{trial}.lmdb"
        process = subprocess.Popen(
            command(game, book, "--checkpoint", every),
            cwd=ROOT,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        gets_on(process, book, 1 + trial)
        process.send_signal(number)
        _, error = process.communicate()
        if process.returncode:  # it may have been done
            assert process.returncode == code
            assert is_one_line(error) and f"go on with solver solve {game}" in error
            assert resumed(game, book)[0] == 0
        assert digest(book) == expected


def test_a_second_signal_ends_it_at_once(tmp_path):
    """Row 3."""
    game, every = LONG["retrograde"]
    process = subprocess.Popen(command(game, tmp_path / "b.lmdb", "--checkpoint", every), cwd=ROOT)
    gets_on(process, tmp_path / "b.lmdb")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143


def test_control_c_in_a_terminal(tmp_path):
    """Row 3: the whole process group gets it."""
    game, every = LONG["sweep"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, command(game, tmp_path / "b.lmdb", "--checkpoint", every))
    until(lambda: checkpoint(tmp_path / "b.lmdb"))
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
    expected, _ = truth("connect-four:5,5")
    book = tmp_path / "book.lmdb"
    codes = set()
    for megabytes in (700, 900, 1100, 1400, 3000):
        limit = megabytes << 20
        code, error = solve(
            "connect-four:5,5",
            book,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        codes.add(code)
        if code == 127:  # the C library's own end, where a thread is begun with nothing left
            assert error.strip() == "cannot allocate memory for thread-local data: ABORT"
        elif code:
            assert (code, is_one_line(error)) == (6, True), error
            assert "disk" not in error
        else:
            break
    assert 6 in codes
    assert code == 0 or solve("connect-four:5,5", book)[0] == 0
    assert digest(book) == expected
    code, error = solve(SWEEP, tmp_path / "other.lmdb", "--memory", "1M")
    assert (code, is_one_line(error)) == (6, True)


def test_places_that_cannot_be_written(tmp_path):
    """Row 11."""
    file = tmp_path / "file"
    file.touch()
    for book in (tmp_path / "absent" / "b.lmdb", file / "b.lmdb", tmp_path, Path("/proc/b.lmdb")):
        code, error = solve(SWEEP, book)
        assert code in (2, 6) and is_one_line(error), (book, error)
    (tmp_path / "b.lmdb.work").touch()  # a file where the folder must be
    code, error = solve(SWEEP, tmp_path / "b.lmdb")
    assert (code, is_one_line(error)) == (6, True), error
    assert (tmp_path / "b.lmdb.work").exists()


@pytest.mark.parametrize("game", ["connect-four:5,4", "chess-ending:KRK"])
def test_a_damaged_checkpoint_is_refused_and_restart_discards_it(tmp_path, game):
    """Rows 12 to 16, and 20, for the files of an unfinished solve."""
    expected, _ = truth(game)
    book = tmp_path / "book.lmdb"
    folder = interrupted(game, book)
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
        code, error = resumed(game, book)
        if code:
            assert (code, is_one_line(error)) == (6, True), (kind, victim, error)
            assert resumed(game, book, "--restart")[0] == 0
        assert digest(book) == expected, (kind, victim)
        book.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(saved, folder)
    code, error = resumed("tic-tac-toe", book)
    assert code == 6 and "belongs to another solve" in error
    assert Path("/etc/passwd").stat().st_size > 0


def test_twenty_solvers_at_once(tmp_path):
    """Row 21: one proceeds, the others say who; the lock goes with its owner, however it ends."""
    game = LONG["sweep"][0]
    expected, _ = truth(game)
    book = tmp_path / "book.lmdb"
    solvers = [
        subprocess.Popen(
            command(game, book, "--checkpoint", 0.5),
            cwd=ROOT,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(20)
    ]
    errors = [solver.communicate()[1] for solver in solvers]
    codes = [solver.returncode for solver in solvers]
    assert codes.count(0) >= 1 and set(codes) <= {0, 6}
    assert all("locked by process" in error for code, error in zip(codes, errors, strict=True) if code == 6)
    assert digest(book) == expected
    book.unlink()
    folder = interrupted(game, book)
    assert folder.exists()
    assert solve(game, book)[0] == 0
    assert digest(book) == expected
    assert only(tmp_path, "book.lmdb")


def test_a_book_truncated_under_its_reader_ends_the_reader_alone(tmp_path):
    """Row 23: the file is the operating system's; a child process dies, and its parent is told."""
    book = tmp_path / "book.lmdb"
    assert solve(SWEEP, book)[0] == 0
    code = f"""
import os, solver
book = solver.Book({str(book)!r})
states = list(book)[:1]
os.truncate({str(book)!r}, 4096)
for state in range(200_000):
    book.get(state)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.returncode in (-signal.SIGBUS, 1)  # never an answer
    book.unlink()
    assert solve(SWEEP, book)[0] == 0
    with subprocess.Popen(
        [sys.executable, "-m", "solver", "query", str(book), "-", "--no-moves"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
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
    limit = kilobytes << 10
    set_limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))  # noqa: E731
    command = [sys.executable, "-m", "solver", *words.split(), "-q", "-o", str(tmp_path / "made")]
    done = subprocess.run(command, preexec_fn=set_limit, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 or (done.returncode, is_one_line(done.stderr)) == (6, True), done.stderr
