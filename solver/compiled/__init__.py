"""Rules compiled by Numba: how they become machine code, their moves as arrays, their agreement with plain Python.

Searches of single states are in `exact`, those of limited depth in `lookahead`. Imports base, games, rules, search,
check.
"""
