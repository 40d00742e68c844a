"""How long work says how far it is: a callback, so that only the command line knows about bars."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, "int | None"], None]
"""`progress(step, done, total)`: the step's name, units done (positions, groups) and in all, None while unknown."""


def silent(step: str, done: int, total: int | None) -> None:
    """Say nothing."""
