"""From a game to its book: which way of solving is taken, what it refuses and heeds, and writing what it found.

Imports the rooms of ways, sweep and cluster, and below.
"""
