"""Functions of two integers compiled as a user's rules are, beside plain Python.

`python -m tests.checking` prints the table of docs/reference/rules.md.
"""

import importlib.util
import operator
import sys
import tempfile
import types
import warnings
from pathlib import Path

import numba
import numpy as np

from solver.base.errors import GameError
from solver.compiled import binding
from solver.compiled.rewriting import Rewriter
from tests import DATA

ENDS = (-(1 << 63), -7, -1, 0, 1, 3, 62, 63, 64, (1 << 53) + 1, 1 << 62, (1 << 63) - 1)
PAIRS = [(a, b) for a in ENDS for b in ENDS]
SMALL_PAIRS = [(a, b) for a, b in PAIRS if abs(a) <= 64 and abs(b) <= 64]  # where Python itself would take for ever

# Each row of the table: what it shows, and the code. EXACT never raises if Python has an answer within 64 bits.
EXACT = {
    "sums and products": ("a + b", "a - b", "a * b", "abs(a - b)", "sum([a, b])", "a - (b > 0)"),
    "shifts": ("a << b", "1 << b", "(a > 0) << b", "a >> b"),
    "masked afterwards": (
        "(a << b) & 255", "(a + b) & 255", "(a * b) & 1023", "((a << 9) ^ (a << 60)) & 0xFFFF", "(-a) & 7",
        "x = a * b\ny = x | 1\nreturn y & 15", "x = 1\nfor i in range(b & 63):\n    x = x * 2 + a\nreturn x & 255",
    ),
    "signs and divisions": ("-a", "abs(a)", "a // b", "a % b", "divmod(a, b)"),
    "bits": ("a & b", "a | b", "a ^ b", "~a", "a.bit_count()", "a.bit_length()", 'bin(a).count("1")'),
    "comparisons and choices": (
        "a < b", "a == b", "a < b < 3", "a and b", "a or b", "a if b else 0", "not a", "bool(a)", "int(a)",
        "a in (b, 3)",
    ),
    "builtins": ("min(a, b)", "max(a, b, 3)", "any((a, b))", "all([a, b])", "len([a, b]) + b"),
    "loops and generators": ("tuple(counting(a, b))", "xs = [a, b]\nxs.append(a + b)\nreturn xs[2]"),
    "indices": ("LONG[a]", "SHORT[a]", "INT64[a]", "GRID[a, b]", "[a, b, 3][b]", "return [a, b, 3][1:][0]"),
    "variables without a value": (
        "if a > 0:\n    x = b\nreturn x", "for i in range(b & 3):\n    x = i + (a & 7)\nreturn x",
        "x = a\nif b > 0:\n    x = None\nreturn x",
    ),
}  # fmt: skip
CAUTIOUS = {
    "a number beyond 64 bits, compared, shifted or handed to a helper": (
        "(a + b) == 3", "(a + b) >> 1", "(a * b) % 7", "helper(a, b)", "x = a + b\nif x > 3:\n    return 1\nreturn 2",
        "sum(x for x in (a, b, 1))", "sum(counting(a, b))", "(a - b) & -2",
    ),
    "powers": ("a ** b", "pow(a, b)", "2 ** b"),
    "a range wider than 2**63": ("len(range(a, b))",),
    "an integer beyond 2**53 beside a float": (
        "a / b", "float(a) == b", "int(a / 3)", "int(a * 2.0)", "int(a * 1e300)", "a // 2.0", "a % 2.5", "a * 0.5 < b",
        "round(a / 3)", "x = min(a, 2.5)\nreturn x * x * x == 5", "return a / 2 if b else a",
        "t = a\nfor i in range(3):\n    t = t * 3\n    if i > b:\n        t = 0.5\nreturn t",
    ),
    "arrays of int64, where NumPy wraps or divides by 0": (
        "INT64[a % 4] + b", "INT64[a % 4] * b", "INT64[a % 4] << b", "INT64[a % 4] // b",
        "total = 0\nfor x in INT64:\n    total += x * b\nreturn total",
    ),
    "-2**63 and -1": ("divmod(a, b)[1]",),
}  # fmt: skip
REFUSED = {
    "small and unsigned NumPy integers": (
        "UINT8[a % 4] - b", "int(UINT8[a % 4]) - int(UINT8[b % 4])", "INT8[a % 4] + 1", "UINT64[a % 4] + b",
    ),
    "constants from 2**63 on": ("a & 2**64-1", "a < 2**63", "a + 2**63", "(a, b) == (2**63, 1)"),
    "truth values of NumPy, and bits of its numbers": (
        "(INT64[a % 4] > 0) + (INT64[b % 4] > 0)", "INT64[a % 4].bit_count() - b",
    ),
    "`~` of a truth value, `is` of numbers": ("~(a > 0)", "a is b"),
    "powers of floats, other functions": (
        "a ** 0.5", "2.0 ** b", "divmod(a, 2.0)[0]", "str(a) == '3'", "hash(a)", "round(a, -1)", "math.isqrt(9)",
    ),
    "arithmetic on whole arrays, sets": ("(INT64 + a)[0]", "INT64.sum()", "{a, b} == {a}"),
    "ints and floats that meet in a list or tuple": ("(a, 1) == (2.0**53, 1)", "[a, b].count(0.5)", "([0.5] + [a])[1]"),
    "classes with operators of their own, such as IntFlag": (
        "V[1] + a", "~BIT", "TALLY + a", "GRADE * 2", "Odd.THREE + a", "COLOURS[1] + a",
    ),
    "functions inside functions": ("sorted((a, b), key=lambda x: x + 1)[0]",),
    "`try`": ("try:\n    return a + b\nexcept OverflowError:\n    return 0",),
}  # fmt: skip
# Functions of two ints as nobody would write rules, in tests/data: ints among floats, enumerations, truth values,
# numbers of NumPy and classes with operators of their own; in operators, builtins, containers, loops and helpers.
OPERANDS = (
    "Kind.TWO", "Kind.LARGE", "True", "(b > 0)", "0.5", "INF", "NUMPYS_THREE", "NUMPYS_TRUE", "float(b & 7)", "-3",
)  # fmt: skip
SIGNS = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "<", "==", "/")
ONE_TAKEN = ("abs", "int", "float", "bool", "round", "len", "-", "~", "not ", "sum", "twice", "str")
EDGES = (
    *(-(1 << 63), -(1 << 63) + 1, -(1 << 62), -(1 << 53) - 1, -(1 << 32), -65, -64, -7, -2, -1, 0, 1, 2, 3, 7, 62),
    *(63, 64, 1 << 31, (1 << 53) + 1, 1 << 62, (1 << 63) - 2, (1 << 63) - 1),
)
WIDTH = 128  # of the numbers in wide functions, whose arguments grow and whose result is cut into pieces
WIDE_BODY = "a, b = (a << 60) ^ 5, (b << 20) + 3\n{}\nreturn (r & 2**63 - 1, (r >> 63) & 2**63 - 1, r < 0)"
HEAD = (DATA / "functions.txt").read_text("utf-8")  # what the functions name


