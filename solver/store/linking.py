"""Compile the parts of kernels, with private names of Numba.

Tried with Numba 0.68.0 and 0.68.1. The import raises ImportError or AttributeError if a version of Numba lacks one of
those names.
"""

from __future__ import annotations

from typing import Any

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

for _name in ("_optimize_functions", "_raise_if_finalized", "_get_module_for_linking", "finalize"):
    getattr(JITCodeLibrary, _name)


class Part(JITCodeLibrary):
    """Code that is neither optimised nor made machine code before it is linked into something that is."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lowering without an address to call: callers know the part by its library."""

    _name = "part_lowering"
    lowering_class: Any = Lower

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        # Numba has one object for this pass. It reads `lowering_class` before it compiles anything else.
        is_checked = getattr(state.func_id.func, "is_checked", False)
        self.lowering_class = PartCompiler.checking_class if is_checked else Lower
        super().run_pass(state)
        state.library.finalize()
        lowered = state["cr"]
        about, module = lowered.fndesc, lowered.fndesc.lookup_module()
        handle = make_function(module, about.qualname, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(handle, about, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=handle)
        return True


class PartCompiler(Compiler):
    """A `pipeline_class` for functions that only compiled ones call."""

    # `compiled.binding` puts it here
    checking_class: Any = None

    def define_pipelines(self) -> list[Any]:
        state = self.state
        if state.library is None:
            state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        pipelines: list[Any] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (PartLowering, about) if compiler_pass is NativeLowering else (compiler_pass, about)
                for compiler_pass, about in pipeline.passes
            ]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines
