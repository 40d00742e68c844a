"""Damaged files: no signal, no wrong value, whatever byte of the file it is."""

import contextlib
import os
import random
import struct
import sys
import textwrap

import pytest

from solver.base.errors import BookError, DamagedBook
from solver.book import Book
from solver.book.check import check_book
from tests.books import EVERY_KEYED, assert_no_damage_is_believed, read_apart, sample_values, write_sample, write_values
from tests.processes import python
from tests.refusals import raises


@pytest.mark.parametrize(
    ("codec", "seed", "trials"),
    [
        *(("instant", 1, 100), ("wide", 1, 100)),
        *(pytest.param(codec, seed, 1000, marks=pytest.mark.faults) for codec in EVERY_KEYED for seed in range(2, 12)),
    ],
)
def test_no_corruption_gives_a_wrong_value_or_a_signal(path, codec, seed, trials):
    write_sample(path, sample_values(20_000, seed=seed), codec)
    assert_no_damage_is_believed(path, seed, trials, 0.3)


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
        write_values(path, sample_values(count, spread=10**5))
    return path


@pytest.mark.parametrize(
    ("count", "pages", "begin", "step"),
    [(100_000, 1, 5, 971), pytest.param(450_000, 3, 0, 1, marks=pytest.mark.faults)],
    ids=["some", "every"],
)
def test_single_bits_of_the_structure(path, count, pages, begin, step):
    """Of the pages of the tree and of the heads of segments."""
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
    said = read_apart(tmp_path, paths, {})
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


@pytest.mark.parametrize("codec", EVERY_KEYED)
def test_the_check_finds_flipped_bits_anywhere(path, codec):
    write_sample(path, sample_values(20_000), codec)
    whole, chance, missed = path.read_bytes(), random.Random(9), 0
    for _ in range(6):
        data = bytearray(whole)
        data[chance.randrange(8192, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        with contextlib.suppress(BookError):
            check_book(path)
            missed += 1  # the bit lies in unused bytes of a page
    assert missed <= 1
