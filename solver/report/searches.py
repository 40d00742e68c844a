"""Games before a solve: their random play, what a solve would take, and the searches of the textbook side by side.

Estimates are `facts_of` a plan or an estimate of `estimate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base.value import counted, in_plies
from solver.check import playouts
from solver.check.conformance import GAMES
from solver.report.facts import table, worth
from solver.rules import protocol
from solver.rules.game import Rules, own_method, own_value
from solver.rules.notation import format_action, names_of, show
from solver.search.comparison import Tally
from solver.search.heuristic import Look


def check_facts(rules: Rules, games: Sequence[playouts.RandomGame]) -> dict[str, Any]:
    """Return the facts known before anything is solved or compiled."""
    return {
        "game": rules.name,
        "states": len(playouts.states_of(games)),
        "games": {**playouts.summary(games), "wanted": GAMES},
        "optional": [
            name
            for name in protocol.OPTIONAL
            if (own_value if name in protocol.VALUES else own_method)(rules.game, name) is not None
        ],
        "near_misses": protocol.near_misses(type(rules.game)),
        "one_sided": playouts.is_one_sided(rules, games),
    }


def check_text(facts: dict[str, Any]) -> str:
    """The same for people."""
    games = facts["games"]
    played, wanted = games["played"], games["wanted"]
    cut = "" if played == wanted else f" (of {wanted}, for lack of time)"
    lines = [f"{facts['game']}: {counted(facts['states'], 'state')} of {played} random games{cut} keep the protocol"]
    if games["ended"]:
        plies, first_player = games["plies"], games["first_player"]
        lines.append(
            f"{games['ended']} of them ended, after {plies['shortest']} to {in_plies(plies['longest'])},"
            f" {plies['mean']:.1f} on average; the first player won {first_player['win']}, drew {first_player['draw']},"
            f" lost {first_player['loss']}"
        )
    else:
        lines.append("none of them ended")
    lines.append(f"optional methods: {', '.join(facts['optional']) or 'none'}")
    for name, meant in facts["near_misses"].items():
        remedy = f"{meant} may be meant" if meant else "solver calls the methods of docs/reference/rules.md alone"
        lines.append(f"warning: nothing asks for {name}: {remedy}")
    if facts["one_sided"]:
        lines.append("warning: the same player is to move in every state: a move is to pass the turn on")
    if facts["compiled"]:
        lines.append("the compiled rules agree with plain Python in all these states")
    elif facts["compiled"] is False:
        lines.append(f"only in plain Python, which is some sixty times slower: {facts['reason']}")
    elif facts["solved"] is not None:
        folded = " folded by symmetry" if "canonical" in facts["optional"] else ""
        lines.append(f"all {facts['solved']:,} states{folded} were solved in plain Python: solve will compile nothing")
    return "\n".join(lines)


def boards(rules: Rules, games: Sequence[playouts.RandomGame]) -> str:
    """The positions of the first game that ended, if one did, each after the move that led to it."""
    game = next((each_game for each_game in games if each_game.worth is not None), games[0])
    mover = rules.mover(game.states[0])
    lines = [f"\n{show(rules.game, game.states[0], mover)}"]
    for state, action, child in zip(game.states, game.actions, game.states[1:], strict=False):
        move = "chance" if action is None else format_action(rules.game, state, action)
        mover = mover if rules.same_mover(state, action, child) else 1 - mover
        lines.append(f"\n{move}\n{show(rules.game, child, mover)}")
    worth = "" if game.worth is None else f", {game.worth:+d} for the first player"
    ended = "not ended" if game.worth is None else "the game is over"
    return "\n".join([*lines, f"\n{ended} after {in_plies(game.plies)}{worth}"])


def sweep_text(facts: dict[str, Any]) -> str:
    """An exhaustive solve."""
    tiers = "some tier has cycles" if facts["cyclic"] else counted(facts["tiers"], "tier")
    stored = f"{facts['stored']:,}" if facts["counted"] else _about(facts) + rounded(facts["stored"])
    lines = [f"stored   {stored} states, {tiers}, {'counted' if facts['counted'] else 'from samples'}"]
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
    needed, available, memory = (facts[name] / 2**20 for name in ("least_memory", "given_memory", "memory"))
    remark = ", and then more time and disk" if facts["by_state"] or needed else ""
    taken = f"{needed:,.0f} MiB" if needed >= memory else f"{memory:,.0f} MiB, less with --memory{remark}"
    if needed > available:
        taken = f"{needed:,.0f} MiB are needed, {available:,.0f} MiB are allowed: give more with --memory"
    lines += [
        f"memory   about {taken}",
        f"disk     about {facts['disk'] / 2**20:,.0f} MiB at its peak, the book's included",
        f"book     about {facts['book_bytes']:,} bytes",
    ]
    return "\n".join(lines)


def opening_text(facts: dict[str, Any]) -> str:
    """An opening book."""
    lines = [f"ply {ply:3}  {count:,} states" for ply, count in enumerate(facts["plies"])]
    if not facts["counted"]:
        lines.append("the later plies as the earlier ones grow, for want of time")
    remark = f"; {facts['unfinished']} of it not finished, so rather more" if facts["unfinished"] else ""
    took = f"{duration(facts['seconds'])} +- {duration(facts['margin'])}"
    lines += [
        f"time     {took}, from a sample of {facts['sample']}{remark}",
        f"memory   {facts['memory'] / 2**20:,.0f} MiB",
        f"book     {facts['book_bytes']:,} bytes",
    ]
    return "\n".join(lines)


def plan_text(facts: dict[str, Any]) -> str:
    """A solve on a cluster, tier by tier."""
    rows = [("tier", "states", "shards", "forward", "backward", "storage", "shuffle", "binds")]
    for tier in facts["tiers"]:
        numbers = (f"{tier[name]:,}" for name in ("states", "shards"))
        times = (f"{tier[name]:.2f} s" for name in ("forward", "backward"))
        longest = max(tier["phases"], key=lambda phase: phase["seconds"])
        taken = size(tier["storage"]), size(tier["shuffle"])
        rows.append((str(tier["tier"]), *numbers, *times, *taken, longest["bound"]))
    lines = [
        *table(rows, ">"),
        f"stored   {_about(facts)}{facts['states']:,} states, {'counted' if facts['counted'] else 'from samples'}",
        f"time     about {duration(facts['seconds'])}, {duration(facts['book_seconds'])} of it for the book",
        f"memory   about {size(facts['memory'])} a worker",
        f"storage  about {size(facts['storage'])}",
        f"shuffle  about {size(facts['shuffle'])}",
        f"book     about {facts['book_bytes']:,} bytes",
        *([f"price    {facts['price']:,.2f}"] if facts["price"] else []),
    ]
    return "\n".join(lines)


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


def tallies(tally_list: Sequence[Tally]) -> list[dict[str, Any]]:
    """The facts of searches to the end."""
    return [
        {"search": tally.trial.name, **worth(tally.value), **_counts(tally), "seconds": tally.seconds}
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
        rows.append([*cells, "" if tally.seconds is None else f"{tally.seconds:.2f}", tally.trial.name])
    lines = table(rows, ">>>>>>><")
    values = {tally.value for tally in tally_list if tally.value is not None}
    # Correct rules give one value
    value_text = " or ".join(rules.kind.words(value) for value in values)
    lines += ["", f"value {value_text} for the side to move" if value_text else "none came to its end: --nodes"]
    # Why orders of moves help or hurt alpha-beta without a table: how often the first move refutes
    plain = [tally for tally in tally_list if tally.trial.prune and not tally.trial.table]
    ended = {tally.trial.order: tally for tally in plain if tally.value and tally.refuted}
    given = ended.pop("given", None)
    if given is None:
        return "\n".join(lines)
    share = given.at_once / given.refuted
    lines += [
        "",
        "At once: of the positions where a move is too good for the other side to allow, so that alpha-beta need not",
        f"look at the others, the share where the first move tried was: {100 * share:.1f} % with moves as they come.",
    ]
    for tally in ended.values():
        own, ratio = tally.at_once / tally.refuted, tally.nodes / given.nodes
        reason = "so it visits" if (own > share) == (ratio < 1) else "yet it visits"
        lines.append(
            f"  {tally.trial.name.partition(', ')[2]}: {100 * own:.1f} %, {reason} {ratio:.2f} times as many nodes"
        )
    return "\n".join(lines)


def looks(rules: Rules, look_list: Sequence[Look], state: Any) -> list[dict[str, Any]]:
    """The facts of searches of limited depth."""
    facts = []
    for look in look_list:
        rest = look._asdict()
        depth, value = rest.pop("depth"), worth(rest.pop("value"))
        facts.append({"depth": depth, **value, **rest, "line": [*names_of(rules, state, look.line)]})
    return facts


def deepened(rules: Rules, look_list: Sequence[Look], state: Any, limit: int) -> str:
    """Searches of limited depth as a table, and the position that the deepest came to, with its evaluation."""
    rows = [["depth", "minimax", "alpha-beta", "deepening", "value", "line"]]
    before: tuple[int, ...] = ()
    for look in look_list:
        line = " ".join(names_of(rules, state, look.line))
        changed = f"   now {line.partition(' ')[0]}" if before and look.line[:1] != before[:1] else ""
        nodes = [f">{limit:,}" if count is None else f"{count:,}" for count in (look.minimax, look.alphabeta)]
        value, counts = look.value, [*nodes, f"{look.deepening:,}"]
        estimate = f"{value.score:+.2f}" if value.distance is None else f"{value.words()}?"
        rows.append([str(look.depth), *counts, rules.kind.words(value) if look.exact else estimate, line + changed])
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
