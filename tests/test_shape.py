"""The house's shape: modules and functions that are read at a sitting, and no trains of arguments."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "solver"
MODULE, FUNCTION, KERNEL, PARAMETERS = 400, 40, 60, 8
COMPILED = {"kernel", "inlined", "shared", "register_jitable", "intrinsic", "njit", "overload_method"}
TOO_LARGE: set[str] = set()  # what is still to be cut


def decorators(function):
    """Their names: `njit` of `@numba.njit(cache=True)`."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        yield ast.unparse(called).rpartition(".")[2]


def is_front_door(function):
    """A public `solve` or a command: its options are keywords or the command line's, its docstring is the manual."""
    return function.name == "solve" or "command" in decorators(function)


def lines(function):
    first = function.body[0]
    manual = is_front_door(function) and ast.get_docstring(function) is not None
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if manual else 0)


def parameters(function):
    """How many it takes, but for `self` and `cls`."""
    if is_front_door(function):
        return 0
    taken = function.args
    every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
    return sum(one.arg not in ("self", "cls") for one in every)


def too_large(source, name):
    """What of a module exceeds the limits, by its place."""
    tree = ast.parse(source)
    if source.count("\n") > MODULE:
        yield name, f"{source.count(chr(10))} lines"
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            place = f"{name} {function.name}"
            limit = KERNEL if COMPILED & set(decorators(function)) else FUNCTION
            if lines(function) > limit:
                yield place, f"{lines(function)} lines"
            if parameters(function) > PARAMETERS:
                yield place, f"{parameters(function)} parameters"


def test_everything_can_be_read_at_a_sitting():
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
    found = {place: what for name, source in sorted(files.items()) for place, what in too_large(source, name)}
    assert {place: what for place, what in found.items() if place not in TOO_LARGE} == {}
    assert set(found) >= TOO_LARGE, "no longer too large: take it off the list"


BODY = "\n    x = 0" * 41
TAKEN = ", ".join("abcdefghi")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 0\n" * 401, "401 lines"),
        (f"def f():{BODY}", "42 lines"),
        (f"@numba.njit(cache=True)\ndef f():{BODY}", None),
        (f"@shared\ndef f():{BODY}{BODY}", "83 lines"),
        (f"def f({TAKEN}): ...", "9 parameters"),
        (f"def f(self, a, *b, c, d, e, f, g, **h): {TAKEN}", None),
        (f"@click.command('solve')\ndef f({TAKEN}): ...", None),
        (f'def solve():\n    """Solve.\n    {BODY}"""', None),
        (f'def other():\n    """Solve.\n    {BODY}"""', "44 lines"),
    ],
)
def test_the_measure_measures(source, found):
    assert [what for _, what in too_large(source, "here.py")] == ([] if found is None else [found])
