"""The bytes of a module: sections, and what is made of the object that LLVM writes (WebAssembly Core Specification 2.0,
chapter 5; the object's conventions: WebAssembly tool-conventions, Linking.md).

An object of one tree of functions is a module already, but that it takes its memory and its stack pointer from a
linker, and exports nothing. So no linker is needed: `finished` writes those sections anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from solver.base.errors import DamagedBook, MethodError

MAGIC = b"\0asm\1\0\0\0"
CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, CODE, DATA, DATA_COUNT = range(13)
ORDER = (TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, DATA_COUNT, CODE, DATA, CUSTOM)
OF_FUNCTION, OF_TABLE, OF_MEMORY, OF_GLOBAL = range(4)  # kinds of imports and exports
SYMBOLS = 8  # the part of the object's `linking` section
UNDEFINED, EXPLICIT_NAME = 0x10, 0x40  # flags of a symbol
I32, MUTABLE, I32_CONST, END = 0x7F, 1, 0x41, 0x0B
FACTS = "solver"  # the custom section that says what the module is
SEAL, SEAL_BYTES = "seal", 32  # the last one
OURS = {TYPE, FUNCTION, MEMORY, GLOBAL, EXPORT, CODE, DATA, DATA_COUNT, CUSTOM}  # the sections that `finished` writes
# limits of what is compiled at all; our largest module has 34 KB and 26 functions
MOST_BYTES, MOST_FUNCTIONS = 1 << 18, 1000
MOST_BITS = 70  # of a LEB128 number: ten bytes


class Reader:
    """Numbers and names from bytes, one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """An unsigned LEB128 number. Raises ValueError where it has more than ten bytes."""
        result = 0
        for shift in range(0, MOST_BITS, 7):
            byte = self.byte()
            result |= (byte & 127) << shift
            if byte < 128:
                return result
        raise ValueError("a number of more than ten bytes")

    def take(self, size: int) -> bytes:
        """So many bytes. Raises ValueError where there are fewer."""
        self.at += size
        if self.at > len(self.data):
            raise ValueError("the module ends too early")
        return self.data[self.at - size : self.at]

    def name(self) -> str:
        """A name of UTF-8."""
        return self.take(self.number()).decode()

    def __bool__(self) -> bool:
        return self.at < len(self.data)


def number(value: int) -> bytes:
    """An unsigned LEB128 number."""
    result = b""
    while value > 127:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def signed(value: int) -> bytes:
    """A signed LEB128 number."""
    result = b""
    while not -64 <= value < 64:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value & 127])


def text(name: str) -> bytes:
    """A name, behind its length."""
    return number(len(name.encode())) + name.encode()


def vector(items: Sequence[bytes]) -> bytes:
    """Items, behind their number."""
    return number(len(items)) + b"".join(items)


def sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the contents of each section. Raises IndexError, ValueError for what is no module."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("no module of WebAssembly 1.0")
    reader = Reader(data)
    reader.take(len(MAGIC))
    while reader:
        kind = reader.byte()
        yield kind, reader.take(reader.number())


def joined(parts: Mapping[int, bytes]) -> bytes:
    """A module of these sections."""
    return MAGIC + b"".join(bytes([kind]) + number(len(parts[kind])) + parts[kind] for kind in ORDER if kind in parts)


class _Import(NamedTuple):
    name: str
    kind: int


def _imports(contents: bytes) -> list[_Import]:
    reader, found = Reader(contents), []
    for _ in range(reader.number()):
        reader.name()
        found.append(_Import(reader.name(), kind := reader.byte()))
        if kind == OF_FUNCTION:
            reader.number()
        elif kind == OF_GLOBAL:
            reader.take(2)
        else:
            if kind == OF_TABLE:
                reader.byte()
            limits = reader.byte()
            reader.number()
            if limits & 1:
                reader.number()
    return found


