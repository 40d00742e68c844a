"""Books as facts and for people: the content of one, what its verification found, and how two differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from solver.base.kinds import Kind
from solver.base.value import Value, counted, in_plies
from solver.book import Book, Header
from solver.book.solution import PROOF
from solver.report.facts import facts_of

HEADER_FACTS = ("wdl", "conversion", "expectation", "estimate", "trim", "codec")  # facts of a header, after its values


def facts(header: Header, size: int | None) -> dict[str, Any]:
    """The facts of a header; size in bytes, None if no book was written."""
    numbers, longest_win = header.numbers, header.longest
    names = ("game", "rules", "method", "scope", "symmetry", "states", "terminal", "stored", "counts", "tiers", "root")
    return {
        **{name: facts_of(getattr(header, name)) for name in names},
        "longest": None if longest_win is None else {"distance": longest_win[0], "position": f"#{longest_win[1]}"},
        "values": None
        if numbers is None
        else [{**value._asdict(), "stored": number} for value, number in zip(header.palette, numbers, strict=True)],
        **{name: facts_of(getattr(header, name)) for name in HEADER_FACTS},
        "start": None if header.start is None else f"#{header.start}",
        "bytes": size,
        "bits_per_state": size * 8 / header.stored if size and header.stored else None,
        "digest": header.digest or None,
    }


def written(header: Header, path: str | None, seconds: float) -> dict[str, Any]:
    """The facts of a book that was just made; `path` is None if it was not written."""
    return {**facts(header, os.path.getsize(path) if path else None), "seconds": seconds, "book": path}


def row(book: Book) -> str:
    """A book in a line, as in a list of them."""
    worth = book.header.verdict
    return f"{book.header.game:24} {len(book):9,} states  {book.size:7,} bytes  {worth}"


def text(facts: dict[str, Any], kind: Kind, counts: bool = False) -> str:
    """The facts as a table of names and values; with `counts` also those by tier and by value."""
    root = Value(facts["root"]["score"], facts["root"]["distance"])
    counted = facts["counts"].values()
    folded = "folded by symmetry" if facts["symmetry"] else "no symmetry"
    start = facts["start"]
    rows = {
        "game": facts["game"],
        "value": f"{kind.words(root)} for the side to move at {start}" if start else kind.verdict(root),
        "values": (facts["expectation"] and expected(facts["expectation"]))
        or (facts["estimate"] and estimated(facts["estimate"], facts["values"])),
        "method": f"{facts['method']}, {facts['scope']}, {folded}{kind.remark}",
        "trimmed": facts["trim"] and trimmed(facts["trim"]),
        "states": None if facts["states"] is None else f"{facts['states']:,}, {facts['terminal']:,} of them terminal",
        "stored": f"{facts['stored']:,}",
        "to move": ", ".join(f"{count:,} {name}" for name, count in zip(kind.counted, counted, strict=True))
        + (f": all {facts['states']:,}, terminal ones included" if facts["states"] is not None else ""),
    }
    if facts["longest"]:
        distance, line = facts["longest"]["distance"], facts["longest"].get("line")
        rows["longest"] = longest(distance, facts["longest"]["position"], kind.converts)
        rows[""] = line and " ".join(line if len(line) >= distance else [*line, "..."])
    if facts["bytes"]:
        per_state = f", {facts['bits_per_state']:.2f} bits a stored state" if facts["bits_per_state"] else ""
        rows["size"] = f"{facts['bytes']:,} bytes{per_state}, {facts['codec']} codec"
    rows |= {"rules": facts["rules"], "digest": facts["digest"]}
    if "seconds" in facts:
        written_text = f"written to {facts['book']}" if facts["book"] else "no book: -o"
        rows["time"] = f"{facts['seconds']:.2f} s, {written_text}"
    lines = [f"{name:8} {value}" for name, value in rows.items() if value]
    return "\n".join([*lines, *(["", tables(facts, kind)] if counts else [])])


def expected(expectation: dict[str, Any]) -> str:
    """The facts about a book's expectations."""
    return "expected {of}, steps of {step:.3g}, within {error:.3g}".format(**expectation)


