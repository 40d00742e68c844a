"""Building a module: the compiled functions of a game's rules and searches, made for WebAssembly.

Numba's LLVM code of a kernel is that of a tree of functions, which LLVM compiles for wasm32 as well: calls to Numba
and Python (references, wrappers) are cut or empty. Around each exported kernel goes a function of plain numbers,
which traps where the rules raise an error.

Compilers bring a library for the arithmetic on 128 bits that processors lack. The functions of it that LLVM calls,
shifts and products, are made here of numbers of 64 bits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types as nb

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.compiled.binding import bind, compiling
from solver.compiled.exact.table import LIMIT, WIN
from solver.compiled.module import depth, exact
from solver.compiled.module import rules as of_rules
from solver.compiled.states import more_of, width_of
from solver.compiled.wide import INT64, WORD, Wide, sized
from solver.rules.game import Rules, own_method
from solver.rules.width import USUAL, refuse_wide, words_of
from solver.wasm import exports
from solver.wasm.binary import finished, wanted

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+sign-ext,+nontrapping-fptoint"
DOUBLE, INT128 = ir.DoubleType(), ir.IntType(128)
LENT = {"__ashlti3": "shl", "__lshrti3": "lshr", "__ashrti3": "ashr", "__multi3": ""}  # by their names in the library
EMPTY = r"define linkonce_odr void @\1(ptr %owner) { ret void }"


def build(rules: Rules, ranks: bool = False, *, progress: Progress = silent) -> bytes:
    """Build the module of a game, with the functions that ranked books need if `ranks`.

    Raises MethodError for a game that has none, UncompiledRules.
    """
    if rules.plain_only:
        raise MethodError(f"{rules.name} runs in plain Python only: it has no module")
    if ranks or rules.chance is not None:
        what = "a module with ranks" if ranks else "that of a game of chance"
        refuse_wide(rules.name, rules.bits, what, "where Numba is, live search takes it as it is")
    methods = exports.OPTIONAL | (exports.RANKS if ranks else {})
    has = {name: count for name, count in methods.items() if own_method(rules.game, name) is not None}
    if ranks and rules.rank is not None:
        has |= {name: exports.RANKS[name] for name in ("rank", "unrank")}
    if not rules.folds:
        has.pop("canonical", None)
    with compiling(rules.game):
        kernels = [*_compiled(of_rules, rules, exports.REQUIRED | has, progress)]
        if searches(rules):
            kernels += _compiled(exact, rules, exports.EXACT, progress)
        if rules.chance is None:
            kernels += _compiled(depth, rules, exports.DEPTH, progress)
        progress("link", 0, 0)
        code = _linked(kernels, ir.IntType(words_of(rules.bits) * WORD))
    about = exports.shape_of(rules.bits) | {"game": rules.name, "rules": rules.fingerprint, "symmetry": rules.folds}
    about |= {"scores": rules.scores, "win": WIN, "limit": LIMIT}
    return finished(code, [kernel.name for kernel in kernels], about, exports.DESK, 2, exports.MOST_PAGES)


def searches(rules: Rules) -> bool:
    """Whether the module of a game searches: alpha-beta takes no chance, and no game that is one tier."""
    return rules.chance is None and rules.tiered


class _Kernel(NamedTuple):
    """A compiled kernel that a module exports."""

    name: str
    text: str
    mangled: str
    kinds: tuple[Any, ...]
    result: Any


def _compiled(home: Any, rules: Rules, names: dict[str, int], progress: Progress) -> Iterator[_Kernel]:
    """Compile some kernels of a module of kernels, given how many numbers each takes."""
    kernels = bind(sys.modules[home.__name__], rules.game, rules.symmetry, cached=False)
    state = Wide(width_of(more_of(rules.bits))) if rules.bits > USUAL else nb.int64
    for name, count in names.items():
        progress("compile", 0, 0, name)
        first_types = (state,) if name in exports.TAKING else ()
        kernel, kinds = getattr(kernels, name), first_types + (nb.int64,) * (count - len(first_types))
        kernel.compile(kinds)
        compiled = kernel.overloads[kinds]
        # Numba leaves such a table where it lies in this process, and the module would read elsewhere
        if compiled.library.has_dynamic_globals:
            raise MethodError(f"{rules.name} has a table of more than a megabyte, too large for a module: shorten it")
        text, about = compiled.library.get_llvm_str(), compiled.fndesc
        yield _Kernel(name, text, about.mangled_name, kinds, compiled.signature.return_type)


def _linked(kernels: list[_Kernel], stored: Any) -> bytes:
    """The object code for wasm32 of all kernels; `stored`: a state in memory, as LLVM types it."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    machine = target.create_target_machine(opt=3, features=FEATURES)
    linked, *others = (_retargeted(kernel.text, machine) for kernel in kernels)
    for module in others:
        linked.link_in(module)
    added = ir.Module()
    _add_nextafter(added)
    for kernel in kernels:
        _wrap(added, kernel, stored)
    linked.link_in(_retargeted(str(added), machine))
    names = {kernel.name for kernel in kernels}
    for function in linked.functions:
        if not function.is_declaration and function.name not in names:
            function.linkage = "internal"
    for variable in linked.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    linked.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(linked, builder)
    # LLVM calls functions to compute with wide numbers, and these call others
    lent: set[str] = set()
    while missing := {*LENT} & {*wanted(code := bytes(machine.emit_object(linked)))} - lent:
        for name in sorted(missing):
            # The product of two numbers of 128 bits or, if `shift` is one of LLVM's, a shift of one
            lent_module, shift = ir.Module(), LENT[name]
            number, (one, other) = _begun(lent_module, name, INT128, [INT128, ir.IntType(32) if shift else INT128])
            halves = _shifted(number, one, other, shift) if shift else _multiplied(number, one, other)
            low, high = (number.zext(half, INT128) for half in halves)
            number.ret(number.or_(number.shl(high, INT128(WORD)), low))
            linked.link_in(_retargeted(str(lent_module), machine))
        lent |= missing
    return code


