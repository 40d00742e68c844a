"""From a game to its book: choose a way of solving, refuse options that do not fit, solve, and write the book.

Imports the rooms of ways, sweep and cluster, and below.
"""
