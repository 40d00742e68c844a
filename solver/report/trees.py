"""A tree as alpha-beta goes through it: the facts, the steps as a table, and the tree drawn as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from solver.base.errors import GameError
from solver.games.tree import Tree, written
from solver.report.facts import table
from solver.rules.game import Rules
from solver.rules.notation import show
from solver.search.comparison import Node, Nodes, Trace

WIDTH = 120  # columns of a drawing
DRAWN = 300  # nodes of one
MOST_STEPS = 1 << 21  # nodes times the columns that the deepest takes, about


Names = Sequence[Sequence[str]] | None
"""The moves to each node of a game's tree, in the game's notation. None for a file's tree, which numbers its moves."""


def facts(tree: Tree, trace: Trace, stepwise: bool = True, names: Names = None) -> dict[str, Any]:
    """Return the facts of a visit: the value to MAX and a best move, the leaves and those that were not looked at.

    Args:
        tree: The tree.
        trace: Its visit.
        stepwise: Whether the steps are among the facts, each with its node named by the moves from the root.
        names: The moves to each node, if the tree is a game's.
    """
    root = trace.nodes[tree.initial()]
    leaves = list(tree.leaves())
    tree_facts: dict[str, Any] = {
        "value": _plain(root.value),
        "best": None if root.best is None else _path(tree, root, names, root.best),
        "leaves": len(leaves),
        "pruned": [
            {"leaf": index, "value": _plain(tree.payoff(leaf))}
            for index, leaf in enumerate(leaves, 1)
            if leaf not in trace.nodes
        ],
    }
    if stepwise:
        tree_facts["steps"] = []
        for node, entered in trace.steps:
            window = zip(("alpha", "beta"), map(_plain, node.before if entered else node.after), strict=True)
            step = {"node": _path(tree, node, names), "player": node.player, "entered": entered, **dict(window)}
            if node.player == "leaf" or not entered:
                step["value"] = _plain(node.value)
                step["bound"] = "exact" if node.low == node.high else "upper" if node.value == node.high else "lower"
                step["cut"] = len(node.cut)
            tree_facts["steps"].append(step)
    return tree_facts


def check_steps(tree: Tree) -> None:
    """Raise GameError where the steps are too many to be printed, or too long: they name nodes by all moves to them."""
    nodes, depth = len(tree.children), max(tree.depths)
    if nodes * (depth + 20) > MOST_STEPS:
        raise GameError(
            f"{tree.file} has {nodes:,} nodes, up to {depth:,} deep, too many to print each step: --pruned prints less"
        )


def text(tree_facts: dict[str, Any]) -> list[str]:
    """The value, a best move, and how many leaves were looked at."""
    count = tree_facts["leaves"]
    return [
        f"value {_number(tree_facts['value'])}" + (f", best move {tree_facts['best']}" if tree_facts["best"] else ""),
        f"alpha-beta looked at {count - len(tree_facts['pruned'])} of {count} leaves",
    ]


def unseen(tree_facts: dict[str, Any]) -> list[str]:
    """The leaves that were never looked at, a line each."""
    return [
        f"never looked at: leaf {leaf['leaf']} from the left, value {_number(leaf['value'])}"
        for leaf in tree_facts["pruned"]
    ]


def steps(tree: Tree, trace: Trace, names: Names) -> list[str]:
    """The visit as a table: a numbered line where a node is entered, one without a number where it is left.

    A node is named by its probability, by who moves there, and by the moves that lead there.
    """
    rows = [["step", "node", "alpha", "beta", "value", ""]]
    number = 0
    for node, entered in trace.steps:
        number += entered
        alpha, beta = map(written, node.before if entered else node.after)
        share = "" if node.share is None else f"{written(node.share)}: "
        name = "  " * node.depth + f"{share}{node.player} {_path(tree, node, names)}".rstrip()
        worth, remark = written(node.value) if node.player == "leaf" else "" if entered else worth_of(node), ""
        # Where it is left: the best move at the root, the moves that were skipped elsewhere
        if not entered and node.parent is None and node.best is not None:
            remark = f"best move {_path(tree, node, names, node.best)}"
        elif node.cut and not entered and node.parent is not None:
            ends = dict.fromkeys((node.cut[0], node.cut[-1]))
            which = " to ".join(_path(tree, node, names, child) for child in ends)
            remark = f"cut: alpha >= beta, {which} not looked at"
        rows.append([str(number) if entered else "", name, alpha, beta, worth, remark])
    return table(rows, "><>>><")


