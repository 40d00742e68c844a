"""The work folder: whatever moment a solve is stopped at, it goes on to the same book, and nothing else is trusted."""

import itertools
import os
import subprocess
import sys
import types
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from solver.base import extras, system
from solver.base.errors import ResourceError
from solver.rules.game import load_game
from solver.solving import pipeline
from solver.solving.ways import plain

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.base.parallel import Workers  # noqa: E402
from solver.base.tiers import Tier  # noqa: E402
from solver.rules.placements import Span  # noqa: E402
from solver.store import documents, runs  # noqa: E402
from solver.store.directory import Layer  # noqa: E402
from solver.store.packed import LAST  # noqa: E402
from solver.store.runs import Key, Waiting  # noqa: E402
from solver.store.work import Work  # noqa: E402
from solver.sweep import backward, exhaustive, expansion, forward, parents, projection, retrograde  # noqa: E402
from solver.sweep.checkpoint import ArrayState, BackwardState, Checkpoint, ForwardState, ResolverState  # noqa: E402
from solver.sweep.scale import Scale, Tally  # noqa: E402
from tests.refusals import raises  # noqa: E402
from tests.solutions import Stopped, stops_until_solved  # noqa: E402
from tests.ways import slow_rows  # noqa: E402

pytestmark = pytest.mark.interpreted
GAME = "connect-four:3,3,3"


@pytest.fixture(autouse=True)
def by_kernels(monkeypatch):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)


def stopping(count):
    """A progress callback that stops the solve at a call."""
    calls = itertools.count(1)

    def stop(step, done, total, note=""):
        if next(calls) == count:
            raise Stopped

    return stop


SIZES = (  # at which small games are solved in as many steps as large ones
    (expansion, "STATES_PER_CALL", 50),
    (runs, "PIECE_STATES", 200),
    (forward, "SMALL_GENERATION", 200),
    (runs, "SCATTER_TIERS", 3),
    (backward, "STATES_PER_CALL", 100),
    (parents, "CACHED_STATES", 100),
    (retrograde, "STATES_PER_PAUSE", 400),
    (retrograde, "PIECE_STATES", 64),
    (retrograde, "PIECES_PER_PAUSE", 2),
    (exhaustive, "PART", 1000),
)
STOPPED = ("connect-four:4,3", "kalah:2,3", "nim:2,3,4", "three-mens-morris:1", "nine-holes")
SMALLER = (GAME, "kalah:2,2", "nim:1,2,3", "pong-hau-ki")


@pytest.mark.parametrize(
    ("text", "memory", "step"),
    [
        *((text, None, 2) for text in SMALLER),
        ("pong-hau-ki", None, 3),
        *slow_rows(*((text, memory, step) for text in STOPPED for memory in (None, 1 << 16) for step in (1, 2, 3, 7))),
    ],
)
def test_a_solve_stopped_anywhere_goes_on_to_the_same_book(tmp_path, monkeypatch, text, memory, step):
    """A game with tiers, one with scores, one whose moves skip tiers, one with cycles in them, one without tiers."""
    for module, name, size in SIZES:
        monkeypatch.setattr(module, name, size)
    if memory:  # as if it were far too little: everything goes through files
        monkeypatch.setattr(extras, "free_memory", lambda: extras.PROCESS + memory)
    said = []
    stops = stops_until_solved(load_game(text), tmp_path, step, say=said.append)
    assert 0 < len(said) <= stops and all("going on from the checkpoint" in line for line in said)


@pytest.fixture
def book(tmp_path):
    return tmp_path / "book.lmdb"


def solve(book, game=GAME, **options):
    return pipeline.solve(load_game(game), book, **options)


@pytest.fixture
def interrupted(book):
    """The folder of a solve that was stopped behind a checkpoint."""
    raises(Stopped, None, solve, book, checkpoint=0, progress=stopping(8))
    return book.with_name("book.lmdb.work")


def test_a_short_solve_leaves_no_folder_when_it_is_stopped(book):
    raises(Stopped, None, solve, book, progress=stopping(5))
    assert list(book.parent.iterdir()) == []


def test_another_game_is_refused_and_restart_discards(book, interrupted):
    before = {path.name: path.read_bytes() for path in interrupted.iterdir() if path.name != "lock"}
    for game, options in (("connect-four:3,3", {}), (GAME, {"symmetry": False})):
        raises(ResourceError, "belongs to another solve.*--restart", solve, book, game, **options)
    assert {path.name: path.read_bytes() for path in interrupted.iterdir() if path.name != "lock"} == before
    said = []
    solve(book, "connect-four:3,3", restart=True, say=said.append)
    assert said == [] and not interrupted.exists()


@pytest.mark.parametrize("removed", [1, 5])
def test_a_removal_stopped_anywhere_leaves_no_checkpoint(book, monkeypatch, removed):
    """The book is complete then: what is left of the folder must not stand in the way of the next one."""
    unlink, calls = os.unlink, itertools.count(1)

    def stop(path, **options):
        if ".work" in str(path) and book.exists() and next(calls) >= removed:
            raise Stopped
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", stop)
        raises(Stopped, None, solve, book, checkpoint=0)
    expected = book.read_bytes()
    book.unlink()
    solve(book)
    assert book.read_bytes() == expected and [*book.parent.iterdir()] == [book]


