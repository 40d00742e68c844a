"""Results as plain facts, ready for JSON, tables of words, and pages."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
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


def filled(page: str, /, **parts: str | Sequence[str]) -> str:
    """Return a page: the template of that name beside this file, with its parts; several of one become lines."""
    text = Path(__file__).with_name(page).read_text("utf-8")
    lines = {part: content if isinstance(content, str) else "\n".join(content) for part, content in parts.items()}
    return string.Template(text).substitute(lines)
