"""Kernels as plain Python: their decisions show without the seconds that compiling takes."""

import contextlib
import ctypes
import functools
import importlib
import pkgutil
import sys
import threading
import types
import warnings

import numpy as np

from solver.base import value
from solver.compiled import agreement, binding
from solver.rules.game import Rules
from solver.sweep import exhaustive


class _Filled:
    """Rules with the methods that compiled ones are given."""

    def __init__(self, rules):
        self._rules = rules

    def __getattr__(self, name):
        numbers = Rules(self._rules).numbering if name in ("rank", "unrank", "is_own_image") else None
        known = numbers.functions if numbers else binding._NOT_IN_THE_RULES
        method = getattr(self._rules, name, None) or known[name].__get__(self._rules)
        asked = vars(self)[name] = lambda *numbers: method(*map(int, numbers))  # found at once the next time
        return asked


def _lift(merit, same_mover, score_game, plies=1):
    return value.lift(int(merit), bool(same_mover), score_game, plies)


_ATOMIC = threading.Lock()


def _fetch_add(array, index, number):
    with _ATOMIC:
        before = int(array[index])
        array[index] = before + number
    return before


def _uncompiled(function, scope, identity, cached):
    if not isinstance(scope["game"], _Filled):
        scope["game"] = _Filled(scope["game"])
        scope["lift"] = _lift
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return lambda *arguments: _plain(copy(*map(_plain, arguments)))


def _plain(result):
    """As a compiled kernel returns it: ints, and arrays as they are."""
    if type(result) is tuple:
        return tuple(map(_plain, result))
    return int(result) if isinstance(result, np.integer) else result


def _array_at(item):
    """The number at an address: of so many rows, or of one where that is as good as without an end."""

    def at(address, rows, columns=None):
        shape = (int(rows),) if columns is None else (int(rows), columns)
        size = int(np.prod(shape)) * 8
        return np.frombuffer((ctypes.c_char * size).from_address(int(address)), item).reshape(shape)

    return at


def _reading(kind):
    return lambda address, index: int(_numbers(kind, address, index)[0])


def _writing(kind):
    def put(address, index, number):
        _numbers(kind, address, index)[0] = number

    return put


def _exchanging(kind):
    def exchange(address, index, old, new):
        there = _numbers(kind, address, index)
        found = int(there[0])
        if found == old:
            there[0] = new
        return found

    return exchange


def _numbers(kind, address, index):
    """The number at an address, as an array of one."""
    size = ctypes.sizeof(kind)
    return (kind * 1).from_address(int(address) + size * int(index))


ROOMS = ("base", "book", "cluster", "compiled", "edit", "learning", "play", "solving", "store", "sweep", "verifying")
# what Numba's intrinsics do
_INSTEAD = {
    "fetch_add": _fetch_add,
    "lift": _lift,
    "drop": lambda merit, same_mover, score_game, plies=1: value.drop(int(merit), bool(same_mover), score_game, plies),
    **dict.fromkeys(("prefetch", "prefetch_at"), lambda *arguments: None),
    **dict.fromkeys(("words_at", "table_at"), _array_at(np.int64)),
    "unsigned_at": _array_at(np.uint64),
    "byte_at": _reading(ctypes.c_uint8),
    "short_at": _reading(ctypes.c_uint16),
    "half_at": _reading(ctypes.c_uint32),
    "word_at": _reading(ctypes.c_int64),
    "put_byte": _writing(ctypes.c_uint8),
    "put_short": _writing(ctypes.c_uint16),
    "put_word": _writing(ctypes.c_int64),
    "exchange_byte": _exchanging(ctypes.c_uint8),
    "exchange_short": _exchanging(ctypes.c_uint16),
    "bit_count": lambda number: int(number).bit_count(),
    "length_of": lambda number: int(number).bit_length(),
    **dict.fromkeys(("_edges_at", "_keep_at", "list_moves_at"), lambda function, *arguments: function(*arguments)),
    "borrowed": lambda array: array,
}


def interpret(monkeypatch):
    """Until the test ends all kernels run as they are written, those of games and those over arrays."""
    warnings.filterwarnings("ignore", "overflow encountered")  # which is meant where keys are mixed
    bind = functools.lru_cache(maxsize=None, typed=True)(binding.bind.__wrapped__)  # typed: as the one it replaces
    monkeypatch.setattr(binding, "_compile", _uncompiled)
    # The plain rules need not judge themselves at more states than they must
    monkeypatch.setattr(agreement, "AUDIT_SECONDS", 0.0)
    monkeypatch.setattr(exhaustive, "AUDIT_SHARE", 0.0)
    for module, name, instead in _replaced():
        monkeypatch.setattr(module, name, bind if instead is None else instead)


@functools.cache
def _replaced():
    """(module, name, what stands there instead) of all that is compiled; None for `bind`, which each test has anew."""
    return [
        (module, name, _instead(module, name, item))
        for module in _modules()
        for name, item in vars(module).items()
        if item is binding.bind or _instead(module, name, item) is not None
    ]


def _instead(module, name, item):
    if name in _INSTEAD and module is not value:
        return _INSTEAD[name]
    if item is binding.bind:
        return None
    if name == "address_of":
        return _address_of
    if name == "spread":
        return _unless_empty(_as_written(item.py_func))
    if getattr(getattr(item, "py_func", None), "__module__", "").startswith("solver."):
        return _as_written(item.py_func)
    return None


@functools.cache
def _modules():
    """All that may hold a kernel: what is imported once it is needed, too."""
    rooms = [importlib.import_module(f"solver.{name}") for name in ROOMS]
    for room in rooms:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(found.name)
    return [item for name, item in sys.modules.items() if name.startswith("solver.")]


def _address_of(function, arguments):
    return function


def _unless_empty(spread):
    """An empty table, which may be large, is not gone through."""
    return lambda table, used, more: spread(table, used, more) if table[:used].any() else None


def _as_written(function):
    """The function itself, not a copy that calls compiled ones."""
    known = getattr(sys.modules[function.__module__], function.__name__, None)
    found = known if isinstance(known, types.FunctionType) else function
    return lambda *arguments: _plain(found(*arguments))
