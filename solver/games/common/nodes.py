"""A game as a graph in arrays: positions by number, their moves one after the other, and all text.

`Draft` takes positions and moves as they are found; `Nodes` is the result. Both are plain Python; the arrays
are those of the standard library, which NumPy reads in place. A position takes 13 bytes and its text, a move 8.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

from solver.base.errors import excerpt, printable

MOST_NODES = (1 << 32) - 2
MOST_WORTH = 1 << 40
PART = 4 << 20  # bytes that are packed at a time
TIMES = 300  # as many bytes a packed one may become at most: hostile ones would fill the memory
LITTLE = 1 << 20  # bytes that any packed graph may become
HEAD = struct.Struct("<QQQQ")
ARRAYS = (("begins", "I"), ("children", "I"), ("labels", "I"), ("worths", "q"), ("rewards", "q"), ("weights", "I"))
SPACE = re.compile(r"\s+")
LAYOUT = "\n\t"  # of a board in several rows


class _Fields(NamedTuple):
    texts: list[str]
    names: list[str]
    movers: bytes
    begins: array[int]
    children: array[int]
    labels: array[int]
    worths: array[int]
    rewards: array[int]
    weights: array[int]


class Nodes(_Fields):
    """The graph of a game. Position i has the moves begins[i]:begins[i + 1], none if it is finished.

    Move j leads to children[j] and is named names[labels[j]]. It gives rewards[j] to whoever makes it. If weights[j] is
    not 0, it is a move of chance with that weight. texts[i] are as the source has them, movers[i] is 0 or 1, and
    worths[i] is what a finished position is worth to that side. `movers` is empty if players alternate, `rewards` and
    `weights` if all are 0. Position 0 is the start.
    """

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (self.packed,)

    def moves(self, node: int) -> range:
        """The places of a position's moves."""
        return range(self.begins[node], self.begins[node + 1])

    @functools.cached_property
    def scores(self) -> bool:
        """Whether the values are margins."""
        return bool(self.rewards) or any(not -1 <= worth <= 1 for worth in self.worths)

    @functools.cached_property
    def digest(self) -> str:
        """sha256 of all of it."""
        found = hashlib.sha256()
        for part in self._parts():
            found.update(part)
        return found.hexdigest()

    @functools.cached_property
    def packed(self) -> bytes:
        """All of it, compressed, for `unpacked`."""
        press = zlib.compressobj(6)
        parts = [press.compress(part[at : at + PART]) for part in self._parts() for at in range(0, len(part), PART)]
        return b"".join([*parts, press.flush()])

    def _parts(self) -> Iterator[bytes]:
        """The sizes, the texts, and each array by the bytes of equal place, which compresses well."""
        texts = json.dumps([self.names, self.texts], ensure_ascii=False).encode("utf-8", "surrogatepass")
        yield HEAD.pack(len(self.texts), len(self.children), bool(self.rewards) + 2 * bool(self.weights), len(texts))
        yield bytes([bool(self.movers)])
        yield texts
        yield self.movers
        for name, code in ARRAYS:
            content = _little(getattr(self, name)).tobytes()
            for place in range(array(code).itemsize):
                yield content[place :: array(code).itemsize]

    @functools.cached_property
    def places(self) -> dict[str, int]:
        """Positions by their texts, raw and as shown. Of equal texts the first, of ambiguous ones none."""
        places: dict[str, int] = {}
        for node, text in enumerate(self.texts):
            places.setdefault(text, node)
        for node, text in enumerate(self.texts):
            if not text.isprintable():
                places.setdefault(self.shown(node), node)
        blank = "\n" in "".join(self.texts[:1000]) or any(text != SPACE.sub(" ", text.strip()) for text in self.texts)
        if blank:
            bare: dict[str, int] = {}
            for text, node in places.items():
                short = SPACE.sub(" ", text.strip())
                bare[short] = node if bare.get(short, node) == node else -1
            for short, node in bare.items():
                if node >= 0:
                    places.setdefault(short, node)
        return places

    def shown(self, node: int) -> str:
        """A position's text, fit to be shown."""
        return printable(self.texts[node], kept=LAYOUT)

    def find(self, text: str) -> int | None:
        """The position of a text, whose white space may be written otherwise; None without one."""
        node = self.places.get(text)
        return self.places.get(SPACE.sub(" ", text.strip())) if node is None else node

    @functools.cached_property
    def tiers(self) -> array[int]:
        """A number for each position that every move raises. Raises ValueError where play can come back."""
        order = self._from_the_ends()
        heights = array("I", bytes(4 * len(self.texts)))
        children, begins = self.children, self.begins
        for node in order:
            begin, end = begins[node], begins[node + 1]
            if begin < end:
                heights[node] = 1 + max(heights[child] for child in children[begin:end])
        highest = max(heights)
        return array("I", [highest - height for height in heights])

    def _from_the_ends(self) -> list[int]:
        """All positions, each behind those that its moves lead to. Raises ValueError."""
        size = len(self.texts)
        degrees = array("I", bytes(4 * (size + 1)))
        for child in self.children:
            degrees[child + 1] += 1
        for node in range(size):
            degrees[node + 1] += degrees[node]
        parents, at = array("I", bytes(4 * len(self.children))), array("I", degrees)
        left = array("I", [end - begin for begin, end in pairwise(self.begins)])
        for node in range(size):
            for child in self.children[self.begins[node] : self.begins[node + 1]]:
                parents[at[child]] = node
                at[child] += 1
        order = [node for node in range(size) if not left[node]]
        for node in order:
            for parent in parents[degrees[node] : degrees[node + 1]]:
                left[parent] -= 1
                if not left[parent]:
                    order.append(parent)
        if len(order) < size:
            culprit = next(node for node in range(size) if left[node])
            raise ValueError(
                f"play can go on for ever from {short(self.texts[culprit])}, and the values are margins: give rewards"
                " of -1, 0 and 1 at the end alone, or put a move counter into the text"
            )
        return order