def test_what_is_not_ours_stays(book, interrupted):
    (interrupted / "notes.txt").write_text("mine")
    solve(book)
    assert [path.name for path in interrupted.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("manifest.json", lambda data: data[:-20], "is damaged"),
        ("manifest.json", lambda data: data.replace(b'"format":', b'"former":'), "is damaged"),
        ("states.column", lambda data: data[:8], "states.column is damaged"),
        ("states.column", lambda data: bytes([data[0] ^ 1]) + data[1:], "states.column is damaged"),
        ("states.column", None, "lacks the file states.column"),
    ],
)
def test_damage_is_refused_with_the_remedy(book, interrupted, name, change, message):
    data = (interrupted / name).read_bytes()
    (interrupted / name).unlink()
    if change:
        (interrupted / name).write_bytes(change(data))
    raises(ResourceError, f"{message}: --restart", solve, book)


WHOLE = Checkpoint(
    ForwardState(
        [Layer(7, 9, 4, 0, 2, 3, 0, 5, 1, highest=9, ends=(3, 0, 2))], runs=[Waiting(Key(8, 1), [("runs-1", 0, 4)])]
    ),
    BackwardState("merits", Scale(127, "|i1", 0), Tally(Counter({-3: 2, 5: 1}), [[1, 0, 2]], (5, 17)), Counter({7: 1})),
    ResolverState("index", [0, 5, 2, 1], {"left": "left-4"}),
    ArrayState("ByNumber", [Tier(3, 5, 1, ends=(4, 0, 0))], spans=[Span(3, 0, 9)], marks="array-1"),
)


def test_a_checkpoint_comes_back_as_it_was():
    facts = documents.unsealed(documents.sealed({"state": WHOLE}))
    assert documents.read(Checkpoint, facts["state"]) == WHOLE


OTHERS = [WHOLE[:3], (*WHOLE, None), {"pass": "forward"}, WHOLE._replace(resolver=("index", "5", {}))]
OTHERS += [WHOLE._replace(backward=WHOLE.backward._replace(tally=5))]
OTHERS += [WHOLE._replace(forward=replace(WHOLE.forward, largest="1"))]


@pytest.mark.parametrize("state", OTHERS)
def test_a_checkpoint_of_another_version_is_refused(tmp_path, state):
    with Work(tmp_path / "w", "one") as work:
        work.checkpoint(state)
    with Work(tmp_path / "w", "one") as work:
        raises(ResourceError, "another version: --restart", exhaustive.solve, load_game("nim:1,2"), work)
    with Work(tmp_path / "w", "one", restart=True) as work:
        assert work.resumed is None


def test_one_solver_at_a_time(tmp_path):
    with Work(tmp_path / "w", "one"), pytest.raises(ResourceError, match="locked by process"):
        Work(tmp_path / "w", "one")
    Work(tmp_path / "w", "one").close()
    assert not (tmp_path / "w").exists()  # there was no checkpoint


def test_a_full_disk_is_stopped_at_before_it_is_full(book, monkeypatch):
    monkeypatch.setattr(Work, "free", lambda self: 1000)
    raises(ResourceError, "full .1,000 bytes free.: make room, then the same command goes on", solve, book)


def test_a_game_that_the_disk_cannot_hold_is_refused(book, monkeypatch):
    monkeypatch.setattr(exhaustive, "TRIAL", 0.0)
    monkeypatch.setattr(projection, "TIER_SAMPLE", 1 << 6)
    monkeypatch.setattr(projection, "beyond", lambda forward, team, seconds: projection.estimated(forward, 1e9))
    monkeypatch.setattr(Work, "free", lambda self: 10 << 30)
    raises(ResourceError, "GiB of disk, 10 GiB are free.*--anyway", solve, book, "connect-four")
    assert list(book.parent.iterdir()) == []


def test_a_game_is_refused_only_if_all_estimates_say_so_and_by_what_its_codec_takes(book, monkeypatch):
    def told(stored):
        return lambda forward, seconds, team=None: projection.Estimate([stored], True, False, [], 0.0)

    monkeypatch.setattr(exhaustive, "TRIAL", -1.0)
    monkeypatch.setattr(Work, "free", lambda self: 12 << 30)
    monkeypatch.setattr(projection, "estimated", told(1 << 40))
    monkeypatch.setattr(projection, "beyond", told(1 << 32))
    raises(ResourceError, "4.3e\\+09 states", solve, book)
    assert not book.exists()
    assert solve(book, codec="compact").path.exists()
    assert solve(book, "tic-tac-toe:3,2,2").header.stored < 1 << 20  # its rules number fewer, whatever samples say