def estimated(estimate: dict[str, Any], values: list[dict[str, Any]] | None) -> str:
    """The facts about a grown book's values."""
    source_text = "estimates of searches of {} by {evaluation} ({identity:.8})".format(
        in_plies(estimate["depth"]), **estimate
    )
    if values is None:
        return source_text
    exact = sum(value["stored"] for value in values if not isinstance(value["score"], float))
    return f"{exact:,} exact, the others {source_text}"


def longest(distance: int, position: str, to_conversion: bool = False) -> str:
    """The longest win, or way to a conversion, and where it begins."""
    return f"{'win, conversion' if to_conversion else 'win'} in {in_plies(distance)}, at {position}"


def trimmed(trim: dict[str, Any]) -> str:
    """The facts about a trimmed book."""
    kept_texts = []
    if trim["side"]:
        kept_texts.append(
            f"what the {trim['side']} player needs" if trim["side"] != "both" else "what either player needs"
        )
    if trim["max_ply"] is not None:
        kept_texts.append(f"to ply {trim['max_ply']}")
    if trim["plies"]:
        kept_texts.append(f"nothing that {in_plies(trim['plies'])} settle{'s' if trim['plies'] == 1 else ''}")
    if trim["max_bytes"] is not None:
        kept_texts.append(f"the earliest that fit into {trim['max_bytes']:,} bytes")
    if trim["scope"] == PROOF:
        return f"{', '.join(kept_texts)}, as a search has proved"
    return f"{', '.join(kept_texts)}; of the {trim['scope']} book {trim['source'][:16]}"


def tables(facts: dict[str, Any], kind: Kind) -> str:
    """The counts by tier, terminal states included, and by value, for the side to move."""
    lines = []
    if facts["tiers"]:
        lines.append(f"{'tier':>6} {'states':>15} {'terminal':>15} {'wins':>15} {'draws':>15} {'losses':>15}")
        for tier in facts["tiers"]:
            counts = " ".join(f"{tier[name]:15,}" for name in ("states", "terminal", "win", "draw", "loss"))
            lines.append(f"{tier['tier']:6} {counts}")
    if facts["values"]:
        lines += ["", f"{'to conversion' if kind.converts else 'value':>14} {'stored':>15}"]
        for value in facts["values"]:
            name = kind.entry(Value(value["score"], value["distance"]))
            lines.append(f"{name:>14} {value['stored']:15,}")
    return "\n".join(lines).strip("\n")


def verified(facts: dict[str, Any]) -> str:
    """Say the verdict on a book, by the facts of a report of `verifying`, and the sides that were played out."""
    work_text = "verified in {seconds:.2f} s, {plain:,} of them in plain Python".format(**facts)
    verdict_text = f"{facts['verdict']}: {counted(facts['states'], 'state')} {work_text}; {facts['basis']}"
    if facts["note"]:
        verdict_text += f"\nplain Python judged, not the compiled rules: {facts['note']}"
    if not facts["played"]:
        return verdict_text
    who = " and the ".join(facts["played"])
    return (
        f"{verdict_text}\nplayed against every reply, from {counted(facts['positions'], 'position')}: the {who} player"
        " gets at least the value of each"
    )


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


def diff_facts(differences: Any) -> dict[str, Any]:
    """Return the facts of differences (`edit.comparing.diff`). A value that a book lacks is null."""
    return {
        "equal": differences.equal,
        "header": {name: facts_of(pair) for name, pair in differences.header.items()},
        "only_first": differences.only_first,
        "only_second": differences.only_second,
        "other_values": differences.other_values,
        "states": facts_of(differences.examples),
    }


def diff_text(facts: dict[str, Any]) -> str:
    """The differences for people."""
    if facts["equal"]:
        return "the books hold the same"
    numbers = [facts[name] for name in ("only_first", "only_second", "other_values")]
    lines = []
    for name, pair in facts["header"].items():
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
