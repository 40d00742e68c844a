"""WebAssembly modules, made of the objects that LLVM writes.

Sources: WebAssembly Core Specification 2.0, chapter 5; for the object's conventions, WebAssembly tool-conventions,
Linking.md.

An object of one tree of functions is nearly a module. It only imports its memory and its stack pointer from a linker,
and exports nothing. So no linker is needed: `finished` writes those sections anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
MAX_MODULE_BYTES, MAX_FUNCTIONS = 1 << 18, 1000
MAX_LEB128_BITS = 70  # of a LEB128 number: ten bytes


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
        for shift in range(0, MAX_LEB128_BITS, 7):
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


def number(value: int, signed: bool = False) -> bytes:
    """A LEB128 number from 0 on, of which a signed one takes a bit more."""
    result = b""
    while value > (63 if signed else 127):
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def text(name: str) -> bytes:
    """A name, behind its length."""
    return number(len(name.encode())) + name.encode()


def vector(items: Sequence[bytes]) -> bytes:
    """Items, behind their number."""
    return number(len(items)) + b"".join(items)


def sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the contents of each section. Raises IndexError or ValueError if this is not a module."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("no module of WebAssembly 1.0")
    reader = Reader(data)
    reader.take(len(MAGIC))
    while reader:
        yield reader.byte(), reader.take(reader.number())


def joined(contents_by_kind: Mapping[int, bytes]) -> bytes:
    """A module of these sections."""
    return MAGIC + b"".join(
        bytes([kind]) + number(len(contents_by_kind[kind])) + contents_by_kind[kind]
        for kind in ORDER
        if kind in contents_by_kind
    )


def _imports(contents: bytes) -> list[tuple[str, int]]:
    """The names and kinds of what an object imports."""
    reader, imports = Reader(contents), []
    for _ in range(reader.number()):
        reader.name()
        imports.append((reader.name(), kind := reader.byte()))
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
    return imports


def _functions(linking: bytes) -> dict[str, int]:
    """The numbers of the functions that an object defines, by their names."""
    reader, functions = Reader(linking), {}
    reader.number()
    while reader:
        subsection, contents = reader.byte(), Reader(reader.take(reader.number()))
        if subsection != SYMBOLS:
            continue
        for _ in range(contents.number()):
            kind, flags = contents.byte(), contents.number()
            if kind == 1:  # data
                contents.name()
                if not flags & UNDEFINED:
                    contents.number(), contents.number(), contents.number()
                continue
            index = contents.number()
            if kind != 3 and (not flags & UNDEFINED or flags & EXPLICIT_NAME):
                name = contents.name()
                if kind == 0 and not flags & UNDEFINED:
                    functions[name] = index
    return functions


def wanted(compiled: bytes) -> list[str]:
    """The functions of others that an object calls, by their names."""
    section_contents = dict(sections(compiled))
    return [name for name, kind in _imports(section_contents.get(IMPORT, b"\0")) if kind == OF_FUNCTION]


def finished(
    compiled: bytes, exports: Sequence[str], facts: Mapping[str, Any], stack: int, pages: int, max_pages: int
) -> bytes:
    """Make a WebAssembly module of a compiled object.

    It has its own memory of `pages` pages, which may grow to `max_pages`, and a stack that grows down from `stack`. It
    exports that memory and the functions in `exports`, and states `facts` in a section of its own.

    Raises MethodError where the object wants functions of a host, or is larger than hosts take.
    """
    section_contents, linking = {}, b""
    for kind, contents in sections(compiled):
        if kind != CUSTOM:
            section_contents[kind] = contents
            continue
        reader = Reader(contents)
        if reader.name() == "linking":
            linking = contents[reader.at :]
    imports = _imports(section_contents.pop(IMPORT, b"\0"))
    strange = [name for name, _ in imports if name not in ("__linear_memory", "__stack_pointer")]
    if strange:
        raise MethodError(f"the rules want {', '.join(strange)}, which a module does not have")
    places = _functions(linking)
    section_contents[MEMORY] = vector([bytes([1]) + number(pages) + number(max_pages)])
    if any(kind == OF_GLOBAL for _, kind in imports):
        section_contents[GLOBAL] = vector(
            [bytes([I32, MUTABLE, I32_CONST]) + number(stack, signed=True) + bytes([END])]
        )
    listed = [text(name) + bytes([OF_FUNCTION]) + number(places[name]) for name in exports]
    section_contents[EXPORT] = vector([text("memory") + bytes([OF_MEMORY, 0]), *listed])
    section_contents[CUSTOM] = text(FACTS) + json.dumps(facts, separators=(",", ":"), sort_keys=True).encode()
    module = sealed(joined(section_contents))
    if len(module) > MAX_MODULE_BYTES:
        raise MethodError(
            f"module of {facts['game']} has {len(module):,} bytes, hosts take {MAX_MODULE_BYTES:,}: shorten its rules"
        )
    return module


def sealed(module: bytes) -> bytes:
    """A module, with the section behind it whose last bytes are the SHA-256 of all before them."""
    begun = module + bytes([CUSTOM]) + number(len(text(SEAL)) + SEAL_BYTES) + text(SEAL)
    return begun + hashlib.sha256(begun).digest()


def facts_of(data: bytes) -> dict[str, Any]:
    """Return the facts in a module, before anything of it is compiled.

    Raises:
        DamagedBook: The bytes are altered, no module of this program's, or more than it ever writes.
    """
    if len(data) > MAX_MODULE_BYTES:
        raise DamagedBook(f"the module has {len(data):,} bytes, of {MAX_MODULE_BYTES:,} at most: build it again")
    with contextlib.suppress(IndexError, ValueError, RecursionError):
        if hashlib.sha256(data[:-SEAL_BYTES]).digest() != data[-SEAL_BYTES:]:
            raise ValueError
        facts: Any = None
        for kind, contents in sections(data):
            reader = Reader(contents)
            if kind not in OURS or (kind == FUNCTION and reader.number() > MAX_FUNCTIONS):
                raise ValueError
            if kind == CUSTOM and facts is None and reader.name() == FACTS:
                facts = json.loads(contents[reader.at :])
        if type(facts) is dict and all(type(fact) in (str, int, bool) for fact in facts.values()):
            win = facts.get("win")
            if type(win) is int and 0 < win < 1 << 62:
                return facts
    raise DamagedBook("this is not a module of `solver build`, or it is damaged: build it again")
