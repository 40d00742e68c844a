"""The differences of two books, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.base.value import Value
from solver.report.books import estimated, expected, longest, trimmed
from solver.report.facts import facts_of

FACT_NAMES = {
    "trim": "trimmed",
    "longest": "longest win",
    "wdl": "without distances",
    "conversion": "with distances to a conversion",
    "root": "start",
    "start": "begins at state",
}
WORDS: dict[str, Callable[[Any], str]] = {
    "counts": lambda fact: ", ".join(f"{name} {count:,}" for name, count in fact.items()),
    "estimate": lambda fact: estimated(fact, None),
    "expectation": expected,
    "longest": lambda fact: longest(fact[0], f"#{fact[1]}"),
    "root": lambda fact: _said(fact),
    "trim": trimmed,
}


def facts(differences: Any) -> dict[str, Any]:
    """Return the facts of differences (`edit.comparing.diff`). A value that a book lacks is null."""
    return {
        "equal": differences.equal,
        "header": {
            name: [fact._asdict() if hasattr(fact, "_asdict") else fact for fact in pair]
            for name, pair in differences.header.items()
        },
        "only_first": differences.only_first,
        "only_second": differences.only_second,
        "other_values": differences.other_values,
        "states": facts_of(differences.examples),
    }


def text(facts: dict[str, Any]) -> str:
    """The differences for people."""
    if facts["equal"]:
        return "the books hold the same"
    numbers = [facts[name] for name in ("only_first", "only_second", "other_values")]
    header = facts["header"].items()
    lines = []
    for name, pair in header:
        left_fact, right_fact = ("none" if fact is None else WORDS.get(name, str)(fact) for fact in pair)
        lines.append(f"{FACT_NAMES.get(name, name)}: {left_fact} / {right_fact}")
    lines.append("states: {:,} only in the first, {:,} only in the second, {:,} of other values".format(*numbers))
    lines += [
        f"  #{left_fact['state']}  {_said(left_fact['first'])} / {_said(left_fact['second'])}"
        for left_fact in facts["states"]
    ]
    hidden = sum(numbers) - len(facts["states"])
    return "\n".join(lines + ([f"and {hidden:,} more: --most"] if hidden else []))


def _said(facts: dict[str, Any] | None) -> str:
    return "missing" if facts is None else Value(facts["score"], facts["distance"]).words(as_number=True)
