"""Rules compiled by Numba: `game.result(state, action)` inside a kernel is the method of the game's own class.

Kernels are plain top-level functions over a module global `game`. `bind` copies them onto fresh globals that hold
one game and compiles the copies, so the parameters are constants for LLVM: widths fold, loops unroll, methods are
inlined. The same functions run unbound as plain Python.

Numba's cache on disk looks at the kernel's own file only, not at the rules: it would run the old code for an edited
game or another board. So the name under which a copy is cached holds the fingerprint of the rules and a digest of all
that the kernels' file imports.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import types as nb
from numba.core.errors import NumbaError
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import infer_getattr, lower_builtin

from solver.base.errors import GameError, ResourceError, SolverError, UncompiledRules
from solver.base.extras import has_cache
from solver.base.files import fullness
from solver.compiled.advice import reason
from solver.compiled.choices import TWINS
from solver.compiled.identity import HOME, constants_of, identity_of, is_checked
from solver.compiled.rewriting import Rewriter, methods_of
from solver.compiled.states import more_of, width_of
from solver.compiled.tracing import odd_in
from solver.rules.game import Game, Rules
from solver.rules.numbering import Numbers, is_own_image, together, within
from solver.rules.sources import names_in
from solver.rules.walk import sibling_modules
from solver.rules.width import USUAL
from solver.store.shared import PART, once_for_constants, part

# Some versions of Numba lack a private name
CAN_CHECK = "pipeline_class" in PART
if CAN_CHECK:
    from solver.compiled.checked import CheckedLower

    PART["pipeline_class"].checking_class = CheckedLower
F = TypeVar("F", bound=Callable[..., Any])
# Of tables that are too large for the cache: the code is compiled again
warnings.filterwarnings("ignore", "Cannot cache compiled function", numba.NumbaWarning)


def kernel(function: F) -> F:
    """Mark a function for `bind`: it reads the globals `game`, `SCORES`, `ALTERNATES` and `FOLDS`."""
    function.is_kernel = True  # type: ignore[attr-defined]
    return function


def inlined(function: F) -> F:
    """Mark a kernel whose body goes into its callers; Python cannot call it."""
    function.is_inlined = True  # type: ignore[attr-defined]
    return kernel(function)


@functools.lru_cache(maxsize=64, typed=True)  # typed: named tuples of two games may be equal
def bind(
    module: types.ModuleType,
    game: Game,
    symmetry: bool = True,
    outcomes: bool = False,
    tiers: bool = True,
    cached: bool = True,
    **more_constants: bool,
) -> Any:
    """A namespace of the module's kernels, compiled for this game when first called; not `cached`: always anew.

    Kernels see these constants:

        game, MORE, BITS    the game, `compiled.states.MORE`, and the bits of a state
        SCORES              values have no distances: a score game, or `outcomes` alone are asked for
        ALTERNATES          players strictly alternate
        FOLDS               states are folded by `canonical`
        TIERED, TIERS       the rules have tiers; kernels ask for them
        AGAIN, REWARD, PROMISES, REPLIES, OUTLOOK, FOLLOWUP, BOUNDS, LONGEST, EVALUATE, FEATURES, ENDLESS, VANISHING
                            whether the rules have a method of that kind

    and the booleans that the caller names.
    """
    asked = Rules(game, symmetry)
    if asked.plain_only:
        raise GameError(f"{asked.name} runs in plain Python only: this wants it compiled, solve and query do not")
    is_safe = not is_checked(type(game))
    if not is_safe and not CAN_CHECK:
        raise UncompiledRules(f"{asked.name}: Numba {numba.__version__} cannot check your rules: install Numba 0.68")
    odd = None if is_safe else odd_in(tuple(game))
    if odd is not None:
        raise UncompiledRules(f"{asked.name}: a parameter is a {type(odd).__name__}: write a plain number")
    more, is_numbered = more_of(asked.bits), Rules(game).numbering is not None
    width = width_of(more) if more else None
    rules_type = _rules_type(type(game), width, game if width or is_numbered else None, not is_safe)
    rules = tuple.__new__(rules_type, game or UNUSED)
    constants = constants_of(asked, outcomes, tiers) | more_constants
    # What kernels of other modules name are things of those modules
    imported = [value.__globals__ for value in vars(module).values() if getattr(value, "is_kernel", False)]
    scope: dict[str, Any] = functools.reduce(operator.or_, imported, {}) | vars(module)
    kernels = {name: value for name, value in scope.items() if getattr(value, "is_kernel", False)}
    scope |= {**constants, "game": rules, "MORE": more, "BITS": max(USUAL, asked.bits)}
    identity = identity_of(asked, constants, str(module.__file__))
    callable_ones = [name for name, function in kernels.items() if not getattr(function, "is_inlined", False)]
    for name, function in kernels.items():
        scope[name] = _compile(function, scope, identity, cached)
    return types.SimpleNamespace(**{name: scope[name] for name in callable_ones})


def respelled(function: Any, name: str, names: dict[str, str]) -> Any:
    """A kernel that is written like a function, but with these other names in place of its own."""
    plain = getattr(function, "py_func", function)
    code = plain.__code__.replace(co_names=tuple(names.get(one, one) for one in plain.__code__.co_names))
    return kernel(types.FunctionType(code, plain.__globals__, name))


FAILURES = (ArithmeticError, LookupError, ValueError, TypeError, AssertionError, RuntimeError)  # what rules may raise


@contextlib.contextmanager
def compiling(game: Game) -> Iterator[None]:
    """Turn the errors of Numba at a kernel's first call, and those of compiled rules, into UncompiledRules."""
    try:
        yield
    except SolverError:
        raise
    except Exception as error:
        if is_of_compiler(error):
            refusal = reason(type(game), str(error))
            raise UncompiledRules(f"{type(game).__name__} cannot be compiled: {refusal}") from error
        full = fullness(error, Path(os.environ.get("NUMBA_CACHE_DIR") or HOME))
        if full is not None:
            raise ResourceError(f"compiled code cannot be kept: {full}") from error
        if isinstance(error, FAILURES):
            name = f"{type(error).__name__}: {error}"
            raise UncompiledRules(f"{type(game).__name__} fails where it is compiled: {name}") from error
        raise