def worth_of(node: Node) -> str:
    """Return the value of a visited node: a number, or one with <= or >= if skipped moves may change it."""
    if node.low == node.high:
        return written(node.value)
    return ("<=" if node.value == node.high else ">=") + written(node.value)


def drawing(tree: Tree, trace: Trace) -> list[str]:
    """Draw the tree from the root down, unvisited states in brackets; return a remark if it is too wide."""
    if len(tree.children) <= DRAWN and max(tree.depths) < DRAWN // 10:
        lines, width, _ = _block(tree, trace, tree.initial())
        if width <= WIDTH:
            return [line.rstrip() for line in lines]
    return [f"the tree is wider than {WIDTH} columns: --plot FILE draws it"]


def label(tree: Tree, trace: Trace, state: int) -> str:
    """Return the text at a node of a drawing: who moves, and the value; in brackets if it was never visited."""
    node = trace.nodes.get(state)
    name = written(tree.payoff(state)) if tree.is_terminal(state) else tree.label(state)
    if node is None:
        return f"({name})"
    return name if node.player == "leaf" else f"{name} {worth_of(node)}"


Block = tuple[list[str], int, int]
"""Lines of a part of a drawing, all as wide as it is; that width; and the column of its root."""


def _block(tree: Tree, trace: Trace, state: int) -> Block:
    """Return the drawing of a node and all below it."""
    name = label(tree, trace, state)
    if tree.is_terminal(state):
        return [name], len(name), len(name) // 2
    shares: list[Any] = [*tree.shares(state)] or [None] * len(tree.children[state])
    below = zip(tree.children[state], shares, strict=True)
    blocks = []
    for child, share in below:
        block = _block(tree, trace, child)
        blocks.append(block if share is None else _topped(written(share), *block))
    height = max(len(lines) for lines, _, _ in blocks)
    filled = ([*lines, *[" " * width] * (height - len(lines))] for lines, width, _ in blocks)
    rows = ["  ".join(row) for row in zip(*filled, strict=True)]
    centres, left = [], 0
    for _, width, centre in blocks:
        centres.append(left + centre)
        left += width + 2
    middle = len(centres) // 2
    centre = centres[middle] if len(centres) % 2 else (centres[0] + centres[-1]) // 2
    fork = [" "] * (left - 2)
    fork[centres[0] : centres[-1] + 1] = "-" * (centres[-1] + 1 - centres[0])
    for place in centres:
        fork[place] = "."
    fork[centre] = "|" if len(blocks) == 1 else "+"
    return _topped(name, ["".join(fork), *rows], left - 2, centre)


def _topped(name: str, lines: list[str], width: int, centre: int) -> Block:
    """Lines with a text above that column, widened where the text is wider."""
    left = max(0, len(name) // 2 - centre)
    right = max(0, centre + len(name) - len(name) // 2 - width)
    lines = [" " * left + line + " " * right for line in lines]
    width, centre = left + width + right, left + centre
    top = " " * (centre - len(name) // 2) + name
    return [f"{top:<{width}}", *lines], width, centre


def _path(tree: Tree, node: Node, names: Names, child: int | None = None) -> str:
    """Return the moves from the root to a node, or to a child of it."""
    if names is not None:
        return " ".join(names[node.state if child is None else child])
    return ".".join(map(str, [*node.path, *([] if child is None else [tree.children[node.state].index(child) + 1])]))


def _plain(number: Any) -> Any:
    """Return a number as JSON has it. None if it has no bound."""
    if isinstance(number, int):
        return number
    return None if number in (math.inf, -math.inf) else float(number)


def _number(number: Any) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def boards(rules: Rules, nodes: Nodes, trace: Trace, names: Sequence[Sequence[str]]) -> list[str]:
    """Return the visited nodes with their moves and boards, in the order of the visit."""
    lines = []
    for number, node in enumerate((node for node, entered in trace.steps if entered), 1):
        state, _ = nodes[node.state]
        lines += [f"step {number}: {' '.join(names[node.state]) or 'the start'}", show(rules.game, state), ""]
    return lines
