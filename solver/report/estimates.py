"""The cost of solving a game, in words. The facts are `facts_of` a plan or an estimate of `estimate`."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from solver.report.facts import table


def sweep(facts: dict[str, Any]) -> str:
    """An exhaustive solve."""
    tiers = "some tier has cycles" if facts["cyclic"] else f"{facts['tiers']:,} tiers"
    stored = f"{facts['stored']:,}" if facts["counted"] else _about(facts) + rounded(facts["stored"])
    lines = [f"stored   {stored} states, {tiers}, {_from(facts)}"]
    if facts["whole"] and not facts["counted"]:
        most_likely = between(facts["least"], facts["most"])
        lines.append(f"         most likely {most_likely}; {rounded(facts['states'])} with finished ones")
    if facts["placements"] is not None:
        text = "placed   {numbered:,} by the rules, of which {unfinished:,} may be stored: play need not reach them"
        lines.append(text.format(**facts["placements"]))
    lines.append(f"time     about {duration(facts['seconds'])} on this machine")
    if facts["book_times"] is not None:
        names = {"verify": "verify", "trim": "trim --wdl --codec ranked", "pack": "pack"}
        seconds = [(name, facts["book_times"][key]) for key, name in names.items()]
        times = [f"{name} {duration(took)}" for name, took in seconds if took is not None]
        lines.append(f"         then about: {', '.join(times)}")
    return "\n".join(
        [
            *lines,
            f"memory   {_memory(facts)}",
            f"disk     about {facts['disk'] / 2**20:,.0f} MiB at its peak, the book's included",
            f"book     about {facts['book_bytes']:,} bytes",
        ]
    )


def opening(facts: dict[str, Any]) -> str:
    """An opening book."""
    lines = [f"ply {ply:3}  {count:,} states" for ply, count in enumerate(facts["plies"])]
    if not facts["counted"]:
        lines.append("the later plies as the earlier ones grow, for want of time")
    remark = f"; {facts['unfinished']} of it not finished, so rather more" if facts["unfinished"] else ""
    took = f"{duration(facts['seconds'])} +- {duration(facts['margin'])}"
    return "\n".join(
        [
            *lines,
            f"time     {took}, from a sample of {facts['sample']}{remark}",
            f"memory   {facts['memory'] / 2**20:,.0f} MiB",
            f"book     {facts['book_bytes']:,} bytes",
        ]
    )


def plan(facts: dict[str, Any]) -> str:
    """A solve on a cluster, tier by tier."""
    rows = [("tier", "states", "shards", "forward", "backward", "storage", "shuffle", "binds")]
    for tier in facts["tiers"]:
        numbers = (f"{tier[name]:,}" for name in ("states", "shards"))
        times = (f"{tier[name]:.2f} s" for name in ("forward", "backward"))
        longest = max(tier["phases"], key=itemgetter("seconds"))
        taken = size(tier["storage"]), size(tier["shuffle"])
        rows.append((str(tier["tier"]), *numbers, *times, *taken, longest["bound"]))
    return "\n".join(
        [
            *table(rows, ">"),
            f"stored   {_about(facts)}{facts['states']:,} states, {_from(facts)}",
            f"time     about {duration(facts['seconds'])}, {duration(facts['book_seconds'])} of it for the book",
            f"memory   about {size(facts['memory'])} a worker",
            f"storage  about {size(facts['storage'])}",
            f"shuffle  about {size(facts['shuffle'])}",
            f"book     about {facts['book_bytes']:,} bytes",
            *([f"price    {facts['price']:,.2f}"] if facts["price"] else []),
        ]
    )


def _memory(facts: dict[str, Any]) -> str:
    """Say the memory that a solve takes, or that it is more than there is."""
    needed, available = (facts[name] / 2**20 for name in ("least_memory", "given_memory"))
    if needed > available:
        return f"about {needed:,.0f} MiB are needed, {available:,.0f} MiB are allowed: give more with --memory"
    if facts["least_memory"] >= facts["memory"]:
        return f"about {needed:,.0f} MiB"
    remark = ", and then more time and disk" if facts["by_state"] or facts["least_memory"] else ""
    return f"about {facts['memory'] / 2**20:,.0f} MiB, less with --memory{remark}"


def between(low: int, high: int) -> str:
    """A range in two figures, rounded outwards: 1.2 to 120 million."""
    low_step, high_step = (10 ** max(0, len(str(count)) - 2) for count in (low, high))
    lower, upper = number(low // low_step * low_step), number(-(-high // high_step) * high_step)
    unit = upper.partition(" ")[2]
    return f"{lower.removesuffix(f' {unit}') if unit else lower} to {upper}"


def rounded(count: int) -> str:
    """A number to two figures."""
    return number(int(float(f"{count:.1e}")))


def number(count: int) -> str:
    """A round number in words from a million on: 1.2 million."""
    for unit, size in (("trillion", 10**12), ("billion", 10**9), ("million", 10**6)):
        if count >= size:
            return f"{count / size:,.10g} {unit}"
    return f"{count:,}"


def _about(facts: dict[str, Any]) -> str:
    return "" if facts["counted"] else "about " if facts["whole"] else "more than "


def _from(facts: dict[str, Any]) -> str:
    return "counted" if facts["counted"] else "from samples"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


def size(count: float) -> str:
    """Bytes in the unit that suits them."""
    for unit, factor in (("ZB", 1e21), ("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"
