"""Tables of words."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], align: str = "<") -> list[str]:
    """Lines of cells, two spaces between columns that are as wide as they must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in padded]