def is_of_compiler(error: Exception) -> bool:
    """Whether Numba raised this while it compiled, not compiled code while it ran."""
    homes = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    # Numba's cache may be on a full disk
    is_within = any(home.startswith("numba.") for home in homes) and not isinstance(error, OSError)
    return isinstance(error, NumbaError) or is_within


def _compile(function: Any, scope: dict[str, Any], identity: str, cached: bool) -> Any:
    """A dispatcher of a copy that lives in `scope` and has cache files of its own."""
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    copy.__qualname__ = f"{function.__name__}-{identity}"
    copy.__module__ = function.__module__
    options: dict[str, Any] = {"cache": cached and has_cache(), "no_cfunc_wrapper": True}
    if getattr(function, "is_inlined", False):
        options = {"forceinline": True, **PART}
    return once_for_constants(numba.njit(copy, nogil=True, **options))


# Numba 0.68 loses `self` among the arguments of generators of an empty named tuple: it gets a field that nobody reads
UNUSED = (0,)


@functools.cache
def _rules_type(cls: Any, width: int | None, game: Any, is_checked: bool) -> Any:
    """A subclass of the rules, of which kernels have an instance: Numba finds the compiled form of each method there.

    Args:
        cls: The class of the rules.
        width: Bits of the numbers that they compute with if states are wide, else None.
        game: The game if states are wide or numbered, since methods then compile to numbers that its parameters make;
            else None, and one class serves for all parameters.
        is_checked: Whether to compile the methods by `compiled.checked`.
    """
    # Numba prints an instance in its messages, which `cls` does by its own fields
    members = {"_fields": cls._fields or ("unused",), "__repr__": tuple.__repr__}
    rules_type: Any = type(cls.__name__, (cls,), members)
    own_methods, numbered = methods_of(cls), None if game is None else Rules(game)
    methods = {**_NOT_IN_THE_RULES, **({} if "size" in own_methods else _WITHOUT_SIZE), **own_methods}
    rewriter = Rewriter(cls, width, game if width else None, is_checked)
    for name, method in methods.items():
        method = rewriter.rewritten(method, name)
        copy = types.FunctionType(method.__code__, method.__globals__, name, method.__defaults__, method.__closure__)
        rewriter.mark(copy, name)
        setattr(rules_type, f"compiled_{name}", copy)
        _teach_functions(method)
    numbers = None if numbered is None else numbered.numbering
    for name in ("rank", "unrank", "is_own_image") if numbers else ():
        setattr(rules_type, f"compiled_{name}", _Numbered(numbers, name))
    return rules_type


