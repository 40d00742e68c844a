"""Faults of the disk, injected from outside: full, failing at any call, without power.

The rows are those of the fault matrix in `docs/explanation/reliability.md`.
"""

import os
import random
import shutil
import subprocess
import sys

import pytest

from tests import ROOT
from tests.processes import CYCLIC, SWEEP, digest, is_one_line, only, resumed, solve, truth

resource = pytest.importorskip("resource")
pytest.importorskip("numba")
pytestmark = [pytest.mark.faults, pytest.mark.posix("signals")]


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
@pytest.mark.parametrize("game", [SWEEP, CYCLIC, "connect-four:5,4"])
def test_a_full_disk_of_any_size(tmp_path, game):
    """Row 4: the reserve is left alone, and after making room the same command goes on."""
    expected, _ = truth(game)
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
            code, error = solve(game, book, "--checkpoint", 0)
            seen.add(code)
            if code:
                assert (code, is_one_line(error)) == (6, True), error
                assert str(disk) in error and "bytes free" in error
                assert not book.exists()
                subprocess.run(["mount", "-o", "remount,size=300m", disk], check=True)
                assert resumed(game, book, "--checkpoint", 0)[0] == 0
            assert digest(book) == expected
            assert only(disk, "book.lmdb")
        finally:
            subprocess.run(["umount", disk], check=True)
    assert seen == {0, 6}


@pytest.mark.parametrize("limit", [1 << 12, 1 << 16, 1 << 20, 5 << 19])
def test_a_limit_on_the_size_of_files(tmp_path, limit):
    """Row 5."""
    game = "connect-four:5,4"
    expected, _ = truth(game)
    book = tmp_path / "book.lmdb"
    code, error = solve(
        game, book, "--checkpoint", 0, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert (code, is_one_line(error)) == (6, True), error
    assert f"a file may have {limit:,} bytes at most: raise the limit" in error
    assert resumed(game, book, "--checkpoint", 0)[0] == 0
    assert digest(book) == expected


@pytest.mark.parametrize("command", ["prove", "solve"])
def test_a_limit_on_the_files_of_compiled_code(tmp_path, command):
    """Row 5: Numba keeps nothing there, which says nothing of the rules."""
    arguments = [sys.executable, "-m", "solver", command, "connect-four:4,4", "-o", tmp_path / "book.lmdb", "--quiet"]
    done = subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "empty")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, 1 << 15)),
    )
    assert (done.returncode, is_one_line(done.stderr)) == (6, True), done.stderr
    assert f"{tmp_path / 'empty'}: a file may have 32,768 bytes at most: raise the limit" in done.stderr


def calls_of(game, folder, shim):
    """How many calls that change files a solve with many checkpoints makes."""
    settings = {"LD_PRELOAD": str(shim), "FAULT_PATH": str(folder), "FAULT_COUNT": str(folder.parent / "count")}
    assert solve(game, folder / "counted.lmdb", "--checkpoint", 0, env=settings)[0] == 0
    (folder / "counted.lmdb").unlink()
    return int((folder.parent / "count").read_text("utf-8"))


@pytest.mark.parametrize("kind", ["errno", "sticky", "short", "power"])
@pytest.mark.parametrize("game", [SWEEP, CYCLIC])
def test_the_disk_fails_at_any_call(tmp_path, shim, game, kind):
    """Rows 6 to 8: a call fails, or all from one on do; writes do half, which LMDB takes for an error; the power goes.

    Without power what was not synced is cut off or zeros, a rename may be undone.
    """
    expected, _ = truth(game)
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
        code, error = solve(game, book, "--checkpoint", 0, env=settings)
        if code and kind != "power":  # an error while cleaning up does not matter
            assert (code, is_one_line(error)) == (6, True), (at, error)
            assert str(folder) in error
            assert not book.exists() or digest(book) == expected
        assert code in (0, 137 if kind == "power" else 6), error
        assert not code or resumed(game, book, "--checkpoint", 0)[0] == 0
        assert digest(book) == expected, at
        book.unlink()
        assert only(folder), at
