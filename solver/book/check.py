"""The check of a whole book: structure, every checksum, the digest, order and counts. Values are `verify`'s duty."""

from __future__ import annotations

import hashlib
import os

import lmdb

from solver.book.format import HEADER_KEY, Header
from solver.book.reader import Book, check_pages
from solver.errors import DamagedBook
from solver.progress import Progress, silent


def check_book(path: str | os.PathLike[str], progress: Progress = silent) -> Header:
    """Check all of a file; its header. Raises DamagedBook or ForeignBook that names what is wrong and where."""
    with Book(path) as book:
        check_records(book)
        _check_groups(book, progress)
        return book.header


def check_records(book: Book) -> None:
    """Pages, checksums of all segments, and the digest; the groups inside the segments are not looked at."""
    check_pages(book.path)
    for _ in book.segments():
        pass
    _check_digest(book)


def _check_digest(book: Book) -> None:
    """The digest over all records but the header, in order."""
    digest = hashlib.sha256()
    mapped = book._mapped
    assert mapped is not None
    try:
        for key, record in mapped.transaction.cursor():
            if bytes(key) != HEADER_KEY:
                digest.update(key)
                digest.update(record)
    except lmdb.Error as error:
        raise DamagedBook(f"{book.path}: {error}") from None
    if digest.hexdigest() != book.header.digest:
        raise DamagedBook(
            f"{book.path} has digest {digest.hexdigest()[:16]}, its header says {book.header.digest[:16]}"
        )


def _check_groups(book: Book, progress: Progress) -> None:
    """Ascending states over the whole book, indices inside the palette, counts as the header says."""
    last, stored = -1, 0
    palette = len(book.header.palette)
    for states, indices in book._groups():
        if states[0] <= last or any(here >= after for here, after in zip(states, states[1:], strict=False)):
            raise DamagedBook(f"{book.path}: states are not ascending at {states[0]}")
        if max(indices) >= palette:
            raise DamagedBook(f"{book.path}: a value of state {states[0]} or after is outside the palette")
        last, stored = states[-1], stored + len(states)
        if stored % (1 << 16) < len(states):
            progress("check", stored, book.header.stored)
    if stored != book.header.stored:
        raise DamagedBook(f"{book.path} stores {stored:,} states, its header says {book.header.stored:,}")