def _functions(linking: bytes) -> dict[str, int]:
    """The numbers of the functions that an object defines, by their names."""
    reader, found = Reader(linking), {}
    reader.number()
    while reader:
        part, contents = reader.byte(), Reader(reader.take(reader.number()))
        if part != SYMBOLS:
            continue
        for _ in range(contents.number()):
            kind, flags = contents.byte(), contents.number()
            if kind == 1:  # data
                contents.name()
                if not flags & UNDEFINED:
                    contents.number(), contents.number(), contents.number()
                continue
            place = contents.number()
            if kind != 3 and (not flags & UNDEFINED or flags & EXPLICIT_NAME):
                name = contents.name()
                if kind == 0 and not flags & UNDEFINED:
                    found[name] = place
    return found


def wanted(compiled: bytes) -> list[str]:
    """The functions of others that an object calls, by their names."""
    parts = dict(sections(compiled))
    return [one.name for one in _imports(parts.get(IMPORT, b"\0")) if one.kind == OF_FUNCTION]


def finished(
    compiled: bytes, exports: Sequence[str], facts: Mapping[str, Any], stack: int, pages: int, most: int
) -> bytes:
    """The module of an object: it has its own memory of so many pages at first, of at most `most`, and a stack that
    grows down from `stack`; it exports that memory and the functions named, and says `facts` of itself.

    Raises MethodError where the object wants functions of a host, or is larger than hosts take.
    """
    parts, linking = {}, b""
    for kind, contents in sections(compiled):
        if kind != CUSTOM:
            parts[kind] = contents
            continue
        reader = Reader(contents)
        if reader.name() == "linking":
            linking = contents[reader.at :]
    imports = _imports(parts.pop(IMPORT, b"\0"))
    strange = [one.name for one in imports if one.name not in ("__linear_memory", "__stack_pointer")]
    if strange:
        raise MethodError(f"the rules want {', '.join(strange)}, which a module does not have")
    places = _functions(linking)
    parts[MEMORY] = vector([bytes([1]) + number(pages) + number(most)])
    if any(one.kind == OF_GLOBAL for one in imports):
        parts[GLOBAL] = vector([bytes([I32, MUTABLE, I32_CONST]) + signed(stack) + bytes([END])])
    listed = [text(name) + bytes([OF_FUNCTION]) + number(places[name]) for name in exports]
    parts[EXPORT] = vector([text("memory") + bytes([OF_MEMORY, 0]), *listed])
    parts[CUSTOM] = text(FACTS) + json.dumps(facts, separators=(",", ":"), sort_keys=True).encode()
    module = sealed(joined(parts))
    if len(module) > MOST_BYTES:
        raise MethodError(
            f"the module of {facts['game']} has {len(module):,} bytes, and hosts take {MOST_BYTES:,}: shorten its rules"
        )
    return module


def sealed(module: bytes) -> bytes:
    """A module, with the section behind it whose last bytes are the SHA-256 of all before them."""
    begun = module + bytes([CUSTOM]) + number(len(text(SEAL)) + SEAL_BYTES) + text(SEAL)
    return begun + hashlib.sha256(begun).digest()


def facts_of(data: bytes) -> dict[str, Any]:
    """Return what a module says of itself, before anything of it is compiled.

    Raises:
        DamagedBook: The bytes are altered, no module of this program's, or more than it ever writes.
    """
    if len(data) > MOST_BYTES:
        raise DamagedBook(f"the module has {len(data):,} bytes, of {MOST_BYTES:,} at most: build it again")
    with contextlib.suppress(IndexError, ValueError, RecursionError):
        if hashlib.sha256(data[:-SEAL_BYTES]).digest() == data[-SEAL_BYTES:]:
            facts = _facts_in(data)
            if facts is not None:
                return facts
    raise DamagedBook("this is not a module of `solver build`, or it is damaged: build it again")


def _facts_in(data: bytes) -> dict[str, Any] | None:
    """The facts of a module of sections such as ours; None without. Raises IndexError, ValueError, RecursionError."""
    facts: Any = None
    for kind, contents in sections(data):
        reader = Reader(contents)
        if kind not in OURS or (kind == FUNCTION and reader.number() > MOST_FUNCTIONS):
            return None
        if kind == CUSTOM and facts is None and reader.name() == FACTS:
            facts = json.loads(contents[reader.at :])
    if type(facts) is not dict or any(type(fact) not in (str, int, bool) for fact in facts.values()):
        return None
    return facts if type(facts.get("win")) is int and 0 < facts["win"] < 1 << 62 else None
