"""`solver info`, and the shape that `solver solve` prints too."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from solver.book import Header
from solver.cli.common import for_players, in_plies, json_option, open_book, quiet_option
from solver.play.player import Player
from solver.rules.game import is_built_in


@click.command("info")
@click.argument("source", metavar="BOOK|GAME")
@click.option("--counts", is_flag=True, help="Also the counts by tier and by distance.")
@click.option(
    "--plot",
    type=click.Path(),
    metavar="FILE",
    help="Draw wins, draws and losses by tier and distance, or expectations: .png or .svg.",
)
@json_option
@quiet_option
def command(source: str, counts: bool, plot: str | None, as_json: bool, quiet: bool) -> None:
    """Say what a book holds: game, value, counts, longest win and its line, size.

    \b
    solver info connect-four-5x5.lmdb
    solver info connect-four:4,4                    the book that comes with the package
    solver info connect-four-5x5.lmdb --counts
    solver info connect-four-5x5.lmdb --plot connect-four.svg
    """
    with open_book(source, quiet=quiet) as opened:
        facts = describe(opened.header, opened.size)
        score_game = opened.header.score_game
        numbers = None
        if plot is not None and opened.expectation is not None:
            from solver.edit.sampling import expectations

            numbers = expectations(opened)
        gaps = opened.header.trim is not None and not opened.header.is_gapless
        if facts["longest"] and is_built_in(opened.header.game) and not gaps:
            from solver.cli.line import describe_line

            player = Player(opened, live=False)  # what is not in the book is not needed
            facts["longest"]["line"] = describe_line(player, facts["longest"]["position"])["moves"]
    if plot is not None:
        from solver.cli.plot import draw

        draw(facts, plot, numbers)
    click.echo(json.dumps(facts) if as_json else text(facts, score_game))
    if counts and not as_json:
        click.echo("\n" + tables(facts))


def describe(header: Header, size: int | None) -> dict[str, Any]:
    """The facts of a header; size in bytes, None if no book was written."""
    return {
        "game": header.game,
        "rules": header.rules,
        "method": header.method,
        "scope": header.scope,
        "symmetry": header.symmetry,
        "states": header.states,
        "terminal": header.terminal,
        "stored": header.stored,
        "counts": header.counts,
        "tiers": None if header.tiers is None else [tier._asdict() for tier in header.tiers],
        "root": {"value": header.root.outcome, **header.root._asdict()},
        "longest": None
        if header.longest is None
        else {"distance": header.longest[0], "position": f"#{header.longest[1]}"},
        "values": None if header.numbers is None else [
            {"score": value.score, "distance": value.distance, "stored": number}
            for value, number in zip(header.palette, header.numbers, strict=True)
        ],
        "wdl": header.wdl,
        "expectation": None if header.expectation is None else header.expectation._asdict(),
        "trim": None if header.trim is None else header.trim._asdict(),
        "codec": header.codec,
        "bytes": size,
        "bits_per_state": size * 8 / header.stored if size and header.stored else None,
        "digest": header.digest or None,
    }


def report(header: Header, book: str | None, seconds: float, as_json: bool) -> None:
    """Print what a book that was just written holds; None: it was not written."""
    facts = describe(header, os.path.getsize(book) if book else None)
    if as_json:
        click.echo(json.dumps({**facts, "seconds": seconds, "book": book}))
        return
    click.echo(text(facts, header.score_game))
    click.echo(f"{'time':8} {seconds:.2f} s, {f'written to {book}' if book else 'no book: -o'}")


def text(facts: dict[str, Any], score_game: bool) -> str:
    """The facts as a table of names and values."""
    from solver.base.value import Value

    root = Value(facts["root"]["score"], facts["root"]["distance"])
    trim, wdl = facts["trim"], ", without distances" if facts["wdl"] else ""
    rows = [
        ("game", facts["game"]),
        ("value", for_players(root, score_game)),
        (
            "method",
            f"{facts['method']}, {facts['scope']}, {'folded by symmetry' if facts['symmetry'] else 'no symmetry'}{wdl}",
        ),
    ]
    if trim is not None:
        rows.append(("trimmed", trimmed(trim)))
    if facts["states"] is not None:
        rows.append(("states", f"{facts['states']:,}, {facts['terminal']:,} of them terminal"))
    rows += [
        ("stored", f"{facts['stored']:,}"),
        ("to move", _outcomes(facts)),
    ]
    if facts["expectation"]:
        rows.insert(2, ("values", expected(facts["expectation"])))
    if facts["longest"]:
        rows.append(("longest", f"win in {in_plies(facts['longest']['distance'])}, at {facts['longest']['position']}"))
        if facts["longest"].get("line"):
            beyond = ["..."] if len(facts["longest"]["line"]) < facts["longest"]["distance"] else []
            rows.append(("", " ".join([*facts["longest"]["line"], *beyond])))
    if facts["bytes"]:
        per_state = f", {facts['bits_per_state']:.2f} bits a stored state" if facts["bits_per_state"] else ""
        rows.append(("size", f"{facts['bytes']:,} bytes{per_state}, {facts['codec']} codec"))
    rows.append(("rules", facts["rules"]))
    if facts["digest"]:
        rows.append(("digest", facts["digest"]))
    return "\n".join(f"{name:8} {value}" for name, value in rows)


def _outcomes(facts: dict[str, Any]) -> str:
    win, draw, loss = facts["counts"].values()
    if facts["expectation"]:
        return f"{win:,} better, {draw:,} even, {loss:,} worse"
    return f"{win:,} wins, {draw:,} draws, {loss:,} losses"


def expected(expectation: dict[str, Any]) -> str:
    """What a book's expectations are."""
    return "expected {of}, steps of {step:.3g}, within {error:.3g}".format(**expectation)


def trimmed(trim: dict[str, Any]) -> str:
    """What a trimmed book holds of which."""
    kept = []
    if trim["side"]:
        kept.append(f"what the {trim['side']} player needs" if trim["side"] != "both" else "what either player needs")
    if trim["max_ply"] is not None:
        kept.append(f"to ply {trim['max_ply']}")
    if trim["plies"]:
        kept.append(f"nothing that {in_plies(trim['plies'])} settle{'s' if trim['plies'] == 1 else ''}")
    if trim["max_bytes"] is not None:
        kept.append(f"the earliest that fit into {trim['max_bytes']:,} bytes")
    return f"{', '.join(kept)}; of the {trim['scope']} book {trim['source'][:16]}"


def tables(facts: dict[str, Any]) -> str:
    """The counts by tier, terminal states included, and by value, for the side to move."""
    lines = []
    if facts["tiers"]:
        lines.append(f"{'tier':>6} {'states':>15} {'terminal':>15} {'wins':>15} {'draws':>15} {'losses':>15}")
        for tier in facts["tiers"]:
            counts = " ".join(f"{tier[name]:15,}" for name in ("states", "terminal", "win", "draw", "loss"))
            lines.append(f"{tier['tier']:6} {counts}")
    if facts["values"]:
        lines += ["", f"{'value':>14} {'stored':>15}"]
        for value in facts["values"]:
            name = f"{value['score']:+}"
            if value["distance"] is not None:
                name = f"{'win' if value['score'] > 0 else 'loss'} in {value['distance']}"
            elif not value["score"]:
                name = "draw"
            lines.append(f"{name:>14} {value['stored']:15,}")
    return "\n".join(lines).strip("\n")
