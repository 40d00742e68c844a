"""Solving a game whole: forward over all reachable states, backward with their values.

Imports store, compiled, book and below.
"""