class Empty:
    """A class of rules without methods."""

    _fields = ()


def odd_bodies():
    """The bodies of all odd functions."""
    orders = [*((x, "a") for x in OPERANDS), *(("b", x) for x in OPERANDS)]
    yield from (f"({x}) {sign} ({y})" for sign in SIGNS for x, y in orders)
    yield from (f"{name}({x}, {y})" for name in ("min", "max", "divmod", "least") for x, y in orders)
    yield from (f"{name}({x})" for name in ONE_TAKEN for x in (*OPERANDS, "a", "a - b"))
    yield from _lines_of("odd_functions.txt")


def odd_wide_bodies():
    """The bodies of all odd functions of wide numbers."""
    parts = ("a", "b", "3", "2**70", "True")
    bodies = [f"r = ({x}) {sign} ({y})" for sign in SIGNS[:8] + ("<", "==") for x in parts for y in "ab" if x != y]
    yield from map(WIDE_BODY.format, (*bodies, *_lines_of("odd_wide_functions.txt")))


def _lines_of(name):
    return [line.replace("\\n", "\n") for line in (DATA / name).read_text("utf-8").splitlines()]


def differences(folder, bodies, ends=EDGES, width=None):
    """Compile functions that are not refused; list the silent differences from Python, and count the calls."""
    pairs, silent, calls = [(a, b) for a in ends for b in ends], {}, 0
    for body in bodies:
        (function,) = functions_of(folder, [body])
        if refusal(function, width) is None:
            counts = judged(function, pairs, width)
            silent |= {body: counts["silent"]} if counts["silent"] else {}
            calls += len(pairs)
    return silent, calls


def functions_of(folder, bodies):
    """The functions of a and b with these bodies, each lines with a return, or an expression."""
    text = HEAD
    for index, body in enumerate(bodies):
        lines = body.split("\n") if "return" in body else [f"return {body}"]
        text += f"def f{index}(a, b):\n" + "".join(f"    {line}\n" for line in lines) + "\n\n"
    path = folder / "functions.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"functions_{abs(hash(text))}", path)
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return [getattr(module, f"f{index}") for index in range(len(bodies))]


def compiled(function, width=None):
    """The function compiled with all tests, for Python to call; `width`: as in rules whose states have so many bits."""
    copy = Rewriter(Empty, width, Empty(), is_checked=True).rewritten(function, "bounds" if width else "")
    binding.teach_function(copy)

    def call(a, b):
        return copy(a, b)

    return numba.njit(types.FunctionType(call.__code__, {"copy": copy}, "call", None, call.__closure__))


