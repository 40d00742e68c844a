"""The base of every room: values and their arithmetic, errors, progress, files, memory, threads.

Imports no other room.
"""
