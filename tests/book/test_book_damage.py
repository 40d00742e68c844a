"""Damaged files: no signal, no wrong value, whatever byte it is; and hostile segments whose checksums hold."""

import contextlib
import os
import random
import struct
import sys
import textwrap
import tracemalloc

import pytest

from solver.base import extras
from solver.base.errors import BookError, DamagedBook
from solver.book import Book
from solver.book.check import check_book
from solver.book.codecs import codec_of, compact
from solver.book.format import segment_key
from solver.book.mapping import groups_of, laid_out
from solver.book.writer import write_book
from tests import books
from tests.processes import python
from tests.refusals import raises


@pytest.mark.parametrize(
    ("codec", "seed", "trials"),
    [
        *(("instant", 1, 100), ("wide", 1, 100)),
        *(pytest.param(one, n, 1000, marks=pytest.mark.faults) for one in books.EVERY_KEYED for n in range(2, 12)),
    ],
)
def test_no_corruption_gives_a_wrong_value_or_a_signal(path, codec, seed, trials):
    books.write_sample(path, books.sample_values(20_000, seed=seed), codec)
    books.assert_no_damage_is_believed(path, seed, trials, 0.3)


FLIPS = """
    import random, sys
    from pathlib import Path
    from solver.book import Book, pages
    from solver.base.errors import BookError

    path, begin, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with Book(path) as book:
        truth = dict(book.items())
        firsts = list(book.directory)
    with pages.open_file(Path(path)) as opened:
        tree = pages.read_tree(opened)
        walk = pages._Walk(opened, tree)
        segments = [at - 16 for leaf in walk.below(tree.root, 1, b"", None) for key, at, _ in leaf if len(key) == 8]
    places = [(page * 4096 + byte, None) for page in (0, 1, *walk.seen) for byte in range(4096)]
    places += [(at + byte, first) for at, first in zip(segments, firsts, strict=True) for byte in range(16)]
    whole = Path(path).read_bytes()
    file = open(path, "r+b", buffering=0)

    def put(place, data):
        file.seek(place)
        file.write(data)

    states = random.Random(1).sample(sorted(truth), 100)
    tried = refused = 0
    for number in range(begin, 8 * len(places), step):
        (place, first), bit = places[number >> 3], number & 7
        print(f"bit {bit} of byte {place}", file=sys.stderr)
        put(place, bytes([whole[place] ^ 1 << bit]))
        asked = (states[number % 100], states[-1] + 1) if first is None else (first,)
        try:
            with Book(path) as book:
                for state in asked:
                    assert book.get(state) == truth.get(state), f"another value of {state}"
        except BookError:
            refused += 1
        tried += 1
        put(place, whole[place : place + 1])
        if tried % 1000 == 1:
            with Book(path) as book:
                assert book[states[0]] == truth[states[0]]
    print(tried, refused)
"""


def write_with_branches(path, count, pages_a_segment):
    """A book with a branch page: of short segments, as those of 64 KB would need 10 MB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solver.book.format.SEGMENT_SIZE", 4096 * pages_a_segment - 16)
        books.write_values(path, books.sample_values(count, spread=10**5))
    return path


@pytest.mark.parametrize(
    ("count", "pages", "begin", "step"),
    [(100_000, 1, 5, 971), pytest.param(450_000, 3, 0, 1, marks=pytest.mark.faults)],
    ids=["some", "every"],
)
def test_single_bits_of_the_structure(path, count, pages, begin, step):
    run = python(textwrap.dedent(FLIPS), write_with_branches(path, count, pages), begin, step)
    assert run.returncode == 0, (run.returncode, run.stderr[-300:])
    tried, refused = map(int, run.stdout.split())
    assert tried > 8 * 4096 * 5 // step - 20
    assert refused > tried // 8


def put(form, place, *numbers):
    """An alteration of a file's bytes: of page `place[0]`, at byte `place[1]`."""
    return lambda data, at: struct.pack_into(form, data, at[place[0]] * 4096 + place[1], *numbers)


def node(page, number, form, offset, value):
    """An alteration of a node: value may be a function of the pages."""

    def change(data, at):
        (place,) = struct.unpack_from("<H", data, at[page] * 4096 + 16 + 2 * number)
        number_now = value(at) if callable(value) else value
        struct.pack_into(form, data, at[page] * 4096 + place + offset, number_now)

    return change


def swap_places(data, at):
    place = at["leaf"] * 4096 + 16
    data[place : place + 4] = data[place + 2 : place + 4] + data[place : place + 2]


def many_pages(data, at):
    for meta in (0, 1):
        struct.pack_into("<Q", data, 4096 * meta + 136, (1 << 24) - 1)


