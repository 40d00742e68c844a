"""Values and numbers in words."""

from __future__ import annotations

from collections.abc import Sequence

from solver.base.value import Value
from solver.rules.game import Rules
from solver.rules.notation import in_words


def in_all(value: Value | None, rules: Rules, gained: int | None, estimate: float | None = None) -> str:
    """`in_words` of a position: where moves score, what is still to come, and what was `gained` before, if anything."""
    words = in_words(value, rules, estimate)
    if rules.reward is None:
        return words
    if not gained:
        return f"{words} still to come"
    both = f"margin so far {gained:+d}, still to come {words}"
    return both if value is None else f"{_final(gained + value.score)}: {both}"


def at_the_end(value: Value | None, rules: Rules, gained: int | None) -> str:
    """`in_words` of a finished position; where moves scored, the margin that they made, if they are known."""
    if rules.reward is None:
        return in_words(value, rules)
    return "margin not known" if gained is None or value is None else _final(gained + value.score)


def table(rows: Sequence[Sequence[str]], align: str = "<") -> list[str]:
    """Lines of cells, two spaces between columns that are as wide as they must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in padded]


def _final(margin: float) -> str:
    return f"{margin:+g}" if margin else "tie"
