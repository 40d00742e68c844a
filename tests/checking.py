"""Functions of two integers, compiled as rules are that nobody has checked, beside plain Python."""

import importlib.util
import operator
import types
import warnings

import numba

from solver.base.errors import GameError
from solver.compiled import binding
from solver.compiled.rewriting import Rewriter

ENDS = (-(1 << 63), -7, -1, 0, 1, 3, 62, 63, 64, (1 << 53) + 1, 1 << 62, (1 << 63) - 1)
HEAD = """
import numpy as np

LONG = tuple(range(300))
SHORT = (5, -6, 7)
INT64 = np.array([3, -9, 2**62, 7], np.int64)
GRID = np.array([[3, -9], [2**62, 7]], np.int64)
UINT8 = np.array([3, 9, 250, 7], np.uint8)
INT8 = np.array([3, -9, 120, 7], np.int8)


def helper(a, b):
    return a * b + a


def counting(a, b):
    for item in range(2):
        yield a + item * b


"""


class Empty:
    """A class of rules without methods."""


def module_of(folder, bodies):
    """A module with a function `f0`, `f1`, ... of a and b for each body of lines, or for an expression."""
    text = HEAD
    for number, body in enumerate(bodies):
        lines = body.split("\n") if "return" in body else [f"return {body}"]
        text += f"def f{number}(a, b):\n" + "".join(f"    {line}\n" for line in lines) + "\n\n"
    path = folder / "functions.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"functions_{abs(hash(text))}", path)
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def compiled(function):
    """The function, compiled with all tests, to be called from Python."""
    copy = Rewriter(Empty, {}, is_checked=True).rewritten(function)
    binding._teach_function(copy)

    def call(a, b):
        return copy(a, b)

    return numba.njit(types.FunctionType(call.__code__, {"copy": copy}, "call", None, call.__closure__))


def outcome(function, a, b):
    """What a call gives: its result, or the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(a, b)
        except binding.FAILURES as error:
            if binding.is_of_compiler(error):
                raise
            return error
        except (NameError, MemoryError) as error:
            return error


def same(plain, fast):
    """Whether two results are the same to rules: equal numbers, or parts that are equal."""
    if isinstance(plain, (tuple, list)):
        return isinstance(fast, (tuple, list)) and len(plain) == len(fast) and all(map(same, plain, fast))
    return isinstance(plain, MemoryError) or (not isinstance(plain, Exception) and plain == fast)


def judged(function, pairs):
    """How many pairs are the same, noticed rightly, an alarm though Python has an answer in int64, silently wrong."""
    counts = {"same": 0, "noticed": 0, "alarm": 0, "silent": []}
    fast = compiled(function)
    for a, b in pairs:
        plain, quick = outcome(function, a, b), outcome(fast, a, b)
        if isinstance(quick, Exception):
            fits = not isinstance(plain, Exception) and fits_int64(plain)
            counts["alarm" if fits else "noticed"] += 1
        elif same(plain, quick):
            counts["same"] += 1
        else:
            counts["silent"].append((a, b, plain, quick))
    return counts


def fits_int64(item):
    if isinstance(item, (tuple, list)):
        return all(map(fits_int64, item))
    return item is None or isinstance(item, float) or -(1 << 63) <= operator.index(item) < 1 << 63


def is_refused(function):
    """Why the compiler refuses a function; None if it compiles."""
    try:
        with binding.compiling(Empty()):
            compiled(function)(1, 1)
    except GameError as error:
        return str(error)
    return None
