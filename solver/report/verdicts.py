"""What verifying a book has found, in words. The facts are `facts_of` a report of `verifying`."""

from __future__ import annotations

from typing import Any


def text(facts: dict[str, Any]) -> str:
    """The verdict, how it was come by, what it rests on, and for whom the book was played out."""
    done = "{states:,} states verified in {seconds:.2f} s, {plain:,} of them in plain Python".format(**facts)
    said = f"{facts['verdict']}: {done}; {facts['basis']}"
    if facts["note"]:
        said += f"\nplain Python judged, not the compiled rules: {facts['note']}"
    if not facts["played"]:
        return said
    who = " and the ".join(facts["played"])
    return (
        f"{said}\nplayed against every reply, from {facts['positions']:,} positions: the {who} player gets at least the"
        " value of each"
    )
