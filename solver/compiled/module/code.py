"""LLVM code that a module has besides its kernels': functions of plain numbers, and parts that WebAssembly lacks.

Compilers bring a library for the arithmetic on 128 bits that processors lack. These are the functions of it that LLVM
calls: shifts and products, made of numbers of 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import types as nb

from solver.compiled.wide import WORD, Wide
from solver.rules.width import words_of
from solver.wasm import exports

KINDS = {nb.int64: "i64", nb.float64: "double"}
HELPERS = """
declare void @llvm.trap()

define linkonce_odr double @numba_nextafter(double %from, double %to) {
  %same = fcmp oeq double %from, %to
  %up = fcmp ogt double %to, %from
  %positive = fcmp ogt double %from, 0.0
  %away = icmp eq i1 %up, %positive
  %step = select i1 %away, i64 1, i64 -1
  %bits = bitcast double %from to i64
  %next = add i64 %bits, %step
  %zero = fcmp oeq double %from, 0.0
  %least = select i1 %up, i64 1, i64 -9223372036854775807
  %chosen = select i1 %zero, i64 %least, i64 %next
  %moved = bitcast i64 %chosen to double
  %result = select i1 %same, double %to, double %moved
  ret double %result
}
"""

HALVES = """
  %low = trunc i128 %number to i64
  %upper = lshr i128 %number, 64
  %high = trunc i128 %upper to i64
  %wide = zext i32 %distance to i64
  %steps = and i64 %wide, 63
  %others = xor i64 %steps, 63
  %bit = and i64 %wide, 64
  %far = icmp ne i64 %bit, 0
"""
WHOLE_MODULE = """
  %bottom = zext i64 %first to i128
  %top = zext i64 %second to i128
  %raised = shl i128 %top, 64
  %result = or i128 %raised, %bottom
  ret i128 %result
}
"""
# by their names in the library that compilers bring
LENT = {
    "__ashlti3": f"""
define i128 @__ashlti3(i128 %number, i32 %distance) {{{HALVES}
  %moved = shl i64 %low, %steps
  %half = lshr i64 %low, 1
  %carried = lshr i64 %half, %others
  %left = shl i64 %high, %steps
  %joined = or i64 %left, %carried
  %first = select i1 %far, i64 0, i64 %moved
  %second = select i1 %far, i64 %moved, i64 %joined
{WHOLE_MODULE}""",
    **{
        f"__{shift}ti3": f"""
define i128 @__{shift}ti3(i128 %number, i32 %distance) {{{HALVES}
  %moved = {shift} i64 %high, %steps
  %half = shl i64 %high, 1
  %carried = shl i64 %half, %others
  %right = lshr i64 %low, %steps
  %joined = or i64 %right, %carried
  %none = {shift} i64 {sign}, 63
  %first = select i1 %far, i64 %moved, i64 %joined
  %second = select i1 %far, i64 %none, i64 %moved
{WHOLE_MODULE}"""
        for shift, sign in (("lshr", 0), ("ashr", "%high"))
    },
    "__multi3": f"""
define i128 @__multi3(i128 %one, i128 %other) {{
  %a = trunc i128 %one to i64
  %b = trunc i128 %other to i64
  %one_upper = lshr i128 %one, 64
  %other_upper = lshr i128 %other, 64
  %c = trunc i128 %one_upper to i64
  %d = trunc i128 %other_upper to i64
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %carry = lshr i64 %p00, 32
  %p01_low = and i64 %p01, 4294967295
  %p10_low = and i64 %p10, 4294967295
  %sum = add i64 %carry, %p01_low
  %middle = add i64 %sum, %p10_low
  %first = mul i64 %a, %b
  %p01_high = lshr i64 %p01, 32
  %p10_high = lshr i64 %p10, 32
  %middle_high = lshr i64 %middle, 32
  %s1 = add i64 %p11, %p01_high
  %s2 = add i64 %s1, %p10_high
  %s3 = add i64 %s2, %middle_high
  %ad = mul i64 %a, %d
  %bc = mul i64 %b, %c
  %s4 = add i64 %s3, %ad
  %second = add i64 %s4, %bc
{WHOLE_MODULE}""",
}


def wrapper(name: str, mangled: str, kinds: Sequence[Any], result: Any, bits: int) -> str:
    """A function of plain numbers around a compiled one: of wide states it takes and returns addresses."""
    stored = f"i{words_of(bits) * WORD}"
    taken = ", ".join(f"i64 %a{index}" for index in range(len(kinds)))
    names = ["%state" if isinstance(kind, Wide) else f"%a{index}" for index, kind in enumerate(kinds)]
    passed = "".join(f", {_kind(kind)} {name}" for kind, name in zip(kinds, names, strict=True))
    kind = _kind(result)
    returned = "double" if result == nb.float64 else "i64"
    load, store = "", f"  ret {kind} %value"
    if any(isinstance(one, Wide) for one in kinds):
        load = f"""
  %place = inttoptr i64 %a0 to ptr
  %words = load {stored}, ptr %place, align 8
  {_resized("state", stored, "words", _kind(kinds[0]))}"""
    if isinstance(result, Wide):
        store = f"""  {_resized("found", kind, "value", stored)}
  store {stored} %found, ptr inttoptr (i64 {exports.STATE} to ptr), align 8
  ret i64 {exports.STATE}"""
    return f"""
define {returned} @{name}({taken}) {{{load}
  %result = alloca {kind}, align 8
  %error = alloca ptr, align 8
  %status = call i32 @{mangled}(ptr %result, ptr %error{passed})
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %failed
failed:
  call void @llvm.trap()
  unreachable
done:
  %value = load {kind}, ptr %result
{store}
}}
declare i32 @{mangled}(ptr, ptr{"".join(f", {_kind(one)}" for one in kinds)})
"""


def _kind(kind: Any) -> str:
    if isinstance(kind, Wide):
        return f"i{kind.width}"
    return KINDS[nb.float64 if kind == nb.float64 else nb.int64]


def _resized(name: str, source: str, number: str, target: str) -> str:
    """A line that gives a number another size."""
    larger, smaller = int(target[1:]) > int(source[1:]), int(target[1:]) < int(source[1:])
    return f"%{name} = {'zext' if larger else 'trunc' if smaller else 'bitcast'} {source} %{number} to {target}"
