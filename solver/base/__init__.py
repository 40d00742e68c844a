"""What every room stands on: values and their arithmetic, errors, progress, files, memory, threads.

Imports no other room.
"""