ALTERED = {
    "a record of four gigabytes": node("leaf", 0, "<I", 0, 0xFFFFFFFF),
    "a record that ends behind the file": node("leaf", -1, "<I", 0, 1 << 19),
    "a record longer than the file": node("leaf", 3, "<I", 0, 1 << 20),
    "a run outside the file": node("leaf", 2, "<Q", 16, 1 << 62),
    "a run at the last page": node("leaf", 2, "<Q", 16, lambda at: at["last"]),
    "a run in the meta pages": node("leaf", 2, "<Q", 16, 0),
    "a record of another kind": node("leaf", 2, "<H", 4, 6),
    "a key outside the page": node("leaf", 2, "<H", 6, 0xFFFF),
    "a node outside the page": put("<H", ("leaf", 16), 4095),
    "a node in the head of the page": put("<H", ("leaf", 18), 2),
    "places over all the page": put("<HH", ("leaf", 12), 4096, 4096),
    "an odd place": put("<H", ("leaf", 12), 17),
    "no node": put("<H", ("leaf", 12), 16),
    "a begin behind the page": put("<H", ("leaf", 14), 0xFFFF),
    "keys that descend": swap_places,
    "a branch to itself": node("branch", 0, "<I", 0, lambda at: at["branch"]),
    "a leaf twice": node("branch", 1, "<I", 0, lambda at: at["leaf"]),
    "a branch to a segment": node("branch", 1, "<I", 0, 2),
    "a branch to a meta page": node("branch", 1, "<I", 0, 0),
    "a branch outside the file": node("branch", 1, "<H", 4, 1),
    "a branch of one child": put("<H", ("branch", 12), 18),
    "a leaf that calls itself a branch": put("<H", ("leaf", 10), 1),
    "a branch that calls itself a leaf": put("<H", ("branch", 10), 2),
    "a root of no depth": put("<H", ("meta", 94), 1),
    "a root that is too deep": put("<H", ("meta", 94), 40),
    "the wrong root": put("<Q", ("meta", 128), 2),
    "more records than there are": put("<Q", ("meta", 120), 1 << 40),
    "duplicates": put("<H", ("meta", 92), 4),
    "a file of many pages": many_pages,
}


def test_pages_altered_by_hand_are_refused(tmp_path, path):
    """Each in a file of more than 256 KB; what LMDB would follow beyond the end of the file is a signal."""
    whole = write_with_branches(path, 100_000, 1).read_bytes()
    last, root = (struct.unpack_from("<Q", whole, 4096 + place)[0] for place in (136, 128))
    (place,) = struct.unpack_from("<H", whole, root * 4096 + 16)
    at = {"meta": 1, "branch": root, "leaf": struct.unpack_from("<I", whole, root * 4096 + place)[0], "last": last}
    paths = [tmp_path / str(number) for number in range(len(ALTERED))]
    for altered, change in zip(paths, ALTERED.values(), strict=True):
        data = bytearray(whole)
        change(data, at)
        altered.write_bytes(data)
    if sys.platform != "win32":  # where a file takes room for its holes
        os.truncate(paths[-1], 4096 << 24)
    said = books.read_apart(tmp_path, paths, {})
    assert dict(zip(ALTERED, said, strict=True)) == dict.fromkeys(ALTERED, "refused")


def test_bytes_behind_the_last_page_do_no_harm(path, sample):
    """Books of more than 256 KB had 64 KB there once."""
    path.write_bytes(sample[0].read_bytes() + bytes(65536))
    assert check_book(path).stored == len(sample[1])


@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody alter a mapped file")
@pytest.mark.parametrize("change", [4096, -4096])
def test_a_file_of_another_size_than_when_it_was_opened_is_damaged(tmp_path, path, sample, change):
    state = next(iter(sample[1]))
    path.write_bytes(sample[0].read_bytes())
    with Book(path) as book:
        os.truncate(path, path.stat().st_size + change)
        for ask in (lambda: book[state], lambda: next(iter(book)), lambda: Book(path) if change > 0 else book[state]):
            raises(DamagedBook, "was written over while it was open: write a new file, and mv it", ask)
        (tmp_path / "new").write_bytes(sample[0].read_bytes())
        os.replace(tmp_path / "new", path)
        if change > 0:
            assert book[state] == sample[1][state]  # its own file, which has all pages
        assert Book(path)[state] == sample[1][state]


