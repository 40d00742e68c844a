"""Searches side by side: those to the end of the game, and those of limited depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base.value import Value
from solver.report.facts import table, worth
from solver.rules.game import Rules
from solver.rules.notation import names_of, show
from solver.search.comparison import Tally
from solver.search.deepening import Look


def tallies(tally_list: Sequence[Tally]) -> list[dict[str, Any]]:
    """The facts of searches to the end."""
    return [
        {"search": tally.trial.name, **worth(tally.value), **_counts(tally), "seconds": round(tally.seconds, 6)}
        for tally in tally_list
    ]


def compared(rules: Rules, tally_list: Sequence[Tally], limit: int) -> str:
    """Searches to the end as a table, and the value that all of them find."""
    rows = [["nodes", "leaves", "cuts", "at once", "from table", "table size", "seconds", "search"]]
    for tally in tally_list:
        counts = _counts(tally)
        del counts["at_once"]
        counts["refuted"] = None
        cells = ["" if count is None else f"{count:,}" for count in counts.values()]
        if tally.refuted:
            cells[3] = f"{100 * tally.at_once / tally.refuted:.1f} %"
        if tally.value is None:
            cells[0], cells[1] = f">{limit:,}", f"{tally.leaves:,}" if tally.leaves else ""
        rows.append([*cells, f"{tally.seconds:.2f}", tally.trial.name])
    lines = table(rows, ">>>>>>><")
    values = {tally.value for tally in tally_list if tally.value is not None}
    # Correct rules give one value
    value_text = " or ".join(rules.kind.words(value) for value in values)
    verdict = f"value {value_text} for the side to move" if value_text else "none came to its end: --nodes"
    reasons = _orders(tally_list)
    return "\n".join([*lines, "", verdict, *([""] if reasons else []), *reasons])


def _orders(tally_list: Sequence[Tally]) -> list[str]:
    """Why orders of moves help or hurt alpha-beta without a table: how often the first move refutes."""
    ended = {
        tally.trial.order: tally for tally in tally_list if tally.trial.prune and not tally.trial.table and tally.value
    }
    given = ended.pop("given", None)
    if given is None or not given.refuted:
        return []
    share = given.at_once / given.refuted
    lines = [
        "At once: of the positions where a move is too good for the other side to allow, so that alpha-beta need not",
        f"look at the others, the share where the first move tried was: {100 * share:.1f} % with moves as they come.",
    ]
    for order, tally in ended.items():
        if not tally.refuted:
            continue
        own, ratio = tally.at_once / tally.refuted, tally.nodes / given.nodes
        expected = (own > share) == (ratio < 1)
        reason = "so it visits" if expected else "yet it visits"
        name = {"best": "best moves first", "worst": "worst moves first"}.get(order, "the rules' promise first")
        lines.append(f"  {name}: {100 * own:.1f} %, {reason} {ratio:.2f} times as many nodes")
    return lines


def looks(rules: Rules, look_list: Sequence[Look], state: Any) -> list[dict[str, Any]]:
    """The facts of searches of limited depth."""
    return [
        {
            "depth": look.depth,
            **worth(look.value),
            "exact": look.exact,
            "line": [*names_of(rules, state, look.line)],
            "end": look.end,
            "estimate": look.estimate,
            "minimax": look.minimax,
            "alphabeta": look.alphabeta,
            "deepening": look.deepening,
        }
        for look in look_list
    ]


def deepened(rules: Rules, look_list: Sequence[Look], state: Any, limit: int) -> str:
    """Searches of limited depth as a table, and the position that the deepest came to, with its evaluation."""
    rows = [["depth", "minimax", "alpha-beta", "deepening", "value", "line"]]
    before: tuple[int, ...] = ()
    for look in look_list:
        line = " ".join(names_of(rules, state, look.line))
        changed = f"   now {line.partition(' ')[0]}" if before and look.line[:1] != before[:1] else ""
        nodes = [f">{limit:,}" if count is None else f"{count:,}" for count in (look.minimax, look.alphabeta)]
        counts = [*nodes, f"{look.deepening:,}"]
        rows.append([str(look.depth), *counts, _worth(rules, look.value, look.exact), line + changed])
        before = look.line
    last_look = look_list[-1]
    if last_look.estimate is None:
        value_text = "the game is over"
    else:
        value_text = f"cut off here: evaluate says {last_look.estimate:+.2f} for the side to move"
    return "\n".join([*table(rows, ">>>>><"), "", show(rules.game, last_look.end), "", value_text])


def _counts(tally: Tally) -> dict[str, int | None]:
    """Return a search's counts. None for a count that it does not have."""
    has_table, prunes = bool(tally.trial.table), tally.trial.prune
    return {
        "nodes": tally.nodes,
        "leaves": tally.leaves,
        "cuts": tally.cutoffs if prunes else None,
        "refuted": tally.refuted if prunes else None,
        "at_once": tally.at_once if prunes else None,
        "hits": tally.hits if has_table else None,
        "entries": tally.entries if has_table else None,
    }


def _worth(rules: Rules, value: Value, exact: bool) -> str:
    """A value in words, an estimate as a number."""
    if exact:
        return rules.kind.words(value)
    return f"{value.score:+.2f}" if value.distance is None else f"{value.words()}?"
