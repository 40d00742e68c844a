"""Books made from books: trimmed, merged, compared, sampled.

Imports solving, sweep, book and below.
"""
