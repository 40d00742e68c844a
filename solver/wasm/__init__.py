"""Modules of WebAssembly: their bytes, the layout of their memory, and a host that asks them.

`docs/guides/webassembly.md` describes them for hosts in other languages. Imports base, rules, search.
"""
