"""A game's parameters as text: `5,4`, `width=5,height=4`, and back."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

BOARD = ("width", "height")  # parameters of which one alone says no size


def parsed(cls: Any, text: str) -> dict[str, Any]:
    """Values by field from `5,4`, `width=5,height=4` or both, converted by the fields' annotations."""
    kinds = typing.get_type_hints(cls)
    fields = list(cls._fields)
    values: dict[str, Any] = {}
    position = 0
    for word in text.split(",") if text else []:
        name, named, value = word.partition("=")
        name = name.strip() if named else ""
        if not named:
            if position >= len(fields):
                raise ValueError(
                    f"too many parameters: it takes {', '.join(fields)}" if fields else "it takes no parameters"
                )
            name, value = fields[position], word
        if name not in kinds or name not in fields:
            raise ValueError(f"no parameter {name!r}: it takes {', '.join(fields)}")
        # Takes all unnamed numbers
        if typing.get_origin(kinds[name]) is tuple:
            if not named and name in values and not _is_whole(value.strip()):
                raise ValueError(_unnamed(fields[position + 1 :], value.strip()[:40]))
            values[name] = (*values.get(name, ()), _convert(name, value, int))
            continue
        if name in values:
            raise ValueError(f"{name} is given twice")
        values[name] = _convert(name, value, kinds[name])
        position += not named
    return values


def _convert(name: str, text: str, kind: Any) -> Any:
    text = text.strip()
    if kind is bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in known:
            raise ValueError(f"{name} is true or false, not {text!r}")
        return known[text.lower()]
    if kind is int:
        if not _is_whole(text):
            raise ValueError(f"{name} is a whole number below 2**63, not {text[:40]!r}")
        return int(text)
    if kind is float:
        return float(text)
    return text


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii() and len(text) <= 20


def _unnamed(rest: list[str], text: str) -> str:
    """Why a text that is no number cannot stand behind those that a tuple takes."""
    if not rest:
        return f"too many parameters: {text!r} is no number"
    return f"what follows the numbers is given by its name: {rest[0]}={text}"


def written(game: Any) -> str:
    """The parameters as `5,4`. Defaults at the end are left out, but a board's width always comes with its height."""
    values, fields = list(game), game._fields
    defaults = [game._field_defaults.get(field) for field in fields]
    while values and values[-1] == defaults[len(values) - 1]:
        if fields[len(values) - 2 : len(values)] == BOARD and values[-2] != defaults[len(values) - 2]:
            break
        values.pop()
    words: list[str] = []
    for field, value in zip(game._fields, values, strict=False):
        if isinstance(value, tuple):
            words += [str(number) for number in value]
        elif any(isinstance(another, tuple) for another in values):
            words.append(f"{field}={str(value).lower()}")
        else:
            words.append(str(value).lower())
    return ",".join(words)


def integers(value: Any) -> Iterator[int]:
    """All whole numbers in a parameter."""
    if isinstance(value, tuple):
        for element in value:
            yield from integers(element)
    elif isinstance(value, int):
        yield value