def _retargeted(text: str, machine: Any) -> Any:
    """LLVM code for the machine it was not made for."""
    text = re.sub(_definition(r"@_ZN7cpython"), "", text, flags=re.M | re.S)
    text = re.sub(_definition(r"@(NRT_incref|NRT_decref)\("), EMPTY, text, flags=re.M | re.S)
    text = re.sub(r"^target (triple|datalayout) .*$", "", text, flags=re.M)
    text = re.sub(r'"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", text)
    text = re.sub(r"= common (local_unnamed_addr )?global", "= internal global", text)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    return module


def _definition(name: str) -> str:
    """The pattern of definitions of functions of such a name."""
    return rf"^define [^\n]*{name}.*?^}}$"


def _begun(module: Any, name: str, result: Any, kinds: Any) -> tuple[Any, Any]:
    """The builder of a new function, and its arguments."""
    function = ir.Function(module, ir.FunctionType(result, kinds), name)
    return ir.IRBuilder(function.append_basic_block()), function.args


def _wrap(module: Any, kernel: _Kernel, stored: Any) -> None:
    """Add a function of plain numbers around a kernel: of wide states it takes and returns addresses."""
    kinds, kind = [*map(_kind, kernel.kinds)], _kind(kernel.result)
    pointer, status = ir.IntType(8).as_pointer(), ir.IntType(32)
    of_numba = ir.FunctionType(status, [kind.as_pointer(), pointer.as_pointer(), *kinds])
    function = ir.Function(module, of_numba, kernel.mangled)
    result = DOUBLE if kernel.result == nb.float64 else INT64
    builder, (*given,) = _begun(module, kernel.name, result, [INT64] * len(kinds))
    if any(isinstance(one, Wide) for one in kernel.kinds):
        number = builder.load(builder.inttoptr(given[0], stored.as_pointer()), align=8)
        given[0] = sized(builder, number, kinds[0].width)
    places = [builder.alloca(kind), builder.alloca(pointer)]
    for place in places:
        place.align = 8
    failed = builder.icmp_signed("!=", builder.call(function, [*places, *given]), status(0))
    with builder.if_then(failed):
        builder.call(module.declare_intrinsic("llvm.trap", (), ir.FunctionType(ir.VoidType(), ())), ())
        builder.unreachable()
    value = builder.load(places[0])
    if isinstance(kernel.result, Wide):
        place = builder.inttoptr(INT64(exports.STATE), stored.as_pointer())
        builder.store(sized(builder, value, stored.width), place, align=8)
        value = INT64(exports.STATE)
    builder.ret(value)


def _kind(kind: Any) -> Any:
    return ir.IntType(kind.width) if isinstance(kind, Wide) else DOUBLE if kind == nb.float64 else INT64


def _add_nextafter(module: Any) -> None:
    """Add the function that Numba calls for `np.nextafter`."""
    builder, (start, end) = _begun(module, "numba_nextafter", DOUBLE, [DOUBLE] * 2)
    builder.function.linkage = "linkonce_odr"
    up, positive = builder.fcmp_ordered(">", end, start), builder.fcmp_ordered(">", start, DOUBLE(0.0))
    step = builder.select(builder.icmp_signed("==", up, positive), INT64(1), INT64(-1))
    stepped = builder.add(builder.bitcast(start, INT64), step)
    least = builder.select(up, INT64(1), INT64(1 - (1 << 63)))
    stepped = builder.select(builder.fcmp_ordered("==", start, DOUBLE(0.0)), least, stepped)
    builder.ret(builder.select(builder.fcmp_ordered("==", start, end), end, builder.bitcast(stepped, DOUBLE)))


def _halves(builder: Any, number: Any) -> tuple[Any, Any]:
    """The low and the high half of a number of 128 bits."""
    return builder.trunc(number, INT64), builder.trunc(builder.lshr(number, INT128(WORD)), INT64)


def _shifted(builder: Any, number: Any, distance: Any, shift: str) -> tuple[Any, Any]:
    """The halves of a number that is shifted. Bits go from the half `source` to `target`."""
    low, high = _halves(builder, number)
    source, target = (low, high) if shift == "shl" else (high, low)
    shift_half, is_left = getattr(builder, shift), shift == "shl"
    distance = builder.zext(distance, INT64)
    steps = builder.and_(distance, INT64(63))
    is_far = builder.icmp_signed("!=", builder.and_(distance, INT64(64)), INT64(0))
    moved = shift_half(source, steps)
    # A shift by 64 is undefined: the bits that cross over go one step first
    onward, back = (builder.shl, builder.lshr) if is_left else (builder.lshr, builder.shl)
    crossing = back(back(source, INT64(1)), builder.xor(steps, INT64(63)))
    joined = builder.or_(onward(target, steps), crossing)
    rest = builder.ashr(high, INT64(63)) if shift == "ashr" else INT64(0)
    halves = builder.select(is_far, rest, moved), builder.select(is_far, moved, joined)
    return halves if is_left else halves[::-1]


def _multiplied(builder: Any, one: Any, other: Any) -> tuple[Any, Any]:
    """The halves of a product, from products of numbers of 32 bits."""

    def cut(number: Any) -> tuple[Any, Any]:
        return builder.and_(number, INT64((1 << 32) - 1)), builder.lshr(number, INT64(32))

    (a, c), (b, d) = _halves(builder, one), _halves(builder, other)
    (a_low, a_high), (b_low, b_high) = cut(a), cut(b)
    _, carry = cut(builder.mul(a_low, b_low))
    (p_low, p_high), (q_low, q_high) = cut(builder.mul(a_low, b_high)), cut(builder.mul(a_high, b_low))
    _, middle = cut(builder.add(builder.add(carry, p_low), q_low))
    high = builder.mul(a_high, b_high)
    for addend in (p_high, q_high, middle, builder.mul(a, d), builder.mul(b, c)):
        high = builder.add(high, addend)
    return builder.mul(a, b), high
