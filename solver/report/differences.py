"""What tells two books apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.base.value import Value
from solver.report.books import estimated, expected, longest, trimmed
from solver.report.facts import facts_of

NAMES = {"trim": "trimmed", "longest": "longest win", "wdl": "without distances", "root": "start"}
WORDS: dict[str, Callable[[Any], str]] = {
    "counts": lambda fact: ", ".join(f"{name} {count:,}" for name, count in fact.items()),
    "estimate": lambda fact: estimated(fact, None),
    "expectation": expected,
    "longest": lambda fact: longest(fact[0], f"#{fact[1]}"),
    "root": lambda fact: _said(fact),
    "trim": trimmed,
}


def facts(found: Any) -> dict[str, Any]:
    """The facts of differences (`edit.comparing.diff`); what a book lacks is null."""
    return {
        "equal": found.equal,
        "header": {name: [_named(fact) for fact in pair] for name, pair in found.header.items()},
        "only_first": found.only_first,
        "only_second": found.only_second,
        "other_values": found.other_values,
        "states": facts_of(found.examples),
    }


def _named(fact: Any) -> Any:
    return fact._asdict() if hasattr(fact, "_asdict") else fact


def text(facts: dict[str, Any]) -> str:
    """The differences for people."""
    if facts["equal"]:
        return "the books hold the same"
    numbers = [facts[name] for name in ("only_first", "only_second", "other_values")]
    header = facts["header"].items()
    lines = [f"{NAMES.get(name, name)}: {_plain(name, one)} / {_plain(name, other)}" for name, (one, other) in header]
    lines.append("states: {:,} only in the first, {:,} only in the second, {:,} of other values".format(*numbers))
    lines += [f"  #{one['state']}  {_said(one['first'])} / {_said(one['second'])}" for one in facts["states"]]
    hidden = sum(numbers) - len(facts["states"])
    return "\n".join(lines + ([f"and {hidden:,} more: --most"] if hidden else []))


def _plain(name: str, fact: Any) -> str:
    return "none" if fact is None else WORDS.get(name, str)(fact)


def _said(facts: dict[str, Any] | None) -> str:
    return "missing" if facts is None else Value(facts["score"], facts["distance"]).words(as_number=True)
