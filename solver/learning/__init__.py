"""Learned evaluations: features of states, models fitted to values or evolved by play, and matches between players."""
