"""Books for tests, from plain dictionaries of values."""

import random
import shutil
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import lmdb
import msgpack
import pytest

from solver import load_game, solve
from solver.base import extras
from solver.base.expectations import Expectation
from solver.base.value import Value, merit_of
from solver.book import Book, Header
from solver.book.check import check_book
from solver.book.format import HEADER_KEY, seal
from solver.book.mapping import segment_of
from solver.book.writer import write_book
from tests.processes import python
from tests.written import write_rules

KEYED_BY_STATE = ("instant", "compact")  # the codecs that take any states and values; ranked ones are of a game
EVERY_KEYED = (*KEYED_BY_STATE, "steps", "wide")  # and samples of expectations, and of states of more than 63 bits
KEPT = sorted((Path(__file__).parent / "data" / "format1").glob("*.lmdb"))  # of format 1
PART = 1 << 16  # a block of any codec
VALUES = [Value(0), *(Value(1, one) for one in range(1, 30)), *(Value(-1, one) for one in range(30))]


plainly_and_compiled = pytest.mark.parametrize("way", ["plain", "compiled"], indirect=True)
plainly_and_slowly_compiled = pytest.mark.parametrize(
    "way", ["plain", pytest.param("compiled", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
def way(request, monkeypatch):
    """Books are read in plain Python a group at a time, or by kernels a segment at a time, however small they are."""
    if request.param == "plain":
        monkeypatch.setattr(extras, "has_kernels", lambda: False)
    else:
        pytest.importorskip("numba")
        for module in ("streaming", "bulk"):
            monkeypatch.setattr(f"solver.book.{module}.PLAIN_LIMIT", 0)
    return request.param


def header_of(values, palette=None, **changes):
    """A header for any values that does not contradict itself; the facts of a game are made up."""
    numbers = Counter(values.values())
    palette = sorted(numbers, key=merit_of, reverse=True) if palette is None else palette
    slowest = max((value for value in palette if value.score > 0), key=lambda value: value.distance or 0, default=None)
    outcomes = Counter(value.outcome for value in values.values())
    counts = {kind: outcomes[kind] for kind in ("win", "draw", "loss")}
    facts = {"game": "coins", "rules": "0" * 64, "method": "minimax", "scope": "complete", "symmetry": False}
    facts |= {"score_game": any(value.distance is None and value.score for value in palette), "palette": palette}
    facts |= {"states": len(values), "terminal": 0, "stored": len(values), "counts": counts}
    facts |= {"tiers": None, "root": Value(0), "longest": None}
    if slowest is not None and not facts["score_game"]:
        state = min((state for state, value in values.items() if value == slowest), default=0)
        facts["longest"] = slowest.distance, state
    return Header(**{**facts, **changes})


def expectations(values):
    """As many values from -1 to 1, each a step of its own, close to their neighbours here and there."""
    chance = random.Random(1)
    scores = {
        state: Value(chance.randrange(-(1 << 30), (1 << 30) + 1 >> chance.choice((0, 12))) / (1 << 30))
        for state in values
    }
    return {**scores, **dict(zip(scores, (Value(-1.0), Value(1.0)), strict=False))}


def write_expectations(path, values):
    """A book of a dict of expectations."""
    facts = {"palette": [], "method": "expectiminimax", "root": Value(0.0), "score_game": False}
    facts |= {"longest": None, "counts": {"win": len(values), "draw": 0, "loss": 0}}
    header = header_of(values, expectation=Expectation("utility", 2.0**-30, 2.0**-31), **facts)
    states = sorted(values)
    numbers = [int(values[state].score * (1 << 30)) + (1 << 30) for state in states]
    parts = [(states[at : at + PART], numbers[at : at + PART]) for at in range(0, len(states), PART)]
    return write_book(path, header, parts)


def write_sample(path, values, codec):
    """Write a book of a dict of values in a codec, or of expectations or wide states. Returns what it holds."""
    if codec == "steps":
        values = expectations(values)
        write_expectations(path, values)
        return values
    if codec == "wide":
        values = {state << 90 | state: value for state, value in values.items()}
    write_values(path, values, facts={"state_bytes": 16} if codec == "wide" else {"codec": codec})
    return values


def write_values(path, values, *, facts=None, **options):
    """A book of a dict of values, whose header has these facts."""
    header = header_of(values, **(facts or {}))
    place = {value: index for index, value in enumerate(header.palette)}
    states = sorted(values)
    indices = [place[values[state]] for state in states]
    parts = [(states[at : at + PART], indices[at : at + PART]) for at in range(0, len(states), PART)]
    return write_book(path, header, parts, **options)


def book_of(path, values, **facts):
    """Write a book of a dict of values, whose header has these facts, and open it."""
    write_values(path, values, facts=facts)
    return Book(path)


def assert_is_read(path, values, steps=(-1, 1), **facts):
    """Write a book: whole and state by state it is read as what it is of, without the states `steps` beside its own."""
    chance, header = random.Random(2), write_values(path, values, facts=facts)
    with Book(path) as book:
        assert (book.header, len(book), list(book), dict(book.items())) == (header, len(values), sorted(values), values)
        for state in chance.sample(sorted(values), min(600, len(values))):
            assert book[state] == values[state]
            assert [book.get(state + step) for step in steps] == [values.get(state + step) for step in steps]
    assert check_book(path) == header


def alter(book, body):
    """Give an open book another first segment, and return its record, whose checksum holds."""
    record = seal(book.header.book_id, 0, bytes(body))
    book._mapped.segments[0] = segment_of(book.path, book.header, 0, book.directory[0], memoryview(record))
    book._mapped.find = book.header.encoding.finder()
    return record


def sample_values(count, *, spread=6, seed=1):
    """States at random distances, values in runs, as in real games."""
    chance = random.Random(seed)
    values, state = {}, chance.randrange(1000)
    for _ in range(count):
        values[state] = VALUES[min(len(VALUES) - 1, int(chance.expovariate(0.2)))]
        state += 1 + int(chance.expovariate(1 / spread))
    return values


def sample_book(tmp_path_factory, codec):
    path = tmp_path_factory.mktemp("books") / "sample.lmdb"
    values = sample_values(150_000)
    write_values(path, values, facts={"codec": codec})
    return path, values


def records_of(path):
    """Return the records of a book's file by their keys.

    LMDB opens no file twice in a process, and a book that an earlier test let go of may still have this one open. So a
    copy is read.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, f"{folder}/book.lmdb")
        with lmdb.open(copy, subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
            return {bytes(key): bytes(record) for key, record in transaction.cursor()}


def rewritten(path, target, change):
    """A copy whose records went through `change(key, record)`, LMDB's structure intact."""
    records = [(key, change(key, record)) for key, record in records_of(path).items()]
    with (
        lmdb.open(str(target), subdir=False, lock=False, map_size=1 << 28, lib_version=0) as copy,
        copy.begin(write=True) as transaction,
    ):
        for key, record in records:
            if record is not None:
                transaction.put(key, record)
    return target


RACE = """
from typing import NamedTuple

class Race(NamedTuple):
    goal: int = 9
    most: int = 3
    def initial(self): return self.goal
    def actions(self, state): yield from range(1, min(self.most, state) + 1)
    def result(self, state, action): return state - action
    def is_terminal(self, state): return state == 0
    def utility(self, state): return -1
    def tier(self, state): return self.goal - state
"""


def with_header(path, target, **changes):
    """A copy of a book whose header says other things, its checksum right; "absent" removes a field."""

    def change(key, record):
        if key != HEADER_KEY:
            return record
        fields = {**msgpack.unpackb(record[4:]), **changes}
        fields = {name: value for name, value in fields.items() if value != "absent"}
        return seal(fields.get("book_id", b""), 0, msgpack.packb(fields))

    return rewritten(path, target, change)


def called_acyclic(folder, name, sparse):
    """Rules of a game with cycles, and its ranked book, whose header says that there are none and what it lacks.

    A stone goes round in a ring for ever. Who leaves the ring lets the other side win at once.
    """
    bodies = {
        "initial": "0",
        "actions": "yield 0\nif state < self.size:\n    yield 1",
        "is_terminal": "state > self.size",
    }
    bodies["result"] = "self.size + (state == self.size) if action == 0 else (state + 1) % self.size"
    bodies |= {"rank": "state if state <= self.size else -1", "unrank": "rank if rank <= self.size else -1"}
    bodies |= {"Tiered": {"tier": "2 * (state > self.size)"}, "Forced": {"replies": "1 + (state < self.size)"}}.get(
        name, {}
    )
    game = load_game(write_rules(folder / "rings.py", name=name, fields="size: int = 5", **bodies))
    solve(game, folder / "honest.lmdb", codec="ranked").close()
    bare = {"wdl": True, "sparse": sparse, "palette": [[1, None], [0, None]], "longest": None}
    changes = {"method": "minimax", **(bare if sparse else {})}
    return game, with_header(folder / "honest.lmdb", folder / "forged.lmdb", **changes)


def looked_up(book, states):
    """The answers of `lookup` for states, as `get` gives them."""
    found = book.lookup(states, missing="mask")
    columns = (column.ravel().tolist() for column in found)
    return [
        Value(score, None if distance < 0 else distance) if known else None
        for score, distance, known in zip(*columns, strict=True)
    ]


READER = """
import ast, sys
from solver.base.errors import BookError
from solver.book import Book

truth = ast.literal_eval(open(sys.argv[1]).read())
for path in open(sys.argv[2]):
    try:
        with Book(path.rstrip()) as book:
            print("right" if {state: book[state] for state in truth or book} == truth else "wrong")
    except BookError:
        print("refused")
"""


def read_apart(folder, paths, truth):
    """What another process says of each book: right, wrong or refused; a signal fails.

    It compares the states of `truth`; without any it reads all that there are.
    """
    (folder / "truth").write_text(str({state: tuple(value) for state, value in truth.items()}))
    (folder / "paths").write_text("\n".join(map(str, paths)))
    run = python(READER, folder / "truth", folder / "paths")
    assert run.returncode == 0, (run.returncode, run.stderr[-2000:])
    return run.stdout.split()


def assert_no_damage_is_believed(path, seed, trials, least):
    """At least `least` of the copies damaged at random are refused, the others answer rightly."""
    with Book(path) as book:
        truth = dict(book.items())
    whole, chance, paths = path.read_bytes(), random.Random(seed), []
    some = chance.sample(sorted(truth), 200)
    for trial in range(trials):
        data = bytearray(whole)
        if trial % 4 == 0:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif trial % 4 == 1:
            data[4096 * chance.randrange(len(data) // 4096) + chance.randrange(64)] = chance.randrange(256)
        elif trial % 4 == 2:
            del data[chance.choice((0, 1, 15, 100, 4095, 4096, 8191, 8192, chance.randrange(len(data)))) :]
        else:
            at = chance.randrange(len(data))
            data[at : at + 300] = bytes(min(300, len(data) - at))
        paths.append(path.with_name(f"{seed}.{trial}"))
        paths[-1].write_bytes(data)
    said = Counter(read_apart(path.parent, paths, {state: truth[state] for state in some}))
    assert said.keys() <= {"refused", "right"} and said["refused"] > least * trials


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
