"""The result of verifying a book, in words. The facts are `facts_of` a report of `verifying`."""

from __future__ import annotations

from typing import Any


def text(facts: dict[str, Any]) -> str:
    """Say the verdict, how it was reached, its basis, and the sides for which the book was played out."""
    work_text = "{states:,} states verified in {seconds:.2f} s, {plain:,} of them in plain Python".format(**facts)
    verdict_text = f"{facts['verdict']}: {work_text}; {facts['basis']}"
    if facts["note"]:
        verdict_text += f"\nplain Python judged, not the compiled rules: {facts['note']}"
    if not facts["played"]:
        return verdict_text
    who = " and the ".join(facts["played"])
    return (
        f"{verdict_text}\nplayed against every reply, from {facts['positions']:,} positions: the {who} player"
        " gets at least the value of each"
    )
