"""The shapes of what `/v1` answers, as JSON Schema: the components of the OpenAPI document."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
BOOL: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}


def nullable(schema: Schema) -> Schema:
    """That, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def named(name: str) -> Schema:
    """A reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Schema) -> Schema:
    """A list of such."""
    return {"type": "array", "items": items}


def fields(properties: dict[str, Schema], *optional: str, about: str = "") -> Schema:
    """An object with these properties and no others, all but the optional ones always there."""
    said = {"description": about} if about else {}
    required = [name for name in properties if name not in optional]
    return {"type": "object", **said, "properties": properties, "required": required, "additionalProperties": False}


def said(schema: Schema, about: str) -> Schema:
    """The same with a description."""
    return {**schema, "description": about}


WORTH: dict[str, Schema] = {
    "value": nullable({"enum": ["win", "draw", "loss", "expectation"]}),
    "score": said(nullable(NUMBER), "-1, 0, 1; a margin; in games of chance an expectation"),
    "distance": said(nullable(COUNT), "plies to the end; null where it means nothing or is not known"),
}
NIMBER = said(nullable(COUNT), "of impartial games alone; null where it takes too long")
CHILD = fields(
    {"state": COUNT, **WORTH, "nimber": NIMBER},
    "nimber",
    about="The state that it leads to; its value is for its own side to move",
)
KNOWN: dict[str, Schema] = {
    "estimate": said(nullable(NUMBER), "what is not known exactly looks like: -1 to 1, or a margin"),
    "exact": BOOL,
    "source": {"enum": ["book", "search", "terminal", "missing"]},
}
MOVE = fields({"move": TEXT, **WORTH, **KNOWN, "best": BOOL, "child": CHILD})
POSITION = fields(
    {
        "game": TEXT,
        "position": said(TEXT, "as it was asked"),
        "state": COUNT,
        "to_move": nullable({"enum": [0, 1]}),
        "ply": nullable(COUNT),
        "gained": said(nullable(WHOLE), "where moves score: the margin so far, if the moves so far were given"),
        "terminal": BOOL,
        **WORTH,
        **KNOWN,
        "evaluation": said(nullable(TEXT), "what made the estimates"),
        "nimber": NIMBER,
        "depth": said(nullable(COUNT), "of grown books: plies of the search that made the estimate"),
        "best": array(TEXT),
        "moves": said(array(named("Move")), "best first"),
        "chances": array(
            fields({"faces": said(nullable(TEXT), "of dice, 6-5"), "probability": NUMBER, **WORTH, "child": CHILD})
        ),
    },
    "nimber", "depth", "best", "moves", "chances",
    about="What `solver query --json` prints, but for the time that it took. Values are for the side to move",
)  # fmt: skip
LINE = fields(
    {
        "position": TEXT,
        "state": COUNT,
        "score": NUMBER,
        "distance": nullable(COUNT),
        "words": TEXT,
        "moves": array(TEXT),
        "end": said(COUNT, "the state in which it ends"),
        "ending": TEXT,
    },
    about="Best play to the end, as `solver line --json` prints it",
)
TALLY = fields({"win": COUNT, "draw": COUNT, "loss": COUNT}, about="For the side to move")
ROOT = fields(dict(WORTH), about="The start, for the side to move")
TIERS = array(
    fields({"tier": WHOLE, "states": COUNT, "terminal": COUNT, "win": COUNT, "draw": COUNT, "loss": COUNT})
)
VALUES = array(fields({"score": NUMBER, "distance": nullable(COUNT), "stored": COUNT}))
COUNTS = fields(
    {
        "states": nullable(COUNT),
        "terminal": nullable(COUNT),
        "stored": COUNT,
        "counts": TALLY,
        "tiers": nullable(TIERS),
        "values": nullable(VALUES),
    }
)
ANYTHING = nullable({"type": "object"})
BOOK = fields(
    {
        "game": TEXT,
        "rules": said(TEXT, "the fingerprint of the rules that made it"),
        "method": TEXT,
        "scope": TEXT,
        "symmetry": BOOL,
        **COUNTS["properties"],
        "root": ROOT,
        "longest": nullable(fields({"distance": COUNT, "position": TEXT})),
        "wdl": BOOL,
        "expectation": ANYTHING,
        "estimate": ANYTHING,
        "trim": ANYTHING,
        "codec": TEXT,
        "bytes": COUNT,
        "bits_per_state": nullable(NUMBER),
        "digest": TEXT,
    },
    about="What `solver info --json` prints, but for the longest line",
)
LISTED = fields(
    {
        "name": TEXT,
        "title": TEXT,
        "verdict": TEXT,
        "root": ROOT,
        "states": nullable(COUNT),
        "stored": COUNT,
        "bytes": COUNT,
        "digest": TEXT,
    }
)
GAME = fields(
    {
        "name": TEXT,
        "title": TEXT,
        "about": TEXT,
        "score_game": said(BOOL, "whether values are margins"),
        "supports": array(TEXT),
        "book": said(BOOL, "whether a book of it is served"),
        "searches": said(BOOL, "whether `--live` searches it, past the end of its book or without one"),
    }
)
ERROR = fields({"error": said(TEXT, "one line, which names the remedy")})
SCHEMAS: dict[str, Schema] = {
    "Error": ERROR,
    "Game": GAME,
    "Games": array(named("Game")),
    "ListedBook": LISTED,
    "Books": array(named("ListedBook")),
    "Book": BOOK,
    "Counts": COUNTS,
    "Move": MOVE,
    "Position": POSITION,
    "PositionError": fields({"position": TEXT, "error": TEXT}),
    "Answer": {"oneOf": [named("Position"), named("PositionError"), named("Error")]},
    "Question": {"oneOf": [TEXT, fields({"position": TEXT})]},
    "Line": LINE,
}