def test_a_disk_too_small_for_the_values_is_refused_unless_anyway(book, monkeypatch):
    monkeypatch.setattr(Work, "free", lambda self: 70 << 20 if self.columns["states"].size == 0 else 1000)
    monkeypatch.setattr(Work, "about_to_write", lambda self, size: None)
    raises(ResourceError, "1,000 bytes are free: make room.*--anyway", solve, book)
    assert list(book.parent.iterdir()) == []
    assert solve(book, anyway=True).path.exists()


MEASURED = """
import resource, subprocess, sys
status = subprocess.call([sys.executable, "-m", "solver", "solve", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the resident size in KiB")
@pytest.mark.parametrize("game", ["connect-four:5,5", "chess-ending:KBNK", "quixo:4"])
def test_a_solve_keeps_within_its_memory(tmp_path, game):
    """Where the index of a game with cycles lies in a file, and the later tiers of one without are gone to in turns."""
    books = []
    for megabytes in (768, 4096):
        books.append(tmp_path / f"{megabytes}.lmdb")
        options = ["-q", "--memory", f"{megabytes}M", "-o", str(books[-1])]
        # a process between: the peak of the tests' own would count for its children
        command = [sys.executable, "-c", MEASURED, game, *options]
        status, peak = map(int, subprocess.check_output(command).split())
        assert status == 0 and peak < megabytes << 10
    assert books[0].read_bytes() == books[1].read_bytes()


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.posix("counts descriptors in /proc")
@pytest.mark.parametrize("size", [3, 20_000])
def test_a_column_for_each_of_many_plies_keeps_no_file_open(tmp_path, size):
    with Work(tmp_path / "work", "deep") as work:
        older = work.column("seen", np.int64, numbered=True)
        older.append(np.arange(size))
        work.checkpoint(None)
        before = open_files()
        for ply in range(100):
            newer = work.column("seen", np.int64, numbered=True)
            newer.append(np.arange(ply, ply + size))
            assert newer.view().tolist() == list(range(ply, ply + size))
            work.discard(older)
            older = newer
            assert open_files() <= before + 4
        work.checkpoint(None)
        assert [path.name for path in tmp_path.glob("work/seen*")] == [f"{older.name}.column"]


@pytest.mark.posix("counts descriptors in /proc")
def test_runs_of_far_keys_keep_few_files_open(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "MAX_OPEN_FILES", 8)
    monkeypatch.setattr("solver.store.work.FILED", 0)
    with Work(tmp_path / "work", "far") as work, Workers(1) as team:
        waiting, before, expected = runs.Runs(work, 1), open_files(), {}
        for spill in range(60):
            for key in (runs.Key(spill), runs.Key(1000 + spill % 7)):
                states = np.arange(spill, spill + 3)
                waiting.add(key, states)
                expected.setdefault(key, set()).update(states.tolist())
            waiting.spill(team)
            if spill % 20 == 0:
                work.checkpoint(waiting.saved())
            assert open_files() <= before + 2 * 2 * 8
        for key, states in sorted(expected.items()):
            assert waiting.first() == key
            assert set(waiting.of(key).between(0, LAST).tolist()) == states
            waiting.drop(key)
        assert waiting.first() is None
        assert not [name for name in work.columns if name.startswith("runs")]


def test_tiers_with_cycles_need_no_checkpoint_each(tmp_path, monkeypatch):
    """Only what the last checkpoint has of a tier whose states are taken back asks for another."""
    saved, checkpoint = [], Work.checkpoint
    monkeypatch.setattr(Work, "checkpoint", lambda work, state: (saved.append(state), checkpoint(work, state)))
    with Work(tmp_path / "work", "cycles", every=1e9) as work:
        work.checkpoint(None)
        assert exhaustive.solve(load_game("three-mens-morris:1"), work).cyclic
    assert saved == [None]


def test_a_checkpoint_takes_a_twentieth_of_the_time_at_most(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def due_after(work, seconds):
        now[0] += seconds
        return work.due()

    with Work(tmp_path / "work", "dear", every=30) as work:
        # seconds of writing arrays before the checkpoint that comes, and those after which the next one is due
        for writing, pause in ((5, 30), (0, 100), (0, 30)):
            assert [due_after(work, pause - 1), due_after(work, 2)] == [False, True]
            now[0] += writing
            work.checkpoint(None)
        due_after(work, 100)
        work.checkpoint(None)
        now[0] += 1000
        work.checkpoint(None)  # that nobody asked about: the time before counts for nothing
        assert [due_after(work, 29), due_after(work, 2)] == [False, True]


def test_pages_stay_until_they_really_are_many(monkeypatch):
    """Reads share pages, so that counting them says too much; the system knows."""
    released = []
    with Work() as work:
        work.mapped = 1000
        work.columns["some"] = types.SimpleNamespace(release=lambda: released.append(1), close=lambda: None)
        # from the first release on the columns' pages are told from others
        for bytes_in_memory, releases in ((5000, 1), (5000, 1), (5900, 1), (6100, 2), (None, 3)):
            monkeypatch.setattr(system, "mapped_file_memory", lambda size=bytes_in_memory: size)
            work.read(1001)
            assert len(released) == releases
