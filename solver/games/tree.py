"""An explicit game tree from a JSON file, as textbook exercises give it.

The file holds nested lists, such as the classical [[3, 12, 8], [2, 4, 6], [14, 5, 2]], or an object {"root": "MIN",
"tree": ...}. The numbers are leaves: what they are worth to MAX. MAX moves at the root, unless the object or `,min`
behind the file's name says otherwise. Then players take turns. {"MAX": [...]} and {"MIN": [...]} say who moves at a
node, and {"chance": [[0.6, NODE], [0.4, NODE]]} says that chance does. A state is a node, numbered in the order of
reading.
"""

from __future__ import annotations

import json
import math
import os
import re
import types
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from solver.base.errors import GameError, excerpt
from solver.base.kinds import MARGIN
from solver.base.text import FORM, exact, fields_of, read_text, whole_weights

GROUP = "files"
MOST_BYTES = 1 << 23  # of a file
SHALLOW = 850  # brackets in each other that the library reads in all versions of Python
BRACKET = re.compile(r"[][{}]|\"(?:[^\"\\]|\\.)*\"")  # and texts, whose brackets do not count
MOST_NODES = 1 << 19
MOST_DIGITS = 20  # of a whole number, with its sign
NODES = 'a list of nodes, a number, {"MAX": [...]}, {"MIN": [...]} or {"chance": [[0.6, NODE], [0.4, NODE]]}'
TOKEN = re.compile(r"\s*(?:([][,])|(-?[0-9]+(?=[][,\s]|$)))", re.ASCII)
FOLLOWERS = {"": "[0", "[": "[]0", "]": ",]", ",": "[0", "0": ",]"}  # what may stand behind what; 0 is any number


class _Chances:
    """A method of those trees that have chance nodes; None of others, which are not games of chance."""

    def __init__(self, func: Callable[[Tree, int], Iterator[tuple[int, int]]]) -> None:
        self.func = func

    def __get__(self, tree: Tree | None, cls: type) -> Callable[[int], Iterator[tuple[int, int]]] | None:
        return types.MethodType(self.func, tree) if tree is not None and any(tree.weights) else None


class Tree(NamedTuple):
    """A game tree read from a file of nested lists; the value is the leaf's for the side to move.

    `leaf_values` are payoffs to MAX in parts of `denominator`, `movers` 0 where MAX is to move, `weights` those of a
    chance node's children, none of others.
    """

    file: str
    maximum: bool
    children: tuple[tuple[int, ...], ...]
    leaf_values: tuple[int, ...]
    depths: tuple[int, ...]
    movers: tuple[int, ...]
    weights: tuple[tuple[int, ...], ...]
    denominator: int

    score_game = True
    plain_only = True

    @classmethod
    def from_text(cls, text: str) -> Tree:
        """The tree of `exercise.json`, `exercise.json,min` or `exercise.json,max`. Raises ValueError."""
        path, _, root = text.partition(",")
        if not path:
            raise ValueError("name the file of the tree: tree:exercise.json")
        if root.lower() not in ("", "min", "max"):
            raise ValueError(f"the player at the root is min or max, not {root!r}")
        try:
            text = read_text(path, MOST_BYTES)
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None
        return cls.from_lists(parse(text), root, os.path.basename(path))

    @classmethod
    def from_lists(cls, data: Any, root: str = "", file: str = "tree.json") -> Tree:
        """The tree of nested lists, or of an object with `tree` and `root`; `root` "MIN" or "MAX" goes before it."""
        if isinstance(data, dict) and "tree" in data:
            root = root or str(data.get("root", "MAX"))
            data = data["tree"]
        if root.lower() not in ("", "min", "max"):
            raise ValueError(f"root is MIN or MAX, not {root!r}")
        maximum = root.lower() != "min"
        return cls(file, maximum, *_numbered(data, not maximum))

    def to_text(self) -> str:
        return self.file + ("" if self.maximum else ",min")

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        if not self.weights[state]:
            yield from range(len(self.children[state]))

    def result(self, state: int, action: int) -> int:
        return self.children[state][action]

    @_Chances
    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        yield from zip(self.weights[state], self.children[state], strict=False)  # no weights where a player moves

    def to_move(self, state: int) -> int:
        """0 where MAX moves; at a chance node who moves behind it, if nothing else is said there."""
        return self.movers[state]

    def is_terminal(self, state: int) -> bool:
        return not self.children[state]

    def utility(self, state: int) -> int:
        if self.denominator > 1:
            raise GameError(
                f"{self.file} has fractions as payoffs, which --trace and --pruned alone take: multiply all by"
                f" {self.denominator}"
            )
        return -self.leaf_values[state] if self.to_move(state) else self.leaf_values[state]

    def tier(self, state: int) -> int:
        return self.depths[state]

    def payoff(self, state: int) -> Fraction | int:
        """The value of a leaf to MAX, a whole number as an int."""
        value = Fraction(self.leaf_values[state], self.denominator)
        return int(value) if value.denominator == 1 else value

    def label(self, state: int) -> str:
        """MAX, MIN, CHANCE, or the leaf's payoff."""
        if self.is_terminal(state):
            return f"leaf {written(self.payoff(state))}"
        return "CHANCE" if self.weights[state] else "MIN" if self.to_move(state) else "MAX"

    def parse_position(self, text: str) -> int | None:
        """The first node whose tree is shown so."""
        if "\n" not in text:
            return None
        label = text.split("\n", 1)[0]
        nodes = range(len(self.children))
        return next((node for node in nodes if self.label(node) == label and self.show(node) == text), None)

    def show(self, state: int) -> str:
        """The tree below a node, a level further in on each line; large ones by their size."""
        lines: list[str] = []
        todo = [(state, 0, "")]
        while todo and len(lines) < 60:
            node, level, chance = todo.pop()
            lines.append("  " * level + chance + self.label(node))
            shares = [f"{written(share)}: " for share in self.shares(node)] or [""] * len(self.children[node])
            below = [(child, level + 1, share) for child, share in zip(self.children[node], shares, strict=True)]
            todo += reversed(below)
        return "\n".join([*lines, "..."] if todo else lines)

    def layout(self) -> tuple[str, int]:
        return "", max(map(len, self.children))

    def shares(self, state: int) -> list[Fraction]:
        """The probabilities of a chance node's children; none of another."""
        return [Fraction(weight, sum(self.weights[state])) for weight in self.weights[state]]

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def leaves(self) -> Iterator[int]:
        """The states of the leaves, left to right."""
        return (node for node, below in enumerate(self.children) if not below)


