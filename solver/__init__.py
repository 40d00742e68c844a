"""Strongly solve two-player games and ship the answers."""

__version__ = "0.1.0"
