"""Checks of a game's promises, by random games and by searches of single states.

Imports base, rules, search.
"""
