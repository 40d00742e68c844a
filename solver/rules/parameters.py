"""A game's parameters as text: `5,4`, `width=5,height=4`, and back."""

from __future__ import annotations

import contextlib
import enum
import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

BOOLEANS: dict[str, Any] = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
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
        kind = _without_none(kinds[name])
        is_none = kind is not kinds[name] and value.strip().lower() == "none"
        # Takes all unnamed numbers
        if typing.get_origin(kind) is tuple and {*typing.get_args(kind)} <= {int, ...} and not is_none:
            if not named and name in values and not _is_whole(value.strip()):
                raise ValueError(_unnamed(fields[position + 1 :], value.strip()[:40]))
            values[name] = (*values.get(name, ()), _convert(name, value, int))
            continue
        if name in values:
            raise ValueError(f"{name} is given twice")
        values[name] = None if is_none else _convert(name, value, kind)
        position += not named
    return values


def _without_none(kind: Any) -> Any:
    """X of an annotation `X | None`; any other as it is."""
    arguments = typing.get_args(kind)
    return arguments[arguments[0] is types.NoneType] if types.NoneType in arguments and len(arguments) == 2 else kind


def _convert(name: str, text: str, kind: Any) -> Any:
    """The value of a text by its field's annotation. Raises ValueError for another value, or an unknown annotation."""
    text = text.strip()
    if kind is int:
        if not _is_whole(text):
            raise ValueError(f"{name} is a whole number below 2**63, not {text[:40]!r}")
        return int(text)
    if kind is float:
        with contextlib.suppress(ValueError):
            if (number := float(text)) == number:
                return number
        raise ValueError(f"{name} is a number such as 0.5, not {text[:40]!r}")
    if kind is str:
        return text
    if kind is bool:
        text, choices = text.lower(), BOOLEANS
    elif typing.get_origin(kind) is typing.Literal:
        choices = {_word(value): value for value in typing.get_args(kind)}
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        choices = {_word(member): member for member in kind} | dict(kind.__members__)
    else:
        raise ValueError(
            f"{name} is annotated {inspect.formatannotation(kind)}, to which no text is converted: annotate it int,"
            " bool, float, str, tuple[int, ...], Literal[...], an IntEnum, or one of them | None"
        )
    if text not in choices:
        raise ValueError(f"{name} is one of {', '.join(choices)}, not {text[:40]!r}")
    return choices[text]


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
        else:
            words.append(f"{field}=" * any(isinstance(another, tuple) for another in values) + _word(value))
    return ",".join(words)


def _word(value: Any) -> str:
    """One parameter as text, which `_convert` reads."""
    word = str(value.value if isinstance(value, enum.Enum) else value)
    return word.lower() if value is None or isinstance(value, bool) else word


def integers(value: Any) -> Iterator[int]:
    """All whole numbers in a parameter."""
    if isinstance(value, tuple):
        for element in value:
            yield from integers(element)
    elif isinstance(value, int):
        yield value


def is_plain(value: Any) -> bool:
    """Whether `repr` tells all of it."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in (int, bool, str, bytes, float, complex, type(None), type(...), range, slice)