def written(number: Any) -> str:
    """A whole number, a decimal, or p/q where no decimal ends; inf without a bound."""
    if number in (math.inf, -math.inf):
        return f"{number:+}"
    fraction = Fraction(number)
    for digits in range(19):
        if 10**digits % fraction.denominator == 0:
            text = f"{abs(fraction) * 10**digits!s:0>{digits + 1}}"
            whole = text if not digits else f"{text[:-digits]}.{text[-digits:]}"
            return "-" + whole if fraction < 0 else whole
    return str(fraction)


def parse(text: str) -> Any:
    """Return the data of a JSON text of any depth.

    The library's parser recurses, and how deep it can go depends on Python's version. So texts with more than `SHALLOW`
    brackets in each other are read here. Raises ValueError.
    """
    if _is_deep(text):
        return _parse_deep(text)
    try:
        return json.loads(text, parse_float=_number, parse_int=_whole, object_pairs_hook=fields_of)
    except RecursionError:
        return _parse_deep(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: invalid JSON from column {error.colno} on: fix it") from None


def _is_deep(text: str) -> bool:
    """Whether more than `SHALLOW` brackets lie in each other."""
    if text.count("[") + text.count("{") <= SHALLOW:
        return False
    depth = 0
    for match in BRACKET.finditer(text):
        depth += 1 if match[0] in "[{" else -1 if match[0] in "]}" else 0
        if depth > SHALLOW:
            return True
    return False


def _number(text: str) -> Fraction:
    """A decimal or p/q, exactly. Raises ValueError."""
    number = exact(text)
    if number is None:
        raise ValueError(f"{text[:40]!r} is not a number of a tree: write {FORM}")
    return number


def _whole(text: str) -> int:
    """A whole number. Raises ValueError."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:40]!r} is not a number of a tree: write {FORM}")
    return int(text)


def _parse_deep(text: str) -> Any:
    """Nested lists of whole numbers, read with a stack. Raises ValueError."""
    outer: list[Any] = []
    stack = [outer]
    before, at, end = "", 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        word = match[1] or "0" if match else ""
        if match is None or word not in FOLLOWERS[before] or (before and len(stack) == 1):
            rest = text[at:].lstrip()
            line = text.count("\n", 0, len(text) - len(rest)) + 1
            odd = excerpt(rest.rstrip(), 20)
            raise ValueError(f"line {line}: a deep tree holds lists and whole numbers, not {odd}")
        if word == "[":
            stack[-1].append([])
            stack.append(stack[-1][-1])
        elif word == "]":
            stack.pop()
        elif word == "0":
            stack[-1].append(_whole(match[2]))
        before, at = word, match.end()
    if len(stack) > 1 or len(outer) != 1:
        raise ValueError("the brackets of the tree do not match")
    return outer[0]


def _numbered(data: Any, first: int) -> tuple[Any, ...]:
    """Children, leaf values, depths, movers and weights of all nodes, numbered in preorder, and the denominator."""
    children: list[list[int]] = []
    payoffs: list[Fraction] = []
    depths: list[int] = []
    movers: list[int] = []
    weights: list[tuple[int, ...]] = []
    todo: list[tuple[Any, int, int, int]] = [(data, 0, -1, first)]
    while todo:
        node, depth, parent, mover = todo.pop()
        number = len(children)
        if parent >= 0:
            children[parent].append(number)
        mover, below, chances = _opened(node, mover)
        if number + len(todo) + len(below) >= MOST_NODES:
            raise ValueError(f"more than {MOST_NODES:,} nodes: take a smaller tree, or write its rules in Python")
        children.append([])
        depths.append(depth)
        movers.append(mover)
        weights.append(chances)
        payoffs.append(Fraction(0) if below else _payoff(node))
        behind = mover if chances else 1 - mover
        todo += [(child, depth + 1, number, behind) for child in reversed(below)]
    denominator = 1
    largest = max(map(abs, payoffs))
    for part in {payoff.denominator for payoff in payoffs}:
        denominator = math.lcm(denominator, part)
        if largest * denominator >= MARGIN.most:
            raise ValueError("payoffs lie between -2**60 and 2**60, fractions multiplied by what makes them all whole")
    leaf_values = tuple(int(payoff * denominator) for payoff in payoffs)
    return tuple(map(tuple, children)), leaf_values, tuple(depths), tuple(movers), tuple(weights), denominator


def _opened(node: Any, mover: int) -> tuple[int, list[Any], tuple[int, ...]]:
    """Who moves at a node, whose turn it is, the nodes below it, and their weights at a chance node."""
    if not isinstance(node, dict):
        return mover, node if isinstance(node, list) else [], ()
    (name, below), *others = node.items() or [("", None)]
    name = name.lower()
    if others or name not in ("max", "min", "chance") or not isinstance(below, list) or not below:
        raise ValueError(f"a node is {NODES}, not {excerpt(node)}")
    if name != "chance":
        return int(name == "min"), below, ()
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in below):
        raise ValueError(f'chance lists pairs: {{"chance": [[0.6, NODE], [0.4, NODE]]}}, not {excerpt(below)}')
    return mover, [child for _, child in below], _weights([_exact(share) for share, _ in below])


def _weights(shares: list[Fraction | None]) -> tuple[int, ...]:
    """Whole weights of probabilities, or the weights themselves. Raises ValueError."""
    known = [share for share in shares if share is not None and share > 0]
    if len(known) < len(shares):
        raise ValueError('a probability is a number above 0, 0.6 or "1/3", or a whole weight: leave out what is not')
    weights = whole_weights(known, MARGIN.most)
    if weights is None:
        raise ValueError(f"the {len(known):,} probabilities of a node have no small common denominator: round them")
    total = sum(weights) * known[0] / weights[0]
    if any(share.denominator > 1 for share in known) and total != 1:
        shown = ", ".join(map(written, known[:10])) + (", ..." if len(known) > 10 else "")
        raise ValueError(f"the probabilities {shown} add up to {written(total)}: make that 1")
    return tuple(weights)


def _payoff(node: Any) -> Fraction:
    value = _exact(node)
    if value is None or abs(value) >= MARGIN.most:
        raise ValueError(f"a node is {NODES}, a number between -2**60 and 2**60, not {excerpt(node)}")
    return value


def _exact(number: Any) -> Fraction | None:
    """A number of a tree: of a file, or of lists in Python; None if it is none."""
    if type(number) is int or isinstance(number, Fraction):
        return Fraction(number)
    return _number(str(number)) if isinstance(number, (float, str)) else None
