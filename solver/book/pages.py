"""LMDB's pages as plain bytes: the tree of a file is walked before LMDB maps it.

LMDB trusts the pages, and a page altered by hand sends it beyond the end of the file, which is a signal. So both
metas, every branch page and every leaf page are read first. A record of more than half a page, a segment above all, is
a run of overflow pages, of which the leaf says where it begins and how long it is: the run is not read, so a book of a
gigabyte has a tree of 110 pages. What the first page of a run says of itself LMDB checks when it is read, and `verify`.

Layout, little-endian; places are counted from the beginning of the page
    meta      page head | u32 magic | u32 version | u64 address | u64 map size | free tree | main tree | u64 last page
              | u64 transaction; the meta of the later transaction holds
    tree      u32 page size (of the free tree) | u16 flags | u16 depth | u64 branch, leaf, overflow pages | u64 entries
              | u64 root
    page      u64 its own number | u16 | u16 flags | u16 end of the places | u16 begin of the nodes | u16 places
    node      u32 size of the data | u16 1 for a run of pages | u16 size of the key | key | data, or the first page;
              in a branch page the first 6 bytes are the number of the child, and the first key means nothing
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from solver.base.errors import BookError, DamagedBook, ForeignBook
from solver.base.files import open_input
from solver.book.format import HEADER_SIZE

MAGIC, MAGIC_OFFSET = 0xBEEFC0DE, 16  # and where it lies in a meta page
MAGIC_END = MAGIC_OFFSET + 4  # bytes of a file that show it
PAGE_SIZES = (4096, 8192, 16384, 32768)
PAGE_HEAD = 16
BRANCH, LEAF, META = 1, 2, 8  # flags of a page
RUN = 1  # flag of a node
NONE = (1 << 64) - 1  # the root of an empty tree
METAS = 2
MIN_TREE_PAGES = 128  # pages that a tree may have in any file; in a large one, a page in THIN
THIN = 256

HEAD = struct.Struct("<QHHHH")
NODE = struct.Struct("<IHH")
NUMBER = struct.Struct("<Q")
TREE = struct.Struct("<IHHQQQQQ")

Record = tuple[bytes, int, int]  # key, where in the file its bytes are, how many


class Tree(NamedTuple):
    """The tree of records that a file's valid meta page tells of; `last` is the last page of the file that is used."""

    page_size: int
    last: int
    depth: int
    branch: int
    leaf: int
    overflow: int
    entries: int
    root: int


def open_file(path: Path) -> BinaryIO:
    """A regular file, opened. Raises BookError with the remedy."""
    try:
        return open_input(path, buffering=0)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise ForeignBook(f"{path} is not a regular file: name a book") from None
        raise BookError(f"{path} cannot be read ({error.strerror}): solve the game first, or name a book") from None


def is_lmdb(path: str | os.PathLike[str]) -> bool:
    """Whether a file bears the mark of LMDB. It may still be damaged, or no book. False if it cannot be read."""
    try:
        with open_input(path, buffering=0) as file:
            head = read(file, MAGIC_END, 0)
    except OSError:
        return False
    return len(head) == MAGIC_END and struct.unpack_from("<I", head, MAGIC_OFFSET)[0] == MAGIC


def check(file: BinaryIO) -> None:
    """Raise ForeignBook if it is not a file of LMDB, DamagedBook if its tree is not as LMDB would have written it.

    The messages go behind the file's name.
    """
    for _ in _leaves(file):
        pass


def records(file: BinaryIO) -> Iterator[Record]:
    """All records in the order of their keys. Raises as `check` does, at the latest after the last record."""
    for leaf in _leaves(file):
        yield from leaf


def read(file: BinaryIO, size: int, offset: int) -> bytes:
    """Bytes of a file from a place on; fewer at its end."""
    file.seek(offset)
    return file.read(size)


def _leaves(file: BinaryIO) -> Iterator[list[Record]]:
    """The records of each leaf page."""
    tree = read_tree(file)
    walk = _Walk(file, tree)
    if tree.root != NONE:
        yield from walk.below(tree.root, 1, b"", None)
    counts = walk.branch, walk.leaf, walk.overflow
    if (*counts, walk.entries) != (tree.branch, tree.leaf, tree.overflow, tree.entries):
        raise DamagedBook("has other pages or records than its meta page counts: fetch or solve the book again")
    used = METAS + sum(counts)
    if not used <= tree.last + 1 <= 2 * used + MIN_TREE_PAGES:
        raise DamagedBook(f"has {tree.last + 1:,} pages, but uses {used:,}: fetch or solve the book again")


