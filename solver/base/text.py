"""Text as people have it: every file or stream of text that a user hands over is read here.

The text is UTF-8, or UTF-16 or UTF-32 if it begins with a byte-order mark or, for UTF-16, has a zero byte in its
first character. Byte-order marks are skipped, wherever a line begins. Lines end in LF, CRLF or CR.

Numbers are checked as text before they are made, exactly: 1e999999999 fills any memory.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import Any, BinaryIO

from solver.base.errors import excerpt
from solver.base.files import open_input, read_input

MOST_FILE = 1 << 34  # bytes
MOST_LINE = 1 << 20  # bytes; of a row of a table, which may have several lines, characters
READ_BYTES = 1 << 16  # bytes read at once
MARKS = {  # UTF-32's little-endian mark begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
BYTE_ORDER_MARK = "\ufeff"  # which also begins lines where files were joined
NEWLINE = "\n"
PARTS = {mark[:length] for mark in MARKS for length in range(1, len(mark))}  # after which the rest is waited for
NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,20}(?:/[0-9]{1,18}|\.[0-9]{0,18})?|\.[0-9]{1,18})(?:(?<!/)[eE][+-]?[0-9]{1,2})?", re.ASCII
)
FORM = "2, 0.6 or 1/3, of at most 20 digits, 18 behind the point and two of an exponent"


class TextError(ValueError):
    """A text is not readable, or has a line without an end in sight. The message begins with the line's number."""


def read_text(path: str | os.PathLike[str], max_bytes: int) -> str:
    """Return the text of a file of at most so many bytes.

    Raises:
        OSError: The file cannot be read. `strerror` says why.
        TextError: The file is not a text. The message names the line.
    """
    return "".join(_arriving(io.BytesIO(read_input(path, max_bytes)), "strict")).lstrip(BYTE_ORDER_MARK)


def file_lines(path: str | os.PathLike[str], max_bytes: int = MOST_FILE) -> Iterator[str]:
    """Yield the lines of a file of at most so many bytes, without their ends.

    Raises as `read_text` does, when it comes to the fault.
    """
    with open_input(path, max_bytes) as file:
        yield from text_lines(file)


def table_rows(lines: Iterable[str], delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the number of its last line.

    Raises:
        TextError: Quotes do not match, or a row or a field has no end in sight. The message names the line.
    """
    size = 0

    def counted() -> Iterator[str]:
        nonlocal size
        for number, line in enumerate(lines, 1):
            size += len(line)
            if size > MOST_LINE:
                raise TextError(f"line {number}: a row of more than {MOST_LINE:,} characters: close the quotes")
            yield f"{line}\n"

    rows = csv.reader(counted(), delimiter=delimiter, strict=True)
    try:
        for row in rows:
            yield rows.line_num, row
            size = 0
    except csv.Error:
        reason = f"quotes that do not match, or {csv.field_size_limit():,} characters in a field: fix them"
        raise TextError(f"line {rows.line_num}: {reason}") from None


def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, an `object_pairs_hook`. Raises ValueError where a name comes twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has {excerpt(name)} twice: leave one out")
    return fields


def text_lines(stream: BinaryIO, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a stream, without their ends: each as soon as it has arrived.

    Args:
        stream: A file, or standard input, as bytes.
        errors: What becomes of bytes that are not text, as in `bytes.decode`.

    Raises:
        TextError: A line is too long, or no text and `errors` is "strict". The message names the line.
    """
    for lines in waiting_lines(stream, errors):
        yield from lines


def waiting_lines(stream: BinaryIO, errors: str = "strict") -> Iterator[list[str]]:
    """Yield all lines that have arrived, then those that have arrived meanwhile. Raises as `text_lines` does."""
    begun, number = "", 1
    for text in _arriving(stream, errors):
        text = begun + text
        *lines, begun = text.split(NEWLINE)
        # Any other line is shorter than a block
        if len(lines[0] if lines else begun) > MOST_LINE:
            raise TextError(f"line {number}: it has more than {MOST_LINE:,} bytes: write one a line")
        number += len(lines)
        if lines:
            yield [line.lstrip(BYTE_ORDER_MARK) for line in lines] if BYTE_ORDER_MARK in text else lines
    if begun:
        yield [begun.lstrip(BYTE_ORDER_MARK)]


def exact(text: str) -> Fraction | None:
    """Return a decimal or p/q exactly; None for a text of any other form (`FORM`)."""
    if not NUMBER.fullmatch(text):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):  # 1/3e5, 1/0
        return None


def whole_weights(shares: Iterable[Fraction], limit: int) -> list[int] | None:
    """Return shares above 0 times their common denominator; None where these add up to more than `limit`.

    Stops as soon as the sum is certain to exceed `limit`: the common denominator of many shares may have any length.
    """
    shares = list(shares)
    common, least = 1, min((share.denominator for share in shares), default=1)
    for share in shares:
        common = lcm(common, share.denominator)
        if common // least > limit:
            return None
    weights = [share.numerator * (common // share.denominator) for share in shares]
    return weights if sum(weights) <= limit else None


def _arriving(stream: BinaryIO, errors: str) -> Iterator[str]:
    """Yield the text of a stream as it arrives, without a mark at its start, with LF at the end of each line.

    Raises TextError for bytes that are not text.
    """
    head = stream.read1(READ_BYTES)  # type: ignore[attr-defined]
    while head in PARTS and (block := stream.read1(READ_BYTES)):  # type: ignore[attr-defined]
        head += block
    mark = next(filter(head.startswith, MARKS), b"")
    encoding = MARKS.get(mark, "utf-8")
    if not mark and len(head) > 1 and (head[0] == 0) != (head[1] == 0):
        encoding = "utf-16-be" if head[0] == 0 else "utf-16-le"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    chunk, number, ends_in_return = head[len(mark) :], 1, False
    while True:
        try:
            text = decoder.decode(chunk, final=not head)
        except UnicodeDecodeError as error:
            before = _with_newlines(error.object[: error.start].decode(encoding, "replace"))
            raise TextError(
                f"line {number + before.count(NEWLINE)}: not UTF-8 or UTF-16: save the file as UTF-8"
            ) from None
        # The text before had the line already
        if ends_in_return:
            text = text.removeprefix(NEWLINE)
        if text:
            ends_in_return = text.endswith("\r")
            text = _with_newlines(text)
            number += text.count(NEWLINE)
            yield text
        if not head:
            return
        chunk = head = stream.read1(READ_BYTES)  # type: ignore[attr-defined]


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", NEWLINE).replace("\r", NEWLINE)
