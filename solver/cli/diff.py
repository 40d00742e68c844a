"""`solver diff`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from solver.base.value import Value
from solver.cli.common import Bars, in_plies, json_option, quiet_option
from solver.cli.info import expected, trimmed
from solver.edit.comparing import Difference, Differences, diff, said

NAMES = {"trim": "trimmed", "longest": "longest win", "wdl": "without distances", "root": "start"}
WORDS: dict[str, Callable[[Any], str]] = {
    "expectation": lambda fact: expected(fact._asdict()),
    "longest": lambda fact: f"win in {in_plies(fact[0])}, at #{fact[1]}",
    "root": said,
    "trim": lambda fact: trimmed(fact._asdict()),
}


@click.command("diff")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option("--most", type=click.IntRange(0, 1_000_000), default=20, metavar="N", help="States that are listed; 20.")
@json_option
@quiet_option
@click.pass_context
def command(context: click.Context, first: str, second: str, most: int, as_json: bool, quiet: bool) -> None:
    """Say what tells two books apart: states that only one has, other values, other facts. Exit 1 if they differ.

    A and B are files, or games whose book comes with the package.
    Codecs are not compared: a packed book holds the same.

    \b
    solver diff before.lmdb after.lmdb
    solver diff before.lmdb after.lmdb --most 1000 --json
    """
    with Bars(quiet) as bars:
        found = diff(first, second, most, progress=bars)
    click.echo(json.dumps(describe(found)) if as_json else text(found))
    context.exit(0 if found.equal else 1)


def describe(found: Differences) -> dict[str, Any]:
    """The facts of differences; what a book lacks is null."""
    return {
        "equal": found.equal,
        "header": {name: [_named(fact) for fact in pair] for name, pair in found.header.items()},
        "only_first": found.only_first,
        "only_second": found.only_second,
        "other_values": found.other_values,
        "states": [
            {"state": one.state, "first": _facts(one.first), "second": _facts(one.second)} for one in found.examples
        ],
    }


def _named(fact: Any) -> Any:
    return fact._asdict() if hasattr(fact, "_asdict") else fact


def _facts(value: Value | None) -> dict[str, Any] | None:
    return None if value is None else {"value": value.outcome, **value._asdict()}


def text(found: Differences) -> str:
    """The differences for people."""
    if found.equal:
        return "the books hold the same"
    header = found.header.items()
    lines = [f"{NAMES.get(name, name)}: {_plain(name, one)} / {_plain(name, other)}" for name, (one, other) in header]
    lines.append(
        f"states: {found.only_first:,} only in the first, {found.only_second:,} only in the second,"
        f" {found.other_values:,} of other values"
    )
    lines += [_line(example) for example in found.examples]
    hidden = found.only_first + found.only_second + found.other_values - len(found.examples)
    return "\n".join(lines + ([f"and {hidden:,} more: --most"] if hidden else []))


def _plain(name: str, fact: Any) -> str:
    if fact is None:
        return "none"
    if name in WORDS:
        return WORDS[name](fact)
    return ", ".join(f"{name} {count:,}" for name, count in fact.items()) if isinstance(fact, dict) else str(fact)


def _line(example: Difference) -> str:
    first, second = ("missing" if value is None else said(value) for value in example[1:])
    return f"  #{example.state}  {first} / {second}"
