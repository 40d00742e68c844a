"""Text as people have it: every file or stream of text that a user hands over is read here.

The text is UTF-8, or UTF-16 or UTF-32 if it begins with a byte-order mark or, for UTF-16, has a zero byte in its
first character. Byte-order marks are skipped, wherever a line begins. Lines end in LF, CRLF or CR.

`shown` makes such text fit to be shown.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from solver.base.files import open_input, read_input
from solver.base.shown import excerpt

MOST_FILE = 1 << 34  # bytes
MOST_LINE = 1 << 20  # bytes; of a row of a table, which may have several lines, characters
BLOCK = 1 << 16  # bytes read at once
MARKS = {  # UTF-32's little-endian mark begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MARK = "\ufeff"  # which also begins lines where files were joined
NO_TEXT = b"\xff"  # a byte that UTF-8 never has
PARTS = {mark[:length] for mark in MARKS for length in range(1, len(mark))}  # after which the rest is waited for


class TextError(ValueError):
    """What is no text, or has a line without an end in sight. The message begins with the line's number."""


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """Return the text of a file of at most so many bytes.

    Raises:
        OSError: The file cannot be read. `strerror` says why.
        TextError: The file is no text. The message names the line.
    """
    data = read_input(path, most)
    mark, encoding = _encoding(data)
    try:
        text = data[mark:].decode(encoding)
    except UnicodeDecodeError as error:
        before = data[mark : mark + error.start].decode(encoding, "replace")
        raise _no_text(1 + _with_newlines(before).count("\n")) from None
    return _with_newlines(text.lstrip(MARK))


def file_lines(path: str | os.PathLike[str], most: int = MOST_FILE) -> Iterator[str]:
    """Yield the lines of a file of at most so many bytes, without their ends.

    Raises as `read_text` does, when it comes to the fault.
    """
    with open_input(path, most) as file:
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
        reason = f"quotes that do not match, or {csv.field_size_limit():,} characters in a field: mend them"
        raise TextError(f"line {rows.line_num}: {reason}") from None


def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, an `object_pairs_hook`. Raises ValueError where a name comes twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"an object has {excerpt(name)} twice: leave one out")
            seen.add(name)
    return fields


def text_lines(stream: BinaryIO, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a stream, without their ends: each as soon as it has arrived.

    Args:
        stream: A file, or standard input, as bytes.
        errors: What becomes of bytes that are no text, as in `bytes.decode`.

    Raises:
        TextError: A line is too long, or no text and `errors` is "strict". The message names the line.
    """
    for lines in waiting_lines(stream, errors):
        yield from lines


def waiting_lines(stream: BinaryIO, errors: str = "strict") -> Iterator[list[str]]:
    """Yield all lines that have arrived, then those that have arrived meanwhile. Raises as `text_lines` does."""
    number = 1
    for block in _line_blocks(_in_utf8(stream)):
        try:
            text = block.decode(errors=errors)
        except UnicodeDecodeError as error:
            raise _no_text(number + block.count(b"\n", 0, error.start)) from None
        lines = text.split("\n")
        yield [line.lstrip(MARK) for line in lines] if MARK in text else lines
        number += len(lines)


def _encoding(head: bytes) -> tuple[int, str]:
    """The length of the byte-order mark that a text begins with, and its encoding."""
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return len(mark), encoding
    if len(head) > 1 and (head[0] == 0) != (head[1] == 0):
        return 0, "utf-16-be" if head[0] == 0 else "utf-16-le"
    return 0, "utf-8"


def _in_utf8(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes of a stream in UTF-8, without a mark, as they arrive."""
    head = stream.read1(BLOCK)  # type: ignore[attr-defined]
    while head in PARTS and (more := stream.read1(BLOCK)):  # type: ignore[attr-defined]
        head += more
    mark, encoding = _encoding(head)
    chunk = head[mark:]
    if encoding == "utf-8":
        while chunk or head:
            yield chunk
            chunk = head = stream.read1(BLOCK)  # type: ignore[attr-defined]
        return
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    try:
        while head:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
            chunk = head = stream.read1(BLOCK)  # type: ignore[attr-defined]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        yield NO_TEXT


def _line_blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines that each chunk completes, with LF between them, and the last, which may have no end.

    Raises TextError for a line that is too long.
    """
    begun, number, ends_in_return = b"", 1, False
    for chunk in filter(None, chunks):
        if ends_in_return and chunk[:1] == b"\n":  # the chunk before had the line already
            chunk = chunk[1:]
        ends_in_return = chunk[-1:] == b"\r"
        first, end, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").partition(b"\n")
        begun += first
        if len(begun) > MOST_LINE:  # any other line is shorter than a chunk
            raise TextError(f"line {number}: it has more than {MOST_LINE:,} bytes: write one a line")
        if not end:
            continue
        middle, end, rest = rest.rpartition(b"\n")
        block = begun + b"\n" + middle if end else begun
        yield block
        begun, number = rest, number + 1 + block.count(b"\n")
    if begun:
        yield begun


def _no_text(number: int) -> TextError:
    return TextError(f"line {number}: no text in UTF-8 or UTF-16: save the file as UTF-8")


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