def test_every_length_of_a_truncated_file_is_refused(sample, path):
    whole = sample[0].read_bytes()
    for length in {0, 1, 16, 39, 40, 4095, 4096, 8191, 8192, 8193, len(whole) // 2, len(whole) - 4096, len(whole) - 1}:
        path.write_bytes(whole[:length])
        raises(BookError, None, Book, path)


@pytest.mark.parametrize("codec", books.EVERY_KEYED)
def test_the_check_finds_flipped_bits_anywhere(path, codec):
    books.write_sample(path, books.sample_values(20_000), codec)
    whole, chance, missed = path.read_bytes(), random.Random(9), 0
    for _ in range(6):
        data = bytearray(whole)
        data[chance.randrange(8192, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        with contextlib.suppress(BookError):
            check_book(path)
            missed += 1  # the bit lies in unused bytes of a page
    assert missed <= 1


ZERO, ONE = segment_key(0), segment_key(1)
MISPLACED = {  # the records that are put in the place of others
    "swapped": lambda records, others: {ZERO: records[ONE], ONE: records[ZERO]},
    "duplicated": lambda records, others: {ZERO: records[ONE]},
    "zeroed": lambda records, others: {ZERO: bytes(len(records[ZERO]))},
    "missing": lambda records, others: {ZERO: None},
    "of-another-book": lambda records, others: {ZERO: others[ZERO]},
}


@pytest.mark.parametrize("damage", MISPLACED)
def test_segments_out_of_place_are_noticed(sample, tmp_path, damage):
    path, values = sample
    books.write_values(tmp_path / "other.lmdb", {**values, max(values) + 1: books.VALUES[0]})
    misplaced = MISPLACED[damage](books.records_of(path), books.records_of(tmp_path / "other.lmdb"))
    changed = books.rewritten(path, tmp_path / "damaged.lmdb", lambda key, record: misplaced.get(key, record))
    with pytest.raises(DamagedBook), Book(changed) as book:
        book[min(values)]
    raises(DamagedBook, None, check_book, changed)


def first_group(book, record):
    """Where the first group of a segment begins."""
    return struct.unpack_from("<H", record, 8 + (book.header.state_bytes or 8) * record[4])[0]


@pytest.mark.parametrize("codec", books.EVERY_KEYED)
def test_whoever_reads_a_hostile_segment_is_told_of_damage_or_has_values(path, codec):
    known = sorted(books.write_sample(path, books.sample_values(600), codec))
    chance, refused = random.Random(3), 0
    with Book(path) as book:
        (record,) = book.segments()
        start = first_group(book, record)
        readers = [
            lambda: dict(book.items()),
            lambda: list(book),
            lambda: book.group(0, lambda many: many - 1),
            lambda: [book.get(state) for state in known],
        ]
        for _ in range(60):
            body = bytearray(record[4:])
            for _ in range(chance.choice((1, 3, 3, 50))):
                body[start - 4 + chance.choice((chance.randrange(8), chance.randrange(600)))] = chance.randrange(256)
            books.alter(book, body)
            for read in readers:
                try:
                    read()
                except DamagedBook:
                    refused += 1
    assert refused > (20 if codec == "wide" else 60)  # whose groups are keys for the most part


def decoded(header, record, numba_too):
    """States and palette indices of a segment, ascending and inside the palette, or None if it is refused."""
    try:
        groups = [pair for group in groups_of(header, record) for pair in zip(*group, strict=True)]
    except DamagedBook:
        groups = None
    if groups is not None:
        states, indices = zip(*groups, strict=True)
        ascending = [*states] == sorted({*states}) and states[-1] < 1 << 63
        groups = groups if ascending and max(indices) < len(header.palette) else None
    if numba_too:
        import numpy as np

        from solver.book.bulk import arrays
        from solver.book.codecs.arrays import tally_values
        from solver.store.shared import compiled

        room = np.empty(5000, np.int64), np.empty(5000, np.int32)
        try:
            count = codec_of(header.codec).decode_all(arrays(laid_out(record)), *room, compiled)
        except DamagedBook:
            count = -1
        tallies = np.zeros(len(header.palette), np.int64), np.zeros(len(header.palette), np.int64)
        whole = count >= 0 and tally_values(*room, count, -1, len(tallies[0]), *tallies) >= 0
        found = list(zip(*(column[:count].tolist() for column in room), strict=True))
        assert groups == (found if whole else None)
    return groups


@pytest.mark.parametrize("codec", books.KEYED_BY_STATE)
@pytest.mark.parametrize("spread", [2, 40, 10**5])
@pytest.mark.interpreted
def test_what_verification_reads_is_what_a_lookup_answers(path, spread, codec):
    """Segments with good checksums, whatever they hold: plain, compiled and look-ups read the same or refuse."""
    numba_too, chance, accepted = extras.has_kernels(), random.Random(spread), 0
    with books.book_of(path, books.sample_values(1000, spread=spread), codec=codec) as book:
        (record,) = book.segments()
        for _ in range(150):
            body = bytearray(record[4:])
            body[chance.randrange(4, len(body) if chance.random() < 0.5 else 60)] ^= 1 << chance.randrange(8)
            body[first_group(book, record) - 4 + chance.randrange(3)] ^= chance.randrange(4) << chance.randrange(6)
            try:
                altered = books.alter(book, body)
            except DamagedBook:
                continue
            pairs = decoded(book.header, altered, numba_too)
            if pairs is not None:
                accepted += 1
                known = {state: book.header.palette[index] for state, index in pairs}
                asked = [state + step for state in known for step in (-1, 0, 1)]
                expected = [known.get(state) for state in asked]
                assert [book.get(state) for state in asked] == expected
                assert not numba_too or books.looked_up(book, asked) == expected
            elif numba_too:
                with contextlib.suppress(DamagedBook):
                    book.lookup(range(0, 50_000, 7), missing="mask")
    assert accepted > 8 or codec == "compact"  # of which few bits can change and leave a group that fits together


HEADS = {  # key mode, states - 1, bytes of the keys - 1, those once deflated
    "a bitmap beyond its bound": lambda mode, count, size, packed: (0, count, 0xFFFF, packed),
    "more states than a group": lambda mode, count, size, packed: (mode, 6144, size, packed),
    "offsets of nine bytes": lambda mode, count, size, packed: (9, count, 9 * (count + 1) - 1, packed),
    "offsets that are not as many": lambda mode, count, size, packed: (2, count, size + 1, packed),
    "keys that end early": lambda mode, count, size, packed: (mode, count, size + 1, packed),
    "keys that go on": lambda mode, count, size, packed: (mode, count, size - 1, packed),
    "keys cut short": lambda mode, count, size, packed: (mode, count, size, packed - 9),
    "keys behind the group": lambda mode, count, size, packed: (mode, count, size, 0xFFFF),
    "a state more than keys": lambda mode, count, size, packed: (mode, count + 1, size, packed),
    "a state less than keys": lambda mode, count, size, packed: (mode, count - 1, size, packed),
}


@pytest.mark.parametrize("lie", HEADS)
def test_compact_groups_of_other_sizes_than_they_say_are_refused(compacted, lie):
    head = struct.Struct("<BHHH")
    with Book(compacted[0]) as book:
        view, (first, *_), (start, end, *_), _ = book._mapped.load(0)
        group = bytes(view[start:end])
    altered = head.pack(*HEADS[lie](*head.unpack_from(group))) + group[head.size :]
    assert len(compact.decode(memoryview(group), first, 1)[0]) == 6144
    raises(DamagedBook, "a group ", compact.decode, memoryview(altered), first, 1)


def test_what_bombs_deflate_to_is_not_made(path, compacted):
    """Keys and values of 60 MB in a segment of 64 KB, all checksums right: a look-up makes what the group declares."""
    with Book(compacted[0]) as book:
        counts = {"win": 6144, "draw": 0, "loss": 0}
        header = book.header._replace(stored=6144, numbers=None, states=6144, counts=counts)
    bomb, bitmap = books.deflated(bytes(60 << 20)), books.deflated(b"\xff" * 768)
    for keys, palette in ((bomb, b""), (bitmap, bomb)):
        body = struct.pack("<BHHH", 0, 6143, 767, len(keys) & 0xFFFF) + keys + palette
        write_book(path, header, [(range(6144), [0] * 6144)], encode=lambda *_, body=body: (body, [6144], [len(body)]))
        tracemalloc.start()
        try:
            with Book(path) as book:
                for state in (5, 6143, 5, 6143, 6144):
                    with contextlib.suppress(DamagedBook):
                        assert book.get(state) in (book.header.palette[0], None)
                raises(DamagedBook, "a group is malformed", list, book)
                if extras.has_kernels():
                    from solver.book.codecs.arrays import read_parts

                    raises(DamagedBook, "a group is malformed", list, read_parts(book))
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


def test_a_compact_book_keeps_some_groups_decoded(path, monkeypatch):
    """Whatever was asked before, in few slots: first states, last ones, absent ones."""
    monkeypatch.setattr(compact, "SLOTS", 3)
    values = books.sample_values(40_000) | {2**60 + 2**40 * state: books.VALUES[state % 50] for state in range(3000)}
    books.assert_is_read(path, values, codec="compact")
