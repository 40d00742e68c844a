"""How long work says how far it is: a callback, so that only the command line knows about bars."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback: `progress(step, done, total, note)`.

    `step` is the step's name, `done` the units done, and `total` the units in all: None while that is unknown, 0 if
    there is nothing to count. `note` is a remark.
    """

    def __call__(self, step: str, done: int, total: int | None, note: str = "") -> None: ...


def silent(step: str, done: int, total: int | None, note: str = "") -> None:
    """Say nothing."""
