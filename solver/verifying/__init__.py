"""What is true of a book: its values against rules, searches and play, and which of it was proved.

Imports book, play, sweep and below.
"""
