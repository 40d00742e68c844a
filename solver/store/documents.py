"""Records as JSON: the fields of a named tuple or a dataclass in order, read back by their types.

A checkpoint or a commit consists of such records. The reader takes nothing that the types do not know: a field more or
less, or a value of another type, is of another version.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

types_of = functools.cache(get_type_hints)  # of the fields of a record, in order


def sealed(facts: dict[str, Any]) -> bytes:
    """Facts, records among them, as a line of JSON behind its digest."""
    body = json.dumps(facts, separators=(",", ":"), default=_fields_of)
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n".encode()


def unsealed(data: bytes) -> dict[str, Any]:
    """Return sealed records as JSON has them. Raises ValueError if they are damaged."""
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body.removesuffix(b"\n")).hexdigest().encode() != digest:
        raise ValueError("it is damaged")
    facts: dict[str, Any] = json.loads(body)
    return facts


def _fields_of(record: Any) -> list[Any]:
    """Return a dataclass for JSON, which knows only tuples."""
    if not is_dataclass(record):
        raise TypeError(f"{record!r} is not a record")
    kind: Any = type(record)
    return [getattr(record, name) for name in types_of(kind)]


def read(kind: Any, document: Any) -> Any:
    """The record of this type that JSON tells. Raises ValueError if it does not fit the type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:  # with None
        return None if document is None else read(arguments[0], document)
    if origin in (dict, Counter):
        _refuse_other(dict, document)
        value = arguments[-1] if origin is dict else int
        return origin({arguments[0](key): read(value, element) for key, element in document.items()})
    if kind in (int, float, str, bool):
        _refuse_other(kind, document)
        return document
    _refuse_other(list, document)
    if origin is list:
        return [read(arguments[0], element) for element in document]
    kinds = arguments if origin is tuple else types_of(kind).values()
    fields = [read(one, element) for one, element in zip(kinds, document, strict=True)]
    return tuple(fields) if origin is tuple else kind(**dict(zip(types_of(kind), fields, strict=True)))


def _refuse_other(kind: Any, document: Any) -> None:
    if type(document) is not kind:
        raise ValueError(f"{str(document)[:40]} is not of type {kind.__name__}")
