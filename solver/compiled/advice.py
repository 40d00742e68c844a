"""Why rules do not compile, in the words of who wrote them: their line, and a remedy."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import Any

from solver.base.errors import GameError
from solver.compiled.rewriting import REDUCTIONS, methods_of
from solver.rules.sources import MISSING, Names, inner, names_in, source_of

PLACES = re.compile(r"""File "([^"]+)", line (\d+)|(\S+\.py) \((\d+)\)""")
REFUSAL = re.compile(r"^\s*(\S[^\n\"]*\.py line \d+: .*)$", re.MULTILINE)
SLOWER = "write ints, tuples, loops and helper methods (docs/reference/rules.md says what compiles)"
NODES: tuple[tuple[Any, str], ...] = (
    ((ast.Dict, ast.DictComp), "dicts do not compile: use a tuple and an index"),
    ((ast.Set, ast.SetComp), "sets do not compile: use a tuple or the bits of a number"),
    (ast.Global, "`global` does not compile: rules must be pure, pass numbers as arguments"),
    (ast.Nonlocal, "`nonlocal` does not compile: pass numbers as arguments"),
    (ast.Starred, "`*` does not compile here: name the parts one by one"),
    ((ast.Import, ast.ImportFrom), "an import inside a method does not compile: import at the top of the file"),
    (ast.Try, "`try` does not compile here: test the condition beforehand"),
    (ast.With, "`with` does not compile: leave it out of rules"),
    (ast.GeneratorExp, "a generator expression compiles only in any, sum, next, list and their like: write a loop"),
    (ast.NamedExpr, "`:=` does not compile: assign on a line of its own"),
    (ast.JoinedStr, "text does not compile well: compute with numbers"),
)
CALLS = {
    "super": "`super()` does not compile: give the other method a name of its own",
    "getattr": "`getattr` with a name made at run time does not compile: write the name",
    "eval": "`eval` does not compile: write the expression",
    "dict": "dicts do not compile: use a tuple and an index",
    "set": "sets do not compile: use a tuple or the bits of a number",
    "frozenset": "sets do not compile: use a tuple or the bits of a number",
    "isqrt": "`math.isqrt` does not compile: write a loop over multiplications",
    "from_bytes": "bytes do not compile: compute with shifts",
    "to_bytes": "bytes do not compile: compute with shifts",
    "reversed": "`reversed` does not compile: write xs[::-1], or a range that counts down",
    "print": "`print` does not belong into rules: leave it out",
}
GLOBALS: tuple[tuple[Any, str], ...] = (
    (dict, "{} is a dict, which does not compile: use a tuple and an index"),
    ((set, frozenset), "{} is a set, which does not compile: use a tuple or the bits of a number"),
)


def reason(cls: type, report: str) -> str:
    """In one line: the line of the rules that Numba stopped at, and a remedy."""
    refusals = REFUSAL.findall(report)
    # `compiled.checked` says itself what it refuses
    if refusals:
        return str(refusals[-1])
    # Methods, and the functions of their files that they name, directly or not
    methods = dict[str, Any](methods_of(cls))
    todo = list(methods.values())
    while todo:
        function = todo.pop()
        for name in names_in(function.__code__):
            helper = inner(function.__globals__.get(name))
            code = getattr(helper, "__code__", None)
            if code is not None and code.co_filename == function.__code__.co_filename and name not in methods:
                methods[name] = helper
                todo.append(helper)
    files = {os.path.basename(method.__code__.co_filename): method.__code__.co_filename for method in methods.values()}
    places = [(os.path.basename(match[1] or match[3]), match[2] or match[4]) for match in PLACES.finditer(report)]
    found = [(files[name], int(line)) for name, line in places if name in files]
    remarks = [remark for name, method in methods.items() for remark in _remarks(cls, name, method)]
    last_remark = found[-1] if found else None
    for file, line, text in remarks:
        if last_remark is None or (file, line) == last_remark:
            return _told(file, line, text)
    # Numba names the line that calls what does not compile
    if remarks:
        return _told(*remarks[0])
    if last_remark is None:
        lines = [line.strip() for line in report.splitlines() if line.strip()]
        return f"{lines[-1] if lines else 'unknown'}: {SLOWER}"
    return _told(*last_remark, SLOWER)


def _told(file: str, line: int, text: str) -> str:
    return f"{os.path.basename(file)} line {line}: {text}"


def _remarks(cls: type, name: str, method: Any) -> Iterator[tuple[str, int, str]]:
    """The parts of a method that are known not to compile: file, line, and a remedy."""
    code = method.__code__
    try:
        tree = ast.parse(source_of(method))
    except (GameError, SyntaxError):
        return
    first_line, names = code.co_firstlineno - 1, Names(cls, method)
    names.scopes.append({*code.co_varnames} - {names.own})
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    takers = (*REDUCTIONS, "next", "list", "tuple", "sorted")
    # Generator expressions that are rewritten as loops
    folded = [argument for call in calls if getattr(call.func, "id", "") in takers for argument in call.args]
    for node in ast.walk(tree):
        line = first_line + getattr(node, "lineno", 1)
        for kind, text in NODES:
            if isinstance(node, kind) and not (isinstance(node, ast.GeneratorExp) and node in folded):
                yield code.co_filename, line, text
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called in CALLS:
                yield code.co_filename, line, CALLS[called]
            if called == name and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                yield code.co_filename, line, "a method that calls itself does not compile: write a loop"
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        if any(isinstance(side, ast.List) and not side.elts for side in sides):
            yield code.co_filename, line, "a comparison with [] does not compile: write `not moves`"
        # Data that a node names
        value = names.meaning(node)
        label = "" if value is MISSING else ast.unparse(node)
        for kind, text in GLOBALS:
            if isinstance(value, kind):
                yield code.co_filename, line, text.format(label)
        if hasattr(value, "func") and hasattr(value, "keywords"):
            text = f"{label} is a functools.partial, which does not compile: write a function"
            yield code.co_filename, line, text
        elif getattr(inner(value), "__closure__", None) and hasattr(value, "__wrapped__"):
            text = f"{label} is wrapped by a decorator, which does not compile: leave the decorator out"
            yield code.co_filename, line, text
