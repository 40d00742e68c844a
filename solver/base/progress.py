"""How long work says how far it is: a callback, so that only the command line knows about bars."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """`progress(step, done, total, note)`: the step's name, units done and in all (None while unknown, 0 where there
    is nothing to count), a remark."""

    def __call__(self, step: str, done: int, total: int | None, note: str = "") -> None: ...


def silent(step: str, done: int, total: int | None, note: str = "") -> None:
    """Say nothing."""
