"""Text of strangers, fit to be shown: it moves no cursor, retitles no window, turns no line round, fills no screen."""

from __future__ import annotations

import reprlib
import unicodedata

MOST_SHOWN = 200  # characters of anything that came from a file
MOST_MESSAGE = 1000  # characters of a whole message, paths included
REASONS = {  # of what reading damaged data raises, in our words; a kind goes before those that it is derived from
    "json.decoder.JSONDecodeError": "no JSON",
    "UnicodeError": "not UTF-8",
    "RecursionError": "nested too deep",
    "OverflowError": "a number out of range",
    "LookupError": "a part is missing",
    "TypeError": "a part of another kind",
    "AttributeError": "a part of another kind",
    "struct.error": "a part ends early",
    "zlib.error": "a part cannot be inflated",
}
OF_PYTHON = (  # how Python's own ValueErrors begin
    *("Exceeds the limit", "invalid literal", "not enough values", "too many values", "could not convert", "embedded"),
    *("dictionary update", "cannot ", "bytes must be", "zip() argument", "byte must be", "negative ", "Unpack"),
)


def printable(text: str, kept: str = "") -> str:
    r"""Escape characters that a terminal obeys rather than prints: controls, direction marks, halves of characters.

    Args:
        text: Anything. Letters of all scripts, symbols and spaces stay as they are.
        kept: Further characters that stay, such as "\n" for a board of several rows.

    Returns:
        The text with escapes as Python writes them: `\x1b`, `\u202e`.
    """
    if text.isprintable():
        return text
    return "".join(sign if _is_safe(sign) or sign in kept else sign.encode("unicode_escape").decode() for sign in text)


def shortened(text: str, limit: int = MOST_SHOWN) -> str:
    """Return the beginning of a text, escaped, of so many characters."""
    text = printable(text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def message(text: str) -> str:
    """Return a text as the one line that an error is: escaped, and without its middle if it is long."""
    if not text.isprintable():
        text = printable(" ".join(text.split()))
    if len(text) > MOST_MESSAGE:
        text = f"{text[: MOST_MESSAGE - MOST_SHOWN - 5]} ... {text[-MOST_SHOWN:]}"
    return text


def reason(error: BaseException) -> str:
    """Return why data cannot be read, in our words: Python's speak of its types and of its settings."""
    for kind in type(error).__mro__:
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        if name in REASONS:
            return REASONS[name]
    text = str(error)
    return "a number or text of another form" if not text or text.startswith(OF_PYTHON) else shortened(text)


def excerpt(value: object, limit: int = 40) -> str:
    """Return the beginning of a value as a message shows it: in quotes, escaped, of so many characters.

    Lists and objects of any depth and length cost no more than the part that is shown.
    """
    if isinstance(value, str):
        return shortened(repr(value if len(value) <= limit else f"{value[: limit - 3]}..."))
    return shortened(_SHORT.repr(value), limit)


class _Short(reprlib.Repr):
    """`reprlib` never looks deeper or further than it shows; a number of any length is not written out."""

    def repr_int(self, number: int, level: int) -> str:
        return repr(number) if number.bit_length() < 1000 else f"a number of {number.bit_length():,} bits"


_SHORT = _Short()


def _is_safe(sign: str) -> bool:
    """Whether a character is shown, or is a space: of those Python calls only the usual one printable."""
    return sign.isprintable() or unicodedata.category(sign) == "Zs"
