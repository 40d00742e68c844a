"""Building a module: the compiled functions of a game's rules and searches, made for WebAssembly.

Numba's LLVM code of a kernel is that of a tree of functions, which LLVM compiles for wasm32 as well: calls to Numba
and Python (references, wrappers) are cut or empty. Around each exported kernel goes a function of plain numbers,
which traps where the rules raise an error.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import llvmlite.binding as llvm
from numba import types as nb

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.compiled.binding import bind, compiling
from solver.compiled.exact.table import LIMIT, WIN
from solver.compiled.module import depth, exact
from solver.compiled.module import rules as of_rules
from solver.compiled.module.code import HELPERS, LENT, wrapper
from solver.compiled.states import more_of, width_of
from solver.compiled.wide import Wide
from solver.rules.game import Rules, own_method
from solver.rules.width import USUAL, refuse_wide
from solver.wasm import exports
from solver.wasm.binary import finished, wanted

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+sign-ext,+nontrapping-fptoint"
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
    with compiling(rules.game):
        module_parts = [_Part(of_rules, rules, _exported(rules, ranks), progress)]
        if searches(rules):
            module_parts.append(_Part(exact, rules, exports.EXACT, progress))
        if rules.chance is None:
            module_parts.append(_Part(depth, rules, exports.DEPTH, progress))
        progress("link", 0, 0)
        code = _linked(module_parts)
    names = [name for module_part in module_parts for name in module_part.names]
    return finished(code, names, facts(rules), exports.DESK, 2, exports.MOST_PAGES)


def searches(rules: Rules) -> bool:
    """Whether the module of a game searches: alpha-beta takes no chance, and no game that is one tier."""
    return rules.chance is None and rules.tiered


def facts(rules: Rules) -> dict[str, Any]:
    """Return the facts that a module states about itself."""
    about = {"game": rules.name, "rules": rules.fingerprint, "symmetry": rules.folds}
    return exports.shape_of(rules.bits) | about | {"scores": rules.scores, "win": WIN, "limit": LIMIT}


def _exported(rules: Rules, ranks: bool) -> dict[str, int]:
    """The methods of a game that its module exports, and how many numbers each takes."""
    wanted = exports.OPTIONAL | (exports.RANKS if ranks else {})
    has = {name: count for name, count in wanted.items() if own_method(rules.game, name) is not None}
    if ranks and rules.numbering is not None:
        has |= {name: exports.RANKS[name] for name in ("rank", "unrank")}
    if not rules.folds:
        has.pop("canonical", None)
    return exports.REQUIRED | has


class _Part:
    """The code of some kernels of a module of kernels."""

    def __init__(self, home: Any, rules: Rules, names: dict[str, int], progress: Progress) -> None:
        self.names = names
        kernels = bind(sys.modules[home.__name__], rules.game, rules.symmetry, cached=False)
        state = Wide(width_of(more_of(rules.bits))) if rules.bits > USUAL else nb.int64
        self.texts, self.wrappers = [], []
        for name, count in names.items():
            progress("compile", 0, 0, name)
            first_types = (state,) if name in exports.TAKING else ()
            kernel, kinds = getattr(kernels, name), first_types + (nb.int64,) * (count - len(first_types))
            kernel.compile(kinds)
            compiled = kernel.overloads[kinds]
            self.texts.append(compiled.library.get_llvm_str())
            mangled, result = compiled.fndesc.mangled_name, compiled.signature.return_type
            self.wrappers.append(wrapper(name, mangled, kinds, result, rules.bits))


def _linked(module_parts: list[_Part]) -> bytes:
    """The object code of all functions of the parts for wasm32."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    machine = target.create_target_machine(opt=3, features=FEATURES)
    linked, *others = (_retargeted(text, machine) for module_part in module_parts for text in module_part.texts)
    for module in others:
        linked.link_in(module)
    wrappers = HELPERS + "".join(wrapper for module_part in module_parts for wrapper in module_part.wrappers)
    names = {name for module_part in module_parts for name in module_part.names}
    linked.link_in(_retargeted(wrappers, machine))
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
            linked.link_in(_retargeted(LENT[name], machine))
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