def read_tree(file: BinaryIO) -> Tree:
    """The tree of the meta page that holds; both are checked."""
    size = os.fstat(file.fileno()).st_size
    head = read(file, PAGE_SIZES[0], 0)
    if len(head) < 152 or struct.unpack_from("<I", head, MAGIC_OFFSET)[0] != MAGIC:
        raise ForeignBook("is not an LMDB file: name a book")
    version, page_size = struct.unpack_from("<I", head, 20)[0], struct.unpack_from("<I", head, 40)[0]
    if version != 1:
        raise ForeignBook(f"is of LMDB format {version}, books are of format 1: solve again")
    if page_size not in PAGE_SIZES:
        raise DamagedBook(f"has pages of {page_size} bytes: fetch or solve the book again")
    trees: list[tuple[int, Tree]] = []
    for number in range(METAS):
        page = read(file, 152, number * page_size)
        if len(page) < 152 or struct.unpack_from("<II", page, MAGIC_OFFSET) != (MAGIC, 1):
            raise DamagedBook("is truncated: fetch or solve the book again")
        last_page, transaction = struct.unpack_from("<QQ", page, 136)
        if (last_page + 1) * page_size > size:
            raise DamagedBook(f"has {size:,} bytes of {(last_page + 1) * page_size:,}: fetch or solve the book again")
        page_number, _, flags, _, _ = HEAD.unpack_from(page)
        main = TREE.unpack_from(page, 88)
        if page_number != number or flags != META or TREE.unpack_from(page, 40)[0] != page_size or main[1]:
            raise DamagedBook(f"has a damaged meta page {number}: fetch or solve the book again")
        trees.append((transaction, Tree(page_size, last_page, *main[2:])))
    return trees[trees[0][0] < trees[1][0]][1]


class _Walk:
    """A walk through the tree, with counts so far."""

    def __init__(self, file: BinaryIO, tree: Tree) -> None:
        self.file = file
        self.tree = tree
        self.seen: set[int] = set()
        self.branch = self.leaf = self.overflow = self.entries = 0

    def below(self, number: int, depth: int, low: bytes, high: bytes | None) -> Iterator[list[Record]]:
        """The records below a page at that depth, leaf by leaf, whose keys are from `low` to before `high`."""
        tree = self.tree
        if not METAS <= number <= tree.last or number in self.seen:
            raise damaged(number, "is outside the file, or is met twice in its tree")
        self.seen.add(number)
        if len(self.seen) > MIN_TREE_PAGES + tree.last // THIN:
            raise damaged(number, f"is one of more in the tree than a book of {tree.last + 1:,} pages has")
        page = read(self.file, tree.page_size, number * tree.page_size)
        if len(page) < tree.page_size or HEAD.unpack_from(page)[0] != number:
            raise damaged(number, "has the number of another")
        at_the_leaves = depth == tree.depth
        _, _, flags, lower, upper = HEAD.unpack_from(page)
        nodes = lower - PAGE_HEAD >> 1
        if flags != (LEAF if at_the_leaves else BRANCH) or depth > tree.depth:
            raise damaged(number, "is of another kind than its depth asks for")
        if lower % 2 or nodes < (1 if at_the_leaves else 2) or not lower <= upper <= len(page):
            raise damaged(number, "has wrong bounds")
        places = struct.unpack_from(f"<{nodes}H", page, PAGE_HEAD)
        if min(places) < upper or max(places) + NODE.size > len(page):
            raise damaged(number, "has a node outside of it")
        if at_the_leaves:
            records = self._records(number, page, places)
            if records[0][0] < low or (high is not None and records[-1][0] >= high):
                raise damaged(number, "has keys that belong elsewhere")
            self.leaf += 1
            self.entries += nodes
            yield records
            return
        self.branch += 1
        children, keys = [], []
        for offset in places:
            child, flags, length = NODE.unpack_from(page, offset)
            children.append(child | flags << 32)
            keys.append(page[offset + NODE.size : offset + NODE.size + length])
            if len(keys[-1]) != length:
                raise damaged(number, "has a key outside of it")
        keys[0] = low
        for child, begin, end in zip(children, keys, [*keys[1:], high], strict=True):
            if end is not None and not begin < end:
                raise damaged(number, "has keys that are not ascending")
            yield from self.below(child, depth + 1, begin, end)

    def _records(self, number: int, page: bytes, places: tuple[int, ...]) -> list[Record]:
        """The records of any leaf page."""
        page_size, beyond = len(page), self.tree.last + 1
        records: list[Record] = []
        before = b""
        for offset in places:
            size, flags, length = NODE.unpack_from(page, offset)
            data_offset = offset + NODE.size + length
            key = page[offset + NODE.size : data_offset]
            if not before < key:
                raise damaged(number, "has keys that are not ascending")
            before = key
            if size > HEADER_SIZE:
                raise damaged(number, "has a record larger than any of a book")
            if flags == RUN and data_offset + NUMBER.size <= page_size:
                (first_page,) = NUMBER.unpack_from(page, data_offset)
                pages = (PAGE_HEAD - 1 + size) // page_size + 1
                if not METAS <= first_page <= beyond - pages:
                    raise damaged(number, "has a record outside the file")
                self.overflow += pages
                records.append((key, first_page * page_size + PAGE_HEAD, size))
            elif flags == 0 and data_offset + size <= page_size:
                records.append((key, number * page_size + data_offset, size))
            else:
                raise damaged(number, "has a record outside of it")
        return records


def damaged(number: int, what: str) -> DamagedBook:
    """Return the error for a damaged page."""
    return DamagedBook(f"is damaged, page {number} {what}: fetch or solve the book again")
