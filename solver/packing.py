"""Writing the states of a book in one codec or another: a solution's, or those of a book that is packed anew.

A book that is packed is read as critically as `verify` reads it, a segment at a time, so that what is packed is not
damaged. What it takes of memory does not depend on its size, but for ranked ones, whose states are sorted: 40 bytes
each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from solver import extras
from solver.book import Book, Header, check_codec, check_target, write_book
from solver.book.check import checked_groups
from solver.book.codecs import CODECS, ranked
from solver.book.ranking import Ranking, check_ranks, rules_of
from solver.errors import BookError, UncompiledRules
from solver.game import Game, Rules
from solver.progress import Progress, silent
from solver.solved import Part

FEW = 20_000  # states that are packed before the compiled code is loaded


def pack(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    codec: str = "compact",
    game: Game | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write the book at `path` anew, in this codec; the header as written.

    The bytes are those that `solve` would write in that codec, whatever `workers`, so a book that is packed back has
    the digest that it had. `target` may be `path`: who reads the old book keeps it. To and from `ranked` takes the
    rules: `game` for a game that is not one of the package. Raises DamagedBook, ForeignBook or BookError,
    ResourceError, and leaves `target` as it was.
    """
    check_codec(codec)
    check_target(target)
    with Book(path, game) as book:
        header, rules = book.header._replace(codec=codec), None
        if ranked.NAME in (codec, book.codec):
            rules = Rules(book.game, book.symmetry)
            header = header._replace(rules=rules_of(book.game, codec))
            check_ranked(codec, rules, book.scope)
        few = len(book) <= FEW or not extras.has_kernels() or (rules is not None and rules.plain_only)
        parts = _plainly(book, CODECS[codec].BLOCK) if few else _quickly(book)
        return write(target, header, rules, parts, few, workers, progress)


def check_ranked(codec: str, rules: Rules | None, scope: str) -> None:
    """Raise BookError if the codec is one that the rules, or so few states of a game, do not go with."""
    if codec == ranked.NAME and rules is not None:
        check_ranks(rules)
        if scope == "exact":
            raise BookError("the exact entries of a search are too few among all ranks: choose the codec compact")


def write(
    target: str | os.PathLike[str],
    header: Header,
    rules: Rules | None,
    parts: Iterable[Part],
    few: bool,
    workers: int | None,
    progress: Progress,
) -> Header:
    """Write a book of all these states, with the indices of their values; `few`, or without the kernels: plainly.

    `rules` are needed where the codec is `ranked`.
    """
    if few or not extras.has_kernels() or (header.codec == ranked.NAME and rules is not None and rules.plain_only):
        return _write_plainly(target, header, rules, parts, progress)
    from solver.parallel import Workers
    from solver.sweep import pack as encoders

    try:
        parts, encode = encoders.prepared(header, rules, parts)
    except UncompiledRules:
        return _write_plainly(target, header, rules, parts, progress)
    with Workers(workers) as team:
        return write_book(target, header, parts, encode=encode, map=team.map, progress=progress)


def _write_plainly(
    target: Any, header: Header, rules: Rules | None, parts: Iterable[Part], progress: Progress
) -> Header:
    if header.codec != ranked.NAME or rules is None:
        return write_book(target, header, parts, progress=progress)
    ranking = Ranking(rules, header)
    return write_book(target, header, ranking.parts(parts), encode=ranking.encode, progress=progress)


def _quickly(book: Book) -> Iterable[Any]:
    from solver.kernels.reading import read_parts

    return read_parts(book)


def _plainly(book: Book, block: int) -> Iterator[Part]:
    """States and indices, `block` at a time; of a ranked book all at once, sorted."""
    if book.ranking is None:
        yield from _blocks(checked_groups(book), block)
    else:
        pairs = sorted(pair for group in checked_groups(book) for pair in zip(*group, strict=True))
        yield [state for state, _ in pairs], [index for _, index in pairs]


def _blocks(parts: Iterable[Part], block: int) -> Iterator[Part]:
    """States and indices, `block` at a time."""
    states: list[int] = []
    indices: list[int] = []
    for some, places in parts:
        states += some
        indices += places
        while len(states) >= block:
            yield states[:block], indices[:block]
            states, indices = states[block:], indices[block:]
    yield states, indices