def outcome(function, a, b):
    """The result of a call, or its exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(a, b)
        except (*binding.FAILURES, NameError, MemoryError) as error:
            if binding.is_of_compiler(error):
                raise
            return error


def are_same(plain, fast):
    """Tell whether two results are the same to rules: equal numbers, or tuples of them."""
    if isinstance(plain, (tuple, list)):
        return isinstance(fast, (tuple, list)) and len(plain) == len(fast) and all(map(are_same, plain, fast))
    if plain != plain:  # not a number
        return fast != fast
    # Python gives up on a shift by 2**62, whatever masks it
    gave_up = isinstance(plain, MemoryError) or "too many digits" in str(plain)
    return gave_up or (not isinstance(plain, Exception) and plain == fast)


def fits_int64(item):
    """Tell whether a result of Python's is one that compiled rules could give."""
    if isinstance(item, (tuple, list)):
        return all(map(fits_int64, item))
    is_int = isinstance(item, (int, np.integer)) and -(1 << 63) <= operator.index(item) < 1 << 63
    return item is None or isinstance(item, (float, np.bool_)) or is_int


def judged(function, pairs=PAIRS, width=None):
    """Count the pairs of arguments: the same result, rightly noticed, an alarm; and list the silent differences.

    An alarm is an exception of the compiled function where Python has an answer within 64 bits.
    """
    counts = {"same": 0, "noticed": 0, "alarm": 0, "silent": []}
    fast = compiled(function, width)
    for a, b in pairs:
        plain, quick = outcome(function, a, b), outcome(fast, a, b)
        if isinstance(quick, Exception):
            is_alarm = not isinstance(plain, Exception) and fits_int64(plain)
            counts["alarm" if is_alarm else "noticed"] += 1
        elif are_same(plain, quick):
            counts["same"] += 1
        else:
            counts["silent"].append((a, b, plain, quick))
    return counts


def pairs_for(body):
    """The arguments to try a body with."""
    return SMALL_PAIRS if "**" in body or "pow" in body else PAIRS


def refusal(function, width=None):
    """Why the compiler refuses a function, None if it compiles."""
    try:
        with binding.compiling(Empty()):
            compiled(function, width).compile((numba.int64, numba.int64))
    except GameError as error:
        return str(error)
    return None


LEAVES = ("0", "1", "3", "7", "255", "62", "2**40", "-1", "(1 << 62)", "LONG[3]")
TEMPLATES = (  # of expressions
    *(f"({{}} {sign} {{}})" for sign in ("+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%")),
    *("(-{})", "(~{})", "abs({})", "({} > {})", "min({}, {})", "max({}, {})", "helper({}, {})"),
    *("({} if {} < {} else {})", "({} if {} != {} else {})", "({} & 1023)", "({} & (1 << 62) - 1)"),
    *("({}).bit_count()", "({}).bit_length()"),
)
STATEMENTS = (
    *("{name} = {}", "if {} > {}:\n    {name} = {}", "if {} > {}:\n    {name} = {}\nelse:\n    {name} = {}"),
    *("{name} = {}\nfor i in range({} & 7):\n    {name} = {name} - {} + i", "{name} = 0\n{name} |= {}"),
)


def random_body(chance):
    """The body of a random function of a and b."""
    names, lines = ["a", "b"], []

    def filled(template, depth, **given):
        parts = [expression(depth) for _ in range(template.count("{}"))]
        return template.format(*parts, **given)

    def expression(depth):
        if depth == 0 or chance.random() < 0.2:
            return chance.choice([*names, *LEAVES])
        return filled(chance.choice(TEMPLATES), depth - 1)

    for index in range(chance.randrange(1, 4)):
        lines.append(filled(chance.choice(STATEMENTS), 3, name=f"v{index}"))
        names.append(f"v{index}")
    return "\n".join([*lines, f"return {expression(2)}"])


def table(folder):
    """The table of docs/reference/rules.md, row by row."""
    yield "| operations of a and b | calls | as Python | beyond 64 bits, or Python fails: noticed | alarms |"
    yield "| --- | --- | --- | --- | --- |"
    for group in (EXACT, CAUTIOUS):
        for name, bodies in group.items():
            functions = functions_of(folder, bodies)
            counts = [judged(function, pairs_for(body)) for function, body in zip(functions, bodies, strict=True)]
            assert not any(count["silent"] for count in counts)
            same, noticed, alarms = (sum(count[key] for count in counts) for key in ("same", "noticed", "alarm"))
            yield f"| {name} | {same + noticed + alarms:,} | {same:,} | {noticed:,} | {alarms:,} |"
    for name, bodies in REFUSED.items():
        assert all(map(refusal, functions_of(folder, bodies)))
        yield f"| {name} | refused | | | |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for row in table(Path(name)):
            sys.stdout.write(row + "\n")
            sys.stdout.flush()
