"""Codecs: how the states of a group and their values are encoded, one module each; all else is the same in every book.

States are known by keys: themselves, or in `ranked` their ranks, for which the rules are asked. Values
are known by their places in the header's palette, or in `fixed`, of games of chance, by numbers of steps.

A codec is a module with a `codec.Codec`, and its line in the table below. Nobody else knows a codec by its name.
"""

from __future__ import annotations

from solver.base.errors import BookError
from solver.book.codecs import compact, fixed, instant, ranked, wide
from solver.book.codecs.codec import Codec
from solver.book.codecs.compact import OFTEN_WRONG
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Game, Rules
from solver.rules.width import USUAL

CODECS: dict[str, Codec] = {module.CODEC.name: module.CODEC for module in (instant, compact, ranked, fixed, wide)}
DEFAULT = instant.CODEC.name
CHOICES = {name: codec.about for name, codec in CODECS.items() if codec.about}

__all__ = ["CHOICES", "CODECS", "DEFAULT", "OFTEN_WRONG", "Codec", "check_codec", "codec_of", "rules_of"]


def codec_of(rules: Rules, requested: str | None) -> str:
    """Return the codec of a game's books: the one that you ask for, or the only one that takes the game."""
    if rules.kind.is_stepped:
        return fixed.CODEC.name
    return requested or (wide.CODEC.name if rules.bits > USUAL else DEFAULT)


def rules_of(game: Game, codec: str) -> str:
    """The fingerprint of the rules that a book in this codec depends on: of those that solved it, and find its keys."""
    return fingerprint(game, CODECS[codec].keys.ASKED)


def check_codec(name: str, rules: Rules | None = None, scope: str = "") -> None:
    """Raise BookError for a codec that there is not, or that does not go with the rules, or so few of their states."""
    if name not in CODECS:
        raise BookError(f"no codec {name!r}: choose one of {', '.join(CODECS)}")
    if rules is not None:
        CODECS[name].keys.check(rules, scope)
