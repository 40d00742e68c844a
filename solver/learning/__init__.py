"""Learned evaluations: features of states, models fitted to values or evolved by play, and matches between players."""

SOLVE_IT = "solve it and play from its book"  # what to do with games of chance
