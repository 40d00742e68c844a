"""Answers: a player from a book, live search where the book is silent, and the judgement of its moves.

Imports book, compiled and below.
"""
