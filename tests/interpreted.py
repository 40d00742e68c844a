"""Kernels as plain Python: what they decide shows without the seconds that compiling takes."""

import types

import numpy as np

from solver.base import value
from solver.compiled import binding, edges
from solver.sweep import backward, by_state, expansion, parents, projection, retrograde


class _Filled:
    """Rules with the methods that compiled ones are given."""

    def __init__(self, rules):
        self._rules = rules

    def __getattr__(self, name):
        method = getattr(self._rules, name, None) or binding._NOT_IN_THE_RULES[name].__get__(self._rules)
        return lambda *numbers: method(*map(int, numbers))


def _lift(merit, same_mover, score_game):
    return value.lift(int(merit), bool(same_mover), score_game)


def _fetch_add(array, index, number):
    before = int(array[index])
    array[index] = before + number
    return before


def _uncompiled(function, scope, identity, taught, cached):
    if not isinstance(scope["game"], _Filled):
        scope["game"] = _Filled(scope["game"])
        scope["lift"] = _lift
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return lambda *arguments: _plain(copy(*arguments))


def _plain(result):
    """As a compiled kernel returns it: ints, and arrays as they are."""
    if isinstance(result, tuple):
        return tuple(map(_plain, result))
    return int(result) if isinstance(result, np.integer) else result


def _call(function, *arguments):
    return function(*arguments)


def interpret(monkeypatch):
    """Until the test ends the sweep runs its kernels as they are written."""
    monkeypatch.setattr(binding, "_compile", _uncompiled)
    monkeypatch.setattr(edges, "bind", binding.bind.__wrapped__)
    monkeypatch.setattr(edges, "address_of", lambda function, arguments: function)
    monkeypatch.setattr(edges, "_edges_at", _call)
    monkeypatch.setattr(edges, "_keep_at", _call)
    instead = {"fetch_add": _fetch_add, "lift": _lift}
    for name in ("claim", "count_children", "go_back", "list_parents", "settle"):
        monkeypatch.setattr(retrograde, name, getattr(parents, name).py_func)
    for module in (backward, by_state, expansion, parents, projection):
        for name, item in vars(module).copy().items():
            if name in instead:
                monkeypatch.setattr(module, name, instead[name])
            elif getattr(getattr(item, "py_func", None), "__module__", "") == module.__name__:
                monkeypatch.setattr(module, name, item.py_func)
