"""Codecs: how the states of a group and their values are encoded, one module each; all else is the same in every book.

States are known by keys: themselves, or in `ranked` their ranks, for which the rules are asked. Values
are known by their places in the header's palette, or in `fixed`, of games of chance, by numbers of steps.

A codec is a module with
    KEYS                            what it knows states by, if not themselves: a class like `keys.States`
    NAME, NUMBER                    of the codec, in the header and in the head of each segment
    GROUP, GROUPS                   the most states to a group, and groups to a segment
    BLOCK                           states after which a group ends, whatever it holds: parts are multiples of it
    bound(count, index_bytes)       an upper bound of the bytes that count states take
    encode_chunk(keys, indices, palette_size, index_bytes)
                                    ascending keys and their palette indices: the groups, the states and the bytes
                                    of each
    finder()                        for one file, find(segment, key): the palette index of a key, or None; a
                                    damaged group may raise any of OFTEN_WRONG
    find_all(segment, keys, found, compiled)
                                    the palette indices of ascending keys in a segment, or -1, written to `found`:
                                    all arrays, `compiled(function, *helpers)` compiles; raises one of OFTEN_WRONG.
                                    Without it, or where KEYS ask the rules, states are looked up one by one
    decode(body, first, index_bytes)
                                    the keys and palette indices of a group; raises DamagedBook
    decode_all(segment, keys, indices, compiled)
                                    those of a segment, ascending or not, written: how many, or -1 where they do not fit
                                    together; or raises DamagedBook. Not where KEYS ask the rules; without it groups
                                    are decoded one by one
"""

from __future__ import annotations

from typing import Any

from solver.base.errors import BookError
from solver.book.codecs import compact, fixed, instant, ranked, wide
from solver.book.codecs.compact import OFTEN_WRONG
from solver.book.codecs.keys import States
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Game, Rules
from solver.rules.width import USUAL

DEFAULT = instant.NAME
CHOICES = (instant.NAME, compact.NAME, ranked.NAME)  # of games without chance, whose books are all `fixed`
CODECS: dict[str, Any] = {codec.NAME: codec for codec in (instant, compact, ranked, fixed, wide)}

__all__ = ["CHOICES", "CODECS", "DEFAULT", "OFTEN_WRONG", "check_codec", "codec_of", "keys_of", "rules_of"]


def codec_of(rules: Rules, asked: str | None) -> str:
    """The codec of a game's books: the one that is asked for, or the only one that takes the game."""
    return rules.kind.codec or asked or (wide.NAME if rules.bits > USUAL else DEFAULT)


def keys_of(codec: str) -> type[States]:
    """What a codec knows states by."""
    kind: type[States] = getattr(CODECS[codec], "KEYS", States)
    return kind


def rules_of(game: Game, codec: str) -> str:
    """The fingerprint of the rules that a book in this codec depends on: of those that solved it, and find its keys."""
    return fingerprint(game, keys_of(codec).ASKED)


def check_codec(name: str, rules: Rules | None = None, scope: str = "") -> None:
    """Raise BookError for a codec that there is not, or that does not go with the rules, or so few of their states."""
    if name not in CODECS:
        raise BookError(f"no codec {name!r}: choose one of {', '.join(CODECS)}")
    if rules is not None:
        keys_of(name).check(rules, scope)
