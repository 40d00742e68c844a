"""Rules as a user writes them into a file: a race in steps of 1 and 2, some of whose methods are others."""

import os
import tempfile
import textwrap
from pathlib import Path

from solver.rules.game import load_game

BODIES = {"initial": "0", "actions": "yield 1\nyield 2", "result": "state + action"}
BODIES |= {"is_terminal": "state >= self.goal", "utility": "-1"}
ARGUMENTS = {
    **dict.fromkeys(("initial", "starts", "bits", "size", "symmetries", "tables"), "self"),
    **dict.fromkeys(("result", "again", "reward"), "self, state, action"),
    "unrank": "self, rank",
}


def write_rules(path, *, name="Race", fields="goal: int = 10", head="", more="", **bodies):
    """Write rules whose methods have these bodies, lines or an expression, and return their name for `load_game`.

    `head` comes before the class, and `more` behind its methods.
    """
    lines = ["from typing import NamedTuple", *head.splitlines(), f"class {name}(NamedTuple):"]
    lines += textwrap.indent(fields, " " * 4).splitlines()
    for method, body in (BODIES | bodies).items():
        is_expression = not any(word in body for word in ("return ", "yield ", "pass"))
        lines.append(f"    def {method}({ARGUMENTS.get(method, 'self, state')}):")
        lines += textwrap.indent(f"return {body}" if is_expression else body, " " * 8).splitlines()
    lines += textwrap.indent(textwrap.dedent(more), " " * 4).splitlines()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{path}::{name}"


FOLDER = tempfile.TemporaryDirectory(prefix="rules-")  # it goes with this process


def ruled(name, **bodies):
    """A class of rules with these bodies, for its instances to differ by their fields."""
    path = Path(FOLDER.name, f"{name.lower()}{len(os.listdir(FOLDER.name))}.py")
    return type(load_game(write_rules(path, name=name, **bodies)))


def write_third(path, players=3):
    """Write rules with a third player, unless there are two."""
    third = {"actions": "yield 1", "is_terminal": "state == self.goal", "to_move": f"state % {players}"}
    return write_rules(path, name="Third", fields="goal: int = 9", **third)


def line_of(path, text):
    """The number of the first line of a file that has this text."""
    return next(number for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if text in line)
