"""Warn about long modules and functions, many arguments, many rooms and arrows; refuse more code than there was.

python scripts/shape.py     part of `make lint`

A limit here asks you to look again, no more. A ceiling is kept: whoever adds 100 lines takes 100 away in the same
commit, and lowers the ceiling to what remains. Only lines of code count: a docstring or a comment is free, so that
nobody saves on explanation. Circles and imports that run backwards are faults, which `tests/project/test_imports.py`
refuses.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "solver"
sys.path.insert(0, str(ROOT))

MODULE_LINES, FUNCTION_LINES, KERNEL_LINES = 400, 40, 60
ARGUMENTS = 8
CEILINGS = {"games": 10_070, "the rest": 35_787}  # lines of code in solver/; they only fall
ROOMS, FLOORS, ARROWS = 24, 12, 138
COMPILED = {"kernel", "inlined", "shared", "register_jitable", "part", "intrinsic", "njit", "overload_method"}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module


def code_lines(source: str) -> set[int]:
    """Return the numbers of the lines that hold code, not only a comment, a docstring or nothing."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Documented) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def decorators(function: Function) -> set[str]:
    """Return their names: `njit` of `@numba.njit(cache=True)`."""
    called = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    return {ast.unparse(one).rpartition(".")[2] for one in called}


def arguments(function: Function) -> int:
    """Count the arguments, but for `self` and `cls`.

    A public `solve` and a command count as none: theirs are keywords, and options of the command line.
    """
    if function.name == "solve" or "command" in decorators(function):
        return 0
    taken = function.args
    every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
    return sum(one.arg not in ("self", "cls") for one in every)


def warnings_of(source: str, name: str) -> Iterator[str]:
    """Yield a line for each part of a module that exceeds a limit."""
    lines = code_lines(source)
    if len(lines) > MODULE_LINES:
        yield f"{name}: {len(lines)} lines of code, more than {MODULE_LINES}"
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, Function):
            continue
        place = f"{name}:{node.lineno}: {node.name}"
        limit = KERNEL_LINES if COMPILED & decorators(node) else FUNCTION_LINES
        length = len(lines & {*range(node.lineno, (node.end_lineno or 0) + 1)})
        if length > limit:
            yield f"{place} has {length} lines of code, more than {limit}"
        if arguments(node) > ARGUMENTS:
            yield f"{place} takes {arguments(node)} arguments, more than {ARGUMENTS}"


def warnings_of_rooms(below: dict[str, set[str]]) -> Iterator[str]:
    """Yield a line for each limit that the rooms exceed, given the rooms that each imports, lowest rooms first."""
    floors: dict[str, int] = {}
    for room, others in below.items():
        floors[room] = 1 + max((floors[other] for other in others), default=0)
    counts = {"rooms": len(below), "floors": max(floors.values()), "arrows": sum(map(len, below.values()))}
    for (what, count), limit in zip(counts.items(), (ROOMS, FLOORS, ARROWS), strict=True):
        if count > limit:
            yield f"solver: {count} {what}, more than {limit}"


def main() -> None:
    from tests.project.test_imports import ALLOWED

    counts = dict.fromkeys(CEILINGS, 0)
    warnings = list(warnings_of_rooms({room: names & {*ALLOWED} for room, names in ALLOWED.items()}))
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        warnings += warnings_of(source, path.relative_to(ROOT).as_posix())
        counts["games" if path.is_relative_to(PACKAGE / "games") else "the rest"] += len(code_lines(source))
    for warning in warnings:
        print(f"warning: {warning}")
    for part, count in counts.items():
        print(f"{count:,} lines of code in {part} of solver/, of {CEILINGS[part]:,} at most")
    if any(count > CEILINGS[part] for part, count in counts.items()):
        sys.exit("take away as many lines as you add")


if __name__ == "__main__":
    main()
