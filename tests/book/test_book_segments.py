"""Segments and groups: damaged, out of place, hostile with good checksums; what is read is what is checked."""

import contextlib
import random
import struct
import tracemalloc

import pytest

from solver.base import extras
from solver.base.errors import DamagedBook
from solver.book import Book
from solver.book.check import check_book
from solver.book.codecs import codec_of, compact
from solver.book.format import segment_key
from solver.book.mapping import groups_of, laid_out
from solver.book.writer import write_book
from tests.books import (
    EVERY_KEYED,
    KEYED_BY_STATE,
    VALUES,
    alter,
    assert_is_read,
    book_of,
    deflated,
    looked_up,
    records_of,
    rewritten,
    sample_values,
    write_sample,
    write_values,
)
from tests.refusals import raises

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
    write_values(tmp_path / "other.lmdb", {**values, max(values) + 1: VALUES[0]})
    misplaced = MISPLACED[damage](records_of(path), records_of(tmp_path / "other.lmdb"))
    changed = rewritten(path, tmp_path / "damaged.lmdb", lambda key, record: misplaced.get(key, record))
    with pytest.raises(DamagedBook), Book(changed) as book:
        book[min(values)]
    raises(DamagedBook, None, check_book, changed)


def first_group(book, record):
    """Where the first group of a segment begins."""
    return struct.unpack_from("<H", record, 8 + (book.header.state_bytes or 8) * record[4])[0]


@pytest.mark.parametrize("codec", EVERY_KEYED)
def test_whoever_reads_a_hostile_segment_is_told_of_damage_or_has_values(path, codec):
    known = sorted(write_sample(path, sample_values(600), codec))
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
            alter(book, body)
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


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
@pytest.mark.parametrize("spread", [2, 40, 10**5])
@pytest.mark.interpreted
def test_what_verification_reads_is_what_a_lookup_answers(path, spread, codec):
    """Segments with good checksums, whatever they hold: plain, compiled and look-ups read the same or refuse."""
    numba_too, chance, accepted = extras.has_kernels(), random.Random(spread), 0
    with book_of(path, sample_values(1000, spread=spread), codec=codec) as book:
        (record,) = book.segments()
        for _ in range(150):
            body = bytearray(record[4:])
            body[chance.randrange(4, len(body) if chance.random() < 0.5 else 60)] ^= 1 << chance.randrange(8)
            body[first_group(book, record) - 4 + chance.randrange(3)] ^= chance.randrange(4) << chance.randrange(6)
            try:
                altered = alter(book, body)
            except DamagedBook:
                continue
            pairs = decoded(book.header, altered, numba_too)
            if pairs is not None:
                accepted += 1
                known = {state: book.header.palette[index] for state, index in pairs}
                asked = [state + step for state in known for step in (-1, 0, 1)]
                expected = [known.get(state) for state in asked]
                assert [book.get(state) for state in asked] == expected
                assert not numba_too or looked_up(book, asked) == expected
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
    bomb, bitmap = deflated(bytes(60 << 20)), deflated(b"\xff" * 768)
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
    values = sample_values(40_000) | {2**60 + 2**40 * state: VALUES[state % 50] for state in range(3000)}
    assert_is_read(path, values, codec="compact")
