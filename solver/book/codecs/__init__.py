"""Codecs: how the states of a group and their values are encoded, one module each; all else is the same in every book.

States are known by keys: themselves, or in `ranked` their ranks, which `solver.book.ranking` asks the rules for. Values
are known by their places in the header's palette, or in `fixed`, of games of chance, by numbers of steps.

A codec is a module with
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
                                    Not of `ranked`, whose states are looked up one by one
    decode(body, first, index_bytes)
                                    the keys and palette indices of a group; raises DamagedBook
"""

from __future__ import annotations

from typing import Any

from solver.book.codecs import compact, fixed, instant, ranked
from solver.book.codecs.compact import OFTEN_WRONG

DEFAULT = instant.NAME
CHOICES = (instant.NAME, compact.NAME, ranked.NAME)  # of games without chance, whose books are all `fixed`
CODECS: dict[str, Any] = {codec.NAME: codec for codec in (instant, compact, ranked, fixed)}

__all__ = ["CHOICES", "CODECS", "DEFAULT", "OFTEN_WRONG", "compact", "fixed", "instant", "ranked"]
