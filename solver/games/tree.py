"""An explicit game tree from a JSON file, as textbook exercises give it.

The file holds nested lists with whole numbers as leaves, worth so much to MAX, for instance the classical
[[3, 12, 8], [2, 4, 6], [14, 5, 2]], or an object {"root": "MIN", "tree": ...}. MAX moves at the root unless the
object or `,min` behind the file's name says otherwise. A state is a node, numbered in the order of reading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.base.files import read_input

MOST_BYTES = 1 << 26  # of a file


class Tree(NamedTuple):
    """A game tree read from a file of nested lists; the value is the leaf's for the side to move."""

    file: str
    maximum: bool
    children: tuple[tuple[int, ...], ...]
    leaf_values: tuple[int, ...]
    depths: tuple[int, ...]

    score_game = True  # type: ignore[misc]
    plain_only = True  # type: ignore[misc]

    @classmethod
    def from_text(cls, text: str) -> Tree:
        """The tree of `exercise.json`, `exercise.json,min` or `exercise.json,max`. Raises ValueError."""
        path, _, root = text.partition(",")
        if not path:
            raise ValueError("name the file of the tree: tree:exercise.json")
        if root.lower() not in ("", "min", "max"):
            raise ValueError(f"the player at the root is min or max, not {root!r}")
        try:
            data = parse(read_input(path, MOST_BYTES).decode())
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no text: {error}") from None
        return cls.from_lists(data, root or "", os.path.basename(path))

    @classmethod
    def from_lists(cls, data: Any, root: str = "", file: str = "tree.json") -> Tree:
        """The tree of nested lists, or of an object with `tree` and `root`; `root` "MIN" or "MAX" goes before it."""
        if isinstance(data, dict):
            root = root or str(data.get("root", "MAX"))
            data = data.get("tree")
        if root.lower() not in ("", "min", "max"):
            raise ValueError(f"root is MIN or MAX, not {root!r}")
        children, leaf_values, depths = _numbered(data)
        return cls(file, root.lower() != "min", children, leaf_values, depths)  # type: ignore[call-arg]

    def to_text(self) -> str:
        return self.file + ("" if self.maximum else ",min")

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        yield from range(len(self.children[state]))

    def result(self, state: int, action: int) -> int:
        return self.children[state][action]

    def to_move(self, state: int) -> int:
        """0 where MAX moves."""
        return (self.depths[state] + (not self.maximum)) % 2

    def is_terminal(self, state: int) -> bool:
        return not self.children[state]

    def utility(self, state: int) -> int:
        return -self.leaf_values[state] if self.to_move(state) else self.leaf_values[state]

    def tier(self, state: int) -> int:
        return self.depths[state]

    def show(self, state: int) -> str:
        """The tree below a node, a level further in on each line; large ones by their size."""
        lines: list[str] = []
        todo = [(state, 0)]
        while todo and len(lines) < 60:
            node, level = todo.pop()
            what = (
                f"leaf {self.leaf_values[node]}" if self.is_terminal(node) else "MIN" if self.to_move(node) else "MAX"
            )
            lines.append("  " * level + what)
            todo += [(child, level + 1) for child in reversed(self.children[node])]
        return "\n".join([*lines, "..."] if todo else lines)

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def leaves(self) -> Iterator[int]:
        """The states of the leaves, left to right."""
        return (node for node, below in enumerate(self.children) if not below)


def parse(text: str) -> Any:
    """JSON of any depth: the library's parser recurses, so brackets nested deeper than it bears are read here."""
    try:
        return json.loads(text)
    except RecursionError:
        return _parse_deep(text)
    except ValueError as error:
        raise ValueError(f"the file is no JSON: {error}") from None


def _parse_deep(text: str) -> Any:
    """Nested lists of whole numbers, read with a stack."""
    outer: list[Any] = []
    stack = [outer]
    for word in text.replace("[", " [ ").replace("]", " ] ").replace(",", " ").split():
        if word == "[":
            stack[-1].append([])
            stack.append(stack[-1][-1])
        elif word == "]" and len(stack) > 1:
            stack.pop()
        elif word.lstrip("-").isdecimal():
            stack[-1].append(int(word))
        else:
            raise ValueError(f"a deep tree holds lists and whole numbers, not {word[:20]!r}")
    if len(stack) > 1 or len(outer) != 1:
        raise ValueError("the brackets of the tree do not match")
    return outer[0]


def _numbered(data: Any) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], tuple[int, ...]]:
    """Children, leaf values and depths of all nodes, numbered in preorder."""
    children: list[list[int]] = []
    leaf_values: list[int] = []
    depths: list[int] = []
    todo: list[tuple[Any, int, int]] = [(data, 0, -1)]
    while todo:
        node, depth, parent = todo.pop()
        number = len(children)
        if parent >= 0:
            children[parent].append(number)
        children.append([])
        depths.append(depth)
        if isinstance(node, list) and node:
            leaf_values.append(0)
            todo += [(child, depth + 1, number) for child in reversed(node)]
        elif type(node) is int and abs(node) < 1 << 62:
            leaf_values.append(node)
        else:
            raise ValueError(f"a node is a list of nodes or a whole number, not {str(node)[:40]!r}")
    return tuple(map(tuple, children)), tuple(leaf_values), tuple(depths)
