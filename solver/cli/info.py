"""`solver info`, and the shape that `solver solve` prints too."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from solver.book import Book, Header
from solver.cli.common import for_players, json_option


@click.command("info")
@click.argument("book", type=click.Path())
@json_option
def command(book: str, as_json: bool) -> None:
    """Say what a book holds: game, value, counts, longest win, size.

    \b
    solver info connect-four-5x5.lmdb
    """
    with Book(book) as opened:
        facts = describe(opened.header, os.path.getsize(book))
        score_game = opened.header.score_game
    click.echo(json.dumps(facts) if as_json else text(facts, score_game))


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
        "codec": header.codec,
        "bytes": size,
        "bits_per_state": size * 8 / header.stored if size and header.stored else None,
        "digest": header.digest or None,
    }


def text(facts: dict[str, Any], score_game: bool) -> str:
    """The facts as a table of names and values."""
    from solver.value import Value

    counts = facts["counts"]
    root = Value(facts["root"]["score"], facts["root"]["distance"])
    rows = [
        ("game", facts["game"]),
        ("value", for_players(root, score_game)),
        (
            "method",
            f"{facts['method']}, {facts['scope']}, {'folded by symmetry' if facts['symmetry'] else 'no symmetry'}",
        ),
    ]
    if facts["states"] is not None:
        rows.append(("states", f"{facts['states']:,}, {facts['terminal']:,} of them terminal"))
    rows += [
        ("stored", f"{facts['stored']:,}"),
        ("to move", f"{counts['win']:,} wins, {counts['draw']:,} draws, {counts['loss']:,} losses"),
    ]
    if facts["longest"]:
        rows.append(("longest", f"win in {facts['longest']['distance']} plies, at {facts['longest']['position']}"))
    if facts["bytes"]:
        per_state = f", {facts['bits_per_state']:.2f} bits a stored state" if facts["bits_per_state"] else ""
        rows.append(("size", f"{facts['bytes']:,} bytes{per_state}"))
    rows.append(("rules", facts["rules"]))
    if facts["digest"]:
        rows.append(("digest", facts["digest"]))
    return "\n".join(f"{name:8} {value}" for name, value in rows)