class _Numbered:
    """In place of a method of a class of rules, for the compiler: made when it is first asked for."""

    def __init__(self, numbers: Numbers, name: str) -> None:
        self.numbers, self.name = numbers, name

    def __get__(self, instance: Any, cls: type) -> Any:
        return _functions_of(self.numbers)[self.name]


@functools.cache
def _functions_of(numbers: Numbers) -> dict[str, types.FunctionType]:
    """The functions of numbers, over arrays."""
    constants = {name: _compilable(value) for name, value in numbers.constants.items()}
    functions = together(numbers.FUNCTIONS, constants)
    for function in functions.values():
        _teach_functions(function)
    return functions


def _compilable(value: Any) -> Any:
    """What kernels have in place of a constant: of lists an array, of lists of lists one with a row for each."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list):
        return value
    rows = value if value and isinstance(value[0], list) else [value]
    array = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, numbers in zip(array, rows, strict=True):
        row[: len(numbers)] = numbers
    array = array if rows is value else array[0]
    return array.astype(np.int32) if array.size and int(abs(array).max()) < 1 << 31 else array


def _teach_functions(function: types.FunctionType) -> None:
    """Teach Numba the module functions that a method calls, and those that they call."""
    for name in names_in(function.__code__):
        teach_function(function.__globals__.get(name))
    for module in sibling_modules(function):
        for helper in vars(module).values():
            teach_function(helper)


def teach_function(function: Any) -> None:
    """Let Numba compile a function, and the functions that it calls, when kernels call it."""
    if isinstance(function, types.FunctionType) and function not in _taught:
        _taught.add(function)
        part(function)
        _teach_functions(function)


_taught: set[types.FunctionType] = {*TWINS}


def _zero(self: Any, *arguments: int) -> int:
    return 0


def _no_bounds(self: Any, state: int) -> tuple[int, int]:
    return 0, 0


def _one_start(self: Any) -> Iterator[int]:
    yield self.initial()


def _no_features(self: Any, state: int) -> Iterator[int]:
    yield 0


# compiled where a game lacks them, but never asked: a constant of the kernel says so (all promises and estimates are
# equal)
_NOT_IN_THE_RULES: dict[str, Any] = {
    "starts": _one_start,
    "rank": within,
    "unrank": within,
    "is_own_image": is_own_image,
    "bounds": _no_bounds,
    "features": _no_features,
    "parents": _no_features,
    **dict.fromkeys(("to_move", "tier", "plies_left", "canonical", "vanishing", "again", "reward"), _zero),
    **dict.fromkeys(("replies", "outlook", "followup", "longest", "evaluate", "promise"), _zero),
}
_WITHOUT_SIZE: dict[str, Any] = {"rank": _zero, "unrank": _zero}  # a parameter of the game may be called so


@infer_getattr
class _Methods(AttributeTemplate):
    """`instance.name(...)` of a named tuple compiles to the `compiled_name` of its class.

    Numba's `overload_method` would take one signature for the methods of that name in all games, and the method of one
    for a parameter of that name in another. This is its low-level interface for extensions.
    """

    key = nb.BaseNamedTuple

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        method = getattr(kind.instance_class, f"compiled_{name}", None)
        return None if method is None else nb.BoundFunction(_call_of(method), kind)


@functools.cache
def _call_of(method: types.FunctionType) -> Any:
    """How Numba types a call of a method, and compiles it: as one of a function whose first argument are the rules."""
    # inlined: what several methods work out of one state, a search then works out once
    callee = numba.njit(method, forceinline=True, **PART)

    class Call(AbstractTemplate):
        key = method

        def generic(self: Any, args: Any, kws: Any) -> Any:
            signature: Any = nb.Dispatcher(callee).get_call_type(self.context, (self.this, *args), kws)
            return signature.as_method()

    @lower_builtin(method, nb.BaseNamedTuple, nb.VarArg(nb.Any))  # type: ignore[untyped-decorator]
    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = context.get_function(nb.Dispatcher(callee), sig)
        context.add_linking_libs(function.libs)
        return function(builder, args)

    return Call
