"""Results as plain facts, ready for JSON, and tables of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base.value import Value


def facts_of(record: Any) -> Any:
    """A result, and all in it: named tuples by the names of their fields, values with their outcome."""
    if isinstance(record, Value):
        return worth(record)
    if hasattr(record, "_asdict"):
        return {name: facts_of(field) for name, field in record._asdict().items()}
    return [facts_of(field) for field in record] if isinstance(record, (list, tuple)) else record


def worth(value: Value | None) -> dict[str, Any]:
    """The fields of a value; None throughout for one that is not known."""
    if value is None:
        return {"value": None, "score": None, "distance": None}
    return {"value": value.outcome, "score": value.score, "distance": value.distance}


def table(rows: Sequence[Sequence[str]], align: str = "<") -> list[str]:
    """Lines of cells, two spaces between columns that are as wide as they must be.

    `align` has "<" or ">" for each column; the last holds for all further ones.
    """
    aligned = align.ljust(len(rows[0]), align[-1])
    formats = [f"{side}{max(map(len, column))}" for side, column in zip(aligned, zip(*rows, strict=True), strict=True)]
    padded = ([f"{cell:{form}}" for cell, form in zip(row, formats, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in padded]
