"""The requests of `/v1`: the one table that routes them and that the OpenAPI document is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.json import schema_components

from solver import __version__
from solver.play.analysis import OPPONENTS
from solver.play.practical import LOOKS
from solver.report import records
from solver.serve.reply import JSON, NDJSON

Schema = dict[str, Any]
BOOL, TEXT = {"type": "boolean"}, {"type": "string"}

MOST_TEXT = 2_000  # characters of a position
MOST_LINE = 1_000  # plies
MOST_QUESTIONS = 10_000  # of a batch
MOST_BYTES = 1 << 20  # of a batch
RECORDS = (
    records.Position,
    records.PositionError,
    records.Error,
    records.Line,
    records.Book,
    records.Counts,
    records.ListedBook,
    records.Game,
    records.QuestionObject,
)


def _parameter(name: str, about: str, schema: Schema, example: Any, place: str = "query") -> dict[str, Any]:
    """A parameter of a path or a query, as the document has it; those of paths are required."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": about,
        "schema": schema,
        "example": example,
    }


class Operation(NamedTuple):
    """A method and a path, which `serve.application.Handlers` has a method of this `name` for."""

    name: str
    path: str
    about: str
    gives: str
    parameters: tuple[dict[str, Any], ...] = ()
    refuses: tuple[int, ...] = ()
    method: str = "GET"
    media: str = JSON


BOOK = _parameter("book", "The name of a book: that of its game", TEXT, "connect-four:4,4", "path")
GAME = _parameter("game", "The name of a game", TEXT, "connect-four:4,4", "path")
POSITION = _parameter(
    "position",
    "The moves from the start, `start`, the rows of a board from the top (`X.o/.X./..o`), `#` and a state's number,"
    " or a notation of the game's own; `/` is `%2F` and `#` is `%23` in an address",
    {"type": "string", "minLength": 1, "maxLength": MOST_TEXT},
    "11242",
    "path",
)
MOVES = _parameter("moves", "Whether every move is told", {**BOOL, "default": True}, False)
OPPONENT = _parameter(
    "opponent",
    "Adds to each move an estimate of its result against an opponent that looks so many plies ahead and errs beyond"
    f" them, by a look ahead at {LOOKS} moves at most",
    {"type": "integer", "enum": [*OPPONENTS]},
    2,
)
LIMIT_PARAMETER = _parameter(
    "most", "Plies of the line", {"type": "integer", "minimum": 1, "maximum": MOST_LINE, "default": MOST_LINE}, 10
)
OPERATIONS = (
    Operation(
        "book_position",
        "/v1/books/{book}/positions/{position}",
        "A position of a book: its value and every move's",
        "Position",
        (BOOK, POSITION, MOVES, OPPONENT),
        (400, 404, 414, 503),
    ),
    Operation(
        "game_position",
        "/v1/games/{game}/positions/{position}",
        "A position of a game: by its book, if one is served, else by a look two plies ahead, and live search",
        "Position",
        (GAME, POSITION, MOVES),
        (400, 404, 414, 503),
    ),
    Operation(
        "book_positions",
        "/v1/books/{book}/positions",
        f"Many positions of a book, none searched live: a line of JSON each, a text or an object with a `position`, at"
        f" most {MOST_QUESTIONS:,} lines and {MOST_BYTES:,} bytes; a line for each comes back, in their order, as it is"
        " answered; what goes beyond the limits then ends with an Error as the last line",
        "Answer",
        (BOOK, MOVES),
        (400, 404, 408, 413),
        "POST",
        NDJSON,
    ),
    Operation(
        "book_line",
        "/v1/books/{book}/lines/{position}",
        "The best play from a position to the end, by a book",
        "Line",
        (BOOK, POSITION, LIMIT_PARAMETER),
        (400, 404, 414),
    ),
    Operation("counts", "/v1/books/{book}/counts", "How many states by tier and by value", "Counts", (BOOK,), (404,)),
    Operation("book", "/v1/books/{book}", "What a book holds", "Book", (BOOK,), (404,)),
    Operation("books", "/v1/books", "The books", "Books"),
    Operation("game", "/v1/games/{game}", "A game", "Game", (GAME,), (404,)),
    Operation("games", "/v1/games", "The games, those without a book, too", "Games"),
    Operation("openapi", "/v1/openapi.json", "This document", "OpenAPI"),
)
REASONS = {
    400: "What was asked is not a position of the game, or no such parameter's value",
    404: "No such book or game is served, or nothing is known of the position",
    408: "The batch did not arrive in time",
    413: "The batch is too large",
    414: "The position's text is too long",
    503: "Too many searches wait: Retry-After says how many seconds",
}


def document() -> dict[str, Any]:
    """The OpenAPI document; its components are made of `report.records`."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        content = {operation.media: {"schema": _named(operation.gives)}}
        responses: dict[str, Any] = {"200": {"description": operation.about, "content": content}}
        described: Schema = {"operationId": operation.name, "summary": operation.about, "responses": responses}
        if operation.method == "GET":
            responses["304"] = {"description": "What If-None-Match names has not changed"}
        for status in operation.refuses:
            error = {JSON: {"schema": _named("Error")}}
            responses[str(status)] = {"description": REASONS[status], "content": error}
        if operation.parameters:
            described["parameters"] = operation.parameters
        if operation.method == "POST":
            batch = {"schema": _named("Question"), "example": '"11242"\n{"position":"start"}\n'}
            described["requestBody"] = {"required": True, "content": {NDJSON: batch}}
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    _, schemas = schema_components(RECORDS, ref_template="#/components/schemas/{name}")
    for schema in schemas.values():
        schema["additionalProperties"] = False
    schemas |= {
        "Games": {"type": "array", "items": _named("Game")},
        "Books": {"type": "array", "items": _named("ListedBook")},
        "Answer": {"oneOf": [_named("Position"), _named("PositionError"), _named("Error")]},
        "Question": {"oneOf": [TEXT, _named("QuestionObject")]},
        "OpenAPI": {"type": "object"},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "solverbook",
            "version": __version__,
            "description": "Solved games: the value of every position and move. Values are for the side to move.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
