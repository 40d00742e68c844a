"""Helpers of the tests of exports: books exported, and Node to read them."""

import json
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from solver.base.value import Value
from solver.book import Book
from solver.book.format import seal
from solver.export import export
from solver.rules.game import load_game
from solver.solving import pipeline

FORMAT = Path(__file__).parent.parent / "docs" / "reference" / "format.md"
VECTOR = {5: Value(1, 3), 6: Value(0), 8: Value(-1, 2), 1 << 62: Value(1, 3)}
STEPS_VECTOR = {5: Value(0.5), 6: Value(-0.25), 8: Value(0.0), 1 << 62: Value(0.5 + 2.0**-30)}
SIMPLE = ["state", "score", "distance"]

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "small.lmdb"
    pipeline.solve(load_game("hexapawn"), path).close()
    return path


def exported(source, target, columns=None):
    if target.is_file():
        # A table of values alone may be a user's, and is not replaced
        target.unlink()
    with Book(source) as book:
        export(book, target, columns)
    return target


def dump(data, begin=0):
    """Bytes in hex, 16 a line."""
    return "\n".join(data[at : at + 16].hex(" ") for at in range(begin, len(data), 16))


def node(command, *arguments, script="reader.mjs"):
    """What a command of a script in this folder says."""
    words = ["node", Path(__file__).with_name(script), command, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def with_facts(data, changes):
    """An exported book with other facts, or other bytes for them, all checksums right."""
    size, values, segments = struct.unpack_from("<3I", data, 40)
    entry = 8 + (struct.unpack_from("<I", data, 56)[0] or 8)
    facts = changes
    if not isinstance(changes, bytes):
        facts = json.dumps({**json.loads(data[68 : 64 + size]), **changes}).encode()
    book_id, more = data[32:40], len(facts) + 4 - size
    palette = data[64 + size : 68 + size + 16 * values]
    end = 72 + size + 16 * values + entry * segments
    directory = bytearray(data[72 + size + 16 * values : end])
    for at in range(entry - 8, len(directory), entry):
        struct.pack_into("<Q", directory, at, struct.unpack_from("<Q", directory, at)[0] + more)
    prefix = bytearray(data[:60])
    struct.pack_into("<Q", prefix, 16, len(data) + more)
    struct.pack_into("<I", prefix, 40, len(facts) + 4)
    head = bytes(prefix) + struct.pack("<I", zlib.crc32(prefix))
    return head + seal(book_id, 0, facts) + palette + seal(book_id, 2, bytes(directory)) + data[end:]


def with_size(data, size):
    """An exported book that says of itself that it has so many bytes."""
    prefix = data[:16] + struct.pack("<Q", size) + data[24:60]
    return prefix + struct.pack("<I", zlib.crc32(prefix)) + data[64:]


def read_by_node(folder, copies):
    """How often opening and reading the copies of a file ends with which error, or "read"."""
    (folder / "copies").write_bytes(b"".join(struct.pack("<I", len(copy)) + copy for copy in copies))
    return node("forged", folder / "copies", '{"states": []}')


def with_values(data, *values):
    """An exported book with another palette, as many values as before: score and distance; all checksums right."""
    size = struct.unpack_from("<I", data, 40)[0]
    begin, end = 64 + size, 68 + size + 16 * len(values)
    packed = b"".join(struct.pack("<dq" if type(score) is float else "<qq", score, more) for score, more in values)
    return data[:begin] + seal(data[32:40], 1, packed) + data[end:]


def resealed(data, chance):
    """Some bytes altered, all checksums mended."""
    copy = bytearray(data)
    facts, values, segments = struct.unpack_from("<3I", data, 40)
    entry = 8 + (struct.unpack_from("<I", data, 56)[0] or 8)
    ends = [64, 64 + facts, 68 + facts + 16 * values, 72 + facts + 16 * values + entry * segments, len(data)]
    part = chance.choice((0, 2 if values else 1, 3, 4, 4, 4))  # a book of expectations has no palette
    begin, end = (8, 60) if part == 0 else (ends[part - 1] + 4, ends[part])
    for _ in range(chance.randrange(1, 3)):
        copy[chance.randrange(begin, end)] = chance.randrange(256)
    for number, (begin, end) in zip((0, 1, 2, 0), zip(ends, ends[1:], strict=False), strict=True):
        copy[begin:end] = seal(bytes(copy[32:40]), number, bytes(copy[begin + 4 : end]))
    copy[60:64] = struct.pack("<I", zlib.crc32(copy[:60]))
    return bytes(copy)
