"""The truth of a book: its values against rules, searches and play, and which of them are proved.

Imports book, play, sweep and below.
"""
