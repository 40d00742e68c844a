"""Records as JSON: named tuples and dataclasses, read back by their types.

A checkpoint or a commit consists of such records. The reader takes nothing that the types do not know: a field more or
less, or a value of another type, is of another version.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import msgspec


def sealed(facts: dict[str, Any]) -> bytes:
    """Facts, records among them, as a line of JSON behind its digest."""
    body = msgspec.json.encode(facts)
    return b"%s\n%s\n" % (hashlib.sha256(body).hexdigest().encode(), body)


def unsealed(data: bytes) -> dict[str, Any]:
    """Return sealed records as JSON has them. Raises ValueError if they are damaged."""
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body.removesuffix(b"\n")).hexdigest().encode() != digest:
        raise ValueError("it is damaged")
    facts: dict[str, Any] = msgspec.json.decode(body)
    return facts


def read(kind: Any, document: Any) -> Any:
    """The record of this type that JSON tells. Raises ValueError if it does not fit the type."""
    try:
        record = msgspec.convert(document, kind, str_keys=True, dec_hook=_counter)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    # A field more or less is let through above
    if msgspec.json.encode(record) != msgspec.json.encode(document):
        raise ValueError("it is of another version")
    return record


def _counter(kind: Any, document: Any) -> Counter[int]:
    """A field of a record that is a Counter."""
    return Counter(msgspec.convert(document, dict[int, int], str_keys=True))
