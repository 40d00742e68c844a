"""Searches of limited depth, and the evaluation of the states where they end: `evaluate`, learned evaluations."""
