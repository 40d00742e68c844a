"""What rules promise, tried: by random games, and by searches of single states.

Imports base, rules, search.
"""
