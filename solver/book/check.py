"""The check of a whole book: structure, every checksum, the digest, order and counts. Values are `verify`'s duty.

The file is read as plain bytes, a segment at a time, so that nothing of it stays in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from solver.base.errors import DamagedBook
from solver.base.progress import Progress, silent
from solver.book import Book, Source, pages
from solver.book.format import DIRECTORY_KEY, GAME_KEY, HEADER_KEY, PALETTE_KEY, Header
from solver.book.mapping import groups_of, segment_of
from solver.book.solution import TierCount
from solver.rules.game import GameOrName


def check_book(path: Source, progress: Progress = silent, game: GameOrName | None = None) -> Header:
    """Check every part of a book's file: structure, checksums, order and counts.

    This proves that the file is as it was written. Whether its values are right is for `verify` to say.

    Args:
        path: A book or its path; or a game or its name, for the book that comes with the package.
        progress: Called as the work goes on.
        game: The rules, if the game is your own. Only a codec that asks the rules needs them.

    Returns:
        The book's header.

    Raises:
        DamagedBook: The file is damaged. The message says where.
        ForeignBook: The book was made with other rules.
    """
    with Book(path, game) as book:
        for _ in checked_groups(book, progress):
            pass
        return book.header


def checked_segments(book: Book) -> Iterator[bytes]:
    """The segments' records in order; by the end pages, all checksums and the digest were checked.

    Raises DamagedBook. The groups inside the segments are not looked at.
    """
    from lmdb.verify import VerifyError, verify

    # LMDB's own structure, the first pages of the segments and the list of free pages included
    try:
        faults = verify(str(book.path), subdir=False)  # type: ignore[no-untyped-call]
    except (VerifyError, OSError) as error:
        raise DamagedBook(f"{book.path}: {error}") from None
    if faults:
        raise DamagedBook(f"{book.path}: {faults[0]}: fetch or solve the book again")
    directory = book.directory
    digest = hashlib.sha256()
    number = 0
    with pages.open_file(book.path) as file:
        for key, offset, size in pages.records(file):
            if key == HEADER_KEY:
                continue
            record = pages.read(file, size, offset)
            digest.update(key)
            digest.update(record)
            if len(key) == 8:
                if int.from_bytes(key, "big") != number or number == len(directory):
                    raise DamagedBook(f"{book.path}: segment {number} is missing: fetch or solve the book again")
                segment_of(book.path, book.header, number, directory[number], memoryview(record))
                number += 1
                yield record
            elif key[:-4] not in (DIRECTORY_KEY, GAME_KEY, PALETTE_KEY):
                raise DamagedBook(f"{book.path} has a record that is none of a book: fetch or solve the book again")
    if number != len(directory):
        raise DamagedBook(f"{book.path}: segment {number} is missing: fetch or solve the book again")
    if digest.hexdigest() != book.header.digest:
        raise DamagedBook(
            f"{book.path} has digest {digest.hexdigest()[:16]}, its header says {book.header.digest[:16]}"
        )


def check_tally(book: Book, stored: int, numbers: Sequence[int], examples: Sequence[int]) -> None:
    """Compare with the header how many states have each value of the palette, and the smallest of them."""
    header = book.header
    if stored != header.stored:
        raise DamagedBook(f"{book.path} stores {stored:,} states, its header says {header.stored:,}")
    if min(numbers, default=1) < 1 or (header.numbers is not None and list(numbers) != header.numbers):
        raise DamagedBook(f"{book.path} has other numbers of states of a value than its header says: solve again")
    if header.longest is not None:
        example = max(
            (value.distance, palette_index) for palette_index, value in enumerate(header.palette) if value.is_win
        )
        if examples[example[1]] != header.longest[1]:
            raise DamagedBook(
                f"{book.path}: its header says that {header.longest[1]} is the first of the longest wins,"
                f" that is {examples[example[1]]}: solve again"
            )


def check_counts(book: Book, counted: list[TierCount]) -> None:
    """Compare all states that were met, by tier if the header lists tiers, with the header of a whole game."""
    header = book.header
    stated_tiers = header.tiers or [TierCount(0, header.states or 0, header.terminal or 0, *header.counts.values())]
    for tier, counts in zip(stated_tiers, counted, strict=True):
        if tier != counts:
            raise DamagedBook(
                f"{book.path}: its header counts {tuple(tier)} as tier, states, terminal, wins, draws and losses, these"
                f" are {tuple(counts)}: solve again"
            )


def checked_groups(book: Book, progress: Progress = silent) -> Iterator[tuple[list[int], list[int]]]:
    """The states and palette indices of each group; by the end all of the file was checked. Raises DamagedBook.

    The codec's keys ascend over the whole book, indices are inside the palette, counts are as the
    header says.
    """
    last_key, stored = -1, 0
    palette = len(book.header.palette)
    # Expectations are not counted
    numbers, examples = [0] * palette, [0] * palette
    for record in checked_segments(book):
        for keys, places in groups_of(book.header, record):
            if keys[0] <= last_key or any(key >= after for key, after in zip(keys, keys[1:], strict=False)):
                raise DamagedBook(f"{book.path}: states are not ascending at {keys[0]}")
            states, indices = book.of_keys(keys, places)
            for state, index in zip(states, indices, strict=True) if palette else ():
                if not numbers[index] or state < examples[index]:
                    examples[index] = state
                numbers[index] += 1
            last_key, stored = keys[-1], stored + len(states)
            yield states, indices
        progress("check", stored, book.header.stored)
    check_tally(book, stored, numbers, examples)
