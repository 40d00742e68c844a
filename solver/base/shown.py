"""Text of strangers, fit to be shown: it moves no cursor, retitles no window, turns no line round, fills no screen."""

from __future__ import annotations

import reprlib
import unicodedata

MOST_SHOWN = 200  # characters of anything that came from a file


def printable(text: str, kept: str = "") -> str:
    r"""Escape what a terminal would obey rather than print: controls, marks of direction, halves of characters.

    Args:
        text: Anything. Letters of all scripts, symbols and spaces stay as they are.
        kept: Further characters that stay, such as "\n" for a board of several rows.

    Returns:
        The text with escapes as Python writes them: `\x1b`, `\u202e`.
    """
    if text.isprintable():
        return text
    return "".join(sign if _is_safe(sign) or sign in kept else _escaped(sign) for sign in text)


def excerpt(value: object, most: int = 40) -> str:
    """Return the beginning of a value as a message shows it: in quotes, escaped, of so many characters.

    Lists and objects of any depth and length cost no more than what is shown of them.
    """
    if isinstance(value, str):
        return repr(value if len(value) <= most else f"{value[: most - 3]}...")
    text = _SHORT.repr(value)
    return printable(text if len(text) <= most else f"{text[: most - 3]}...")


class _Short(reprlib.Repr):
    """`reprlib` never looks deeper or further than what it shows; a number of any length is not written out."""

    def repr_int(self, number: int, level: int) -> str:
        return repr(number) if number.bit_length() < 1000 else f"a number of {number.bit_length():,} bits"


_SHORT = _Short()


def _is_safe(sign: str) -> bool:
    """Whether a character is shown, or is a space: of those Python calls only the usual one printable."""
    return sign.isprintable() or unicodedata.category(sign) == "Zs"


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