def _little(numbers: array[int]) -> array[int]:
    """The array with its bytes in little-endian order."""
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers


def unpacked(data: bytes) -> Nodes:
    """The nodes that `Nodes.packed` was made of. Raises ValueError for other bytes."""
    press = zlib.decompressobj()
    most = LITTLE + TIMES * len(data)
    try:
        whole = press.decompress(data, most)
    except zlib.error:
        raise ValueError("a graph that cannot be unpacked") from None
    if len(whole) <= HEAD.size or not press.eof:
        raise ValueError("a graph that ends early, or is larger than any")
    size, moves, kinds, length = HEAD.unpack_from(whole)
    at = HEAD.size + 1
    turns = size if whole[at - 1] else 0
    counts = {"begins": size + 1, "children": moves, "labels": moves, "worths": size}
    counts |= {"rewards": moves * (kinds & 1), "weights": moves * (kinds >> 1 & 1)}
    total = sum(counts[name] * array(code).itemsize for name, code in ARRAYS)
    if at + length + turns + total != len(whole):
        raise ValueError("a graph of another size than it says")
    names, texts = json.loads(whole[at : at + length].decode("utf-8", "surrogatepass"))
    at += length
    movers = whole[at : at + turns]
    at += turns
    arrays: dict[str, array[int]] = {}
    for name, code in ARRAYS:
        width = array(code).itemsize
        content = bytearray(counts[name] * width)
        for place in range(width):
            content[place::width] = whole[at : at + counts[name]]
            at += counts[name]
        arrays[name] = _little(array(code, bytes(content)))
    nodes = Nodes(texts, names, movers, **arrays)
    _check(nodes)
    return nodes


def _check(nodes: Nodes) -> None:
    """Raise ValueError if it is not a graph."""
    size, moves = len(nodes.texts), len(nodes.children)
    fits = all(isinstance(text, str) for text in chain(nodes.texts, nodes.names)) and size == len(nodes.worths) > 0
    fits = fits and not nodes.begins[0] and nodes.begins[-1] == moves and set(nodes.movers) <= {0, 1}
    fits = fits and all(begin <= end for begin, end in pairwise(nodes.begins))
    fits = fits and max(nodes.children, default=0) < size and max(nodes.labels, default=-1) < len(nodes.names)
    if not fits:
        raise ValueError("a graph that leads out of itself")


def short(text: str) -> str:
    """A position's text as a message has it."""
    return excerpt(SPACE.sub(" ", text.strip()), 60)


class _Numbered(dict[str, int]):
    """Names, and the number of each: a new one has the next."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


class Draft:
    """A graph under way: its positions, and moves in any order."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.movers = bytearray()
        self.worths = array("q")
        self.owners, self.children, self.labels, self.weights = array("I"), array("I"), array("I"), array("I")
        self.rewards = array("q")
        self.names = _Numbered()

    def node(self, text: str, mover: int = 0, worth: int = 0) -> int:
        """A new position; its number."""
        self.texts.append(text)
        self.movers.append(mover)
        self.worths.append(worth)
        return len(self.texts) - 1

    def move(self, owner: int, name: str, child: int, reward: int = 0, weight: int = 0) -> None:
        """A new move."""
        self.owners.append(owner)
        self.children.append(child)
        self.labels.append(self.names[name])
        self.rewards.append(reward)
        self.weights.append(weight)

    def nodes(self, turns: bool) -> Nodes:
        """The graph; `turns`: it says who moves. The draft is used up."""
        if any(after < before for before, after in pairwise(self.owners)):
            order = sorted(range(len(self.owners)), key=self.owners.__getitem__)
            for name in ("owners", "children", "labels", "weights", "rewards"):
                numbers = getattr(self, name)
                setattr(self, name, array(numbers.typecode, [numbers[place] for place in order]))
        begins = array("I", repeat(0, len(self.texts) + 1))
        for owner in self.owners:
            begins[owner + 1] += 1
        for node in range(len(self.texts)):
            begins[node + 1] += begins[node]
        rewards = self.rewards if any(self.rewards) else array("q")
        weights = self.weights if any(self.weights) else array("I")
        movers = bytes(self.movers) if turns else b""
        return Nodes(
            self.texts, [*self.names], movers, begins, self.children, self.labels, self.worths, rewards, weights
        )
