"""Searches of limited depth, and what is said of the states where they end: `evaluate`, learned evaluations."""
