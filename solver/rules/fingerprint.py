"""The fingerprint of a game's rules: which source, which data and which parameters made a book or a compiled kernel.

It is a sha256 over the parameters and over the source of every method and helper that can change a value, without
comments, docstrings and layout, and over the data that they name, by content. So a comment, a nicer `show` or another
Python version leaves books valid, and an edited rule, an edited constant or another board does not.

`walk` finds the texts. It takes some milliseconds and many imports, so `make tables` writes the texts of the package's
games to `games/fingerprints.jsonl`, each with the sha256 of every file that the game's module imports. While those
files are the same, no import can have changed what the rules mean, and nobody walks. A user's rules, parameters that
are not plain values, and fingerprints over more methods are always walked. What a program changes in a class of the
package while it runs is not noticed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pkgutil
import sys
from typing import Any, NamedTuple

from solver.base.errors import ForeignBook, shortened
from solver.rules.loading import is_plain
from solver.rules.width import USUAL, bits_of

TABLE = "fingerprints.jsonl"  # in the folder of the games: a line for each class


def fingerprint(game: Any, also: tuple[str, ...] = ()) -> str:
    """64 hex digits that differ where the rules (and the methods `also`) or the parameters do.

    Raises GameError if the source is not at hand, or if the rules name data whose content cannot be told.
    """
    parameters, named = told(game, also)
    pieces = [parameters, str(bool(getattr(game, "score_game", False)))]
    pieces += [f"{name}: {named[name]}" for name in sorted(named)]
    if counts_everywhere(game):
        pieces.append("everywhere")
    if bits_of(game) != USUAL:
        pieces.append(f"bits: {bits_of(game)}")
    return hashlib.sha256("\n".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()


class Origin(NamedTuple):
    """The game that something was made for, and the fingerprint of its rules."""

    game: str
    rules: str

    def __str__(self) -> str:
        return f"{shortened(self.rules[:8])} ({shortened(self.game)})"


def check_origin(subject: str, made_by: Origin, wanted: Origin, remedy: str, other_text: str = "these are") -> None:
    """Raise ForeignBook, which names both games, unless two things that go together are of the same rules.

    Args:
        subject: the one that is refused: a file's name, "the teacher".
        made_by: its game and rules.
        wanted: those of its counterpart.
        remedy: the advice behind the colon.
        other_text: the words before `wanted`.
    """
    if made_by.rules != wanted.rules:
        raise ForeignBook(f"{subject} was made by rules {made_by}, {other_text} {wanted}: {remedy}")


def counts_everywhere(game: Any) -> bool:
    """Whether all positions of a game's `tables` are starts, or just those that it names."""
    return bool(getattr(game, "everywhere", False))


def told(game: Any, also: tuple[str, ...] = ()) -> tuple[str, dict[str, str]]:
    """Return a text for the parameters, and the texts that a fingerprint covers, by name. Raises as `fingerprint`."""
    cls: Any = type(game)
    values = tuple(game)
    names = (("symmetries", "tables") if counts_everywhere(game) else ()) + also
    tabled = None if names or not is_plain(values) else _tabled(cls)
    if tabled is not None:
        return repr(values), tabled
    from solver.rules import walk

    return walk.told(cls, values, names)


@functools.cache
def _tabled(cls: type) -> dict[str, str] | None:
    """The texts that `make tables` wrote for a class of the package; None if it has none, or a file is another now."""
    if getattr(sys.modules.get(cls.__module__), cls.__name__, None) is not cls:
        return None
    try:
        table = _data(TABLE)
        begin = table.index(f'{{"class": "{cls.__module__}.{cls.__name__}"'.encode())
        line = json.loads(table[begin : table.index(b"\n", begin)])
        if all(hashlib.sha256(_data(file)).hexdigest() == digest for file, digest in line["files"].items()):
            return dict(line["texts"])
    except (OSError, ValueError):
        # Frozen without its source, or a class that has no line
        pass
    return None


def _data(file: str) -> bytes:
    """A file in the folder of the games, which may lie in an archive, with the line ends of Unix."""
    return (pkgutil.get_data("solver.games", file) or b"").replace(b"\r\n", b"\n")
