"""Answers: a player from a book, live search where it is silent, and what is said of its moves.

Imports book, compiled and below.
"""
